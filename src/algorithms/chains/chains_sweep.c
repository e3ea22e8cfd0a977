/* Chains: sweeping, and how often it is interrupted. */
#include <math.h>

#include "algorithms/chains/chains_internal.h"

uint32_t chains_unit(const struct chains_settings *settings, const struct gpumc_ensemble *ensemble,
                     size_t runs)
{
  static const double updates = 0x1p28, nanoseconds = 0x1p28;
  const struct gpumc_kernel_ops *ops = ensemble->ops;
  const bool on_cpu = ensemble->device->ops->kind == GPUMC_KIND_CPU;
  const struct gpumc_ensemble_plan *plan = &ensemble->plan;
  const double sweep = (double)runs * (double)settings->replicas * (double)ensemble->model->sites;
  double unit = floor(updates / sweep);
  if (on_cpu && ops->cost != NULL)
    unit =
        fmin(unit, floor(nanoseconds / ((double)runs * gpumc_kernel_cost(ops, ensemble->model, plan,
                                                                         settings->replicas))));
  unit = fmax(unit, 1);
  return unit < chains_end(settings) ? (uint32_t)unit : chains_end(settings);
}

void chains_pace(struct chains *chains)
{
  chains->unit = chains_unit(&chains->settings, chains->context.ensemble, chains->runs);
  chains_watch_pace(chains);
}

enum gpumc_status chains_sweep(const struct chains *chains, uint32_t sweeps,
                               int64_t *const *channel, struct gpumc_error *error)
{
  static const struct gpumc_target athermal = {.kind = GPUMC_ATHERMAL};
  struct gpumc_ensemble *ensemble = chains->context.ensemble;
  if (chains->value == NULL)
    return gpumc_ensemble_sweep_target(ensemble, &athermal, sweeps, channel, error);
  return gpumc_ensemble_sweep_each(ensemble, sweeps, chains->value, channel, error);
}
