/* Acceptance as an integer: a move is accepted iff a uniform 32-bit number is below it. */
#ifndef GPUMC_CORE_THRESHOLD_H
#define GPUMC_CORE_THRESHOLD_H

#include <stdint.h>

#include "core/numerics/elementary.h"

/* Always accepted: no comparison needed. */
#define GPUMC_THRESHOLD_ALWAYS ((uint64_t)1 << 32)

/* floor(p 2^32 + 1/2), at most GPUMC_THRESHOLD_ALWAYS, for 0 <= p <= 1. */
GPUMC_HOST_DEVICE static inline uint64_t gpumc_threshold(double p)
{
  uint64_t threshold = (uint64_t)fma(p, 4294967296.0, 0.5);
  return threshold < GPUMC_THRESHOLD_ALWAYS ? threshold : GPUMC_THRESHOLD_ALWAYS;
}

/* Threshold for p = min(1, exp(-x)). */
GPUMC_HOST_DEVICE static inline uint64_t gpumc_threshold_exponential(double x)
{
  return x <= 0.0 ? GPUMC_THRESHOLD_ALWAYS : gpumc_threshold(gpumc_exp(-x));
}

/* Threshold for p = 1 / (1 + exp(-x)). */
GPUMC_HOST_DEVICE static inline uint64_t gpumc_threshold_logistic(double x)
{
  const double odds = gpumc_exp(-fabs(x)); /* of the less likely direction */
  return gpumc_threshold(x >= 0.0 ? 1.0 / (1.0 + odds) : odds / (1.0 + odds));
}

#endif
