/* The replica kernel on a GPU: replicas of one byte a spin, a thread to each. */
#include "models/ising2d/ising2d_replica_cuda.h"

#include "models/ising2d/ising2d_cuda.h"
#include "models/ising2d/ising2d_host_cuda.h"
#include "models/ising2d/ising2d_storage_cuda.h"

static struct ising2d_layout layout_of(const struct gpumc_model *model)
{
  return (struct ising2d_layout){.group = ISING2D_REPLICA_GROUP,
                                 .group_bytes = ISING2D_REPLICA_GROUP * model->sites};
}

static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device, size_t runs,
                    size_t capacity)
{
  (void)device;
  const struct ising2d_layout layout = layout_of(model);
  return ising2d_storage_bytes(model, &layout, runs, capacity);
}

static struct ising2d_replica_replicas replicas_of(const struct gpumc_ensemble *ensemble)
{
  const struct gpumc_checkerboard *lattice = &ising2d_parameters(ensemble->model)->lattice;
  return (struct ising2d_replica_replicas){
      .batch = ising2d_batch_of(ensemble),
      .row = (uint32_t)lattice->row,
      .colour = (uint32_t)lattice->colour,
      .groups = ising2d_parts(ensemble->capacity, ISING2D_REPLICA_GROUP),
      .spins = ising2d_storage_of(ensemble)->replicas,
      .block_threads = ensemble->device->block_threads,
  };
}

static enum gpumc_status from_portable(const struct gpumc_ensemble *ensemble,
                                       const struct ising2d_portable *portable,
                                       struct gpumc_error *error)
{
  const struct ising2d_replica_transfer arguments = {replicas_of(ensemble), *portable};
  return ising2d_replica_from_portable(&arguments, error);
}

static enum gpumc_status to_portable(const struct gpumc_ensemble *ensemble,
                                     const struct ising2d_portable *portable,
                                     struct gpumc_error *error)
{
  const struct ising2d_replica_transfer arguments = {replicas_of(ensemble), *portable};
  return ising2d_replica_to_portable(&arguments, error);
}

static enum gpumc_status create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct ising2d_layout layout = layout_of(ensemble->model);
  return ising2d_storage_create(ensemble, &layout, from_portable, to_portable, error);
}

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct ising2d_replica_replicas replicas = replicas_of(ensemble);
  return ising2d_replica_randomize(&replicas, error);
}

static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, uint32_t sweeps, double beta,
                               int64_t *const *channel, struct gpumc_error *error)
{
  const struct ising2d_replica_sweep arguments = {
      .replicas = replicas_of(ensemble),
      .rule = ising2d_rule_of(ensemble, beta),
      .channels = ising2d_channels_of(ensemble->model, channel),
      .sweeps = sweeps,
  };
  return ising2d_replica_run(&arguments, error);
}

static enum gpumc_status
gather(struct gpumc_ensemble *ensemble, const uint32_t *parent, struct gpumc_error *error)
{
  const struct ising2d_replica_gather arguments = {replicas_of(ensemble), parent};
  return ising2d_replica_copy_parents(&arguments, error);
}

const struct gpumc_kernel_ops ising2d_replica_cuda = {
    ISING2D_REPLICA_CUDA_NAMES,
    .bytes = bytes,
    .create = create,
    .destroy = ising2d_storage_destroy,
    .randomize = randomize,
    .set = ising2d_storage_set,
    .get = ising2d_storage_get,
    .sweep = sweep,
    .measure = ising2d_host_measure,
    .gather = gather,
};
