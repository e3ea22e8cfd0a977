/* Layouts of the toy model in GPU memory: every unit size, replicas one by one and side by side,
 * whole and in pieces. Conversion goes through host memory. */
#include <assert.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "models/lattice/replicas_gpu.h"
#include "support/toy_replicas.h"

static size_t units_of(const struct lattice_gpu_layout *layout)
{
  return lattice_parts(TOY_SITES, layout->unit_bytes);
}

/* Returns the position of site i of replica r of run m. */
static size_t place_of(const struct lattice_gpu_storage *storage, size_t m, size_t r, size_t i)
{
  const struct lattice_gpu_layout *layout = storage->layout;
  const size_t group = m * storage->groups + r / layout->group;
  const size_t unit = group * storage->units + i / layout->unit_bytes;
  return (unit * layout->group + r % layout->group) * layout->unit_bytes + i % layout->unit_bytes;
}

/* Converts sites of some of the run's replicas: site i to or from the bytes of a part. `portable`
 * is used directly except with the list, which is host memory. */
static void convert_part(const struct lattice_gpu_storage *storage, uint8_t *replicas,
                         const struct lattice_portable *portable, size_t number, uint8_t *bytes,
                         enum lattice_direction direction)
{
  const size_t first = (portable->first + number) * portable->replica_bytes;
  const size_t r = lattice_portable_replica(portable, first / TOY_PORTABLE_BYTES);
  const size_t site = first % TOY_PORTABLE_BYTES * 4;
  for (size_t i = 0; i < 4 * portable->replica_bytes && site + i < TOY_SITES; i++) {
    uint8_t *state = replicas + place_of(storage, portable->run, r, site + i);
    if (direction == LATTICE_FROM_PORTABLE)
      *state = toy_portable_state(bytes, i);
    else
      toy_set_portable_state(bytes, i, *state);
  }
}

static enum gpumc_status convert_here(const struct gpumc_ensemble *ensemble,
                                      const struct lattice_portable *portable,
                                      enum lattice_direction direction, uint8_t *replicas, size_t n,
                                      uint8_t *here, struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  const struct lattice_gpu_storage *storage = lattice_gpu_storage_of(ensemble);
  const size_t bytes = portable->count * portable->replica_bytes;
  const size_t all = (portable->first + portable->count) * portable->replica_bytes;
  struct lattice_portable with_list = *portable;
  uint32_t slot[TOY_LIST];
  assert(portable->slot == NULL || all <= sizeof slot / sizeof *slot * TOY_PORTABLE_BYTES);
  if (portable->slot != NULL) {
    with_list.slot = slot;
    GPUMC_TRY(device->ops->copy_to_host(device, slot, portable->slot,
                                        all / TOY_PORTABLE_BYTES * sizeof *slot, error));
  }
  GPUMC_TRY(device->ops->copy_to_host(device, replicas, storage->replicas, n, error));
  GPUMC_TRY(device->ops->copy_to_host(device, here, portable->replica, bytes, error));
  for (size_t i = 0; i < portable->count; i++)
    convert_part(storage, replicas, &with_list, i, here + i * portable->replica_bytes, direction);
  GPUMC_TRY(device->ops->copy_to_device(device, storage->replicas, replicas, n, error));
  return device->ops->copy_to_device(device, portable->replica, here, bytes, error);
}

static enum gpumc_status convert(const struct gpumc_ensemble *ensemble,
                                 const struct lattice_portable *portable,
                                 enum lattice_direction direction, struct gpumc_error *error)
{
  const struct lattice_gpu_storage *storage = lattice_gpu_storage_of(ensemble);
  const size_t n = ensemble->plan.runs * storage->groups * storage->units * storage->layout->group *
                   storage->layout->unit_bytes;
  void *replicas = NULL, *here = NULL;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, gpumc_allocate(1, n, "replicas", &replicas, error));
  GPUMC_TRY_OUT(status,
                gpumc_allocate(portable->count, portable->replica_bytes, "replicas", &here, error));
  GPUMC_TRY_OUT(status, convert_here(ensemble, portable, direction, replicas, n, here, error));
out:
  free(replicas);
  free(here);
  return status;
}

static size_t no_table(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)model;
  (void)plan;
  return 0;
}

/* A kernel for each layout. */
#define TOY_KERNEL(name, text, replicas, bytes_of_unit, bytes_of_piece)                            \
  static size_t name##_units(const struct gpumc_model *model,                                      \
                             const struct gpumc_ensemble_plan *plan);                              \
  static const struct lattice_gpu_layout name##_layout = {                                         \
      .group = (replicas),                                                                         \
      .unit_bytes = (bytes_of_unit),                                                               \
      .piece_bytes = (bytes_of_piece),                                                             \
      .sites_limit = LATTICE_GPU_SITES_LIMIT,                                                      \
      .units = name##_units,                                                                       \
      .table_bytes = no_table,                                                                     \
      .convert = convert,                                                                          \
  };                                                                                               \
  static size_t name##_units(const struct gpumc_model *model,                                      \
                             const struct gpumc_ensemble_plan *plan)                               \
  {                                                                                                \
    (void)model;                                                                                   \
    (void)plan;                                                                                    \
    return units_of(&name##_layout);                                                               \
  }                                                                                                \
  static size_t name##_bytes(const struct gpumc_model *model, const struct gpumc_device *device,   \
                             const struct gpumc_ensemble_plan *plan)                               \
  {                                                                                                \
    (void)device;                                                                                  \
    return lattice_gpu_bytes(&name##_layout, model, plan);                                         \
  }                                                                                                \
  static enum gpumc_status name##_create(struct gpumc_ensemble *ensemble,                          \
                                         struct gpumc_error *error)                                \
  {                                                                                                \
    return lattice_gpu_create(&name##_layout, ensemble, error);                                    \
  }                                                                                                \
  static const struct gpumc_kernel_ops name##_kernel = {                                           \
      LATTICE_GPU_COMMON,                                                                          \
      .device = "cuda",                                                                            \
      .variant = (text),                                                                           \
      .bytes = name##_bytes,                                                                       \
      .create = name##_create,                                                                     \
      .gather = lattice_gpu_gather,                                                                \
      .exchange = lattice_gpu_exchange,                                                            \
  };

TOY_KERNEL(bytes, "bytes", 1, 1, 0)
TOY_KERNEL(vectors, "vectors, in pieces", 1, 16, 1)
TOY_KERNEL(pairs, "pairs", 1, 32, 0)
TOY_KERNEL(lanes, "four lanes of bytes", 4, 1, 0)
TOY_KERNEL(warps, "32 lanes of pairs", 32, 32, 0)

const struct gpumc_kernel_ops *const toy_cuda_kernels[] = {
    &bytes_kernel, &vectors_kernel, &pairs_kernel, &lanes_kernel, &warps_kernel, NULL};
