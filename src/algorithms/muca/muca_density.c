/* Multicanonical sampling: ln Omega and averages by level, from all blocks and from all but one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/muca/muca.h"
#include "core/base/memory.h"
#include "core/numerics/elementary.h"
#include "core/numerics/power.h"
#include "core/statistics/estimate.h"

void muca_density_free(struct muca_density *density)
{
  free(density->level);
  free(density->value);
  free(density->log_dos);
  free(density->average);
  free(density->average_error);
  free(density->slope);
  free(density->error_of);
  free(density->visits);
  free(density->tilt);
  free(density->ratio);
  free(density->measured);
  *density = (struct muca_density){0};
}

/* The source of a density: the tables of a sample, and their visits in all blocks. */
struct source {
  const struct muca *muca;
  const struct muca_table *table; /* [windows] */
  double *total;                  /* [windows][window] */
  double *lift;                   /* [blocks + 1][windows] */
};

static enum gpumc_status
open_source(struct source *source, size_t sample, struct gpumc_error *error)
{
  const struct muca_settings *settings = &source->muca->settings;
  const size_t window = settings->window, windows = settings->windows;
  source->table = source->muca->table + sample * windows;
  GPUMC_TRY(gpumc_allocate_array(&source->total, windows * window, "visits", error));
  GPUMC_TRY(gpumc_allocate_array(&source->lift, windows * (settings->blocks + 1), "joins", error));
  for (size_t k = 0; k < windows; k++)
    for (size_t b = 0; b < settings->blocks; b++)
      for (size_t l = 0; l < window; l++)
        source->total[k * window + l] += (double)source->table[k].counted[b * window + l];
  return GPUMC_OK;
}

static void close_source(struct source *source)
{
  free(source->total);
  free(source->lift);
}

/* Closed windows are at the ends. */
static void find_range(const struct source *source, struct muca_density *density)
{
  const struct muca_settings *settings = &source->muca->settings;
  density->first = settings->last;
  density->last = settings->first;
  for (size_t k = 0; k < settings->windows; k++) {
    const struct muca_table *table = &source->table[k];
    const size_t last = table->first + settings->window - 1;
    if (muca_is_closed(table))
      continue;
    density->first = table->first < density->first ? table->first : density->first;
    density->last = last;
  }
}

/* Finds the levels that were visited, and how often. */
static void find_levels(const struct source *source, struct muca_density *density)
{
  const struct muca_settings *settings = &source->muca->settings;
  for (size_t level = settings->first; level <= settings->last; level++) {
    double visits = 0;
    for (size_t k = 0; k < settings->windows; k++) {
      const size_t first = source->table[k].first;
      if (level >= first && level < first + settings->window)
        visits += source->total[k * settings->window + level - first];
    }
    if (visits > 0) {
      density->visits[density->levels] = visits;
      density->value[density->levels] =
          muca_level_value(settings, source->muca->context.model, level);
      density->level[density->levels++] = level;
    }
  }
}

double muca_log_sum(const double *log_term, size_t n)
{
  double largest = -INFINITY, sum = 0;
  for (size_t i = 0; i < n; i++)
    largest = fmax(largest, log_term[i]);
  for (size_t i = 0; i < n; i++)
    sum += gpumc_exp(log_term[i] - largest);
  return largest + gpumc_log(sum);
}

/* ln Omega = ln H - ln W, up to a constant. The constant is known only if all energies are sampled
 * and the number of states is known. */
static void fill_log_dos(const struct source *source, struct muca_density *density)
{
  const struct muca *muca = source->muca;
  const size_t windows = muca->settings.windows;
  const double states = density->normalised ? muca->context.model->log_states : 0;
  const int threads = muca->context.device->threads;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (size_t b = 0; b <= density->blocks; b++) {
    double *row = density->log_dos + b * density->levels;
    muca_join(muca, source->table, b, source->total, density, row, source->lift + b * windows,
              density->tilt + b * (windows - 1));
    const double shift = states - muca_log_sum(row, density->levels);
    for (size_t v = 0; v < density->levels; v++)
      row[v] += shift;
  }
}

