/* Time series: every number against a slow reference; results that cannot be trusted are
 * reported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/statistics/series.h"
#include "support/autoregressive.h"

enum { SEED = 4711 };

static void assert_close(double value, double expected, double relative)
{
  if (!(fabs(value - expected) <= relative * fabs(expected)))
    fail_msg("%.17g instead of %.17g", value, expected);
}

static double *make_values(double phi, uint32_t repeat, size_t n)
{
  struct autoregressive process;
  double *values = malloc(n * sizeof *values);
  assert_non_null(values);
  autoregressive_begin(&process, phi, SEED, repeat);
  for (size_t i = 0; i < n; i++)
    values[i] = autoregressive_next(&process);
  return values;
}

static struct gpumc_series series_of(const double *values, size_t n)
{
  struct gpumc_series series = {0};
  for (size_t i = 0; i < n; i++)
    gpumc_series_add(&series, values[i]);
  return series;
}

static struct gpumc_series_estimate estimate_of(const struct gpumc_series *series)
{
  struct gpumc_series_estimate estimate;
  gpumc_series_estimate(series, &estimate);
  return estimate;
}

/* Compares every level of the series with bins formed from the stored values. */
static void test_levels_are_those_of_stored_values(void **state)
{
  (void)state;
  enum { N = 1000 };
  double *values = make_values(0.7, 0, N);
  struct gpumc_series series = series_of(values, N);
  for (size_t l = 0; l < 10; l++) {
    const struct gpumc_series_level *level = &series.level[l];
    size_t length = (size_t)1 << l;
    size_t bins = N / length;
    double means[N];
    double mean = 0;
    double squares = 0;
    double differences = 0;
    double fourths[2] = {0};
    for (size_t b = 0; b < bins; b++) {
      means[b] = 0;
      for (size_t i = 0; i < length; i++)
        means[b] += values[b * length + i] / (double)length;
      mean += means[b] / (double)bins;
    }
    for (size_t b = 0; b < bins; b++) {
      squares += (means[b] - mean) * (means[b] - mean);
      if (b > 0) {
        differences += pow(means[b] - means[b - 1], 2);
        fourths[b > GPUMC_SERIES_EARLY] += pow(means[b] - means[b - 1], 4);
      }
    }
    assert_int_equal(level->bins, bins);
    assert_int_equal(level->pairs, bins - 1);
    assert_close(level->mean, mean, 1e-11);
    assert_close(level->first, means[0], 1e-13);
    if (bins > 1) {
      assert_close(level->squares, squares, 1e-11);
      assert_close(level->differences, differences, 1e-11);
      assert_close(level->early, fourths[0], 1e-11);
      assert_close(level->fourths, fourths[1], 1e-11);
    }
  }
  assert_int_equal(series.level[10].bins, 0);
  free(values);
}

/* Returns the mean of `length` values starting at value `bin` times `length`, minus the
 * reference. */
static double bin_of(const double *values, size_t length, size_t bin, double reference)
{
  double sum = 0;
  for (size_t i = 0; i < length; i++)
    sum += values[bin * length + i] / (double)length;
  return sum - reference;
}

/* Compares every lag of two merged series, with lengths that fill no block, with stored values. */
static void test_lagged_products_are_those_of_stored_values(void **state)
{
  (void)state;
  const size_t n[] = {1000, 803};
  double *values[] = {make_values(0.9, 30, n[0]), make_values(0.9, 31, n[1])};
  struct gpumc_series merged = {0};
  for (size_t s = 0; s < 2; s++) {
    struct gpumc_series series = series_of(values[s], n[s]);
    gpumc_series_merge(&merged, &series);
  }
  assert_true(merged.reference == values[0][0] && merged.shortest == n[1]);
  for (size_t lag = 0; lag < 16; lag++)
    for (size_t l = 0; l < (lag < 8 ? 1 : 6); l++) {
      const size_t length = (size_t)1 << l;
      double product = 0, ends = 0;
      for (size_t s = 0; s < 2; s++)
        for (size_t b = lag; b < n[s] / length; b++) {
          const double late = bin_of(values[s], length, b, merged.reference);
          const double early = bin_of(values[s], length, b - lag, merged.reference);
          product += late * early;
          ends += late + early;
        }
      assert_close(merged.lags[lag < 8 ? 0 : l + 1].product[lag % 8], product, 1e-11);
      assert_close(merged.lags[lag < 8 ? 0 : l + 1].ends[lag % 8], ends, 1e-11);
    }
  free(values[0]);
  free(values[1]);
}

