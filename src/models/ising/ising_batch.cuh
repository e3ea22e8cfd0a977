/* The device's side of ising_batch_cuda.h. */
#ifndef GPUMC_ISING_BATCH_CUH
#define GPUMC_ISING_BATCH_CUH

#include "core/numerics/random.h"
#include "models/ising/ising_batch_cuda.h"
#include "models/ising/ising_physics.h"

/* The generator of run m of the batch: gpumc_random_make, from a key that is read as it stands,
 * which makes shorter code. */
__device__ static inline struct gpumc_random
ising_batch_random(const struct ising_batch *batch, uint32_t m)
{
  return {{batch->key[0], batch->key[1] + (m << 16)}, batch->rounds};
}

/* The channels of replica `element` with these sums over all bonds and spins. Signs: s_i s_j times
 * the sign of J_ij where couplings are signs. `along`: sum of the spins along their fields, where
 * these have signs of their own, else that of the spins. */
__device__ static inline void ising_record_sums(const struct ising_channels *channels,
                                                size_t element, int64_t bonds, int64_t spins,
                                                int64_t along)
{
  if (channels->energy != NULL)
    channels->energy[element] = ising_energy(channels->coupling, channels->field, bonds, along);
  if (channels->magnetization != NULL)
    channels->magnetization[element] = spins;
}

/* The same of a square lattice without disorder with `up` spins up and `unlike` bonds between
 * unlike spins. */
__device__ static inline void ising_record(const struct ising_channels *channels, size_t element,
                                           int64_t sites, int64_t up, int64_t unlike)
{
  const int64_t spins = 2 * up - sites;
  ising_record_sums(channels, element, 2 * (sites - unlike), spins, spins);
}

#endif
