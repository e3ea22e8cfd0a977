/* What the kernels on the CPU have in common: memory, blocks of replicas, threads over blocks. */
#ifndef GPUMC_ISING_CPU_H
#define GPUMC_ISING_CPU_H

#include <omp.h>

#include "core/numerics/isa.h"
#include "models/ising/ising.h"

enum {
  ISING_CPU_BLOCK = 32, /* replicas in a block, at most */
  ISING_CPU_CAPABILITIES = GPUMC_CAN_RANDOMIZE | GPUMC_CAN_TRANSFER | GPUMC_CAN_SWEEP |
                           GPUMC_CAN_HEAT_BATH | GPUMC_CAN_MEASURE | GPUMC_CAN_GATHER |
                           GPUMC_CAN_EXCHANGE | GPUMC_CAN_OVERLAP,
};

struct ising_cpu_place;

/* How a kernel lays out its replicas, and what it keeps beside them. What stands behind own_free is
 * for the operations below, NULL where the kernel has its own. */
struct ising_cpu_layout {
  size_t replicas; /* in a block */
  size_t buffers;  /* 1, or 2: with a spare one */
  size_t (*block_bytes)(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan);
  /* Of one thread. */
  size_t (*scratch_bytes)(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan);
  /* ising_cpu_storage.own: a zeroed struct of own_size bytes, which is filled after all other
   * memory, and released also after a failure; own_bytes: with all that it points to. */
  size_t own_size;
  size_t (*own_bytes)(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan);
  enum gpumc_status (*own_create)(const struct gpumc_model *model,
                                  const struct gpumc_ensemble_plan *plan, void *own,
                                  struct gpumc_error *error);
  void (*own_free)(void *own);
  /* set and get: portable[lane] is the first byte of lane's replica, NULL for a replica that is
   * left alone. */
  void (*set)(const struct gpumc_model *model, void *block,
              const uint8_t *const portable[ISING_CPU_BLOCK]);
  void (*get)(const struct gpumc_model *model, const void *block,
              uint8_t *const portable[ISING_CPU_BLOCK]);
  /* Of one block, all its replicas: drawn at beta = 0; swept by the rules of their run, which
   * set_rules makes for all runs, control[runs][n_controls]; their channels. */
  void (*randomize)(const struct gpumc_ensemble *ensemble, const struct ising_cpu_place *place);
  void (*set_rules)(const struct gpumc_ensemble *ensemble, const double *control);
  void (*sweep)(const struct gpumc_ensemble *ensemble, const struct ising_cpu_place *place,
                uint32_t sweeps);
  void (*measure)(const struct gpumc_ensemble *ensemble, const struct ising_cpu_place *place,
                  int64_t *const *channel);
  /* Both, one after the other. */
  void (*sweep_and_measure)(const struct gpumc_ensemble *ensemble,
                            const struct ising_cpu_place *place, uint32_t sweeps,
                            int64_t *const *channel);
  /* The replicas of one block with those of the block `other`; the first result goes to place `at`.
   */
  void (*overlap)(const struct gpumc_ensemble *ensemble, const struct ising_cpu_place *place,
                  const void *other, size_t at, int64_t *const overlap[GPUMC_OVERLAPS]);
};

/* gpumc_ensemble.storage. blocks[run][run_blocks][block_bytes], spare the same or NULL;
 * scratch[thread][scratch_bytes], every thread's on cache lines of its own. */
struct ising_cpu_storage {
  const struct ising_cpu_layout *layout;
  enum gpumc_isa isa;
  int threads;
  size_t run_blocks, block_bytes, scratch_bytes;
  void *blocks, *spare, *scratch;
  void *own; /* the kernel's */
};

/* A block, and its replicas: first .. first+count-1 of the run. */
struct ising_cpu_place {
  size_t run, block, first, count;
  void *data;
};

/* Blocks that hold the replicas 0 .. replicas-1. */
static inline size_t ising_cpu_blocks(const struct ising_cpu_layout *layout, size_t replicas)
{
  return (replicas + layout->replicas - 1) / layout->replicas;
}

static inline void *
ising_cpu_block(const struct ising_cpu_storage *storage, size_t run, size_t block)
{
  return (unsigned char *)storage->blocks +
         (run * storage->run_blocks + block) * storage->block_bytes;
}

