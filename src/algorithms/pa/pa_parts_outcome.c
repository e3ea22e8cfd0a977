/* Outcomes of a population that processes divide: what its tally and its families are in the whole.
 */
#include <stdlib.h>

#include "algorithms/pa/pa_parts.h"
#include "core/base/memory.h"

/* What processes tell each other of a run, in this order: after a tally, and when an outcome is
 * collected. */
enum { DEPTH, EXTENT, N_REACHES };
enum { LOWEST_REPLICAS, LOWEST_FAMILIES, FAMILIES, SQUARE_SUM, ENTROPY, N_TALLIED };

/* Words of the sums of a run. */
static size_t words_of(const struct gpumc_tally *tally)
{
  return tally->words * tally->rows;
}

size_t pa_parts_words(const struct pa_layout *layout)
{
  return N_TALLIED + words_of(&layout->by_weight) + words_of(&layout->by_value);
}

void pa_parts_find_reaches(struct pa_parts *parts, struct pa_tallied *tallied, size_t runs)
{
  uint64_t *words = parts->words;
  for (size_t m = 0; m < runs; m++) {
    words[N_REACHES * m + DEPTH] = tallied[m].depth;
    words[N_REACHES * m + EXTENT] = tallied[m].extent;
  }
  gpumc_processes_largest(parts->processes, words, N_REACHES * runs);
  for (size_t m = 0; m < runs; m++) {
    tallied[m].depth = words[N_REACHES * m + DEPTH];
    tallied[m].extent = words[N_REACHES * m + EXTENT];
  }
}

enum gpumc_status
pa_parts_publish(struct pa_population *population, size_t slot, struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  struct gpumc_device *device = population->device;
  const struct pa_population_plan *plan = &population->plan;
  const size_t replicas = population->runs * plan->capacity;
  if (parts == NULL)
    return GPUMC_OK;
  parts->published = &population->slot[slot];
  GPUMC_TRY(device->ops->publish(device, &parts->family[slot], population->family,
                                 replicas * sizeof *population->family, error));
  return device->ops->publish(device, &parts->tracked[slot], population->channel[plan->tracked],
                              replicas * sizeof(int64_t), error);
}

static void
add_families(struct pa_tallied *tallied, uint64_t count, uint64_t members, uint64_t size)
{
  if (count == 0)
    return;
  tallied->families += count;
  tallied->square_sum += count * members * members;
  tallied->entropy += (int64_t)count * pa_family_entropy(members, size);
}

/* What pa_add_family() makes of each: families with few members are counted before the entropy of
 * one is formed, which takes as long as all else. */
enum { SMALL = 64 };

static void
add_kin(const struct pa_kin *kin, size_t count, uint64_t size, struct pa_tallied *tallied)
{
  uint64_t of_size[SMALL] = {0};
  for (size_t f = 0; f < count; f++) {
    if (kin[f].members < SMALL)
      of_size[kin[f].members]++;
    else
      add_families(tallied, 1, kin[f].members, size);
    tallied->lowest_replicas += kin[f].lowest;
    tallied->lowest_families += kin[f].lowest > 0;
  }
  for (uint64_t members = 1; members < SMALL; members++)
    add_families(tallied, of_size[members], members, size);
}

/* Families and lowest values of the whole runs, of which every process has those that it owns. */
static enum gpumc_status count_families(struct pa_population *population, size_t slot,
                                        const struct pa_resampled *resampled,
                                        struct pa_tallied *tallied, struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  const size_t runs = population->published[slot];
  const struct pa_work work = pa_population_work(population, runs);
  const size_t width = pa_owners_width(&parts->owners, parts->processes->module.rank);
  size_t *size = NULL;
  int64_t *lowest = NULL;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&size, runs, "numbers of replicas", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&lowest, runs, "lowest values", error));
  for (size_t m = 0; m < runs; m++) {
    size[m] = pa_size_after(&work, resampled[m].size);
    lowest[m] = pa_lowest_of(&tallied[m]);
  }
  const struct pa_family_members members = {.runs = runs,
                                            .capacity = population->plan.capacity,
                                            .size = size,
                                            .family = parts->family[slot].memory,
                                            .value = parts->tracked[slot].memory,
                                            .lowest = lowest};
  GPUMC_TRY_OUT(status, pa_owners_count(&parts->owners, &members, error));
  for (size_t m = 0; m < runs; m++)
    add_kin(parts->owners.own + m * width, width, resampled[m].size, &tallied[m]);
