/* Canonical runs: how the numbers of one temperature, and of the points of the grid that it serves,
 * are made of means. */
#ifndef GPUMC_ALGORITHMS_CANONICAL_EVALUATION_H
#define GPUMC_ALGORITHMS_CANONICAL_EVALUATION_H

#include "algorithms/canonical/canonical_estimate.h"
#include "core/statistics/jackknife.h"

/* Arrays of results are [points][stride]: a point's results and its share. */
struct canonical_evaluation {
  const struct canonical *canonical;
  size_t m, points, stride;
};

struct canonical_evaluation canonical_evaluation_of(const struct canonical *canonical, size_t m);
static inline size_t canonical_evaluation_width(const struct canonical_evaluation *evaluation)
{
  return evaluation->points * evaluation->stride;
}

/* Averages at all points from the means of the vector: of a system, or of one sample. */
void canonical_evaluation_average(const struct canonical_evaluation *evaluation, const double *mean,
                                  double *averages);
/* What derives from averages, behind them. */
void canonical_evaluation_derive(const struct canonical_evaluation *evaluation, double *averages);
/* Of all results, from those with one part left out after the other: without[n][width]. */
GPUMC_MUST_CHECK enum gpumc_status
canonical_evaluation_variances(const struct canonical_evaluation *evaluation, const double *without,
                               size_t n, struct gpumc_variance *variances,
                               struct gpumc_error *error);

/* Values and errors where every replica has a sample of the disorder. */
GPUMC_MUST_CHECK enum gpumc_status
canonical_estimate_samples(const struct canonical_evaluation *evaluation,
                           struct canonical_estimates *estimates, struct gpumc_error *error);

#endif
