/* A GPU as a device: memory, copies, and the messages when they fail.
 *
 * CTest: alone */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/machine.h"
#include "support/status.h"
#include "support/test_device.h"

enum { VALUES = 100003 };

static void test_what_it_says_of_itself(void **state)
{
  (void)state;
  struct gpumc_device device = test_device(test_setting());
  assert_string_equal(device.ops->name, "cuda");
  assert_true(device.multiprocessors > 0);
  assert_true(device.shared_bytes >= (size_t)48 * 1024);
  assert_non_null(device.stream);
  assert_non_null(strstr(device.description, "multiprocessors, compute capability "));
  assert_true(device.ops->available(&device) > 0);
}

/* Memory is zeroed even if it has been in use before. */
static void test_memory_and_copies(void **state)
{
  (void)state;
  struct gpumc_device device = test_device(test_setting());
  struct gpumc_error error = {0};
  uint64_t *there, *here = calloc(VALUES, sizeof *here), *back = calloc(VALUES, sizeof *back);
  assert_non_null(here);
  assert_non_null(back);
  for (size_t i = 0; i < VALUES; i++)
    here[i] = 1 + i * i;
  for (int repeat = 0; repeat < 3; repeat++) {
    assert_ok(gpumc_device_array(&device, &there, VALUES, "values", &error), &error);
    assert_ok(device.ops->copy_to_host(&device, back, there, VALUES * sizeof *back, &error),
              &error);
    for (size_t i = 0; i < VALUES; i++)
      assert_true(back[i] == 0);
    assert_ok(device.ops->copy_to_device(&device, there, here, VALUES * sizeof *here, &error),
              &error);
    assert_ok(device.ops->copy_to_host(&device, back, there, VALUES * sizeof *back, &error),
              &error);
    assert_memory_equal(back, here, VALUES * sizeof *here);
    device.ops->release(&device, there);
  }
  free(here);
  free(back);
}

static void test_no_elements(void **state)
{
  (void)state;
  struct gpumc_device device = test_device(test_setting());
  struct gpumc_error error = {0};
  uint64_t *none = NULL;
  assert_ok(gpumc_device_array(&device, &none, 0, "nothing", &error), &error);
  assert_non_null(none);
  device.ops->release(&device, none);
  device.ops->release(&device, NULL);
}

/* A refusal leaves no error behind for the next call. */
static void test_memory_that_is_not_there(void **state)
{
  static const size_t counts[] = {(size_t)1 << 45, SIZE_MAX / 8 + 2, SIZE_MAX / 8};
  (void)state;
  struct gpumc_device device = test_device(test_setting());
  struct gpumc_error error = {0};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    uint64_t value, *values = &value;
    assert_int_equal(gpumc_device_array(&device, &values, counts[i], "weights", &error),
                     GPUMC_FAILURE);
    assert_null(values);
    assert_non_null(strstr(gpumc_error_text(&error), "out of memory on cuda:0: weights needs "));
    gpumc_error_free(&error);
    assert_ok(gpumc_device_array(&device, &values, 10, "weights", &error), &error);
    device.ops->release(&device, values);
  }
}

/* Most intervals of stages this short are not timed, but have their share of the time all the same.
 * The bounds refuse the same share for every interval (the ratio would be 1.2), and none. */
static void test_times_of_short_stages(void **state)
{
  enum { ROUNDS = 3000, LITTLE = 1, MUCH = 2, TIMES = 4 };
  const size_t bytes = VALUES * sizeof(uint64_t);
  double seconds[GPUMC_STAGES_MAXIMUM];
  (void)state;
  struct gpumc_device device = test_device(test_setting());
  struct gpumc_error error = {0};
  uint64_t *memory;
  assert_ok(gpumc_device_array(&device, &memory, VALUES, "values", &error), &error);
  assert_ok(device.ops->synchronize(&device, &error), &error);
  const double begin = gpumc_clock();
  for (int round = 0; round < ROUNDS; round++)
    for (size_t stage = LITTLE; stage <= MUCH; stage++) {
      device.ops->enter(&device, stage);
      for (int i = 0; i < (stage == MUCH ? TIMES : 1); i++)
        assert_ok(device.ops->fill(&device, memory, 0, bytes, &error), &error);
    }
  assert_ok(device.ops->stage_seconds(&device, seconds, NULL, &error), &error);
  const double elapsed = gpumc_clock() - begin, sum = seconds[LITTLE] + seconds[MUCH];
  const double ratio = seconds[MUCH] / seconds[LITTLE];
  if (fabs(sum / elapsed - 1) > 0.1)
    fail_msg("the stages take %g s of %g s", sum, elapsed);
  if (!(ratio > 1.6 && ratio < 1.6 * TIMES))
    fail_msg("%d times the work takes %g times as long", TIMES, ratio);
  device.ops->release(&device, memory);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_it_says_of_itself),
      cmocka_unit_test(test_memory_and_copies),
      cmocka_unit_test(test_no_elements),
      cmocka_unit_test(test_memory_that_is_not_there),
      cmocka_unit_test(test_times_of_short_stages),
  };
  test_device_require();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