/* Computes the weight of each level without a block, over that with all of them. */
static void fill_ratios(struct muca_density *density)
{
  const size_t levels = density->levels;
  const double *all = density->log_dos + density->blocks * levels;
  for (size_t b = 0; b < density->blocks; b++)
    for (size_t v = 0; v < levels; v++)
      density->ratio[b * levels + v] = gpumc_exp(density->log_dos[b * levels + v] - all[v]);
}

/* For levels of a spectrum the value is known; means of it need no measurement. */
static bool is_of_level(const struct muca *muca, const struct gpumc_mean *mean)
{
  return mean->index == muca->settings.channel && !muca->settings.binned;
}

/* Of the first power of the channel, whose means tell where in a bin its values are. */
static size_t first_power(const struct muca *muca)
{
  return gpumc_observables_power(&muca->settings.observables, muca->settings.channel, 1);
}

enum gpumc_status muca_bin_means(const struct muca *muca, const struct muca_density *density,
                                 double *mean, double *error_of, struct gpumc_error *error)
{
  const struct gpumc_model *model = muca->context.model;
  const struct gpumc_observables *observables = &muca->settings.observables;
  const size_t n = observables->n_means, k = first_power(muca);
  const double whole =
      model->quantum[muca->settings.channel] / gpumc_mean_unit(observables->mean[k], model);
  GPUMC_TRY(muca_density_errors(density, density->average + k, n, error_of, error));
  for (size_t v = 0; v < density->levels; v++) {
    mean[v] = whole * density->average[(density->blocks * density->levels + v) * n + k];
    error_of[v] *= whole;
  }
  return GPUMC_OK;
}

double muca_level_average(const struct muca *muca, const struct gpumc_mean *mean, size_t level)
{
  const struct gpumc_model *model = muca->context.model;
  const double quantum = model->quantum[muca->settings.channel];
  const double x =
      muca_level_value(&muca->settings, model, level) / quantum * gpumc_mean_unit(mean, model);
  return gpumc_power(x, mean->power, mean->absolute);
}

/* Computes average and slope of mean k from `sum`, the sums of a level, over `samples` samples. */
static void set_average(const struct muca *muca, const double *sum, double samples, size_t level,
                        size_t k, double *average, double *slope)
{
  const struct gpumc_model *model = muca->context.model;
  const struct gpumc_observables *observables = &muca->settings.observables;
  const struct gpumc_mean *mean = observables->mean[k];
  const double unit = gpumc_mean_unit(mean, model);
  const double quantum = model->quantum[muca->settings.channel];
  if (is_of_level(muca, mean)) {
    *average = muca_level_average(muca, mean, level);
    return;
  }
  const double scale = gpumc_power(unit, mean->power, false);
  *average = samples > 0 ? sum[k] / samples * scale : (double)NAN;
  if (!muca->settings.binned)
    return;
  const double x = sum[first_power(muca)] / samples;
  *slope = samples > 0
               ? (sum[observables->n_means + k] / samples - sum[k] / samples * x) * scale * quantum
               : (double)NAN;
}

/* Adds to sum[1 + width] the measurements of a level in a block: their number and their sums. */
static void
add_measurements(const struct source *source, size_t level, size_t b, double sign, double *sum)
{
  const struct muca_settings *settings = &source->muca->settings;
  for (size_t k = 0; k < settings->windows; k++) {
    const struct muca_table *table = &source->table[k];
    if (level < table->first || level >= table->first + settings->window)
      continue;
    const size_t place = b * settings->window + level - table->first;
    sum[0] += sign * (double)table->measurements[place];
    for (size_t i = 0; i < settings->width; i++)
      sum[1 + i] += sign * table->sums[place * settings->width + i];
  }
}

