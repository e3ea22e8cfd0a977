/* Whole annealing steps of a batch of populations against the slow, simple way, bit for bit: sums,
 * families, histograms, resampling, and outcomes collected a step late. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/population_fixture.h"

enum { STEPS = 4, RUNS_MAXIMUM = 40, ALL_SUMS = 15 };

struct batch {
  const char *name;
  struct pa_population_plan plan;
  size_t runs;
  uint32_t first_run;
  double step;
  size_t size[5]; /* run m uses number m mod 5 */
};

static const struct batch batches[] = {
    {"one run",
     {.runs = 1,
      .capacity = 1400,
      .founders = 1200,
      .blocks = 7,
      .n_channels = 2,
      .sums = {ALL_SUMS, GPUMC_SUM_ABSOLUTE | GPUMC_SUM_SECOND | GPUMC_SUM_FOURTH},
      .bound = {200, 4096},
      .strata = 1,
      .levels = 401,
      .lowest = -200,
      .spacing = 1},
     1,
     0,
     0.01,
     {1003}},
    {"five runs of any energies",
     {.runs = 6,
      .capacity = 700,
      .founders = 600,
      .blocks = 16,
      .n_channels = 3,
      .sums = {GPUMC_SUM_FIRST | GPUMC_SUM_SECOND, ALL_SUMS, GPUMC_SUM_ABSOLUTE},
      .bound = {0x1p40, 0x1p27, 1000}},
     5,
     4,
     0x1p-39,
     {600, 1, 2, 33, 511}},
    {"forty small runs",
     {.runs = RUNS_MAXIMUM,
      .capacity = 170,
      .founders = 128,
      .blocks = 100,
      .n_channels = 1,
      .sums = {GPUMC_SUM_FIRST | GPUMC_SUM_SECOND},
      .bound = {128},
      .strata = 16,
      .levels = 65,
      .lowest = -128,
      .spacing = 4},
     RUNS_MAXIMUM,
     3,
     0.02,
     {128, 170, 31, 97, 64}},
    {"two large runs",
     {.runs = 2,
      .capacity = 150000,
      .founders = 140000,
      .blocks = 100,
      .n_channels = 2,
      .sums = {GPUMC_SUM_FIRST | GPUMC_SUM_SECOND,
               GPUMC_SUM_ABSOLUTE | GPUMC_SUM_SECOND | GPUMC_SUM_FOURTH},
      .bound = {8192, 4096},
      .strata = 2,
      .levels = 4097,
      .lowest = -8192,
      .spacing = 4},
     2,
     1,
     0x1p-12,
     {140001, 149999}},
    {"weighed by another channel",
     {.runs = 5,
      .capacity = 700,
      .founders = 600,
      .blocks = 16,
      .n_channels = 2,
      .conjugate = 1,
      .sums = {GPUMC_SUM_FIRST | GPUMC_SUM_SECOND, ALL_SUMS},
      .bound = {0x1p40, 400}},
     5,
     2,
     0.005,
     {600, 1, 2, 33, 511}},
    {"weighed by another channel, downwards",
     {.runs = 5,
      .capacity = 700,
      .founders = 600,
      .blocks = 16,
      .n_channels = 2,
      .conjugate = 1,
      .falls = true,
      .sums = {GPUMC_SUM_FIRST | GPUMC_SUM_SECOND, ALL_SUMS},
      .bound = {0x1p40, 400}},
     5,
     2,
     -0.005,
     {600, 1, 2, 33, 511}},
    {"weighed by the energy, downwards",
     {.runs = 2,
      .capacity = 700,
      .founders = 600,
      .blocks = 16,
      .n_channels = 1,
      .falls = true,
      .sums = {GPUMC_SUM_FIRST | GPUMC_SUM_SECOND},
      .bound = {400}},
     2,
     0,
     -0.005,
     {600, 511}},
};

enum { BATCHES = sizeof batches / sizeof *batches };

