/* Powers of measured values, for both compilers. */
#ifndef GPUMC_CORE_POWER_H
#define GPUMC_CORE_POWER_H

#include <math.h>
#include <stdbool.h>

#include "core/numerics/host_device.h"

/* Returns x, |x|, x^2 or x^4. */
GPUMC_HOST_DEVICE static inline double gpumc_power(double x, unsigned power, bool absolute)
{
  const double square = x * x;
  if (power == 1)
    return absolute ? fabs(x) : x;
  return power == 2 ? square : square * square;
}

#endif
