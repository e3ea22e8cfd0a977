/* Counting lane by lane in multispin words. Included by *_isa.c sources. */
#ifndef GPUMC_ISING_MULTISPIN_COUNT_H
#define GPUMC_ISING_MULTISPIN_COUNT_H

#include "models/ising/multispin/multispin_isa.h"
#include "models/lattice/vertical_counter.h"

enum { ISING_COUNT_VECTORS = 4, ISING_COUNT_BLOCK = ISING_COUNT_VECTORS * GPUMC_VECTOR_WORDS };

/* Lanes of words that are still within the lattice. */
GPUMC_INLINE gpumc_v32 ising_within(size_t words)
{
  if (words >= GPUMC_VECTOR_WORDS)
    return gpumc_broadcast(UINT32_MAX);
  return (gpumc_v32)(gpumc_lane_numbers() < gpumc_broadcast((uint32_t)words));
}

/* count[lane] += bits set in n words, at most a part, of each of the arrays. Whole vectors are
 * read. */
static inline void
ising_count_up(const uint32_t *const *array, size_t arrays, size_t n, int64_t count[ISING_LANES])
{
  const size_t planes =
      gpumc_counter_planes(arrays * (n / GPUMC_VECTOR_WORDS + ISING_COUNT_VECTORS));
  struct gpumc_vertical_counter counter;
  gpumc_v32 ones = gpumc_broadcast(0), twos = ones;
  gpumc_counter_clear(&counter, planes);
  for (size_t a = 0; a < arrays; a++)
    for (size_t i = 0; i + ISING_COUNT_BLOCK <= n; i += ISING_COUNT_BLOCK) {
      const uint32_t *at = array[a] + i;
      gpumc_v32 carry = gpumc_counter_add4(
          &ones, &twos, gpumc_load(at), gpumc_load(at + GPUMC_VECTOR_WORDS),
          gpumc_load(at + 2 * GPUMC_VECTOR_WORDS), gpumc_load(at + 3 * GPUMC_VECTOR_WORDS));
      gpumc_counter_add(&counter, 2, planes, carry);
    }
  counter.plane[0] = ones;
  counter.plane[1] = twos;
  for (size_t a = 0; a < arrays; a++)
    for (size_t i = n / ISING_COUNT_BLOCK * ISING_COUNT_BLOCK; i < n; i += GPUMC_VECTOR_WORDS)
      gpumc_counter_add(&counter, 0, planes, gpumc_load(array[a] + i) & ising_within(n - i));
  gpumc_counter_flush(&counter, planes, count);
}

/* Whether the lattice is one for ising_multispin_cube, which sets the sums of waves and spins up
 * from working copies. */
bool GPUMC_ISA_NAME(ising_multispin_is_cube)(const struct gpumc_checkerboard *lattice);
void GPUMC_ISA_NAME(ising_multispin_cube)(const struct gpumc_checkerboard *lattice,
                                          const uint32_t *const sites[2],
                                          const struct ising_multispin_waves *waves,
                                          struct ising_multispin_sums *sums);

/* Sets the sums of waves of any lattice, from working copies. */
void GPUMC_ISA_NAME(ising_multispin_wave)(const struct gpumc_checkerboard *lattice,
                                          const uint32_t *const sites[2],
                                          const struct ising_multispin_waves *waves,
                                          struct ising_multispin_sums *sums);

#endif
