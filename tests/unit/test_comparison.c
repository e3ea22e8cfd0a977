/* Two estimates of one curve: the probabilities against tables and against draws, correlated ones
 * too, and what has no error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>

#include <cmocka.h>

#include "core/numerics/random.h"
#include "core/statistics/comparison.h"
#include "core/statistics/significance.h"

enum { SEED = 11, PURPOSE = 202, POINTS = 12, DRAWS = 20000 };

/* Quantiles of chi-square at 0.05, 0.01 and 0.001 (Abramowitz and Stegun, table 26.8). */
static void test_chi_square(void **state)
{
  static const struct {
    double chi_square, freedom, tail;
  } known[] = {{3.84146, 1, 0.05},     {6.63490, 1, 0.01},   {10.8276, 1, 0.001},
               {5.99146, 2, 0.05},     {18.3070, 10, 0.05},  {23.2093, 10, 0.01},
               {43.7730, 30, 0.05},    {124.342, 100, 0.05}, {149.449, 100, 0.001},
               {0.000157088, 1, 0.99}, {77.9295, 100, 0.95}};
  (void)state;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const double tail = gpumc_chi_square_tail(known[i].chi_square, known[i].freedom);
    if (fabs(tail / known[i].tail - 1) > 2e-4)
      fail_msg("chi-square %g of %g: %g, expected %g", known[i].chi_square, known[i].freedom, tail,
               known[i].tail);
  }
  for (double z = 0.1; z < 8; z += 0.1)
    assert_true(fabs(gpumc_chi_square_tail(z * z, 1) / erfc(z / sqrt(2)) - 1) < 1e-9);
  for (double x = 0.5; x < 200; x += 0.5)
    assert_true(fabs(gpumc_chi_square_tail(x, 2) / exp(-x / 2) - 1) < 1e-9);
  assert_true(fabs(gpumc_chi_square_tail(1e5, 1e5) - 0.5) < 1e-3);
  assert_true(gpumc_chi_square_tail(0, 3) == 1 && gpumc_chi_square_tail(NAN, 3) == 1);
  assert_true(gpumc_chi_square_tail(INFINITY, 3) == 0);
}

static void test_differences(void **state)
{
  (void)state;
  assert_true(gpumc_difference_in_errors(1, 3, 11, 4) == -2);
  assert_true(gpumc_difference_in_errors(1, 0, 1, 0) == 0);
  assert_true(gpumc_difference_in_errors(1, 0, 2, 0) == -INFINITY);
  assert_true(isnan(gpumc_difference_in_errors(1, NAN, 2, 1)));
  assert_true(isnan(gpumc_difference_in_errors(NAN, 0, 2, 0)));
}

/* What is exact and equal, or has no error, is not compared; what is exact and differs, decides. */
static void test_points_that_count(void **state)
{
  const double a[] = {1, 2, 3, 4}, error[] = {1, 0, NAN, 1}, b[] = {2, 2, 9, 4.5};
  struct gpumc_curve_pair pair = {4, a, error, b, error, true};
  (void)state;
  struct gpumc_comparison found = gpumc_compare_curves(&pair);
  assert_true(found.points == 2 && found.unknown == 1 && found.worst == 0 && !found.identical);
  assert_true(fabs(found.chi_square - (0.5 + 0.125)) < 1e-12);
  assert_true(fabs(found.chance - exp(-0.3125)) < 1e-12);
  const double other[] = {2, 2.5, 9, 4.5};
  pair.b = other;
  found = gpumc_compare_curves(&pair);
  assert_true(found.points == 3 && found.worst == 1 && found.chance == 0);
  pair.b = a;
  found = gpumc_compare_curves(&pair);
  assert_true(found.identical && found.chance == 1);
  pair.n = 0;
  assert_true(gpumc_compare_curves(&pair).chance == 1);
}

static double gaussian(uint32_t draw, uint32_t point)
{
  uint32_t word[4];
  gpumc_random_draw(gpumc_random_make(SEED, 0, 10), draw, point, 0, gpumc_random_label(PURPOSE, 0),
                    word);
  const double u = ((double)word[0] + 0.5) * 0x1p-32, v = ((double)word[1] + 0.5) * 0x1p-32;
  return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* How often two curves are rejected at `level`, whose points have a part in common, and are moved
 * by `shift`, or one point by `jump`. */
static double rejected(double common, bool independent, double shift, double jump, double level)
{
  size_t count = 0;
  for (uint32_t draw = 0; draw < DRAWS; draw++) {
    double a[POINTS], b[POINTS], error[POINTS];
    for (uint32_t i = 0; i < POINTS; i++) {
      error[i] = sqrt(0.5);
      a[i] = sqrt(common) * gaussian(draw, 100) + sqrt(1 - common) * gaussian(draw, i) + shift;
      b[i] = i == 3 ? -jump : 0;
    }
    const struct gpumc_curve_pair pair = {POINTS, a, error, b, error, independent};
    count += gpumc_compare_curves(&pair).chance < level;
  }
  return (double)count / DRAWS;
}

/* Rates of false alarms of 20,000 draws: within four standard deviations of the level for
 * independent points, and no more than that for any correlation, where the controls are chi-squares
 * that take correlated points for independent. */
static void test_rates(void **state)
{
  static const double levels[] = {0.1, 0.01};
  (void)state;
  for (size_t i = 0; i < 2; i++) {
    const double level = levels[i], room = 4 * sqrt(level * (1 - level) / DRAWS);
    assert_true(fabs(rejected(0, true, 0, 0, level) - level) < room);
    for (double common = 0; common <= 1; common += 0.25) {
      const double rate = rejected(common, false, 0, 0, level);
      if (rate > level + room)
        fail_msg("common part %g: rate %g at level %g", common, rate, level);
    }
    assert_true(rejected(0.75, true, 0, 0, level) > level + 10 * room);
  }
}

/* Shifts of a whole curve that is one number, and a jump of one point, are found; independent
 * points that are all shifted by two errors have a noncentrality of 48, and a power of 0.99. */
static void test_power(void **state)
{
  (void)state;
  assert_true(rejected(1, false, 4, 0, 0.01) > 0.85);
  assert_true(rejected(0.5, false, 0, 6, 0.01) > 0.95);
  assert_true(rejected(0, true, 2, 0, 0.01) > 0.95);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_chi_square),
                                     cmocka_unit_test(test_differences),
                                     cmocka_unit_test(test_points_that_count),
                                     cmocka_unit_test(test_rates), cmocka_unit_test(test_power)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
