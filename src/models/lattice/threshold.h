/* Acceptance of Metropolis as an integer: a move is accepted iff a uniform 32-bit number is below
 * it. */
#ifndef GPUMC_LATTICE_THRESHOLD_H
#define GPUMC_LATTICE_THRESHOLD_H

#include <stdint.h>

#include "core/elementary.h"

/* No comparison needed: always accepted. */
#define GPUMC_THRESHOLD_ALWAYS ((uint64_t)1 << 32)

/* floor(min(1, exp(-x)) 2^32 + 1/2) for x = beta dE. */
GPUMC_HOST_DEVICE static inline uint64_t gpumc_metropolis_threshold(double x)
{
  if (x <= 0.0)
    return GPUMC_THRESHOLD_ALWAYS;
  uint64_t threshold = (uint64_t)fma(gpumc_exp(-x), 4294967296.0, 0.5);
  return threshold < GPUMC_THRESHOLD_ALWAYS ? threshold : GPUMC_THRESHOLD_ALWAYS;
}

#endif