/* Both sides of the comparison: the device's and the host's populations. */
struct pair {
  const struct batch *batch;
  struct population_fixture fixture;
  struct population_sample sample[RUNS_MAXIMUM], fetched;
  struct population_expected expected[GPUMC_SLOTS][RUNS_MAXIMUM];
  uint64_t *bins; /* [strata][blocks][levels] */
  char where[128];
};

static size_t bins_count(const struct pa_population_plan *plan)
{
  return plan->strata * plan->blocks * plan->levels;
}

static void pair_open(struct pair *pair, const struct batch *batch, struct test_setting setting)
{
  memset(pair, 0, sizeof *pair);
  pair->batch = batch;
  population_open(&pair->fixture, &batch->plan, batch->runs, setting);
  population_sample_init(&pair->fetched, &batch->plan);
  for (size_t m = 0; m < batch->runs; m++) {
    population_sample_init(&pair->sample[m], &batch->plan);
    for (size_t s = 0; s < GPUMC_SLOTS; s++)
      population_expected_init(&pair->expected[s][m], &batch->plan);
  }
  pair->bins = calloc(bins_count(&batch->plan) + 1, sizeof *pair->bins);
  assert_non_null(pair->bins);
  snprintf(pair->where, sizeof pair->where, "%s, %s", batch->name, test_setting_text(setting));
}

static void pair_close(struct pair *pair)
{
  for (size_t m = 0; m < pair->batch->runs; m++) {
    population_sample_free(&pair->sample[m]);
    for (size_t s = 0; s < GPUMC_SLOTS; s++)
      population_expected_free(&pair->expected[s][m]);
  }
  population_sample_free(&pair->fetched);
  population_close(&pair->fixture);
  free(pair->bins);
}

static void begin_with_founders(struct pair *pair)
{
  for (size_t m = 0; m < pair->batch->runs; m++) {
    population_sample_found(&pair->sample[m], &pair->batch->plan);
    /* Old families, which founding overwrites. */
    memset(pair->sample[m].family, 0, pair->sample[m].size * sizeof *pair->sample[m].family);
    population_bring(&pair->fixture, m, &pair->sample[m]);
    population_sample_found(&pair->sample[m], &pair->batch->plan);
    population_expect_founding(&pair->expected[0][m], &pair->batch->plan);
  }
  population_found(&pair->fixture);
}

/* Sets new channels, as after sweeps, tallies them and publishes the tally. */
static void measure_and_tally(struct pair *pair, uint32_t time)
{
  const struct batch *batch = pair->batch;
  const size_t slot = time % GPUMC_SLOTS;
  const bool histogram = time % 2 == 0 && batch->plan.levels > 0;
  for (size_t m = 0; m < batch->runs; m++) {
    const uint32_t run = batch->first_run + (uint32_t)m;
    population_sample_channels(&pair->sample[m], &batch->plan, run, time);
    population_bring_channels(&pair->fixture, m, &pair->sample[m]);
    population_expect_tally(&pair->expected[slot][m], &batch->plan, &pair->sample[m]);
    if (histogram)
      population_expect_histogram(pair->bins + run % batch->plan.strata * batch->plan.blocks *
                                                   batch->plan.levels,
                                  &batch->plan, &pair->sample[m]);
  }
  population_tally(&pair->fixture, batch->first_run, histogram);
  population_publish(&pair->fixture, slot);
}

static void resample_all(struct pair *pair, enum pa_resampling method, uint32_t time)
{
  const struct batch *batch = pair->batch;
  const struct pa_resampling_request request = {.method = method,
                                                .seed = 281474976710655,
                                                .rounds = time % 2 == 0 ? 7 : 10,
                                                .first_run = batch->first_run,
                                                .time = time,
                                                .step = batch->step,
                                                .target = batch->plan.founders};
  population_resample(&pair->fixture, &request);
  for (size_t m = 0; m < batch->runs; m++) {
    struct population_sample *sample = &pair->sample[m];
    population_expect_resampling(&pair->expected[time % GPUMC_SLOTS][m], &batch->plan, &request,
                                 batch->first_run + (uint32_t)m, sample);
    population_fetch(&pair->fixture, m, &pair->fetched);
    assert_int_equal(pair->fetched.size, sample->size);
    assert_memory_equal(pair->fetched.parent, sample->parent,
                        sample->size * sizeof *sample->parent);
    assert_memory_equal(pair->fetched.family, sample->family,
                        sample->size * sizeof *sample->family);
  }
}

