/* Exchanges of clusters between groups of the multispin kernel on a GPU: the host's interface. */
#ifndef GPUMC_ISING_MULTISPIN_EXCHANGE_GPU_H
#define GPUMC_ISING_MULTISPIN_EXCHANGE_GPU_H

#include "models/ising/ising_exchange.h"
#include "models/ising/multispin/multispin_gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Between the runs first + i and second + i, i < runs: the most of one launch, which takes their
 * thresholds as arguments. `like`: all ones if beta J is above 0, J that of a positive sign, else
 * 0. A block of threads works in `words` words, of `memory` on the device or of shared memory
 * (NULL). counts[runs] */
enum { ISING_EXCHANGE_RUNS = 128 };
struct ising_multispin_gpu_exchange {
  struct ising_multispin_replicas replicas;
  struct ising_multispin_disorder disorder;
  uint32_t first, second, runs;
  uint32_t activated, time;
  uint32_t blocks, threads;
  uint32_t *memory;
  size_t words;
  struct gpumc_cluster_counts *counts;
  uint64_t threshold[ISING_EXCHANGE_RUNS];
  uint32_t like[ISING_EXCHANGE_RUNS];
};

GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_exchange_groups(const struct ising_multispin_gpu_exchange *with,
                                struct gpumc_error *error);

#ifdef __cplusplus
}
#endif

#endif
