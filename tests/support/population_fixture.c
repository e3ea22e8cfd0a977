/* Populations on the device under test. */
#include "support/population_fixture.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/status.h"

void population_open(struct population_fixture *fixture, const struct pa_population_plan *plan,
                     size_t runs, struct test_setting setting)
{
  struct gpumc_error error = {0};
  memset(fixture, 0, sizeof *fixture);
  fixture->device = test_device(setting);
  fixture->outcome = calloc(runs, sizeof *fixture->outcome);
  assert_non_null(fixture->outcome);
  assert_ok(gpumc_device_array(&fixture->device, &fixture->size, plan->runs, "sizes", &error),
            &error);
  assert_ok(
      pa_population_create(&fixture->device, plan, fixture->size, &fixture->population, &error),
      &error);
  fixture->population.runs = runs;
}

void population_close(struct population_fixture *fixture)
{
  pa_population_free(&fixture->population);
  fixture->device.ops->release(&fixture->device, fixture->size);
  free(fixture->outcome);
}

static void bring(struct population_fixture *fixture, void *to, const void *from, size_t bytes)
{
  struct gpumc_error error = {0};
  assert_ok(fixture->device.ops->copy_to_device(&fixture->device, to, from, bytes, &error), &error);
}

static void fetch(struct population_fixture *fixture, void *to, const void *from, size_t bytes)
{
  struct gpumc_error error = {0};
  assert_ok(fixture->device.ops->copy_to_host(&fixture->device, to, from, bytes, &error), &error);
}

void population_bring(struct population_fixture *fixture, size_t m,
                      const struct population_sample *sample)
{
  const uint32_t size = (uint32_t)sample->size;
  bring(fixture, fixture->size + m, &size, sizeof size);
  bring(fixture, fixture->population.family + m * sample->capacity, sample->family,
        sample->size * sizeof *sample->family);
}

void population_bring_channels(struct population_fixture *fixture, size_t m,
                               const struct population_sample *sample)
{
  for (size_t c = 0; c < sample->n_channels; c++)
    bring(fixture, fixture->population.channel[c] + m * sample->capacity, sample->channel[c],
          sample->size * sizeof *sample->channel[c]);
}

size_t population_size(struct population_fixture *fixture, size_t m)
{
  uint32_t size;
  fetch(fixture, &size, fixture->size + m, sizeof size);
  return size;
}

void population_fetch(struct population_fixture *fixture, size_t m,
                      struct population_sample *sample)
{
  const size_t first = m * sample->capacity;
  sample->size = population_size(fixture, m);
  assert_true(sample->size <= sample->capacity);
  fetch(fixture, sample->family, fixture->population.family + first,
        sample->size * sizeof *sample->family);
  fetch(fixture, sample->parent, fixture->population.parent + first,
        sample->size * sizeof *sample->parent);
}

void population_found(struct population_fixture *fixture)
{
  struct gpumc_error error = {0};
  assert_ok(pa_population_found(&fixture->population, &error), &error);
}

void population_tally(struct population_fixture *fixture, uint32_t first_run, bool histogram)
{
  struct gpumc_error error = {0};
  assert_ok(pa_population_tally(&fixture->population, first_run, histogram, &error), &error);
}

void population_resample(struct population_fixture *fixture,
                         const struct pa_resampling_request *request)
{
  struct gpumc_error error = {0};
  assert_ok(pa_population_resample(&fixture->population, request, &error), &error);
}

double population_trial(struct population_fixture *fixture, double step)
{
  struct gpumc_error error = {0};
  double overlap = -1;
  assert_ok(pa_population_trial(&fixture->population, step, &overlap, &error), &error);
  return overlap;
}

void population_publish(struct population_fixture *fixture, size_t slot)
{
  struct gpumc_error error = {0};
  assert_ok(pa_population_publish(&fixture->population, slot, &error), &error);
}

void population_collect(struct population_fixture *fixture, size_t slot)
{
  struct gpumc_error error = {0};
  assert_ok(pa_population_collect(&fixture->population, slot, fixture->outcome, &error), &error);
}

static void expect_same_sums(const struct gpumc_moment_sums *found,
                             const struct gpumc_moment_sums *expected, size_t channel, size_t block,
                             const char *where)
{
  if (found->count != expected->count || found->first != expected->first ||
      found->absolute != expected->absolute || found->second != expected->second ||
      found->fourth != expected->fourth)
    fail_msg("%s: sums of channel %zu, block %zu differ (first: %.17g, expected %.17g; second: "
             "%.17g, expected %.17g)",
             where, channel, block, (double)found->first, (double)expected->first,
             (double)found->second, (double)expected->second);
}

#define EXPECT_SAME(member, format)                                                                \
  do {                                                                                             \
    if (memcmp(&found->member, &expected->member, sizeof found->member) != 0)                      \
      fail_msg("%s: " #member " is " format ", expected " format, where, found->member,            \
               expected->member);                                                                  \
  } while (0)

static void expect_same_tally(const struct pa_population_plan *plan, const struct pa_outcome *found,
                              const struct pa_outcome *expected, const char *where)
{
  EXPECT_SAME(lowest, "%" PRId64);
  EXPECT_SAME(lowest_replicas, "%zu");
  EXPECT_SAME(lowest_families, "%zu");
  EXPECT_SAME(families, "%zu");
  EXPECT_SAME(square_sum, "%" PRIu64);
  EXPECT_SAME(entropy, "%.17g");
  for (size_t c = 0; c < plan->n_channels; c++)
    for (size_t b = 0; b < plan->blocks; b++)
      expect_same_sums(&found->sums[c][b], &expected->sums[c][b], c, b, where);
}

void population_expect_same(const struct pa_population_plan *plan, const struct pa_outcome *found,
                            const struct pa_outcome *expected, const char *where)
{
  EXPECT_SAME(before, "%zu");
  EXPECT_SAME(size, "%zu");
  EXPECT_SAME(reference, "%" PRId64);
  EXPECT_SAME(total, "%" PRIu64);
  EXPECT_SAME(overlap, "%.17g");
  for (size_t b = 0; b < plan->blocks; b++)
    if (found->block_weight[b] != expected->block_weight[b])
      fail_msg("%s: weight of block %zu is %" PRIu64 ", expected %" PRIu64, where, b,
               found->block_weight[b], expected->block_weight[b]);
  if (found->size >= 1 && found->size <= plan->capacity)
    expect_same_tally(plan, found, expected, where);
}