/* `total`, `rest`: scratch of 1 + width numbers each. */
static void fill_level(const struct source *source, struct muca_density *density, size_t v,
                       double *total, double *rest)
{
  const struct muca *muca = source->muca;
  const size_t level = density->level[v], n = muca->settings.observables.n_means;
  const size_t bytes = (1 + muca->settings.width) * sizeof *total;
  memset(total, 0, bytes);
  for (size_t b = 0; b < density->blocks; b++)
    add_measurements(source, level, b, 1, total);
  for (size_t b = 0; b <= density->blocks; b++) {
    const size_t place = (b * density->levels + v) * n;
    memcpy(rest, total, bytes);
    if (b < density->blocks)
      add_measurements(source, level, b, -1, rest);
    density->measured[b * density->levels + v] = rest[0] > 0;
    for (size_t k = 0; k < n; k++)
      set_average(muca, rest + 1, rest[0], level, k, &density->average[place + k],
                  density->slope == NULL ? NULL : &density->slope[place + k]);
  }
}

static enum gpumc_status
fill_averages(const struct source *source, struct muca_density *density, struct gpumc_error *error)
{
  const int threads = source->muca->context.device->threads;
  const size_t width = 1 + source->muca->settings.width;
  double *work;
  GPUMC_TRY(gpumc_allocate_array(&work, 2 * width * (size_t)threads, "averages", error));
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int t = 0; t < threads; t++)
    for (size_t v = (size_t)t; v < density->levels; v += (size_t)threads)
      fill_level(source, density, v, work + 2 * width * (size_t)t,
                 work + 2 * width * (size_t)t + width);
  free(work);
  return GPUMC_OK;
}

/* Returns the error from a column with the values without each block, `at` being the total; NAN if
 * one is missing. */
static double jackknife_error(const double *without, size_t blocks, double at)
{
  for (size_t b = 0; b < blocks; b++)
    if (!isfinite(without[b]))
      return NAN;
  const struct gpumc_variance variance =
      gpumc_jackknife_of(without, 1, blocks, gpumc_rounding((double)blocks, fabs(at) + 1));
  return gpumc_pooled_error(variance, (struct gpumc_variance){0, 0});
}

enum gpumc_status muca_density_errors(const struct muca_density *density, const double *numbers,
                                      size_t stride, double *error_of, struct gpumc_error *error)
{
  double *column;
  GPUMC_TRY(gpumc_allocate_array(&column, density->blocks, "a jackknife", error));
  for (size_t v = 0; v < density->levels; v++) {
    for (size_t b = 0; b < density->blocks; b++)
      column[b] = numbers[(b * density->levels + v) * stride];
    error_of[v] = jackknife_error(column, density->blocks,
                                  numbers[(density->blocks * density->levels + v) * stride]);
  }
  free(column);
  return GPUMC_OK;
}

bool muca_knows_all_states(const struct muca *muca)
{
  const struct muca_settings *settings = &muca->settings;
  const bool whole = settings->first == 0 && settings->last + 1 == settings->levels;
  return whole && settings->moved.beta && !isnan(muca->context.model->log_states);
}

