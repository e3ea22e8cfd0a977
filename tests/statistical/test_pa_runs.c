/* Runs of population annealing that contradict each other: the F test of their scatter against that
 * of their blocks, over all temperatures and quantities of 2, 4 and 16 runs.
 *
 * Null: blocks that all have one mean, Gaussian and skewed ones (squares of Gaussians). The rate of
 * false alarms is at most GPUMC_FALSE_ALARMS a campaign, plus 3.9 standard deviations of what was
 * drawn (5e-5 each). Control: every run has a mean of its own, which scatters by six standard
 * errors of a run, the same for all quantities, as if populations freeze in different states. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>

#include <cmocka.h>

#include "algorithms/pa/pa_summary.h"
#include "core/simulation/algorithm.h"
#include "support/autoregressive.h"

enum { SEED = 20261123, CAMPAIGNS = 1000, BLOCKS = 32, RUNS_MOST = 16, COMPARISONS = 40 };

/* One quantity of runs whose means are `offset`: its two variances, as pa forms them. Runs have
 * equal weights, even without one of their blocks. */
static void regard(struct pa_trust *trust, struct autoregressive *draw, bool skewed, size_t runs,
                   const double *offset)
{
  double block[RUNS_MOST * BLOCKS], run[RUNS_MOST] = {0}, all = 0;
  for (size_t i = 0; i < runs * BLOCKS; i++) {
    const double g = autoregressive_next(draw);
    block[i] = offset[i / BLOCKS] + (skewed ? g * g : g);
    run[i / BLOCKS] += block[i] / BLOCKS;
  }
  for (size_t m = 0; m < runs; m++)
    all += run[m] / (double)runs;
  for (size_t i = 0; i < runs * BLOCKS; i++)
    block[i] = all - (block[i] - run[i / BLOCKS]) / (double)(runs * (BLOCKS - 1));
  for (size_t m = 0; m < runs; m++)
    run[m] = all - (run[m] - all) / (double)(runs - 1);
  pa_trust_regard_quantity(trust, 0, 1, gpumc_jackknife_of(block, runs, BLOCKS, 0),
                           gpumc_jackknife_of(run, 1, runs, 0));
}

/* Returns the share of campaigns in which the runs are said to contradict each other. `scatter`: of
 * their means, in standard errors of a run. */
static double flagged(bool skewed, size_t runs, double scatter)
{
  struct autoregressive draw, shift;
  int count = 0;
  autoregressive_begin(&draw, 0, SEED, (uint32_t)runs);
  autoregressive_begin(&shift, 0, SEED + 1, (uint32_t)runs);
  for (int k = 0; k < CAMPAIGNS; k++) {
    double determined = 1, chance = 1, offset[RUNS_MOST];
    struct pa_trust trust = {.temperatures = 1, .determined = &determined, .chance = &chance};
    for (size_t m = 0; m < runs; m++)
      offset[m] = scatter * sqrt((skewed ? 2.0 : 1.0) / BLOCKS) * autoregressive_next(&shift);
    for (int i = 0; i < COMPARISONS; i++)
      regard(&trust, &draw, skewed, runs, offset);
    count += chance < GPUMC_FALSE_ALARMS / COMPARISONS;
  }
  return (double)count / CAMPAIGNS;
}

static void test_the_rate_of_false_alarms(void **state)
{
  const double most =
      GPUMC_FALSE_ALARMS + 3.9 * sqrt(GPUMC_FALSE_ALARMS * (1 - GPUMC_FALSE_ALARMS) / CAMPAIGNS);
  (void)state;
  for (size_t runs = 2; runs <= RUNS_MOST; runs *= runs)
    for (int skewed = 0; skewed < 2; skewed++) {
      const double share = flagged(skewed, runs, 0);
      printf("%zu runs, %s blocks: %.4f flagged, at most %.4f\n", runs,
             skewed ? "skewed" : "Gaussian", share, most);
      assert_true(share <= most);
    }
}

static void test_runs_that_contradict_each_other(void **state)
{
  static const struct {
    size_t runs;
    double least;
  } cases[] = {{2, 0.3}, {4, 0.8}, {16, 0.99}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const double share = flagged(false, cases[i].runs, 6);
    printf("control, %zu runs: %.3f flagged, at least %.2f\n", cases[i].runs, share,
           cases[i].least);
    assert_true(share >= cases[i].least);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_rate_of_false_alarms),
      cmocka_unit_test(test_runs_that_contradict_each_other),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
