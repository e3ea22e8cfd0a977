/* Canonical runs: values with errors from the sums of one temperature.
 *
 * Replicas of the same system are averaged together. Plain means have the errors of their time
 * series; the others pool two jackknife estimates, over bins of the time and over the chains, which
 * are independent of each other. With a sample of the disorder for each replica, results are formed
 * for each by itself, corrected for the length of its time series and averaged, what is derived is
 * formed from these averages, and errors are a jackknife over the samples. */
#include "algorithms/canonical/canonical_estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/jackknife.h"
#include "core/memory.h"

/* Bins of the jackknife are that many autocorrelation times long, where there are as many. */
static const double bin_times = 20;
/* Of the error: what bias of the specific heat may be left. */
static const double largest_bias = 0.5;

/* How numbers of one temperature are made. */
struct evaluation {
  const struct canonical *canonical;
  size_t m, points, stride; /* a point's results and its share */
};

static struct evaluation evaluation_of(const struct canonical *canonical, size_t m)
{
  return (struct evaluation){canonical, m, 1 + canonical_grid_count(&canonical->grid, m),
                             canonical_results(&canonical->quantities) + 1};
}

/* Averages at all points from the means of the vector: of a system, or of one sample. */
static void average(const struct evaluation *evaluation, const double *mean, double *averages)
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

static void derive(const struct evaluation *evaluation, double *averages)
{
  for (size_t p = 0; p < evaluation->points; p++)
    canonical_derive(&evaluation->canonical->quantities, averages + p * evaluation->stride);
}

/* gpumc_bins_function */
static void results_of_means(const void *state, const double *means, double *results)
{
  average(state, means, results);
  derive(state, results);
}

static double sum_of(const double *values, size_t first, size_t end)
{
  double total = 0;
  for (size_t i = first; i < end; i++)
    total += values[i];
  return total;
}

/* Means of the vector over all replicas but those from `first` to before `end`. */
static void
means_without(const struct evaluation *evaluation, size_t first, size_t end, double *means)
{
  const struct canonical *canonical = evaluation->canonical;
  const size_t width = canonical_vector_width(canonical, evaluation->m);
  const size_t replicas = canonical->settings.replicas;
  const double values = (double)(replicas - (end - first)) * (double)canonical->measured;
  for (size_t v = 0; v < width; v++) {
    const double *sum = canonical->sums[evaluation->m].replica + v * replicas;
    means[v] = (sum_of(sum, 0, first) + sum_of(sum, end, replicas)) / values;
  }
}

