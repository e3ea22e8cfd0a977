/* Parallel tempering: averages over the samples at one temperature, with errors. */
#include "algorithms/pt/pt_output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/statistics/estimate.h"
#include "core/statistics/series.h"

/* ---- few samples: whether blocks of time are long enough for errors ---- */

/* Returns the sum of a term in the first block; every block has one. */
static const double *first_sum(const struct pt_sums *sums, size_t term, size_t t, size_t s)
{
  return sums->values + (term * sums->temperatures + t - sums->first) * sums->samples + s;
}

static size_t numbers_of_block(const struct pt_sums *sums)
{
  return sums->pt->terms.count * sums->temperatures * sums->samples;
}

/* Returns the mean of a term in one block. */
static double block_mean(const struct pt_sums *sums, size_t term, size_t t, size_t s, size_t b)
{
  const struct pt *pt = sums->pt;
  const double values = (double)pt_tempering_values(&pt->tempering.plan, term);
  return first_sum(sums, term, t, s)[b * numbers_of_block(sums)] /
         ((double)pt->bin.measurements[b] * values);
}

/* Samples of one model are as many series of the same observable; those of disorder have means of
 * their own, and only their average is one. */
static void
series_of(const struct pt_sums *sums, size_t term, size_t t, struct gpumc_series *series)
{
  const struct pt *pt = sums->pt;
  const size_t samples = sums->samples;
  const bool disorder = pt->context.model->disorder;
  *series = (struct gpumc_series){.merged = 0};
  for (size_t b = 0; b < pt->bin.blocks && disorder; b++) {
    double mean = 0;
    for (size_t s = 0; s < samples; s++)
      mean += block_mean(sums, term, t, s, b) / (double)samples;
    gpumc_series_add(series, mean);
  }
  for (size_t s = 0; s < samples && !disorder; s++) {
    struct gpumc_series of_sample = {.merged = 0};
    for (size_t b = 0; b < pt->bin.blocks; b++)
      gpumc_series_add(&of_sample, block_mean(sums, term, t, s, b));
    gpumc_series_merge(series, &of_sample);
  }
}

size_t pt_block_groups(const struct pt_sums *sums, size_t t, bool *known)
{
  const struct pt *pt = sums->pt;
  size_t joined = 1;
  *known = true;
  for (size_t i = 0; i < pt->terms.n_compared; i++) {
    struct gpumc_series series;
    struct gpumc_series_estimate estimate;
    series_of(sums, pt->terms.compared[i], t, &series);
    gpumc_series_estimate(&series, &estimate);
    *known = *known && estimate.bins >= PT_FEWEST_GROUPS;
    if (estimate.bin_length > joined)
      joined = (size_t)estimate.bin_length;
  }
  return pt->bin.blocks / joined;
}

/* ---- averages ---- */

double
pt_term_mean(const struct pt_sums *sums, size_t term, size_t t, size_t s, struct pt_blocks left_out)
{
  const struct pt *pt = sums->pt;
  const size_t block = numbers_of_block(sums);
  const double *first = first_sum(sums, term, t, s);
  double sum = 0.0, measurements = 0.0;
  for (size_t b = 0; b < pt->bin.blocks; b++)
    if (b < left_out.first || b >= left_out.end) {
      sum += first[b * block];
      measurements += (double)pt->bin.measurements[b];
    }
  return sum / (measurements * (double)pt_tempering_values(&pt->tempering.plan, term));
}

enum gpumc_status
pt_average_init(const struct pt_sums *sums, struct pt_average *average, struct gpumc_error *error)
{
  const struct pt *pt = sums->pt;
  const size_t width = gpumc_averages(&pt->settings.observables);
  const size_t left_outs = pt->settings.by_time ? pt->bin.blocks : pt->settings.samples;
  *average = (struct pt_average){.pt = pt, .sums = *sums, .width = width};
  GPUMC_TRY(gpumc_allocate_array(&average->by_sample, pt->settings.samples * width,
                                 "averages of the samples", error));
  GPUMC_TRY(gpumc_allocate_array(&average->mean, width, "averages", error));
  GPUMC_TRY(gpumc_allocate_array(&average->without, width * left_outs, "averages for the jackknife",
                                 error));
  return gpumc_allocate_array(&average->variance, pt->settings.observables.n_quantities, "averages",
                              error);
}

void pt_average_free(struct pt_average *average)
{
  free(average->by_sample);
  free(average->mean);
  free(average->without);
  free(average->variance);
  memset(average, 0, sizeof *average);
}

