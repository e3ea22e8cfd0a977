/* A population that processes divide: what they tell each other between the steps of a device. */
#include "algorithms/pa/pa_parts.h"

/* `bytes` of each run: the row of each process to all. */
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

enum gpumc_status pa_parts_share_needs(struct pa_population *population, const struct pa_work *work,
                                       struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  struct gpumc_device *device = population->device;
  GPUMC_TRY(share_rows(population, work, work->need, sizeof *work->need, error));
  return parts != NULL
             ? device->ops->publish(device, &parts->need, work->need,
                                    work->processes * work->runs * sizeof *work->need, error)
             : GPUMC_OK;
}

/* The strangers of the tally before go to the host meanwhile: their number has come, too. */
enum gpumc_status pa_parts_find_flow(struct pa_population *population, struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  const struct gpumc_module *module = &parts->processes->module;
  GPUMC_TRY(population->device->ops->collect(population->device, &parts->need, error));
  parts->flow = (struct pa_flow){module->size,       module->rank, population->runs,
                                 parts->need.memory, parts->child, parts->place};
  pa_flow_number(&parts->flow);
  return parts->latest < GPUMC_SLOTS ? pa_parts_fetch_strangers(population, parts->latest, error)
                                     : GPUMC_OK;
}