/* The blocks of all runs of the batch, in use or not. */
static inline size_t ising_cpu_places(const struct gpumc_ensemble *ensemble)
{
  const struct ising_cpu_storage *storage = ensemble->storage;
  return ensemble->runs * storage->run_blocks;
}

/* A block of a run; count = 0 for one that is not in use. */
static inline struct ising_cpu_place
ising_cpu_place_of(const struct gpumc_ensemble *ensemble, size_t run, size_t block)
{
  const struct ising_cpu_storage *storage = ensemble->storage;
  struct ising_cpu_place place = {.run = run, .block = block};
  const size_t size = ensemble->size[place.run], most = storage->layout->replicas;
  place.first = place.block * most;
  place.count = size > place.first ? size - place.first : 0;
  place.count = place.count < most ? place.count : most;
  place.data = ising_cpu_block(storage, place.run, place.block);
  return place;
}

/* Number i of them. */
static inline struct ising_cpu_place
ising_cpu_place(const struct gpumc_ensemble *ensemble, size_t i)
{
  const struct ising_cpu_storage *storage = ensemble->storage;
  return ising_cpu_place_of(ensemble, i / storage->run_blocks, i % storage->run_blocks);
}

/* Number i of the blocks of `runs` runs, in an order in which they are worked on: those of the same
 * samples one after the other, whose couplings are then in the cache. */
static inline struct ising_cpu_place
ising_cpu_next_place(const struct gpumc_ensemble *ensemble, size_t first_run, size_t runs, size_t i)
{
  const struct ising_cpu_storage *storage = ensemble->storage;
  const bool by_sample = ensemble->plan.samples > 1;
  return by_sample ? ising_cpu_place_of(ensemble, first_run + i % runs, i / runs)
                   : ising_cpu_place_of(ensemble, first_run + i / storage->run_blocks,
                                        i % storage->run_blocks);
}

/* The calling thread's. */
static inline void *ising_cpu_scratch(const struct ising_cpu_storage *storage)
{
  return (unsigned char *)storage->scratch + (size_t)omp_get_thread_num() * storage->scratch_bytes;
}

/* What their gpumc_kernel_ops have in common, as designated initialisers. */
#define ISING_CPU_COMMON                                                                           \
  .device = "cpu", .destroy = ising_cpu_destroy, .set = ising_cpu_set, .get = ising_cpu_get

/* Operations of gpumc_kernel_ops; the layout is the kernel's. */
size_t ising_cpu_bytes(const struct ising_cpu_layout *layout, const struct gpumc_model *model,
                       const struct gpumc_device *device, const struct gpumc_ensemble_plan *plan);
GPUMC_MUST_CHECK enum gpumc_status ising_cpu_create(const struct ising_cpu_layout *layout,
                                                    struct gpumc_ensemble *ensemble,
                                                    struct gpumc_error *error);
void ising_cpu_destroy(struct gpumc_ensemble *ensemble);
GPUMC_MUST_CHECK enum gpumc_status
ising_cpu_set(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
              const uint8_t *portable, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status ising_cpu_get(struct gpumc_ensemble *ensemble, size_t m,
                                                 size_t first, size_t count, uint8_t *portable,
                                                 struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_cpu_randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_cpu_sweep(struct gpumc_ensemble *ensemble, const struct gpumc_target *target, uint32_t sweeps,
                int64_t *const *channel, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status ising_cpu_measure(struct gpumc_ensemble *ensemble,
                                                     int64_t *const *channel,
                                                     struct gpumc_error *error);

GPUMC_MUST_CHECK enum gpumc_status
ising_cpu_overlap(struct gpumc_ensemble *ensemble, size_t first, size_t second, size_t runs,
                  int64_t *const overlap[GPUMC_OVERLAPS], struct gpumc_error *error);
/* Of blocks with one replica each. */
GPUMC_MUST_CHECK enum gpumc_status ising_cpu_gather(struct gpumc_ensemble *ensemble,
                                                    const uint32_t *parent,
                                                    struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status ising_cpu_exchange(struct gpumc_ensemble *ensemble,
                                                      const uint32_t *swap,
                                                      struct gpumc_error *error);

#endif
