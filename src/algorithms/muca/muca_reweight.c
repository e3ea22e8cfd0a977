/* Multicanonical sampling: canonical averages at any value of the control, from the density of
 * states and averages by level, of one sample and of many. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/muca/muca.h"
#include "core/base/memory.h"
#include "core/numerics/elementary.h"
#include "core/simulation/curves.h"
#include "core/statistics/estimate.h"

enum { FREE_ENERGY, ENTROPY, POTENTIALS };

/* A point of the grid; `coefficient`: ln of the weight is - coefficient times the value. */
struct point {
  const struct muca *muca;
  const struct muca_density *density;
  struct gpumc_controls controls;
  double control, coefficient;
};

/* Limits on what may be left out of a canonical average: the share of levels at which nothing was
 * measured and, if the range was cut, the weight of the outermost level relative to the fullest
 * one. */
static const double missing_share = 1e-4, cut_weight = 1e-4;
/* Largest square of the coefficient times the width of a bin, as a standard deviation, for bins
 * that have cut_weight or more: beyond it averages within bins do not follow from two moments. */
static const double wide_bin = 0.1;

/* Weight relative to the fullest level above which a level counts, and a logarithm below it. */
static const double least_weight = 0x1p-80, log_least = -56;

/* Scratch of a thread. */
struct scratch {
  double *weight, *without; /* [levels] from all blocks, and from all but one */
  double *mean;             /* [blocks + 1][width] */
  enum gpumc_status status;
  struct gpumc_error error;
};

/* Finds, for level v in row b, if levels are bins and it has been measured, the mean and the
 * variance of the values in it, for the whole system. */
static bool
moments_of(const struct point *point, size_t b, size_t v, double *value, double *variance)
{
  const struct muca_density *density = point->density;
  const struct muca *muca = point->muca;
  const struct gpumc_model *model = muca->context.model;
  const struct gpumc_observables *observables = &muca->settings.observables;
  const size_t channel = muca->settings.channel;
  const size_t first = gpumc_observables_power(observables, channel, 1);
  const size_t place = (b * density->levels + v) * observables->n_means + first;
  if (!isfinite(density->average[place]))
    return false;
  const double whole = model->quantum[channel] / gpumc_mean_unit(observables->mean[first], model);
  *value = density->average[place] * whole;
  *variance = density->slope[place] * whole;
  return true;
}

/* log_weight[levels] of row b; returns the largest. Within a bin to second order: ln <exp(- c x)> =
 * - c <x> + c^2 var(x) / 2. */
static double find_log_weights(const struct point *point, size_t b, double *log_weight)
{
  const struct muca_density *density = point->density;
  const double c = point->coefficient, *log_dos = density->log_dos + b * density->levels;
  double largest = -INFINITY, value, variance;
  for (size_t v = 0; v < density->levels; v++) {
    log_weight[v] = log_dos[v] - c * density->value[v];
    if (density->slope != NULL && moments_of(point, b, v, &value, &variance))
      log_weight[v] = log_dos[v] - c * value + 0.5 * c * c * variance;
    largest = log_weight[v] > largest ? log_weight[v] : largest;
  }
  return largest;
}

/* Computes weight[levels] relative to the largest from ln of the weights; 0 for a level that does
 * not count. */
static void find_weights(size_t levels, double largest, double *weight)
{
  for (size_t v = 0; v < levels; v++) {
    const double difference = weight[v] - largest;
    const double exponential = difference > log_least ? gpumc_exp(difference) : 0;
    weight[v] = exponential < least_weight ? 0 : exponential;
  }
}

/* Adds weight times average to sum[n_means], and the weight without an average to missing[]. `row`:
 * b levels + v. */
static void
add_level(const struct point *point, size_t row, double weight, double *sum, double *missing)
{
  const struct muca_density *density = point->density;
  const size_t n = point->muca->settings.observables.n_means;
  const double c = point->coefficient, *average = density->average + row * n;
  if (density->slope == NULL && density->measured[row]) {
    for (size_t k = 0; k < n; k++)
      sum[k] += weight * average[k];
    return;
  }
  for (size_t k = 0; k < n; k++) {
    const double shift = density->slope == NULL ? 0 : c * density->slope[row * n + k];
    if (isfinite(average[k]))
      sum[k] += weight * (average[k] - shift);
    else
      missing[k] += weight;
  }
}

