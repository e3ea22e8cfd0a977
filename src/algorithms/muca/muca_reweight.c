/* Multicanonical sampling: canonical averages at any value of the control, from the density of
 * states and averages by level, of one sample and of many. */
#include <math.h>
#include <stdio.h>
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

/* Of what is left out of a canonical average: levels at which nothing was measured may have this
 * share, and where the range was cut the outermost level this weight beside the fullest one. */
static const double missing_share = 1e-4, cut_weight = 1e-4;
/* Largest square of the coefficient times the width of a bin, as a standard deviation, of bins that
 * have cut_weight or more: beyond it averages within bins do not follow from two moments. */
static const double wide_bin = 0.1;

/* ln of the weight of level v in row b, and the shift of averages within a bin, to second order:
 * ln <exp(- c x)> = - c <x> + c^2 var(x) / 2. */
static double log_weight_of(const struct point *point, size_t b, size_t v, double *variance)
{
  const struct muca_density *density = point->density;
  const struct muca *muca = point->muca;
  const struct gpumc_observables *observables = &muca->settings.observables;
  const size_t n = observables->n_means, row = (b * density->levels + v);
  const double c = point->coefficient;
  *variance = 0;
  double value = density->value[v];
  if (density->slope != NULL) {
    const size_t first = gpumc_observables_power(observables, muca->settings.channel, 1);
    const struct gpumc_model *model = muca->context.model;
    const double whole =
        model->quantum[muca->settings.channel] / gpumc_mean_unit(observables->mean[first], model);
    const double average = density->average[row * n + first];
    if (isfinite(average)) {
      value = average * whole;
      *variance = density->slope[row * n + first] * whole;
    }
  }
  return density->log_dos[row] - c * value + 0.5 * c * c * *variance;
}

/* Canonical averages of row b. */
struct canonical {
  double sum, largest; /* of weights over exp(largest) */
  double spread;       /* the largest square of coefficient times width, of levels that count */
};

/* Sums of weight times average into mean[n_means], and the weight that has none in missing[]. */
static void
add_level(const struct point *point, size_t b, size_t v, double p, double *mean, double *missing)
{
  const struct muca_density *density = point->density;
  const size_t n = point->muca->settings.observables.n_means;
  const size_t place = (b * density->levels + v) * n;
  for (size_t k = 0; k < n; k++) {
    double average = density->average[place + k];
    if (density->slope != NULL)
      average -= point->coefficient * density->slope[place + k];
    if (isfinite(average))
      mean[k] += p * average;
    else
      missing[k] += p;
  }
}

/* mean[n_means], then ln Z, from row b. */
static struct canonical reweight(const struct point *point, size_t b, double *mean)
{
  const struct muca_density *density = point->density;
  const size_t n = point->muca->settings.observables.n_means;
  struct canonical canonical = {.largest = -INFINITY};
  double missing[GPUMC_MEANS_MAXIMUM] = {0}, variance;
  for (size_t v = 0; v < density->levels; v++)
    canonical.largest = fmax(canonical.largest, log_weight_of(point, b, v, &variance));
  for (size_t k = 0; k < n; k++)
    mean[k] = 0;
  for (size_t v = 0; v < density->levels; v++) {
    const double p = gpumc_exp(log_weight_of(point, b, v, &variance) - canonical.largest);
    if (p < 0x1p-80)
      continue;
    canonical.sum += p;
    if (p > cut_weight)
      canonical.spread = fmax(canonical.spread, point->coefficient * point->coefficient * variance);
    add_level(point, b, v, p, mean, missing);
  }
  /* A mean that all blocks together know is known without any of them: what is missing then is in
   * the error. */
  const double most = b == density->blocks ? missing_share * canonical.sum : INFINITY;
  for (size_t k = 0; k < n; k++)
    mean[k] = missing[k] > most ? (double)NAN : mean[k] / (canonical.sum - missing[k]);
  mean[n] = canonical.largest + gpumc_log(canonical.sum);
  return canonical;
}

/* Levels without states that may lie between an end of the range and the next one that has some. */
enum { END_GAP = 2 };

/* Whether states beyond the level were cut off: where the system's own end is in the range, levels
 * end before it does. */
static bool is_cut(const struct muca_settings *settings, size_t level)
{
  const bool below = settings->first > 0 && level <= settings->first + END_GAP;
  const bool above = settings->last + 1 < settings->levels && level + END_GAP >= settings->last;
  return below || above;
}

