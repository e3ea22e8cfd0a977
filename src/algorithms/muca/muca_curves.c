/* Multicanonical sampling: curves over the grid of the moved control, which are formed in units of
 * work after the last walk, in checkpoints and in the result. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "algorithms/muca/muca.h"
#include "core/base/memory.h"
#include "core/simulation/curves.h"

/* Weights of levels that a thread sums in a unit: a tenth of a second. */
static const double unit_terms = 0x1p24;

/* ---- life ---- */

enum gpumc_status muca_curves_create(struct muca *muca, struct gpumc_error *error)
{
  const struct gpumc_params *params = &muca->context.params;
  const char *block = gpumc_ladder_block(params);
  const size_t samples = muca->settings.samples, points = gpumc_ladder_count(params, block);
  const size_t levels = muca->settings.last + 1 - muca->settings.first;
  struct muca_curves *curves = &muca->curves;
  curves->points = points;
  curves->results = muca_results(muca);
  const size_t results = samples * points * curves->results;
  GPUMC_TRY(gpumc_allocate_array(&curves->grid, points, "the grid", error));
  GPUMC_TRY(gpumc_allocate_array(&curves->fault, points, "the grid", error));
  GPUMC_TRY(gpumc_allocate_array(&curves->value, results, "curves", error));
  GPUMC_TRY(gpumc_allocate_array(&curves->error_of, results, "curves", error));
  GPUMC_TRY(gpumc_allocate_array(&curves->tilted, samples, "joins of the samples", error));
  gpumc_ladder_read(params, block, curves->grid);
  if (samples == 1)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_allocate_array(&curves->averages, samples * points * muca_averages_width(muca),
                                 "averages of the samples", error));
  GPUMC_TRY(
      gpumc_allocate_array(&curves->log_dos, samples * levels, "densities of the samples", error));
  GPUMC_TRY(gpumc_allocate_array(&curves->log_dos_error, samples * levels,
                                 "densities of the samples", error));
  if (!muca->settings.binned)
    return GPUMC_OK;
  GPUMC_TRY(
      gpumc_allocate_array(&curves->bin_mean, samples * levels, "bins of the samples", error));
  return gpumc_allocate_array(&curves->bin_mean_error, samples * levels, "bins of the samples",
                              error);
}

void muca_curves_free(struct muca_curves *curves)
{
  free(curves->grid);
  free(curves->fault);
  free(curves->value);
  free(curves->error_of);
  free(curves->averages);
  free(curves->log_dos);
  free(curves->log_dos_error);
  free(curves->bin_mean);
  free(curves->bin_mean_error);
  free(curves->tilted);
}

/* ---- units of work ---- */

/* Spreads what a sample has at the levels it visited over all levels, NAN at others. */
static void spread(const struct muca *muca, size_t sample, const double *at_visited, double *at_all)
{
  const struct muca_density *density = &muca->density;
  const struct muca_settings *settings = &muca->settings;
  const size_t levels = settings->last + 1 - settings->first;
  double *of_sample = at_all + sample * levels;
  for (size_t l = 0; l < levels; l++)
    of_sample[l] = NAN;
  for (size_t v = 0; v < density->levels; v++)
    of_sample[density->level[v] - settings->first] = at_visited[v];
}

static enum gpumc_status take_bins(struct muca *muca, size_t sample, struct gpumc_error *error)
{
  const size_t levels = muca->density.levels;
  double *mean;
  GPUMC_TRY(gpumc_allocate_array(&mean, 2 * levels, "bins", error));
  const enum gpumc_status status = muca_bin_means(muca, &muca->density, mean, mean + levels, error);
  if (status == GPUMC_OK) {
    spread(muca, sample, mean, muca->curves.bin_mean);
    spread(muca, sample, mean + levels, muca->curves.bin_mean_error);
  }
  free(mean);
  return status;
}

/* Of a sample among many: its density of states, and joins that do not hold. */
static enum gpumc_status take_density(struct muca *muca, size_t sample, struct gpumc_error *error)
{
  const struct muca_density *density = &muca->density;
  const struct muca_settings *settings = &muca->settings;
  const struct muca_table *table = muca->table + sample * settings->windows;
  struct muca_curves *curves = &muca->curves;
  curves->tilted[sample] = 0;
  for (size_t k = 0; k + 1 < settings->windows; k++)
    curves->tilted[sample] += muca_are_joined(&table[k]) && !muca_join_holds(muca, density, k);
  if (settings->samples == 1)
    return GPUMC_OK;
  spread(muca, sample, density->log_dos + density->blocks * density->levels, curves->log_dos);
  spread(muca, sample, density->error_of, curves->log_dos_error);
  return settings->binned ? take_bins(muca, sample, error) : GPUMC_OK;
}

