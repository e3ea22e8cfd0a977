/* The estimator against a slow jackknife that averages the data anew without each block, its pooled
 * errors against the scatter of repeats, and wrong estimates, which must not pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>

#include <cmocka.h>

#include "core/numerics/random.h"
#include "core/statistics/estimate.h"

enum { BLOCKS = 24, STRATA = 3, WIDTH = 2, RESULTS = 2 };

static void assert_near(double found, double expected, double relative)
{
  if (!(fabs(found - expected) <= relative * fabs(expected)))
    fail_msg("%.17g, expected %.17g", found, expected);
}

/* Returns a number between 0 and 1. */
static double uniform(uint32_t stream, uint32_t i)
{
  const struct gpumc_random random = gpumc_random_make(11, stream, 10);
  uint32_t word[4];
  gpumc_random_draw(random, i, 0, 0, 0, word);
  return (word[0] + 0.5) * 0x1p-32;
}

/* Returns, from the means of x and x^2, twice the mean and a ratio like that in a Binder
 * parameter. */
static void mean_and_ratio(const void *state, const double *mean, double *result)
{
  (void)state;
  result[0] = 2 * mean[0];
  result[1] = mean[1] / (mean[0] * mean[0]);
}

/* The data: members[b] numbers of each block of each stratum. */
struct data {
  size_t strata, members[BLOCKS];
  uint32_t stream;
};

static double number(const struct data *data, size_t stratum, size_t b, size_t i)
{
  const uint32_t place = (uint32_t)((stratum * BLOCKS + b) * 64 + i);
  return 1 + uniform(data->stream, place) + uniform(data->stream + 1, place / 64);
}

/* Computes means over all data except block `without` of stratum `of`, added up number by
 * number. */
static void slow_means(const struct data *data, size_t of, size_t without, double mean[WIDTH])
{
  double count = 0;
  mean[0] = mean[1] = 0;
  for (size_t s = 0; s < data->strata; s++)
    for (size_t b = 0; b < BLOCKS; b++)
      for (size_t i = 0; i < data->members[b] && !(s == of && b == without); i++) {
        const double x = number(data, s, b, i);
        mean[0] += x;
        mean[1] += x * x;
        count++;
      }
  mean[0] /= count;
  mean[1] /= count;
}

/* Returns (n-1)/n times the sum of squared deviations from the mean of each stratum; `stretch` as
 * in Busing et al. */
static double slow_variance(const struct data *data, size_t result, bool stretched)
{
  double variance = 0, all = 0, whole[RESULTS], mean[WIDTH];
  slow_means(data, SIZE_MAX, 0, mean);
  mean_and_ratio(NULL, mean, whole);
  for (size_t b = 0; b < BLOCKS; b++)
    all += (double)data->members[b];
  for (size_t s = 0; s < data->strata; s++) {
    double value[BLOCKS], average = 0;
    for (size_t b = 0; b < BLOCKS; b++) {
      double found[RESULTS];
      const double share = all / (double)data->members[b];
      slow_means(data, s, b, mean);
      mean_and_ratio(NULL, mean, found);
      value[b] = found[result];
      if (stretched)
        value[b] = whole[result] + (value[b] - whole[result]) * sqrt((share - 1) / (BLOCKS - 1));
      average += value[b] / BLOCKS;
    }
    for (size_t b = 0; b < BLOCKS; b++)
      variance += (value[b] - average) * (value[b] - average) * (BLOCKS - 1) / BLOCKS;
  }
  return variance;
}

static struct data equal_blocks(size_t strata, uint32_t stream)
{
  struct data data = {.strata = strata, .stream = stream};
  for (size_t b = 0; b < BLOCKS; b++)
    data.members[b] = 10;
  return data;
}

static struct data unequal_blocks(uint32_t stream)
{
  struct data data = {.strata = 1, .stream = stream};
  for (size_t b = 0; b < BLOCKS; b++)
    data.members[b] = 4 + 5 * (b % 3);
  return data;
}

