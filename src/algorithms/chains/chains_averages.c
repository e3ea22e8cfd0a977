/* Chains: from the sums of a temperature to averages, of the system or of each disorder sample, and
 * from these to results. */
#include "algorithms/chains/chains_averages.h"

#include <stdlib.h>

#include "core/base/memory.h"

struct chains_evaluation chains_evaluation_of(const struct chains *chains, size_t m)
{
  const struct gpumc_observables *observables = &chains->quantities.observables;
  const size_t points = 1 + chains_grid_count(chains, m);
  return (struct chains_evaluation){chains, m, points, points * (gpumc_averages(observables) + 1),
                                    points * (observables->n_quantities + 1)};
}

struct gpumc_controls chains_controls_at(const struct chains_evaluation *evaluation, size_t point)
{
  const struct chains *chains = evaluation->chains;
  const struct gpumc_moved *moved = &chains->moved;
  if (chains->value == NULL)
    return gpumc_controls_at(moved->fixed, GPUMC_CONTROL_NONE, 0);
  const double value = point == 0 ? chains->value[evaluation->m]
                                  : chains_grid_value(chains, evaluation->m, point - 1);
  return gpumc_controls_at(moved->fixed, moved->control, value);
}

/* Averages one point, from its means. */
static void average_point(const struct chains_evaluation *evaluation, size_t point,
                          const double *mean, double share, double *averages)
{
  const struct chains_quantities *quantities = &evaluation->chains->quantities;
  const struct gpumc_controls controls = chains_controls_at(evaluation, point);
  const size_t width = gpumc_averages(&quantities->observables);
  double *at = averages + point * (width + 1);
  gpumc_averages_of_each(&quantities->observables, quantities->model, &controls, mean, at);
  at[width] = share;
}

void chains_averages_of(const struct chains_evaluation *evaluation, const double *mean,
                        double *averages)
{
  const struct chains_quantities *quantities = &evaluation->chains->quantities;
  const double *sums = mean + quantities->count;
  double ratio[GPUMC_MEANS_MAXIMUM];
  average_point(evaluation, 0, mean, 1, averages);
  for (size_t p = 1; p < evaluation->points; p++) {
    for (size_t k = 0; k < quantities->count; k++)
      ratio[k] = sums[2 + k] / sums[0];
    average_point(evaluation, p, ratio, sums[0] * sums[0] / sums[1], averages);
    sums += chains_point_width(quantities);
  }
}

void chains_results_of_averages(const void *state, const double *averages, double *results)
{
  const struct chains_evaluation *evaluation = state;
  const struct chains_quantities *quantities = &evaluation->chains->quantities;
  const struct gpumc_observables *observables = &quantities->observables;
  for (size_t p = 0; p < evaluation->points; p++) {
    const struct gpumc_controls controls = chains_controls_at(evaluation, p);
    const double *at = chains_averages_at(evaluation, averages, p);
    double *result = results + p * (observables->n_quantities + 1);
    gpumc_averages_evaluate(observables, quantities->model, &controls, at, result);
    result[observables->n_quantities] = at[gpumc_averages(observables)];
  }
}

bool chains_result_is_known(const void *state, size_t result)
{
  const struct chains_evaluation *evaluation = state;
  const struct chains_quantities *quantities = &evaluation->chains->quantities;
  const size_t stride = quantities->observables.n_quantities + 1;
  const struct gpumc_controls controls = chains_controls_at(evaluation, result / stride);
  return result % stride < stride - 1 &&
         gpumc_quantity_is_known(&quantities->observables, result % stride, quantities->model,
                                 &controls);
}

/* ---- a sample of the disorder for each replica ---- */

/* Parts of a sample's time series. */
enum { WHOLE, FIRST_HALF, SECOND_HALF, PARTS };

/* For a sample per replica: means of the vector of sample r over `count` measurements. */
static void part_of_sample(const struct chains_evaluation *evaluation, size_t r, int part,
                           double count, double *mean)
{
  const struct chains *chains = evaluation->chains;
  const struct chains_sums *sums = &chains->sums[evaluation->m];
  const size_t width = chains_vector_width(chains, evaluation->m);
  for (size_t v = 0; v < width; v++) {
    const size_t at = v * chains->settings.replicas + r;
    mean[v] = part == FIRST_HALF ? sums->half[at]
                                 : sums->replica[at] - (part == WHOLE ? 0 : sums->half[at]);
    mean[v] /= count;
  }
}

size_t chains_fluctuation(const struct chains_evaluation *evaluation)
{
  const struct gpumc_observables *observables = &evaluation->chains->quantities.observables;
  for (size_t q = 0; q < observables->n_quantities; q++)
    if (observables->quantity[q].what->of_each)
      return observables->n_means + q;
  return SIZE_MAX;
}

/* Computes averages[WHOLE] of sample r. Nonlinear functions of means over n measurements are off by
 * a/n, hence in halves by 2a/n on average: the corrected value is 2 whole - halves (Quenouille,
 * Biometrika 43, 353 (1956)), for a specific heat <e>_1 <e>_2 for <e>^2. Returns the correction of
 * the fluctuation. */
static double correct_sample(const struct chains_evaluation *evaluation, size_t r, double *mean,
                             double *averages[PARTS])
{
  const struct chains *chains = evaluation->chains;
  const double measured = (double)chains->measured;
  const double half = (double)chains_half(&chains->settings, chains->measured);
  const double count[PARTS] = {measured, half, measured - half};
  const size_t stride = evaluation->averages / evaluation->points;
  const size_t at = chains_fluctuation(evaluation);
  double *whole = averages[WHOLE];
  for (int part = WHOLE; part < (half > 0 && half < measured ? PARTS : FIRST_HALF); part++) {
    part_of_sample(evaluation, r, part, count[part], mean);
    chains_averages_of(evaluation, mean, averages[part]);
  }
  if (half == 0 || half == measured)
    return 0;
  const double before = at < stride ? whole[at] : 0;
  for (size_t i = 0; i < evaluation->averages; i++) {
    const double halves =
        (half * averages[FIRST_HALF][i] + (measured - half) * averages[SECOND_HALF][i]) / measured;
    if (i % stride != stride - 1)
      whole[i] += whole[i] - halves;
  }
  return at < stride ? whole[at] - before : 0;
}

enum gpumc_status chains_average_samples(const struct chains_evaluation *evaluation,
                                         double *averages, double *squares,
                                         struct gpumc_error *error)
{
  const size_t width = evaluation->averages;
  const size_t samples = evaluation->chains->settings.replicas;
  double *mean = NULL, *halves = NULL;
  enum gpumc_status status = GPUMC_OK;
  *squares = 0;
  GPUMC_TRY_OUT(status,
                gpumc_allocate_array(&mean, chains_vector_width(evaluation->chains, evaluation->m),
                                     "the means of a sample", error));
  GPUMC_TRY_OUT(status,
                gpumc_allocate_array(&halves, 2 * width, "the averages of a sample", error));
  for (size_t r = 0; r < samples; r++) {
    double *parts[PARTS] = {averages + r * width, halves, halves + width};
    const double correction = correct_sample(evaluation, r, mean, parts);
    *squares += correction * correction / (double)samples;
  }
out:
  free(mean);
  free(halves);
  return status;
}
