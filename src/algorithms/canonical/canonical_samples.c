/* Canonical runs with a sample of the disorder for each replica: results are formed for each by
 * itself, corrected for the length of its time series and averaged, what is derived is formed from
 * these averages, and errors are a jackknife over the samples. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/canonical/canonical_evaluation.h"
#include "core/base/memory.h"

/* Of the error: what bias of what is formed of each sample may be left. */
static const double largest_bias = 0.5;

/* Parts of a sample's time series. */
enum { WHOLE, FIRST_HALF, SECOND_HALF, PARTS };

/* Every replica has a sample: means of the vector of sample r over `count` measurements. */
static void part_of_sample(const struct canonical_evaluation *evaluation, size_t r, int part,
                           double count, double *mean)
{
  const struct canonical *canonical = evaluation->canonical;
  const struct canonical_sums *sums = &canonical->sums[evaluation->m];
  const size_t width = canonical_vector_width(canonical, evaluation->m);
  for (size_t v = 0; v < width; v++) {
    const size_t at = v * canonical->settings.replicas + r;
    mean[v] = part == FIRST_HALF ? sums->half[at]
                                 : sums->replica[at] - (part == WHOLE ? 0 : sums->half[at]);
    mean[v] /= count;
  }
}

/* The first quantity that is formed of each sample, among the averages at the temperature itself;
 * SIZE_MAX where there is none. */
static size_t fluctuation(const struct canonical_evaluation *evaluation)
{
  const struct gpumc_observables *observables = &evaluation->canonical->quantities.observables;
  for (size_t q = 0; q < observables->n_quantities; q++)
    if (observables->quantity[q].what->of_each)
      return observables->n_means + q;
  return SIZE_MAX;
}

/* Averages of sample r become averages[WHOLE]. What is not linear in means over n measurements is
 * off by a/n, hence in halves by 2a/n on average: corrected is 2 whole - halves (Quenouille,
 * Biometrika 43, 353 (1956)), of the specific heat <e>_1 <e>_2 for <e>^2. Returns the correction of
 * the fluctuation. */
static double correct_sample(const struct canonical_evaluation *evaluation, size_t r, double *mean,
                             double *averages[PARTS])
{
  const struct canonical *canonical = evaluation->canonical;
  const double measured = (double)canonical->measured;
  const double half = (double)canonical_half(&canonical->settings, canonical->measured);
  const double count[PARTS] = {measured, half, measured - half};
  const size_t stride = evaluation->averages / evaluation->points;
  const size_t at = fluctuation(evaluation);
  double *whole = averages[WHOLE];
  for (int part = WHOLE; part < (half > 0 && half < measured ? PARTS : FIRST_HALF); part++) {
    part_of_sample(evaluation, r, part, count[part], mean);
    canonical_evaluation_average(evaluation, mean, averages[part]);
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

/* averages[replicas][averages]. *squares: mean square of the corrections of the fluctuation. */
static enum gpumc_status average_samples(const struct canonical_evaluation *evaluation,
                                         double *averages, double *squares,
                                         struct gpumc_error *error)
{
  const size_t width = evaluation->averages;
  const size_t samples = evaluation->canonical->settings.replicas;
  double *mean = NULL, *halves = NULL;
  enum gpumc_status status = GPUMC_OK;
  *squares = 0;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(
                            &mean, canonical_vector_width(evaluation->canonical, evaluation->m),
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

/* With correlations that decay in tau the corrected specific heat is low by (2 tau/n)^2 C; the
 * correction, 2 tau/n C on average, has three times the square of that as its mean square. */
static bool is_biased(const struct canonical_evaluation *evaluation,
                      const struct canonical_estimates *estimates, double squares)
{
  const size_t at = fluctuation(evaluation);
  if (at == SIZE_MAX)
    return false;
  const size_t result = at - evaluation->canonical->quantities.observables.n_means;
  return squares / (3 * estimates->value[result]) > largest_bias * estimates->error[result];
}

static bool errors_are_known(const struct canonical_evaluation *evaluation,
                             const struct canonical_estimates *estimates)
{
  const struct gpumc_observables *observables = &evaluation->canonical->quantities.observables;
  bool known = true;
  for (size_t q = 0; q < observables->n_quantities; q++)
    if (gpumc_quantity_is_of_each(observables, q))
      known = known && !isnan(estimates->error[q]);
  return known;
}

enum gpumc_status canonical_estimate_samples(const struct canonical_evaluation *evaluation,
                                             struct canonical_estimates *estimates,
                                             struct gpumc_error *error)
{
  const size_t samples = evaluation->canonical->settings.replicas;
  const size_t width = evaluation->averages;
  const struct gpumc_estimator estimator = {.width = width,
                                            .n_results = evaluation->results,
                                            .state = evaluation,
                                            .results = canonical_evaluation_results,
                                            .is_known = canonical_evaluation_is_known};
  double *averages = NULL, *without = NULL, squares = 0;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status,
                gpumc_allocate_array(&averages, samples * width, "averages of the samples", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&without, samples * width, "a jackknife", error));
  GPUMC_TRY_OUT(status, average_samples(evaluation, averages, &squares, error));
  gpumc_leave_one_out(averages, NULL, samples, width, estimates->average, without);
  const struct gpumc_replicates replicates = {
      .strata = 1, .blocks = samples, .without = without, .freedom = INFINITY};
  GPUMC_TRY_OUT(status, gpumc_estimate(&estimator, estimates->average, &replicates, 1,
                                       estimates->value, estimates->error, NULL, error));
  estimates->unknown = !errors_are_known(evaluation, estimates);
  estimates->biased = is_biased(evaluation, estimates, squares);
out:
  free(averages);
  free(without);
  return status;
}
