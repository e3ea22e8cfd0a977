/* What is the same for the ensembles of every kernel. */
#include "core/simulation/kernel.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/simulation/model.h"

/* Every run begins with those that stay; sweeps set the moved one. */
static enum gpumc_status create_controls(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const size_t n = ensemble->model->ops->n_controls, count = ensemble->plan.runs * n;
  const double *stay = ensemble->plan.fixes ? ensemble->plan.fixed : ensemble->model->control;
  GPUMC_TRY(gpumc_allocate_array(&ensemble->control, count > 0 ? count : 1, "controls", error));
  for (size_t i = 0; i < count; i++)
    ensemble->control[i] = stay[i % n];
  return GPUMC_OK;
}

enum gpumc_status
gpumc_ensemble_create(const struct gpumc_kernel_ops *ops, const struct gpumc_model *model,
                      struct gpumc_device *device, const struct gpumc_ensemble_plan *plan,
                      uint64_t seed, uint32_t rounds, struct gpumc_ensemble *ensemble,
                      struct gpumc_error *error)
{
  assert(plan->runs > 0 && plan->capacity > 0);
  assert(plan->samples == 1 || plan->samples == plan->capacity);
  *ensemble = (struct gpumc_ensemble){
      .ops = ops,
      .model = model,
      .device = device,
      .seed = seed,
      .rounds = rounds,
      .plan = *plan,
  };
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_device_array(device, &ensemble->size, plan->runs,
                                           "sizes of the populations", error));
  GPUMC_TRY_OUT(status, create_controls(ensemble, error));
  GPUMC_TRY_OUT(status, ops->create(ensemble, error));
  return GPUMC_OK;
out:
  gpumc_ensemble_free(ensemble);
  return status;
}

enum gpumc_status gpumc_ensemble_get_sizes(const struct gpumc_ensemble *ensemble, uint32_t *size,
                                           struct gpumc_error *error)
{
  return ensemble->device->ops->copy_to_host(ensemble->device, size, ensemble->size,
                                             ensemble->runs * sizeof *size, error);
}

enum gpumc_status gpumc_ensemble_set_sizes(struct gpumc_ensemble *ensemble, const uint32_t *size,
                                           struct gpumc_error *error)
{
  ensemble->expected = 0;
  for (size_t m = 0; m < ensemble->runs; m++)
    ensemble->expected = size[m] > ensemble->expected ? size[m] : ensemble->expected;
  return ensemble->device->ops->copy_to_device(ensemble->device, ensemble->size, size,
                                               ensemble->runs * sizeof *size, error);
}

static enum gpumc_status
set_equal_sizes(struct gpumc_ensemble *ensemble, size_t size, struct gpumc_error *error)
{
  uint32_t *sizes = NULL;
  GPUMC_TRY(gpumc_allocate_array(&sizes, ensemble->runs, "sizes of the populations", error));
  for (size_t m = 0; m < ensemble->runs; m++)
    sizes[m] = (uint32_t)size;
  const enum gpumc_status status = gpumc_ensemble_set_sizes(ensemble, sizes, error);
  free(sizes);
  return status;
}

enum gpumc_status gpumc_ensemble_randomize(struct gpumc_ensemble *ensemble, uint32_t first_run,
                                           size_t runs, size_t size, struct gpumc_error *error)
{
  assert(runs <= ensemble->plan.runs && size <= ensemble->plan.capacity);
  ensemble->first_run = first_run;
  ensemble->runs = runs;
  ensemble->time = 0;
  GPUMC_TRY(set_equal_sizes(ensemble, size, error));
  return ensemble->ops->randomize(ensemble, error);
}

static void set_moved(struct gpumc_ensemble *ensemble, size_t m, double value)
{
  const size_t n = ensemble->model->ops->n_controls;
  if (n > 0)
    ensemble->control[m * n + ensemble->plan.moved] = value;
}

static enum gpumc_status sweep_boltzmann(struct gpumc_ensemble *ensemble, uint32_t sweeps,
                                         int64_t *const *channel, struct gpumc_error *error)
{
  const struct gpumc_target target = {.kind = GPUMC_BOLTZMANN, .control = ensemble->control};
  return gpumc_ensemble_sweep_target(ensemble, &target, sweeps, channel, error);
}

enum gpumc_status gpumc_ensemble_sweep(struct gpumc_ensemble *ensemble, uint32_t sweeps,
                                       double value, int64_t *const *channel,
                                       struct gpumc_error *error)
{
  for (size_t m = 0; m < ensemble->runs; m++)
    set_moved(ensemble, m, value);
  return sweep_boltzmann(ensemble, sweeps, channel, error);
}

enum gpumc_status gpumc_ensemble_sweep_each(struct gpumc_ensemble *ensemble, uint32_t sweeps,
                                            const double *value, int64_t *const *channel,
                                            struct gpumc_error *error)
{
  for (size_t m = 0; m < ensemble->runs; m++)
    set_moved(ensemble, m, value[m]);
  return sweep_boltzmann(ensemble, sweeps, channel, error);
}

enum gpumc_status gpumc_ensemble_sweep_target(struct gpumc_ensemble *ensemble,
                                              const struct gpumc_target *target, uint32_t sweeps,
                                              int64_t *const *channel, struct gpumc_error *error)
{
  if (sweeps > UINT32_MAX - ensemble->time)
    return gpumc_error_set(error, GPUMC_FAILURE,
                           "%u sweeps after %u exceed the %u that a run may have", sweeps,
                           ensemble->time, UINT32_MAX);
  GPUMC_TRY(ensemble->ops->sweep(ensemble, target, sweeps, channel, error));
  ensemble->time += sweeps;
  return GPUMC_OK;
}

struct gpumc_random gpumc_ensemble_random(const struct gpumc_ensemble *ensemble, size_t m)
{
  return gpumc_random_make(ensemble->seed, ensemble->first_run + (uint32_t)m, ensemble->rounds);
}

void gpumc_ensemble_free(struct gpumc_ensemble *ensemble)
{
  if (ensemble->ops != NULL) {
    ensemble->ops->destroy(ensemble);
    ensemble->device->ops->release(ensemble->device, ensemble->size);
    free(ensemble->control);
  }
  memset(ensemble, 0, sizeof *ensemble);
}
