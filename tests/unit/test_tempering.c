/* Parallel tempering's exchanges, sums, histograms and walkers against the slow, simple way, bit
 * for bit, on the device under test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/ising/ising.h"
#include "support/tempering_fixture.h"

enum { ROUNDS = 9, CHANNELS = 4, TEMPERATURES_MAXIMUM = 24 };

/* Not kept: no term or histogram requests it. */
enum { UNUSED_CHANNEL = 2 };

static const int64_t bounds[CHANNELS] = {24, 1000, 7, (int64_t)1 << 40};
static const int64_t large_bounds[CHANNELS] = {(int64_t)1 << 44, 1000, 7, (int64_t)1 << 40};

struct scenario {
  const char *name;
  size_t temperatures, copies, samples, strata;
  bool large; /* energies of 2^44 quanta */
};

static const struct scenario scenarios[] = {
    {"one place", 1, 1, 1, 1, false},
    {"two temperatures, a word and a sample", 2, 1, 33, 1, false},
    {"an odd number of temperatures", 3, 2, 31, 7, false},
    {"four copies", 6, 4, 64, 32, false},
    {"more than a stretch of samples", 5, 2, 1100, 32, true},
    {"a thousand samples", 20, 2, 1000, 16, false},
    {"many samples", 2, 3, 40003, 5, false},
};

enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

/* Half of the exchanges follow the gradient; the others have chances of all sizes. */
static void choose_temperatures(const struct scenario *scenario, double beta[TEMPERATURES_MAXIMUM])
{
  const double step = scenario->large ? 0x1p-42 : 0.25;
  for (size_t t = 0; t < scenario->temperatures; t++)
    beta[t] = step * (0.3 + (double)t + 0.1 * (double)(t * t % 5));
}

static struct pt_tempering_plan plan_of(const struct scenario *scenario)
{
  return (struct pt_tempering_plan){
      .temperatures = scenario->temperatures,
      .copies = scenario->copies,
      .samples = scenario->samples,
      .strata = scenario->strata,
      .n_channels = CHANNELS,
      .n_terms = 12,
      .term = {{GPUMC_MEAN_CHANNEL, 0, GPUMC_SUM_FIRST, 1.0 / 3},
               {GPUMC_MEAN_CHANNEL, 0, GPUMC_SUM_SECOND, 1.0 / 3},
               {GPUMC_MEAN_CHANNEL, 1, GPUMC_SUM_ABSOLUTE, 0.7},
               {GPUMC_MEAN_CHANNEL, 1, GPUMC_SUM_FOURTH, 0.7},
               {GPUMC_MEAN_CHANNEL, 3, GPUMC_SUM_FIRST, 0x1p-40},
               {GPUMC_MEAN_PRODUCT, 0, GPUMC_SUM_FIRST, 1.0 / 3},
               {GPUMC_MEAN_PRODUCT, 1, GPUMC_SUM_FIRST, 0.3},
               {GPUMC_MEAN_PAIR, ISING_PAIR_SPIN, GPUMC_SUM_ABSOLUTE, 1.0 / 100},
               {GPUMC_MEAN_PAIR, ISING_PAIR_SPIN, GPUMC_SUM_SECOND, 1.0 / 100},
               {GPUMC_MEAN_PAIR, ISING_PAIR_SPIN, GPUMC_SUM_FOURTH, 1.0 / 100},
               {GPUMC_MEAN_PAIR, ISING_PAIR_LINK, GPUMC_SUM_FIRST, 1.0 / 300},
               {GPUMC_MEAN_PAIR, ISING_PAIR_WAVE, GPUMC_SUM_FIRST, 0.001}},
      .histogram = {[ISING_PAIR_SPIN] = {-100, 2, 101}, [ISING_PAIR_LINK] = {-301, 7, 87}},
  };
}

static void open_scenario(struct tempering_fixture *fixture, const struct scenario *scenario,
                          struct test_setting setting)
{
  const struct pt_tempering_plan plan = plan_of(scenario);
  double beta[TEMPERATURES_MAXIMUM];
  choose_temperatures(scenario, beta);
  tempering_open(fixture, &plan, beta, scenario->large ? large_bounds : bounds, setting);
}

/* Two of three rounds measure, and every other one of these makes histograms. */
static void do_round(struct tempering_fixture *fixture, uint32_t round)
{
  tempering_measure(fixture, round);
  if (round % 3 != 1)
    tempering_accumulate(fixture, round % 2 == 0);
  tempering_exchange(fixture, round);
}

