/* Replicas in device memory, the same for all CUDA kernels: room for them, the limits, and their
 * portable form on its way through a buffer. How a kernel stores a replica stands in its header. */
#ifndef GPUMC_ISING_STORAGE_CUDA_H
#define GPUMC_ISING_STORAGE_CUDA_H

#include "core/simulation/kernel.h"
#include "models/ising/ising_batch_cuda.h"

/* Replicas of a run are stored by groups of `group` of them, group_bytes each; a kernel may have a
 * table beside them. */
struct ising_layout {
  size_t group, group_bytes;
  size_t table_bytes;
  /* Replicas go in and out by pieces of so many bytes, and the kernel counts sites in words; 0: by
   * whole replicas. */
  size_t piece_bytes;
};

enum ising_direction { ISING_FROM_PORTABLE, ISING_TO_PORTABLE };

/* Converts replicas of the ensemble from or to their portable form. */
typedef enum gpumc_status ising_convert(const struct gpumc_ensemble *ensemble,
                                        const struct ising_portable *portable,
                                        enum ising_direction direction, struct gpumc_error *error);

/* gpumc_ensemble.storage: device memory
 * replicas[runs][groups][group_bytes], table[table_bytes] or NULL,
 * staging[staging_parts][part_bytes]: replicas in portable form, or pieces of them. */
struct ising_storage {
  void *replicas, *table;
  uint8_t *staging;
  size_t staging_parts, part_bytes;
  void *notes; /* the kernel's own, host memory of gpumc_allocate; NULL at first */
  ising_convert *convert;
};

static inline const struct ising_storage *ising_storage_of(const struct gpumc_ensemble *ensemble)
{
  return ensemble->storage;
}

/* What stands in the table, `place` bytes from its beginning. */
static inline void *ising_storage_table(const struct gpumc_ensemble *ensemble, size_t place)
{
  return (unsigned char *)ising_storage_of(ensemble)->table + place;
}

/* gpumc_kernel_ops.bytes and create. GPUMC_INVALID: 2^31 sites or more, in pieces
 * ISING_SITES_LIMIT, or more runs than a dimension of CUDA's grid. */
size_t ising_storage_bytes(const struct gpumc_model *model, const struct ising_layout *layout,
                           const struct gpumc_ensemble_plan *plan);
GPUMC_MUST_CHECK enum gpumc_status
ising_storage_create(struct gpumc_ensemble *ensemble, const struct ising_layout *layout,
                     ising_convert *convert, struct gpumc_error *error);

/* gpumc_kernel_ops.destroy, set and get. */
void ising_storage_destroy(struct gpumc_ensemble *ensemble);
GPUMC_MUST_CHECK enum gpumc_status
ising_storage_set(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                  const uint8_t *portable, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status ising_storage_get(struct gpumc_ensemble *ensemble, size_t m,
                                                     size_t first, size_t count, uint8_t *portable,
                                                     struct gpumc_error *error);
/* These three, as designated initialisers. */
#define ISING_STORAGE_COMMON                                                                       \
  .destroy = ising_storage_destroy, .set = ising_storage_set, .get = ising_storage_get

#endif
