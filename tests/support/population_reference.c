/* The slow, simple population. */
#include "support/population_reference.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pa/pa_rules.h"

static void *allocate(size_t count, size_t size)
{
  void *memory = calloc(count + 1, size);
  if (memory == NULL)
    abort();
  return memory;
}

void population_sample_init(struct population_sample *sample, const struct pa_population_plan *plan)
{
  *sample = (struct population_sample){.capacity = plan->capacity, .n_channels = plan->n_channels};
  for (size_t c = 0; c < plan->n_channels; c++)
    sample->channel[c] = allocate(plan->capacity, sizeof *sample->channel[c]);
  sample->family = allocate(plan->capacity, sizeof *sample->family);
  sample->parent = allocate(plan->capacity, sizeof *sample->parent);
}

void population_sample_free(struct population_sample *sample)
{
  for (size_t c = 0; c < sample->n_channels; c++)
    free(sample->channel[c]);
  free(sample->family);
  free(sample->parent);
}

static uint64_t draw(uint32_t run, uint32_t replica, uint32_t time, uint32_t label)
{
  uint32_t word[4];
  gpumc_random_draw(gpumc_random_make(3, run, 10), replica, 0, time, label, word);
  return (uint64_t)word[0] << 32 | word[1];
}

void population_sample_found(struct population_sample *sample,
                             const struct pa_population_plan *plan)
{
  sample->size = plan->founders;
  for (size_t r = 0; r < sample->size; r++)
    sample->family[r] = (uint32_t)r;
}

void population_sample_families(struct population_sample *sample,
                                const struct pa_population_plan *plan, uint32_t run, size_t size)
{
  sample->size = size;
  for (uint32_t r = 0; r < size; r++) {
    const uint64_t any = draw(run, r, 0, 1);
    const uint64_t large = any % 8 == 0 ? 1 + any / 8 % 3 : plan->founders;
    sample->family[r] = (uint32_t)(draw(run, r, 1, 1) % large % plan->founders);
  }
}

void population_sample_channels(struct population_sample *sample,
                                const struct pa_population_plan *plan, uint32_t run, uint32_t time)
{
  for (size_t c = 0; c < plan->n_channels; c++)
    for (uint32_t r = 0; r < sample->size; r++) {
      const uint64_t any = draw(run, r, time, 2 + (uint32_t)c);
      const int64_t bound = (int64_t)plan->bound[c];
      int64_t *value = &sample->channel[c][r];
      if (c == 0 && plan->levels > 0)
        *value = plan->lowest + plan->spacing * (int64_t)(any % plan->levels);
      else
        *value =
            r < 2 ? (r == 0 ? bound : -bound) : (int64_t)(any % (uint64_t)(2 * bound + 1)) - bound;
    }
}

void population_expected_init(struct population_expected *expected,
                              const struct pa_population_plan *plan)
{
  memset(expected, 0, sizeof *expected);
  expected->block_weight = allocate(plan->blocks, sizeof *expected->block_weight);
  expected->found.block_weight = expected->block_weight;
  for (size_t c = 0; c < plan->n_channels; c++) {
    expected->sums[c] = allocate(plan->blocks, sizeof *expected->sums[c]);
    expected->found.sums[c] = expected->sums[c];
  }
}

void population_expected_free(struct population_expected *expected)
{
  free(expected->block_weight);
  for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM; c++)
    free(expected->sums[c]);
}

void population_expect_founding(struct population_expected *expected,
                                const struct pa_population_plan *plan)
{
  struct pa_outcome *found = &expected->found;
  found->before = found->size = plan->founders;
  found->reference = 0;
  found->total = 0;
  found->overlap = 0;
  memset(expected->block_weight, 0, plan->blocks * sizeof *expected->block_weight);
}

static void expect_sums(struct population_expected *expected, const struct pa_population_plan *plan,
                        const struct population_sample *sample, size_t c)
{
  const unsigned which = plan->sums[c];
  memset(expected->sums[c], 0, plan->blocks * sizeof *expected->sums[c]);
  for (size_t r = 0; r < sample->size; r++) {
    struct gpumc_moment_sums *sums = &expected->sums[c][sample->family[r] % plan->blocks];
    const gpumc_wide x = sample->channel[c][r];
    sums->count++;
    sums->first += which & GPUMC_SUM_FIRST ? x : 0;
    sums->absolute += which & GPUMC_SUM_ABSOLUTE ? (x < 0 ? -x : x) : 0;
    sums->second += which & GPUMC_SUM_SECOND ? x * x : 0;
    sums->fourth += which & GPUMC_SUM_FOURTH ? x * x * x * x : 0;
  }
}

static void expect_families(struct pa_outcome *found, const struct pa_population_plan *plan,
                            const struct population_sample *sample)
{
  uint64_t *members = allocate(plan->founders, sizeof *members);
  int64_t entropy = 0;
  found->families = 0;
  found->square_sum = 0;
  for (size_t r = 0; r < sample->size; r++)
    members[sample->family[r]]++;
  for (size_t f = 0; f < plan->founders; f++)
    if (members[f] > 0) {
      found->families++;
      found->square_sum += members[f] * members[f];
      entropy += pa_family_entropy(members[f], sample->size);
    }
  found->entropy = (double)entropy * PA_ENTROPY_UNIT;
  free(members);
}