enum gpumc_status muca_density_open(struct muca *muca, size_t sample, struct gpumc_error *error)
{
  if (muca->opened == sample + 1)
    return GPUMC_OK;
  muca_density_free(&muca->density);
  muca->opened = 0;
  GPUMC_TRY(muca_density_make(muca, sample, &muca->density, error));
  muca->opened = sample + 1;
  return GPUMC_OK;
}

double muca_reweighted(const struct muca *muca)
{
  const double all = (double)muca->curves.points * (double)muca->settings.samples;
  return all > 0 ? (double)muca->reweighted / all : 0;
}

/* Rows first .. first + count - 1 of an array, of which each process has formed its slice, to all.
 */
static void share_rows(const struct gpumc_processes *processes, void *array, size_t bytes,
                       size_t first, size_t count, size_t *counts)
{
  const size_t size = (size_t)processes->module.size, rank = (size_t)processes->module.rank;
  uint8_t *rows = (uint8_t *)array + first * bytes;
  for (size_t p = 0; p < size; p++)
    counts[p] = gpumc_slice(count, 1, size, p).count * bytes;
  gpumc_processes_gather(processes, rows + gpumc_slice(count, 1, size, rank).first * bytes, rows,
                         counts, GPUMC_TO_ALL);
}

static enum gpumc_status share_points(struct muca *muca, size_t sample, size_t first, size_t count,
                                      struct gpumc_error *error)
{
  const struct gpumc_processes *processes = gpumc_columns_processes(muca->context.ensemble);
  const size_t size = (size_t)processes->module.size;
  struct muca_curves *curves = &muca->curves;
  const size_t row = sample * curves->points + first, bytes = curves->results * sizeof(double);
  size_t *counts;
  if (size == 1)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_allocate_array(&counts, size, "counts of bytes", error));
  share_rows(processes, curves->fault, sizeof *curves->fault, first, count, counts);
  share_rows(processes, curves->value, bytes, row, count, counts);
  share_rows(processes, curves->error_of, bytes, row, count, counts);
  if (curves->averages != NULL)
    share_rows(processes, curves->averages, muca_averages_width(muca) * sizeof(double), row, count,
               counts);
  free(counts);
  return GPUMC_OK;
}

/* Of a sample at some points of the grid, which processes divide among them. */
static enum gpumc_status
form_curves(struct muca *muca, size_t sample, size_t first, size_t count, struct gpumc_error *error)
{
  const struct gpumc_module *module = &gpumc_columns_processes(muca->context.ensemble)->module;
  const struct gpumc_slice slice =
      gpumc_slice(count, 1, (size_t)module->size, (size_t)module->rank);
  GPUMC_TRY(muca_reweight(muca, &muca->density, &muca->curves, sample, first + slice.first,
                          slice.count, error));
  return share_points(muca, sample, first, count, error);
}

/* Points that one unit has, out of `left`: the root says, should others have other threads. */
static size_t points_of_unit(const struct muca *muca, size_t left)
{
  const struct gpumc_processes *processes = gpumc_columns_processes(muca->context.ensemble);
  const double terms = (double)muca->density.levels * (double)(muca->density.blocks + 1);
  const double most =
      fmax(unit_terms / terms, 1) * (double)muca->context.device->threads * processes->module.size;
  uint64_t count = (double)left < most ? left : (uint64_t)most;
  gpumc_processes_broadcast(processes, &count, sizeof count, 0);
  return (size_t)count;
}

enum gpumc_status muca_reweight_unit(struct muca *muca, bool *finished, struct gpumc_error *error)
{
  struct muca_curves *curves = &muca->curves;
  if (curves->points == 0)
    GPUMC_TRY(muca_curves_create(muca, error));
  const size_t sample = (size_t)muca->reweighted / curves->points;
  const size_t first = (size_t)muca->reweighted % curves->points;
  GPUMC_TRY(muca_density_open(muca, sample, error));
  if (first == 0)
    GPUMC_TRY(take_density(muca, sample, error));
  const size_t count = points_of_unit(muca, curves->points - first);
  GPUMC_TRY(form_curves(muca, sample, first, count, error));
  muca->reweighted += count;
  *finished = muca->reweighted == (uint64_t)curves->points * muca->settings.samples;
  return *finished ? muca_travels_count(muca, error) : GPUMC_OK;
}

