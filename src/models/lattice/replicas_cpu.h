/* Replicas of a lattice model in the memory of the CPU: blocks of replicas, their portable form,
 * copies after resampling, exchanges, and threads over blocks. The kernel's layout defines a block
 * and the operations on it; nothing here knows a model.
 *
 *   static const struct lattice_cpu_layout layout = {.replicas = 1, .buffers = 1, ...};
 *   LATTICE_CPU_BYTES_AND_CREATE(layout)
 *   const struct gpumc_kernel_ops kernel = {LATTICE_CPU_OPERATIONS, .bytes = bytes, ...};
 */
#ifndef GPUMC_LATTICE_REPLICAS_CPU_H
#define GPUMC_LATTICE_REPLICAS_CPU_H

#include <omp.h>

#include "core/numerics/isa.h"
#include "core/simulation/model.h"

enum { LATTICE_CPU_BLOCK = 32 }; /* replicas in a block at most */

struct lattice_cpu_place;

/* How a kernel lays out its replicas, and what it keeps beside them. The fields after own_free are
 * for the operations below, NULL if the kernel does not use them. */
struct lattice_cpu_layout {
  size_t replicas; /* in a block: 1, or a power of two */
  size_t buffers;  /* 1: replicas are copied in place; 2: from one buffer to the other */
  /* Returns GPUMC_INVALID for what the kernel refuses, before anything is allocated; NULL: it
   * refuses nothing. */
  enum gpumc_status (*check)(const struct gpumc_ensemble *ensemble, struct gpumc_error *error);
  /* NULL: a block is a replica in portable form, and `set` and `get` are NULL. */
  size_t (*block_bytes)(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan);
  /* For one thread; NULL: none. `scratch_of_places`: only the operations below on one block use it,
   * and walks, so that there is none for more threads than blocks. */
  size_t (*scratch_bytes)(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan);
  bool scratch_of_places;
  /* lattice_cpu_storage.own: a zeroed struct of own_size bytes, which is filled after all other
   * memory, and released also after a failure; own_bytes: with all that it points to. own_size = 0:
   * none, and the other three are NULL. */
  size_t own_size;
  size_t (*own_bytes)(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan);
  enum gpumc_status (*own_create)(const struct gpumc_model *model,
                                  const struct gpumc_ensemble_plan *plan, void *own,
                                  struct gpumc_error *error);
  void (*own_free)(void *own);
  /* set and get: portable[lane] is the first byte of lane's replica, NULL for a replica to leave
   * alone. */
  void (*set)(const struct gpumc_model *model, void *block,
              const uint8_t *const portable[LATTICE_CPU_BLOCK]);
  void (*get)(const struct gpumc_model *model, const void *block,
              uint8_t *const portable[LATTICE_CPU_BLOCK]);
  /* For blocks of several replicas, in two buffers. Replica r of the block becomes what replica
   * parent[r] of its run was; `to` is the block in the other buffer. */
  void (*gather)(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place,
                 const uint32_t *parent, void *to);
  /* Swaps the replicas of two blocks that have a bit in `lanes`. */
  void (*exchange)(const struct gpumc_ensemble *ensemble, void *one, void *other, uint32_t lanes);
  /* Operations on all replicas of one block: starting; sweeping by the rules of their run, which
   * set_rules makes for all runs, control[runs][n_controls] (NULL: nothing to make); measuring
   * channels. */
  void (*start)(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place);
  void (*set_rules)(const struct gpumc_ensemble *ensemble, const double *control);
  void (*sweep)(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place,
                uint32_t sweeps);
  void (*measure)(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place,
                  int64_t *const *channel);
  /* Does both, one after the other; NULL: separately. */
  void (*sweep_and_measure)(const struct gpumc_ensemble *ensemble,
                            const struct lattice_cpu_place *place, uint32_t sweeps,
                            int64_t *const *channel);
  /* Compares the replicas of one block with those of the block `other`; the first result goes to
   * place `at`. */
  void (*compare)(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place,
                  const void *other, size_t at, int64_t *const pair[GPUMC_PAIRS_MAXIMUM]);
  /* Exchanges a cluster between each replica of one block and that of the block `other`; adds to
   * `counts`, of these alone. */
  void (*exchange_clusters)(const struct gpumc_ensemble *ensemble,
                            const struct lattice_cpu_place *place, void *other,
                            const struct gpumc_cluster_exchange *with,
                            struct gpumc_cluster_counts *counts);
};

/* gpumc_ensemble.storage. blocks[run][run_blocks][block_bytes], spare the same or NULL;
 * scratch[thread][scratch_bytes], every thread's on cache lines of its own. */
struct lattice_cpu_storage {
  const struct lattice_cpu_layout *layout;
  enum gpumc_isa isa;
  int threads;
  size_t run_blocks, block_bytes, scratch_bytes;
  void *blocks, *spare, *scratch;
  void *own; /* the kernel's */
};

/* A block, and its replicas: first .. first+count-1 of the run. `number`: of the block in the whole
 * of which this is a share; for a block of one replica that of the replica, for counters. */
struct lattice_cpu_place {
  size_t run, block, first, count;
  uint32_t number;
  void *data;
};

/* Returns the blocks that hold replicas 0 .. replicas-1. */
static inline size_t lattice_cpu_blocks(const struct lattice_cpu_layout *layout, size_t replicas)
{
  return (replicas + layout->replicas - 1) / layout->replicas;
}

static inline void *
lattice_cpu_block(const struct lattice_cpu_storage *storage, size_t run, size_t block)
{
  return (unsigned char *)storage->blocks +
         (run * storage->run_blocks + block) * storage->block_bytes;
}

