/* Squared amplitudes of the smallest waves, exactly: cosines and sines are integers, so the result
 * is the same on every device.
 *
 * The measured quantity is |sum over sites of v exp(i k r)|^2 with k = 2 pi / L, averaged over the
 * longest sides. v is a spin that is a sign, an overlap, or one component of a vector. */
#ifndef GPUMC_LATTICE_WAVE_H
#define GPUMC_LATTICE_WAVE_H

#include <stddef.h>
#include <stdint.h>

#include "core/device/device.h"
#include "core/numerics/host_device.h"

/* cos(2 pi x / L) and sin(2 pi x / L) in units of 2^-bits, rounded, x < L: this many `bits`, or
 * fewer if there are more than 2^32 sites, so that sums over all of them stay below 2^62. */
enum { LATTICE_WAVE_BITS_MAXIMUM = 30, LATTICE_WAVE_SUM_BITS = 62 };

/* The waves run along the `axes` longest sides, whose length is `length`; `shift`: the quantum is
 * 2^-(2 bits - shift). */
struct lattice_wave {
  uint32_t along[3]; /* whether along x, y, z */
  uint32_t axes, length, bits, shift;
};

/* Returns the mean over the axes of C^2 + S^2, in quanta, rounded down; cosine[axis] = C: the sum
 * over all sites of v times the table's cosines, and sine[axis] = S likewise. */
GPUMC_HOST_DEVICE static inline int64_t
lattice_wave_square(const struct lattice_wave *wave, const int64_t *cosine, const int64_t *sine)
{
  unsigned __int128 total = 0;
  for (uint32_t axis = 0; axis < 3; axis++)
    if (wave->along[axis])
      total += (unsigned __int128)((__int128)cosine[axis] * cosine[axis]) +
               (unsigned __int128)((__int128)sine[axis] * sine[axis]);
  /* Shifted first, so that most quotients have 64 bits. */
  total >>= wave->shift;
  return (int64_t)(total >> 64 == 0 ? (uint64_t)total / wave->axes : total / wave->axes);
}

/* Returns the square of one sum of those, in quanta, rounded to the nearest, for sums over many
 * parts of a lattice, whose errors would add up if each was rounded down. */
GPUMC_HOST_DEVICE static inline uint64_t lattice_wave_square_of(uint32_t shift, int64_t sum)
{
  const unsigned __int128 half = (unsigned __int128)1 << shift >> 1;
  return (uint64_t)(((unsigned __int128)((__int128)sum * sum) + half) >> shift);
}

struct gpumc_checkerboard;
/* Returns the quantum of squared amplitudes if |v| <= 1: a power of two, at most 2^60 of which make
 * up the largest amplitude. */
double lattice_wave_quantum(double sites);
/* `quantum`: that of the channel. */
struct lattice_wave lattice_wave_of(const struct gpumc_checkerboard *lattice, double quantum);
/* cosine[length], sine[length] */
void lattice_wave_table(const struct lattice_wave *wave, int32_t *cosine, int32_t *sine);
/* Copies the same to device memory, and their sums on request: sum[2]; NULL: not wanted. Done on
 * return. */
GPUMC_MUST_CHECK enum gpumc_status
lattice_wave_bring(const struct lattice_wave *wave, struct gpumc_device *device, int32_t *cosine,
                   int32_t *sine, int64_t *sum, struct gpumc_error *error);
/* Returns the smallest wave number, 2 pi / L. */
double lattice_wave_number(const struct gpumc_checkerboard *lattice);

#endif
