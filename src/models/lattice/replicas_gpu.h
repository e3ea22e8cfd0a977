/* Replicas of a lattice model in the memory of a GPU: room for them, their portable form passing
 * through a buffer, copies after resampling, exchanges. The kernel's layout defines a replica and
 * its conversion to portable form; nothing here knows a model.
 *
 *   static const struct lattice_gpu_layout layout = {.group = 1, .unit_bytes = 16, ...};
 *   LATTICE_GPU_BYTES_AND_CREATE(layout)
 *   const struct gpumc_kernel_ops kernel = {LATTICE_GPU_COMMON, .bytes = bytes, ...};
 */
#ifndef GPUMC_LATTICE_REPLICAS_GPU_H
#define GPUMC_LATTICE_REPLICAS_GPU_H

#include "core/simulation/kernel.h"
#include "models/lattice/batch.h"
#include "models/lattice/strips.h"

enum lattice_direction { LATTICE_FROM_PORTABLE, LATTICE_TO_PORTABLE };

/* Limit for the sites of kernels that number them with 32 bits, including sums of two numbers. */
#define LATTICE_GPU_SITES_LIMIT ((size_t)1 << 31)

/* How a kernel stores its replicas (struct lattice_copy), and what it keeps beside them. */
struct lattice_gpu_layout {
  size_t group;       /* replicas that are stored side by side: a power of two up to 32 */
  size_t unit_bytes;  /* contiguous bytes of one replica: 1, 16 or 32 */
  size_t sites_limit; /* lattices have fewer sites */
  /* Returns whether sweeps copy and exchange replicas (lattice_gpu_move_in_sweep). NULL: none. */
  bool (*moves_in_sweeps)(const struct gpumc_model *model);
  /* Returns GPUMC_INVALID for what the kernel refuses, before anything is allocated; NULL: it
   * refuses nothing. */
  enum gpumc_status (*check)(const struct gpumc_ensemble *ensemble, struct gpumc_error *error);
  /* Replicas are copied in and out by pieces of this size, and so does `convert`; 0: by whole
   * replicas. */
  size_t piece_bytes;
  size_t (*units)(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan);
  /* Device memory beside the replicas, zeroed. */
  size_t (*table_bytes)(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan);
  /* Returns the most of lattice_gpu_scratch that an operation of the plan takes; NULL: none
   * does. */
  size_t (*scratch_bytes)(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan);
  /* Host memory, zeroed; NULL: none. */
  size_t (*notes_bytes)(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan);
  /* Fills both after everything is allocated; NULL: nothing to fill. */
  enum gpumc_status (*fill)(struct gpumc_ensemble *ensemble, struct gpumc_error *error);
  /* Converts replicas of the ensemble from or to their portable form. */
  enum gpumc_status (*convert)(const struct gpumc_ensemble *ensemble,
                               const struct lattice_portable *portable,
                               enum lattice_direction direction, struct gpumc_error *error);
};

/* gpumc_ensemble.storage. Device memory: replicas (struct lattice_copy), table[table_bytes] or
 * NULL, staging[staging_parts][part_bytes], replicas in portable form or pieces of them. `spare` is
 * as large as `replicas`, or NULL. */
struct lattice_gpu_storage {
  const struct lattice_gpu_layout *layout;
  void *replicas, *spare, *table;
  const uint32_t *parent, *swap; /* of copies or exchanges that are still to be made; NULL: none */
  uint8_t *staging;
  size_t groups, units; /* of a run; of a replica */
  size_t staging_parts, part_bytes;
  void *notes;   /* the kernel's own, host memory; NULL: none */
  void *scratch; /* see lattice_gpu_scratch */
  size_t scratch_bytes;
  uint32_t tag; /* of the last message between strips */
};

static inline const struct lattice_gpu_storage *
lattice_gpu_storage_of(const struct gpumc_ensemble *ensemble)
{
  return ensemble->storage;
}

/* Returns the part of the table that is `place` bytes from its beginning. */
static inline void *lattice_gpu_table(const struct gpumc_ensemble *ensemble, size_t place)
{
  return (unsigned char *)lattice_gpu_storage_of(ensemble)->table + place;
}