/* Outcomes are collected during the next round. */
static void follow(const struct scenario *scenario, struct test_setting setting)
{
  char where[160];
  struct tempering_fixture fixture;
  struct pt_outcome outcome;
  open_scenario(&fixture, scenario, setting);
  for (uint32_t round = 0; round < ROUNDS; round++) {
    snprintf(where, sizeof where, "%s, %s, round %u", scenario->name, test_setting_text(setting),
             round);
    do_round(&fixture, round);
    tempering_expect_same_places(&fixture, where);
    if (round % 4 != 3)
      continue;
    const size_t slot = round / 4 % GPUMC_SLOTS;
    tempering_publish(&fixture, slot);
    tempering_collect(&fixture, slot, &outcome);
    tempering_expect_same_outcome(&outcome, &fixture.reference, where);
    tempering_reference_clear(&fixture.reference);
  }
  tempering_close(&fixture);
}

static void rounds_are_those_of_the_reference(void **state)
{
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  (void)state;
  const size_t settings = test_settings(1, 3, false, setting);
  for (size_t i = 0; i < SCENARIOS; i++)
    for (size_t k = 0; k < settings; k++)
      follow(&scenarios[i], setting[k]);
}

/* Copies of the reference's results, because the outcome arrives after it has moved on. */
static void outcomes_outlive_later_rounds(void **state)
{
  struct tempering_fixture fixture;
  struct pt_outcome outcome;
  uint64_t accepted[TEMPERATURES_MAXIMUM];
  const struct scenario *scenario = &scenarios[5];
  (void)state;
  open_scenario(&fixture, scenario, test_setting());
  do_round(&fixture, 0);
  memcpy(accepted, fixture.reference.accepted, scenario->temperatures * sizeof *accepted);
  tempering_publish(&fixture, 0);
  tempering_reference_clear(&fixture.reference);
  do_round(&fixture, 2);
  tempering_publish(&fixture, 1);
  tempering_collect(&fixture, 1, &outcome);
  tempering_expect_same_outcome(&outcome, &fixture.reference, "the later outcome");
  tempering_collect(&fixture, 0, &outcome);
  assert_true(outcome.accepted[0] > 0);
  assert_memory_equal(outcome.accepted, accepted, scenario->temperatures * sizeof *accepted);
  tempering_close(&fixture);
}

/* Takes the share's channels from the whole, from sample `first` on. */
static void take_channels(struct tempering_reference *share,
                          const struct tempering_reference *whole, size_t first)
{
  const size_t rows = share->plan.copies * share->plan.temperatures;
  for (size_t c = 0; c < CHANNELS; c++)
    for (size_t row = 0; row < rows; row++)
      memcpy(share->channel[c] + row * share->plan.samples,
             whole->channel[c] + row * whole->plan.samples + first,
             share->plan.samples * sizeof *share->channel[c]);
}

/* Returns how many walkers of the share, whose samples begin at a word, differ from those of the
 * whole after a few rounds; the share acts as samples from `number` on. */
static size_t different_walkers(size_t number, struct test_setting setting)
{
  enum { FIRST = 64 };
  const struct scenario *scenario = &scenarios[5];
  struct scenario part = *scenario;
  struct pt_tempering_plan plan;
  struct tempering_fixture whole, share;
  double beta[TEMPERATURES_MAXIMUM];
  size_t different = 0;
  part.samples = scenario->samples - FIRST;
  choose_temperatures(scenario, beta);
  plan = plan_of(&part);
  plan.first_sample = number;
  open_scenario(&whole, scenario, setting);
  tempering_open(&share, &plan, beta, bounds, setting);
  for (uint32_t round = 0; round < ROUNDS; round++) {
    tempering_measure(&whole, round);
    take_channels(&share.reference, &whole.reference, FIRST);
    tempering_bring_channels(&share);
    tempering_exchange(&whole, round);
    tempering_exchange(&share, round);
  }
  const size_t rows = part.copies * part.temperatures;
  uint32_t *all = tempering_fetch(&whole, whole.tempering.walker,
                                  rows * scenario->samples * sizeof *all),
           *some =
               tempering_fetch(&share, share.tempering.walker, rows * part.samples * sizeof *some);
  for (size_t row = 0; row < rows; row++)
    for (size_t s = 0; s < part.samples; s++)
      different += some[row * part.samples + s] != all[row * scenario->samples + FIRST + s];
  free(all);
  free(some);
  tempering_close(&whole);
  tempering_close(&share);
  return different;
}

