/* A population that processes divide: its memory. */
#include "algorithms/pa/pa_parts.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

static size_t member_bytes(const struct pa_population_plan *plan)
{
  return plan->runs * plan->capacity * sizeof(uint32_t);
}

static size_t stranger_bytes(const struct pa_population_plan *plan)
{
  return plan->runs * plan->capacity * sizeof(struct pa_stranger);
}

/* A checkpoint, and requested populations, bring the families of one run to the root: in transit,
 * and in order. */
static size_t families_bytes(const struct pa_population_plan *plan)
{
  return 2 * plan->capacity * sizeof(uint32_t);
}

struct pa_parts_bytes pa_parts_bytes(const struct gpumc_device *device,
                                     const struct pa_population_plan *plan, size_t portable)
{
  const size_t replicas = plan->runs * plan->capacity;
  const size_t messages = pa_messages_bytes(replicas, portable);
  return (struct pa_parts_bytes){
      .device = plan->capacity * sizeof(uint32_t) + stranger_bytes(plan) +
                gpumc_slots_device_bytes(device, member_bytes(plan)) +
                gpumc_slots_device_bytes(device, stranger_bytes(plan)),
      .host = gpumc_slots_host_bytes(device, member_bytes(plan)) +
              gpumc_slots_host_bytes(device, stranger_bytes(plan)) +
              replicas * pa_owners_bytes_of_replica(),
      .each_device = 2 * pa_buffer_bytes(messages),
      .each_host = gpumc_transfer_host_bytes(device, messages, messages) + families_bytes(plan) +
                   pa_owners_scratch_bytes(plan->runs, plan->founders, device->threads)};
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
  const size_t size = plan->processes, runs = plan->runs;
  struct gpumc_device *device = population->device;
  GPUMC_TRY(gpumc_allocate_array(&parts->words, runs * pa_parts_words(&population->layout),
                                 "sums of all processes", error));
  GPUMC_TRY(gpumc_allocate_array(&parts->child, (size + 1) * runs, "free places", error));
  GPUMC_TRY(gpumc_allocate_array(&parts->place, (size + 1) * runs, "free places", error));
  GPUMC_TRY(gpumc_allocate_array(&parts->n_out, size, "counts of bytes", error));
  GPUMC_TRY(gpumc_allocate_array(&parts->n_in, size, "counts of bytes", error));
  GPUMC_TRY(gpumc_device_array(device, &parts->list, plan->capacity, "replicas that move", error));
  GPUMC_TRY(gpumc_device_array(device, &parts->stranger, runs * plan->capacity, "families", error));
  GPUMC_TRY(gpumc_allocate_array(&parts->need, size * runs, "free places", error));
  GPUMC_TRY(device->ops->slot_create(device, pa_copies_bytes(&population->layout), "copies",
                                     &parts->copies, error));
  GPUMC_TRY(gpumc_slots_create(device, member_bytes(plan), "families", parts->members, error));
  return gpumc_slots_create(device, stranger_bytes(plan), "families", parts->strangers, error);
}

/* Ensures that a family's members, at most all of a run, leave one bit of their word for its
 * mark. */
static enum gpumc_status
check_room(const struct pa_population_plan *plan, struct gpumc_error *error)
{
  const size_t most = ((size_t)1 << PA_MEMBERS_MARK) - 1;
  return pa_plan_whole(plan) <= most
             ? GPUMC_OK
             : gpumc_error_set(error, GPUMC_INVALID,
                               "a population with room for %zu replicas exceeds the %zu that can "
                               "be divided among processes: use a smaller algorithm.population",
                               pa_plan_whole(plan), most);
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
  parts->out.device = parts->in.device = population->device;
  parts->latest = GPUMC_SLOTS;
  GPUMC_TRY(check_room(&population->plan, error));
  GPUMC_TRY(allocate(parts, population, error));
  GPUMC_TRY(gpumc_transfer_of(population->device, parts->processes, &parts->transfer, error));
  return create_owners(parts, population, error);
}

void pa_parts_free(struct pa_population *population)
{
  struct pa_parts *parts = population->parts;
  if (parts == NULL)
    return;
  struct gpumc_device *device = population->device;
  device->ops->release(device, parts->list);
  device->ops->release(device, parts->stranger);
  device->ops->slot_free(device, &parts->copies);
  gpumc_slots_free(device, parts->members);
  gpumc_slots_free(device, parts->strangers);
  pa_owners_free(&parts->owners);
  free(parts->words);
  free(parts->need);
  free(parts->child);
  free(parts->place);
  free(parts->n_out);
  free(parts->n_in);
  pa_buffer_free(&parts->out);
  pa_buffer_free(&parts->in);
  free(parts);
  population->parts = NULL;
}
