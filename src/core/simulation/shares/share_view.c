#include "core/simulation/shares/share_view.h"

#include <stdlib.h>

#include "core/base/memory.h"

struct gpumc_ensemble
gpumc_share_view(const struct gpumc_ensemble *ensemble, const struct gpumc_share *share)
{
  const struct gpumc_share_state *state = ensemble->share;
  struct gpumc_ensemble view = *ensemble;
  view.ops = state->kernel;
  view.share = NULL;
  if (ensemble->plan.division == GPUMC_BY_REPLICAS)
    return view;
  view.plan = gpumc_share_plan(&ensemble->plan, ensemble->plan.processes->module.rank);
  view.plan.processes = NULL;
  view.runs = share->runs;
  view.first_run += (uint32_t)share->first_run;
  view.control += share->first_run * ensemble->model->ops->n_controls;
  view.expected = gpumc_share_part(share, (uint32_t)ensemble->expected);
  view.size =
      gpumc_share_is_part(ensemble, share) ? state->size : ensemble->size + share->first_run;
  if (view.step != NULL)
    view.step += share->first_run;
  view.accepted = state->accepted;
  view.proposed = state->proposed;
  return view;
}

struct gpumc_ensemble gpumc_share_own_view(const struct gpumc_ensemble *ensemble)
{
  if (ensemble->share == NULL)
    return *ensemble;
  const struct gpumc_share own = gpumc_share_own(ensemble);
  return gpumc_share_view(ensemble, &own);
}

static enum gpumc_status
reserve(struct gpumc_share_state *state, size_t bytes, struct gpumc_error *error)
{
  if (bytes <= state->bytes)
    return GPUMC_OK;
  free(state->memory);
  state->bytes = 0;
  GPUMC_TRY(gpumc_allocate_array(&state->memory, bytes, "messages between processes", error));
  state->bytes = bytes;
  return GPUMC_OK;
}

enum gpumc_status
gpumc_share_join(const struct gpumc_ensemble *ensemble, void *array, struct gpumc_error *error)
{
  struct gpumc_share_state *state = ensemble->share;
  struct gpumc_device *device = ensemble->device;
  const struct gpumc_processes *processes = ensemble->plan.processes;
  uint8_t *memory = array;
  size_t first = 0, all = 0;
  for (int p = 0; p < processes->module.size; p++) {
    first += p < processes->module.rank ? state->counts[p] : 0;
    all += state->counts[p];
  }
  if (device->ops->kind == GPUMC_KIND_CPU) {
    gpumc_processes_gather(processes, memory + first, memory, state->counts, GPUMC_TO_ALL);
    return GPUMC_OK;
  }
  GPUMC_TRY(reserve(state, all, error));
  GPUMC_TRY(device->ops->copy_to_host(device, state->memory + first, memory + first,
                                      state->counts[processes->module.rank], error));
  gpumc_processes_gather(processes, state->memory + first, state->memory, state->counts,
                         GPUMC_TO_ALL);
  return device->ops->copy_to_device(device, array, state->memory, all, error);
}
