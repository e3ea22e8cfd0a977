/* A population that processes divide: what one of them knows of the others'. */
#include "algorithms/pa/pa_parts.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

/* Sums over replicas of a run, in the order in which they are added over processes. */
enum { LOWEST_REPLICAS, LOWEST_FAMILIES, FAMILIES, SQUARE_SUM, ENTROPY, N_TALLIED };
enum { SIZE, OVERLAP_HIGH, OVERLAP_LOW, N_RESAMPLED };
enum { DEPTH, EXTENT, N_REACHES };

/* ---- memory ---- */

enum gpumc_status
pa_buffer_reserve(struct pa_buffer *buffer, size_t bytes, struct gpumc_error *error)
{
  if (bytes <= buffer->bytes)
    return GPUMC_OK;
  pa_buffer_free(buffer);
  GPUMC_TRY(gpumc_allocate_array(&buffer->memory, bytes, "messages between processes", error));
  buffer->bytes = bytes;
  return GPUMC_OK;
}

void pa_buffer_free(struct pa_buffer *buffer)
{
  free(buffer->memory);
  *buffer = (struct pa_buffer){.memory = NULL};
}

/* Words of the sums of a run. */
static size_t words_of(const struct gpumc_tally *tally)
{
  return tally->words * tally->rows;
}

static size_t words_of_run(const struct pa_layout *layout)
{
  return N_TALLIED + words_of(&layout->by_weight) + words_of(&layout->by_value);
}

static size_t label_bytes(const struct pa_population_plan *plan)
{
  return plan->runs * plan->capacity * sizeof(uint32_t);
}

static size_t value_bytes(const struct pa_population_plan *plan)
{
  return plan->runs * plan->capacity * sizeof(int64_t);
}

size_t
pa_parts_device_bytes(const struct gpumc_device *device, const struct pa_population_plan *plan)
{
  return 2 * plan->capacity * sizeof(uint32_t) +
         gpumc_slots_device_bytes(device, label_bytes(plan)) +
         gpumc_slots_device_bytes(device, value_bytes(plan));
}

size_t pa_parts_host_bytes(const struct gpumc_device *device, const struct pa_population_plan *plan,
                           size_t portable)
{
  const size_t replicas = plan->runs * plan->capacity;
  return gpumc_slots_host_bytes(device, label_bytes(plan)) +
         gpumc_slots_host_bytes(device, value_bytes(plan)) +
         replicas * (pa_owners_bytes_of_replica() + portable / 8);
}

static enum gpumc_status create_owners(struct pa_parts *parts,
                                       const struct pa_population *population,
                                       struct gpumc_error *error)
{
  const struct gpumc_ensemble_plan *plan = &parts->ensemble->plan;
  const size_t size = (size_t)parts->processes->module.size;
  size_t *first = NULL;
  GPUMC_TRY(gpumc_allocate_array(&first, size + 1, "places", error));
  for (size_t p = 0; p < size; p++)
    first[p] = gpumc_share_of(plan, plan->runs, (int)p).first_replica;
  first[size] = pa_plan_whole(&population->plan);
  const enum gpumc_status status =
      pa_owners_create(parts->processes, first, population->plan.runs, population->plan.founders,
                       &parts->owners, error);
  free(first);
  return status;
}

static enum gpumc_status
allocate(struct pa_parts *parts, const struct pa_population *population, struct gpumc_error *error)
{
  const struct pa_population_plan *plan = &population->plan;
  const size_t size = (size_t)parts->processes->module.size, runs = plan->runs;
  const size_t of_sums = runs * words_of_run(&population->layout), of_all = 2 * size * runs;
  struct gpumc_device *device = population->device;
  GPUMC_TRY(gpumc_allocate_array(&parts->tallied, runs, "sums of a population", error));
  GPUMC_TRY(gpumc_allocate_array(&parts->resampled, runs, "sums of a population", error));
  GPUMC_TRY(gpumc_allocate_array(&parts->words, of_sums > of_all ? of_sums : of_all,
                                 "sums of all processes", error));
  GPUMC_TRY(gpumc_allocate_array(&parts->need, size * runs, "free places", error));
  GPUMC_TRY(gpumc_allocate_array(&parts->child, (size + 1) * runs, "free places", error));
  GPUMC_TRY(gpumc_allocate_array(&parts->place, (size + 1) * runs, "free places", error));
  GPUMC_TRY(gpumc_allocate_array(&parts->n_out, size, "counts of bytes", error));
  GPUMC_TRY(gpumc_allocate_array(&parts->n_in, size, "counts of bytes", error));
  GPUMC_TRY(gpumc_device_array(device, &parts->list, 2 * plan->capacity,
                               "replicas that change "
                               "process",
                               error));
  GPUMC_TRY(gpumc_slots_create(device, label_bytes(plan), "families", parts->family, error));
  return gpumc_slots_create(device, value_bytes(plan), "measurements", parts->tracked, error);
}

