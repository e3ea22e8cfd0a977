/* Bins of a series: doubling, restoring, and jackknife over them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "core/statistics/bins.h"
#include "core/statistics/estimate.h"
#include "support/autoregressive.h"

static void add_moments(struct gpumc_bins *bins, struct autoregressive *process, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    double x = autoregressive_next(process);
    gpumc_bins_add(bins, (double[]){x, x * x});
  }
}

/* Values 0, 1, 2, ...: bin b of length m has the mean m b + (m - 1)/2. */
static void test_length_doubles_when_full(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct gpumc_bins bins;
  assert_int_equal(gpumc_bins_init(&bins, 2, &error), GPUMC_OK);
  for (size_t n = 1; n <= 3000; n++) {
    double x = (double)(n - 1);
    gpumc_bins_add(&bins, (double[]){x, -x});
    size_t length = (size_t)bins.state[GPUMC_BINS_LENGTH];
    size_t count = (size_t)bins.state[GPUMC_BINS_COUNT];
    assert_int_equal(gpumc_bins_check(&bins, &error), GPUMC_OK);
    assert_int_equal(count * length + bins.state[GPUMC_BINS_FILLED], n);
    assert_true(count < GPUMC_BINS_MOST && (length == 1 || count >= GPUMC_BINS_MOST / 2));
    for (size_t b = 0; b < count && n % 100 == 0; b++) {
      double means[2];
      gpumc_bins_mean(&bins, b, means);
      assert_true(means[0] == (double)(length * b) + 0.5 * (double)(length - 1));
      assert_true(means[1] == -means[0]);
    }
  }
  gpumc_bins_free(&bins);
  gpumc_bins_free(&bins);
}

static void test_restored_halfway_gives_the_same_bits(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  enum { WIDTH = 2, SUMS = GPUMC_BINS_MOST * WIDTH * sizeof(double) };
  struct gpumc_bins whole;
  struct gpumc_bins half;
  struct autoregressive process;
  assert_int_equal(gpumc_bins_init(&whole, WIDTH, &error), GPUMC_OK);
  assert_int_equal(gpumc_bins_init(&half, WIDTH, &error), GPUMC_OK);
  autoregressive_begin(&process, 0.5, 1, 0);
  add_moments(&whole, &process, 777);
  memcpy(half.state, whole.state, sizeof whole.state);
  memcpy(half.sums, whole.sums, SUMS);
  struct autoregressive again = process;
  add_moments(&whole, &process, 1000);
  add_moments(&half, &again, 1000);
  assert_memory_equal(half.state, whole.state, sizeof whole.state);
  assert_memory_equal(half.sums, whole.sums, SUMS);
  gpumc_bins_free(&whole);
  gpumc_bins_free(&half);
}

static void test_impossible_states_are_refused(void **state)
{
  (void)state;
  const uint64_t wrong[][GPUMC_BINS_STATE] = {{0, 0, 0}, {3, 1, 0}, {1, 128, 0}, {4, 1, 4}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct gpumc_error error = {0};
    struct gpumc_bins bins = {.width = 1};
    memcpy(bins.state, wrong[i], sizeof bins.state);
    assert_int_equal(gpumc_bins_check(&bins, &error), GPUMC_FAILURE);
    assert_string_equal(gpumc_error_text(&error),
                        "is damaged: the bins of a time series have impossible counts");
    gpumc_error_free(&error);
  }
}

/* Estimates the mean and kurtosis of a series in blocks of at least `shortest` measurements. */
static void mean_and_kurtosis(const void *state, const double *means, double *results)
{
  const double *factor = (const double *)state;
  results[0] = *factor * means[0];
  results[1] = means[1] / (means[0] * means[0]);
}

