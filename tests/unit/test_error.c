/* The error object. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/error.h"

static void test_set_replaces(void **state)
{
  struct gpumc_error error = {0};
  (void)state;
  assert_string_equal(gpumc_error_text(&error), "no error");
  assert_int_equal(gpumc_error_set(&error, GPUMC_DEVICE, "no device %d", 3), GPUMC_DEVICE);
  assert_string_equal(gpumc_error_text(&error), "no device 3");
  assert_int_equal(gpumc_error_set(&error, GPUMC_FAILURE, "%s", "other"), GPUMC_FAILURE);
  assert_int_equal(error.status, GPUMC_FAILURE);
  assert_string_equal(gpumc_error_text(&error), "other");
  gpumc_error_free(&error);
  assert_int_equal(error.status, GPUMC_OK);
  assert_string_equal(gpumc_error_text(&error), "no error");
  gpumc_error_free(&error);
}

static void test_prefix(void **state)
{
  struct gpumc_error error = {0};
  (void)state;
  assert_int_equal(gpumc_error_set(&error, GPUMC_INVALID, "wrong"), GPUMC_INVALID);
  gpumc_error_prefix(&error, "task %d", 2);
  gpumc_error_prefix(&error, "campaign");
  assert_string_equal(gpumc_error_text(&error), "campaign: task 2: wrong");
  assert_int_equal(error.status, GPUMC_INVALID);
  gpumc_error_free(&error);
}

/* A message may be made from the one it replaces. */
static void test_set_from_itself(void **state)
{
  struct gpumc_error error = {0};
  (void)state;
  assert_int_equal(gpumc_error_set(&error, GPUMC_INVALID, "inner"), GPUMC_INVALID);
  assert_int_equal(gpumc_error_set(&error, GPUMC_FAILURE, "outer (%s)", gpumc_error_text(&error)),
                   GPUMC_FAILURE);
  assert_string_equal(gpumc_error_text(&error), "outer (inner)");
  gpumc_error_free(&error);
}

static void test_statuses_are_exit_codes(void **state)
{
  (void)state;
  assert_int_equal(GPUMC_OK, 0);
  assert_int_equal(GPUMC_FAILURE, 1);
  assert_int_equal(GPUMC_INVALID, 2);
  assert_int_equal(GPUMC_DEVICE, 3);
  assert_int_equal(GPUMC_STOPPED, 75);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_set_replaces),
      cmocka_unit_test(test_prefix),
      cmocka_unit_test(test_set_from_itself),
      cmocka_unit_test(test_statuses_are_exit_codes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
