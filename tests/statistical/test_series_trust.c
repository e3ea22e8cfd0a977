/* Series that must not pass for converged: those with a handful of rare events, and replicas that
 * share a drift; and series that must not be said to drift. Each with the former rule as the
 * control: 32 bins and 500 autocorrelation times, whatever fluctuated and wherever it began. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>

#include <cmocka.h>

#include "core/statistics/series.h"
#include "support/autoregressive.h"

enum { SEED = 1906 };

/* The series that pass: how many, and the mean of z^2, z over the error with Student's factor. */
struct passed {
  int count;
  double square;
};

static void take(struct passed *passed, double deviation, double error, double freedom)
{
  const double student = freedom > 2 ? freedom / (freedom - 2) : INFINITY;
  const double square = deviation == 0 ? 0 : deviation * deviation / (error * error * student);
  passed->square = (passed->square * passed->count + square) / (passed->count + 1);
  passed->count++;
}

/* Former errors: constants have none, and a third of the bins is the freedom. */
static void
take_former(struct passed *passed, const struct gpumc_series_estimate *found, double exact)
{
  const double deviation = found->mean - exact;
  if (found->variance == 0)
    take(passed, deviation, 0, (double)found->count / 3);
  else if (found->bins >= 32 && (double)found->count >= 500 * found->autocorrelation_time)
    take(passed, deviation, found->error, (double)found->bins / 3);
}

/* 0, and 1 while a Gaussian number of AR(1) with time 1.5 exceeds `limit`. */
static struct gpumc_series rare_events(size_t n, double limit, uint32_t repeat)
{
  struct autoregressive process;
  struct gpumc_series series = {0};
  autoregressive_begin(&process, 0.5, SEED, repeat);
  for (size_t i = 0; i < n; i++)
    gpumc_series_add(&series, autoregressive_next(&process) > limit);
  return series;
}

/* 400 series of 2000 values in which 1, 3, 10 and 30 are 1, on average. Five events must have
 * happened, which has a probability below 1 % if the mean is one: more than 4 % of 400 series do so
 * once in 10^6. Those that pass have a mean z^2 of 1 if nearly all do, and a little more if a
 * selection does: below 1.5, which is five standard deviations of 400 squares. The former rule
 * fails each: without any event it had an error of 0. */
static void test_a_handful_of_events_does_not_pass(void **state)
{
  (void)state;
  enum { REPEATS = 400, VALUES = 2000 };
  const double expected[] = {1, 3, 10, 30};
  const double limit[] = {3.2905, 2.9677, 2.5758, 2.1701}; /* exceeded by expected/2000 */
  const double bound = 1.5;
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    struct passed passed = {0}, former = {0};
    for (uint32_t repeat = 0; repeat < REPEATS; repeat++) {
      const double exact = expected[i] / VALUES;
      struct gpumc_series series = rare_events(VALUES, limit[i], repeat);
      struct gpumc_series_estimate found;
      gpumc_series_estimate(&series, &found);
      if (found.converged)
        take(&passed, found.mean - exact, found.error, found.freedom);
      take_former(&former, &found, exact);
    }
    print_message("%2.0f events: %3d of %d converged, <z^2> %.2f; formerly %d, %.2f\n", expected[i],
                  passed.count, REPEATS, passed.square, former.count, former.square);
    if (expected[i] < 2)
      assert_true(passed.count <= REPEATS / 25);
    else
      assert_true(passed.square < bound);
    if (expected[i] < 5)
      assert_false(former.count <= REPEATS / 25 || former.square < bound);
    if (expected[i] > 20)
      assert_true(passed.count > REPEATS / 2);
  }
}

enum form { GAUSSIAN, SQUARE, EXPONENTIAL, EVENTS, FORMS };

static double value_of(enum form form, double gaussian)
{
  switch (form) {
  case SQUARE:
    return gaussian * gaussian;
  case EXPONENTIAL:
    return exp(gaussian);
  case EVENTS:
    return gaussian > 2.5;
  default:
    return gaussian;
  }
}

