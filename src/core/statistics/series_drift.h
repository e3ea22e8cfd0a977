/* Whether a time series is stationary: part of gpumc_series_estimate(). */
#ifndef GPUMC_CORE_SERIES_DRIFT_H
#define GPUMC_CORE_SERIES_DRIFT_H

#include "core/statistics/series.h"

/* Sets drift, drift_length and drifts. `product`: 2 tau times the variance of a value; `estimate`
 * must already have its freedom and bin_length. */
void gpumc_series_find_drift(const struct gpumc_series *series, double product,
                             struct gpumc_series_estimate *estimate);

#endif
