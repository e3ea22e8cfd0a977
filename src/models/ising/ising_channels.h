/* The channels of Ising replicas: squared amplitudes of waves, on every device; on a GPU the wanted
 * channels, and how they are computed from counts. */
#ifndef GPUMC_ISING_CHANNELS_H
#define GPUMC_ISING_CHANNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/numerics/host_device.h"
#include "models/ising/ising_physics.h"
#include "models/lattice/wave.h"

struct gpumc_model;
struct lattice_wave ising_wave_of(const struct gpumc_model *model);

/* ---- channels of replicas on a GPU ---- */

/* Arrays [runs][capacity] in device memory, NULL if not wanted; J and h in quanta, h the size of
 * random fields that are signs. */
struct ising_channels {
  int64_t *energy, *magnetization;
  double coupling, field;
};

GPUMC_HOST_DEVICE static inline bool ising_wanted(const struct ising_channels *channels)
{
  return channels->energy != NULL || channels->magnetization != NULL;
}

/* Returns whether sums over spins are needed for them, not only over bonds. */
GPUMC_HOST_DEVICE static inline bool ising_wants_spins(const struct ising_channels *channels)
{
  return channels->magnetization != NULL || channels->field != 0.0;
}

/* Writes the channels of replica `element` from these sums over all bonds and spins. Signs: s_i s_j
 * times the sign of J_ij if couplings are signs. `along`: sum of the spins along their fields, if
 * these have signs of their own, otherwise that of the spins. */
GPUMC_HOST_DEVICE static inline void ising_record_sums(const struct ising_channels *channels,
                                                       size_t element, int64_t bonds, int64_t spins,
                                                       int64_t along)
{
  if (channels->energy != NULL)
    channels->energy[element] = ising_energy(channels->coupling, channels->field, bonds, along);
  if (channels->magnetization != NULL)
    channels->magnetization[element] = spins;
}

/* The same for a square lattice without disorder with `up` spins up and `unlike` bonds between
 * unlike spins. */
GPUMC_HOST_DEVICE static inline void ising_record_counts(const struct ising_channels *channels,
                                                         size_t element, int64_t sites, int64_t up,
                                                         int64_t unlike)
{
  const int64_t spins = 2 * up - sites;
  ising_record_sums(channels, element, 2 * (sites - unlike), spins, spins);
}

#endif
