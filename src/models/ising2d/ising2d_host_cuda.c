/* What the CUDA kernels tell their drivers. */
#include "models/ising2d/ising2d_host_cuda.h"

#include "models/ising2d/ising2d_spin.h"

struct ising2d_batch ising2d_batch_of(const struct gpumc_ensemble *ensemble)
{
  const struct gpumc_random random = gpumc_ensemble_random(ensemble, 0);
  return (struct ising2d_batch){
      .size = ensemble->size,
      .runs = (uint32_t)ensemble->runs,
      .capacity = ensemble->capacity,
      .expected = ensemble->expected,
      .key = {random.key[0], random.key[1]},
      .rounds = random.rounds,
      .time = ensemble->time,
      .stream = ensemble->device->stream,
  };
}

struct ising2d_rule ising2d_rule_of(const struct gpumc_ensemble *ensemble, double beta)
{
  const struct ising2d_parameters *parameters = ising2d_parameters(ensemble->model);
  const struct ising2d_spin_rule of_cpu =
      ising2d_spin_rule(&parameters->lattice, gpumc_ensemble_random(ensemble, 0), beta,
                        parameters->coupling, parameters->field);
  struct ising2d_rule rule = {.plain = parameters->field == 0.0};
  for (uint32_t up = 0; up < ISING2D_CLASSES; up++) {
    rule.threshold[up] = of_cpu.threshold[up];
    rule.flip[up] = of_cpu.compared[up] == 0 ? UINT32_MAX : 0;
    rule.needed[up] = of_cpu.compared[up] == ISING2D_EITHER_SPIN ? 0 : UINT32_MAX;
  }
  return rule;
}

struct ising2d_channels
ising2d_channels_of(const struct gpumc_model *model, int64_t *const *channel)
{
  const struct ising2d_parameters *parameters = ising2d_parameters(model);
  struct ising2d_channels channels = {.coupling = parameters->coupling_quanta,
                                      .field = parameters->field_quanta};
  if (channel != NULL) {
    channels.energy = channel[ISING2D_ENERGY];
    channels.magnetization = channel[ISING2D_MAGNETIZATION];
  }
  return channels;
}

enum gpumc_status ising2d_host_measure(struct gpumc_ensemble *ensemble, int64_t *const *channel,
                                       struct gpumc_error *error)
{
  return ensemble->ops->sweep(ensemble, 0, 0.0, channel, error);
}