/* Computes mean[n_means], then ln Z, of row b, from weight[levels] relative to exp(largest). */
static void
average_row(const struct point *point, size_t b, const double *weight, double largest, double *mean)
{
  const struct muca_density *density = point->density;
  const size_t n = point->muca->settings.observables.n_means;
  double missing[GPUMC_MEANS_MAXIMUM] = {0}, sum = 0;
  for (size_t k = 0; k < n; k++)
    mean[k] = 0;
  for (size_t v = 0; v < density->levels; v++) {
    if (weight[v] == 0)
      continue;
    sum += weight[v];
    add_level(point, b * density->levels + v, weight[v], mean, missing);
  }
  /* A mean that all blocks together determine is determined without any one of them: what is
   * missing then is in the error. */
  const double most = b == density->blocks ? missing_share * sum : INFINITY;
  for (size_t k = 0; k < n; k++)
    mean[k] = missing[k] > most ? (double)NAN : mean[k] / (sum - missing[k]);
  mean[n] = largest + gpumc_log(sum);
}

/* Levels without states that may lie between an end of the range and the next one with states, at
 * least. */
enum { END_GAP = 2 };

/* Returns as many as the model says that there may be. */
static size_t end_gap(const struct muca *muca)
{
  const struct gpumc_model *model = muca->context.model;
  const size_t channel = muca->settings.channel;
  if (model->grid[channel].levels == 0)
    return END_GAP;
  const double within = muca_levels_within(&muca->settings, model);
  const double gap = ceil((double)model->level[channel].gap / within);
  return gap > END_GAP ? (size_t)gap : END_GAP;
}

/* Returns whether states beyond the level were cut off: if the system's own end is in the range,
 * levels end before it does. */
static bool is_cut(const struct point *point, size_t level)
{
  const struct muca_density *density = point->density;
  const size_t levels = point->muca->settings.levels, gap = end_gap(point->muca);
  const bool below = density->first > 0 && level <= density->first + gap;
  const bool above = density->last + 1 < levels && level + gap >= density->last;
  return below || above;
}

/* Returns what is wrong with averages at a point, from weights of all blocks. */
static enum muca_fault fault_of(const struct point *point, const double *weight)
{
  const struct muca_density *density = point->density;
  const size_t top = density->levels - 1;
  const double c = point->coefficient;
  double value, variance;
  if (density->levels == 0 || (is_cut(point, density->level[0]) && weight[0] > cut_weight) ||
      (is_cut(point, density->level[top]) && weight[top] > cut_weight))
    return MUCA_FAULT_CUT;
  for (size_t v = 0; density->slope != NULL && v < density->levels; v++)
    if (weight[v] > cut_weight && moments_of(point, density->blocks, v, &value, &variance) &&
        c * c * variance > wide_bin)
      return MUCA_FAULT_BINS;
  return MUCA_FAULT_NONE;
}

/* Free energies and entropies of a part of the states are not those of the system. */
size_t muca_results(const struct muca *muca)
{
  return muca->settings.observables.n_quantities + (muca_knows_all_states(muca) ? POTENTIALS : 0);
}

/* Computes -ln Z and the entropy per site. */
static void
potentials(const struct point *point, const double *mean, double log_states, double *result)
{
  const struct muca *muca = point->muca;
  const struct gpumc_observables *observables = &muca->settings.observables;
  if (!muca_knows_all_states(muca))
    return;
  const double log_partition = log_states / (double)muca->context.model->sites;
  const double energy = mean[gpumc_observables_power(observables, muca->settings.channel, 1)];
  result[FREE_ENERGY] = -log_partition;
  result[ENTROPY] = fma(point->coefficient, energy, log_partition);
}

/* Computes quantities, then potentials, of one sample: mean[n_means], and ln Z. */
static void results(const void *state, const double *mean, double *result)
{
  const struct point *point = state;
  const struct gpumc_model *model = point->muca->context.model;
  const struct gpumc_observables *observables = &point->muca->settings.observables;
  const size_t n = observables->n_quantities;
  for (size_t q = 0; q < n; q++)
    result[q] = gpumc_quantity_value(observables, q, model, &point->controls, mean);
  potentials(point, mean, mean[observables->n_means], result + n);
}

/* The same from averages over samples: those of the model, and ln Z. */
static void results_of_samples(const void *state, const double *average, double *result)
{
  const struct point *point = state;
  const struct gpumc_observables *observables = &point->muca->settings.observables;
  gpumc_averages_evaluate(observables, point->muca->context.model, &point->controls, average,
                          result);
  potentials(point, average, average[gpumc_averages(observables)],
             result + observables->n_quantities);
}

static void roundings(const void *state, const double *mean, double *rounding)
{
  const struct point *point = state;
  const struct muca *muca = point->muca;
  const struct gpumc_model *model = muca->context.model;
  const struct gpumc_observables *observables = &muca->settings.observables;
  const double terms = (double)(muca->settings.blocks + muca->settings.levels);
  const size_t n = observables->n_quantities;
  for (size_t q = 0; q < n; q++)
    rounding[q] =
        gpumc_rounding(terms, gpumc_quantity_scale(observables, q, model, &point->controls, mean));
  for (size_t i = n; i < muca_results(muca); i++)
    rounding[i] =
        gpumc_rounding(terms, fabs(mean[observables->n_means]) / (double)model->sites + 1);
}