/* Control: acting as samples from the first on. */
static void exchanges_go_by_the_number_in_the_whole(void **state)
{
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  (void)state;
  const size_t settings = test_settings(1, 3, false, setting);
  for (size_t k = 0; k < settings; k++)
    assert_int_equal(different_walkers(64, setting[k]), 0);
  assert_true(different_walkers(0, test_setting()) > 1000);
}

/* Takes the share's overlaps from the whole, from sample `first` on. */
static void take_overlaps(struct tempering_reference *share,
                          const struct tempering_reference *whole, size_t first)
{
  const size_t rows = pt_tempering_pairs(&share->plan) * share->plan.temperatures;
  for (size_t k = 0; k < GPUMC_PAIRS_MAXIMUM; k++)
    for (size_t row = 0; row < rows; row++)
      memcpy(share->overlap[k] + row * share->plan.samples,
             whole->overlap[k] + row * whole->plan.samples + first,
             share->plan.samples * sizeof *share->overlap[k]);
}

/* Adds the histogram counters of the `count` samples from `first` on, in a share that acts as those
 * from `number` on. */
static void count_of_share(const struct tempering_fixture *whole, size_t first, size_t count,
                           size_t number, struct test_setting setting, uint64_t *sum, size_t bins)
{
  struct pt_tempering_plan plan = whole->reference.plan;
  struct tempering_fixture share;
  double beta[TEMPERATURES_MAXIMUM];
  plan.samples = count;
  plan.first_sample = number;
  choose_temperatures(&scenarios[5], beta);
  tempering_open(&share, &plan, beta, bounds, setting);
  take_channels(&share.reference, &whole->reference, first);
  take_overlaps(&share.reference, &whole->reference, first);
  tempering_bring_channels(&share);
  tempering_bring_overlaps(&share);
  tempering_accumulate(&share, true);
  uint64_t *counted =
      tempering_fetch(&share, share.tempering.bins[ISING_PAIR_LINK], bins * sizeof *counted);
  for (size_t i = 0; i < bins; i++)
    sum[i] += counted[i];
  free(counted);
  tempering_close(&share);
}

/* Returns how many counters of the whole differ from those of two shares together; the second share
 * acts as samples from `number` on. */
static size_t different_counters(size_t number, struct test_setting setting)
{
  enum { FIRST = 301 };
  struct tempering_fixture whole;
  size_t different = 0;
  open_scenario(&whole, &scenarios[5], setting);
  const struct pt_tempering_plan *plan = &whole.tempering.plan;
  const size_t bins = plan->strata * plan->temperatures * plan->histogram[ISING_PAIR_LINK].bins;
  uint64_t *sum = calloc(bins, sizeof *sum);
  assert_non_null(sum);
  tempering_measure(&whole, 0);
  tempering_accumulate(&whole, true);
  count_of_share(&whole, 0, FIRST, 0, setting, sum, bins);
  count_of_share(&whole, FIRST, plan->samples - FIRST, number, setting, sum, bins);
  uint64_t *all =
      tempering_fetch(&whole, whole.tempering.bins[ISING_PAIR_LINK], bins * sizeof *all);
  for (size_t i = 0; i < bins; i++)
    different += sum[i] != all[i];
  free(all);
  free(sum);
  tempering_close(&whole);
  return different;
}

/* Control: acting as samples from the first on. */
static void strata_go_by_the_number_in_the_whole(void **state)
{
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  (void)state;
  const size_t settings = test_settings(1, 3, false, setting);
  for (size_t k = 0; k < settings; k++)
    assert_int_equal(different_counters(301, setting[k]), 0);
  assert_true(different_counters(0, test_setting()) > 1000);
}

static void what_is_not_asked_for_is_not_kept(void **state)
{
  struct tempering_fixture fixture;
  (void)state;
  open_scenario(&fixture, &scenarios[1], test_setting());
  assert_null(fixture.tempering.channel[UNUSED_CHANNEL]);
  assert_null(fixture.tempering.bins[ISING_PAIR_WAVE]);
  assert_non_null(fixture.tempering.channel[0]);
  tempering_close(&fixture);
}