/* Computes the sums and member counts of one stratum's blocks. */
static void
sum_up(const struct data *data, size_t stratum, double sums[BLOCKS][WIDTH], double weight[BLOCKS])
{
  for (size_t b = 0; b < BLOCKS; b++) {
    weight[b] = (double)data->members[b];
    sums[b][0] = sums[b][1] = 0;
    for (size_t i = 0; i < data->members[b]; i++) {
      const double x = number(data, stratum, b, i);
      sums[b][0] += x;
      sums[b][1] += x * x;
    }
  }
}

static const struct gpumc_estimator plain = {
    .width = WIDTH, .n_results = RESULTS, .results = mean_and_ratio};

static void estimate(const struct gpumc_estimator *estimator, const double *mean,
                     const struct gpumc_replicates *of, size_t n_of, double *value,
                     double *error_of, struct gpumc_variance *variance)
{
  struct gpumc_error error = {0};
  if (gpumc_estimate(estimator, mean, of, n_of, value, error_of, variance, &error) != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(&error));
}

/* Runs the estimator on one stratum; `stretched`: it knows that the blocks are unequal. */
static void estimate_one(const struct data *data, bool stretched, double value[RESULTS],
                         double error_of[RESULTS], struct gpumc_variance variance[RESULTS])
{
  double sums[BLOCKS][WIDTH], weight[BLOCKS], without[BLOCKS][WIDTH], mean[WIDTH], stretch[BLOCKS];
  sum_up(data, 0, sums, weight);
  gpumc_leave_one_out(sums[0], weight, BLOCKS, WIDTH, mean, without[0]);
  gpumc_stretch(weight, BLOCKS, stretch);
  const struct gpumc_replicates replicates = {.strata = 1,
                                              .blocks = BLOCKS,
                                              .without = without[0],
                                              .stretch = stretched ? stretch : NULL,
                                              .mean = mean,
                                              .freedom = INFINITY};
  estimate(&plain, mean, &replicates, 1, value, error_of, variance);
}

static void test_blocks_are_left_out_as_in_the_slow_way(void **state)
{
  (void)state;
  for (uint32_t stream = 0; stream < 20; stream += 2) {
    const struct data equal = equal_blocks(1, stream), unequal = unequal_blocks(stream);
    struct gpumc_variance variance[RESULTS];
    double value[RESULTS], error_of[RESULTS], mean[WIDTH], whole[RESULTS];
    for (int stretched = 0; stretched < 2; stretched++)
      for (int which = 0; which < 2; which++) {
        const struct data *data = which == 0 ? &equal : &unequal;
        estimate_one(data, stretched, value, error_of, variance);
        slow_means(data, SIZE_MAX, 0, mean);
        mean_and_ratio(NULL, mean, whole);
        for (size_t r = 0; r < RESULTS; r++) {
          assert_near(value[r], whole[r], 1e-13);
          assert_near(variance[r].value, slow_variance(data, r, stretched), 1e-10);
          assert_near(error_of[r],
                      sqrt(variance[r].value * variance[r].freedom / (variance[r].freedom - 2)),
                      1e-14);
        }
      }
    /* Equal blocks are not stretched, unequal ones are. */
    assert_near(slow_variance(&equal, 1, true), slow_variance(&equal, 1, false), 1e-12);
    if (fabs(slow_variance(&unequal, 1, true) / slow_variance(&unequal, 1, false) - 1) < 1e-3)
      fail_msg("unequal blocks make no difference");
  }
}

/* Strata are independent: a block of one is left out while the others stay whole. */
static void test_strata(void **state)
{
  (void)state;
  const struct data data = equal_blocks(STRATA, 40);
  double without[STRATA * BLOCKS][WIDTH], mean[WIDTH], value[RESULTS], error_of[RESULTS];
  struct gpumc_variance variance[RESULTS];
  for (size_t s = 0; s < STRATA; s++)
    for (size_t b = 0; b < BLOCKS; b++)
      slow_means(&data, s, b, without[s * BLOCKS + b]);
  slow_means(&data, SIZE_MAX, 0, mean);
  const struct gpumc_replicates replicates = {
      .strata = STRATA, .blocks = BLOCKS, .without = without[0], .freedom = INFINITY};
  estimate(&plain, mean, &replicates, 1, value, error_of, variance);
  for (size_t r = 0; r < RESULTS; r++) {
    assert_near(variance[r].value, slow_variance(&data, r, false), 1e-10);
    assert_true(variance[r].freedom > BLOCKS - 1);
    assert_true(variance[r].freedom <= STRATA * (BLOCKS - 1));
  }
}

