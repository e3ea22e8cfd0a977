/* A population that processes divide: what one of them knows of the others'. */
#include "algorithms/pa/pa_parts.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

/* What processes tell each other of a run after each step of the resampling, in this order. */
enum { OWN, TOTAL, N_WEIGHED };
enum { COPIES, LIVING, OVERLAP_HIGH, OVERLAP_LOW, N_COPIED };
enum { CHILDREN, PLACES, N_NEEDED };

/* ---- memory ---- */

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
         replicas * pa_owners_bytes_of_replica() + pa_messages_bytes(replicas, portable);
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
                       population->device->threads, &parts->owners, error);
  free(first);
  return status;
}

static enum gpumc_status
allocate(struct pa_parts *parts, const struct pa_population *population, struct gpumc_error *error)
{
  const struct pa_population_plan *plan = &population->plan;
  const size_t size = (size_t)parts->processes->module.size, runs = plan->runs;
  const size_t of_sums = runs * pa_parts_words(&population->layout),
               of_all = N_COPIED * size * runs;
  struct gpumc_device *device = population->device;
  GPUMC_TRY(gpumc_allocate_array(&parts->tallied, runs, "sums of a population", error));
  GPUMC_TRY(gpumc_allocate_array(&parts->resampled, runs, "sums of a population", error));
  GPUMC_TRY(gpumc_allocate_array(&parts->words, of_sums > of_all ? of_sums : of_all,
                                 "sums of all processes", error));
  GPUMC_TRY(gpumc_allocate_array(&parts->own, size * runs, "numbers of replicas", error));
  GPUMC_TRY(gpumc_allocate_array(&parts->need, size * runs, "free places", error));
  GPUMC_TRY(gpumc_allocate_array(&parts->child, (size + 1) * runs, "free places", error));
  GPUMC_TRY(gpumc_allocate_array(&parts->place, (size + 1) * runs, "free places", error));
  GPUMC_TRY(gpumc_allocate_array(&parts->n_out, size, "counts of bytes", error));
  GPUMC_TRY(gpumc_allocate_array(&parts->n_in, size, "counts of bytes", error));
  GPUMC_TRY(
      gpumc_device_array(device, &parts->list, 2 * plan->capacity, "replicas that move", error));
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
  parts->movers.device = parts->range.device = population->device;
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
  free(parts->own);
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

void pa_parts_forget(struct pa_population *population)
{
  if (population->parts == NULL)
    return;
  population->parts->reached = false;
  population->parts->published = NULL;
}

enum gpumc_status
pa_parts_find_references(struct pa_population *population, struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  struct gpumc_device *device = population->device;
  if (parts == NULL || parts->reached)
    return GPUMC_OK;
  const size_t first = population->layout.tallied;
  const size_t bytes = population->runs * sizeof *parts->tallied;
  uint8_t *on_device = population->record + first;
  if (parts->published != NULL) { /* waits for nothing that came after it */
    GPUMC_TRY(device->ops->collect(device, parts->published, error));
    memcpy(parts->tallied, (const uint8_t *)parts->published->memory + first, bytes);
  } else {
    GPUMC_TRY(device->ops->copy_to_host(device, parts->tallied, on_device, bytes, error));
  }
  pa_parts_find_reaches(parts, parts->tallied, population->runs);
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

/* `width` numbers a run of each process, words[processes][runs][width]: this process's own are in
 * their place. */
static void gather_words(struct pa_parts *parts, size_t runs, size_t width)
{
  const size_t rank = (size_t)parts->processes->module.rank;
  for (int p = 0; p < parts->processes->module.size; p++)
    parts->n_in[p] = width * runs * sizeof *parts->words;
  gpumc_processes_gather(parts->processes, parts->words + width * rank * runs, parts->words,
                         parts->n_in, -1);
}

/* Of process p and run m, that of this process or of any. */
static uint64_t *
words_at(const struct pa_parts *parts, size_t p, size_t m, size_t runs, size_t width)
{
  return parts->words + (p * runs + m) * width;
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
    uint64_t *words = words_at(parts, rank, m, runs, N_WEIGHED);
    words[OWN] = parts->resampled[m].own;
    words[TOTAL] = parts->resampled[m].total;
  }
  gather_words(parts, runs, N_WEIGHED);
  for (size_t m = 0; m < runs; m++) {
    struct pa_resampled *resampled = &parts->resampled[m];
    resampled->before = resampled->total = 0;
    for (size_t p = 0; p < size; p++) {
      const uint64_t *words = words_at(parts, p, m, runs, N_WEIGHED);
      if (p == rank)
        resampled->below = resampled->total;
      parts->own[p * runs + m] = words[OWN];
      resampled->before += words[OWN];
      resampled->total += words[TOTAL];
    }
  }
  return bring_resampled(population, work, error);
}

/* Number the children of all processes and their places, and find this one's shifts. */
static void find_flow(struct pa_parts *parts, size_t runs)
{
  const struct gpumc_module *module = &parts->processes->module;
  parts->flow =
      (struct pa_flow){module->size, module->rank, runs, parts->need, parts->child, parts->place};
  pa_flow_number(&parts->flow);
  for (size_t m = 0; m < runs; m++)
    parts->resampled[m].shift = pa_flow_shift(&parts->flow, m);
}

/* Places of process p in run m, of `size` in the whole. */
static uint64_t
places_of(const struct pa_parts *parts, const struct pa_work *work, size_t p, uint64_t size)
{
  const uint64_t first = parts->owners.first[p], room = parts->owners.first[p + 1] - first;
  const uint64_t rest = size <= work->whole && size > first ? size - first : 0;
  return rest < room ? rest : room;
}

/* What each process needs, if that follows from the numbers of copies: not if one has fewer places
 * than before. A run that has no room for its copies needs nothing. */
static void find_needs(struct pa_parts *parts, const struct pa_work *work)
{
  const size_t runs = work->runs;
  parts->follows = true;
  for (int p = 0; p < parts->processes->module.size; p++)
    for (size_t m = 0; m < runs; m++) {
      const uint64_t size = parts->resampled[m].size;
      const uint64_t *words = words_at(parts, (size_t)p, m, runs, N_COPIED);
      struct pa_need *need = &parts->need[(size_t)p * runs + m];
      *need = (struct pa_need){0, 0};
      if (size > 0 && size <= work->whole)
        parts->follows = pa_need_follows(parts->own[(size_t)p * runs + m],
                                         places_of(parts, work, (size_t)p, size), words[COPIES],
                                         words[LIVING], need) &&
                         parts->follows;
    }
  if (!parts->follows)
    return;
  find_flow(parts, runs);
}

enum gpumc_status pa_parts_add_copies(struct pa_population *population, const struct pa_work *work,
                                      struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  const size_t runs = work->runs;
  if (parts == NULL)
    return GPUMC_OK;
  const size_t rank = (size_t)parts->processes->module.rank;
  GPUMC_TRY(fetch_resampled(population, work, error));
  for (size_t m = 0; m < runs; m++) {
    uint64_t *words = words_at(parts, rank, m, runs, N_COPIED);
    words[COPIES] = parts->resampled[m].size;
    words[LIVING] = parts->resampled[m].living;
    words[OVERLAP_HIGH] = parts->resampled[m].overlap_high;
    words[OVERLAP_LOW] = parts->resampled[m].overlap_low;
  }
  gather_words(parts, runs, N_COPIED);
  for (size_t m = 0; m < runs; m++) {
    struct pa_resampled *resampled = &parts->resampled[m];
    resampled->size = resampled->overlap_high = resampled->overlap_low = 0;
    for (int p = 0; p < parts->processes->module.size; p++) {
      const uint64_t *words = words_at(parts, (size_t)p, m, runs, N_COPIED);
      resampled->size += words[COPIES];
      resampled->overlap_high += words[OVERLAP_HIGH];
      resampled->overlap_low += words[OVERLAP_LOW];
    }
  }
  find_needs(parts, work);
  return bring_resampled(population, work, error);
}

enum gpumc_status pa_parts_add_needs(struct pa_population *population, const struct pa_work *work,
                                     struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  const size_t runs = work->runs;
  if (parts == NULL || parts->follows)
    return GPUMC_OK;
  const size_t rank = (size_t)parts->processes->module.rank;
  GPUMC_TRY(fetch_resampled(population, work, error));
  for (size_t m = 0; m < runs; m++) {
    uint64_t *words = words_at(parts, rank, m, runs, N_NEEDED);
    words[CHILDREN] = parts->resampled[m].children;
    words[PLACES] = parts->resampled[m].places;
  }
  gather_words(parts, runs, N_NEEDED);
  for (int p = 0; p < parts->processes->module.size; p++)
    for (size_t m = 0; m < runs; m++) {
      const uint64_t *words = words_at(parts, (size_t)p, m, runs, N_NEEDED);
      parts->need[(size_t)p * runs + m] = (struct pa_need){words[CHILDREN], words[PLACES]};
    }
  find_flow(parts, runs);
  return bring_resampled(population, work, error);
}