/* The number of states is known, and thus ln Z at beta = 0. */
static bool is_known(const void *state, size_t result)
{
  const struct point *point = state;
  const struct muca *muca = point->muca;
  const size_t n = muca->settings.observables.n_quantities;
  if (result >= n)
    return point->coefficient == 0;
  return gpumc_quantity_is_known(&muca->settings.observables, result, muca->context.model,
                                 &point->controls);
}

struct gpumc_label muca_result_label(const struct muca *muca, size_t result)
{
  static const struct gpumc_label labels[POTENTIALS] = {
      [FREE_ENERGY] = {"beta_free_energy",
                       "free energy per site times beta, -ln(Z)/N" GPUMC_COUNTED, "1", "β f"},
      [ENTROPY] = {"entropy", "entropy per site" GPUMC_COUNTED, "k_B", "s"}};
  const size_t n = muca->settings.observables.n_quantities;
  return result < n ? gpumc_quantity_label(&muca->settings.observables, result)
                    : labels[result - n];
}

size_t muca_averages_width(const struct muca *muca)
{
  return gpumc_averages(&muca->settings.observables) + 1;
}

/* ---- over the grid ---- */

static struct point
point_at(const struct muca *muca, const struct muca_density *density, double control)
{
  const struct gpumc_moved *moved = &muca->settings.moved;
  return (struct point){.muca = muca,
                        .density = density,
                        .control = control,
                        .coefficient = gpumc_moved_coefficient(muca->context.model, moved, control),
                        .controls = gpumc_controls_at(moved->fixed, moved->control, control)};
}

static enum gpumc_status open_scratch(struct scratch *scratch, const struct muca_density *density,
                                      size_t width, struct gpumc_error *error)
{
  const size_t levels = density->levels, blocks = density->blocks;
  *scratch = (struct scratch){0};
  GPUMC_TRY(gpumc_allocate_array(&scratch->weight, 2 * levels, "reweighting", error));
  scratch->without = scratch->weight + levels;
  return gpumc_allocate_array(&scratch->mean, (blocks + 1) * width, "reweighting", error);
}

static void close_scratch(struct scratch *scratch)
{
  free(scratch->weight);
  free(scratch->mean);
  gpumc_error_free(&scratch->error);
}

/* Rows without a block. In levels of a spectrum their weights follow from those of all blocks, by
 * factors independent of the control; in bins they do not. */
static void average_blocks(const struct point *point, double largest, struct scratch *scratch)
{
  const struct muca_density *density = point->density;
  const size_t width = point->muca->settings.observables.n_means + 1, levels = density->levels;
  for (size_t b = 0; b < density->blocks; b++) {
    if (density->slope != NULL) {
      largest = find_log_weights(point, b, scratch->without);
      find_weights(levels, largest, scratch->without);
    } else {
      const double *ratio = density->ratio + b * levels;
      for (size_t v = 0; v < levels; v++)
        scratch->without[v] = scratch->weight[v] * ratio[v];
    }
    average_row(point, b, scratch->without, largest, scratch->mean + b * width);
  }
}

/* The destination of one sample's results at a point: [results] with errors and [width] of
 * averages, NULL: not wanted. */
struct place {
  double *value, *error_of, *average;
  uint8_t *fault;
};
static struct place
place_of(const struct muca *muca, const struct muca_curves *curves, size_t sample, size_t p)
{
  const size_t point = sample * curves->points + p;
  return (struct place){.value = curves->value + point * curves->results,
                        .error_of = curves->error_of + point * curves->results,
                        .average = curves->averages == NULL
                                       ? NULL
                                       : curves->averages + point * muca_averages_width(muca),
                        .fault = &curves->fault[p]};
}

/* Computes value[n], error_of[n] and, unless it is NULL, average[width] of one sample at a point;
 * NAN if there are none. */
