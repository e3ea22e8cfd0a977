/* Host code that the CUDA kernels of trajectory "ising2d.spin.1" share. */
#include "models/ising2d/ising2d_host_cuda.h"

#include "models/ising2d/ising2d_spin.h"

enum { STAGING_BYTES = 16 << 20 };

struct ising2d_batch ising2d_batch_of(const struct gpumc_ensemble *ensemble)
{
  return (struct ising2d_batch){
      .size = ensemble->size,
      .runs = (uint32_t)ensemble->runs,
      .capacity = ensemble->capacity,
      .seed = ensemble->seed,
      .first_run = ensemble->first_run,
      .rounds = ensemble->rounds,
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

size_t ising2d_staging_replicas(const struct gpumc_model *model, size_t capacity)
{
  const size_t replicas = STAGING_BYTES / model->portable_bytes;
  return replicas < 1 ? 1 : replicas < capacity ? replicas : capacity;
}

enum gpumc_status ising2d_staging_create(const struct gpumc_ensemble *ensemble,
                                         struct ising2d_staging *staging, struct gpumc_error *error)
{
  const struct gpumc_model *model = ensemble->model;
  staging->replicas = ising2d_staging_replicas(model, ensemble->capacity);
  return gpumc_device_array(ensemble->device, &staging->buffer,
                            staging->replicas * model->portable_bytes, "portable replicas", error);
}

enum gpumc_status
ising2d_staging_set(struct gpumc_ensemble *ensemble, const struct ising2d_staging *staging,
                    ising2d_convert *convert, size_t m, size_t first, size_t count,
                    const uint8_t *portable, struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  const size_t bytes = ensemble->model->portable_bytes;
  for (size_t done = 0, n; done < count; done += n) {
    n = count - done < staging->replicas ? count - done : staging->replicas;
    enum gpumc_status status = device->ops->copy_to_device(
        device, staging->buffer, portable + done * bytes, n * bytes, error);
    if (status == GPUMC_OK)
      status = convert(ensemble, m, first + done, n, error);
    if (status != GPUMC_OK)
      return status;
  }
  return device->ops->synchronize(device, error);
}

enum gpumc_status ising2d_staging_get(struct gpumc_ensemble *ensemble,
                                      const struct ising2d_staging *staging,
                                      ising2d_convert *convert, size_t m, size_t first,
                                      size_t count, uint8_t *portable, struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  const size_t bytes = ensemble->model->portable_bytes;
  for (size_t done = 0, n; done < count; done += n) {
    n = count - done < staging->replicas ? count - done : staging->replicas;
    enum gpumc_status status = convert(ensemble, m, first + done, n, error);
    if (status == GPUMC_OK)
      status = device->ops->copy_to_host(device, portable + done * bytes, staging->buffer,
                                         n * bytes, error);
    if (status != GPUMC_OK)
      return status;
  }
  return GPUMC_OK;
}
