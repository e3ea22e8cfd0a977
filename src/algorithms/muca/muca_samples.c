/* Multicanonical sampling: results of each sample of the disorder, and averages over them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "algorithms/muca/muca.h"
#include "core/base/memory.h"
#include "core/simulation/curves.h"

static size_t levels_of(const struct muca *muca)
{
  return muca->settings.last + 1 - muca->settings.first;
}

enum gpumc_status muca_samples_create(const struct muca *muca, const struct muca_curves *curves,
                                      struct muca_samples *samples, struct gpumc_error *error)
{
  const size_t n = muca->settings.samples, kept = n > 1 ? n : 0;
  const size_t points = kept * curves->points * curves->results;
  *samples = (struct muca_samples){.points = curves->points};
  if (kept == 0)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_allocate_array(&samples->averages, n * curves->points * muca_averages_width(muca),
                                 "averages of the samples", error));
  GPUMC_TRY(gpumc_allocate_array(&samples->of_sample, kept, "joins of the samples", error));
  GPUMC_TRY(gpumc_allocate_array(&samples->value, points, "results of the samples", error));
  GPUMC_TRY(gpumc_allocate_array(&samples->error_of, points, "results of the samples", error));
  GPUMC_TRY(gpumc_allocate_array(&samples->log_dos, kept * levels_of(muca),
                                 "densities of the samples", error));
  return gpumc_allocate_array(&samples->log_dos_error, kept * levels_of(muca),
                              "densities of the samples", error);
}

void muca_samples_free(struct muca_samples *samples)
{
  free(samples->averages);
  free(samples->value);
  free(samples->error_of);
  free(samples->log_dos);
  free(samples->log_dos_error);
  free(samples->of_sample);
}

double *
muca_samples_averages(const struct muca *muca, const struct muca_samples *samples, size_t sample)
{
  return samples->averages == NULL
             ? NULL
             : samples->averages + sample * samples->points * muca_averages_width(muca);
}

void muca_samples_take(const struct muca *muca, struct muca_samples *samples, size_t sample,
                       const struct muca_density *density, const struct muca_curves *curves)
{
  const size_t levels = levels_of(muca), count = curves->points * curves->results;
  size_t tilted = 0;
  for (size_t k = 0; k + 1 < muca->settings.windows; k++)
    tilted += !muca_join_holds(muca, density, k);
  samples->tilted += tilted;
  if (muca->settings.samples == 1)
    return;
  samples->of_sample[sample] = (double)tilted;
  for (size_t i = 0; i < count; i++) {
    samples->value[sample * count + i] = curves->value[i];
    samples->error_of[sample * count + i] = curves->error_of[i];
  }
  double *log_dos = samples->log_dos + sample * levels;
  double *log_dos_error = samples->log_dos_error + sample * levels;
  for (size_t l = 0; l < levels; l++)
    log_dos[l] = log_dos_error[l] = NAN;
  for (size_t v = 0; v < density->levels; v++) {
    const size_t l = density->level[v] - muca->settings.first;
    log_dos[l] = density->log_dos[density->blocks * density->levels + v];
    log_dos_error[l] = density->error_of[v];
  }
}

/* ---- what is written ---- */

static struct gpumc_curve_place place_of(const struct muca *muca, const char *axis, size_t count)
{
  return (struct gpumc_curve_place){.recorder = muca->context.recorder,
                                    .model = muca->context.model,
                                    .group = "samples",
                                    .axis = {"samples/sample", axis},
                                    .count = {muca->settings.samples, count}};
}

static enum gpumc_status write_densities(const struct muca *muca,
                                         const struct muca_samples *samples,
                                         struct gpumc_error *error)
{
  struct muca_level_texts texts;
  const struct gpumc_label axis = muca_level_label(muca, &texts);
  const struct gpumc_label log_dos = muca_log_dos_label(muca);
  const size_t levels = levels_of(muca);
  char path[96];
  double *value;
  snprintf(path, sizeof path, "samples/%s", axis.name);
  const struct gpumc_curve_place place = place_of(muca, path, levels);
  GPUMC_TRY(gpumc_allocate_array(&value, levels, "levels", error));
  for (size_t l = 0; l < levels; l++)
    value[l] = muca_level_value(&muca->settings, muca->context.model, muca->settings.first + l);
  const enum gpumc_status status = gpumc_curve_write_axis(&place, 1, &axis, false, value, error);
  free(value);
  GPUMC_TRY(status);
  return gpumc_curve_write_with_error(&place, &log_dos, samples->log_dos, samples->log_dos_error,
                                      error);
}

/* Round trips are those of the slowest window of a sample. */
static enum gpumc_status
write_progress(const struct muca *muca, const struct muca_samples *of, struct gpumc_error *error)
{
  const struct gpumc_label tilted = {
      "tilted_joins", "joins at which windows disagree on how ln Omega runs", "1", ""};
  const struct gpumc_label trips = {
      "round_trips", "round trips of walkers between the ends of the range", "1", "n_rt"};
  const struct gpumc_label converged = {"converged", "whether the weights converged", "1", ""};
  const size_t samples = muca->settings.samples;
  const struct gpumc_curve_place place = place_of(muca, NULL, 0);
  double *values;
  GPUMC_TRY(gpumc_allocate_array(&values, 2 * samples, "round trips", error));
  enum gpumc_status status = GPUMC_OK;
  for (size_t s = 0; s < samples; s++) {
    values[s] = INFINITY;
    values[samples + s] = 1;
  }
  for (size_t i = 0; i < muca->tables; i++) {
    const struct muca_table *table = &muca->table[i];
    values[table->sample] = fmin(values[table->sample], muca->travels[i].round_trips);
    if (!table->progress->converged)
      values[samples + table->sample] = 0;
  }
  GPUMC_TRY_OUT(status, gpumc_curve_write(&place, &trips, true, values, error));
  GPUMC_TRY_OUT(status, gpumc_curve_write(&place, &converged, true, values + samples, error));
  if (muca->settings.windows > 1)
    GPUMC_TRY_OUT(status, gpumc_curve_write(&place, &tilted, true, of->of_sample, error));
out:
  free(values);
  return status;
}

enum gpumc_status muca_samples_write(const struct muca *muca, const struct muca_samples *samples,
                                     struct muca_curves *curves, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_curve_write_samples(muca->context.recorder, muca->context.model,
                                      muca->settings.samples, error));
  GPUMC_TRY(write_densities(muca, samples, error));
  GPUMC_TRY(
      muca_curves_write(muca, curves, "samples", samples->value, samples->error_of, true, error));
  GPUMC_TRY(write_progress(muca, samples, error));
  return muca_reweight_samples(muca, samples->averages, curves, error);
}
