/* Exchanges of clusters on a GPU: what the launches of all kernels have in common. A kernel puts
 * the struct into its own arguments, and its host code fills it for one launch after another:
 *
 *   struct ising_exchange_launch launch = ising_exchange_launch_of(with, coupling);
 *   launch.threads = ...; launch.words = ...;
 *   while (ising_exchange_next(with, &launch)) {
 *     GPUMC_TRY(ising_exchange_spread(ensemble, pairs, &launch, error));
 *     ... the kernel ...
 *   } */
#ifndef GPUMC_ISING_EXCHANGE_GPU_H
#define GPUMC_ISING_EXCHANGE_GPU_H

#include "models/ising/ising_exchange.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  ISING_EXCHANGE_RUNS = 128,    /* of one launch, at most: they are arguments */
  ISING_EXCHANGE_THREADS = 256, /* of a block, unless asked for otherwise */
};

/* Between the runs first + i and second + i, i < runs, of couplings J = coupling times a sample's
 * own; `threshold`: of a bond of J. A block of threads works in `words` words, of `memory` on the
 * device or of shared memory (NULL). counts[runs] */
struct ising_exchange_launch {
  uint32_t first, second, runs;
  uint32_t activated, time;
  uint32_t blocks, threads;
  uint32_t *memory;
  size_t words;
  struct gpumc_cluster_counts *counts;
  double coupling;
  double beta[ISING_EXCHANGE_RUNS];
  uint64_t threshold[ISING_EXCHANGE_RUNS];
};

/* Returns a launch before the first, without runs. */
struct ising_exchange_launch
ising_exchange_launch_of(const struct gpumc_cluster_exchange *with, double coupling);

/* Moves on to the next runs; returns false after the last ones. */
bool ising_exchange_next(const struct gpumc_cluster_exchange *with,
                         struct ising_exchange_launch *launch);

/* Sets blocks and memory for `pairs` pairs, from threads and words. */
GPUMC_MUST_CHECK enum gpumc_status
ising_exchange_spread(struct gpumc_ensemble *ensemble, size_t pairs,
                      struct ising_exchange_launch *launch, struct gpumc_error *error);

/* Returns the bytes of device memory that blocks with `words` words each need, of the ensemble's
 * scratch, if they do not fit into shared memory. */
size_t ising_exchange_scratch_bytes(size_t pairs, size_t words);

#ifdef __cplusplus
}
#endif

#endif
