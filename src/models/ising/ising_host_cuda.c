/* What the CUDA kernels tell their drivers. */
#include "models/ising/ising_host_cuda.h"

struct ising_batch ising_batch_of(const struct gpumc_ensemble *ensemble)
{
  const struct gpumc_random random = gpumc_ensemble_random(ensemble, 0);
  return (struct ising_batch){
      .size = ensemble->size,
      .runs = (uint32_t)ensemble->runs,
      .capacity = ensemble->plan.capacity,
      .expected = ensemble->expected,
      .key = {random.key[0], random.key[1]},
      .rounds = random.rounds,
      .time = ensemble->time,
      .stream = ensemble->device->stream,
  };
}

struct ising_channels ising_channels_of(const struct gpumc_model *model, int64_t *const *channel)
{
  const struct ising_parameters *parameters = ising_parameters(model);
  const struct ising_disorder_traits traits = ising_disorder_traits(model);
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

enum gpumc_status ising_host_measure(struct gpumc_ensemble *ensemble, int64_t *const *channel,
                                     struct gpumc_error *error)
{
  return ensemble->ops->sweep(ensemble, 0, NULL, channel, error);
}
