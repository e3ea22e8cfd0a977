/* Squared amplitudes of the smallest waves of a vector, from exact sums of spins times cosines and
 * sines in fixed point: for both compilers. */
#ifndef GPUMC_HEISENBERG_WAVE_H
#define GPUMC_HEISENBERG_WAVE_H

#include "models/heisenberg/heisenberg_physics.h"
#include "models/lattice/wave.h"

/* high 2^32 + low, in units of 2^-(HEISENBERG_QUANTUM_BITS + lattice_wave.bits). Both are separate
 * sums that need no carry. */
struct heisenberg_wave_sum {
  int64_t high, low;
};

/* [component][axis] of the axes that waves run along. */
struct heisenberg_wave_sums {
  struct heisenberg_wave_sum cosine[3][3], sine[3][3];
};

/* Adds a component of a spin, in quanta, times a number of the table. */
GPUMC_HOST_DEVICE static inline void
heisenberg_wave_add(struct heisenberg_wave_sum *sum, int32_t quanta, int32_t table)
{
  const int64_t product = (int64_t)quanta * table;
  sum->high += product >> 32;
  sum->low += (int64_t)(uint32_t)product;
}

/* Returns it in units of 2^-lattice_wave.bits, rounded down. */
GPUMC_HOST_DEVICE static inline int64_t
heisenberg_wave_amplitude(const struct heisenberg_wave_sum *sum)
{
  return (int64_t)(((__int128)sum->high * ((int64_t)1 << 32) + sum->low) >>
                   HEISENBERG_QUANTUM_BITS);
}

/* Returns it in quanta of HEISENBERG_WAVE. */
GPUMC_HOST_DEVICE static inline int64_t
heisenberg_wave_square(const struct lattice_wave *wave, uint32_t components,
                       const struct heisenberg_wave_sums *sums)
{
  int64_t square = 0;
  for (uint32_t a = 0; a < components; a++) {
    int64_t cosine[3] = {0, 0, 0}, sine[3] = {0, 0, 0};
    for (uint32_t axis = 0; axis < 3; axis++)
      if (wave->along[axis]) {
        cosine[axis] = heisenberg_wave_amplitude(&sums->cosine[a][axis]);
        sine[axis] = heisenberg_wave_amplitude(&sums->sine[a][axis]);
      }
    square += lattice_wave_square(wave, cosine, sine);
  }
  return square;
}

#endif