static void compare(struct pair *pair, uint32_t time)
{
  const size_t slot = time % GPUMC_SLOTS;
  population_collect(&pair->fixture, slot);
  for (size_t m = 0; m < pair->batch->runs; m++)
    population_expect_same(&pair->batch->plan, &pair->fixture.outcome[m],
                           &pair->expected[slot][m].found, pair->where);
}

/* Sets sizes and families that steps do not lead to. */
static void replace_populations(struct pair *pair)
{
  const struct batch *batch = pair->batch;
  for (size_t m = 0; m < batch->runs; m++) {
    const uint32_t run = batch->first_run + (uint32_t)m;
    population_sample_families(&pair->sample[m], &batch->plan, run, batch->size[m % 5]);
    population_sample_channels(&pair->sample[m], &batch->plan, run, 100);
    population_bring(&pair->fixture, m, &pair->sample[m]);
    population_bring_channels(&pair->fixture, m, &pair->sample[m]);
  }
  population_tally(&pair->fixture, batch->first_run, false);
}

static void compare_bins(struct pair *pair)
{
  struct gpumc_error error = {0};
  struct gpumc_device *device = &pair->fixture.device;
  const size_t count = bins_count(&pair->batch->plan);
  uint64_t *bins = calloc(count + 1, sizeof *bins);
  assert_non_null(bins);
  if (count > 0)
    assert_int_equal(device->ops->copy_to_host(device, bins, pair->fixture.population.bins,
                                               count * sizeof *bins, &error),
                     GPUMC_OK);
  assert_memory_equal(bins, pair->bins, count * sizeof *bins);
  free(bins);
}

static void
anneal(const struct batch *batch, enum pa_resampling method, struct test_setting setting)
{
  static struct pair pair;
  pair_open(&pair, batch, setting);
  begin_with_founders(&pair);
  measure_and_tally(&pair, 0);
  for (uint32_t time = 1; time <= STEPS; time++) {
    if (time == 2)
      replace_populations(&pair);
    resample_all(&pair, method, time);
    measure_and_tally(&pair, time);
    compare(&pair, time - 1);
  }
  compare(&pair, STEPS);
  compare_bins(&pair);
  pair_close(&pair);
}

static void for_every_setting(size_t batch)
{
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const size_t settings = test_settings(1, 3, false, setting);
  for (size_t i = 0; i < settings; i++) {
    anneal(&batches[batch], PA_RESAMPLING_NEAREST_INTEGER, setting[i]);
    anneal(&batches[batch], PA_RESAMPLING_SYSTEMATIC, setting[i]);
  }
}

static void one_run(void **state)
{
  (void)state;
  for_every_setting(0);
}

static void runs_of_very_different_sizes(void **state)
{
  (void)state;
  for_every_setting(1);
}

static void many_small_runs(void **state)
{
  (void)state;
  for_every_setting(2);
}

static void large_runs(void **state)
{
  (void)state;
  for_every_setting(3);
}

/* As if a control other than beta were moved. */
static void other_weights(void **state)
{
  (void)state;
  for (size_t b = 4; b < BATCHES; b++)
    for_every_setting(b);
}

