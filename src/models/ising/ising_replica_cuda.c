/* The replica kernel on a GPU: replicas of one byte a spin, a thread to each. */
#include "models/ising/ising_replica_cuda.h"

#include "models/ising/ising_cuda.h"
#include "models/ising/ising_host_cuda.h"
#include "models/ising/ising_storage_cuda.h"

static struct ising_layout layout_of(const struct gpumc_model *model)
{
  return (struct ising_layout){.group = ISING_REPLICA_GROUP,
                               .group_bytes = ISING_REPLICA_GROUP * model->sites};
}

static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                    const struct gpumc_ensemble_plan *plan)
{
  (void)device;
  const struct ising_layout layout = layout_of(model);
  return ising_storage_bytes(model, &layout, plan);
}

static struct ising_replica_replicas replicas_of(const struct gpumc_ensemble *ensemble)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(ensemble->model)->lattice;
  return (struct ising_replica_replicas){
      .batch = ising_batch_of(ensemble),
      .row = (uint32_t)lattice->row,
      .colour = (uint32_t)lattice->colour,
      .groups = ising_parts(ensemble->plan.capacity, ISING_REPLICA_GROUP),
      .spins = ising_storage_of(ensemble)->replicas,
      .block_threads = ensemble->device->block_threads,
  };
}

static enum gpumc_status from_portable(const struct gpumc_ensemble *ensemble,
                                       const struct ising_portable *portable,
                                       struct gpumc_error *error)
{
  const struct ising_replica_transfer arguments = {replicas_of(ensemble), *portable};
  return ising_replica_from_portable(&arguments, error);
}

static enum gpumc_status to_portable(const struct gpumc_ensemble *ensemble,
                                     const struct ising_portable *portable,
                                     struct gpumc_error *error)
{
  const struct ising_replica_transfer arguments = {replicas_of(ensemble), *portable};
  return ising_replica_to_portable(&arguments, error);
}

static enum gpumc_status create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct ising_layout layout = layout_of(ensemble->model);
  return ising_storage_create(ensemble, &layout, from_portable, to_portable, error);
}

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct ising_replica_replicas replicas = replicas_of(ensemble);
  return ising_replica_randomize(&replicas, error);
}

static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, uint32_t sweeps, const double *beta,
                               int64_t *const *channel, struct gpumc_error *error)
{
  const struct ising_replica_sweep arguments = {
      .replicas = replicas_of(ensemble),
      .rule = ising_rule_of(ensemble, sweeps > 0 ? beta[0] : 0.0),
      .channels = ising_channels_of(ensemble->model, channel),
      .sweeps = sweeps,
  };
  return ising_replica_run(&arguments, error);
}

static enum gpumc_status
gather(struct gpumc_ensemble *ensemble, const uint32_t *parent, struct gpumc_error *error)
{
  const struct ising_replica_gather arguments = {replicas_of(ensemble), parent};
  return ising_replica_copy_parents(&arguments, error);
}

const struct gpumc_kernel_ops ising_replica_cuda = {
    ISING_REPLICA_CUDA_NAMES,
    .bytes = bytes,
    .create = create,
    .destroy = ising_storage_destroy,
    .randomize = randomize,
    .set = ising_storage_set,
    .get = ising_storage_get,
    .sweep = sweep,
    .measure = ising_host_measure,
    .gather = gather,
};
