/* The spin kernel on a GPU: storage, and the drivers of its CUDA kernels.
 *
 * A spin is a bit, 1 up. Each colour of a replica is `blocks` blocks of 64 spins in the order of k,
 * two words each; bits from k = colour on are 0. A block of spins is what 16 Philox counters make
 * numbers for, and one thread's work. */
#ifndef GPUMC_ISING_SPIN_CUDA_H
#define GPUMC_ISING_SPIN_CUDA_H

#include "core/cuda_error.h"
#include "models/ising/ising_batch_cuda.h"
#include "models/ising/ising_rule_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ISING_SPIN_BLOCK = 64, ISING_SPIN_WORDS = 2, ISING_SPIN_WORD_BITS = 32 };

/* Which spins of a word are the first and the last of their row, and which stand in odd rows. */
struct ising_spin_row_masks {
  uint32_t first, last, odd;
};

/* See struct gpumc_checkerboard. `masks`: [words of a colour], device memory. */
struct ising_spin_lattice {
  uint32_t row, colour, blocks;
  const struct ising_spin_row_masks *masks;
};

/* words[runs][capacity][colour 2][blocks][2], device memory. */
struct ising_spin_replicas {
  struct ising_batch batch;
  struct ising_spin_lattice lattice;
  uint32_t *words;
  uint32_t block_threads; /* 0: the driver's choice */
  uint32_t multiprocessors;
  size_t shared_bytes; /* that one block of threads may have */
};

/* `sweeps` may be 0. */
struct ising_spin_sweep {
  struct ising_spin_replicas replicas;
  struct ising_rule rule;
  struct ising_channels channels;
  uint32_t sweeps;
};

struct ising_spin_transfer {
  struct ising_spin_replicas replicas;
  struct ising_portable portable;
};

/* parent[runs][capacity] */
struct ising_spin_gather {
  struct ising_spin_replicas replicas;
  const uint32_t *parent;
};

/* Sweeps and measurement of replicas that fit into shared memory; whether they do. */
int ising_spin_fits(const struct ising_spin_replicas *replicas);
GPUMC_MUST_CHECK enum gpumc_status
ising_spin_sweep_shared(const struct ising_spin_sweep *arguments, struct gpumc_error *error);
/* The same from global memory. */
GPUMC_MUST_CHECK enum gpumc_status
ising_spin_sweep_global(const struct ising_spin_sweep *arguments, struct gpumc_error *error);

GPUMC_MUST_CHECK enum gpumc_status
ising_spin_randomize(const struct ising_spin_replicas *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_spin_from_portable(const struct ising_spin_transfer *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_spin_to_portable(const struct ising_spin_transfer *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_spin_copy_parents(const struct ising_spin_gather *arguments, struct gpumc_error *error);

#ifdef __cplusplus
}
#endif

#endif
