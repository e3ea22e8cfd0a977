/* The spin kernel on a GPU: replicas of one bit a spin, swept in shared memory where they fit. */
#include "models/ising2d/ising2d_spin_cuda.h"

#include <stdlib.h>

#include "core/memory.h"
#include "models/ising2d/ising2d_cuda.h"
#include "models/ising2d/ising2d_host_cuda.h"

/* gpumc_ensemble.storage */
struct storage {
  struct ising2d_spin_lattice lattice;
  uint32_t *words;
  struct ising2d_row_masks *masks;
  struct ising2d_staging staging;
};

static struct ising2d_spin_lattice lattice_of(const struct gpumc_model *model)
{
  const struct gpumc_checkerboard *lattice = &ising2d_parameters(model)->lattice;
  return (struct ising2d_spin_lattice){
      .row = (uint32_t)lattice->row,
      .colour = (uint32_t)lattice->colour,
      .blocks = (uint32_t)((lattice->colour + ISING2D_SPIN_BLOCK - 1) / ISING2D_SPIN_BLOCK)};
}

static size_t words_of(const struct ising2d_spin_lattice *lattice)
{
  return (size_t)ISING2D_WORDS * lattice->blocks;
}

static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device, size_t runs,
                    size_t capacity)
{
  (void)device;
  const struct ising2d_spin_lattice lattice = lattice_of(model);
  return runs * capacity * 2 * words_of(&lattice) * sizeof(uint32_t) +
         words_of(&lattice) * sizeof(struct ising2d_row_masks) +
         ising2d_staging_replicas(model, capacity) * model->portable_bytes;
}

static enum gpumc_status
fill_masks(struct gpumc_device *device, struct storage *storage, struct gpumc_error *error)
{
  const struct ising2d_spin_lattice *lattice = &storage->lattice;
  const size_t n = words_of(lattice);
  struct ising2d_row_masks *masks;
  enum gpumc_status status = gpumc_allocate_array(&masks, n, "masks of rows", error);
  if (status != GPUMC_OK)
    return status;
  for (uint32_t k = 0, x = 0, y = 0; k < lattice->colour; k++) {
    struct ising2d_row_masks *word = &masks[k / ISING2D_WORD_BITS];
    const uint32_t bit = 1u << k % ISING2D_WORD_BITS;
    word->first |= x == 0 ? bit : 0;
    word->last |= x == lattice->row - 1 ? bit : 0;
    word->odd |= y % 2 != 0 ? bit : 0;
    if (++x == lattice->row) {
      x = 0;
      y++;
    }
  }
  status = device->ops->copy_to_device(device, storage->masks, masks, n * sizeof *masks, error);
  free(masks);
  return status;
}

static void destroy(struct gpumc_ensemble *ensemble)
{
  struct gpumc_device *device = ensemble->device;
  struct storage *storage = ensemble->storage;
  if (storage == NULL)
    return;
  device->ops->release(device, storage->words);
  device->ops->release(device, storage->masks);
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
  storage->lattice = lattice_of(ensemble->model);
  const size_t words = words_of(&storage->lattice);
  status = gpumc_device_array(device, &storage->words,
                              ensemble->runs_capacity * ensemble->capacity * 2 * words, "replicas",
                              error);
  if (status == GPUMC_OK)
    status = gpumc_device_array(device, &storage->masks, words, "masks of rows", error);
  if (status == GPUMC_OK)
    status = fill_masks(device, storage, error);
  if (status == GPUMC_OK)
    status = ising2d_staging_create(ensemble, &storage->staging, error);
  storage->lattice.masks = storage->masks;
  if (status != GPUMC_OK)
    destroy(ensemble);
  return status;
}

static struct ising2d_spin_replicas replicas_of(const struct gpumc_ensemble *ensemble)
{
  const struct storage *storage = ensemble->storage;
  return (struct ising2d_spin_replicas){
      .batch = ising2d_batch_of(ensemble),
      .lattice = storage->lattice,
      .words = storage->words,
      .block_threads = ensemble->device->block_threads,
      .multiprocessors = (uint32_t)ensemble->device->multiprocessors,
      .shared_bytes = ensemble->device->shared_bytes,
  };
}

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct ising2d_spin_replicas replicas = replicas_of(ensemble);
  return ising2d_spin_randomize(&replicas, error);
}

static struct ising2d_spin_transfer
transfer_of(const struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count)
{
  const struct storage *storage = ensemble->storage;
  return (struct ising2d_spin_transfer){
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
  const struct ising2d_spin_transfer transfer = transfer_of(ensemble, m, first, count);
  return ising2d_spin_from_portable(&transfer, error);
}

static enum gpumc_status to_portable(struct gpumc_ensemble *ensemble, size_t m, size_t first,
                                     size_t count, struct gpumc_error *error)
{
  const struct ising2d_spin_transfer transfer = transfer_of(ensemble, m, first, count);
  return ising2d_spin_to_portable(&transfer, error);
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
  const struct ising2d_spin_sweep arguments = {
      .replicas = replicas_of(ensemble),
      .rule = ising2d_rule_of(ensemble, beta),
      .channels = ising2d_channels_of(ensemble->model, channel),
      .sweeps = sweeps,
  };
  return ising2d_spin_fits(&arguments.replicas) ? ising2d_spin_sweep_shared(&arguments, error)
                                                : ising2d_spin_sweep_global(&arguments, error);
}

static enum gpumc_status
measure(struct gpumc_ensemble *ensemble, int64_t *const *channel, struct gpumc_error *error)
{
  return sweep(ensemble, 0, 0.0, channel, error);
}

static enum gpumc_status
gather(struct gpumc_ensemble *ensemble, const uint32_t *parent, struct gpumc_error *error)
{
  const struct ising2d_spin_gather arguments = {.replicas = replicas_of(ensemble),
                                                .parent = parent};
  return ising2d_spin_copy_parents(&arguments, error);
}

const struct gpumc_kernel_ops ising2d_spin_cuda = {
    ISING2D_SPIN_CUDA_NAMES, .bytes = bytes,   .create = create, .destroy = destroy,
    .randomize = randomize,  .set = set,       .get = get,       .sweep = sweep,
    .measure = measure,      .gather = gather,
};
