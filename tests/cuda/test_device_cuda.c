/* A GPU as a device: memory, copies, and what is said when they fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "support/gpu.h"

enum { VALUES = 100003 };

static void expect_ok(enum gpumc_status status, const struct gpumc_error *error)
{
  if (status != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(error));
}

static void test_what_it_says_of_itself(void **state)
{
  (void)state;
  struct gpumc_device device;
  open_gpu(&device);
  assert_string_equal(device.ops->name, "cuda");
  assert_true(device.multiprocessors > 0);
  assert_true(device.shared_bytes >= (size_t)48 * 1024);
  assert_non_null(device.stream);
  assert_non_null(strstr(device.description, "multiprocessors, compute capability "));
  assert_true(device.ops->available(&device) > 0);
  gpumc_device_close(&device);
}

/* Memory is zeroed also where it has been in use. */
static void test_memory_and_copies(void **state)
{
  (void)state;
  struct gpumc_device device;
  struct gpumc_error error = {0};
  open_gpu(&device);
  uint64_t *there, *here = calloc(VALUES, sizeof *here), *back = calloc(VALUES, sizeof *back);
  assert_non_null(here);
  assert_non_null(back);
  for (size_t i = 0; i < VALUES; i++)
    here[i] = 1 + i * i;
  for (int repeat = 0; repeat < 3; repeat++) {
    expect_ok(gpumc_device_array(&device, &there, VALUES, "values", &error), &error);
    expect_ok(device.ops->copy_to_host(&device, back, there, VALUES * sizeof *back, &error),
              &error);
    for (size_t i = 0; i < VALUES; i++)
      assert_true(back[i] == 0);
    expect_ok(device.ops->copy_to_device(&device, there, here, VALUES * sizeof *here, &error),
              &error);
    expect_ok(device.ops->copy_to_host(&device, back, there, VALUES * sizeof *back, &error),
              &error);
    assert_memory_equal(back, here, VALUES * sizeof *here);
    device.ops->release(&device, there);
  }
  free(here);
  free(back);
  gpumc_device_close(&device);
}

static void test_no_elements(void **state)
{
  (void)state;
  struct gpumc_device device;
  struct gpumc_error error = {0};
  open_gpu(&device);
  uint64_t *none = NULL;
  expect_ok(gpumc_device_array(&device, &none, 0, "nothing", &error), &error);
  assert_non_null(none);
  device.ops->release(&device, none);
  device.ops->release(&device, NULL);
  gpumc_device_close(&device);
}

/* A refusal leaves no error behind for the next call. */
static void test_memory_that_is_not_there(void **state)
{
  static const size_t counts[] = {(size_t)1 << 45, SIZE_MAX / 8 + 2, SIZE_MAX / 8};
  (void)state;
  struct gpumc_device device;
  struct gpumc_error error = {0};
  open_gpu(&device);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    uint64_t value, *values = &value;
    assert_int_equal(gpumc_device_array(&device, &values, counts[i], "weights", &error),
                     GPUMC_FAILURE);
    assert_null(values);
    assert_non_null(strstr(gpumc_error_text(&error), "out of memory on cuda:0: weights needs "));
    gpumc_error_free(&error);
    expect_ok(gpumc_device_array(&device, &values, 10, "weights", &error), &error);
    device.ops->release(&device, values);
  }
  gpumc_device_close(&device);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_it_says_of_itself),
      cmocka_unit_test(test_memory_and_copies),
      cmocka_unit_test(test_no_elements),
      cmocka_unit_test(test_memory_that_is_not_there),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
