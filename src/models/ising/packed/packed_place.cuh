/* Where a packed replica stands. */
#ifndef GPUMC_ISING_PACKED_PLACE_CUH
#define GPUMC_ISING_PACKED_PLACE_CUH

#include "models/ising/packed/packed_cuda.h"

/* Words of one replica. */
__host__ __device__ static inline size_t
ising_packed_words(const struct ising_multispin_replicas *replicas)
{
  return 2 * (size_t)replicas->colour;
}

__device__ static inline uint32_t *
ising_packed_replica(const struct ising_multispin_replicas *replicas, uint32_t m, uint32_t replica)
{
  return replicas->words + ((size_t)m * replicas->groups + replica) * ising_packed_words(replicas);
}

#endif
