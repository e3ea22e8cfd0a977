/* The monotonic clock in seconds. */
#include "core/base/clock.h"

#include <time.h>

double gpumc_clock(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
