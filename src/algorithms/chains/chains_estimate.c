/* Chains: values with errors from the sums of one temperature.
 *
 * Replicas of the same system are averaged together. Plain means have the errors of their time
 * series; the others pool two independent jackknife estimates, over bins of time and over the
 * chains. If each replica has a disorder sample, results are computed for each by itself, corrected
 * for the length of its time series and averaged; derived results are computed from these averages,
 * and errors are a jackknife over the samples. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/chains/chains_averages.h"
#include "core/base/memory.h"
#include "core/statistics/estimate.h"

/* ---- a sample of the disorder for each replica ---- */

/* Largest acceptable bias of results computed for each sample, as a share of the error. */
static const double largest_bias = 0.5;

/* If correlations decay in tau, the corrected specific heat is low by (2 tau/n)^2 C; the
 * correction, 2 tau/n C on average, has three times the square of that as its mean square. */
static bool is_biased(const struct chains_evaluation *evaluation,
                      const struct chains_estimates *estimates, double squares)
{
  const size_t at = chains_fluctuation(evaluation);
  if (at == SIZE_MAX)
    return false;
  const size_t result = at - evaluation->chains->quantities.observables.n_means;
  return squares / (3 * estimates->value[result]) > largest_bias * estimates->error[result];
}

static bool errors_are_known(const struct chains_evaluation *evaluation,
                             const struct chains_estimates *estimates)
{
  const struct gpumc_observables *observables = &evaluation->chains->quantities.observables;
  bool known = true;
  for (size_t q = 0; q < observables->n_quantities; q++)
    if (gpumc_quantity_is_of_each(observables, q))
      known = known && !isnan(estimates->error[q]);
  return known;
}

static enum gpumc_status estimate_samples(const struct chains_evaluation *evaluation,
                                          struct chains_estimates *estimates,
                                          struct gpumc_few_samples *few, struct gpumc_error *error)
{
  const struct chains *chains = evaluation->chains;
  const size_t samples = chains->settings.replicas;
  const size_t width = evaluation->averages;
  const struct gpumc_estimator estimator = {.width = width,
                                            .n_results = evaluation->results,
                                            .state = evaluation,
                                            .results = chains_results_of_averages,
                                            .is_known = chains_result_is_known};
  double *averages = NULL, *without = NULL, squares = 0;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status,
                gpumc_allocate_array(&averages, samples * width, "averages of the samples", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&without, samples * width, "a jackknife", error));
  GPUMC_TRY_OUT(status, chains_average_samples(evaluation, averages, &squares, error));
  gpumc_leave_one_out(averages, NULL, samples, width, estimates->average, without);
  const struct gpumc_replicates replicates = {
      .strata = 1, .blocks = samples, .without = without, .freedom = INFINITY};
  GPUMC_TRY_OUT(status, gpumc_estimate(&estimator, estimates->average, &replicates, 1,
                                       estimates->value, estimates->error, NULL, error));
  estimates->unknown = !errors_are_known(evaluation, estimates);
  estimates->biased = is_biased(evaluation, estimates, squares);
  gpumc_few_samples_look(few, chains->quantities.model, &chains->quantities.observables, averages,
                         samples, width, chains->value[evaluation->m]);
out:
  free(averages);
  free(without);
  return status;
}

/* ---- all replicas are one system ---- */

/* Bins of the jackknife are this many autocorrelation times long, if there are enough. */
static const double bin_times = 20;

/* The estimator's state: `averages` is scratch. */
struct system {
  const struct chains_evaluation *evaluation;
  double *averages;
};

static double sum_of(const double *values, size_t first, size_t end)
{
  double total = 0;
  for (size_t i = first; i < end; i++)
    total += values[i];
  return total;
}