static void test_error_time_and_variance_belong_together(void **state)
{
  (void)state;
  double *values = make_values(0.9, 1, 20000);
  struct gpumc_series series = series_of(values, 20000);
  struct gpumc_series_estimate found = estimate_of(&series);
  assert_true(found.converged);
  assert_int_equal(found.count, 20000);
  double time = found.bin_time;
  assert_close(found.error * found.error, 2 * time * found.variance / 20000, 1e-13);
  assert_close(found.effective_samples, 10000 / found.autocorrelation_time, 1e-13);
  assert_true((double)found.bin_length >= 4 * time && (double)found.bin_length < 16 * time);
  assert_close(found.freedom, 20000 / (double)found.bin_length / 3, 0.01);
  /* With 2100 tau and a window of about 6 tau: 2 sqrt(5.5/2100). */
  assert_close(found.time_error / found.autocorrelation_time, 0.10, 0.3);
  assert_int_equal(found.bins, 20000 / found.bin_length);
  free(values);
}

/* From 600 tau on, bins have at most twice the balanced length, tau (0.12 n/tau)^(1/3), so that
 * tau's relative standard deviation, sqrt(6 bin/n), is at most 2.43 (tau/n)^(1/3). Allows four
 * times this and the 0.5 % that the window cuts off: false alarm rate below 1e-4. */
static double time_bound(double values, double time)
{
  return 4 * 2.43 * cbrt(time / values) + 0.005;
}

/* 2^18 values, 5000 tau for phi = 0.98. The reference's deviation, sqrt(26 tau/n), is smaller than
 * the one used in time_bound() and correlated with it. */
static void test_time_of_autoregressive_series(void **state)
{
  (void)state;
  const size_t n = (size_t)1 << 18;
  const double phi[] = {0, 0.5, 0.9, 0.98};
  for (size_t p = 0; p < sizeof phi / sizeof *phi; p++) {
    double *values = make_values(phi[p], 2, n);
    struct gpumc_series series = series_of(values, n);
    struct gpumc_series_estimate found = estimate_of(&series);
    double exact = autoregressive_time(phi[p]);
    double bound = time_bound((double)n, exact);
    assert_true(found.converged);
    assert_close(found.autocorrelation_time, exact, bound);
    assert_close(found.autocorrelation_time, sokal_time(values, n), bound);
    assert_close(found.variance, 1, 4 * sqrt(4 * exact / (double)n));
    /* If the length of the bins had been ignored, tau would be 1/2. */
    if (phi[p] > 0)
      assert_true(fabs(0.5 - exact) > bound * exact);
    free(values);
  }
}

/* A slow mode with a twentieth of the variance: the fast mode alone would fill a window of four
 * values, but the levels above it show no plateau. */
static void test_slow_mode_behind_a_fast_one_is_found(void **state)
{
  (void)state;
  enum { N = 1 << 19 };
  double *fast = make_values(0, 3, N);
  double *slow = make_values(0.995, 4, N);
  struct gpumc_series series = {0};
  for (size_t i = 0; i < N; i++)
    gpumc_series_add(&series, sqrt(0.95) * fast[i] + sqrt(0.05) * slow[i]);
  struct gpumc_series_estimate found = estimate_of(&series);
  double exact = 0.95 * 0.5 + 0.05 * autoregressive_time(0.995);
  assert_true(found.autocorrelation_time > 0.7 * exact);
  assert_true(found.autocorrelation_time < 1.3 * exact);
  free(fast);
  free(slow);
}

/* Asserts that it is unknown whether the series never fluctuates or does so too rarely to be
 * seen. */
static void assert_undetermined(const struct gpumc_series *series)
{
  struct gpumc_series_estimate found = estimate_of(series);
  assert_true(found.variance == 0 && isnan(found.error) && isnan(found.autocorrelation_time));
  assert_true(isnan(found.time_error) && isnan(found.effective_samples) && isnan(found.drift));
  assert_true(!found.converged && found.bins == 0 && found.freedom == 0);
}

static void test_constant_series_are_undetermined(void **state)
{
  (void)state;
  struct gpumc_series series = {0};
  for (int i = 0; i < 1001; i++)
    gpumc_series_add(&series, -1.1);
  assert_true(estimate_of(&series).mean == -1.1);
  assert_undetermined(&series);
}

/* Means of 5 and of 1000 equal numbers, in separate chains; a real fluctuation of one part in 10^12
 * is not a rounding error. */
