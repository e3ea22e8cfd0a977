/* Jackknife and multi-histogram reweighting on data with a known answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>

#include <cmocka.h>

#include "core/statistics/estimate.h"
#include "core/statistics/multi_histogram.h"

static void test_jackknife_of_a_mean_is_its_standard_error(void **state)
{
  (void)state;
  const double x[] = {1.0, 4.0, 2.0, 8.0, 5.0};
  double leave_one_out[5];
  for (int i = 0; i < 5; i++)
    leave_one_out[i] = (20.0 - x[i]) / 4.0;
  struct gpumc_variance variance = gpumc_jackknife(leave_one_out, 1, 5);
  /* sample variance 7.5, over 5 */
  assert_true(fabs(variance.value - 1.5) < 1e-14);
  assert_true(variance.freedom == 4.0);
}

static void test_strata_add_their_variances(void **state)
{
  (void)state;
  const double leave_one_out[] = {1.0, 2.0, 3.0, 11.0, 12.0, 13.0};
  struct gpumc_variance one = gpumc_jackknife(leave_one_out, 1, 3);
  struct gpumc_variance both = gpumc_jackknife(leave_one_out, 2, 3);
  assert_true(fabs(both.value - 2 * one.value) < 1e-14);
  assert_true(both.freedom == 4.0);
}

static void test_outliers_leave_few_degrees_of_freedom(void **state)
{
  (void)state;
  double leave_one_out[100] = {0};
  for (int i = 0; i < 100; i++)
    leave_one_out[i] = i % 2 == 0 ? 1e-3 : -1e-3;
  leave_one_out[7] = 1.0;
  assert_true(gpumc_jackknife(leave_one_out, 1, 100).freedom < 3.2);
}

static void test_pooling_weighs_by_freedom(void **state)
{
  (void)state;
  struct gpumc_variance a = {.value = 1.0, .freedom = 2.0};
  struct gpumc_variance b = {.value = 4.0, .freedom = 4.0};
  struct gpumc_variance nothing = {0};
  /* pooled variance 3, times 6/4 */
  assert_true(fabs(gpumc_pooled_error(a, b) - sqrt(4.5)) < 1e-14);
  assert_true(fabs(gpumc_pooled_error(nothing, b) - sqrt(8.0)) < 1e-14);
  assert_true(isnan(gpumc_pooled_error(nothing, a)));
  assert_true(gpumc_jackknife(&a.value, 1, 1).freedom == 0.0);
}

static void test_effective_blocks(void **state)
{
  (void)state;
  const double even[] = {5, 5, 5, 5};
  const double one[] = {7, 0, 0};
  assert_true(fabs(gpumc_effective_blocks(even, 4) - 4) < 1e-14);
  assert_true(fabs(gpumc_effective_blocks(one, 3) - 1) < 1e-14);
}

/* Two spins joined by two bonds without a field: energies -2, 0, 2 with 2, 12, 2 states; exact
 * histograms at three temperatures, with identical blocks, must return the states exactly. */
static void test_density_from_exact_histograms(void **state)
{
  (void)state;
  enum { T = 3, LEVELS = 4, BLOCKS = 4 };
  const double states[LEVELS] = {2, 12, 2, 0};
  const double beta[T] = {0.0, 0.3, 0.9};
  double log_partition[T];
  double samples[T];
  const double freedom[T] = {3, 3, 3};
  double block_samples[BLOCKS * T];
  double block_log_partition[BLOCKS * T];
  double expected[LEVELS] = {0};
  uint64_t bins[BLOCKS * LEVELS];
  const double per_block = 1e15;
  for (int t = 0; t < T; t++) {
    double z = 0;
    for (int k = 0; k < LEVELS; k++)
      z += states[k] * exp(-beta[t] * (2.0 * k - 2.0));
    log_partition[t] = log(z);
    samples[t] = BLOCKS * per_block;
    for (int k = 0; k < LEVELS; k++)
      expected[k] += per_block * states[k] * exp(-beta[t] * (2.0 * k - 2.0)) / z;
    for (int b = 0; b < BLOCKS; b++) {
      block_samples[b * T + t] = per_block;
      block_log_partition[b * T + t] = log_partition[t];
    }
  }
  for (int b = 0; b < BLOCKS; b++)
    for (int k = 0; k < LEVELS; k++)
      bins[b * LEVELS + k] = (uint64_t)llround(expected[k]);
  struct gpumc_histograms histograms = {.temperatures = T,
                                        .levels = LEVELS,
                                        .blocks = BLOCKS,
                                        .strata = 1,
                                        .freedom = freedom,
                                        .lowest = -2.0,
                                        .spacing = 2.0,
                                        .beta = beta,
                                        .samples = samples,
                                        .log_partition = log_partition,
                                        .block_samples = block_samples,
                                        .block_log_partition = block_log_partition,
                                        .bins = bins};
  struct gpumc_density density;
  struct gpumc_error error = {0};
  for (int threads = 1; threads <= 2; threads++) {
    assert_int_equal(gpumc_density_make(&histograms, threads, &density, &error), GPUMC_OK);
    for (int k = 0; k < 3; k++) {
      assert_true(fabs(density.log_dos[k] - log(states[k])) < 1e-12);
      assert_true(isnan(density.log_dos_error[k])); /* all blocks are the same */
    }
    assert_true(isinf(density.log_dos[3]) && isnan(density.log_dos_error[3]));
    struct gpumc_reweighted whole;
    struct gpumc_reweighted without[BLOCKS];
    double scratch[LEVELS];
    gpumc_density_reweight(&density, 0.5, threads, scratch, &whole, without);
    double z = 2 * exp(1.0) + 12 + 2 * exp(-1.0);
    double mean = (-4 * exp(1.0) + 4 * exp(-1.0)) / z;
    double square = (8 * exp(1.0) + 8 * exp(-1.0)) / z;
    assert_true(fabs(whole.log_partition - log(z)) < 1e-12);
    assert_true(fabs(whole.energy - mean) < 1e-12);
    assert_true(fabs(whole.variance - (square - mean * mean)) < 1e-12);
    assert_true(fabs(without[1].energy - mean) < 1e-12);
    assert_true(fabs(without[1].log_partition - log(z)) < 1e-12);
    gpumc_density_free(&density);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_jackknife_of_a_mean_is_its_standard_error),
      cmocka_unit_test(test_strata_add_their_variances),
      cmocka_unit_test(test_outliers_leave_few_degrees_of_freedom),
      cmocka_unit_test(test_pooling_weighs_by_freedom),
      cmocka_unit_test(test_effective_blocks),
      cmocka_unit_test(test_density_from_exact_histograms),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
