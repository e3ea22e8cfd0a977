/* The functions of elementary.h against long double: exp and log below one unit in the last place,
 * cos and sin below 2^-52. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/numerics/elementary.h"
#include "core/numerics/random.h"

enum { SAMPLES = 1000000 };

/* Returns a uniform number in (0, 1) from the counter i. */
static double uniform(uint32_t i)
{
  uint32_t word[4];
  gpumc_random_draw(gpumc_random_make(1, 0, 10), i, 0, 0, 0, word);
  return (word[0] + 0.5) / 4294967296.0;
}

static double units_off(double value, long double exact)
{
  double nearest = fabs((double)exact);
  double unit = nextafter(nearest, INFINITY) - nearest;
  return (double)fabsl((value - exact) / unit);
}

static void test_exp(void **state)
{
  (void)state;
  double worst = 0;
  for (uint32_t i = 0; i < SAMPLES; i++) {
    double x = (uniform(i) - 0.5) * (i % 2 == 0 ? 1400.0 : 2.0);
    worst = fmax(worst, units_off(gpumc_exp(x), expl(x)));
  }
  assert_true(worst < 1.0);
}

static void test_log(void **state)
{
  (void)state;
  double worst = 0;
  for (uint32_t i = 0; i < SAMPLES; i++) {
    double x = exp((uniform(i) - 0.5) * (i % 2 == 0 ? 1400.0 : 1.0));
    worst = fmax(worst, units_off(gpumc_log(x), logl(x)));
  }
  assert_true(worst < 1.0);
}

static void test_circle(void **state)
{
  (void)state;
  static const uint32_t circles[] = {1, 2,  3,   4,    5,    6,      7,
                                     8, 12, 100, 1023, 4096, 131072, 536870911};
  double worst = 0;
  for (size_t n = 0; n < sizeof circles / sizeof *circles; n++) {
    const uint32_t steps = circles[n], stride = steps / 10007 + 1;
    for (uint32_t step = 0; step < steps; step += stride) {
      const long double angle = 2.0L * acosl(-1.0L) * step / steps;
      double c, s;
      gpumc_circle(step, steps, &c, &s);
      worst = fmax(worst, (double)fabsl(c - cosl(angle)));
      worst = fmax(worst, (double)fabsl(s - sinl(angle)));
      double fine_c, fine_s;
      gpumc_fine_circle(step, steps, &fine_c, &fine_s);
      assert_true(fine_c == c && fine_s == s);
      if (4 * (uint64_t)step == steps)
        assert_true(c == 0.0 && s == 1.0);
    }
  }
  for (int64_t step = 1; step < (int64_t)1 << 49; step = step * 3 + 1) {
    const int64_t steps = ((int64_t)1 << 49) + 12345;
    const long double angle = 2.0L * acosl(-1.0L) * step / steps;
    double c, s;
    gpumc_fine_circle(step, steps, &c, &s);
    worst = fmax(worst, (double)fmaxl(fabsl(c - cosl(angle)), fabsl(s - sinl(angle))));
  }
  assert_true(worst < 0x1p-52);
}

static void test_special_values(void **state)
{
  (void)state;
  assert_true(gpumc_exp(0.0) == 1.0);
  assert_true(gpumc_exp(-800.0) == 0.0);
  assert_true(gpumc_exp(-INFINITY) == 0.0);
  assert_true(isinf(gpumc_exp(800.0)));
  assert_true(isnan(gpumc_exp(NAN)));
  assert_true(gpumc_log(1.0) == 0.0);
  assert_true(isinf(gpumc_log(0.0)) && gpumc_log(0.0) < 0);
  assert_true(isinf(gpumc_log(INFINITY)));
  assert_true(isnan(gpumc_log(-1.0)));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exp),
      cmocka_unit_test(test_log),
      cmocka_unit_test(test_circle),
      cmocka_unit_test(test_special_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
