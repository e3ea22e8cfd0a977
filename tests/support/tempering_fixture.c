/* Parallel tempering on the device under test, alongside the slow, simple version. */
#include "support/tempering_fixture.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "algorithms/pt/pt_rules.h"
#include "support/status.h"

static const double quantum = 0.25;

static size_t places(const struct pt_tempering_plan *plan)
{
  return plan->copies * plan->temperatures * plan->samples;
}

static void create(struct tempering_fixture *fixture, const double *beta)
{
  struct gpumc_error error = {0};
  struct pt_tempering *tempering = &fixture->tempering;
  assert_ok(pt_tempering_create(&fixture->device, &fixture->reference.plan, tempering, &error),
            &error);
  assert_ok(pt_tempering_set_temperatures(tempering, beta, quantum, &error), &error);
}

void tempering_open(struct tempering_fixture *fixture, const struct pt_tempering_plan *plan,
                    const double *beta, const int64_t *bound, struct test_setting setting)
{
  memset(fixture, 0, sizeof *fixture);
  fixture->device = test_device(setting);
  fixture->bound = bound;
  fixture->random = gpumc_random_make(1234567, 7, 10);
  tempering_reference_init(&fixture->reference, plan, beta, quantum);
  create(fixture, beta);
}

void tempering_close(struct tempering_fixture *fixture)
{
  pt_tempering_free(&fixture->tempering);
  tempering_reference_free(&fixture->reference);
}

void tempering_reopen(struct tempering_fixture *fixture, const double *beta,
                      struct test_setting setting)
{
  pt_tempering_free(&fixture->tempering);
  fixture->device = test_device(setting);
  create(fixture, beta);
}

static void bring(struct tempering_fixture *fixture, void *memory, const void *from, size_t bytes)
{
  struct gpumc_error error = {0};
  if (memory != NULL)
    assert_ok(fixture->device.ops->copy_to_device(&fixture->device, memory, from, bytes, &error),
              &error);
}

void tempering_bring_channels(struct tempering_fixture *fixture)
{
  const struct tempering_reference *reference = &fixture->reference;
  for (size_t c = 0; c < reference->plan.n_channels; c++)
    bring(fixture, fixture->tempering.channel[c], reference->channel[c],
          places(&reference->plan) * sizeof *reference->channel[c]);
}

void tempering_bring_overlaps(struct tempering_fixture *fixture)
{
  const struct tempering_reference *reference = &fixture->reference;
  const struct pt_tempering_plan *plan = &reference->plan;
  const size_t of_pairs = pt_tempering_pairs(plan) * plan->temperatures * plan->samples;
  for (size_t k = 0; k < GPUMC_PAIRS_MAXIMUM; k++)
    bring(fixture, fixture->tempering.pair[k], reference->overlap[k],
          of_pairs * sizeof *reference->overlap[k]);
}

void tempering_measure(struct tempering_fixture *fixture, uint32_t time)
{
  tempering_reference_measure(&fixture->reference, fixture->bound, time);
  tempering_bring_channels(fixture);
  tempering_bring_overlaps(fixture);
}

void tempering_accumulate(struct tempering_fixture *fixture, bool histogram)
{
  struct gpumc_error error = {0};
  assert_ok(pt_tempering_accumulate(&fixture->tempering, histogram, &error), &error);
  tempering_reference_accumulate(&fixture->reference, histogram);
}

void tempering_exchange(struct tempering_fixture *fixture, uint32_t round)
{
  struct gpumc_error error = {0};
  assert_ok(pt_tempering_exchange(&fixture->tempering, fixture->random, round, &error), &error);
  tempering_reference_exchange(&fixture->reference, fixture->random, round);
}

void tempering_publish(struct tempering_fixture *fixture, size_t slot)
{
  struct gpumc_error error = {0};
  assert_ok(pt_tempering_publish(&fixture->tempering, slot, &error), &error);
}

void tempering_collect(struct tempering_fixture *fixture, size_t slot, struct pt_outcome *outcome)
{
  struct gpumc_error error = {0};
  assert_ok(pt_tempering_collect(&fixture->tempering, slot, outcome, &error), &error);
}

void *tempering_fetch(struct tempering_fixture *fixture, const void *memory, size_t bytes)
{
  struct gpumc_error error = {0};
  void *fetched = malloc(bytes + 1);
  assert_non_null(fetched);
  assert_ok(fixture->device.ops->copy_to_host(&fixture->device, fetched, memory, bytes, &error),
            &error);
  return fetched;
}