static enum gpumc_status estimate_point(const struct point *point, struct scratch *scratch,
                                        const struct place *to, struct gpumc_error *error)
{
  const struct muca *muca = point->muca;
  const struct muca_density *density = point->density;
  const struct gpumc_observables *observables = &muca->settings.observables;
  const size_t width = observables->n_means + 1, n = muca_results(muca);
  const size_t averages = to->average == NULL ? 0 : muca_averages_width(muca);
  double *mean = scratch->mean + density->blocks * width;
  const double largest = find_log_weights(point, density->blocks, scratch->weight);
  find_weights(density->levels, largest, scratch->weight);
  const enum muca_fault fault = fault_of(point, scratch->weight);
  if (fault != MUCA_FAULT_NONE) {
    *to->fault = (uint8_t)fault;
    for (size_t k = 0; k < averages; k++)
      to->average[k] = NAN;
    for (size_t i = 0; i < n; i++)
      to->value[i] = to->error_of[i] = NAN;
    return GPUMC_OK;
  }
  average_row(point, density->blocks, scratch->weight, largest, mean);
  average_blocks(point, largest, scratch);
  if (averages > 0) {
    gpumc_averages_of_each(observables, muca->context.model, &point->controls, mean, to->average);
    to->average[averages - 1] = mean[observables->n_means];
  }
  const struct gpumc_estimator estimator = {width, n, point, results, roundings, is_known};
  const struct gpumc_replicates blocks = {
      .strata = 1, .blocks = density->blocks, .without = scratch->mean, .freedom = INFINITY};
  return gpumc_estimate(&estimator, mean, &blocks, 1, to->value, to->error_of, NULL, error);
}

/* A thread handles every `threads`-th point. */
static void reweight_points(const struct muca *muca, const struct muca_density *density,
                            struct muca_curves *curves, size_t sample, size_t first, size_t last,
                            struct scratch *scratch)
{
  const size_t threads = (size_t)muca->context.device->threads;
  for (size_t p = first; p < last && scratch->status == GPUMC_OK; p += threads) {
    const struct point point = point_at(muca, density, curves->grid[p]);
    const struct place to = place_of(muca, curves, sample, p);
    scratch->status = estimate_point(&point, scratch, &to, &scratch->error);
  }
}

enum gpumc_status muca_reweight(const struct muca *muca, const struct muca_density *density,
                                struct muca_curves *curves, size_t sample, size_t first,
                                size_t count, struct gpumc_error *error)
{
  const size_t width = muca->settings.observables.n_means + 1;
  const int threads = muca->context.device->threads;
  struct scratch *scratch;
  GPUMC_TRY(gpumc_allocate_array(&scratch, (size_t)threads, "reweighting", error));
  enum gpumc_status status = GPUMC_OK;
  for (int t = 0; t < threads && status == GPUMC_OK; t++)
    status = open_scratch(&scratch[t], density, width, error);
  if (status != GPUMC_OK)
    goto out;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int t = 0; t < threads; t++)
    reweight_points(muca, density, curves, sample, first + (size_t)t, first + count, &scratch[t]);
  for (int t = 0; t < threads && status == GPUMC_OK; t++)
    if (scratch[t].status != GPUMC_OK)
      status = gpumc_error_set(error, scratch[t].status, "%s", gpumc_error_text(&scratch[t].error));
out:
  for (int t = 0; t < threads; t++)
    close_scratch(&scratch[t]);
  free(scratch);
  return status;
}

/* Computes the average over samples at point p: value[n] and error_of[n], NAN if one of them has
 * none. */
static enum gpumc_status average_samples(const struct muca *muca, const struct muca_curves *curves,
                                         size_t p, double *work, double *value, double *error_of,
                                         struct gpumc_error *error)
{
  const size_t samples = muca->settings.samples, width = muca_averages_width(muca);
  const struct point point = point_at(muca, NULL, curves->grid[p]);
  double *of_samples = work, *without = work + samples * width, *mean = without + samples * width;
  bool known = true;
  for (size_t s = 0; s < samples; s++) {
    const double *average = curves->averages + (s * curves->points + p) * width;
    known = known && isfinite(average[width - 1]);
    memcpy(of_samples + s * width, average, width * sizeof *average);
  }
  for (size_t i = 0; !known && i < curves->results; i++)
    value[i] = error_of[i] = NAN;
  if (!known)
    return GPUMC_OK;
  gpumc_leave_one_out(of_samples, NULL, samples, width, mean, without);
  const struct gpumc_estimator estimator = {width, curves->results, &point, results_of_samples,
                                            NULL,  is_known};
  const struct gpumc_replicates blocks = {
      .strata = 1, .blocks = samples, .without = without, .freedom = INFINITY};
  return gpumc_estimate(&estimator, mean, &blocks, 1, value, error_of, NULL, error);
}

enum gpumc_status muca_reweight_samples(const struct muca *muca, const struct muca_curves *curves,
                                        double *value, double *error_of, struct gpumc_error *error)
{
  const size_t samples = muca->settings.samples, width = muca_averages_width(muca);
  double *work;
  GPUMC_TRY(gpumc_allocate_array(&work, (2 * samples + 1) * width, "a jackknife", error));
  enum gpumc_status status = GPUMC_OK;
  for (size_t p = 0; p < curves->points && status == GPUMC_OK; p++)
    status = average_samples(muca, curves, p, work, value + p * curves->results,
                             error_of + p * curves->results, error);
  free(work);
  return status;
}