enum gpumc_status pa_parts_create(struct pa_population *population, struct gpumc_ensemble *ensemble,
                                  struct gpumc_error *error)
{
  struct pa_parts *parts;
  if (ensemble->plan.division != GPUMC_BY_REPLICAS)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_allocate_array(&parts, 1, "a divided population", error));
  population->parts = parts;
  parts->processes = gpumc_columns_processes(ensemble);
  parts->ensemble = ensemble;
  GPUMC_TRY(allocate(parts, population, error));
  return create_owners(parts, population, error);
}

void pa_parts_free(struct pa_population *population)
{
  struct pa_parts *parts = population->parts;
  if (parts == NULL)
    return;
  population->device->ops->release(population->device, parts->list);
  gpumc_slots_free(population->device, parts->family);
  gpumc_slots_free(population->device, parts->tracked);
  pa_owners_free(&parts->owners);
  free(parts->tallied);
  free(parts->resampled);
  free(parts->words);
  free(parts->need);
  free(parts->child);
  free(parts->place);
  free(parts->n_out);
  free(parts->n_in);
  pa_buffer_free(&parts->out);
  pa_buffer_free(&parts->in);
  pa_buffer_free(&parts->movers);
  pa_buffer_free(&parts->range);
  free(parts);
  population->parts = NULL;
}

/* ---- between the steps ---- */

/* Of each of `runs` tallied runs how deep and how far the values of all processes reach. */
static void find_reaches(struct pa_parts *parts, struct pa_tallied *tallied, size_t runs)
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
pa_parts_find_references(struct pa_population *population, struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  struct gpumc_device *device = population->device;
  if (parts == NULL || parts->reached)
    return GPUMC_OK;
  uint8_t *on_device = population->record + population->layout.tallied;
  const size_t bytes = population->runs * sizeof *parts->tallied;
  GPUMC_TRY(device->ops->copy_to_host(device, parts->tallied, on_device, bytes, error));
  find_reaches(parts, parts->tallied, population->runs);
  parts->reached = true;
  return device->ops->copy_to_device(device, on_device, parts->tallied, bytes, error);
}

static enum gpumc_status fetch_resampled(const struct pa_population *population,
                                         const struct pa_work *work, struct gpumc_error *error)
{
  const struct gpumc_device_ops *ops = population->device->ops;
  struct pa_resampled *resampled = population->parts->resampled;
  return ops->copy_to_host(population->device, resampled, work->resampled,
                           work->runs * sizeof *resampled, error);
}

static enum gpumc_status bring_resampled(const struct pa_population *population,
                                         const struct pa_work *work, struct gpumc_error *error)
{
  const struct gpumc_device_ops *ops = population->device->ops;
  const struct pa_resampled *resampled = population->parts->resampled;
  return ops->copy_to_device(population->device, work->resampled, resampled,
                             work->runs * sizeof *resampled, error);
}

/* Two numbers a run of each process, words[processes][runs][2]: in, this process's own are in their
 * place. */
static void gather_pairs(struct pa_parts *parts, size_t runs)
{
  const size_t rank = (size_t)parts->processes->module.rank;
  for (int p = 0; p < parts->processes->module.size; p++)
    parts->n_in[p] = 2 * runs * sizeof *parts->words;
  gpumc_processes_gather(parts->processes, parts->words + 2 * rank * runs, parts->words,
                         parts->n_in, -1);
}