static void test_rounding_is_no_fluctuation(void **state)
{
  (void)state;
  struct gpumc_series merged = {0}, moved = {0};
  for (int chain = 0; chain < 2; chain++) {
    const int members = chain == 0 ? 5 : 1000;
    struct gpumc_series series = {0};
    double sum = 0;
    for (int i = 0; i < members; i++)
      sum += -1.1;
    for (int i = 0; i < 500; i++)
      gpumc_series_add(&series, sum / members);
    gpumc_series_merge(&merged, &series);
  }
  assert_true(merged.between > 0);
  merged.members = 1000;
  assert_undetermined(&merged);
  for (int i = 0; i < 500; i++)
    gpumc_series_add(&moved, -1.1 * (1 + 1e-12 * (i % 3)));
  assert_true(estimate_of(&moved).error > 0);
}

/* There are twice as many degrees of freedom as events, and at least ten. */
static void test_rare_events_limit_the_freedom(void **state)
{
  (void)state;
  for (int events = 1; events <= 20; events++) {
    struct gpumc_series series = {0};
    for (int i = 0; i < 20000; i++)
      gpumc_series_add(&series, i % (20000 / events) == 777);
    struct gpumc_series_estimate found = estimate_of(&series);
    assert_close(found.observed_freedom, 2 * events, 0.1);
    assert_true(found.converged == (events >= 5));
  }
}

/* As a series grows, any converged result has 500 of its own autocorrelation times and 32 bins. The
 * reverse holds except for objections by lower levels: it has 32 bins long before. */
static void test_converged_series_are_500_times_long(void **state)
{
  (void)state;
  enum { N = 10000 };
  double *values = make_values(0.8, 7, N);
  struct gpumc_series series = {0};
  size_t too_short = 0;
  for (size_t i = 0; i < N; i++) {
    gpumc_series_add(&series, values[i]);
    struct gpumc_series_estimate found = estimate_of(&series);
    double times = (double)found.count / found.autocorrelation_time;
    if (found.converged)
      assert_true(times >= 500 && found.bins >= 32);
    else
      too_short += found.bins >= 32;
  }
  assert_true(estimate_of(&series).converged);
  assert_true(too_short > 500); /* values, for tau = 4.5 from 600 to about 2000 */
  free(values);
}

static void test_few_values_are_nan(void **state)
{
  (void)state;
  struct gpumc_series series = {0};
  struct gpumc_series_estimate found = estimate_of(&series);
  assert_true(isnan(found.mean) && isnan(found.error) && found.count == 0);
  gpumc_series_add(&series, 1);
  found = estimate_of(&series);
  assert_true(found.mean == 1 && isnan(found.variance) && isnan(found.error));
  gpumc_series_add(&series, 3);
  found = estimate_of(&series);
  assert_true(found.mean == 2 && found.variance == 2 && isnan(found.error));
  assert_true(isnan(found.autocorrelation_time) && !found.converged);
  gpumc_series_add(&series, NAN);
  gpumc_series_add(&series, 3);
  found = estimate_of(&series);
  assert_true(isnan(found.mean) && isnan(found.error) && !found.converged);
}

/* An offset a million times larger than the fluctuations changes only the mean. */
static void test_large_offset(void **state)
{
  (void)state;
  enum { N = 30000 };
  double *values = make_values(0.9, 5, N);
  struct gpumc_series plain = series_of(values, N);
  for (size_t i = 0; i < N; i++)
    values[i] += 1e6;
  struct gpumc_series moved = series_of(values, N);
  struct gpumc_series_estimate expected = estimate_of(&plain);
  struct gpumc_series_estimate found = estimate_of(&moved);
  assert_close(found.mean - 1e6, expected.mean, 1e-6);
  assert_close(found.error, expected.error, 1e-6);
  assert_close(found.autocorrelation_time, expected.autocorrelation_time, 1e-6);
  free(values);
}

/* As words of a checkpoint, at every length. */
static void test_restored_halfway_gives_the_same_bits(void **state)
{
  (void)state;
  enum { N = 3000 };
  double *values = make_values(0.5, 6, N);
  struct gpumc_series whole = series_of(values, N);
  for (size_t half = 0; half <= N; half += 377) {
    uint64_t words[GPUMC_SERIES_WORDS];
    struct gpumc_series series = series_of(values, half);
    memcpy(words, &series, sizeof series);
    memset(&series, 0xff, sizeof series);
    memcpy(&series, words, sizeof series);
    for (size_t i = half; i < N; i++)
      gpumc_series_add(&series, values[i]);
    assert_memory_equal(&series, &whole, sizeof series);
  }
  free(values);
}

/* Eight series: the mean is that of all values, the error is smaller by sqrt(8), and the time is
 * the same within its bound. */