static size_t estimate(const struct gpumc_bins *bins, double shortest, double factor,
                       double results[2], struct gpumc_variance variances[2])
{
  struct gpumc_error error = {0};
  double means[2], errors[2], without[GPUMC_BINS_MOST][2];
  const size_t blocks = gpumc_bins_blocks(bins, shortest);
  const struct gpumc_estimator estimator = {
      .width = 2, .n_results = 2, .state = &factor, .results = mean_and_kurtosis};
  const struct gpumc_replicates replicates = {
      .strata = 1, .blocks = blocks, .without = without[0], .freedom = INFINITY};
  gpumc_bins_mean_of_all(bins, means);
  if (blocks > 1)
    gpumc_bins_leave_out(bins, blocks, without[0]);
  assert_int_equal(
      gpumc_estimate(&estimator, means, &replicates, 1, results, errors, variances, &error),
      GPUMC_OK);
  return blocks;
}

static void test_jackknife_of_a_mean_is_its_standard_error(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct gpumc_bins bins;
  struct gpumc_variance variances[2];
  double results[2];
  double none[2];
  assert_int_equal(gpumc_bins_init(&bins, 2, &error), GPUMC_OK);
  assert_true(gpumc_bins_mean_of_all(&bins, none) == 0);
  assert_int_equal(estimate(&bins, 1, 3, results, variances), 0);
  assert_true(isnan(results[0]) && variances[0].freedom == 0);
  const double x[] = {1.0, 4.0, 2.0, 8.0, 5.0};
  for (int i = 0; i < 5; i++)
    gpumc_bins_add(&bins, (double[]){x[i], x[i] * x[i]});
  assert_int_equal(estimate(&bins, 1, 3, results, variances), 5);
  /* sample variance 7.5, over 5, times 3^2 */
  assert_true(fabs(results[0] - 12) < 1e-14 && fabs(results[1] - 22.0 / 16.0) < 1e-14);
  assert_true(fabs(variances[0].value - 13.5) < 1e-13 && variances[0].freedom == 4);
  /* the estimate without each value in turn */
  double without[5];
  for (int i = 0; i < 5; i++) {
    double mean = (20 - x[i]) / 4;
    without[i] = (110 - x[i] * x[i]) / 4 / (mean * mean);
  }
  assert_true(fabs(variances[1].value - gpumc_jackknife(without, 1, 5).value) < 1e-14);
  gpumc_bins_free(&bins);
}

/* 2^13 values with tau 9.5 in 64 bins of 128, or in fewer with `shortest`. The variance, low by
 * tau/length of a block and with a scatter of sqrt(2/blocks), must be within four standard
 * deviations. If the correlation were ignored, it would be 1/19 of that. */
static void test_jackknife_of_correlated_values(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct gpumc_bins bins;
  struct autoregressive process;
  double results[2];
  struct gpumc_variance variances[2];
  const double tau = autoregressive_time(0.9);
  const double exact = autoregressive_mean_variance(0.9, 1 << 13);
  assert_int_equal(gpumc_bins_init(&bins, 2, &error), GPUMC_OK);
  autoregressive_begin(&process, 0.9, 2, 0);
  add_moments(&bins, &process, 1 << 13);
  assert_int_equal(bins.state[GPUMC_BINS_COUNT], 64);
  const double shortest[] = {1, 300, 1e9};
  const double blocks[] = {64, 21, 8};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(estimate(&bins, shortest[i], 1, results, variances), (size_t)blocks[i]);
    double expected = exact * (1 - tau * blocks[i] / (1 << 13));
    assert_true(variances[0].freedom <= blocks[i] - 1);
    assert_true(fabs(variances[0].value / expected - 1) < 4 * sqrt(2 / blocks[i]));
    assert_true(variances[0].value > 0.3 * expected);
  }
  gpumc_bins_free(&bins);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_length_doubles_when_full),
      cmocka_unit_test(test_restored_halfway_gives_the_same_bits),
      cmocka_unit_test(test_impossible_states_are_refused),
      cmocka_unit_test(test_jackknife_of_a_mean_is_its_standard_error),
      cmocka_unit_test(test_jackknife_of_correlated_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