/* Returns the first element where two arrays differ, or `count`. */
static size_t difference(const void *found, const void *expected, size_t count, size_t size)
{
  for (size_t i = 0; i < count; i++)
    if (memcmp((const char *)found + i * size, (const char *)expected + i * size, size) != 0)
      return i;
  return count;
}

static void expect_same_memory(struct tempering_fixture *fixture, const void *memory,
                               const void *expected, size_t count, size_t size, const char *what,
                               const char *where)
{
  void *found = tempering_fetch(fixture, memory, count * size);
  const size_t at = difference(found, expected, count, size);
  free(found);
  if (at < count)
    fail_msg("%s: %s differ from the reference's, the first is element %zu of %zu", where, what, at,
             count);
}

static uint32_t label_of(const struct tempering_walker *walker)
{
  switch (walker->last) {
  case TEMPERING_HOTTEST:
    return PT_WALKER_HOT;
  case TEMPERING_COLDEST:
    return walker->was_hot ? PT_WALKER_RETURNING : PT_WALKER_BEGUN_COLD;
  default:
    return PT_WALKER_FRESH;
  }
}

static void expect_same_walkers(struct tempering_fixture *fixture, const char *where)
{
  const size_t count = places(&fixture->reference.plan);
  uint32_t *expected = calloc(count, sizeof *expected);
  assert_non_null(expected);
  for (size_t i = 0; i < count; i++)
    expected[i] =
        pt_walker(fixture->reference.walker[i].number, label_of(&fixture->reference.walker[i]));
  expect_same_memory(fixture, fixture->tempering.walker, expected, count, sizeof *expected,
                     "walkers", where);
  free(expected);
}

void tempering_expect_same_places(struct tempering_fixture *fixture, const char *where)
{
  const struct pt_tempering *tempering = &fixture->tempering;
  const struct tempering_reference *reference = &fixture->reference;
  const struct pt_tempering_plan *plan = &reference->plan;
  const size_t words = gpumc_swap_words(plan->samples);
  for (size_t c = 0; c < plan->n_channels; c++)
    if (tempering->channel[c] != NULL)
      expect_same_memory(fixture, tempering->channel[c], reference->channel[c], places(plan),
                         sizeof *tempering->channel[c], "channels", where);
  for (size_t k = 0; k < GPUMC_PAIRS_MAXIMUM; k++)
    if (tempering->bins[k] != NULL)
      expect_same_memory(fixture, tempering->bins[k], reference->bins[k],
                         plan->strata * plan->temperatures * plan->histogram[k].bins,
                         sizeof *tempering->bins[k], "histograms", where);
  expect_same_memory(fixture, tempering->swap, reference->swap,
                     plan->copies * plan->temperatures * words, sizeof *tempering->swap,
                     "swap words", where);
  expect_same_walkers(fixture, where);
}

#define EXPECT_SAME_ARRAY(member, count)                                                           \
  do {                                                                                             \
    const size_t at =                                                                              \
        difference(outcome->member, reference->member, count, sizeof *outcome->member);            \
    if (at < (count))                                                                              \
      fail_msg("%s: " #member "[%zu] is %.17g, expected %.17g", where, at,                         \
               (double)outcome->member[at], (double)reference->member[at]);                        \
  } while (0)

void tempering_expect_same_outcome(const struct pt_outcome *outcome,
                                   const struct tempering_reference *reference, const char *where)
{
  const struct pt_tempering_plan *plan = &reference->plan;
  if (outcome->measurements != reference->measurements ||
      outcome->rounds[0] != reference->rounds[0] || outcome->rounds[1] != reference->rounds[1])
    fail_msg("%s: %" PRIu64 " measurements, %" PRIu64 " and %" PRIu64 " rounds", where,
             outcome->measurements, outcome->rounds[0], outcome->rounds[1]);
  EXPECT_SAME_ARRAY(sums, plan->n_terms * plan->temperatures * plan->samples);
  EXPECT_SAME_ARRAY(accepted, plan->temperatures);
  EXPECT_SAME_ARRAY(labelled, plan->temperatures);
  EXPECT_SAME_ARRAY(from_hottest, plan->temperatures);
  EXPECT_SAME_ARRAY(round_trips, plan->copies * plan->samples);
  if (reference->measurements > 0)
    EXPECT_SAME_ARRAY(lowest, plan->samples);
}
