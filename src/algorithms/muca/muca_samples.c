/* Multicanonical sampling: the output for each disorder sample. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "algorithms/muca/muca.h"
#include "core/base/memory.h"
#include "core/simulation/curves.h"

static struct gpumc_curve_place place_of(const struct muca *muca, const char *axis, size_t count)
{
  return (struct gpumc_curve_place){.recorder = muca->context.recorder,
                                    .model = muca->context.model,
                                    .group = "samples",
                                    .axis = {"samples/sample", axis},
                                    .count = {muca->settings.samples, count}};
}

/* Of all samples: the width of the bins, and the mean of the values that each sample has in
 * each. */
static enum gpumc_status
write_bins(const struct muca *muca, const char *axis, struct gpumc_error *error)
{
  struct muca_level_texts texts;
  const size_t levels = muca->settings.last + 1 - muca->settings.first;
  const struct gpumc_curve_place place = place_of(muca, axis, levels);
  struct gpumc_curve_place of_all = place;
  struct gpumc_label label = muca_bin_width_label(muca, &texts);
  double *width;
  of_all.axis[0] = axis;
  of_all.count[0] = levels;
  of_all.count[1] = 0;
  GPUMC_TRY(gpumc_allocate_array(&width, levels, "bins", error));
  for (size_t l = 0; l < levels; l++)
    width[l] = muca_level_width(&muca->settings, muca->context.model);
  const enum gpumc_status status = gpumc_curve_write(&of_all, &label, false, width, error);
  free(width);
  GPUMC_TRY(status);
  label = muca_bin_mean_label(muca, &texts);
  return gpumc_curve_write_with_error(&place, &label, muca->curves.bin_mean,
                                      muca->curves.bin_mean_error, error);
}

static enum gpumc_status write_densities(const struct muca *muca, struct gpumc_error *error)
{
  struct muca_level_texts texts;
  const struct gpumc_label axis = muca_level_label(muca, &texts);
  const struct gpumc_label log_dos = muca_log_dos_label(muca);
  const size_t levels = muca->settings.last + 1 - muca->settings.first;
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
  GPUMC_TRY(gpumc_curve_write_with_error(&place, &log_dos, muca->curves.log_dos,
                                         muca->curves.log_dos_error, error));
  return muca->settings.binned ? write_bins(muca, path, error) : GPUMC_OK;
}

/* Round trips are those of the slowest window of a sample. */
static enum gpumc_status write_progress(const struct muca *muca, struct gpumc_error *error)
{
  const struct gpumc_label tilted = {
      "tilted_joins", "joins at which windows disagree on the slope of ln Omega", "1", ""};
  const struct gpumc_label trips = {
      "round_trips", "round trips of walkers between the ends of the range", "1", "n_rt"};
  const struct gpumc_label converged = {"converged", "whether the weights converged", "1", ""};
  const struct gpumc_label empty = {
      "empty_windows", "windows that were left out because they have no states", "1", ""};
  const size_t samples = muca->settings.samples;
  const struct gpumc_curve_place place = place_of(muca, NULL, 0);
  double *values;
  GPUMC_TRY(gpumc_allocate_array(&values, 3 * samples, "round trips", error));
  enum gpumc_status status = GPUMC_OK;
  for (size_t s = 0; s < samples; s++) {
    values[s] = INFINITY;
    values[samples + s] = 1;
  }
  for (size_t i = 0; i < muca->tables; i++) {
    const struct muca_table *table = &muca->table[i];
    const bool missing = muca_is_missing(muca, table), closed = muca_is_closed(table);
    if (!closed || missing)
      values[table->sample] = fmin(values[table->sample], muca->travels[i].round_trips);
    if (missing || (!closed && !table->progress->converged))
      values[samples + table->sample] = 0;
    values[2 * samples + table->sample] += closed && !missing;
  }
  GPUMC_TRY_OUT(status, gpumc_curve_write(&place, &trips, true, values, error));
  GPUMC_TRY_OUT(status, gpumc_curve_write(&place, &converged, true, values + samples, error));
  if (muca->settings.windows > 1) {
    GPUMC_TRY_OUT(status, gpumc_curve_write(&place, &tilted, true, muca->curves.tilted, error));
    GPUMC_TRY_OUT(status, gpumc_curve_write(&place, &empty, true, values + 2 * samples, error));
  }
out:
  free(values);
  return status;
}

enum gpumc_status muca_samples_write(const struct muca *muca, struct gpumc_error *error)
{
  const struct muca_curves *curves = &muca->curves;
  GPUMC_TRY(gpumc_curve_write_samples(muca->context.recorder, muca->context.model,
                                      muca->settings.samples, muca->context.samples, error));
  GPUMC_TRY(write_densities(muca, error));
  GPUMC_TRY(muca_curves_write(muca, "samples", curves->value, curves->error_of, true, error));
  return write_progress(muca, error);
}
