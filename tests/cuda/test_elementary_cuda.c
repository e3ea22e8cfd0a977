/* Quotients and roots without a branch are those of IEEE 754 on the GPU: for roots and reciprocals
 * every mantissa at several exponents, for quotients 2^26 pairs. Control: a root without its last
 * step differs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/elementary_on_gpu.h"
#include "support/test_device.h"

enum { MANTISSAS = 1 << 23, BIAS = 127 };

static uint32_t different(enum elementary_function function, uint32_t first, uint32_t count)
{
  struct gpumc_error error = {0};
  uint32_t found = 0;
  if (elementary_on_gpu(function, first, count, &found, &error) != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(&error));
  return found;
}

static void roots_and_reciprocals(void **state)
{
  static const int exponents[] = {-90, -61, -24, -1, 0, 1, 2, 55, 100};
  (void)state;
  for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
    const uint32_t first = (uint32_t)(exponents[i] + BIAS) << 23;
    assert_int_equal(different(ELEMENTARY_ROOT, first, MANTISSAS), 0);
    assert_int_equal(different(ELEMENTARY_RECIPROCAL, first, MANTISSAS), 0);
  }
}

static void zeros(void **state)
{
  (void)state;
  assert_int_equal(different(ELEMENTARY_ROOT, 0, 1), 0);
  assert_int_equal(different(ELEMENTARY_ROOT, UINT32_C(1) << 31, 1), 0);
}

static void quotients(void **state)
{
  (void)state;
  assert_int_equal(different(ELEMENTARY_QUOTIENT, 0, 1 << 26), 0);
}

static void a_step_too_few_is_noticed(void **state)
{
  (void)state;
  assert_int_not_equal(different(ELEMENTARY_WRONG, BIAS << 23, MANTISSAS), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(roots_and_reciprocals),
      cmocka_unit_test(zeros),
      cmocka_unit_test(quotients),
      cmocka_unit_test(a_step_too_few_is_noticed),
  };
  test_device_require();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
