/* Multicanonical sampling: the density of states, what follows from it at any value of the control,
 * and whether to trust it. */
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

/* Levels that were visited, V of them; B blocks. Rows 0 .. B - 1 are without that block, row B is
 * of all of them. */
struct density {
  size_t levels, blocks;
  size_t *level;    /* [V] */
  double *value;    /* [V] of the whole system, in the channel's unit */
  double *log_dos;  /* [B + 1][V] */
  double *average;  /* [B + 1][V][n_means] at the level; NaN where nothing was measured */
  double *error_of; /* [V] of log_dos */
  bool normalised;  /* to the number of states; else to 1 */
};

static void density_free(struct density *density)
{
  free(density->level);
  free(density->value);
  free(density->log_dos);
  free(density->average);
  free(density->error_of);
}

static double log_sum(const double *log_term, size_t n)
{
  double largest = -INFINITY, sum = 0;
  for (size_t i = 0; i < n; i++)
    largest = fmax(largest, log_term[i]);
  for (size_t i = 0; i < n; i++)
    sum += gpumc_exp(log_term[i] - largest);
  return largest + gpumc_log(sum);
}

/* visits of all blocks but one; block = B: of all. */
static double visits_without(const struct muca *muca, size_t level, size_t block)
{
  const size_t levels = muca->settings.levels;
  uint64_t sum = 0;
  for (size_t b = 0; b < muca->settings.blocks; b++)
    if (b != block)
      sum += muca->counted[b * levels + level];
  return (double)sum;
}

static size_t visited_levels(const struct muca *muca, size_t *level)
{
  size_t n = 0;
  for (size_t l = 0; l < muca->settings.levels; l++)
    if (visits_without(muca, l, muca->settings.blocks) > 0)
      level[n++] = l;
  return n;
}

/* ln Omega = ln H - ln W, up to a constant. Only of all energies with their number of states known
 * is the constant known, too. */
static void fill_log_dos(const struct muca *muca, struct density *density)
{
  const double states = density->normalised ? muca->context.model->log_states : 0;
  const int threads = muca->context.device->threads;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (size_t b = 0; b <= density->blocks; b++) {
    double *row = density->log_dos + b * density->levels;
    for (size_t v = 0; v < density->levels; v++) {
      const double weight = (double)muca->weights.log_weight[density->level[v]] * 0x1p-32;
      row[v] = gpumc_log(visits_without(muca, density->level[v], b)) - weight;
    }
    const double shift = states - log_sum(row, density->levels);
    for (size_t v = 0; v < density->levels; v++)
      row[v] += shift;
  }
}

static double power(double x, unsigned exponent)
{
  return exponent == 1 ? x : exponent == 2 ? x * x : (x * x) * (x * x);
}

/* Levels of a spectrum know their value; means of it need no measurement. */
static bool is_of_level(const struct muca *muca, const struct gpumc_mean *mean)
{
  return mean->index == muca->settings.channel &&
         muca->settings.spacing == muca->context.model->grid[mean->index].spacing;
}

static double
sums_without(const struct muca *muca, size_t level, size_t mean, size_t block, double *samples)
{
  const size_t levels = muca->settings.levels, n = muca->settings.observables.n_means;
  double sum = 0;
  *samples = 0;
  for (size_t b = 0; b < muca->settings.blocks; b++)
    if (b != block) {
      sum += muca->sums[(b * levels + level) * n + mean];
      *samples += (double)muca->samples[b * levels + level];
    }
  return sum;
}

static double average_at(const struct muca *muca, size_t level, size_t k, size_t block)
{
  const struct gpumc_model *model = muca->context.model;
  const struct gpumc_mean *mean = muca->settings.observables.mean[k];
  const double unit = gpumc_mean_unit(mean, model);
  if (is_of_level(muca, mean)) {
    const double x =
        muca_level_value(&muca->settings, model, level) / model->quantum[mean->index] * unit;
    return mean->absolute ? fabs(x) : power(x, mean->power);
  }
  double samples;
  const double sum = sums_without(muca, level, k, block, &samples);
  return samples > 0 ? sum / samples * power(unit, mean->power) : (double)NAN;
}

static void fill_averages(const struct muca *muca, struct density *density)
{
  const size_t n = muca->settings.observables.n_means;
  const int threads = muca->context.device->threads;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (size_t b = 0; b <= density->blocks; b++)
    for (size_t v = 0; v < density->levels; v++)
      for (size_t k = 0; k < n; k++)
        density->average[(b * density->levels + v) * n + k] =
            average_at(muca, density->level[v], k, b);
}

