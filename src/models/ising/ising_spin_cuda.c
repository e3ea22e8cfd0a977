/* The spin kernel on a GPU: replicas of one bit a spin, swept in shared memory where they fit. */
#include "models/ising/ising_spin_cuda.h"

#include <stdlib.h>

#include "core/memory.h"
#include "models/ising/ising_cuda.h"
#include "models/ising/ising_host_cuda.h"
#include "models/ising/ising_storage_cuda.h"

static struct ising_spin_lattice lattice_of(const struct gpumc_model *model)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(model)->lattice;
  return (struct ising_spin_lattice){.row = (uint32_t)lattice->row,
                                     .colour = (uint32_t)lattice->colour,
                                     .blocks =
                                         (uint32_t)ising_parts(lattice->colour, ISING_SPIN_BLOCK)};
}

static size_t words_of(const struct ising_spin_lattice *lattice)
{
  return (size_t)ISING_SPIN_WORDS * lattice->blocks;
}

static struct ising_layout layout_of(const struct gpumc_model *model)
{
  const struct ising_spin_lattice lattice = lattice_of(model);
  return (struct ising_layout){
      .group = 1,
      .group_bytes = 2 * words_of(&lattice) * sizeof(uint32_t),
      .table_bytes = words_of(&lattice) * sizeof(struct ising_spin_row_masks),
  };
}

static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                    const struct gpumc_ensemble_plan *plan)
{
  (void)device;
  const struct ising_layout layout = layout_of(model);
  return ising_storage_bytes(model, &layout, plan);
}

static enum gpumc_status
fill_masks(const struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  const struct ising_spin_lattice lattice = lattice_of(ensemble->model);
  const size_t n = words_of(&lattice);
  struct ising_spin_row_masks *masks;
  enum gpumc_status status = gpumc_allocate_array(&masks, n, "masks of rows", error);
  if (status != GPUMC_OK)
    return status;
  for (uint32_t k = 0, x = 0, y = 0; k < lattice.colour; k++) {
    struct ising_spin_row_masks *word = &masks[k / ISING_SPIN_WORD_BITS];
    const uint32_t bit = 1u << k % ISING_SPIN_WORD_BITS;
    word->first |= x == 0 ? bit : 0;
    word->last |= x == lattice.row - 1 ? bit : 0;
    word->odd |= y % 2 != 0 ? bit : 0;
    if (++x == lattice.row) {
      x = 0;
      y++;
    }
  }
  status = device->ops->copy_to_device(device, ising_storage_of(ensemble)->table, masks,
                                       n * sizeof *masks, error);
  free(masks);
  return status;
}

static struct ising_spin_replicas replicas_of(const struct gpumc_ensemble *ensemble)
{
  const struct ising_storage *storage = ising_storage_of(ensemble);
  struct ising_spin_replicas replicas = {
      .batch = ising_batch_of(ensemble),
      .lattice = lattice_of(ensemble->model),
      .words = storage->replicas,
      .block_threads = ensemble->device->block_threads,
      .multiprocessors = (uint32_t)ensemble->device->multiprocessors,
      .shared_bytes = ensemble->device->shared_bytes,
  };
  replicas.lattice.masks = storage->table;
  return replicas;
}

static enum gpumc_status from_portable(const struct gpumc_ensemble *ensemble,
                                       const struct ising_portable *portable,
                                       struct gpumc_error *error)
{
  const struct ising_spin_transfer arguments = {replicas_of(ensemble), *portable};
  return ising_spin_from_portable(&arguments, error);
}

static enum gpumc_status to_portable(const struct gpumc_ensemble *ensemble,
                                     const struct ising_portable *portable,
                                     struct gpumc_error *error)
{
  const struct ising_spin_transfer arguments = {replicas_of(ensemble), *portable};
  return ising_spin_to_portable(&arguments, error);
}

static enum gpumc_status create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct ising_layout layout = layout_of(ensemble->model);
  enum gpumc_status status =
      ising_storage_create(ensemble, &layout, from_portable, to_portable, error);
  if (status != GPUMC_OK)
    return status;
  status = fill_masks(ensemble, error);
  if (status != GPUMC_OK)
    ising_storage_destroy(ensemble);
  return status;
}

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct ising_spin_replicas replicas = replicas_of(ensemble);
  return ising_spin_randomize(&replicas, error);
}

static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, uint32_t sweeps, const double *beta,
                               int64_t *const *channel, struct gpumc_error *error)
{
  const struct ising_spin_sweep arguments = {
      .replicas = replicas_of(ensemble),
      .rule = ising_rule_of(ensemble, sweeps > 0 ? beta[0] : 0.0),
      .channels = ising_channels_of(ensemble->model, channel),
      .sweeps = sweeps,
  };
  return ising_spin_fits(&arguments.replicas) ? ising_spin_sweep_shared(&arguments, error)
                                              : ising_spin_sweep_global(&arguments, error);
}

static enum gpumc_status
gather(struct gpumc_ensemble *ensemble, const uint32_t *parent, struct gpumc_error *error)
{
  const struct ising_spin_gather arguments = {replicas_of(ensemble), parent};
  return ising_spin_copy_parents(&arguments, error);
}

const struct gpumc_kernel_ops ising_spin_cuda = {
    ISING_SPIN_CUDA_NAMES,
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
