/* The random numbers of the trajectory "ising.spin.1" in vectors: blocks of 64 spins of a colour
 * have 16 Philox counters, whose outputs j = 0..3 belong to the spins 16 j .. 16 j + 15. Four
 * vectors of counters at a time. */
#ifndef GPUMC_ISING_SPIN_NUMBERS_H
#define GPUMC_ISING_SPIN_NUMBERS_H

#include "core/numerics/simd_philox.h"

enum {
  ISING_SPIN_BLOCK = 64,
  ISING_SPIN_COUNTERS = 16,
  ISING_SPIN_OUTPUTS = 4,
  ISING_SPIN_VECTORS = 4, /* of counters that are drawn together */
  ISING_SPIN_BLOCK_VECTORS = ISING_SPIN_COUNTERS / GPUMC_VECTOR_WORDS,
  ISING_SPIN_BLOCKS = ISING_SPIN_VECTORS / ISING_SPIN_BLOCK_VECTORS
};

/* Numbers of `blocks` (a constant) blocks, in the order of the spins, the first of which is spin k.
 */
GPUMC_INLINE void ising_spin_numbers(const struct gpumc_philox_stream *stream,
                                     const uint32_t rounds, uint32_t label, const size_t blocks,
                                     size_t k,
                                     gpumc_v32 number[ISING_SPIN_VECTORS * ISING_SPIN_OUTPUTS])
{
  const uint32_t counter = (uint32_t)(k / ISING_SPIN_OUTPUTS);
  const uint32_t labels[ISING_SPIN_VECTORS] = {label, label, label, label};
  const size_t vectors = blocks * ISING_SPIN_BLOCK_VECTORS;
  gpumc_v32 site[ISING_SPIN_VECTORS], drawn[ISING_SPIN_VECTORS][ISING_SPIN_OUTPUTS];
#pragma GCC unroll 4
  for (size_t v = 0; v < vectors; v++)
    site[v] = gpumc_lane_numbers() + (uint32_t)v * GPUMC_VECTOR_WORDS + counter;
  gpumc_philox_draws(stream, rounds, vectors, site, labels, drawn);
#pragma GCC unroll 16
  for (size_t i = 0; i < vectors * ISING_SPIN_OUTPUTS; i++) {
    const size_t first = i * GPUMC_VECTOR_WORDS;
    const size_t block = first / ISING_SPIN_BLOCK, within = first % ISING_SPIN_BLOCK;
    number[i] =
        drawn[block * ISING_SPIN_BLOCK_VECTORS + within % ISING_SPIN_COUNTERS / GPUMC_VECTOR_WORDS]
             [within / ISING_SPIN_COUNTERS];
  }
}

#endif
