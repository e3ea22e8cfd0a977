/* Time for durations: of the monotonic clock, which nobody sets. */
#ifndef GPUMC_CORE_CLOCK_H
#define GPUMC_CORE_CLOCK_H

/* Seconds since some fixed instant. */
double gpumc_clock(void);

#endif
