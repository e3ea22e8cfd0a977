/* Devices by name: which device a name means, and what is reported if it is not available. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/device/device_gpu.h"
#include "core/processes/host.h"

static const struct gpumc_gpu old = {.name = "Old GPU", .major = 7, .minor = 5};
static const struct gpumc_gpu ampere = {.name = "Ampere GPU", .major = 8};
static const struct gpumc_gpu hopper = {.name = "Hopper GPU", .major = 9};

/* Returns a list of GPUs for a driver and a runtime of CUDA 13.0. */
static struct gpumc_gpu_list
gpus_of(int count, const struct gpumc_gpu *first, const struct gpumc_gpu *second)
{
  struct gpumc_gpu_list gpus = {.built = true, .driver = 13000, .runtime = 13000, .count = count};
  if (count > 0)
    gpus.gpu[0] = *first;
  if (count > 1)
    gpus.gpu[1] = *second;
  return gpus;
}

static void assert_chosen(const struct gpumc_gpu_list *gpus, const char *name, int expected)
{
  int index = -1;
  struct gpumc_error error = {0};
  if (gpumc_gpus_choose(gpus, name, 0, &index, &error) != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(&error));
  assert_int_equal(index, expected);
}

static void assert_refused(const struct gpumc_gpu_list *gpus, const char *name, const char *message)
{
  int index = -1;
  struct gpumc_error error = {0};
  assert_int_equal(gpumc_gpus_choose(gpus, name, 0, &index, &error), GPUMC_DEVICE);
  assert_string_equal(gpumc_error_text(&error), message);
  gpumc_error_free(&error);
}

static void test_a_gpu_by_name(void **state)
{
  (void)state;
  struct gpumc_gpu_list two = gpus_of(2, &ampere, &hopper), mixed = gpus_of(2, &old, &hopper);
  assert_chosen(&two, "cuda", 0);
  assert_chosen(&two, "cuda:0", 0);
  assert_chosen(&two, "cuda:1", 1);
  assert_chosen(&mixed, "cuda", 1);
  assert_int_equal(gpumc_gpus_in_turn(&mixed, 0), 1);
}

/* Checks that processes 0, 1, 2, ... of a host get GPUs in turn. */
static void assert_in_turn(const struct gpumc_gpu_list *gpus, const char *name, const int *expected,
                           size_t count)
{
  for (size_t rank = 0; rank < count; rank++) {
    int index = -1;
    struct gpumc_error error = {0};
    assert_int_equal(gpumc_gpus_choose(gpus, name, (int)rank, &index, &error), GPUMC_OK);
    assert_int_equal(index, expected[rank]);
  }
}

static void test_gpus_in_turn(void **state)
{
  (void)state;
  struct gpumc_gpu_list one = gpus_of(1, &hopper, NULL), two = gpus_of(2, &ampere, &hopper);
  struct gpumc_gpu_list mixed = gpus_of(2, &old, &hopper), four = gpus_of(2, &hopper, &old);
  four.count = 4;
  four.gpu[2] = four.gpu[3] = ampere;
  assert_in_turn(&two, "cuda", (const int[]){0, 1, 0, 1, 0}, 5);
  assert_in_turn(&one, "cuda", (const int[]){0, 0, 0}, 3);
  assert_in_turn(&mixed, "cuda", (const int[]){1, 1, 1}, 3);
  assert_in_turn(&four, "cuda", (const int[]){0, 2, 3, 0, 2}, 5);
  assert_in_turn(&two, "cuda:1", (const int[]){1, 1, 1}, 3);
  assert_int_equal(gpumc_gpus_usable(&four), 3);
  assert_int_equal(gpumc_gpus_usable(&mixed), 1);
}

static void test_processes_share_processors(void **state)
{
  (void)state;
  struct gpumc_device device;
  struct gpumc_error error = {0};
  struct gpumc_processes processes = gpumc_processes_planned(3, 3);
  const char *environment = getenv("OMP_NUM_THREADS");
  char *before = environment != NULL ? strdup(environment) : NULL;
  unsetenv("OMP_NUM_THREADS");
  processes.processors = 2;
  assert_int_equal(gpumc_device_open_among("cpu", 0, &processes, &device, &error), GPUMC_OK);
  assert_int_equal(device.threads, 2);
  gpumc_device_close(&device);
  assert_int_equal(gpumc_device_open_among("cpu", 3, &processes, &device, &error), GPUMC_OK);
  assert_int_equal(device.threads, 3);
  gpumc_device_close(&device);
  setenv("OMP_NUM_THREADS", " ", 1);
  assert_int_equal(gpumc_device_open_absent(0, &processes, &device, &error), GPUMC_OK);
  assert_int_equal(device.threads, 2);
  gpumc_device_close(&device);
  unsetenv("OMP_NUM_THREADS");
  if (before != NULL)
    setenv("OMP_NUM_THREADS", before, 1);
  free(before);
}

static void test_a_gpu_that_is_too_old(void **state)
{
  (void)state;
  struct gpumc_gpu_list one = gpus_of(1, &old, NULL), mixed = gpus_of(2, &old, &hopper);
  assert_refused(&one, "cuda",
                 "device cuda: Old GPU has compute capability 7.5, but gpumc needs 8.0 or higher");
  assert_refused(
      &mixed, "cuda:0",
      "device cuda:0: Old GPU has compute capability 7.5, but gpumc needs 8.0 or higher");
  assert_int_equal(gpumc_gpus_in_turn(&one, 0), -1);
}