/* Takes two steps of runs first .. first+runs-1 of a batch and collects the outcomes. */
static void
two_steps(struct population_fixture *fixture, const struct batch *batch, size_t first, size_t runs)
{
  struct population_sample sample;
  struct pa_resampling_request request = {.seed = 5,
                                          .rounds = 10,
                                          .first_run = batch->first_run + (uint32_t)first,
                                          .time = 1,
                                          .step = batch->step,
                                          .target = batch->plan.founders};
  population_open(fixture, &batch->plan, runs, test_setting());
  population_sample_init(&sample, &batch->plan);
  for (size_t m = 0; m < runs; m++) {
    const uint32_t run = request.first_run + (uint32_t)m;
    population_sample_families(&sample, &batch->plan, run, batch->size[(first + m) % 5]);
    population_sample_channels(&sample, &batch->plan, run, 0);
    population_bring(fixture, m, &sample);
    population_bring_channels(fixture, m, &sample);
  }
  for (; request.time <= 2; request.time++) {
    population_tally(fixture, request.first_run, false);
    population_resample(fixture, &request);
    for (size_t m = 0; m < runs; m++) {
      sample.size = population_size(fixture, m);
      population_sample_channels(&sample, &batch->plan, request.first_run + (uint32_t)m,
                                 request.time);
      population_bring_channels(fixture, m, &sample);
    }
  }
  population_tally(fixture, request.first_run, false);
  population_publish(fixture, 1);
  population_collect(fixture, 1);
  population_sample_free(&sample);
}

static void runs_side_by_side_are_each_run_alone(void **state)
{
  (void)state;
  for (size_t b = 1; b <= 2; b++) {
    const struct batch *batch = &batches[b];
    struct population_fixture together, alone;
    two_steps(&together, batch, 0, batch->runs);
    for (size_t m = 0; m < batch->runs; m++) {
      two_steps(&alone, batch, m, 1);
      population_expect_same(&batch->plan, &together.outcome[m], &alone.outcome[0], batch->name);
      population_close(&alone);
    }
    population_close(&together);
  }
}

/* Compares the fixed-point sum with long double. */
static void entropy_is_that_of_the_family_shares(void **state)
{
  (void)state;
  const struct pa_population_plan *plan = &batches[0].plan;
  struct population_fixture fixture;
  struct population_sample sample;
  long double expected = 0;
  population_open(&fixture, plan, 1, test_setting());
  population_sample_init(&sample, plan);
  population_sample_families(&sample, plan, 0, 1003);
  population_sample_channels(&sample, plan, 0, 0);
  population_bring(&fixture, 0, &sample);
  population_bring_channels(&fixture, 0, &sample);
  population_tally(&fixture, 0, false);
  population_publish(&fixture, 0);
  population_collect(&fixture, 0);
  for (uint32_t f = 0; f < plan->founders; f++) {
    long double members = 0;
    for (size_t r = 0; r < sample.size; r++)
      members += sample.family[r] == f;
    if (members > 0)
      expected += members / 1003 * logl(members / 1003);
  }
  assert_true(fabsl((long double)fixture.outcome[0].entropy - expected) < 1e-13L);
  population_sample_free(&sample);
  population_close(&fixture);
}

/* A wrong number anywhere is detected: the comparison's negative control. */
static void the_reference_tells_other_populations_apart(void **state)
{
  (void)state;
  const struct pa_population_plan *plan = &batches[0].plan;
  struct population_sample sample;
  struct population_expected right, wrong;
  population_sample_init(&sample, plan);
  population_expected_init(&right, plan);
  population_expected_init(&wrong, plan);
  population_sample_families(&sample, plan, 0, 1003);
  population_sample_channels(&sample, plan, 0, 0);
  population_expect_tally(&right, plan, &sample);
  sample.channel[1][500]++;
  population_expect_tally(&wrong, plan, &sample);
  assert_memory_not_equal(right.sums[1], wrong.sums[1], plan->blocks * sizeof *right.sums[1]);
  assert_memory_equal(right.sums[0], wrong.sums[0], plan->blocks * sizeof *right.sums[0]);
  population_expected_free(&right);
  population_expected_free(&wrong);
  population_sample_free(&sample);
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_run),
      cmocka_unit_test(runs_of_very_different_sizes),
      cmocka_unit_test(many_small_runs),
      cmocka_unit_test(large_runs),
      cmocka_unit_test(other_weights),
      cmocka_unit_test(runs_side_by_side_are_each_run_alone),
      cmocka_unit_test(entropy_is_that_of_the_family_shares),
      cmocka_unit_test(the_reference_tells_other_populations_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