static enum gpumc_status fill_errors(struct density *density, struct gpumc_error *error)
{
  double *column;
  GPUMC_TRY(gpumc_allocate_array(&column, density->blocks, "a jackknife", error));
  for (size_t v = 0; v < density->levels; v++) {
    bool finite = true;
    for (size_t b = 0; b < density->blocks; b++) {
      column[b] = density->log_dos[b * density->levels + v];
      finite = finite && isfinite(column[b]);
    }
    const double scale = fabs(density->log_dos[density->blocks * density->levels + v]);
    const struct gpumc_variance variance = gpumc_jackknife_of(
        column, 1, density->blocks, gpumc_rounding((double)density->blocks, scale + 1));
    density->error_of[v] =
        finite ? gpumc_pooled_error(variance, (struct gpumc_variance){0, 0}) : (double)NAN;
  }
  free(column);
  return GPUMC_OK;
}

static enum gpumc_status
density_make(const struct muca *muca, struct density *density, struct gpumc_error *error)
{
  const struct muca_settings *settings = &muca->settings;
  const size_t means = settings->observables.n_means;
  const bool whole = settings->first == 0 && settings->last + 1 == settings->levels;
  *density = (struct density){.blocks = settings->blocks};
  density->normalised =
      whole && gpumc_moves_beta(&settings->moved) && !isnan(muca->context.model->log_states);
  GPUMC_TRY(gpumc_allocate_array(&density->level, settings->levels, "levels", error));
  density->levels = visited_levels(muca, density->level);
  const size_t numbers = (settings->blocks + 1) * density->levels;
  GPUMC_TRY(gpumc_allocate_array(&density->value, density->levels, "levels", error));
  GPUMC_TRY(gpumc_allocate_array(&density->error_of, density->levels, "errors", error));
  GPUMC_TRY(gpumc_allocate_array(&density->log_dos, numbers, "the density of states", error));
  GPUMC_TRY(gpumc_allocate_array(&density->average, numbers * means, "averages by level", error));
  for (size_t v = 0; v < density->levels; v++)
    density->value[v] = muca_level_value(settings, muca->context.model, density->level[v]);
  fill_log_dos(muca, density);
  fill_averages(muca, density);
  return fill_errors(density, error);
}

/* ---- reweighting ---- */

enum { FREE_ENERGY, ENTROPY, POTENTIALS };

/* A point of the grid; `coefficient`: ln of the weight is - coefficient times the value. */
struct point {
  const struct muca *muca;
  struct gpumc_controls controls;
  double control, coefficient;
};

/* mean[n_means], then ln Z, from row b. */
static void reweight(const struct muca *muca, const struct density *density,
                     const struct point *point, size_t b, double *mean)
{
  const size_t levels = density->levels, n = muca->settings.observables.n_means;
  const double *log_dos = density->log_dos + b * levels;
  const double *average = density->average + b * levels * n;
  double largest = -INFINITY, sum = 0;
  for (size_t v = 0; v < levels; v++)
    largest = fmax(largest, log_dos[v] - point->coefficient * density->value[v]);
  for (size_t k = 0; k < n; k++)
    mean[k] = 0;
  for (size_t v = 0; v < levels; v++) {
    const double p = gpumc_exp(log_dos[v] - point->coefficient * density->value[v] - largest);
    if (p < 0x1p-80)
      continue;
    sum += p;
    for (size_t k = 0; k < n; k++)
      mean[k] += p * average[v * n + k];
  }
  for (size_t k = 0; k < n; k++)
    mean[k] /= sum;
  mean[n] = largest + gpumc_log(sum);
}

static bool has_potentials(const struct muca *muca)
{
  return gpumc_moves_beta(&muca->settings.moved);
}