static enum gpumc_status
fill_density(struct source *source, struct muca_density *density, struct gpumc_error *error)
{
  const struct muca_settings *settings = &source->muca->settings;
  const size_t means = settings->observables.n_means, all = settings->last + 1 - settings->first;
  GPUMC_TRY(gpumc_allocate_array(&density->level, all, "levels", error));
  GPUMC_TRY(gpumc_allocate_array(&density->value, all, "levels", error));
  GPUMC_TRY(gpumc_allocate_array(&density->visits, all, "visits", error));
  find_range(source, density);
  find_levels(source, density);
  const size_t numbers = (settings->blocks + 1) * density->levels;
  GPUMC_TRY(gpumc_allocate_array(&density->error_of, density->levels, "errors", error));
  GPUMC_TRY(gpumc_allocate_array(&density->log_dos, numbers, "the density of states", error));
  GPUMC_TRY(gpumc_allocate_array(&density->tilt, (settings->blocks + 1) * settings->windows,
                                 "joins", error));
  GPUMC_TRY(gpumc_allocate_array(&density->average, numbers * means, "averages by level", error));
  GPUMC_TRY(gpumc_allocate_array(&density->measured, numbers, "averages by level", error));
  if (settings->binned)
    GPUMC_TRY(gpumc_allocate_array(&density->slope, numbers * means, "averages by level", error));
  else
    GPUMC_TRY(gpumc_allocate_array(&density->ratio, numbers, "the density of states", error));
  fill_log_dos(source, density);
  if (!settings->binned)
    fill_ratios(density);
  GPUMC_TRY(fill_averages(source, density, error));
  return muca_density_errors(density, density->log_dos, 1, density->error_of, error);
}

enum gpumc_status muca_density_make(const struct muca *muca, size_t sample,
                                    struct muca_density *density, struct gpumc_error *error)
{
  struct source source = {.muca = muca};
  *density = (struct muca_density){.blocks = muca->settings.blocks,
                                   .normalised = muca_knows_all_states(muca)};
  enum gpumc_status status = open_source(&source, sample, error);
  if (status == GPUMC_OK)
    status = fill_density(&source, density, error);
  close_source(&source);
  return status;
}

double muca_density_tilt(const struct muca *muca, const struct muca_density *density, size_t k,
                         double *error_of)
{
  const size_t joins = muca->settings.windows - 1;
  double column[MUCA_BLOCKS];
  for (size_t b = 0; b < density->blocks; b++)
    column[b] = density->tilt[b * joins + k];
  const double tilt = density->tilt[density->blocks * joins + k];
  *error_of = jackknife_error(column, density->blocks, tilt);
  return tilt;
}

/* ---- labels ---- */

struct gpumc_label muca_log_dos_label(const struct muca *muca)
{
  return (struct gpumc_label){
      "log_dos",
      muca_knows_all_states(muca)
          ? "logarithm of the number of states" GPUMC_COUNTED
          : "logarithm of the weight of the level, normalized so that all weights add up to 1",
      "1", "ln Ω"};
}

struct gpumc_label muca_level_label(const struct muca *muca, struct muca_level_texts *texts)
{
  const struct gpumc_label *channel =
      &muca->context.model->ops->channels[muca->settings.channel].label;
  const bool binned = muca->settings.binned;
  snprintf(texts->name, sizeof texts->name, binned ? "%s_bin" : "level_%s", channel->name);
  snprintf(texts->long_name, sizeof texts->long_name,
           binned ? "middle of a bin of the %s of the whole system" : "%s of the whole system",
           channel->name);
  return (struct gpumc_label){texts->name, texts->long_name, channel->units, channel->symbol};
}

struct gpumc_label muca_bin_width_label(const struct muca *muca, struct muca_level_texts *texts)
{
  const struct gpumc_label *channel =
      &muca->context.model->ops->channels[muca->settings.channel].label;
  snprintf(texts->name, sizeof texts->name, "%s_bin_width", channel->name);
  snprintf(texts->long_name, sizeof texts->long_name, "width of a bin of the %s", channel->name);
  return (struct gpumc_label){texts->name, texts->long_name, channel->units, ""};
}

struct gpumc_label muca_bin_mean_label(const struct muca *muca, struct muca_level_texts *texts)
{
  const struct gpumc_label *channel =
      &muca->context.model->ops->channels[muca->settings.channel].label;
  snprintf(texts->name, sizeof texts->name, "%s_bin_mean", channel->name);
  snprintf(texts->long_name, sizeof texts->long_name,
           "mean %s of the states in a bin, of the whole system", channel->name);
  return (struct gpumc_label){texts->name, texts->long_name, channel->units, channel->symbol};
}