static void expect_lowest(struct pa_outcome *found, const struct pa_population_plan *plan,
                          const struct population_sample *sample)
{
  const int64_t *energy = sample->channel[0];
  bool *holds = allocate(plan->founders, sizeof *holds);
  found->lowest = energy[0];
  found->lowest_replicas = found->lowest_families = 0;
  for (size_t r = 0; r < sample->size; r++)
    if (energy[r] < found->lowest)
      found->lowest = energy[r];
  for (size_t r = 0; r < sample->size; r++)
    if (energy[r] == found->lowest) {
      found->lowest_replicas++;
      holds[sample->family[r]] = true;
    }
  for (size_t f = 0; f < plan->founders; f++)
    found->lowest_families += holds[f];
  free(holds);
}

void population_expect_tally(struct population_expected *expected,
                             const struct pa_population_plan *plan,
                             const struct population_sample *sample)
{
  for (size_t c = 0; c < plan->n_channels; c++)
    expect_sums(expected, plan, sample, c);
  expect_families(&expected->found, plan, sample);
  expect_lowest(&expected->found, plan, sample);
}

void population_expect_histogram(uint64_t *bins, const struct pa_population_plan *plan,
                                 const struct population_sample *sample)
{
  for (size_t r = 0; r < sample->size; r++) {
    const size_t level = (size_t)((sample->channel[0][r] - plan->lowest) / plan->spacing);
    bins[sample->family[r] % plan->blocks * plan->levels + level]++;
  }
}

/* Returns the conjugate channel's lowest or highest value. */
static int64_t
expect_reference(const struct pa_population_plan *plan, const struct population_sample *sample)
{
  const int64_t *value = sample->channel[plan->conjugate];
  int64_t reference = value[0];
  for (size_t r = 1; r < sample->size; r++)
    if (plan->falls ? value[r] > reference : value[r] < reference)
      reference = value[r];
  return reference;
}

static void expect_weights(struct population_expected *expected,
                           const struct pa_population_plan *plan, double step,
                           const struct population_sample *sample, uint64_t *weight)
{
  struct pa_outcome *found = &expected->found;
  const size_t n = sample->size;
  const int shift = pa_weight_shift(plan->capacity);
  unsigned __int128 shares = 0;
  const uint64_t low = ((uint64_t)1 << PA_OVERLAP_LOW_BITS) - 1;
  uint64_t high_sum = 0, low_sum = 0;
  expect_lowest(found, plan, sample);
  found->before = n;
  found->reference = expect_reference(plan, sample);
  found->total = 0;
  memset(expected->block_weight, 0, plan->blocks * sizeof *expected->block_weight);
  for (size_t r = 0; r < n; r++) {
    weight[r] = pa_weight(step, sample->channel[plan->conjugate][r], found->reference, shift);
    found->total += weight[r];
    expected->block_weight[sample->family[r] % plan->blocks] += weight[r];
  }
  for (size_t r = 0; r < n; r++) {
    const uint64_t share = pa_overlap_share(weight[r], n, found->total);
    shares += share;
    high_sum += share >> PA_OVERLAP_LOW_BITS;
    low_sum += share & low;
  }
  if (shares != ((unsigned __int128)high_sum << PA_OVERLAP_LOW_BITS) + low_sum)
    abort();
  found->overlap = pa_overlap(high_sum, low_sum, n, found->total);
}

static size_t draw_copies(const struct pa_resampling_request *request, uint32_t run, size_t n,
                          uint64_t total, const uint64_t *weight, size_t *copies)
{
  const struct gpumc_random random = gpumc_random_make(request->seed, run, request->rounds);
  const uint64_t offset = pa_resampling_uniform(random, 0, request->time, total);
  uint64_t cumulated = 0;
  size_t size = 0;
  for (uint32_t r = 0; r < n; r++) {
    const uint64_t before = pa_points_below(cumulated, offset, request->target, total);
    cumulated += weight[r];
    if (request->method == PA_RESAMPLING_SYSTEMATIC)
      copies[r] = pa_points_below(cumulated, offset, request->target, total) - before;
    else
      copies[r] =
          pa_copies_nearest_integer(random, r, request->time, weight[r], request->target, total);
    size += copies[r];
  }
  return size;
}

/* Finds the children without a place, in the order of their parents, and the free places, in
 * ascending order. */
static void find_places(struct population_sample *sample, size_t size, const size_t *copies)
{
  uint32_t *homeless = allocate(size, sizeof *homeless);
  size_t children = 0, next = 0;
  for (size_t r = 0; r < sample->size; r++)
    for (size_t k = r < size ? 1 : 0; k < copies[r]; k++)
      homeless[children++] = (uint32_t)r;
  for (size_t place = 0; place < size; place++) {
    const bool lives_on = place < sample->size && copies[place] > 0;
    sample->parent[place] = lives_on ? (uint32_t)place : homeless[next++];
  }
  if (next != children)
    abort();
  free(homeless);
}

void population_expect_resampling(struct population_expected *expected,
                                  const struct pa_population_plan *plan,
                                  const struct pa_resampling_request *request, uint32_t run,
                                  struct population_sample *sample)
{
  uint64_t *weight = allocate(sample->size, sizeof *weight);
  size_t *copies = allocate(sample->size, sizeof *copies);
  uint32_t *inherited = allocate(plan->capacity, sizeof *inherited);
  expect_weights(expected, plan, request->step, sample, weight);
  size_t size = draw_copies(request, run, sample->size, expected->found.total, weight, copies);
  expected->found.size = size;
  if (size > plan->capacity)
    size = 0;
  if (size > 0)
    find_places(sample, size, copies);
  for (size_t r = 0; r < size; r++)
    inherited[r] = sample->family[sample->parent[r]];
  memcpy(sample->family, inherited, size * sizeof *inherited);
  sample->size = size;
  free(weight);
  free(copies);
  free(inherited);
}