/* `chains` series of n values, each with a decaying shift. */
static struct gpumc_series_estimate
chains_of(enum form form, double phi, size_t n, uint32_t chains, double shift, uint32_t repeat)
{
  struct gpumc_series all = {0};
  struct gpumc_series_estimate found;
  for (uint32_t c = 0; c < chains; c++) {
    struct autoregressive process;
    struct gpumc_series series = {0};
    double transient = shift;
    autoregressive_begin(&process, phi, SEED + (uint64_t)form, repeat * chains + c);
    for (size_t i = 0; i < n; i++) {
      gpumc_series_add(&series, value_of(form, autoregressive_next(&process)) + transient);
      transient *= phi;
    }
    gpumc_series_merge(&all, &series);
  }
  gpumc_series_estimate(&all, &found);
  return found;
}

/* At most one series in 1000 drifts by chance. Then more than 14 of 4800 do so once in 2000. */
static void test_stationary_series_do_not_drift(void **state)
{
  (void)state;
  enum { REPEATS = 150 };
  const double phi[] = {0, 0.5, 0.9, 0.98};
  int alarms = 0, tried = 0;
  for (int form = 0; form < FORMS; form++)
    for (size_t p = 0; p < sizeof phi / sizeof *phi; p++)
      for (uint32_t chains = 1; chains <= 8; chains += 7)
        for (uint32_t repeat = 0; repeat < REPEATS; repeat++) {
          const size_t n = chains == 1 ? 8000 : 2000;
          const struct gpumc_series_estimate found =
              chains_of((enum form)form, phi[p], n, chains, 0, repeat);
          tried += !isnan(found.drift);
          alarms += found.drifts;
        }
  print_message("%d of %d stationary series drift\n", alarms, tried);
  assert_true(tried > 4000);
  assert_true(alarms <= 14);
}

/* Eight chains of 1000 values with a time of 9.5, all of which begin ten standard deviations of a
 * value too high: the mean is 2 errors too high. None of 100 may pass. The former rule lets most of
 * them pass. */
static void test_common_drift_is_found(void **state)
{
  (void)state;
  enum { REPEATS = 100, CHAINS = 8, VALUES = 1000 };
  const double shift = 10;
  struct passed passed = {0}, former = {0};
  double bias = 0;
  for (uint32_t repeat = 0; repeat < REPEATS; repeat++) {
    const struct gpumc_series_estimate found =
        chains_of(GAUSSIAN, 0.9, VALUES, CHAINS, shift, repeat);
    bias += found.mean / found.error / REPEATS;
    if (found.converged)
      take(&passed, found.mean, found.error, found.freedom);
    take_former(&former, &found, 0);
  }
  print_message("a drift that shifts the mean by %.1f errors: %d of %d converged, formerly %d\n",
                bias, passed.count, REPEATS, former.count);
  assert_true(bias > 0.5);
  assert_int_equal(passed.count, 0);
  assert_true(former.count > REPEATS / 2);
}

/* Independent Gaussian numbers, the first 64 of which are higher by `shift`. */
static struct gpumc_series shifted(double shift, uint32_t repeat)
{
  struct autoregressive process;
  struct gpumc_series series = {0};
  autoregressive_begin(&process, 0, SEED + 1, repeat);
  for (size_t i = 0; i < 16384; i++)
    gpumc_series_add(&series, autoregressive_next(&process) + (i < 64 ? shift : 0));
  return series;
}

/* A result with many series keeps the rate of false alarms of one: a deviate of 4.5 to 5 is a drift
 * in few series, and chance in 10,000 of them; a larger one is a drift among these, too. */
static void test_limit_grows_with_the_series(void **state)
{
  (void)state;
  int few = 0, many = 0, large = 0;
  for (uint32_t repeat = 0; repeat < 200; repeat++) {
    struct gpumc_series_estimate alone, among;
    const struct gpumc_series series = shifted(0.6, repeat), far = shifted(1.5, repeat);
    gpumc_series_estimate(&series, &alone);
    gpumc_series_estimate_among(&series, 10000, &among);
    assert_true(alone.drift == among.drift && alone.drifts == (fabs(alone.drift) > 4.5));
    few += alone.drifts;
    many += among.drifts;
    assert_false(among.drifts && fabs(among.drift) < 5.2);
    gpumc_series_estimate_among(&far, 10000, &among);
    large += among.drifts;
  }
  print_message("of 200 series %d drift in a result of their own, %d among 10,000, %d with a "
                "larger shift\n",
                few, many, large);
  assert_true(few > 100 && many < few && large > 190);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_handful_of_events_does_not_pass),
      cmocka_unit_test(test_stationary_series_do_not_drift),
      cmocka_unit_test(test_common_drift_is_found),
      cmocka_unit_test(test_limit_grows_with_the_series),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