/* Computes means of the vector over all replicas except those from `first` to before `end`. */
static void
means_without(const struct chains_evaluation *evaluation, size_t first, size_t end, double *means)
{
  const struct chains *chains = evaluation->chains;
  const size_t width = chains_vector_width(chains, evaluation->m);
  const size_t replicas = chains->settings.replicas;
  const double values = (double)(replicas - (end - first)) * (double)chains->measured;
  for (size_t v = 0; v < width; v++) {
    const double *sum = chains->sums[evaluation->m].replica + v * replicas;
    means[v] = (sum_of(sum, 0, first) + sum_of(sum, end, replicas)) / values;
  }
}

/* For the estimator: means are those of the vector. */
static void results_of_vector(const void *state, const double *mean, double *results)
{
  const struct system *system = state;
  chains_averages_of(system->evaluation, mean, system->averages);
  chains_results_of_averages(system->evaluation, system->averages, results);
}

static bool is_known(const void *state, size_t result)
{
  const struct system *system = state;
  return chains_result_is_known(system->evaluation, result);
}

/* Computes the means without each chain, and the stretch of chains with unequal numbers of
 * replicas. */
static void leave_out_chains(const struct chains_evaluation *evaluation, double *without,
                             double stretch[CHAINS_MAXIMUM])
{
  const struct chains *chains = evaluation->chains;
  const struct chains_settings *settings = &chains->settings;
  const size_t width = chains_vector_width(chains, evaluation->m);
  double members[CHAINS_MAXIMUM];
  for (size_t b = 0; b < settings->chains; b++) {
    const size_t first = chains_first(settings, b);
    const size_t end = chains_first(settings, b + 1);
    members[b] = (double)(end - first);
    means_without(evaluation, first, end, without + b * width);
  }
  gpumc_stretch(members, settings->chains, stretch);
}

/* Returns it in measurements, of the means that decide; watched ones are among them. */
static double
longest_time(const struct chains *chains, size_t m, const struct chains_estimates *estimates)
{
  double longest = 0;
  for (size_t k = 0; k < chains->quantities.n_series; k++)
    if (chains_series_decides(chains, k))
      longest = fmax(longest, estimates->mean[k].bin_time);
  for (size_t w = 0; w < chains->watch.count; w++) {
    struct gpumc_series_estimate watched;
    chains_watch_estimate(chains, m, w, &watched);
    longest = fmax(longest, (double)chains->watch.every * watched.bin_time);
  }
  return longest;
}

/* Plain means have the errors of their time series. */
static void take_errors_of_series(const struct chains_quantities *quantities,
                                  struct chains_estimates *estimates)
{
  for (size_t k = 0; k < quantities->n_series; k++)
    estimates->error[quantities->series_result[k]] = chains_series_error(&estimates->mean[k]);
}

/* All replicas are one system: bins of time and chains. */
static enum gpumc_status estimate_system(const struct chains_evaluation *evaluation,
                                         struct chains_estimates *estimates,
                                         struct gpumc_error *error)
{
  const struct chains *chains = evaluation->chains;
  const struct chains_quantities *quantities = &chains->quantities;
  const struct gpumc_bins *bins = &chains->sums[evaluation->m].bins;
  const size_t width = chains_vector_width(chains, evaluation->m);
  const size_t n_chains = chains->settings.chains;
  const size_t blocks = gpumc_bins_blocks(bins, estimates->shortest);
  struct system system = {.evaluation = evaluation};
  const struct gpumc_estimator estimator = {.width = width,
                                            .n_results = evaluation->results,
                                            .state = &system,
                                            .results = results_of_vector,
                                            .is_known = is_known};
  double *mean = NULL, *mean_of_chains = NULL, *without = NULL, *without_chain = NULL;
  double stretch[CHAINS_MAXIMUM];
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status,
                gpumc_allocate_array(&system.averages, evaluation->averages, "averages", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&mean, width, "means", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&without, blocks * width + 1, "a jackknife", error));
  GPUMC_TRY_OUT(status,
                gpumc_allocate_array(&without_chain, n_chains * width, "a jackknife", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&mean_of_chains, width, "means", error));
  gpumc_bins_mean_of_all(bins, mean);
  means_without(evaluation, 0, 0, mean_of_chains);
  chains_averages_of(evaluation, mean, estimates->average);
  if (blocks > 1)
    gpumc_bins_leave_out(bins, blocks, without);
  if (n_chains > 1)
    leave_out_chains(evaluation, without_chain, stretch);
  const struct gpumc_replicates replicates[] = {
      {.strata = 1, .blocks = blocks, .without = without, .freedom = INFINITY},
      {.strata = 1,
       .blocks = n_chains,
       .without = without_chain,
       .stretch = stretch,
       .mean = mean_of_chains,
       .freedom = INFINITY}};
  GPUMC_TRY_OUT(status, gpumc_estimate(&estimator, mean, replicates, 2, estimates->value,
                                       estimates->error, NULL, error));
  take_errors_of_series(quantities, estimates);