/* Returns the blocks of all runs of the batch, in use or not. */
static inline size_t lattice_cpu_places(const struct gpumc_ensemble *ensemble)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  return ensemble->runs * storage->run_blocks;
}

/* Returns a block of a run; count = 0 for one that is not in use. */
static inline struct lattice_cpu_place
lattice_cpu_place_of(const struct gpumc_ensemble *ensemble, size_t run, size_t block)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  struct lattice_cpu_place place = {.run = run, .block = block};
  const size_t size = ensemble->size[place.run], most = storage->layout->replicas;
  place.first = place.block * most;
  place.number = (uint32_t)(ensemble->plan.first_replica / most + place.block);
  place.count = size > place.first ? size - place.first : 0;
  place.count = place.count < most ? place.count : most;
  place.data = lattice_cpu_block(storage, place.run, place.block);
  return place;
}

/* Returns number i of them. */
static inline struct lattice_cpu_place
lattice_cpu_place(const struct gpumc_ensemble *ensemble, size_t i)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  return lattice_cpu_place_of(ensemble, i / storage->run_blocks, i % storage->run_blocks);
}

/* Returns number i of the blocks of `runs` runs, in the order in which they are processed: those
 * with the same samples one after the other, whose couplings are then in the cache. */
static inline struct lattice_cpu_place lattice_cpu_next_place(const struct gpumc_ensemble *ensemble,
                                                              size_t first_run, size_t runs,
                                                              size_t i)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const bool by_sample = ensemble->plan.samples > 1 && !ensemble->plan.sample_by_run;
  return by_sample ? lattice_cpu_place_of(ensemble, first_run + i % runs, i / runs)
                   : lattice_cpu_place_of(ensemble, first_run + i / storage->run_blocks,
                                          i % storage->run_blocks);
}

/* Returns the scratch of the calling thread. */
static inline void *lattice_cpu_scratch(const struct lattice_cpu_storage *storage)
{
  return (unsigned char *)storage->scratch + (size_t)omp_get_thread_num() * storage->scratch_bytes;
}

/* Operations of gpumc_kernel_ops; the layout is the kernel's. */
size_t lattice_cpu_bytes(const struct lattice_cpu_layout *layout, const struct gpumc_model *model,
                         const struct gpumc_device *device, const struct gpumc_ensemble_plan *plan);
GPUMC_MUST_CHECK enum gpumc_status lattice_cpu_create(const struct lattice_cpu_layout *layout,
                                                      struct gpumc_ensemble *ensemble,
                                                      struct gpumc_error *error);
/* Defines both, as `bytes` and `create`, for a kernel that keeps nothing beside its layout. */
#define LATTICE_CPU_BYTES_AND_CREATE(layout)                                                       \
  static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device,          \
                      const struct gpumc_ensemble_plan *plan)                                      \
  {                                                                                                \
    return lattice_cpu_bytes(&(layout), model, device, plan);                                      \
  }                                                                                                \
  static enum gpumc_status create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)      \
  {                                                                                                \
    return lattice_cpu_create(&(layout), ensemble, error);                                         \
  }
void lattice_cpu_destroy(struct gpumc_ensemble *ensemble);
GPUMC_MUST_CHECK enum gpumc_status
lattice_cpu_set(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                const uint8_t *portable, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status lattice_cpu_get(struct gpumc_ensemble *ensemble, size_t m,
                                                   size_t first, size_t count, uint8_t *portable,
                                                   struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
lattice_cpu_set_list(struct gpumc_ensemble *ensemble, size_t m, const uint32_t *slot, size_t count,
                     const uint8_t *states, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status lattice_cpu_get_list(struct gpumc_ensemble *ensemble, size_t m,
                                                        const uint32_t *slot, size_t count,
                                                        uint8_t *states, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
lattice_cpu_start(struct gpumc_ensemble *ensemble, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
lattice_cpu_sweep(struct gpumc_ensemble *ensemble, const struct gpumc_target *target,
                  uint32_t sweeps, int64_t *const *channel, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status lattice_cpu_measure(struct gpumc_ensemble *ensemble,
                                                       int64_t *const *channel,
                                                       struct gpumc_error *error);

GPUMC_MUST_CHECK enum gpumc_status
lattice_cpu_compare(struct gpumc_ensemble *ensemble, size_t first, size_t second, size_t runs,
                    int64_t *const pair[GPUMC_PAIRS_MAXIMUM], struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status lattice_cpu_gather(struct gpumc_ensemble *ensemble,
                                                      const uint32_t *parent,
                                                      struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status lattice_cpu_exchange(struct gpumc_ensemble *ensemble,
                                                        const uint32_t *swap,
                                                        struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
lattice_cpu_exchange_clusters(struct gpumc_ensemble *ensemble,
                              const struct gpumc_cluster_exchange *with, struct gpumc_error *error);

/* Initialisers of these for every kernel, as designated initialisers. */
#define LATTICE_CPU_COMMON                                                                         \
  .device = "cpu", .destroy = lattice_cpu_destroy, .set = lattice_cpu_set, .get = lattice_cpu_get, \
  .set_list = lattice_cpu_set_list, .get_list = lattice_cpu_get_list
/* Initialisers for most kernels. */
#define LATTICE_CPU_OPERATIONS                                                                     \
  LATTICE_CPU_COMMON, .start = lattice_cpu_start, .sweep = lattice_cpu_sweep,                      \
                      .measure = lattice_cpu_measure, .gather = lattice_cpu_gather,                \
                      .exchange = lattice_cpu_exchange

#endif