/* ---- in checkpoints ---- */

enum { PARTS_OF_ALL = 4, PARTS_OF_SAMPLES = 3, PARTS_MOST = PARTS_OF_ALL + PARTS_OF_SAMPLES + 2 };

/* What has been formed: the first rows. Returns how many parts. */
static size_t parts_of(struct muca *muca, struct gpumc_part part[PARTS_MOST])
{
  struct muca_curves *curves = &muca->curves;
  const size_t points = (size_t)muca->reweighted, results = curves->results;
  const size_t levels = muca->settings.last + 1 - muca->settings.first;
  const size_t samples = points / curves->points + (points % curves->points != 0);
  const struct gpumc_part all[PARTS_MOST] = {
      {"curves_fault", GPUMC_UINT8, curves->points, 1, curves->fault},
      {"curves_value", GPUMC_FLOAT64, points, results, curves->value},
      {"curves_error", GPUMC_FLOAT64, points, results, curves->error_of},
      {"curves_tilted", GPUMC_FLOAT64, samples, 1, curves->tilted},
      {"curves_averages", GPUMC_FLOAT64, points, muca_averages_width(muca), curves->averages},
      {"curves_log_dos", GPUMC_FLOAT64, samples, levels, curves->log_dos},
      {"curves_log_dos_error", GPUMC_FLOAT64, samples, levels, curves->log_dos_error},
      {"curves_bin_mean", GPUMC_FLOAT64, samples, levels, curves->bin_mean},
      {"curves_bin_mean_error", GPUMC_FLOAT64, samples, levels, curves->bin_mean_error}};
  const size_t count = muca->settings.samples == 1 ? PARTS_OF_ALL
                       : muca->settings.binned     ? PARTS_MOST
                                                   : PARTS_OF_ALL + PARTS_OF_SAMPLES;
  for (size_t i = 0; i < count; i++)
    part[i] = all[i];
  return count;
}

enum gpumc_status muca_curves_save(struct muca *muca, struct gpumc_checkpoint_writer *writer,
                                   struct gpumc_error *error)
{
  struct gpumc_part part[PARTS_MOST];
  GPUMC_TRY(gpumc_checkpoint_put(writer, "muca/reweighted", GPUMC_UINT64, 1, 1, &muca->reweighted,
                                 error));
  if (muca->reweighted == 0)
    return GPUMC_OK;
  return gpumc_parts_save(part, parts_of(muca, part), NULL, writer, "muca", error);
}

/* Checkpoints of before curves were in them have no such number. */
static bool holds_curves(struct gpumc_checkpoint_reader *reader)
{
  struct gpumc_error ignored = {0};
  size_t rows, width;
  const bool holds =
      gpumc_checkpoint_shape(reader, "muca/reweighted", &rows, &width, &ignored) == GPUMC_OK;
  gpumc_error_free(&ignored);
  return holds;
}

enum gpumc_status muca_curves_load(struct muca *muca, struct gpumc_checkpoint_reader *reader,
                                   struct gpumc_error *error)
{
  struct gpumc_part part[PARTS_MOST];
  if (!holds_curves(reader))
    return GPUMC_OK;
  GPUMC_TRY(gpumc_checkpoint_get_rows(reader, "muca/reweighted", GPUMC_UINT64, 0, 1, 1,
                                      &muca->reweighted, error));
  if (muca->reweighted == 0)
    return GPUMC_OK;
  GPUMC_TRY(muca_curves_create(muca, error));
  if (muca->reweighted > (uint64_t)muca->curves.points * muca->settings.samples)
    return gpumc_error_set(error, GPUMC_FAILURE, "is damaged: it has more curves than the run");
  return gpumc_parts_load(part, parts_of(muca, part), NULL, reader, "muca", error);
}

/* ---- in the result ---- */

enum gpumc_status muca_curves_write(const struct muca *muca, const char *group, const double *value,
                                    const double *error_of, bool by_sample,
                                    struct gpumc_error *error)
{
  const struct muca_curves *curves = &muca->curves;
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
    const struct gpumc_label result = muca_result_label(muca, r);
    for (size_t i = 0; i < count; i++) {
      curve[i] = value[i * n + r];
      curve[count + i] = error_of[i * n + r];
    }
    status = gpumc_curve_write_with_error(&place, &result, curve, curve + count, error);
  }
  free(curve);
  return status;
}
