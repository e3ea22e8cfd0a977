/* Chains: averages and results of one temperature, at the temperature itself and at the grid points
 * that it serves.
 *
 * Means of the vector (chains.h) become averages, separate ones for each disorder sample; averages,
 * or means of them over the samples, become results. */
#ifndef GPUMC_ALGORITHMS_CHAINS_AVERAGES_H
#define GPUMC_ALGORITHMS_CHAINS_AVERAGES_H

#include "algorithms/chains/chains_internal.h"

/* Arrays of averages are [points][averages + 1], of results [points][results + 1]: those of a point
 * (core/simulation/observables.h), and its share. */
struct chains_evaluation {
  const struct chains *chains;
  size_t m, points;
  size_t averages, results; /* of all points */
};

/* Returns the evaluation of temperature m. */
struct chains_evaluation chains_evaluation_of(const struct chains *chains, size_t m);

/* Returns the averages of a point. */
static inline const double *
chains_averages_at(const struct chains_evaluation *evaluation, const double *averages, size_t point)
{
  return averages + point * (evaluation->averages / evaluation->points);
}

struct gpumc_controls chains_controls_at(const struct chains_evaluation *evaluation, size_t point);

/* Computes averages at all points from the means of the vector: of a system, or of one sample. */
void chains_averages_of(const struct chains_evaluation *evaluation, const double *mean,
                        double *averages);

/* Returns the first quantity that is computed for each sample, among the averages at the
 * temperature itself; SIZE_MAX if there is none. */
size_t chains_fluctuation(const struct chains_evaluation *evaluation);
/* Computes averages[replicas][averages] of the samples, corrected for the length of their time
 * series. `*squares`: mean square of the corrections of the fluctuation. */
GPUMC_MUST_CHECK enum gpumc_status
chains_average_samples(const struct chains_evaluation *evaluation, double *averages,
                       double *squares, struct gpumc_error *error);

/* `results` and `is_known` of an estimator (core/statistics/estimate.h) whose means are averages;
 * `state`: the evaluation. */
void chains_results_of_averages(const void *state, const double *averages, double *results);
bool chains_result_is_known(const void *state, size_t result);

#endif
