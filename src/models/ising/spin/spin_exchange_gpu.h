/* Exchanges of clusters between replicas of the spin kernel on a GPU: the host's interface. */
#ifndef GPUMC_ISING_SPIN_EXCHANGE_GPU_H
#define GPUMC_ISING_SPIN_EXCHANGE_GPU_H

#include "models/ising/ising_exchange.h"
#include "models/ising/spin/spin_gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Between the runs first + i and second + i, i < runs: the most of one launch, which takes their
 * temperatures as arguments. `coupling`: ising_spin_coupling(). A block of threads works in `words`
 * words, of `memory` on the device or of shared memory (NULL). counts[runs] */
enum { ISING_SPIN_EXCHANGE_RUNS = 128 };
struct ising_spin_gpu_exchange {
  struct ising_spin_replicas replicas;
  struct ising_tables tables;
  uint32_t first, second, runs;
  uint32_t activated, time;
  uint32_t blocks, threads;
  uint32_t *memory;
  size_t words;
  struct gpumc_cluster_counts *counts;
  double coupling;
  double beta[ISING_SPIN_EXCHANGE_RUNS];
  uint64_t threshold[ISING_SPIN_EXCHANGE_RUNS]; /* of a bond, unless samples have terms */
};

GPUMC_MUST_CHECK enum gpumc_status
ising_spin_exchange_replicas(const struct ising_spin_gpu_exchange *with, struct gpumc_error *error);

#ifdef __cplusplus
}
#endif

#endif