out:
  free(system.averages);
  free(mean);
  free(mean_of_chains);
  free(without);
  free(without_chain);
  return status;
}

/* Merged chains count equally, averages weight them by their replicas: the ratio of the harmonic to
 * the arithmetic mean of their numbers. */
static double weighting(const struct chains_settings *settings)
{
  double inverse = 0;
  for (size_t b = 0; b < settings->chains; b++)
    inverse += 1 / (double)(chains_first(settings, b + 1) - chains_first(settings, b));
  return (double)settings->chains * (double)settings->chains /
         (inverse * (double)settings->replicas);
}

/* For a merged result. */
static void
take_merged_means(const struct chains_evaluation *evaluation, struct chains_estimates *estimates)
{
  const struct chains *chains = evaluation->chains;
  estimates->converged = true;
  for (size_t k = 0; k < chains->quantities.n_series; k++) {
    estimates->mean[k] = *chains_merged_mean(chains, evaluation->m, k);
    estimates->still[k] = estimates->mean[k].variance == 0;
    estimates->converged =
        estimates->converged && (estimates->mean[k].converged || !chains_series_decides(chains, k));
  }
}

/* Merges the chains of every plain mean. A chain averages `members` replicas. */
static void
estimate_means(const struct chains_evaluation *evaluation, struct chains_estimates *estimates)
{
  const struct chains *chains = evaluation->chains;
  const size_t means = chains->quantities.n_series;
  const size_t n_chains = chains->settings.chains;
  const double members = (double)chains->settings.replicas / (double)n_chains;
  const double scale = sqrt(weighting(&chains->settings));
  estimates->converged = true;
  for (size_t k = 0; k < means; k++) {
    struct gpumc_series together = {0};
    for (size_t b = 0; b < n_chains; b++)
      gpumc_series_merge(&together, &chains->sums[evaluation->m].chain[b * means + k]);
    together.members = (chains->settings.replicas + n_chains - 1) / n_chains;
    gpumc_series_estimate_among(&together, chains_deciding(chains), &estimates->mean[k]);
    if (chains->settings.each_sample)
      together.between = 0;
    estimates->still[k] = gpumc_series_is_constant(&together);
    estimates->mean[k].error *= scale;
    estimates->mean[k].effective_samples *= members;
    estimates->converged =
        estimates->converged && (estimates->mean[k].converged || !chains_series_decides(chains, k));
  }
}

/* Returns the number of successive additions that round a mean: within a bin of time or, for a
 * sample, over the whole time. In n of them equal numbers lose n/4 epsilon at most. */
static double roundings_of(const struct chains_evaluation *evaluation)
{
  const struct chains *chains = evaluation->chains;
  const struct gpumc_bins *bins = &chains->sums[evaluation->m].bins;
  const double longest = chains->settings.each_sample ? (double)chains->measured
                                                      : (double)bins->state[GPUMC_BINS_LENGTH];
  return longest / 4 + GPUMC_BINS_MOST + (double)chains->settings.replicas;
}

/* Returns whether a result never fluctuated: as shown by the time series of its mean or, for
 * results computed for each sample, of the mean that it fluctuates about; for others only the error
 * shows it. */