enum gpumc_status pa_parts_add_weights(struct pa_population *population, const struct pa_work *work,
                                       struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  const size_t runs = work->runs;
  if (parts == NULL)
    return GPUMC_OK;
  const size_t size = (size_t)parts->processes->module.size;
  const size_t rank = (size_t)parts->processes->module.rank;
  GPUMC_TRY(fetch_resampled(population, work, error));
  for (size_t m = 0; m < runs; m++) {
    parts->words[2 * (rank * runs + m)] = parts->resampled[m].own;
    parts->words[2 * (rank * runs + m) + 1] = parts->resampled[m].total;
  }
  gather_pairs(parts, runs);
  for (size_t m = 0; m < runs; m++) {
    struct pa_resampled *resampled = &parts->resampled[m];
    resampled->before = resampled->total = 0;
    for (size_t p = 0; p < size; p++) {
      if (p == rank)
        resampled->below = resampled->total;
      resampled->before += parts->words[2 * (p * runs + m)];
      resampled->total += parts->words[2 * (p * runs + m) + 1];
    }
  }
  return bring_resampled(population, work, error);
}

enum gpumc_status pa_parts_add_copies(struct pa_population *population, const struct pa_work *work,
                                      struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  if (parts == NULL)
    return GPUMC_OK;
  GPUMC_TRY(fetch_resampled(population, work, error));
  for (size_t m = 0; m < work->runs; m++) {
    uint64_t *words = parts->words + N_RESAMPLED * m;
    words[SIZE] = parts->resampled[m].size;
    words[OVERLAP_HIGH] = parts->resampled[m].overlap_high;
    words[OVERLAP_LOW] = parts->resampled[m].overlap_low;
  }
  gpumc_processes_sum(parts->processes, parts->words, N_RESAMPLED * work->runs);
  for (size_t m = 0; m < work->runs; m++) {
    const uint64_t *words = parts->words + N_RESAMPLED * m;
    parts->resampled[m].size = words[SIZE];
    parts->resampled[m].overlap_high = words[OVERLAP_HIGH];
    parts->resampled[m].overlap_low = words[OVERLAP_LOW];
  }
  return bring_resampled(population, work, error);
}

enum gpumc_status pa_parts_find_flow(struct pa_population *population, const struct pa_work *work,
                                     struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  const size_t runs = work->runs;
  if (parts == NULL)
    return GPUMC_OK;
  const size_t size = (size_t)parts->processes->module.size;
  const size_t rank = (size_t)parts->processes->module.rank;
  GPUMC_TRY(fetch_resampled(population, work, error));
  for (size_t m = 0; m < runs; m++) {
    parts->words[2 * (rank * runs + m)] = parts->resampled[m].children;
    parts->words[2 * (rank * runs + m) + 1] = parts->resampled[m].places;
  }
  gather_pairs(parts, runs);
  for (size_t i = 0; i < size * runs; i++)
    parts->need[i] = (struct pa_need){parts->words[2 * i], parts->words[2 * i + 1]};
  parts->flow =
      (struct pa_flow){(int)size, (int)rank, runs, parts->need, parts->child, parts->place};
  pa_flow_number(&parts->flow);
  for (size_t m = 0; m < runs; m++)
    parts->resampled[m].shift = pa_flow_shift(&parts->flow, m);
  return bring_resampled(population, work, error);
}

/* ---- outcomes ---- */

enum gpumc_status
pa_parts_publish(struct pa_population *population, size_t slot, struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  struct gpumc_device *device = population->device;
  const struct pa_population_plan *plan = &population->plan;
  const size_t replicas = population->runs * plan->capacity;
  if (parts == NULL)
    return GPUMC_OK;
  GPUMC_TRY(device->ops->publish(device, &parts->family[slot], population->family,
                                 replicas * sizeof *population->family, error));
  return device->ops->publish(device, &parts->tracked[slot], population->channel[plan->tracked],
                              replicas * sizeof(int64_t), error);
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
    for (size_t f = 0; f < width; f++) {
      const struct pa_kin *kin = &parts->owners.own[m * width + f];
      pa_add_family(&tallied[m], kin->members, resampled[m].size);
      tallied[m].lowest_replicas += kin->lowest;
      tallied[m].lowest_families += kin->lowest > 0;
    }
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
  find_reaches(parts, tallied, runs);
  GPUMC_TRY(count_families(population, slot, (const void *)record, tallied, error));
  pack_sums(population, record, runs);
  gpumc_processes_sum(parts->processes, parts->words, runs * words_of_run(&population->layout));
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
