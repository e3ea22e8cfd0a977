/* The sign-flip test: against all signs one by one, its rate of false alarms, and its power. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>

#include <cmocka.h>

#include "core/statistics/significance.h"
#include "core/numerics/random.h"

enum { SEED = 3, PURPOSE = 201, COMPARISONS = 6, RUNS = 2000 };

/* Returns a number between -1/2 and 1/2, plus a shift. */
static double draw(uint32_t run, uint32_t group, uint32_t comparison, double shift)
{
  uint32_t word[4];
  const struct gpumc_random random = gpumc_random_make(SEED, 0, 10);
  gpumc_random_draw(random, group, run, comparison, gpumc_random_label(PURPOSE, 0), word);
  return ((double)word[0] + 0.5) * 0x1p-32 - 0.5 + shift;
}

/* Makes two pools: half of the comparisons, and all of them. They depend on each other. */
static struct gpumc_flips make(uint32_t run, size_t groups, double shift)
{
  struct gpumc_flips flips = {.groups = groups, .pools = 2};
  for (uint32_t c = 0; c < COMPARISONS; c++)
    for (uint32_t a = 0; a < groups; a++)
      for (uint32_t b = 0; b < groups; b++) {
        const double product = (draw(run, a, c, shift) + draw(run, a, 0, 0)) *
                               (draw(run, b, c, shift) + draw(run, b, 0, 0));
        flips.pool[1][a][b] += product;
        if (c < COMPARISONS / 2)
          flips.pool[0][a][b] += product;
      }
  return flips;
}

static double statistic(const struct gpumc_flips *flips, uint32_t signs)
{
  double largest = -INFINITY;
  for (size_t p = 0; p < flips->pools; p++) {
    double sum = 0, squares = 0;
    for (size_t a = 0; a < flips->groups; a++)
      for (size_t b = 0; b < flips->groups; b++)
        if (a != b) {
          const double product = flips->pool[p][a][b];
          sum += (signs >> a & 1) == (signs >> b & 1) ? product : -product;
          squares += product * product;
        }
    largest = fmax(largest, sum / sqrt(2 * squares));
  }
  return largest;
}

static void test_all_signs(void **state)
{
  (void)state;
  const struct gpumc_flips flips = make(1, 9, 0.05);
  size_t strongest;
  int as_many = 0;
  for (uint32_t signs = 0; signs < 512; signs++)
    as_many += statistic(&flips, signs) >= statistic(&flips, 0) - 1e-9;
  assert_true(fabs(gpumc_flips_chance(&flips, &strongest) - as_many / 512.0) < 1e-12);
}

/* In 2000 runs without a shift, 125 are expected at 1/16: 80 to 170 except in 1 of 20,000 cases.
 * With a shift of one standard deviation almost none is missed; with one group everything is
 * chance. */
static void test_rate_and_power(void **state)
{
  (void)state;
  int alarms = 0, found = 0;
  size_t strongest;
  for (uint32_t run = 0; run < RUNS; run++) {
    const struct gpumc_flips right = make(run, 8, 0);
    alarms += gpumc_flips_chance(&right, &strongest) <= 1.0 / 16;
    if (run < 100) {
      const struct gpumc_flips wrong = make(run, 8, 0.5);
      found += gpumc_flips_chance(&wrong, &strongest) <= 1.0 / 16;
    }
  }
  print_message("%d of %d alarms, expected 125; %d of 100 shifts found\n", alarms, RUNS, found);
  assert_in_range(alarms, 80, 170);
  assert_in_range(found, 90, 100);
}

static void test_nothing_differs(void **state)
{
  (void)state;
  const struct gpumc_flips flips = {.groups = 16, .pools = 3};
  size_t strongest;
  assert_true(gpumc_flips_chance(&flips, &strongest) == 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_signs),
      cmocka_unit_test(test_rate_and_power),
      cmocka_unit_test(test_nothing_differs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
