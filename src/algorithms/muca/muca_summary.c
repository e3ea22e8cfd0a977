/* Multicanonical sampling: what follows from the density of states at any value of the control,
 * what is written of both, and whether to trust it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "algorithms/muca/muca.h"
#include "core/base/memory.h"
#include "core/numerics/elementary.h"
#include "core/simulation/curves.h"
#include "core/statistics/estimate.h"

/* Of the whole run; fewer are too few to tell their number. */
enum { ROUND_TRIPS_LEAST = 100 };

/* ---- reweighting ---- */

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

enum fault { FAULT_NONE, FAULT_CUT, FAULT_BINS };

/* Whether states beyond the level were cut off: where the system's own end is in the range, levels
 * end before it does. */
static bool is_cut(const struct muca_settings *settings, size_t level)
{
  const bool below = settings->first > 0 && level <= settings->first + END_GAP;
  const bool above = settings->last + 1 < settings->levels && level + END_GAP >= settings->last;
  return below || above;
}

/* What is wrong with averages at a point. */
static enum fault fault_of(const struct point *point, const struct canonical *canonical)
{
  const struct muca_settings *settings = &point->muca->settings;
  const struct muca_density *density = point->density;
  const size_t all = density->blocks, top = density->levels - 1;
  const double least = canonical->largest + gpumc_log(cut_weight);
  double variance;
  if (is_cut(settings, density->level[0]) && log_weight_of(point, all, 0, &variance) > least)
    return FAULT_CUT;
  if (is_cut(settings, density->level[top]) && log_weight_of(point, all, top, &variance) > least)
    return FAULT_CUT;
  return canonical->spread > wide_bin ? FAULT_BINS : FAULT_NONE;
}

/* Free energies and entropies of a part of the states are none of the system's. */
static size_t result_count(const struct muca *muca)
{
  return muca->settings.observables.n_quantities + (muca_knows_all_states(muca) ? POTENTIALS : 0);
}