static void test_a_gpu_that_is_not_there(void **state)
{
  (void)state;
  struct gpumc_gpu_list two = gpus_of(2, &ampere, &hopper);
  assert_refused(&two, "cuda:2",
                 "device cuda:2: this machine has no such GPU; it has cuda:0 (Ampere GPU), cuda:1 "
                 "(Hopper GPU)");
}

static void test_no_gpu_at_all(void **state)
{
  (void)state;
  struct gpumc_gpu_list none = gpus_of(0, NULL, NULL);
  strcpy(none.failure, "no CUDA-capable device is detected");
  assert_refused(
      &none, "cuda",
      "device cuda: no GPU was found (no CUDA-capable device is detected); use the device cpu");
  strcpy(none.failure, "insufficient");
  none.driver = 12040;
  assert_refused(&none, "cuda:0",
                 "device cuda:0: the NVIDIA driver supports CUDA 12.4, but this gpumc needs 13.0 "
                 "(insufficient): update the driver, build with an older toolkit, or use the "
                 "device cpu");
  none.driver = 0;
  assert_refused(&none, "cuda",
                 "device cuda: no NVIDIA driver was found on this machine (insufficient); use the "
                 "device cpu");
  none.built = false;
  assert_refused(
      &none, "cuda",
      "device cuda: this gpumc was built without CUDA; use the device cpu, or build gpumc "
      "with a CUDA toolkit and -DGPUMC_CUDA=ON");
  assert_int_equal(gpumc_gpus_in_turn(&none, 0), -1);
}

static void test_the_cpu(void **state)
{
  (void)state;
  struct gpumc_device device;
  struct gpumc_error error = {0};
  assert_int_equal(gpumc_device_open("cpu", 3, &device, &error), GPUMC_OK);
  assert_string_equal(device.ops->name, "cpu");
  assert_int_equal(device.threads, 3);
  assert_non_null(strstr(device.description, ", 3 threads"));
  assert_true(device.ops->available(&device) > 0);
  assert_int_equal(device.ops->synchronize(&device, &error), GPUMC_OK);
  gpumc_device_close(&device);
  assert_null(device.ops);
  gpumc_device_close(&device);
}

static void test_auto_is_what_there_is(void **state)
{
  (void)state;
  struct gpumc_device device;
  struct gpumc_gpu_list gpus;
  struct gpumc_error error = {0};
  gpumc_gpus_find(&gpus);
  assert_int_equal(gpumc_device_open("auto", 1, &device, &error), GPUMC_OK);
  assert_string_equal(device.ops->name, gpumc_gpus_in_turn(&gpus, 0) < 0 ? "cpu" : "cuda");
  gpumc_device_close(&device);
}

static void test_open_says_what_choose_says(void **state)
{
  (void)state;
  int index;
  struct gpumc_device device;
  struct gpumc_gpu_list gpus;
  struct gpumc_error chosen = {0}, opened = {0};
  gpumc_gpus_find(&gpus);
  assert_int_equal(gpumc_gpus_choose(&gpus, "cuda:999", 0, &index, &chosen), GPUMC_DEVICE);
  assert_int_equal(gpumc_device_open("cuda:999", 1, &device, &opened), GPUMC_DEVICE);
  assert_string_equal(gpumc_error_text(&opened), gpumc_error_text(&chosen));
  gpumc_error_free(&chosen);
  gpumc_error_free(&opened);
}

static void test_a_name_that_is_none(void **state)
{
  static const char *const names[] = {"gpu", "", "cuda:", "cuda:-1", "cuda:01"};
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct gpumc_device device;
    struct gpumc_error error = {0};
    assert_int_equal(gpumc_device_open(names[i], 1, &device, &error), GPUMC_INVALID);
    assert_non_null(strstr(gpumc_error_text(&error), "use auto, cpu, cuda or cuda:N"));
    gpumc_error_free(&error);
  }
}

static void test_memory_that_is_not_there(void **state)
{
  (void)state;
  struct gpumc_device device;
  struct gpumc_error error = {0};
  uint64_t value, *values = &value;
  assert_int_equal(gpumc_device_open("cpu", 1, &device, &error), GPUMC_OK);
  assert_int_equal(gpumc_device_array(&device, &values, SIZE_MAX / 8 + 2, "weights", &error),
                   GPUMC_FAILURE);
  assert_null(values);
  gpumc_error_free(&error);
  gpumc_device_close(&device);
}

static void test_versions(void **state)
{
  char text[16];
  (void)state;
  assert_string_equal(gpumc_cuda_version_text(12040, text), "12.4");
  assert_string_equal(gpumc_cuda_version_text(13000, text), "13.0");
  assert_string_equal(gpumc_cuda_version_text(0, text), "none");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_gpu_by_name),
      cmocka_unit_test(test_gpus_in_turn),
      cmocka_unit_test(test_processes_share_processors),
      cmocka_unit_test(test_a_gpu_that_is_too_old),
      cmocka_unit_test(test_a_gpu_that_is_not_there),
      cmocka_unit_test(test_no_gpu_at_all),
      cmocka_unit_test(test_the_cpu),
      cmocka_unit_test(test_auto_is_what_there_is),
      cmocka_unit_test(test_open_says_what_choose_says),
      cmocka_unit_test(test_a_name_that_is_none),
      cmocka_unit_test(test_memory_that_is_not_there),
      cmocka_unit_test(test_versions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