/* What is wrong with averages at a point. */
static enum muca_fault fault_of(const struct point *point, const struct canonical *canonical)
{
  const struct muca_settings *settings = &point->muca->settings;
  const struct muca_density *density = point->density;
  const size_t all = density->blocks, top = density->levels - 1;
  const double least = canonical->largest + gpumc_log(cut_weight);
  double variance;
  if (is_cut(settings, density->level[0]) && log_weight_of(point, all, 0, &variance) > least)
    return MUCA_FAULT_CUT;
  if (is_cut(settings, density->level[top]) && log_weight_of(point, all, top, &variance) > least)
    return MUCA_FAULT_CUT;
  return canonical->spread > wide_bin ? MUCA_FAULT_BINS : MUCA_FAULT_NONE;
}

/* Free energies and entropies of a part of the states are none of the system's. */
static size_t result_count(const struct muca *muca)
{
  return muca->settings.observables.n_quantities + (muca_knows_all_states(muca) ? POTENTIALS : 0);
}

/* -ln Z and the entropy per site. */
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

/* Quantities, then potentials, of one sample: mean[n_means], and ln Z. */
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
  for (size_t i = n; i < result_count(muca); i++)
    rounding[i] =
        gpumc_rounding(terms, fabs(mean[observables->n_means]) / (double)model->sites + 1);
}

/* The number of states is known, and with it ln Z at beta = 0. */
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

static struct gpumc_label result_label(const struct muca *muca, size_t result)
{
  static const struct gpumc_label labels[POTENTIALS] = {
      [FREE_ENERGY] = {"beta_free_energy", "free energy per site times beta, -ln(Z)/N", "1", "β f"},
      [ENTROPY] = {"entropy", "entropy per site", "k_B", "s"}};
  const size_t n = muca->settings.observables.n_quantities;
  return result < n ? gpumc_quantity_label(&muca->settings.observables, result)
                    : labels[result - n];
}

/* ---- the grid ---- */

size_t muca_averages_width(const struct muca *muca)
{
  return gpumc_averages(&muca->settings.observables) + 1;
}

enum gpumc_status
muca_curves_create(const struct muca *muca, struct muca_curves *curves, struct gpumc_error *error)
{
  const struct gpumc_params *params = &muca->context.params;
  const struct gpumc_range range = gpumc_range_read(params, gpumc_ladder_block(params));
  *curves = (struct muca_curves){.points = (size_t)gpumc_range_count(&range),
                                 .results = result_count(muca)};
  GPUMC_TRY(gpumc_allocate_array(&curves->grid, curves->points, "the grid", error));
  GPUMC_TRY(
      gpumc_allocate_array(&curves->value, curves->points * curves->results, "the grid", error));
  GPUMC_TRY(gpumc_allocate_array(&curves->fault, curves->points, "the grid", error));
  for (size_t p = 0; p < curves->points; p++)
    curves->grid[p] = gpumc_range_point(&range, p);
  return gpumc_allocate_array(&curves->error_of, curves->points * curves->results, "the grid",
                              error);
}

void muca_curves_free(struct muca_curves *curves)
{
  free(curves->grid);
  free(curves->fault);
  free(curves->value);
  free(curves->error_of);
}

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

static void leave_open(struct muca_curves *curves, size_t p)
{
  for (size_t i = 0; i < curves->results; i++)
    curves->value[p * curves->results + i] = curves->error_of[p * curves->results + i] = NAN;
}

/* Of one sample. average[width]: NAN where there are none; NULL: not wanted. */
static enum gpumc_status estimate_point(const struct point *point, struct muca_curves *curves,
                                        size_t p, double *without, double *average,
                                        struct gpumc_error *error)
{
  const struct muca *muca = point->muca;
  const struct muca_density *density = point->density;
  const struct gpumc_observables *observables = &muca->settings.observables;
  const size_t width = observables->n_means + 1, n = curves->results;
  const int threads = muca->context.device->threads;
  double *mean = without + density->blocks * width;
  const struct canonical all = reweight(point, density->blocks, mean);
  const enum muca_fault fault = fault_of(point, &all);
  if (fault != MUCA_FAULT_NONE) {
    curves->fault[p] = (uint8_t)fault;
    for (size_t k = 0; average != NULL && k < muca_averages_width(muca); k++)
      average[k] = NAN;
    leave_open(curves, p);
    return GPUMC_OK;
  }
  if (average != NULL) {
    gpumc_averages_of_each(observables, muca->context.model, &point->controls, mean, average);
    average[gpumc_averages(observables)] = mean[observables->n_means];
  }
#pragma omp parallel for num_threads(threads) schedule(static)
  for (size_t b = 0; b < density->blocks; b++)
    reweight(point, b, without + b * width);
  const struct gpumc_estimator estimator = {width, n, point, results, roundings, is_known};
  const struct gpumc_replicates blocks = {
      .strata = 1, .blocks = density->blocks, .without = without, .freedom = INFINITY};
  return gpumc_estimate(&estimator, mean, &blocks, 1, curves->value + p * n,
                        curves->error_of + p * n, NULL, error);
}

