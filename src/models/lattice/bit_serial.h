/* The comparison u < T for 32 replicas a word, bit by bit from the most significant.
 *
 * u is a uniform 32-bit number a lane: plane p (p = 0 the most significant bit) of a word is output
 * p mod 4 of the word's Philox counter with draw p / 4. T depends on the lane's class. A lane is
 * decided at the first bit where u and T differ; what comes after cannot change it, so that it does
 * not matter where an implementation stops looking: this is what makes CPU and GPU agree. After 32
 * equal bits u = T, which is not less.
 *
 * Bits of one block are taken from the least significant up: then the last difference seen is the
 * deciding one, and `less` and `equal` are one three-operand function each. */
#ifndef GPUMC_LATTICE_BIT_SERIAL_H
#define GPUMC_LATTICE_BIT_SERIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/numerics/threshold.h"

enum { GPUMC_BIT_PLANES = 32, GPUMC_PLANES_A_DRAW = 4, GPUMC_BIT_CLASSES = 7 };

/* The bits of the thresholds of up to seven classes as masks (0 or all ones), plane 0 the most
 * significant bit. need[c]: 0 if class c is always accepted. */
struct gpumc_bit_thresholds {
  uint32_t bit[GPUMC_BIT_PLANES][GPUMC_BIT_CLASSES];
  uint32_t need[GPUMC_BIT_CLASSES];
};

static inline void
gpumc_bit_thresholds_set(struct gpumc_bit_thresholds *table, uint32_t class, uint64_t threshold)
{
  const bool always = threshold >= GPUMC_THRESHOLD_ALWAYS;
  table->need[class] = always ? 0 : UINT32_MAX;
  for (uint32_t p = 0; p < GPUMC_BIT_PLANES; p++)
    table->bit[p][class] = !always && (threshold >> (31 - p) & 1) != 0 ? UINT32_MAX : 0;
}

#endif
