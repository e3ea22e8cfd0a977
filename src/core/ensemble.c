/* What is the same for the ensembles of every kernel. */
#include "core/kernel.h"

#include <assert.h>
#include <string.h>

enum gpumc_status
gpumc_ensemble_create(const struct gpumc_kernel_ops *ops, const struct gpumc_model *model,
                      struct gpumc_device *device, size_t capacity, uint64_t seed, uint32_t rounds,
                      struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  assert(capacity > 0);
  *ensemble = (struct gpumc_ensemble){
      .ops = ops,
      .model = model,
      .device = device,
      .seed = seed,
      .rounds = rounds,
      .capacity = capacity,
  };
  enum gpumc_status status = ops->create(ensemble, error);
  if (status != GPUMC_OK)
    memset(ensemble, 0, sizeof *ensemble);
  return status;
}

enum gpumc_status gpumc_ensemble_randomize(struct gpumc_ensemble *ensemble, uint32_t run,
                                           size_t size, struct gpumc_error *error)
{
  assert(size <= ensemble->capacity);
  ensemble->run = run;
  ensemble->time = 0;
  ensemble->size = size;
  return ensemble->ops->randomize(ensemble, error);
}

enum gpumc_status gpumc_ensemble_sweep(struct gpumc_ensemble *ensemble, uint32_t sweeps,
                                       double beta, struct gpumc_error *error)
{
  if (sweeps > UINT32_MAX - ensemble->time)
    return gpumc_error_set(error, GPUMC_FAILURE,
                           "%u sweeps after %u exceed the %u that a run may have", sweeps,
                           ensemble->time, UINT32_MAX);
  enum gpumc_status status = ensemble->ops->sweep(ensemble, sweeps, beta, error);
  if (status == GPUMC_OK)
    ensemble->time += sweeps;
  return status;
}

struct gpumc_random gpumc_ensemble_random(const struct gpumc_ensemble *ensemble)
{
  return gpumc_random_make(ensemble->seed, ensemble->run, ensemble->rounds);
}

void gpumc_ensemble_free(struct gpumc_ensemble *ensemble)
{
  if (ensemble->ops != NULL)
    ensemble->ops->destroy(ensemble);
  memset(ensemble, 0, sizeof *ensemble);
}

const char *gpumc_capability_name(enum gpumc_capability capability)
{
  switch (capability) {
  case GPUMC_CAN_RANDOMIZE:
    return "randomize";
  case GPUMC_CAN_TRANSFER:
    return "transfer";
  case GPUMC_CAN_SWEEP:
    return "sweep";
  case GPUMC_CAN_SWEEP_EACH:
    return "sweep_each";
  case GPUMC_CAN_WALK:
    return "walk";
  case GPUMC_CAN_MEASURE:
    return "measure";
  case GPUMC_CAN_GATHER:
    return "gather";
  }
  return "unknown";
}
