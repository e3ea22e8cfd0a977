/* Canonical runs: values with errors from the sums of one temperature.
 *
 * Replicas of the same system are averaged together. Plain means have the errors of their time
 * series; the others pool two jackknife estimates, over bins of the time and over the chains, which
 * are independent of each other. Samples of the disorder: canonical_samples.c. */
#include "algorithms/canonical/canonical_estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/canonical/canonical_evaluation.h"
#include "core/base/memory.h"
#include "core/statistics/jackknife.h"

/* Bins of the jackknife are that many autocorrelation times long, where there are as many. */
static const double bin_times = 20;

/* gpumc_bins_function */
static void results_of_means(const void *state, const double *means, double *results)
{
  canonical_evaluation_average(state, means, results);
  canonical_evaluation_derive(state, results);
}

static double sum_of(const double *values, size_t first, size_t end)
{
  double total = 0;
  for (size_t i = first; i < end; i++)
    total += values[i];
  return total;
}

/* Means of the vector over all replicas but those from `first` to before `end`. */
static void means_without(const struct canonical_evaluation *evaluation, size_t first, size_t end,
                          double *means)
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

/* Results without chain b. Leaving out one replica of h, and not of the number of chains, moves a
 * mean by 1/(h - 1): scaled such that the jackknife of equal blocks holds (Busing, Meijer and van
 * der Leeden, Stat. Comput. 9, 3 (1999)). */
static void leave_out_chain(const struct canonical_evaluation *evaluation, size_t b,
                            const double *whole, double *mean, double *without)
{
  const struct canonical_settings *settings = &evaluation->canonical->settings;
  const size_t first = canonical_chain_first(settings, b);
  const size_t end = canonical_chain_first(settings, b + 1);
  const double shares = (double)settings->replicas / (double)(end - first);
  const double scale = sqrt((shares - 1) / (double)(settings->chains - 1));
  means_without(evaluation, first, end, mean);
  results_of_means(evaluation, mean, without);
  for (size_t i = 0; i < canonical_evaluation_width(evaluation); i++)
    without[i] = whole[i] + scale * (without[i] - whole[i]);
}

/* Jackknife over the chains. */
static enum gpumc_status chain_variances(const struct canonical_evaluation *evaluation,
                                         struct gpumc_variance *variances,
                                         struct gpumc_error *error)
{
  const struct canonical *canonical = evaluation->canonical;
  const size_t chains = canonical->settings.chains;
  const size_t width = canonical_vector_width(canonical, evaluation->m);
  const size_t results = canonical_evaluation_width(evaluation);
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
    status = canonical_evaluation_variances(evaluation, without, chains, variances, error);
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
    longest = fmax(longest, estimates->mean[k].bin_time);
  return longest;
}

/* All replicas are one system. */
static enum gpumc_status estimate_system(const struct canonical_evaluation *evaluation,
                                         struct canonical_estimates *estimates,
                                         struct gpumc_error *error)
{
  const struct canonical *canonical = evaluation->canonical;
  const size_t results = canonical_evaluation_width(evaluation);
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
estimate_means(const struct canonical_evaluation *evaluation, struct canonical_estimates *estimates)
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
    together.members = (canonical->settings.replicas + chains - 1) / chains;
    gpumc_series_estimate_among(&together, canonical->betas.count * means, &estimates->mean[k]);
    if (canonical->settings.each_sample)
      together.between = 0;
    if (canonical_mean(k) == CANONICAL_ENERGY)
      estimates->still = gpumc_series_is_constant(&together);
    estimates->mean[k].error *= scale;
    estimates->mean[k].effective_samples *= members;
    estimates->converged = estimates->converged && estimates->mean[k].converged;
  }
}

/* What the result is a sum of, at a point: the difference in the specific heat may be small. */
static double scale_of(const struct canonical_evaluation *evaluation, size_t point, size_t result,
                       const double *value)
{
  const struct canonical *canonical = evaluation->canonical;
  const size_t first = canonical->grid.points > 0 ? canonical->grid.first[evaluation->m] : 0;
  const double beta =
      point == 0 ? canonical->betas.beta[evaluation->m] : canonical->grid.beta[first + point - 1];
  const double energy = value[CANONICAL_ENERGY];
  if (result != CANONICAL_SPECIFIC_HEAT)
    return fabs(value[result]);
  return beta * beta * (double)canonical->context.model->sites * energy * energy;
}

/* Additions that round a mean, as they happen one after the other: within a bin of time or, of a
 * sample, over the whole time. In n of them equal numbers lose n/4 epsilon at most. */
static double roundings_of(const struct canonical_evaluation *evaluation)
{
  const struct canonical *canonical = evaluation->canonical;
  const struct gpumc_bins *bins = &canonical->sums[evaluation->m].bins;
  const double longest = canonical->settings.each_sample ? (double)canonical->measured
                                                         : (double)bins->state[GPUMC_BINS_LENGTH];
  return longest / 4 + GPUMC_BINS_MOST + (double)canonical->settings.replicas;
}

/* The error of a result, given what rounding may amount to: no less than that, and unknown of what
 * never fluctuated. Whether a derived quantity did, nothing but its error tells. */
static double regard_rounding(const struct canonical_estimates *estimates, size_t means,
                              size_t result, double error, double rounding)
{
  bool still = result == CANONICAL_SPECIFIC_HEAT ? estimates->still : error <= rounding;
  for (size_t k = 0; k < means; k++)
    if (canonical_mean(k) == result)
      still = estimates->mean[k].variance == 0;
  return still ? NAN : isnan(error) ? error : fmax(error, rounding);
}

/* At beta = 0 the specific heat is exactly 0. */
static void regard_roundings(const struct canonical_evaluation *evaluation,
                             struct canonical_estimates *estimates)
{
  const struct canonical *canonical = evaluation->canonical;
  const size_t means = canonical_means(&canonical->quantities);
  const double roundings = roundings_of(evaluation);
  for (size_t p = 0; p < evaluation->points; p++) {
    const double *value = estimates->value + p * evaluation->stride;
    double *error = estimates->error + p * evaluation->stride;
    for (size_t i = 0; i < estimates->results; i++) {
      const double scale = scale_of(evaluation, p, i, value);
      const bool exact = i == CANONICAL_SPECIFIC_HEAT && scale == 0 && value[i] == 0 &&
                         canonical->betas.beta[evaluation->m] == 0 && p == 0;
      if (!exact)
        error[i] = regard_rounding(estimates, means, i, error[i], gpumc_rounding(roundings, scale));
    }
  }
}

enum gpumc_status canonical_estimates_make(const struct canonical *canonical, size_t m,
                                           struct canonical_estimates *estimates,
                                           struct gpumc_error *error)
{
  const struct canonical_evaluation evaluation = canonical_evaluation_of(canonical, m);
  const size_t results = canonical_evaluation_width(&evaluation);
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
    status = canonical->settings.each_sample
                 ? canonical_estimate_samples(&evaluation, estimates, error)
                 : estimate_system(&evaluation, estimates, error);
    if (status == GPUMC_OK)
      regard_roundings(&evaluation, estimates);
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
