/* The channels of Ising replicas: squared amplitudes of waves, on every device; on a GPU which
 * channels are wanted, and how they follow from counts. */
#ifndef GPUMC_ISING_CHANNELS_H
#define GPUMC_ISING_CHANNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/numerics/host_device.h"
#include "models/ising/ising_physics.h"

/* ---- waves ---- */

/* Squared amplitudes of the smallest waves, exactly: cosines and sines are integers, so that the
 * result is the same on every device. */

/* cos(2 pi x / L) and sin(2 pi x / L) in units of 2^-bits, rounded, x < L: `bits` are these, fewer
 * where there are more than 2^32 sites, so that sums over all of them keep below 2^62. */
enum { ISING_WAVE_BITS_MAXIMUM = 30, ISING_WAVE_SUM_BITS = 62 };

/* The waves run along the `axes` longest sides, whose length is `length`; `shift`: the quantum is
 * 2^-(2 bits - shift). */
struct ising_wave {
  uint32_t along[3]; /* whether along x, y, z */
  uint32_t axes, length, bits, shift;
};

/* The mean over the axes of C^2 + S^2, in quanta, rounded down; cosine[axis] = C: the sum over all
 * sites of the spins (or overlaps) times the table's cosines, and sine[axis] = S likewise. */
GPUMC_HOST_DEVICE static inline int64_t
ising_wave_square(const struct ising_wave *wave, const int64_t *cosine, const int64_t *sine)
{
  unsigned __int128 total = 0;
  for (uint32_t axis = 0; axis < 3; axis++)
    if (wave->along[axis])
      total += (unsigned __int128)((__int128)cosine[axis] * cosine[axis]) +
               (unsigned __int128)((__int128)sine[axis] * sine[axis]);
  /* Shifted first, so that most quotients are of 64 bits. */
  total >>= wave->shift;
  return (int64_t)(total >> 64 == 0 ? (uint64_t)total / wave->axes : total / wave->axes);
}

struct gpumc_model;
struct ising_wave ising_wave_of(const struct gpumc_model *model);
/* cosine[length], sine[length] */
void ising_wave_table(const struct ising_wave *wave, int32_t *cosine, int32_t *sine);

/* ---- channels of replicas on a GPU ---- */

/* Arrays [runs][capacity] in device memory, NULL where not wanted; J and h in quanta, h the size of
 * random fields that are signs. */
struct ising_channels {
  int64_t *energy, *magnetization;
  double coupling, field;
};

GPUMC_HOST_DEVICE static inline bool ising_wanted(const struct ising_channels *channels)
{
  return channels->energy != NULL || channels->magnetization != NULL;
}

/* The channels of replica `element` with these sums over all bonds and spins. Signs: s_i s_j times
 * the sign of J_ij where couplings are signs. `along`: sum of the spins along their fields, where
 * these have signs of their own, else that of the spins. */
GPUMC_HOST_DEVICE static inline void ising_record_sums(const struct ising_channels *channels,
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
GPUMC_HOST_DEVICE static inline void ising_record_counts(const struct ising_channels *channels,
                                                         size_t element, int64_t sites, int64_t up,
                                                         int64_t unlike)
{
  const int64_t spins = 2 * up - sites;
  ising_record_sums(channels, element, 2 * (sites - unlike), spins, spins);
}

#endif
