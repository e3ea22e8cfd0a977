/* Arguments of the CUDA kernels' drivers, and data copied to the device. */
#include "models/ising/ising_host_gpu.h"

#include <string.h>

#include "models/ising/ising_channels.h"

struct ising_channels ising_channels_of(const struct gpumc_model *model, int64_t *const *channel)
{
  const struct ising_parameters *parameters = ising_parameters(model);
  const struct lattice_disorder_traits traits = ising_disorder_traits(model);
  struct ising_channels channels = {
      .coupling = parameters->coupling_quanta,
      .field = traits.fields_are_signs ? traits.field_width : parameters->field_quanta,
  };
  if (channel != NULL) {
    channels.energy = channel[ISING_ENERGY];
    channels.magnetization = channel[ISING_MAGNETIZATION];
  }
  return channels;
}

bool ising_one_temperature(const struct gpumc_ensemble *ensemble, const double *control)
{
  for (size_t m = 1; m < ensemble->runs; m++)
    if (!ising_same_controls(control, m, 0))
      return false;
  return true;
}

size_t ising_known_bytes(const struct gpumc_ensemble_plan *plan)
{
  return (plan->runs * ISING_CONTROLS + 1) * sizeof(double);
}

void ising_known_forget(const struct gpumc_ensemble_plan *plan, double *known)
{
  memset(known, UINT8_MAX, ising_known_bytes(plan)); /* NaN */
}

void ising_known_refresh(const struct gpumc_ensemble_plan *plan, double *known)
{
  double *move = known + plan->runs * ISING_CONTROLS;
  if (*move == plan->move)
    return;
  ising_known_forget(plan, known);
  *move = plan->move;
}

enum gpumc_status ising_bring_waves(const struct gpumc_ensemble *ensemble, int32_t *cosine,
                                    int32_t *sine, int64_t sum[2], struct gpumc_error *error)
{
  const struct lattice_wave wave = ising_wave_of(ensemble->model);
  return lattice_wave_bring(&wave, ensemble->device, cosine, sine, sum, error);
}

enum gpumc_status ising_host_measure(struct gpumc_ensemble *ensemble, int64_t *const *channel,
                                     struct gpumc_error *error)
{
  return ensemble->ops->sweep(ensemble, NULL, 0, channel, error);
}
