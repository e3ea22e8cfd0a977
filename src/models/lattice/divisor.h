/* Division by a number that is known only at run time, as one multiplication. */
#ifndef GPUMC_LATTICE_DIVISOR_H
#define GPUMC_LATTICE_DIVISOR_H

#include <stdint.h>

#include "core/numerics/host_device.h"

struct gpumc_divisor {
  uint32_t value, multiplier, shift;
};

/* 1 <= value < 2^31: multiplier = ceil(2^(31 + shift) / value), 2^shift >= value. */
static inline struct gpumc_divisor gpumc_divisor_make(uint32_t value)
{
  struct gpumc_divisor divisor = {value, 0, 0};
  while ((uint32_t)1 << divisor.shift < value)
    divisor.shift++;
  const uint64_t power = (uint64_t)1 << (31 + divisor.shift);
  divisor.multiplier = (uint32_t)((power + value - 1) / value);
  return divisor;
}

/* Returns n / value for n < 2^31 (Warren, Hacker's Delight, 10-9). */
GPUMC_HOST_DEVICE static inline uint32_t gpumc_divide(uint32_t n, struct gpumc_divisor divisor)
{
  return (uint32_t)((uint64_t)(2 * n) * divisor.multiplier >> 32) >> divisor.shift;
}

#endif
