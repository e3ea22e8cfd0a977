/* Canonical runs: how the results of one temperature, and of the points of the grid that it serves,
 * follow from means. */
#ifndef GPUMC_ALGORITHMS_CANONICAL_EVALUATION_H
#define GPUMC_ALGORITHMS_CANONICAL_EVALUATION_H

#include "algorithms/canonical/canonical_estimate.h"
#include "core/statistics/estimate.h"

/* Arrays of averages are [points][averages + 1], of results [points][results + 1]: those of a point
 * (core/simulation/observables.h), and its share. */
struct canonical_evaluation {
  const struct canonical *canonical;
  size_t m, points;
  size_t averages, results; /* of all points */
};

struct canonical_evaluation canonical_evaluation_of(const struct canonical *canonical, size_t m);
struct gpumc_controls
canonical_evaluation_controls(const struct canonical_evaluation *evaluation, size_t point);
static inline const double *canonical_averages_at(const struct canonical_evaluation *evaluation,
                                                  const double *averages, size_t point)
{
  return averages + point * (evaluation->averages / evaluation->points);
}

/* Averages at all points from the means of the vector: of a system, or of one sample. */
void canonical_evaluation_average(const struct canonical_evaluation *evaluation, const double *mean,
                                  double *averages);
/* Results from averages: `results` of the estimator with averages for means, `state` is the
 * evaluation. */
void canonical_evaluation_results(const void *state, const double *averages, double *results);
/* `is_known` of the estimator. */
bool canonical_evaluation_is_known(const void *state, size_t result);

/* Averages, values and errors where every replica has a sample of the disorder. */
GPUMC_MUST_CHECK enum gpumc_status
canonical_estimate_samples(const struct canonical_evaluation *evaluation,
                           struct canonical_estimates *estimates, struct gpumc_error *error);

#endif
