/* Canonical runs: what is measured of a replica. */
#ifndef GPUMC_ALGORITHMS_CANONICAL_QUANTITIES_H
#define GPUMC_ALGORITHMS_CANONICAL_QUANTITIES_H

#include "core/simulation/observables.h"

/* Means are summed up, results are the quantities of the model that follow from them. Means that
 * are results themselves have time series, from which their errors come. */
struct canonical_quantities {
  const struct gpumc_model *model;
  struct gpumc_observables observables;
  size_t count; /* of means */
  double unit[GPUMC_MEANS_MAXIMUM];
  size_t n_series;
  size_t series_mean[GPUMC_MEANS_MAXIMUM];   /* [n_series] which mean it is */
  size_t series_result[GPUMC_MEANS_MAXIMUM]; /* [n_series] which result */
};

void canonical_quantities_make(const struct gpumc_model *model,
                               const struct gpumc_observables *observables,
                               struct canonical_quantities *quantities);

/* What mean k is made of, of `count` values of its channel. */
void canonical_moments_of(const struct gpumc_mean *mean, double unit, const int64_t *channel,
                          size_t count, double *values);

#endif
