/* Reported errors of time series against their claims: 400 independent AR(1) series of known
 * autocorrelation time and exactly known mean, from hardly enough values to very many; and the
 * autocorrelation time of a decay with two times.
 *
 * CTest: release */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>

#include <cmocka.h>

#include "core/statistics/series.h"
#include "support/autoregressive.h"

enum { SEED = 2026, REPEATS = 400, LONGEST = 100000, MERGED = 4 };

static const double phis[] = {0, 0.5, 0.9, 0.98};
enum { N_PHIS = sizeof phis / sizeof *phis };

/* Results of REPEATS series. `naive`: mean squares of the errors that treat the values as
 * independent. */
struct outcome {
  double deviation, error, naive; /* root mean squares */
  double normalized;              /* root mean square of deviation/error */
  double time;                    /* mean of tau */
  int converged;
};

/* One series of n values, or MERGED of n/MERGED. */
static struct gpumc_series_estimate estimate_one(double phi, size_t n, uint32_t repeat, int merged)
{
  return autoregressive_estimate(phi, SEED + (uint64_t)n, repeat * (uint32_t)merged, n, merged);
}

static struct outcome repeat_series(double phi, size_t n, int merged)
{
  struct outcome outcome = {0};
  for (uint32_t repeat = 0; repeat < REPEATS; repeat++) {
    struct gpumc_series_estimate one = estimate_one(phi, n, repeat, merged);
    outcome.deviation += one.mean * one.mean / REPEATS;
    outcome.error += one.error * one.error / REPEATS;
    outcome.naive += one.variance / (double)one.count / REPEATS;
    outcome.normalized += one.mean * one.mean / (one.error * one.error) / REPEATS;
    outcome.time += one.autocorrelation_time / REPEATS;
    outcome.converged += one.converged;
  }
  outcome.deviation = sqrt(outcome.deviation);
  outcome.error = sqrt(outcome.error);
  outcome.naive = sqrt(outcome.naive);
  outcome.normalized = sqrt(outcome.normalized);
  return outcome;
}

/* The root mean square of 400 normal deviates scatters by 1/sqrt(800) = 3.5 %, that of the errors
 * by 1 % at most; four of both together are 14.7 %. Added to this is the possible error of short
 * series: 7 % at 50 tau (measured over 2000 repeats: 5 %), 1 % from 1000 tau on. A right error is
 * refused once in 15,000; one that is wrong by 30 % passes the long series once in 1000. */
static int passes(double deviation, double error, double times)
{
  double bound = 4 * sqrt(1.0 / (2 * REPEATS) + 1e-4) + (times < 1000 ? 0.07 : 0.01);
  return fabs(deviation / error - 1) < bound;
}

static void judge(double phi, size_t n, int merged)
{
  double times = (double)n / autoregressive_time(phi);
  struct outcome outcome = repeat_series(phi, n, merged);
  print_message("phi %.2f, %6zu values (%7.0f tau) in %d: scatter/error %.3f, naive %.2f, "
                "normalized %.3f, tau/exact %.3f, converged %d\n",
                phi, n, times, merged, outcome.deviation / outcome.error,
                outcome.deviation / outcome.naive, outcome.normalized,
                outcome.time / autoregressive_time(phi), outcome.converged);
  assert_true(passes(outcome.deviation, outcome.error, times));
  if (phi > 0)
    assert_false(passes(outcome.deviation, outcome.naive, times));
  /* At 1000 tau and more an error has at least 125/3 degrees of freedom, so deviations in units of
   * it scatter by up to 1.025. */
  if (times >= 1000) {
    assert_true(outcome.normalized < 1.025 + 4 / sqrt(2.0 * REPEATS));
    assert_true(outcome.converged >= REPEATS - 2);
  }
}

static void test_scatter_is_the_reported_error(void **state)
{
  (void)state;
  for (size_t p = 0; p < N_PHIS; p++) {
    double tau = autoregressive_time(phis[p]);
    const double times[] = {50, 100, 300, 1000};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
      judge(phis[p], (size_t)ceil(times[i] * tau), 1);
    judge(phis[p], LONGEST, 1);
  }
}