/* Returns device memory of this many bytes for the current operation; the next one may use it for
 * something else. */
GPUMC_MUST_CHECK enum gpumc_status lattice_gpu_scratch(struct gpumc_ensemble *ensemble,
                                                       size_t bytes, void **scratch,
                                                       struct gpumc_error *error);

/* Copies and exchanges the replicas that still have to be. Every operation that reads or changes
 * replicas calls it first, except a sweep that does so itself: */
GPUMC_MUST_CHECK enum gpumc_status
lattice_gpu_settle(struct gpumc_ensemble *ensemble, struct gpumc_error *error);
/* Returns which ones they are and makes the spare memory that of the replicas. The caller's launch
 * reads every replica from its parent's or partner's place in `from` and writes it to its own. */
struct lattice_moves lattice_gpu_move_in_sweep(struct gpumc_ensemble *ensemble);
/* Sets the tag of strips for a launch of `sweeps` sweeps, whose messages no other launch has.
 * mail_bytes: of their mail, zeroed before its first use. */
GPUMC_MUST_CHECK enum gpumc_status
lattice_gpu_post(struct gpumc_ensemble *ensemble, uint32_t sweeps, size_t mail_bytes,
                 struct lattice_strips *strips, struct gpumc_error *error);

/* Returns the data of the current batch that a launch needs. */
struct lattice_batch lattice_gpu_batch(const struct gpumc_ensemble *ensemble);

/* gpumc_kernel_ops.bytes and create. GPUMC_INVALID: the lattice is too large, or there are more
 * runs than a dimension of CUDA's grid. */
size_t lattice_gpu_bytes(const struct lattice_gpu_layout *layout, const struct gpumc_model *model,
                         const struct gpumc_ensemble_plan *plan);
GPUMC_MUST_CHECK enum gpumc_status lattice_gpu_create(const struct lattice_gpu_layout *layout,
                                                      struct gpumc_ensemble *ensemble,
                                                      struct gpumc_error *error);

/* Defines both, as `bytes` and `create`, for a kernel that keeps nothing beside its layout. */
#define LATTICE_GPU_BYTES_AND_CREATE(layout)                                                       \
  static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device,          \
                      const struct gpumc_ensemble_plan *plan)                                      \
  {                                                                                                \
    (void)device;                                                                                  \
    return lattice_gpu_bytes(&(layout), model, plan);                                              \
  }                                                                                                \
  static enum gpumc_status create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)      \
  {                                                                                                \
    return lattice_gpu_create(&(layout), ensemble, error);                                         \
  }

/* The operations of gpumc_kernel_ops with these names. */
void lattice_gpu_destroy(struct gpumc_ensemble *ensemble);
GPUMC_MUST_CHECK enum gpumc_status
lattice_gpu_set(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                const uint8_t *portable, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status lattice_gpu_get(struct gpumc_ensemble *ensemble, size_t m,
                                                   size_t first, size_t count, uint8_t *portable,
                                                   struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
lattice_gpu_set_list(struct gpumc_ensemble *ensemble, size_t m, const uint32_t *slot, size_t count,
                     const uint8_t *states, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status lattice_gpu_get_list(struct gpumc_ensemble *ensemble, size_t m,
                                                        const uint32_t *slot, size_t count,
                                                        uint8_t *states, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status lattice_gpu_gather(struct gpumc_ensemble *ensemble,
                                                      const uint32_t *parent,
                                                      struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status lattice_gpu_exchange(struct gpumc_ensemble *ensemble,
                                                        const uint32_t *swap,
                                                        struct gpumc_error *error);
/* Those that every kernel has, as designated initialisers. */
#define LATTICE_GPU_COMMON                                                                         \
  .destroy = lattice_gpu_destroy, .set = lattice_gpu_set, .get = lattice_gpu_get,                  \
  .set_list = lattice_gpu_set_list, .get_list = lattice_gpu_get_list

#endif