/* Quantities, then -ln Z and the entropy per site. */
static void results(const void *state, const double *mean, double *result)
{
  const struct point *point = state;
  const struct muca *muca = point->muca;
  const struct gpumc_model *model = muca->context.model;
  const struct gpumc_observables *observables = &muca->settings.observables;
  const size_t n = observables->n_quantities;
  for (size_t q = 0; q < n; q++)
    result[q] = gpumc_quantity_value(observables, q, model, &point->controls, mean);
  if (!muca_knows_all_states(muca))
    return;
  const double log_partition = mean[observables->n_means] / (double)model->sites;
  const double energy = mean[gpumc_observables_power(observables, muca->settings.channel, 1)];
  result[n + FREE_ENERGY] = -log_partition;
  result[n + ENTROPY] = fma(point->coefficient, energy, log_partition);
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

/* Points of the grid at which averages are NAN, by their fault, and the first of each. */
struct faults {
  size_t count[FAULT_BINS + 1];
  double first[FAULT_BINS + 1];
};

static enum gpumc_status estimate_point(const struct point *point, double *without, double *value,
                                        double *error_of, struct faults *faults,
                                        struct gpumc_error *error)
{
  const struct muca *muca = point->muca;
  const struct muca_density *density = point->density;
  const size_t width = muca->settings.observables.n_means + 1, n = result_count(muca);
  const int threads = muca->context.device->threads;
  const struct canonical all = reweight(point, density->blocks, without + density->blocks * width);
  const enum fault fault = fault_of(point, &all);
  if (fault != FAULT_NONE) {
    faults->first[fault] = faults->count[fault]++ == 0 ? point->control : faults->first[fault];
    for (size_t r = 0; r < n; r++)
      value[r] = error_of[r] = NAN;
    return GPUMC_OK;
  }
#pragma omp parallel for num_threads(threads) schedule(static)
  for (size_t b = 0; b < density->blocks; b++)
    reweight(point, b, without + b * width);
  const struct gpumc_estimator estimator = {width, n, point, results, roundings, is_known};
  const struct gpumc_replicates blocks = {
      .strata = 1, .blocks = density->blocks, .without = without, .freedom = INFINITY};
  return gpumc_estimate(&estimator, without + density->blocks * width, &blocks, 1, value, error_of,
                        NULL, error);
}

/* value, error [points][results]. */
static enum gpumc_status fill_grid(const struct muca *muca, const struct muca_density *density,
                                   const double *grid, size_t points, double *value,
                                   double *error_of, struct faults *faults,
                                   struct gpumc_error *error)
{
  const struct muca_settings *settings = &muca->settings;
  const size_t width = settings->observables.n_means + 1, n = result_count(muca);
  double *without;
  GPUMC_TRY(gpumc_allocate_array(&without, (density->blocks + 1) * width, "reweighting", error));
  enum gpumc_status status = GPUMC_OK;
  for (size_t p = 0; p < points && status == GPUMC_OK; p++) {
    const struct point point = {
        .muca = muca,
        .density = density,
        .control = grid[p],
        .coefficient = gpumc_moved_coefficient(muca->context.model, &settings->moved, grid[p]),
        .controls = gpumc_controls_at(settings->moved.fixed, settings->moved.control, grid[p])};
    status = estimate_point(&point, without, value + p * n, error_of + p * n, faults, error);
  }
  free(without);
  return status;
}

static struct gpumc_label label_of(const struct muca *muca, size_t result)
{
  static const struct gpumc_label potentials[POTENTIALS] = {
      [FREE_ENERGY] = {"beta_free_energy", "free energy per site times beta, -ln(Z)/N", "1", "β f"},
      [ENTROPY] = {"entropy", "entropy per site", "k_B", "s"}};
  const size_t n = muca->settings.observables.n_quantities;
  return result < n ? gpumc_quantity_label(&muca->settings.observables, result)
                    : potentials[result - n];
}

static struct gpumc_curve_place place_of(const struct muca *muca, const char *axis, size_t count)
{
  return (struct gpumc_curve_place){.recorder = muca->context.recorder,
                                    .model = muca->context.model,
                                    .group = "summary",
                                    .axis = {axis},
                                    .count = {count}};
}

static enum gpumc_status write_grid(const struct muca *muca, const double *grid, size_t points,
                                    const double *value, const double *error_of,
                                    struct gpumc_error *error)
{
  const struct gpumc_label axis = gpumc_moved_label(muca->context.model, &muca->settings.moved);
  const size_t n = result_count(muca);
  char path[64];
  double *curve;
  snprintf(path, sizeof path, "summary/%s", axis.name);
  const struct gpumc_curve_place place = place_of(muca, path, points);
  GPUMC_TRY(gpumc_allocate_array(&curve, 2 * points, "a curve", error));
  enum gpumc_status status = gpumc_curve_write_axis(&place, 0, &axis, false, grid, error);
  for (size_t r = 0; r < n && status == GPUMC_OK; r++) {
    const struct gpumc_label label = label_of(muca, r);
    for (size_t p = 0; p < points; p++) {
      curve[p] = value[p * n + r];
      curve[points + p] = error_of[p * n + r];
    }
    status = gpumc_curve_write_with_error(&place, &label, curve, curve + points, error);
  }
  free(curve);
  return status;
}

static enum gpumc_status reweight_grid(const struct muca *muca, const struct muca_density *density,
                                       struct faults *faults, struct gpumc_error *error)
{
  const struct gpumc_params *params = &muca->context.params;
  const struct gpumc_range range = gpumc_range_read(params, gpumc_ladder_block(params));
  const size_t points = (size_t)gpumc_range_count(&range), n = result_count(muca);
  enum gpumc_status status = GPUMC_OK;
  double *grid;
  GPUMC_TRY(gpumc_allocate_array(&grid, points * (1 + 2 * n), "the grid", error));
  for (size_t p = 0; p < points; p++)
    grid[p] = gpumc_range_point(&range, p);
  double *value = grid + points, *error_of = value + points * n;
  GPUMC_TRY_OUT(status, fill_grid(muca, density, grid, points, value, error_of, faults, error));
  GPUMC_TRY_OUT(status, write_grid(muca, grid, points, value, error_of, error));
out:
  free(grid);
  return status;
}

/* ---- the density of states ---- */

/* Averages at each level, of means that do not follow from it. */
static enum gpumc_status write_levels(const struct muca *muca, const struct muca_density *density,
                                      const char *axis, struct gpumc_error *error)
{
  const struct gpumc_observables *observables = &muca->settings.observables;
  const size_t n = observables->n_means, levels = density->levels;
  struct gpumc_curve_place place = place_of(muca, axis, levels);
  enum gpumc_status status = GPUMC_OK;
  double *curve;
  place.group = "summary/microcanonical";
  GPUMC_TRY(gpumc_allocate_array(&curve, 2 * levels, "a curve", error));
  for (size_t k = 0; k < n; k++) {
    const struct gpumc_mean *mean = observables->mean[k];
    if (mean->label.name == NULL || mean->index == muca->settings.channel)
      continue;
    for (size_t v = 0; v < levels; v++)
      curve[v] = density->average[(density->blocks * levels + v) * n + k];
    GPUMC_TRY_OUT(status,
                  muca_density_errors(density, density->average + k, n, curve + levels, error));
    GPUMC_TRY_OUT(status,
                  gpumc_curve_write_with_error(&place, &mean->label, curve, curve + levels, error));
  }
out:
  free(curve);
  return status;
}

/* Those of production, from which ln Omega follows: ln H - ln W. */
static enum gpumc_status write_weights(const struct muca *muca, const struct muca_density *density,
                                       const struct gpumc_curve_place *place,
                                       struct gpumc_error *error)
{
  const struct gpumc_label label = {
      "log_weight", "logarithm of the weight in the production run, up to a constant", "1", "ln W"};
  double *curve;
  GPUMC_TRY(gpumc_allocate_array(&curve, density->levels, "a curve", error));
  for (size_t v = 0; v < density->levels; v++)
    curve[v] = (double)muca->weights.log_weight[density->level[v]] / MUCA_WEIGHT_UNIT;
  const enum gpumc_status status = gpumc_curve_write(place, &label, false, curve, error);
  free(curve);
  return status;
}

static enum gpumc_status write_density(const struct muca *muca, const struct muca_density *density,
                                       struct gpumc_error *error)
{
  const struct gpumc_label *channel =
      &muca->context.model->ops->channels[muca->settings.channel].label;
  char name[64], long_name[96], path[96];
  snprintf(name, sizeof name, "level_%s", channel->name);
  snprintf(long_name, sizeof long_name, "%s of the whole system", channel->name);
  snprintf(path, sizeof path, "summary/%s", name);
  const struct gpumc_label axis = {name, long_name, channel->units, channel->symbol};
  const struct gpumc_label log_dos = {
      "log_dos",
      density->normalised
          ? "logarithm of the number of states"
          : "logarithm of the weight of the level, up to a constant: weights of all "
            "add up to 1",
      "1", "ln Ω"};
  const struct gpumc_label visits = {"visits", "visits of the level in the production run", "1",
                                     "H"};
  const struct gpumc_curve_place place = place_of(muca, path, density->levels);
  const size_t all = density->blocks * density->levels;
  GPUMC_TRY(gpumc_curve_write_axis(&place, 0, &axis, false, density->value, error));
  GPUMC_TRY(gpumc_curve_write_with_error(&place, &log_dos, density->log_dos + all,
                                         density->error_of, error));
  GPUMC_TRY(gpumc_curve_write(&place, &visits, true, density->visits, error));
  GPUMC_TRY(write_weights(muca, density, &place, error));
  return write_levels(muca, density, path, error);
}

/* ---- trust ---- */

static enum gpumc_status write_warning(const struct muca *muca, const char *name, const char *text,
                                       struct gpumc_error *error)
{
  gpumc_observer_tell(muca->context.observer, GPUMC_WARNING, text);
  return gpumc_recorder_text(muca->context.recorder, "summary", name, text, error);
}

static enum gpumc_status write_convergence(const struct muca *muca, struct gpumc_error *error)
{
  char text[256];
  if (muca->progress.converged)
    return GPUMC_OK;
  snprintf(text, sizeof text,
           "weights have not converged after %llu iterations: the divergence is %.3g, not below "
           "%.3g; allow more (iteration.maximum), or use more walkers",
           (unsigned long long)muca->progress.iteration, muca->divergence,
           muca->settings.divergence);
  return write_warning(muca, "warning", text, error);
}

/* Points of the grid without averages: none of them is wrong, so that the result may be trusted. */
static enum gpumc_status
write_faults(const struct muca *muca, const struct faults *faults, struct gpumc_error *error)
{
  const char *control = gpumc_moved_label(muca->context.model, &muca->settings.moved).name;
  char text[384];
  if (faults->count[FAULT_CUT] > 0) {
    snprintf(text, sizeof text,
             "at %zu values of %s, the first %g, states outside of algorithm.range have weight: "
             "averages there are NaN; take a wider range, or a grid within it",
             faults->count[FAULT_CUT], control, faults->first[FAULT_CUT]);
    GPUMC_TRY(write_warning(muca, "range_warning", text, error));
  }
  if (faults->count[FAULT_BINS] == 0)
    return GPUMC_OK;
  snprintf(text, sizeof text,
           "at %zu values of %s, the first %g, weights differ too much within a bin: averages "
           "there are NaN; take a narrower algorithm.bin",
           faults->count[FAULT_BINS], control, faults->first[FAULT_BINS]);
  return write_warning(muca, "bin_warning", text, error);
}

static enum gpumc_status write_trust(struct muca *muca, struct gpumc_error *error)
{
  const struct muca_progress *progress = &muca->progress;
  struct gpumc_recorder *recorder = muca->context.recorder;
  const double walkers = (double)muca->settings.walkers;
  struct muca_passages passages;
  char text[384];
  GPUMC_TRY(muca_count_passages(muca, &passages, error));
  const double trips = passages.round_trips;
  /* Walkers forget where they began, and there are enough of them to tell errors. */
  const bool travelled = trips >= ROUND_TRIPS_LEAST && passages.all >= walkers;
  GPUMC_TRY(gpumc_recorder_integer(recorder, "summary", "converged", (int64_t)progress->converged,
                                   error));
  GPUMC_TRY(gpumc_recorder_integer(recorder, "summary", "iterations", (int64_t)progress->iteration,
                                   error));
  GPUMC_TRY(gpumc_recorder_number(recorder, "summary", "divergence", muca->divergence, error));
  GPUMC_TRY(gpumc_recorder_integer(recorder, "summary", "round_trips", (int64_t)trips, error));
  GPUMC_TRY(gpumc_recorder_number(
      recorder, "summary", "tunnelling_time",
      passages.all > 0 ? (double)progress->walked * walkers / passages.all : (double)NAN, error));
  GPUMC_TRY(gpumc_recorder_integer(recorder, "summary", "production_updates",
                                   (int64_t)progress->walked, error));
  GPUMC_TRY(gpumc_trust_record(&muca->context, progress->converged && travelled, error));
  GPUMC_TRY(write_convergence(muca, error));
  if (travelled)
    return GPUMC_OK;
  snprintf(text, sizeof text,
           "%.0f round trips of %zu walkers between the ends of the range are too few, at least %d "
           "are needed and half of one for each walker: errors may be too small; use a longer "
           "production.updates",
           trips, muca->settings.walkers, ROUND_TRIPS_LEAST);
  return write_warning(muca, "round_trips_warning", text, error);
}

enum gpumc_status muca_summarize(void *state, struct gpumc_error *error)
{
  struct muca *muca = state;
  struct muca_density density;
  struct faults faults = {.count = {0}};
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, muca_density_make(muca, &density, error));
  GPUMC_TRY_OUT(status, write_density(muca, &density, error));
  GPUMC_TRY_OUT(status, reweight_grid(muca, &density, &faults, error));
  GPUMC_TRY_OUT(status, write_faults(muca, &faults, error));
  GPUMC_TRY_OUT(status, write_trust(muca, error));
out:
  muca_density_free(&density);
  return status;
}
