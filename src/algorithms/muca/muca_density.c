/* Multicanonical sampling: ln Omega and averages by level, of all blocks and of all but one. */
#include <math.h>
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
  free(density->slope);
  free(density->error_of);
  free(density->visits);
}

/* The sum over blocks of numbers[blocks][levels][width] at level v, in total[width]. */
static void add_blocks(const struct muca *muca, const double *numbers, size_t width, size_t level,
                       double *total)
{
  for (size_t i = 0; i < width; i++)
    total[i] = 0;
  for (size_t b = 0; b < muca->settings.blocks; b++)
    for (size_t i = 0; i < width; i++)
      total[i] += numbers[(b * muca->settings.levels + level) * width + i];
}

static uint64_t add_counts(const struct muca *muca, const uint64_t *counts, size_t level)
{
  uint64_t sum = 0;
  for (size_t b = 0; b < muca->settings.blocks; b++)
    sum += counts[b * muca->settings.levels + level];
  return sum;
}

static void find_levels(const struct muca *muca, struct muca_density *density)
{
  for (size_t l = 0; l < muca->settings.levels; l++)
    if (add_counts(muca, muca->counted, l) > 0)
      density->level[density->levels++] = l;
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

/* ln Omega = ln H - ln W, up to a constant. Only of all energies with their number of states known
 * is the constant known, too. */
static void fill_log_dos(const struct muca *muca, struct muca_density *density)
{
  const double states = density->normalised ? muca->context.model->log_states : 0;
  const int threads = muca->context.device->threads;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (size_t b = 0; b <= density->blocks; b++) {
    double *row = density->log_dos + b * density->levels;
    for (size_t v = 0; v < density->levels; v++) {
      const size_t level = density->level[v];
      const double weight = (double)muca->weights.log_weight[level] / MUCA_WEIGHT_UNIT;
      const double without =
          b < density->blocks ? (double)muca->counted[b * muca->settings.levels + level] : 0;
      row[v] = gpumc_log(density->visits[v] - without) - weight;
    }
    const double shift = states - log_sum(row, density->levels);
    for (size_t v = 0; v < density->levels; v++)
      row[v] += shift;
  }
}

/* Levels of a spectrum know their value; means of it need no measurement. */
static bool is_of_level(const struct muca *muca, const struct gpumc_mean *mean)
{
  return mean->index == muca->settings.channel && !muca->settings.binned;
}

/* Average and slope of mean k from `sum`, the sums of a level, over so many samples. */
static void set_average(const struct muca *muca, const double *sum, double samples, size_t level,
                        size_t k, double *average, double *slope)
{
  const struct gpumc_model *model = muca->context.model;
  const struct gpumc_observables *observables = &muca->settings.observables;
  const struct gpumc_mean *mean = observables->mean[k];
  const double unit = gpumc_mean_unit(mean, model);
  const double quantum = model->quantum[muca->settings.channel];
  if (is_of_level(muca, mean)) {
    const double x = muca_level_value(&muca->settings, model, level) / quantum * unit;
    *average = gpumc_power(x, mean->power, mean->absolute);
    return;
  }
  const double scale = gpumc_power(unit, mean->power, false);
  *average = samples > 0 ? sum[k] / samples * scale : (double)NAN;
  if (!muca->settings.binned)
    return;
  const size_t first = gpumc_observables_power(observables, muca->settings.channel, 1);
  const double x = sum[first] / samples;
  *slope = samples > 0
               ? (sum[observables->n_means + k] / samples - sum[k] / samples * x) * scale * quantum
               : (double)NAN;
}

static void fill_level(const struct muca *muca, struct muca_density *density, size_t v,
                       double *total, double *rest)
{
  const size_t level = density->level[v], levels = muca->settings.levels;
  const size_t n = muca->settings.observables.n_means, width = muca->settings.width;
  const double samples = (double)add_counts(muca, muca->samples, level);
  add_blocks(muca, muca->sums, width, level, total);
  for (size_t b = 0; b <= density->blocks; b++) {
    const size_t of_block = b * levels + level, place = (b * density->levels + v) * n;
    const bool all = b == density->blocks;
    const double left = all ? samples : samples - (double)muca->samples[of_block];
    for (size_t i = 0; i < width; i++)
      rest[i] = all ? total[i] : total[i] - muca->sums[of_block * width + i];
    for (size_t k = 0; k < n; k++)
      set_average(muca, rest, left, level, k, &density->average[place + k],
                  density->slope == NULL ? NULL : &density->slope[place + k]);
  }
}

static enum gpumc_status
fill_averages(const struct muca *muca, struct muca_density *density, struct gpumc_error *error)
{
  const int threads = muca->context.device->threads;
  const size_t width = muca->settings.width;
  double *work;
  GPUMC_TRY(gpumc_allocate_array(&work, 2 * width * (size_t)threads, "averages", error));
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int t = 0; t < threads; t++)
    for (size_t v = (size_t)t; v < density->levels; v += (size_t)threads)
      fill_level(muca, density, v, work + 2 * width * (size_t)t,
                 work + 2 * width * (size_t)t + width);
  free(work);
  return GPUMC_OK;
}

/* Of a column with the values of all blocks but one, `at` being that of all; NAN where one has
 * none. */
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
  return whole && gpumc_moves_beta(&settings->moved) && !isnan(muca->context.model->log_states);
}

enum gpumc_status
muca_density_make(const struct muca *muca, struct muca_density *density, struct gpumc_error *error)
{
  const struct muca_settings *settings = &muca->settings;
  const size_t means = settings->observables.n_means;
  *density = (struct muca_density){.blocks = settings->blocks};
  density->normalised = muca_knows_all_states(muca);
  GPUMC_TRY(gpumc_allocate_array(&density->level, settings->levels, "levels", error));
  find_levels(muca, density);
  const size_t numbers = (settings->blocks + 1) * density->levels;
  GPUMC_TRY(gpumc_allocate_array(&density->value, density->levels, "levels", error));
  GPUMC_TRY(gpumc_allocate_array(&density->visits, density->levels, "visits", error));
  GPUMC_TRY(gpumc_allocate_array(&density->error_of, density->levels, "errors", error));
  GPUMC_TRY(gpumc_allocate_array(&density->log_dos, numbers, "the density of states", error));
  GPUMC_TRY(gpumc_allocate_array(&density->average, numbers * means, "averages by level", error));
  if (settings->binned)
    GPUMC_TRY(gpumc_allocate_array(&density->slope, numbers * means, "averages by level", error));
  for (size_t v = 0; v < density->levels; v++) {
    density->value[v] = muca_level_value(settings, muca->context.model, density->level[v]);
    density->visits[v] = (double)add_counts(muca, muca->counted, density->level[v]);
  }
  fill_log_dos(muca, density);
  GPUMC_TRY(fill_averages(muca, density, error));
  return muca_density_errors(density, density->log_dos, 1, density->error_of, error);
}
