/* Canonical runs: results from means, and their variances from a jackknife. */
#include "algorithms/canonical/canonical_evaluation.h"

#include <stdlib.h>

#include "core/base/memory.h"

struct canonical_evaluation canonical_evaluation_of(const struct canonical *canonical, size_t m)
{
  return (struct canonical_evaluation){canonical, m, 1 + canonical_grid_count(&canonical->grid, m),
                                       canonical_results(&canonical->quantities) + 1};
}

void canonical_evaluation_average(const struct canonical_evaluation *evaluation, const double *mean,
                                  double *averages)
{
  const struct canonical *canonical = evaluation->canonical;
  const struct canonical_quantities *quantities = &canonical->quantities;
  const double *sums = mean + quantities->count;
  double ratio[CANONICAL_QUANTITIES_MAXIMUM];
  canonical_connect(quantities, canonical->betas.beta[evaluation->m], mean, averages);
  averages[evaluation->stride - 1] = 1;
  for (size_t p = 1; p < evaluation->points; p++) {
    const size_t point = canonical->grid.first[evaluation->m] + p - 1;
    double *at = averages + p * evaluation->stride;
    for (size_t q = 0; q < quantities->count; q++)
      ratio[q] = sums[2 + q] / sums[0];
    canonical_connect(quantities, canonical->grid.beta[point], ratio, at);
    at[evaluation->stride - 1] = sums[0] * sums[0] / sums[1];
    sums += canonical_point_width(quantities);
  }
}

void canonical_evaluation_derive(const struct canonical_evaluation *evaluation, double *averages)
{
  for (size_t p = 0; p < evaluation->points; p++)
    canonical_derive(&evaluation->canonical->quantities, averages + p * evaluation->stride);
}

enum gpumc_status canonical_evaluation_variances(const struct canonical_evaluation *evaluation,
                                                 const double *without, size_t n,
                                                 struct gpumc_variance *variances,
                                                 struct gpumc_error *error)
{
  const size_t width = canonical_evaluation_width(evaluation);
  double *column;
  enum gpumc_status status = gpumc_allocate_array(&column, n, "a jackknife", error);
  for (size_t i = 0; i < width && status == GPUMC_OK; i++) {
    for (size_t b = 0; b < n; b++)
      column[b] = without[b * width + i];
    variances[i] = gpumc_jackknife(column, 1, n);
  }
  free(column);
  return status;
}
