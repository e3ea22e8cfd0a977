/* A population that processes divide: messages between the steps of a device. */
#include "algorithms/pa/pa_parts.h"

/* Sends `bytes` bytes of each run, the row of each process, to all. */
static enum gpumc_status share_rows(struct pa_population *population, const struct pa_work *work,
                                    void *rows, size_t bytes, struct gpumc_error *error)
{
  const struct pa_parts *parts = population->parts;
  return parts != NULL ? gpumc_transfer_gather(parts->transfer, rows, work->runs * bytes, error)
                       : GPUMC_OK;
}

enum gpumc_status pa_parts_share_reaches(struct pa_population *population,
                                         const struct pa_work *work, struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  const size_t words = sizeof *work->reached / sizeof(uint64_t);
  if (parts == NULL)
    return GPUMC_OK;
  parts->latest = GPUMC_SLOTS;
  return gpumc_transfer_largest(parts->transfer, (uint64_t *)(void *)work->reached,
                                work->runs * words, error);
}

enum gpumc_status pa_parts_share_weights(struct pa_population *population,
                                         const struct pa_work *work, struct gpumc_error *error)
{
  return share_rows(population, work, work->weighed, sizeof *work->weighed, error);
}

enum gpumc_status pa_parts_share_copies(struct pa_population *population,
                                        const struct pa_work *work, struct gpumc_error *error)
{
  return share_rows(population, work, work->copied, sizeof *work->copied, error);
}

/* ---- which children go where ---- */

/* Replicas and copies are adjacent in a record, and are published together. */
size_t pa_copies_bytes(const struct pa_layout *layout)
{
  return layout->resampled.need - layout->resampled.weighed;
}

enum gpumc_status
pa_parts_publish_copies(struct pa_population *population, struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  const struct pa_layout *layout = &population->layout;
  return parts != NULL
             ? population->device->ops->publish(population->device, &parts->copies,
                                                population->record + layout->resampled.weighed,
                                                pa_copies_bytes(layout), error)
             : GPUMC_OK;
}

/* Returns the arguments of a device, except that arrays of the resampling are those that were
 * published. */
static struct pa_work published_work(const struct pa_population *population)
{
  const struct pa_resampled_layout *layout = &population->layout.resampled;
  uint8_t *rows = population->parts->copies.memory;
  struct pa_work work = pa_population_work(population, population->runs);
  work.weighed = (void *)rows;
  work.copied = (void *)(rows + (layout->copied - layout->weighed));
  return work;
}

/* Finds the needs of the processes in run m. False: not all of it follows from the copies. */
static bool find_needs_of_run(const struct pa_parts *parts, const struct pa_work *work, size_t m)
{
  const uint64_t size = pa_copied_of(work, m).size, before = pa_weights_of(work, m).before;
  const size_t *first = parts->owners.first;
  bool all = true;
  for (size_t p = 0; p < work->processes; p++) {
    const size_t row = p * work->runs + m;
    const uint64_t past = size < first[p + 1] ? size : first[p + 1];
    const struct pa_kept kept = {.own = work->weighed[row].own,
                                 .places = past > first[p] ? past - first[p] : 0,
                                 .copies = work->copied[row].size,
                                 .living = work->copied[row].living,
                                 .last = before <= first[p + 1]};
    parts->need[row] = (struct pa_need){0, 0};
    if (size <= work->whole)
      all = pa_flow_need(&kept, &parts->need[row]) && all;
  }
  return all;
}

static bool find_needs(const struct pa_parts *parts, const struct pa_work *work)
{
  bool all = true;
  for (size_t m = 0; m < work->runs; m++)
    all = find_needs_of_run(parts, work, m) && all;
  return all;
}

/* Gathers all needs, as each process has counted its own. */
static enum gpumc_status gather_needs(const struct pa_population *population,
                                      const struct pa_work *work, struct gpumc_error *error)
{
  const struct pa_parts *parts = population->parts;
  const size_t bytes = work->runs * sizeof *parts->need;
  struct pa_need *own = parts->need + work->rank * work->runs;
  GPUMC_TRY(
      population->device->ops->copy_to_host(population->device, own, work->need, bytes, error));
  for (size_t p = 0; p < work->processes; p++)
    parts->n_in[p] = bytes;
  gpumc_processes_gather(parts->processes, own, parts->need, parts->n_in, GPUMC_TO_ALL);
  return GPUMC_OK;
}

/* The strangers of the previous tally are copied to the host meanwhile: their number has arrived,
 * too. */
enum gpumc_status pa_parts_find_flow(struct pa_population *population, struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  const struct gpumc_module *module = &parts->processes->module;
  GPUMC_TRY(population->device->ops->collect(population->device, &parts->copies, error));
  const struct pa_work work = published_work(population);
  if (!find_needs(parts, &work))
    GPUMC_TRY(gather_needs(population, &work, error));
  parts->flow = (struct pa_flow){module->size, module->rank, population->runs,
                                 parts->need,  parts->child, parts->place};
  pa_flow_number(&parts->flow);
  return parts->latest < GPUMC_SLOTS ? pa_parts_fetch_strangers(population, parts->latest, error)
                                     : GPUMC_OK;
}
