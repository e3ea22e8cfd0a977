/* Multicanonical sampling: the summary, for one sample with its density of states, or for many. */
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
                                    .group = "summary",
                                    .axis = {axis},
                                    .count = {count}};
}

/* ---- the density of states ---- */

/* Writes averages at each level, of means that do not follow from it. */
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
    for (size_t v = 0; v < levels && density->average_error != NULL; v++)
      curve[levels + v] = density->average_error[v * n + k];
    if (density->average_error == NULL)
      GPUMC_TRY_OUT(status,
                    muca_density_errors(density, density->average + k, n, curve + levels, error));
    GPUMC_TRY_OUT(status,
                  gpumc_curve_write_with_error(&place, &mean->label, curve, curve + levels, error));
  }
out:
  free(curve);
  return status;
}

/* Writes those of production, from which ln Omega follows: ln H - ln W. Several windows have
 * several weights, and so have the sources of a merged result. */
static enum gpumc_status write_weights(const struct muca *muca, const struct muca_density *density,
                                       const struct gpumc_curve_place *place,
                                       struct gpumc_error *error)
{
  const struct gpumc_label label = {
      "log_weight", "logarithm of the weight in the production run, up to a constant", "1", "ln W"};
  const struct muca_table *table = &muca->table[0];
  double *curve;
  if (muca->settings.windows > 1 || muca->is_merged)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_allocate_array(&curve, density->levels, "a curve", error));
  for (size_t v = 0; v < density->levels; v++)
    curve[v] =
        (double)table->weights.log_weight[density->level[v] - table->first] / MUCA_WEIGHT_UNIT;
  const enum gpumc_status status = gpumc_curve_write(place, &label, false, curve, error);
  free(curve);
  return status;
}

/* Writes what bins are: their width, and the mean of the values in each. */
static enum gpumc_status write_bins(const struct muca *muca, const struct muca_density *density,
                                    const struct gpumc_curve_place *place,
                                    struct gpumc_error *error)
{
  struct muca_level_texts texts;
  const size_t levels = density->levels;
  struct gpumc_label label = muca_bin_width_label(muca, &texts);
  double *curve;
  if (!muca->settings.binned)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_allocate_array(&curve, 2 * levels, "a curve", error));
  for (size_t v = 0; v < levels; v++)
    curve[v] = muca_level_width(&muca->settings, muca->context.model);
  enum gpumc_status status = gpumc_curve_write(place, &label, false, curve, error);
  if (status == GPUMC_OK)
    status = muca_bin_means(muca, density, curve, curve + levels, error);
  label = muca_bin_mean_label(muca, &texts);
  if (status == GPUMC_OK)
    status = gpumc_curve_write_with_error(place, &label, curve, curve + levels, error);
  free(curve);
  return status;
}

static enum gpumc_status write_density(const struct muca *muca, const struct muca_density *density,
                                       struct gpumc_error *error)
{
  struct muca_level_texts texts;
  const struct gpumc_label axis = muca_level_label(muca, &texts);
  const struct gpumc_label log_dos = muca_log_dos_label(muca);
  char path[96];
  snprintf(path, sizeof path, "summary/%s", axis.name);
  const struct gpumc_label visits = {"visits", "visits of the level in the production run", "1",
                                     "H"};
  const struct gpumc_curve_place place = place_of(muca, path, density->levels);
  const size_t all = density->blocks * density->levels;
  GPUMC_TRY(gpumc_curve_write_axis(&place, 0, &axis, false, density->value, error));
  GPUMC_TRY(gpumc_curve_write_with_error(&place, &log_dos, density->log_dos + all,
                                         density->error_of, error));
  GPUMC_TRY(gpumc_curve_write(&place, &visits, true, density->visits, error));
  GPUMC_TRY(write_bins(muca, density, &place, error));
  GPUMC_TRY(write_weights(muca, density, &place, error));
  return write_levels(muca, density, path, error);
}

/* ---- the whole ---- */

/* Writes averages over samples, with errors from these. */
static enum gpumc_status write_averages(const struct muca *muca, struct gpumc_error *error)
{
  const size_t count = muca->curves.points * muca->curves.results;
  double *value;
  GPUMC_TRY(gpumc_allocate_array(&value, 2 * count, "averages over samples", error));
  enum gpumc_status status =
      muca_reweight_samples(muca, &muca->curves, value, value + count, error);
  if (status == GPUMC_OK)
    status = muca_curves_write(muca, "summary", value, value + count, false, error);
  free(value);
  return status;
}

enum gpumc_status muca_summarize(void *state, struct gpumc_error *error)
{
  struct muca *muca = state;
  const struct muca_curves *curves = &muca->curves;
  if (muca->settings.samples > 1) {
    GPUMC_TRY(muca_samples_write(muca, error));
    GPUMC_TRY(write_averages(muca, error));
  } else {
    GPUMC_TRY(muca_density_open(muca, 0, error));
    GPUMC_TRY(write_density(muca, &muca->density, error));
    GPUMC_TRY(muca_windows_write(muca, &muca->density, error));
    GPUMC_TRY(muca_curves_write(muca, "summary", curves->value, curves->error_of, false, error));
  }
  return muca_trust_write(muca, error);
}