/* Two divisions of the same data are weighted by their degrees of freedom. */
static void test_two_variances_are_pooled(void **state)
{
  (void)state;
  const struct data first = equal_blocks(1, 60), second = equal_blocks(1, 62);
  double sums[2][BLOCKS][WIDTH], weight[BLOCKS], without[2][BLOCKS][WIDTH], mean[WIDTH];
  double value[RESULTS], error_of[RESULTS], alone[RESULTS];
  struct gpumc_variance variance[2 * RESULTS], single[RESULTS];
  sum_up(&first, 0, sums[0], weight);
  sum_up(&second, 0, sums[1], weight);
  for (size_t i = 0; i < 2; i++)
    gpumc_leave_one_out(sums[i][0], weight, BLOCKS, WIDTH, mean, without[i][0]);
  struct gpumc_replicates replicates[2] = {
      {.strata = 1, .blocks = BLOCKS, .without = without[0][0], .freedom = INFINITY},
      {.strata = 1, .blocks = BLOCKS, .without = without[1][0], .freedom = 7}};
  estimate(&plain, mean, replicates, 2, value, error_of, variance);
  for (size_t i = 0; i < 2; i++) {
    estimate(&plain, mean, &replicates[i], 1, value, alone, single);
    for (size_t r = 0; r < RESULTS; r++)
      assert_true(single[r].value == variance[i * RESULTS + r].value &&
                  single[r].freedom == variance[i * RESULTS + r].freedom);
  }
  for (size_t r = 0; r < RESULTS; r++) {
    const struct gpumc_variance *a = &variance[r], *b = &variance[RESULTS + r];
    assert_true(b->freedom == 7);
    assert_near(
        error_of[r],
        sqrt((a->freedom * a->value + b->freedom * b->value) / (a->freedom + b->freedom - 2)),
        1e-14);
  }
  /* A single block that cannot be left out contributes nothing. */
  replicates[1].blocks = 1;
  replicates[1].without = NULL;
  estimate(&plain, mean, replicates, 2, value, error_of, variance);
  estimate(&plain, mean, replicates, 1, value, alone, NULL);
  for (size_t r = 0; r < RESULTS; r++)
    assert_true(variance[RESULTS + r].freedom == 0 && error_of[r] == alone[r]);
}

static bool first_is_known(const void *state, size_t result)
{
  (void)state;
  return result == 0;
}

static void large_roundings(const void *state, const double *mean, double *rounding)
{
  (void)state, (void)mean;
  rounding[0] = rounding[1] = 1e3;
}

static void test_what_has_no_error(void **state)
{
  (void)state;
  const struct data data = equal_blocks(1, 80);
  double sums[BLOCKS][WIDTH], weight[BLOCKS], without[BLOCKS][WIDTH], mean[WIDTH];
  double value[RESULTS], error_of[RESULTS];
  struct gpumc_estimator estimator = plain;
  sum_up(&data, 0, sums, weight);
  gpumc_leave_one_out(sums[0], weight, BLOCKS, WIDTH, mean, without[0]);
  const struct gpumc_replicates replicates = {
      .strata = 1, .blocks = BLOCKS, .without = without[0], .freedom = INFINITY};
  estimator.is_known = first_is_known;
  estimate(&estimator, mean, &replicates, 1, value, error_of, NULL);
  assert_true(error_of[0] == 0 && error_of[1] > 0);
  estimator.roundings = large_roundings;
  estimate(&estimator, mean, &replicates, 1, value, error_of, NULL);
  assert_true(error_of[0] == 0 && isnan(error_of[1]));
  estimate(&plain, mean, NULL, 0, value, error_of, NULL);
  assert_true(isnan(error_of[0]) && isnan(error_of[1]) && value[0] == 2 * mean[0]);
}