static void test_merged_series(void **state)
{
  (void)state;
  enum { N = 20000, SERIES = 8 };
  double sum = 0;
  struct gpumc_series merged = {0};
  struct gpumc_series empty = {0};
  for (uint32_t r = 0; r < SERIES; r++) {
    double *values = make_values(0.9, 10 + r, N);
    struct gpumc_series series = series_of(values, N);
    for (size_t i = 0; i < N; i++)
      sum += values[i];
    gpumc_series_merge(&merged, &series);
    gpumc_series_merge(&merged, &empty);
    free(values);
  }
  struct gpumc_series_estimate found = estimate_of(&merged);
  double exact = autoregressive_time(0.9);
  double bound = time_bound(N * SERIES, exact);
  assert_true(found.converged && found.count == (size_t)N * SERIES);
  assert_close(found.mean, sum / (N * SERIES), 1e-10);
  assert_close(found.autocorrelation_time, exact, bound);
  assert_close(found.error, sqrt(2 * exact / (N * SERIES)), bound);
  assert_int_equal(merged.merged, SERIES);
}

/* Four replicas, one of them elsewhere by half a standard deviation of a value: each alone looks
 * converged, together they are not, and the error is that of their scatter. */
static void test_series_that_disagree_are_not_converged(void **state)
{
  (void)state;
  enum { N = 20000, SERIES = 4 };
  struct gpumc_series merged = {0};
  for (uint32_t r = 0; r < SERIES; r++) {
    double *values = make_values(0.9, 20 + r, N);
    for (size_t i = 0; i < N; i++)
      values[i] += r == 0 ? 0.5 : 0;
    struct gpumc_series series = series_of(values, N);
    assert_true(estimate_of(&series).converged);
    gpumc_series_merge(&merged, &series);
    free(values);
  }
  struct gpumc_series_estimate found = estimate_of(&merged);
  assert_true(!found.converged && found.bins == 0);
  /* means 0.5, 0, 0, 0: standard error 1/8 */
  assert_close(found.error, 0.125, 0.2);
  assert_true(found.freedom == SERIES - 1);
}

/* Many replicas, each shorter than its autocorrelation time: no level shows this, but their means
 * do. The variance of 1000 means has a relative error of 4.5 %, and the error half of that; four
 * times this is allowed. */
static void test_short_series_are_judged_by_their_scatter(void **state)
{
  (void)state;
  enum { N = 40, SERIES = 1000 };
  struct gpumc_series merged = {0};
  for (uint32_t r = 0; r < SERIES; r++) {
    double *values = make_values(0.98, 1000 + r, N);
    struct gpumc_series series = series_of(values, N);
    gpumc_series_merge(&merged, &series);
    free(values);
  }
  struct gpumc_series_estimate found = estimate_of(&merged);
  assert_true(!found.converged && found.bins == 0);
  assert_close(found.error, sqrt(autoregressive_mean_variance(0.98, N) / SERIES), 0.09);
}

/* Independent values, one per series; and replicas that are stuck, each in its own state. */
static void test_scatter_where_there_is_nothing_else(void **state)
{
  (void)state;
  for (int length = 1; length <= 100; length += 33) {
    struct gpumc_series merged = {0};
    for (int r = 0; r < 5; r++) {
      const double x[] = {1.0, 4.0, 2.0, 8.0, 5.0};
      struct gpumc_series series = {0};
      for (int i = 0; i < length; i++)
        gpumc_series_add(&series, x[r]);
      gpumc_series_merge(&merged, &series);
    }
    struct gpumc_series_estimate found = estimate_of(&merged);
    assert_close(found.mean, 4, 1e-14);
    /* sample variance 7.5, over 5 */
    assert_close(found.error, sqrt(1.5), 1e-14);
    assert_true(found.freedom == 4 && !found.converged);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_levels_are_those_of_stored_values),
      cmocka_unit_test(test_lagged_products_are_those_of_stored_values),
      cmocka_unit_test(test_error_time_and_variance_belong_together),
      cmocka_unit_test(test_time_of_autoregressive_series),
      cmocka_unit_test(test_slow_mode_behind_a_fast_one_is_found),
      cmocka_unit_test(test_constant_series_are_undetermined),
      cmocka_unit_test(test_rounding_is_no_fluctuation),
      cmocka_unit_test(test_rare_events_limit_the_freedom),
      cmocka_unit_test(test_converged_series_are_500_times_long),
      cmocka_unit_test(test_few_values_are_nan),
      cmocka_unit_test(test_large_offset),
      cmocka_unit_test(test_restored_halfway_gives_the_same_bits),
      cmocka_unit_test(test_merged_series),
      cmocka_unit_test(test_series_that_disagree_are_not_converged),
      cmocka_unit_test(test_short_series_are_judged_by_their_scatter),
      cmocka_unit_test(test_scatter_where_there_is_nothing_else),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
