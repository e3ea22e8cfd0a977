/* The device's side of ising_batch_cuda.h. */
#ifndef GPUMC_ISING_BATCH_CUH
#define GPUMC_ISING_BATCH_CUH

#include "core/random.h"
#include "models/ising/ising_batch_cuda.h"
#include "models/ising/ising_physics.h"

/* The generator of run m of the batch: gpumc_random_make, from a key that is read as it stands,
 * which makes shorter code. */
__device__ static inline struct gpumc_random
ising_batch_random(const struct ising_batch *batch, uint32_t m)
{
  return {{batch->key[0], batch->key[1] + (m << 16)}, batch->rounds};
}

/* The channels of replica `element` with `up` spins up and `unlike` bonds between unlike spins. */
__device__ static inline void ising_record(const struct ising_channels *channels, size_t element,
                                           int64_t sites, int64_t up, int64_t unlike)
{
  const int64_t spins = 2 * up - sites;
  const int64_t bonds = 2 * (sites - unlike);
  if (channels->energy != NULL)
    channels->energy[element] = ising_energy(channels->coupling, channels->field, bonds, spins);
  if (channels->magnetization != NULL)
    channels->magnetization[element] = spins;
}

#endif