enum gpumc_status muca_reweight(const struct muca *muca, const struct muca_density *density,
                                struct muca_curves *curves, double *averages,
                                struct gpumc_error *error)
{
  const size_t width = muca->settings.observables.n_means + 1;
  double *without;
  GPUMC_TRY(gpumc_allocate_array(&without, (density->blocks + 1) * width, "reweighting", error));
  enum gpumc_status status = GPUMC_OK;
  for (size_t p = 0; p < curves->points && status == GPUMC_OK; p++) {
    const struct point point = point_at(muca, density, curves->grid[p]);
    double *average = averages == NULL ? NULL : averages + p * muca_averages_width(muca);
    status = estimate_point(&point, curves, p, without, average, error);
  }
  free(without);
  return status;
}

enum gpumc_status muca_reweight_samples(const struct muca *muca, const double *averages,
                                        struct muca_curves *curves, struct gpumc_error *error)
{
  const size_t samples = muca->settings.samples, width = muca_averages_width(muca);
  const size_t n = curves->results;
  double *work;
  GPUMC_TRY(gpumc_allocate_array(&work, (2 * samples + 1) * width, "a jackknife", error));
  double *of_samples = work, *without = work + samples * width, *mean = without + samples * width;
  enum gpumc_status status = GPUMC_OK;
  for (size_t p = 0; p < curves->points && status == GPUMC_OK; p++) {
    const struct point point = point_at(muca, NULL, curves->grid[p]);
    bool known = true;
    for (size_t s = 0; s < samples; s++) {
      const double *average = averages + (s * curves->points + p) * width;
      known = known && isfinite(average[width - 1]);
      memcpy(of_samples + s * width, average, width * sizeof *average);
    }
    leave_open(curves, p);
    if (!known)
      continue;
    gpumc_leave_one_out(of_samples, NULL, samples, width, mean, without);
    const struct gpumc_estimator estimator = {width, n, &point, results_of_samples, NULL, is_known};
    const struct gpumc_replicates blocks = {
        .strata = 1, .blocks = samples, .without = without, .freedom = INFINITY};
    status = gpumc_estimate(&estimator, mean, &blocks, 1, curves->value + p * n,
                            curves->error_of + p * n, NULL, error);
  }
  free(work);
  return status;
}

enum gpumc_status muca_curves_write(const struct muca *muca, const struct muca_curves *curves,
                                    const char *group, const double *value, const double *error_of,
                                    bool by_sample, struct gpumc_error *error)
{
  const struct gpumc_label label = gpumc_moved_label(muca->context.model, &muca->settings.moved);
  const size_t rows = by_sample ? muca->settings.samples : 1, n = curves->results;
  const size_t count = rows * curves->points, axis = by_sample ? 1 : 0;
  char sample[64], control[64];
  double *curve;
  snprintf(sample, sizeof sample, "%s/sample", group);
  snprintf(control, sizeof control, "%s/%s", group, label.name);
  struct gpumc_curve_place place = {
      .recorder = muca->context.recorder, .model = muca->context.model, .group = group};
  place.axis[0] = sample;
  place.count[0] = rows;
  place.axis[axis] = control;
  place.count[axis] = curves->points;
  GPUMC_TRY(gpumc_allocate_array(&curve, 2 * count, "a curve", error));
  enum gpumc_status status =
      gpumc_curve_write_axis(&place, axis, &label, false, curves->grid, error);
  for (size_t r = 0; r < n && status == GPUMC_OK; r++) {
    const struct gpumc_label result = result_label(muca, r);
    for (size_t i = 0; i < count; i++) {
      curve[i] = value[i * n + r];
      curve[count + i] = error_of[i * n + r];
    }
    status = gpumc_curve_write_with_error(&place, &result, curve, curve + count, error);
  }
  free(curve);
  return status;
}
