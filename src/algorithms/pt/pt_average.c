/* Parallel tempering: averages over the samples at one temperature, with errors. */
#include "algorithms/pt/pt_average.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/statistics/jackknife.h"

static const size_t nothing = SIZE_MAX;

double pt_term_mean(const struct pt *pt, size_t term, size_t t, size_t s, struct pt_blocks left_out)
{
  const size_t samples = pt->settings.samples, temperatures = pt->settings.temperatures;
  const size_t block = pt->terms.count * temperatures * samples;
  const double *sums = pt->bin.sums + (term * temperatures + t) * samples + s;
  double sum = 0.0, measurements = 0.0;
  for (size_t b = 0; b < pt->bin.blocks; b++)
    if (b < left_out.first || b >= left_out.end) {
      sum += sums[b * block];
      measurements += (double)pt->bin.measurements[b];
    }
  return sum / (measurements * (double)pt_tempering_values(&pt->tempering.plan, term));
}

enum gpumc_status
pt_average_init(const struct pt *pt, struct pt_average *average, struct gpumc_error *error)
{
  const size_t averages = pt->terms.count + 1;
  memset(average, 0, sizeof *average);
  average->pt = pt;
  const size_t left_outs = pt->settings.by_time ? pt->bin.blocks : pt->settings.samples;
  enum gpumc_status status = gpumc_allocate_array(
      &average->by_sample, pt->settings.samples * averages, "averages of the samples", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&average->total, averages, "averages", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&average->rest, averages, "averages", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&average->without, pt->quantities.count * left_outs,
                                  "averages for the jackknife", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&average->freedom, pt->quantities.count, "averages", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&average->rounding, pt->quantities.count, "averages", error);
  if (status != GPUMC_OK)
    pt_average_free(average);
  return status;
}

void pt_average_free(struct pt_average *average)
{
  free(average->by_sample);
  free(average->total);
  free(average->rest);
  free(average->without);
  free(average->freedom);
  free(average->rounding);
  memset(average, 0, sizeof *average);
}

/* All samples at temperature t, and their sum. */
static void average_samples(struct pt_average *average, size_t t, struct pt_blocks left_out)
{
  const struct pt *pt = average->pt;
  const size_t terms = pt->terms.count, averages = terms + 1;
  memset(average->total, 0, averages * sizeof *average->total);
  for (size_t s = 0; s < pt->settings.samples; s++) {
    double *mean = average->by_sample + s * averages;
    for (size_t k = 0; k < terms; k++)
      mean[k] = pt_term_mean(pt, k, t, s, left_out);
    mean[terms] = pt_variance_of_energy(&pt->terms, mean);
    for (size_t k = 0; k < averages; k++)
      average->total[k] += mean[k];
  }
}

/* The quantities from rest = (total - sample `without`)/(number of the others). */
static void
evaluate(struct pt_average *average, size_t t, size_t without, double *quantity, size_t stride)
{
  const struct pt *pt = average->pt;
  const size_t averages = pt->terms.count + 1;
  const bool whole = without == nothing;
  const double count = (double)(pt->settings.samples - (whole ? 0 : 1));
  for (size_t k = 0; k < averages; k++) {
    const double sample = whole ? 0.0 : average->by_sample[without * averages + k];
    average->rest[k] = (average->total[k] - sample) / count;
  }
  for (size_t q = 0; q < pt->quantities.count; q++)
    quantity[q * stride] = pt_quantity_value(&pt->quantities.quantity[q], pt->context.model,
                                             pt->beta[t], average->rest);
}

/* Rounding errors of the quantities, the whole being in `rest`. Samples are summed up over equal
 * numbers of measurements, so that equal ones have equal sums; blocks of time are not: n equal
 * numbers lose n/4 epsilon at most. */
static void find_rounding(struct pt_average *average, size_t t, size_t count)
{
  const struct pt *pt = average->pt;
  double longest = 0;
  for (size_t b = 0; b < pt->bin.blocks && pt->settings.by_time; b++)
    longest = fmax(longest, (double)pt->bin.measurements[b]);
  const double terms = (double)count + (double)pt->bin.blocks + longest / 4;
  for (size_t q = 0; q < pt->quantities.count; q++)
    average->rounding[q] =
        gpumc_rounding(terms, pt_quantity_scale(&pt->quantities.quantity[q], pt->context.model,
                                                pt->beta[t], average->rest));
}

/* Group g of so many that differ by one block at the most. */
static struct pt_blocks group_of(const struct pt *pt, size_t g, size_t groups)
{
  return (struct pt_blocks){g * pt->bin.blocks / groups, (g + 1) * pt->bin.blocks / groups};
}

void pt_average_at(struct pt_average *average, size_t t, double *value, double *error_of)
{
  const struct pt *pt = average->pt;
  const struct gpumc_variance none = {0, 0};
  const bool by_time = pt->settings.by_time;
  bool known;
  const size_t count = by_time ? pt_block_groups(pt, t, &known) : pt->settings.samples;
  for (size_t i = 0; i < count && by_time; i++) {
    average_samples(average, t, group_of(pt, i, count));
    evaluate(average, t, nothing, average->without + i, count);
  }
  average_samples(average, t, (struct pt_blocks){0, 0});
  evaluate(average, t, nothing, value, 1);
  find_rounding(average, t, count);
  average->left_outs = count;
  for (size_t i = 0; i < count && !by_time; i++)
    evaluate(average, t, i, average->without + i, count);
  for (size_t q = 0; q < pt->quantities.count; q++) {
    const struct gpumc_variance variance =
        gpumc_jackknife_of(average->without + q * count, 1, count, average->rounding[q]);
    const bool exact = pt_quantity_is_exact(&pt->quantities.quantity[q], pt->beta[t]);
    average->freedom[q] = variance.freedom;
    error_of[q] = exact ? 0 : gpumc_pooled_error(variance, none);
  }
}
