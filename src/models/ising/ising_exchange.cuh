/* What the kernels on a GPU share in exchanges of clusters. */
#ifndef GPUMC_ISING_EXCHANGE_CUH
#define GPUMC_ISING_EXCHANGE_CUH

#include "models/ising/ising_exchange.h"

/* Adds one exchange of two replicas, which differed. */
__device__ static inline void
ising_exchange_record(uint64_t exchanged, uint64_t differing, struct gpumc_cluster_counts *counts)
{
  const uint64_t added[] = {1, differing, exchanged, ising_exchange_share(exchanged, differing)};
  uint64_t *const sum[] = {&counts->exchanges, &counts->differing, &counts->exchanged,
                           &counts->shares};
#pragma unroll
  for (int i = 0; i < 4; i++)
    atomicAdd((unsigned long long *)sum[i], (unsigned long long)added[i]);
}

#endif
