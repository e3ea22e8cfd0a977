/* Canonical runs: averages from means, and results from averages. */
#include "algorithms/canonical/canonical_evaluation.h"

struct canonical_evaluation canonical_evaluation_of(const struct canonical *canonical, size_t m)
{
  const struct gpumc_observables *observables = &canonical->quantities.observables;
  const size_t points = 1 + canonical_grid_count(&canonical->grid, m);
  return (struct canonical_evaluation){canonical, m, points,
                                       points * (gpumc_averages(observables) + 1),
                                       points * (observables->n_quantities + 1)};
}

struct gpumc_controls
canonical_evaluation_controls(const struct canonical_evaluation *evaluation, size_t point)
{
  const struct canonical *canonical = evaluation->canonical;
  const double beta = point == 0
                          ? canonical->betas.beta[evaluation->m]
                          : canonical->grid.beta[canonical->grid.first[evaluation->m] + point - 1];
  return gpumc_controls_at(canonical->context.model->control, 0, beta);
}

/* At one point, from its means. */
static void average_point(const struct canonical_evaluation *evaluation, size_t point,
                          const double *mean, double share, double *averages)
{
  const struct canonical_quantities *quantities = &evaluation->canonical->quantities;
  const struct gpumc_controls controls = canonical_evaluation_controls(evaluation, point);
  const size_t width = gpumc_averages(&quantities->observables);
  double *at = averages + point * (width + 1);
  gpumc_averages_of_each(&quantities->observables, quantities->model, &controls, mean, at);
  at[width] = share;
}

void canonical_evaluation_average(const struct canonical_evaluation *evaluation, const double *mean,
                                  double *averages)
{
  const struct canonical_quantities *quantities = &evaluation->canonical->quantities;
  const double *sums = mean + quantities->count;
  double ratio[GPUMC_MEANS_MAXIMUM];
  average_point(evaluation, 0, mean, 1, averages);
  for (size_t p = 1; p < evaluation->points; p++) {
    for (size_t k = 0; k < quantities->count; k++)
      ratio[k] = sums[2 + k] / sums[0];
    average_point(evaluation, p, ratio, sums[0] * sums[0] / sums[1], averages);
    sums += canonical_point_width(quantities);
  }
}

void canonical_evaluation_results(const void *state, const double *averages, double *results)
{
  const struct canonical_evaluation *evaluation = state;
  const struct canonical_quantities *quantities = &evaluation->canonical->quantities;
  const struct gpumc_observables *observables = &quantities->observables;
  for (size_t p = 0; p < evaluation->points; p++) {
    const struct gpumc_controls controls = canonical_evaluation_controls(evaluation, p);
    const double *at = canonical_averages_at(evaluation, averages, p);
    double *result = results + p * (observables->n_quantities + 1);
    gpumc_averages_evaluate(observables, quantities->model, &controls, at, result);
    result[observables->n_quantities] = at[gpumc_averages(observables)];
  }
}

bool canonical_evaluation_is_known(const void *state, size_t result)
{
  const struct canonical_evaluation *evaluation = state;
  const struct canonical_quantities *quantities = &evaluation->canonical->quantities;
  const size_t stride = quantities->observables.n_quantities + 1;
  const struct gpumc_controls controls = canonical_evaluation_controls(evaluation, result / stride);
  return result % stride < stride - 1 &&
         gpumc_quantity_is_known(&quantities->observables, result % stride, quantities->model,
                                 &controls);
}
