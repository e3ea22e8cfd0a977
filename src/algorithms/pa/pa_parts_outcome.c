/* Outcomes of a population that processes divide: its tally and its families in the whole. */
#include <stdlib.h>
#include <string.h>

#include "algorithms/pa/pa_parts.h"
#include "core/base/memory.h"

/* The numbers that processes exchange about a run when an outcome is collected, in this order. */
enum { LOWEST_REPLICAS, LOWEST_FAMILIES, FAMILIES, SQUARE_SUM, ENTROPY, N_TALLIED };

/* Returns the words of the sums of a run. */
static size_t words_of(const struct gpumc_tally *tally)
{
  return tally->words * tally->rows;
}

size_t pa_parts_words(const struct pa_layout *layout)
{
  return N_TALLIED + words_of(&layout->by_weight) + words_of(&layout->by_value);
}

/* ---- what is published ---- */

enum gpumc_status
pa_parts_publish(struct pa_population *population, size_t slot, struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  struct gpumc_device *device = population->device;
  const size_t families = population->runs * population->plan.capacity;
  if (parts == NULL)
    return GPUMC_OK;
  parts->latest = slot;
  parts->fetched[slot] = false;
  return device->ops->publish(device, &parts->members[slot], population->weight,
                              families * sizeof(uint32_t), error);
}

static uint64_t strangers_in(const struct pa_population *population, size_t slot)
{
  const uint8_t *record = population->slot[slot].memory;
  uint64_t count;
  memcpy(&count, record + population->layout.strangers, sizeof count);
  return count;
}

enum gpumc_status
pa_parts_fetch_strangers(struct pa_population *population, size_t slot, struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  struct gpumc_device *device = population->device;
  if (parts->fetched[slot])
    return GPUMC_OK;
  parts->fetched[slot] = true;
  GPUMC_TRY(device->ops->collect(device, &population->slot[slot], error));
  return device->ops->publish(device, &parts->strangers[slot], parts->stranger,
                              strangers_in(population, slot) * sizeof *parts->stranger, error);
}

/* ---- families ---- */

/* Adds members in other processes to the families that this process owns; members of other
 * processes' families are passed to their owners. */
static enum gpumc_status add_strangers(struct pa_population *population, size_t slot,
                                       const struct pa_work *found, struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  struct gpumc_device *device = population->device;
  const size_t width = pa_owners_width(&parts->owners, parts->processes->module.rank);
  uint32_t *members = parts->members[slot].memory;
  size_t count;
  GPUMC_TRY(pa_parts_fetch_strangers(population, slot, error));
  GPUMC_TRY(device->ops->collect(device, &parts->members[slot], error));
  GPUMC_TRY(device->ops->collect(device, &parts->strangers[slot], error));
  GPUMC_TRY(pa_owners_count(&parts->owners, parts->strangers[slot].memory, *found->n_strangers,
                            &count, error));
  for (size_t i = 0; i < count; i++) {
    const struct pa_kin *kin = &parts->owners.received[i];
    const size_t m = kin->cell / width, family = kin->cell % width;
    pa_add_kin(&members[m * found->capacity + family], kin, pa_copied_of(found, m).size,
               &found->tallied[m]);
  }
  return GPUMC_OK;
}

/* ---- sums ---- */

static uint64_t *widen(const struct gpumc_tally *tally, const void *sums, uint64_t *words)
{
  const uint32_t *word = sums;
  for (size_t i = 0; i < words_of(tally); i++)
    words[i] = word[i];
  return words + words_of(tally);
}

/* Packs what is added over processes, from the record of all runs, into `words`; and unpacks it. */
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

/* The numbers of the resampling in it are whole already, and so are the reaches of the tally. */
enum gpumc_status pa_parts_collect(struct pa_population *population, size_t slot,
                                   const struct pa_work *found, struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  uint8_t *record = population->slot[slot].memory;
  if (parts == NULL)
    return GPUMC_OK;
  GPUMC_TRY(add_strangers(population, slot, found, error));
  pack_sums(population, record, found->runs);
  gpumc_processes_sum(parts->processes, parts->words,
                      found->runs * pa_parts_words(&population->layout));
  unpack_sums(population, found->runs, record);
  return GPUMC_OK;
}