static size_t result_count(const struct muca *muca)
{
  return muca->settings.observables.n_quantities + (has_potentials(muca) ? POTENTIALS : 0);
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
  if (!has_potentials(muca))
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

/* value, error [points][results]. */
static enum gpumc_status fill_grid(const struct muca *muca, const struct density *density,
                                   const double *grid, size_t points, double *value,
                                   double *error_of, struct gpumc_error *error)
{
  const struct muca_settings *settings = &muca->settings;
  const struct gpumc_model *model = muca->context.model;
  const size_t width = settings->observables.n_means + 1, n = result_count(muca);
  double *without;
  GPUMC_TRY(gpumc_allocate_array(&without, (density->blocks + 1) * width, "reweighting", error));
  enum gpumc_status status = GPUMC_OK;
  for (size_t p = 0; p < points && status == GPUMC_OK; p++) {
    const struct point point = {
        .muca = muca,
        .control = grid[p],
        .coefficient = gpumc_moved_coefficient(model, &settings->moved, grid[p]),
        .controls = gpumc_controls_at(settings->moved.fixed, settings->moved.control, grid[p])};
    const struct gpumc_estimator estimator = {width, n, &point, results, roundings, is_known};
    const int threads = muca->context.device->threads;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (size_t b = 0; b <= density->blocks; b++)
      reweight(muca, density, &point, b, without + b * width);
    const struct gpumc_replicates blocks = {
        .strata = 1, .blocks = density->blocks, .without = without, .freedom = INFINITY};
    status = gpumc_estimate(&estimator, without + density->blocks * width, &blocks, 1,
                            value + p * n, error_of + p * n, NULL, error);
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

static enum gpumc_status
reweight_grid(const struct muca *muca, const struct density *density, struct gpumc_error *error)
{
  const struct gpumc_params *params = &muca->context.params;
  const struct gpumc_range range = gpumc_range_read(params, gpumc_ladder_block(params));
  const size_t points = (size_t)gpumc_range_count(&range), n = result_count(muca);
  double *grid;
  GPUMC_TRY(gpumc_allocate_array(&grid, points * (1 + 2 * n), "the grid", error));
  for (size_t p = 0; p < points; p++)
    grid[p] = gpumc_range_point(&range, p);
  double *value = grid + points, *error_of = value + points * n;
  enum gpumc_status status = fill_grid(muca, density, grid, points, value, error_of, error);
  if (status == GPUMC_OK)
    status = write_grid(muca, grid, points, value, error_of, error);
  free(grid);
  return status;
}

/* ---- the density of states ---- */

static enum gpumc_status
write_density(const struct muca *muca, const struct density *density, struct gpumc_error *error)
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
  double *visited;
  GPUMC_TRY(gpumc_allocate_array(&visited, density->levels, "visits", error));
  for (size_t v = 0; v < density->levels; v++)
    visited[v] = visits_without(muca, density->level[v], density->blocks);
  enum gpumc_status status = gpumc_curve_write_axis(&place, 0, &axis, false, density->value, error);
  if (status == GPUMC_OK)
    status = gpumc_curve_write_with_error(&place, &log_dos,
                                          density->log_dos + density->blocks * density->levels,
                                          density->error_of, error);
  if (status == GPUMC_OK)
    status = gpumc_curve_write(&place, &visits, true, visited, error);
  free(visited);
  return status;
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

static enum gpumc_status write_trust(struct muca *muca, struct gpumc_error *error)
{
  const struct muca_progress *progress = &muca->progress;
  struct gpumc_recorder *recorder = muca->context.recorder;
  const double walkers = (double)muca->settings.walkers;
  double passages;
  char text[384];
  GPUMC_TRY(muca_count_passages(muca, &passages, error));
  const double trips = floor(passages / 2);
  /* Walkers forget where they began, and there are enough of them to tell errors. */
  const bool travelled = trips >= ROUND_TRIPS_LEAST && passages >= walkers;
  GPUMC_TRY(gpumc_recorder_integer(recorder, "summary", "converged", (int64_t)progress->converged,
                                   error));
  GPUMC_TRY(gpumc_recorder_integer(recorder, "summary", "iterations", (int64_t)progress->iteration,
                                   error));
  GPUMC_TRY(gpumc_recorder_number(recorder, "summary", "divergence", muca->divergence, error));
  GPUMC_TRY(gpumc_recorder_integer(recorder, "summary", "round_trips", (int64_t)trips, error));
  GPUMC_TRY(gpumc_recorder_number(
      recorder, "summary", "tunnelling_time",
      passages > 0 ? (double)progress->walked * walkers / passages : (double)NAN, error));
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
  struct density density;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, density_make(muca, &density, error));
  GPUMC_TRY_OUT(status, write_density(muca, &density, error));
  GPUMC_TRY_OUT(status, reweight_grid(muca, &density, error));
  GPUMC_TRY_OUT(status, write_trust(muca, error));
out:
  density_free(&density);
  return status;
}