out:
  free(size);
  free(lowest);
  return status;
}

static uint64_t *widen(const struct gpumc_tally *tally, const void *sums, uint64_t *words)
{
  const uint32_t *word = sums;
  for (size_t i = 0; i < words_of(tally); i++)
    words[i] = word[i];
  return words + words_of(tally);
}

/* What is added over processes, of the record of all runs, into `words`; and back from there. */
static void pack_sums(const struct pa_population *population, const uint8_t *record, size_t runs)
{
  const struct pa_layout *layout = &population->layout;
  const struct pa_tallied *tallied = (const void *)(record + layout->tallied);
  uint64_t *words = population->parts->words;
  for (size_t m = 0; m < runs; m++) {
    words[LOWEST_REPLICAS] = tallied[m].lowest_replicas;
    words[LOWEST_FAMILIES] = tallied[m].lowest_families;
    words[FAMILIES] = tallied[m].families;
    words[SQUARE_SUM] = tallied[m].square_sum;
    words[ENTROPY] = (uint64_t)tallied[m].entropy;
    words = widen(&layout->by_weight, record + layout->weights + m * layout->by_weight.stride,
                  words + N_TALLIED);
    words = widen(&layout->by_value, record + layout->sums + m * layout->by_value.stride, words);
  }
}

static void unpack_sums(const struct pa_population *population, size_t runs, uint8_t *record)
{
  const struct pa_layout *layout = &population->layout;
  struct pa_tallied *tallied = (void *)(record + layout->tallied);
  const uint64_t *words = population->parts->words;
  for (size_t m = 0; m < runs; m++) {
    tallied[m].lowest_replicas = words[LOWEST_REPLICAS];
    tallied[m].lowest_families = words[LOWEST_FAMILIES];
    tallied[m].families = words[FAMILIES];
    tallied[m].square_sum = words[SQUARE_SUM];
    tallied[m].entropy = (int64_t)words[ENTROPY];
    words += N_TALLIED;
    gpumc_tally_carry(&layout->by_weight, words,
                      record + layout->weights + m * layout->by_weight.stride);
    words += words_of(&layout->by_weight);
    gpumc_tally_carry(&layout->by_value, words,
                      record + layout->sums + m * layout->by_value.stride);
    words += words_of(&layout->by_value);
  }
}

/* The numbers of the resampling in it are whole already. */
enum gpumc_status
pa_parts_collect(struct pa_population *population, size_t slot, struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  struct gpumc_device *device = population->device;
  uint8_t *record = population->slot[slot].memory;
  const size_t runs = population->published[slot];
  if (parts == NULL)
    return GPUMC_OK;
  struct pa_tallied *tallied = (void *)(record + population->layout.tallied);
  GPUMC_TRY(device->ops->collect(device, &parts->family[slot], error));
  GPUMC_TRY(device->ops->collect(device, &parts->tracked[slot], error));
  pa_parts_find_reaches(parts, tallied, runs);
  GPUMC_TRY(count_families(population, slot, (const void *)record, tallied, error));
  pack_sums(population, record, runs);
  gpumc_processes_sum(parts->processes, parts->words, runs * pa_parts_words(&population->layout));
  unpack_sums(population, runs, record);
  return GPUMC_OK;
}

enum gpumc_status pa_parts_gather_bins(struct pa_population *population, struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  struct gpumc_device *device = population->device;
  const struct pa_population_plan *plan = &population->plan;
  const size_t count = plan->strata * plan->blocks * plan->levels, bytes = count * sizeof(uint64_t);
  uint64_t *bins = NULL;
  enum gpumc_status status;
  if (parts == NULL || plan->levels == 0)
    return GPUMC_OK;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&bins, count, "histograms", error));
  GPUMC_TRY_OUT(status, device->ops->copy_to_host(device, bins, population->bins, bytes, error));
  gpumc_processes_sum(parts->processes, bins, count);
  status = gpumc_is_root(parts->processes)
               ? device->ops->copy_to_device(device, population->bins, bins, bytes, error)
               : device->ops->fill(device, population->bins, 0, bytes, error);
out:
  free(bins);
  return status;
}
