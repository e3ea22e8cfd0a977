/* Canonical runs with a sample of the disorder for each replica: results are formed for each by
 * itself, corrected for the length of its time series and averaged, what is derived is formed from
 * these averages, and errors are a jackknife over the samples. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/canonical/canonical_evaluation.h"
#include "core/base/memory.h"

/* Of the error: what bias of the specific heat may be left. */
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

/* Averages of sample r become averages[WHOLE]. What is not linear in means over n measurements is
 * off by a/n, hence in halves by 2a/n on average: corrected is 2 whole - halves (Quenouille,
 * Biometrika 43, 353 (1956)), of the specific heat <e>_1 <e>_2 for <e>^2. Returns that one's
 * correction. */
static double correct_sample(const struct canonical_evaluation *evaluation, size_t r, double *mean,
                             double *averages[PARTS])
{
  const struct canonical *canonical = evaluation->canonical;
  const double measured = (double)canonical->measured;
  const double half = (double)canonical_half(&canonical->settings, canonical->measured);
  const double count[PARTS] = {measured, half, measured - half};
  double *whole = averages[WHOLE];
  for (int part = WHOLE; part < (half > 0 && half < measured ? PARTS : FIRST_HALF); part++) {
    part_of_sample(evaluation, r, part, count[part], mean);
    canonical_evaluation_average(evaluation, mean, averages[part]);
  }
  if (half == 0 || half == measured)
    return 0;
  const double before = whole[CANONICAL_SPECIFIC_HEAT];
  for (size_t i = 0; i < canonical_evaluation_width(evaluation); i++) {
    const double halves =
        (half * averages[FIRST_HALF][i] + (measured - half) * averages[SECOND_HALF][i]) / measured;
    if (i % evaluation->stride != evaluation->stride - 1)
      whole[i] += whole[i] - halves;
  }
  return whole[CANONICAL_SPECIFIC_HEAT] - before;
}

/* averages[replicas][results]. *squares: mean square of the corrections of the specific heat. */
static enum gpumc_status average_samples(const struct canonical_evaluation *evaluation,
                                         double *averages, double *squares,
                                         struct gpumc_error *error)
{
  const size_t results = canonical_evaluation_width(evaluation);
  const size_t samples = evaluation->canonical->settings.replicas;
  double *mean = NULL, *halves = NULL;
  enum gpumc_status status =
      gpumc_allocate_array(&mean, canonical_vector_width(evaluation->canonical, evaluation->m),
                           "the means of a sample", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&halves, 2 * results, "the averages of a sample", error);
  *squares = 0;
  for (size_t r = 0; r < samples && status == GPUMC_OK; r++) {
    double *parts[PARTS] = {averages + r * results, halves, halves + results};
    const double correction = correct_sample(evaluation, r, mean, parts);
    *squares += correction * correction / (double)samples;
  }
  free(mean);
  free(halves);
  return status;
}

/* With correlations that decay in tau the corrected specific heat is low by (2 tau/n)^2 C; the
 * correction, 2 tau/n C on average, has three times the square of that as its mean square. */
static bool is_biased(const struct canonical_estimates *estimates, double squares)
{
  const double bias = squares / (3 * estimates->value[CANONICAL_SPECIFIC_HEAT]);
  return bias > largest_bias * estimates->error[CANONICAL_SPECIFIC_HEAT];
}

static bool errors_are_known(const struct canonical_evaluation *evaluation,
                             const struct canonical_estimates *estimates)
{
  bool known = true;
  for (size_t q = 0; q < evaluation->canonical->quantities.count; q++)
    known = known && !isnan(estimates->error[q]);
  return known;
}

static void average_of_all(const double *averages, size_t samples, size_t results, double *value)
{
  memset(value, 0, results * sizeof *value);
  for (size_t r = 0; r < samples; r++)
    for (size_t i = 0; i < results; i++)
      value[i] += averages[r * results + i] / (double)samples;
}

/* mean[parts][width] becomes the means without each part. */
static void leave_out_each(double *mean, size_t parts, size_t width)
{
  for (size_t i = 0; i < width; i++) {
    double total = 0;
    for (size_t b = 0; b < parts; b++)
      total += mean[b * width + i];
    for (size_t b = 0; b < parts; b++)
      mean[b * width + i] = (total - mean[b * width + i]) / (double)(parts - 1);
  }
}

enum gpumc_status canonical_estimate_samples(const struct canonical_evaluation *evaluation,
                                             struct canonical_estimates *estimates,
                                             struct gpumc_error *error)
{
  const size_t samples = evaluation->canonical->settings.replicas;
  const size_t results = canonical_evaluation_width(evaluation);
  double *averages = NULL, squares = 0;
  struct gpumc_variance *variances = NULL;
  enum gpumc_status status =
      gpumc_allocate_array(&averages, samples * results, "averages of the samples", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&variances, results, "variances", error);
  if (status == GPUMC_OK)
    status = average_samples(evaluation, averages, &squares, error);
  if (status == GPUMC_OK) {
    average_of_all(averages, samples, results, estimates->value);
    canonical_evaluation_derive(evaluation, estimates->value);
    leave_out_each(averages, samples, results);
    for (size_t r = 0; r < samples; r++)
      canonical_evaluation_derive(evaluation, averages + r * results);
    status = canonical_evaluation_variances(evaluation, averages, samples, variances, error);
  }
  for (size_t i = 0; i < results && status == GPUMC_OK; i++)
    estimates->error[i] = gpumc_pooled_error(variances[i], (struct gpumc_variance){0, 0});
  if (status == GPUMC_OK) {
    estimates->unknown = !errors_are_known(evaluation, estimates);
    estimates->biased = is_biased(estimates, squares);
  }
  free(averages);
  free(variances);
  return status;
}