/* Averages all samples at temperature t. */
static void average_samples(struct pt_average *average, size_t t, struct pt_blocks left_out)
{
  const struct pt *pt = average->pt;
  const struct gpumc_controls controls = pt_controls(pt, t);
  double mean[GPUMC_MEANS_MAXIMUM];
  for (size_t s = 0; s < pt->settings.samples; s++) {
    for (size_t k = 0; k < pt->terms.count; k++)
      mean[k] = pt_term_mean(&average->sums, k, t, s, left_out);
    gpumc_averages_of_each(&pt->settings.observables, pt->context.model, &controls, mean,
                           average->by_sample + s * average->width);
  }
}

/* Computes their mean[W]. */
static void average_over_samples(const struct pt_average *average, double *mean)
{
  const size_t samples = average->pt->settings.samples;
  for (size_t k = 0; k < average->width; k++) {
    double total = 0;
    for (size_t s = 0; s < samples; s++)
      total += average->by_sample[s * average->width + k];
    mean[k] = total / (double)samples;
  }
}

/* Returns group g of `groups` that differ by at most one block. */
static struct pt_blocks group_of(const struct pt *pt, size_t g, size_t groups)
{
  return (struct pt_blocks){g * pt->bin.blocks / groups, (g + 1) * pt->bin.blocks / groups};
}

/* The estimator's state: one temperature. */
struct temperature {
  const struct pt_average *average;
  size_t t;
  struct gpumc_controls controls;
};

/* Samples of one model form one system. */
static void results_of_average(const void *state, const double *mean, double *result)
{
  const struct temperature *at = state;
  const struct pt *pt = at->average->pt;
  const struct gpumc_observables *observables = &pt->settings.observables;
  if (pt->context.model->disorder)
    gpumc_averages_evaluate(observables, pt->context.model, &at->controls, mean, result);
  else
    for (size_t q = 0; q < observables->n_quantities; q++)
      result[q] = gpumc_quantity_value(observables, q, pt->context.model, &at->controls, mean);
}

/* Samples are summed over equal numbers of measurements, so equal ones have equal sums; blocks of
 * time are not: n equal numbers lose n/4 epsilon at most. */
static void roundings_of_average(const void *state, const double *mean, double *rounding)
{
  const struct temperature *at = state;
  const struct pt *pt = at->average->pt;
  const struct gpumc_observables *observables = &pt->settings.observables;
  double longest = 0;
  for (size_t b = 0; b < pt->bin.blocks && pt->settings.by_time; b++)
    longest = fmax(longest, (double)pt->bin.measurements[b]);
  const double terms = (double)at->average->left_outs + (double)pt->bin.blocks + longest / 4;
  for (size_t q = 0; q < observables->n_quantities; q++)
    rounding[q] = gpumc_rounding(
        terms, gpumc_quantity_scale(observables, q, pt->context.model, &at->controls, mean));
}

static bool is_known(const void *state, size_t result)
{
  const struct temperature *at = state;
  const struct pt *pt = at->average->pt;
  return gpumc_quantity_is_known(&pt->settings.observables, result, pt->context.model,
                                 &at->controls);
}

/* Computes the means of all, and without each sample or each group of blocks. */
static void leave_out_each(struct pt_average *average, size_t t)
{
  const struct pt *pt = average->pt;
  bool known;
  average->left_outs =
      pt->settings.by_time ? pt_block_groups(&average->sums, t, &known) : pt->settings.samples;
  for (size_t i = 0; i < average->left_outs && pt->settings.by_time; i++) {
    average_samples(average, t, group_of(pt, i, average->left_outs));
    average_over_samples(average, average->without + i * average->width);
  }
  average_samples(average, t, (struct pt_blocks){0, 0});
  if (pt->settings.by_time)
    average_over_samples(average, average->mean);
  else
    gpumc_leave_one_out(average->by_sample, NULL, average->left_outs, average->width, average->mean,
                        average->without);
}

enum gpumc_status pt_average_at(struct pt_average *average, size_t t, double *value,
                                double *error_of, struct gpumc_error *error)
{
  const struct pt *pt = average->pt;
  const struct temperature at = {average, t, pt_controls(pt, t)};
  const struct gpumc_estimator estimator = {.width = average->width,
                                            .n_results = pt->settings.observables.n_quantities,
                                            .state = &at,
                                            .results = results_of_average,
                                            .roundings = roundings_of_average,
                                            .is_known = is_known};
  leave_out_each(average, t);
  const struct gpumc_replicates replicates = {
      .strata = 1, .blocks = average->left_outs, .without = average->without, .freedom = INFINITY};
  return gpumc_estimate(&estimator, average->mean, &replicates, 1, value, error_of,
                        average->variance, error);
}