static void test_scatter_of_merged_series(void **state)
{
  (void)state;
  for (size_t p = 0; p < N_PHIS; p++)
    judge(phis[p], MERGED * (size_t)ceil(500 * autoregressive_time(phis[p])), MERGED);
}

/* Up to 100 tau a series must not pass for converged; one in 400 is allowed to. */
static void test_short_series_are_not_converged(void **state)
{
  (void)state;
  for (size_t p = 0; p < N_PHIS; p++) {
    const double times[] = {0.5, 2, 5, 10, 20, 50, 100};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
      size_t n = (size_t)ceil(times[i] * autoregressive_time(phis[p]));
      struct outcome outcome = repeat_series(phis[p], n, 1);
      if (outcome.converged > 1)
        fail_msg("phi %.2f, %zu values: %d converged", phis[p], n, outcome.converged);
    }
  }
}

/* 90 % of the variance with tau = 20, 10 % with 300. */
static const double fast_time = 20, slow_time = 300, slow_share = 0.1;

static double exact_mixture(void)
{
  return (1 - slow_share) * fast_time + slow_share * slow_time;
}

static struct gpumc_series mixture(size_t n, uint32_t repeat)
{
  struct autoregressive fast, slow;
  struct gpumc_series series = {0};
  autoregressive_begin(&fast, autoregressive_phi(fast_time), SEED, 2 * repeat);
  autoregressive_begin(&slow, autoregressive_phi(slow_time), SEED, 2 * repeat + 1);
  for (size_t i = 0; i < n; i++)
    gpumc_series_add(&series, sqrt(1 - slow_share) * autoregressive_next(&fast) +
                                  sqrt(slow_share) * autoregressive_next(&slow));
  return series;
}

/* Returns tau from the lowest level whose bins have four of it, for a variance of 1 and very many
 * bins. */
static double time_of_shortest_bins(const struct gpumc_series *series)
{
  double time = 0;
  for (int l = 0; l == 0 || ldexp(0.5, l) < 4 * time; l++) {
    const struct gpumc_series_level *level = &series->level[l];
    double covariance =
        3 * level->squares / (double)level->bins - level->differences / (double)level->pairs;
    time = ldexp(covariance, l) / 2;
  }
  return time;
}

/* 10^4 tau. Bins have at least tau (0.12 n/tau)^(1/3) = 10.6 tau, or 512 values, of which 5.4 % of
 * tau are cut off, and at most twice that, with a relative standard deviation of tau of 11.3 %. The
 * mean of 100 may be off by the one and four times a tenth of the other: a false alarm below 1e-4.
 * Control: the shortest bins that have four tau, which cut off 18 % or more. */
static void test_time_of_two_decays(void **state)
{
  (void)state;
  enum { MIXTURES = 100 };
  const double times = 1e4, bound = 0.054 + 4 * 0.113 / 10;
  double exact = exact_mixture();
  double mean = 0, control = 0;
  for (uint32_t repeat = 0; repeat < MIXTURES; repeat++) {
    struct gpumc_series series = mixture((size_t)(times * exact), repeat);
    struct gpumc_series_estimate found;
    gpumc_series_estimate(&series, &found);
    assert_true(found.converged);
    mean += found.autocorrelation_time / exact / MIXTURES;
    control += time_of_shortest_bins(&series) / exact / MIXTURES;
  }
  print_message("%.0f tau of two decays: tau/exact %.3f, by the shortest bins %.3f, bound %.3f\n",
                times, mean, control, bound);
  assert_true(fabs(mean - 1) < bound);
  assert_false(fabs(control - 1) < bound);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scatter_is_the_reported_error),
      cmocka_unit_test(test_scatter_of_merged_series),
      cmocka_unit_test(test_short_series_are_not_converged),
      cmocka_unit_test(test_time_of_two_decays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