static bool is_still(const struct chains_quantities *quantities,
                     const struct chains_estimates *estimates, size_t result, double error,
                     double rounding)
{
  const struct gpumc_selected_quantity *quantity = &quantities->observables.quantity[result];
  for (size_t k = 0; k < quantities->n_series; k++) {
    if (quantities->series_result[k] == result)
      return estimates->mean[k].variance == 0;
    if (quantity->what->of_each && quantities->series_mean[k] == quantity->uses[0])
      return estimates->still[k];
  }
  return error <= rounding;
}

/* Errors are at least as large as possible rounding, and unknown for results that never
 * fluctuated. */
static void
regard_roundings(const struct chains_evaluation *evaluation, struct chains_estimates *estimates)
{
  const struct chains_quantities *quantities = &evaluation->chains->quantities;
  const double roundings = roundings_of(evaluation);
  for (size_t p = 0; p < evaluation->points; p++) {
    const struct gpumc_controls controls = chains_controls_at(evaluation, p);
    const double *average = chains_averages_at(evaluation, estimates->average, p);
    for (size_t q = 0; q < estimates->results; q++) {
      double *error = &estimates->error[p * (estimates->results + 1) + q];
      const double rounding =
          gpumc_rounding(roundings, gpumc_quantity_scale(&quantities->observables, q,
                                                         quantities->model, &controls, average));
      if (gpumc_quantity_is_known(&quantities->observables, q, quantities->model, &controls))
        continue;
      if (is_still(quantities, estimates, q, *error, rounding))
        *error = NAN;
      else if (!isnan(*error))
        *error = fmax(*error, rounding);
    }
  }
}

/* Adds systematic errors to those of chains, bins or samples. */
static void
widen_errors(const struct chains_evaluation *evaluation, struct chains_estimates *estimates)
{
  const struct chains_quantities *quantities = &evaluation->chains->quantities;
  for (size_t p = 0; p < evaluation->points; p++) {
    const struct gpumc_controls controls = chains_controls_at(evaluation, p);
    const size_t at = p * (estimates->results + 1);
    gpumc_errors_widen(&quantities->observables, quantities->model, &controls,
                       chains_averages_at(evaluation, estimates->average, p), estimates->value + at,
                       estimates->error + at);
  }
}

enum gpumc_status chains_estimates_make(const struct chains *chains, size_t m,
                                        struct chains_estimates *estimates,
                                        struct gpumc_few_samples *few, struct gpumc_error *error)
{
  const struct chains_evaluation evaluation = chains_evaluation_of(chains, m);
  enum gpumc_status status = GPUMC_OK;
  memset(estimates, 0, sizeof *estimates);
  estimates->points = evaluation.points;
  estimates->results = chains->quantities.observables.n_quantities;
  GPUMC_TRY_OUT(status,
                gpumc_allocate_array(&estimates->average, evaluation.averages, "averages", error));
  GPUMC_TRY_OUT(status,
                gpumc_allocate_array(&estimates->value, evaluation.results, "results", error));
  GPUMC_TRY_OUT(status,
                gpumc_allocate_array(&estimates->error, evaluation.results, "results", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&estimates->mean, chains->quantities.n_series,
                                             "results", error));
  if (chains->merged.mean != NULL)
    take_merged_means(&evaluation, estimates);
  else
    estimate_means(&evaluation, estimates);
  estimates->shortest = bin_times * longest_time(chains, m, estimates);
  GPUMC_TRY_OUT(status, chains->settings.each_sample
                            ? estimate_samples(&evaluation, estimates, few, error)
                            : estimate_system(&evaluation, estimates, error));
  regard_roundings(&evaluation, estimates);
  widen_errors(&evaluation, estimates);
out:
  if (status != GPUMC_OK)
    chains_estimates_free(estimates);
  return status;
}

void chains_estimates_free(struct chains_estimates *estimates)
{
  free(estimates->average);
  free(estimates->value);
  free(estimates->error);
  free(estimates->mean);
  memset(estimates, 0, sizeof *estimates);
}
