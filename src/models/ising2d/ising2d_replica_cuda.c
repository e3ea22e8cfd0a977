/* The replica kernel on a GPU: replicas of one byte a spin, a thread to each. */
#include "models/ising2d/ising2d_replica_cuda.h"

#include <stdlib.h>

#include "core/memory.h"
#include "models/ising2d/ising2d_cuda.h"
#include "models/ising2d/ising2d_host_cuda.h"

/* gpumc_ensemble.storage */
struct storage {
  uint8_t *spins;
  struct ising2d_staging staging;
};

static size_t groups_for(size_t capacity)
{
  return (capacity + ISING2D_GROUP - 1) / ISING2D_GROUP;
}

static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device, size_t runs,
                    size_t capacity)
{
  (void)device;
  return runs * groups_for(capacity) * ISING2D_GROUP * model->sites +
         ising2d_staging_replicas(model, capacity) * model->portable_bytes;
}

static void destroy(struct gpumc_ensemble *ensemble)
{
  struct gpumc_device *device = ensemble->device;
  struct storage *storage = ensemble->storage;
  if (storage == NULL)
    return;
  device->ops->release(device, storage->spins);
  device->ops->release(device, storage->staging.buffer);
  free(storage);
  ensemble->storage = NULL;
}

static enum gpumc_status create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  struct storage *storage;
  enum gpumc_status status = gpumc_allocate_array(&storage, 1, "the kernel's storage", error);
  if (status != GPUMC_OK)
    return status;
  ensemble->storage = storage;
  status = gpumc_device_array(device, &storage->spins,
                              ensemble->runs_capacity * groups_for(ensemble->capacity) *
                                  ISING2D_GROUP * ensemble->model->sites,
                              "replicas", error);
  if (status == GPUMC_OK)
    status = ising2d_staging_create(ensemble, &storage->staging, error);
  if (status != GPUMC_OK)
    destroy(ensemble);
  return status;
}

static struct ising2d_replica_replicas replicas_of(const struct gpumc_ensemble *ensemble)
{
  const struct storage *storage = ensemble->storage;
  const struct gpumc_checkerboard *lattice = &ising2d_parameters(ensemble->model)->lattice;
  return (struct ising2d_replica_replicas){
      .batch = ising2d_batch_of(ensemble),
      .row = (uint32_t)lattice->row,
      .colour = (uint32_t)lattice->colour,
      .groups = groups_for(ensemble->capacity),
      .spins = storage->spins,
      .block_threads = ensemble->device->block_threads,
  };
}

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct ising2d_replica_replicas replicas = replicas_of(ensemble);
  return ising2d_replica_randomize(&replicas, error);
}

static struct ising2d_replica_transfer
transfer_of(const struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count)
{
  const struct storage *storage = ensemble->storage;
  return (struct ising2d_replica_transfer){
      .replicas = replicas_of(ensemble),
      .run = (uint32_t)m,
      .first = first,
      .count = count,
      .portable_bytes = ensemble->model->portable_bytes,
      .portable = storage->staging.buffer,
  };
}

static enum gpumc_status from_portable(struct gpumc_ensemble *ensemble, size_t m, size_t first,
                                       size_t count, struct gpumc_error *error)
{
  const struct ising2d_replica_transfer transfer = transfer_of(ensemble, m, first, count);
  return ising2d_replica_from_portable(&transfer, error);
}

static enum gpumc_status to_portable(struct gpumc_ensemble *ensemble, size_t m, size_t first,
                                     size_t count, struct gpumc_error *error)
{
  const struct ising2d_replica_transfer transfer = transfer_of(ensemble, m, first, count);
  return ising2d_replica_to_portable(&transfer, error);
}

static enum gpumc_status set(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                             const uint8_t *portable, struct gpumc_error *error)
{
  const struct storage *storage = ensemble->storage;
  return ising2d_staging_set(ensemble, &storage->staging, from_portable, m, first, count, portable,
                             error);
}

static enum gpumc_status get(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                             uint8_t *portable, struct gpumc_error *error)
{
  const struct storage *storage = ensemble->storage;
  return ising2d_staging_get(ensemble, &storage->staging, to_portable, m, first, count, portable,
                             error);
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
measure(struct gpumc_ensemble *ensemble, int64_t *const *channel, struct gpumc_error *error)
{
  return sweep(ensemble, 0, 0.0, channel, error);
}

static enum gpumc_status
gather(struct gpumc_ensemble *ensemble, const uint32_t *parent, struct gpumc_error *error)
{
  const struct ising2d_replica_gather arguments = {.replicas = replicas_of(ensemble),
                                                   .parent = parent};
  return ising2d_replica_copy_parents(&arguments, error);
}

const struct gpumc_kernel_ops ising2d_replica_cuda = {
    ISING2D_REPLICA_CUDA_NAMES, .bytes = bytes,   .create = create, .destroy = destroy,
    .randomize = randomize,     .set = set,       .get = get,       .sweep = sweep,
    .measure = measure,         .gather = gather,
};
