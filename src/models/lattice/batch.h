/* Data of the replicas of a batch and of their portable form for kernels on a GPU, whatever the
 * model: plain data passed with a launch. */
#ifndef GPUMC_LATTICE_BATCH_H
#define GPUMC_LATTICE_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/numerics/random.h"

/* See struct gpumc_ensemble. */
struct lattice_batch {
  const uint32_t *size; /* [runs] replicas of each run, device memory */
  uint32_t runs;
  uint32_t first;          /* gpumc_ensemble_plan.first_replica */
  size_t capacity;         /* room for replicas of one run */
  size_t expected;         /* approximate number of replicas of one run */
  uint32_t key[2], rounds; /* of the first run's generator */
  uint32_t time;
  void *stream;    /* cudaStream_t */
  uint32_t others; /* room for replicas of a run in other shares */
};

/* Replicas first .. first + count - 1 of run `run` in portable form, or pieces of that size of all
 * its replicas, one after the other: replica[count][replica_bytes], device memory. With a list both
 * count entries of it, and entry r is replica slot[r] of the run. */
struct lattice_portable {
  uint32_t run;
  size_t first, count, replica_bytes;
  uint8_t *replica;
  const uint32_t *slot; /* device memory; NULL: no list */
};

/* Returns the replica of the run that has number r. */
GPUMC_HOST_DEVICE static inline size_t
lattice_portable_replica(const struct lattice_portable *portable, size_t r)
{
  return portable->slot != NULL ? portable->slot[r] : r;
}

/* Returns how many parts of `part` hold `count`. */
GPUMC_HOST_DEVICE static inline size_t lattice_parts(size_t count, size_t part)
{
  return (count + part - 1) / part;
}

/* Returns the generator of run m of the batch: gpumc_random_make, from a key that is read as it is,
 * which makes shorter code. */
GPUMC_HOST_DEVICE static inline struct gpumc_random
lattice_batch_random(const struct lattice_batch *batch, uint32_t m)
{
  struct gpumc_random random;
  random.key[0] = batch->key[0];
  random.key[1] = batch->key[1] + (m << 16);
  random.rounds = batch->rounds;
  return random;
}

/* Returns the number of replica r of a run in the whole, for counters: see gpumc_plan_replica. */
GPUMC_HOST_DEVICE static inline uint32_t
lattice_batch_replica(const struct lattice_batch *batch, uint32_t r)
{
  return batch->first + r;
}

/* Returns that of a group of `replicas`, a power of two at which shares begin. */
GPUMC_HOST_DEVICE static inline uint32_t
lattice_batch_group(const struct lattice_batch *batch, uint32_t group, uint32_t replicas)
{
  return batch->first / replicas + group;
}

/* Where replicas are, and where they come from: parent[runs][capacity] of gpumc_kernel_ops.gather
 * or swap[runs][gpumc_swap_words(capacity)] of gpumc_kernel_ops.exchange, never both; neither:
 * every replica is in its place. */
struct lattice_moves {
  const uint32_t *parent, *swap;
  const void *from;
};

/* Replicas as the copying kernel sees them. A replica is `units` units of unit_bytes each (1, 16 or
 * 32); `group` replicas, a power of two up to 32, are stored side by side unit by unit:
 * replicas[runs][groups][units][group][unit_bytes]. */
struct lattice_copy {
  struct lattice_batch batch;
  void *replicas;
  size_t groups, units; /* of a run; of a replica */
  uint32_t group, unit_bytes;
  const uint32_t *parent; /* [runs][capacity] of gpumc_kernel_ops.gather */
  const uint32_t *swap;   /* [runs][gpumc_swap_words(capacity)] of gpumc_kernel_ops.exchange */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Performs gpumc_kernel_ops.gather and exchange for all replicas of the batch. */
GPUMC_MUST_CHECK enum gpumc_status
lattice_copy_parents(const struct lattice_copy *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
lattice_swap_replicas(const struct lattice_copy *arguments, struct gpumc_error *error);

#ifdef __cplusplus
}
#endif

#endif
