/* Autocorrelation times against their claims: for 400 AR(1) series each, whose time is known, the
 * scatter is the reported error and the mean is right. The control is the time from the bins, whose
 * scatter is larger.
 *
 * CTest: release (a few series: unit_test_series) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>

#include <cmocka.h>

#include "core/statistics/series.h"
#include "support/autoregressive.h"

enum { SEED = 1956, REPEATS = 400 };

/* Results of REPEATS series, in units of the exact time. */
struct outcome {
  double mean, scatter, error; /* error: root mean square */
  double bin_scatter;
};

/* n values in `merged` series. */
static struct gpumc_series_estimate estimate_one(double phi, size_t n, uint32_t repeat, int merged)
{
  return autoregressive_estimate(phi, SEED, repeat * (uint32_t)merged, n, merged);
}

static struct outcome repeat_series(double phi, size_t n, int merged)
{
  const double exact = autoregressive_time(phi);
  struct outcome outcome = {0};
  double square = 0, bin_mean = 0, bin_square = 0;
  for (uint32_t repeat = 0; repeat < REPEATS; repeat++) {
    const struct gpumc_series_estimate found = estimate_one(phi, n, repeat, merged);
    const double time = found.autocorrelation_time / exact, bins = found.bin_time / exact;
    outcome.mean += time / REPEATS;
    square += time * time / REPEATS;
    outcome.error += pow(found.time_error / exact, 2) / REPEATS;
    bin_mean += bins / REPEATS;
    bin_square += bins * bins / REPEATS;
  }
  outcome.scatter = sqrt(square - outcome.mean * outcome.mean);
  outcome.error = sqrt(outcome.error);
  outcome.bin_scatter = sqrt(bin_square - bin_mean * bin_mean);
  return outcome;
}

/* The scatter of 400 Gaussian numbers is known to 3.5 %. Wolff's formula is of leading order in
 * window and length, and the window follows the noise: a quarter more or less is allowed in
 * addition to three of these. */
static int is_error(double scatter, double error)
{
  return scatter < 1.35 * error && scatter > 0.65 * error;
}

static void judge(double phi, double times, int merged, int control)
{
  const size_t n = (size_t)ceil(times * autoregressive_time(phi) / merged) * (size_t)merged;
  const struct outcome outcome = repeat_series(phi, n, merged);
  print_message("phi %.2f, %6.0f tau in %d: tau/exact %.4f, scatter %.4f, error %.4f, ratio %.3f; "
                "by bins scatter %.4f, ratio %.3f\n",
                phi, times, merged, outcome.mean, outcome.scatter, outcome.error,
                outcome.scatter / outcome.error, outcome.bin_scatter,
                outcome.bin_scatter / outcome.error);
  assert_true(is_error(outcome.scatter, outcome.error));
  assert_true(fabs(outcome.mean - 1) < 0.01 + 4 * outcome.scatter / sqrt(REPEATS));
  if (control) {
    assert_true(outcome.scatter < 0.75 * outcome.bin_scatter);
    assert_false(is_error(outcome.bin_scatter, outcome.error));
  }
}

static void test_scatter_of_times_is_their_error(void **state)
{
  (void)state;
  const double phi[] = {0.5, 0.9};
  for (size_t p = 0; p < sizeof phi / sizeof *phi; p++) {
    judge(phi[p], 1000, 1, 0);
    judge(phi[p], 1000, 4, 0);
  }
}

static void test_scatter_is_less_than_that_of_bins(void **state)
{
  (void)state;
  judge(0, 40000, 1, 1);
  judge(0.5, 20000, 1, 1);
  judge(0.8, 20000, 1, 1);
  judge(0.8, 20000, 8, 1);
}

/* Alternating correlations: sums up to a window oscillate about the total. The time is that of the
 * bins, with their error. The control is the sum of the first correlation alone, with which the
 * search for a window used to end. */
static void judge_alternating(double phi, int merged)
{
  const size_t n = 40000;
  const double exact = autoregressive_time(phi);
  const struct outcome outcome = repeat_series(phi, n, merged);
  print_message("phi %.2f, %zu values in %d: tau/exact %.4f, scatter %.4f, error %.4f\n", phi, n,
                merged, outcome.mean, outcome.scatter, outcome.error);
  assert_true(is_error(outcome.scatter, outcome.error));
  assert_true(fabs(outcome.mean - 1) < outcome.error / 2);
  assert_true(fabs((0.5 + phi + phi * phi) / exact - 1) > 5 * outcome.error);
}

static void test_anticorrelated_series(void **state)
{
  (void)state;
  judge_alternating(-0.5, 1);
  judge_alternating(-0.5, 8);
}

/* Correlations that leave less than 2 tau = 1/4 cannot be distinguished from noise: no time, and
 * not converged. The error is that of independent values, which is too large. */
static void test_hardly_any_sum_is_unknown(void **state)
{
  (void)state;
  for (uint32_t repeat = 0; repeat < 20; repeat++) {
    const struct gpumc_series_estimate found =
        autoregressive_estimate(-0.9, SEED, repeat, 40000, 1);
    assert_true(isnan(found.time_error) && !found.converged);
    assert_true(fabs(found.error * sqrt(40000 / found.variance) - 1) < 0.01);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scatter_of_times_is_their_error),
      cmocka_unit_test(test_scatter_is_less_than_that_of_bins),
      cmocka_unit_test(test_anticorrelated_series),
      cmocka_unit_test(test_hardly_any_sum_is_unknown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