/* From leave-one-out results [n][results of all points]. */
static enum gpumc_status variances_of(const struct evaluation *evaluation, const double *without,
                                      size_t n, struct gpumc_variance *variances,
                                      struct gpumc_error *error)
{
  const size_t width = evaluation->points * evaluation->stride;
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

/* Results without chain b. Leaving out one replica of h, and not of the number of chains, moves a
 * mean by 1/(h - 1): scaled such that the jackknife of equal blocks holds (Busing, Meijer and van
 * der Leeden, Stat. Comput. 9, 3 (1999)). */
static void leave_out_chain(const struct evaluation *evaluation, size_t b, const double *whole,
                            double *mean, double *without)
{
  const struct canonical_settings *settings = &evaluation->canonical->settings;
  const size_t first = canonical_chain_first(settings, b);
  const size_t end = canonical_chain_first(settings, b + 1);
  const double shares = (double)settings->replicas / (double)(end - first);
  const double scale = sqrt((shares - 1) / (double)(settings->chains - 1));
  means_without(evaluation, first, end, mean);
  results_of_means(evaluation, mean, without);
  for (size_t i = 0; i < evaluation->points * evaluation->stride; i++)
    without[i] = whole[i] + scale * (without[i] - whole[i]);
}

/* Jackknife over the chains. */
static enum gpumc_status chain_variances(const struct evaluation *evaluation,
                                         struct gpumc_variance *variances,
                                         struct gpumc_error *error)
{
  const struct canonical *canonical = evaluation->canonical;
  const size_t chains = canonical->settings.chains;
  const size_t width = canonical_vector_width(canonical, evaluation->m);
  const size_t results = evaluation->points * evaluation->stride;
  double *mean = NULL, *whole = NULL, *without = NULL;
  memset(variances, 0, results * sizeof *variances);
  if (chains < 2)
    return GPUMC_OK;
  enum gpumc_status status = gpumc_allocate_array(&mean, width, "a jackknife", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&whole, results, "a jackknife", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&without, chains * results, "a jackknife", error);
  if (status == GPUMC_OK) {
    means_without(evaluation, 0, 0, mean);
    results_of_means(evaluation, mean, whole);
    for (size_t b = 0; b < chains; b++)
      leave_out_chain(evaluation, b, whole, mean, without + b * results);
    status = variances_of(evaluation, without, chains, variances, error);
  }
  free(mean);
  free(whole);
  free(without);
  return status;
}

static double longest_time(const struct canonical_estimates *estimates, size_t means)
{
  double longest = 0;
  for (size_t k = 0; k < means; k++)
    longest = fmax(longest, estimates->mean[k].autocorrelation_time);
  return longest;
}

/* All replicas are one system. */
static enum gpumc_status estimate_system(const struct evaluation *evaluation,
                                         struct canonical_estimates *estimates,
                                         struct gpumc_error *error)
{
  const struct canonical *canonical = evaluation->canonical;
  const size_t results = evaluation->points * evaluation->stride;
  const size_t means = canonical_means(&canonical->quantities);
  struct gpumc_variance *of_time = NULL, *of_chains = NULL;
  enum gpumc_status status = gpumc_allocate_array(&of_time, results, "variances", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&of_chains, results, "variances", error);
  if (status == GPUMC_OK)
    status = gpumc_bins_jackknife(&canonical->sums[evaluation->m].bins,
                                  bin_times * longest_time(estimates, means), results_of_means,
                                  evaluation, results, estimates->value, of_time, error);
  if (status == GPUMC_OK)
    status = chain_variances(evaluation, of_chains, error);
  for (size_t i = 0; i < results && status == GPUMC_OK; i++)
    estimates->error[i] = gpumc_pooled_error(of_time[i], of_chains[i]);
  for (size_t k = 0; k < means && status == GPUMC_OK; k++) {
    const struct gpumc_series_estimate *mean = &estimates->mean[k];
    const struct gpumc_variance variance = {mean->error * mean->error, mean->freedom};
    estimates->error[canonical_mean(k)] =
        gpumc_pooled_error(variance, (struct gpumc_variance){0, 0});
  }
  free(of_time);
  free(of_chains);
  return status;
}

/* Parts of a sample's time series. */
enum { WHOLE, FIRST_HALF, SECOND_HALF, PARTS };

/* Every replica has a sample: means of the vector of sample r over `count` measurements. */
static void
part_of_sample(const struct evaluation *evaluation, size_t r, int part, double count, double *mean)
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
static double
correct_sample(const struct evaluation *evaluation, size_t r, double *mean, double *averages[PARTS])
{
  const struct canonical *canonical = evaluation->canonical;
  const double measured = (double)canonical->measured;
  const double half = (double)canonical_half(&canonical->settings, canonical->measured);
  const double count[PARTS] = {measured, half, measured - half};
  double *whole = averages[WHOLE];
  for (int part = WHOLE; part < (half > 0 && half < measured ? PARTS : FIRST_HALF); part++) {
    part_of_sample(evaluation, r, part, count[part], mean);
    average(evaluation, mean, averages[part]);
  }
  if (half == 0 || half == measured)
    return 0;
  const double before = whole[CANONICAL_SPECIFIC_HEAT];
  for (size_t i = 0; i < evaluation->points * evaluation->stride; i++) {
    const double halves =
        (half * averages[FIRST_HALF][i] + (measured - half) * averages[SECOND_HALF][i]) / measured;
    if (i % evaluation->stride != evaluation->stride - 1)
      whole[i] += whole[i] - halves;
  }
  return whole[CANONICAL_SPECIFIC_HEAT] - before;
}

/* averages[replicas][results]. *squares: mean square of the corrections of the specific heat. */
static enum gpumc_status average_samples(const struct evaluation *evaluation, double *averages,
                                         double *squares, struct gpumc_error *error)
{
  const size_t results = evaluation->points * evaluation->stride;
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

static bool
errors_are_known(const struct evaluation *evaluation, const struct canonical_estimates *estimates)
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

static enum gpumc_status estimate_samples(const struct evaluation *evaluation,
                                          struct canonical_estimates *estimates,
                                          struct gpumc_error *error)
{
  const size_t samples = evaluation->canonical->settings.replicas;
  const size_t results = evaluation->points * evaluation->stride;
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
    derive(evaluation, estimates->value);
    leave_out_each(averages, samples, results);
    for (size_t r = 0; r < samples; r++)
      derive(evaluation, averages + r * results);
    status = variances_of(evaluation, averages, samples, variances, error);
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

/* Merged chains count alike, averages weight them with their replicas: harmonic over arithmetic
 * mean of their numbers. */
static double weighting(const struct canonical_settings *settings)
{
  double inverse = 0;
  for (size_t b = 0; b < settings->chains; b++)
    inverse +=
        1 / (double)(canonical_chain_first(settings, b + 1) - canonical_chain_first(settings, b));
  return (double)settings->chains * (double)settings->chains /
         (inverse * (double)settings->replicas);
}

/* The chains of every plain mean put together. What a chain averages are `members` replicas. */
static void
estimate_means(const struct evaluation *evaluation, struct canonical_estimates *estimates)
{
  const struct canonical *canonical = evaluation->canonical;
  const size_t means = canonical_means(&canonical->quantities);
  const size_t chains = canonical->settings.chains;
  const double members = (double)canonical->settings.replicas / (double)chains;
  const double scale = sqrt(weighting(&canonical->settings));
  estimates->converged = true;
  for (size_t k = 0; k < means; k++) {
    struct gpumc_series together = {0};
    for (size_t b = 0; b < chains; b++)
      gpumc_series_merge(&together, &canonical->sums[evaluation->m].chain[b * means + k]);
    gpumc_series_estimate(&together, &estimates->mean[k]);
    estimates->mean[k].error *= scale;
    estimates->mean[k].effective_samples *= members;
    estimates->converged = estimates->converged && estimates->mean[k].converged;
  }
}

enum gpumc_status canonical_estimates_make(const struct canonical *canonical, size_t m,
                                           struct canonical_estimates *estimates,
                                           struct gpumc_error *error)
{
  const struct evaluation evaluation = evaluation_of(canonical, m);
  const size_t results = evaluation.points * evaluation.stride;
  const size_t means = canonical_means(&canonical->quantities);
  memset(estimates, 0, sizeof *estimates);
  estimates->points = evaluation.points;
  estimates->results = evaluation.stride - 1;
  enum gpumc_status status = gpumc_allocate_array(&estimates->value, results, "results", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&estimates->error, results, "results", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&estimates->mean, means, "results", error);
  if (status == GPUMC_OK) {
    estimate_means(&evaluation, estimates);
    status = canonical->settings.each_sample ? estimate_samples(&evaluation, estimates, error)
                                             : estimate_system(&evaluation, estimates, error);
  }
  if (status != GPUMC_OK)
    canonical_estimates_free(estimates);
  return status;
}

void canonical_estimates_free(struct canonical_estimates *estimates)
{
  free(estimates->value);
  free(estimates->error);
  free(estimates->mean);
  memset(estimates, 0, sizeof *estimates);
}