/* Returns the mean square of (deviation from the truth)/(reported error) over many repeats. The
 * numbers of a block share a component, so that blocks are independent and numbers are not.
 * `wrong`: treats each half of a block as a block. */
static double square_of_deviations(bool wrong)
{
  enum { REPEATS = 1000, PARTS = 2 * BLOCKS };
  const double truth = 2 * (1 + 0.5 + 0.5);
  double squares = 0;
  for (uint32_t repeat = 0; repeat < REPEATS; repeat++) {
    const struct data data = equal_blocks(1, 1000 + 2 * repeat);
    double sums[PARTS][WIDTH] = {{0}}, without[PARTS][WIDTH], mean[WIDTH];
    double value[RESULTS], error_of[RESULTS];
    const size_t parts = wrong ? PARTS : BLOCKS;
    for (size_t b = 0; b < BLOCKS; b++)
      for (size_t i = 0; i < 10; i++)
        sums[wrong ? 2 * b + i % 2 : b][0] += number(&data, 0, b, i);
    double weight[PARTS];
    for (size_t p = 0; p < parts; p++)
      weight[p] = wrong ? 5 : 10;
    gpumc_leave_one_out(sums[0], weight, parts, WIDTH, mean, without[0]);
    const struct gpumc_replicates replicates = {
        .strata = 1, .blocks = parts, .without = without[0], .freedom = INFINITY};
    estimate(&plain, mean, &replicates, 1, value, error_of, NULL);
    squares += pow((value[0] - truth) / error_of[0], 2) / REPEATS;
  }
  return squares;
}

/* Without a function of their own, results are the same as with one that copies. */
static void copy_means(const void *state, const double *mean, double *result)
{
  (void)state;
  for (size_t i = 0; i < WIDTH; i++)
    result[i] = mean[i];
}

static void test_means_are_results_without_a_function(void **state)
{
  struct gpumc_error error = {0};
  struct gpumc_estimator estimator = {.width = WIDTH, .n_results = WIDTH, .results = copy_means};
  double mean[WIDTH] = {1, 2}, without[BLOCKS * WIDTH], expected[2 * WIDTH], found[2 * WIDTH];
  (void)state;
  for (uint32_t i = 0; i < BLOCKS * WIDTH; i++)
    without[i] = uniform(3, i);
  const struct gpumc_replicates replicates = {
      .strata = 1, .blocks = BLOCKS, .without = without, .freedom = INFINITY};
  assert_int_equal(
      gpumc_estimate(&estimator, mean, &replicates, 1, expected, expected + WIDTH, NULL, &error),
      GPUMC_OK);
  estimator.results = NULL;
  assert_int_equal(
      gpumc_estimate(&estimator, mean, &replicates, 1, found, found + WIDTH, NULL, &error),
      GPUMC_OK);
  assert_memory_equal(found, expected, sizeof found);
}

/* The mean of 1000 squares with expectation 1 scatters by 0.05: the bounds are five times that,
 * which chance exceeds once in a million. */
static void test_errors_are_those_of_repeats(void **state)
{
  (void)state;
  const double good = square_of_deviations(false), wrong = square_of_deviations(true);
  if (!(fabs(good - 1) < 0.25))
    fail_msg("deviations over errors have a mean square of %g", good);
  if (!(wrong > 1.25))
    fail_msg("halves of blocks pass for blocks: %g", wrong);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_blocks_are_left_out_as_in_the_slow_way),
      cmocka_unit_test(test_strata),
      cmocka_unit_test(test_two_variances_are_pooled),
      cmocka_unit_test(test_what_has_no_error),
      cmocka_unit_test(test_means_are_results_without_a_function),
      cmocka_unit_test(test_errors_are_those_of_repeats),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
