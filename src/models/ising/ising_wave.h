/* Squared amplitudes of the smallest waves, exactly: cosines and sines are integers, so that the
 * result is the same on every device. */
#ifndef GPUMC_ISING_WAVE_H
#define GPUMC_ISING_WAVE_H

#include <stdint.h>

#include "core/numerics/host_device.h"

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

#endif
