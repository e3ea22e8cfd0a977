/* Autocorrelation times of series (series.h): lagged products, and their sum up to a window. */
#ifndef GPUMC_CORE_SERIES_TIME_H
#define GPUMC_CORE_SERIES_TIME_H

#include <stddef.h>

#include "core/statistics/series.h"

/* The latest bin of level l, less the reference, times itself and those before it. */
void gpumc_series_correlate(struct gpumc_series *series, size_t l, double bin);
/* Put the products of `other` to those of `series`; before anything else of them is merged. */
void gpumc_series_merge_lags(struct gpumc_series *series, const struct gpumc_series *other);
/* Sets autocorrelation_time and time_error, where a window can be found; else they stay. */
void gpumc_series_find_time(const struct gpumc_series *series,
                            struct gpumc_series_estimate *estimate);

#endif