/* The hotter energy is always the lower one, so that every exchange is accepted and the walkers go
 * round:
 *
 *   after round     0  1  2  3  4  5  6
 *   t = 0       0   1  1  2  2  0  0  1
 *   t = 1       1   0  2  1  0  2  1  0
 *   t = 2       2   2  0  0  1  1  2  2
 *
 * Walker 0 has made its round trip after round 4, walker 1, which began in between, after round 6,
 * and walker 2 only half of one. */
static void a_round_trip_is_there_and_back(void **state)
{
  enum { T = 3, LAST = 7 };
  static const uint32_t trips[LAST] = {0, 0, 0, 0, 1, 0, 1};
  static const uint64_t from_hottest[LAST] = {2, 1, 2, 1, 2, 1, 2};
  static const double beta[T] = {0.1, 0.2, 0.3};
  const struct pt_tempering_plan plan = {
      .temperatures = T, .copies = 1, .samples = 1, .strata = 1, .n_channels = 1};
  struct tempering_fixture fixture;
  struct pt_outcome outcome;
  (void)state;
  tempering_open(&fixture, &plan, beta, bounds, test_setting());
  for (uint32_t round = 0; round < LAST; round++) {
    uint64_t hot = 0;
    for (int64_t t = 0; t < T; t++)
      fixture.reference.channel[0][t] = t;
    tempering_bring_channels(&fixture);
    tempering_exchange(&fixture, round);
    tempering_publish(&fixture, 0);
    tempering_collect(&fixture, 0, &outcome);
    tempering_expect_same_outcome(&outcome, &fixture.reference, "three temperatures");
    for (size_t t = 0; t < T; t++)
      hot += outcome.from_hottest[t];
    assert_int_equal(outcome.accepted[round % 2], 1);
    assert_int_equal(outcome.round_trips[0], trips[round]);
    assert_int_equal(hot, from_hottest[round]);
    tempering_reference_clear(&fixture.reference);
  }
  tempering_close(&fixture);
}

static void starting_again_forgets_everything(void **state)
{
  struct tempering_fixture fixture;
  struct pt_outcome outcome;
  struct gpumc_error error = {0};
  (void)state;
  for (int turn = 0; turn < 2; turn++) {
    struct tempering_reference fresh;
    double beta[TEMPERATURES_MAXIMUM];
    const struct pt_tempering_plan plan = plan_of(&scenarios[3]);
    choose_temperatures(&scenarios[3], beta);
    open_scenario(&fixture, &scenarios[3], test_setting());
    do_round(&fixture, 0);
    do_round(&fixture, 3);
    assert_int_equal(pt_tempering_start(&fixture.tempering, &error), GPUMC_OK);
    tempering_reference_init(&fresh, &plan, beta, 0.25);
    tempering_reference_free(&fixture.reference);
    fixture.reference = fresh;
    do_round(&fixture, 2);
    tempering_expect_same_places(&fixture, "started again");
    tempering_publish(&fixture, 0);
    tempering_collect(&fixture, 0, &outcome);
    tempering_expect_same_outcome(&outcome, &fixture.reference, "started again");
    tempering_close(&fixture);
  }
}

/* If one energy in the reference is off by a quantum, so is its sum, and no other. */
static void the_comparison_tells_outcomes_apart(void **state)
{
  enum { PLACE = 100 };
  struct tempering_fixture fixture;
  struct pt_outcome outcome;
  (void)state;
  open_scenario(&fixture, &scenarios[3], test_setting());
  tempering_measure(&fixture, 0);
  fixture.reference.channel[0][PLACE]++;
  tempering_accumulate(&fixture, true);
  tempering_publish(&fixture, 0);
  tempering_collect(&fixture, 0, &outcome);
  const double *found = outcome.sums, *expected = fixture.reference.sums;
  assert_memory_equal(found, expected, PLACE * sizeof *found);
  assert_memory_not_equal(&found[PLACE], &expected[PLACE], sizeof *found);
  tempering_close(&fixture);
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rounds_are_those_of_the_reference),
      cmocka_unit_test(outcomes_outlive_later_rounds),
      cmocka_unit_test(exchanges_go_by_the_number_in_the_whole),
      cmocka_unit_test(strata_go_by_the_number_in_the_whole),
      cmocka_unit_test(what_is_not_asked_for_is_not_kept),
      cmocka_unit_test(a_round_trip_is_there_and_back),
      cmocka_unit_test(starting_again_forgets_everything),
      cmocka_unit_test(the_comparison_tells_outcomes_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
