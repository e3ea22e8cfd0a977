/* Merges finished results: reads them and averages over them. */
#include "core/simulation/merge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/storage/hdf5_values.h"

/* ---- reading ---- */

bool gpumc_source_has(const struct gpumc_source *source, const char *path)
{
  GPUMC_HDF5_QUIET();
  return gpumc_hdf5_exists(source->file->id, path);
}

static enum gpumc_status shape_of(const struct gpumc_source *source, hid_t data, const char *path,
                                  size_t *shape, size_t *rank, struct gpumc_error *error)
{
  hsize_t extent[H5S_MAX_RANK] = {0};
  hid_t space = H5Dget_space(data), type = H5Dget_type(data);
  const int found = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
  const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
  const bool good = found >= 0 && found <= GPUMC_DATASET_RANK_MAXIMUM &&
                    H5Sget_simple_extent_dims(space, extent, NULL) == found &&
                    (class == H5T_FLOAT || class == H5T_INTEGER);
  gpumc_hdf5_release(type);
  gpumc_hdf5_release(space);
  if (!good)
    return gpumc_error_set(error, GPUMC_INVALID, "%s: %s is not a table of numbers", source->path,
                           path);
  *rank = (size_t)found;
  for (int d = 0; d < found; d++)
    shape[d] = (size_t)extent[d];
  return GPUMC_OK;
}

enum gpumc_status gpumc_source_shape(const struct gpumc_source *source, const char *path,
                                     size_t *shape, size_t *rank, struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  const hid_t data = gpumc_hdf5_open_dataset(source->file, source->file->id, path, error);
  if (data < 0)
    return GPUMC_FAILURE;
  const enum gpumc_status status = shape_of(source, data, path, shape, rank, error);
  gpumc_hdf5_release(data);
  return status;
}

static enum gpumc_status read_open(const struct gpumc_source *source, hid_t data, const char *path,
                                   const size_t *shape, size_t rank, double *values,
                                   struct gpumc_error *error)
{
  size_t found[GPUMC_DATASET_RANK_MAXIMUM], found_rank;
  GPUMC_TRY(shape_of(source, data, path, found, &found_rank, error));
  bool fits = found_rank == rank;
  for (size_t d = 0; d < rank && fits; d++)
    fits = found[d] == shape[d];
  if (!fits)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s: the shape of %s does not match its configuration: produce the "
                           "result again, or leave it out",
                           source->path, path);
  if (H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
    return gpumc_hdf5_error(source->file, error, "read %s", path);
  return GPUMC_OK;
}

enum gpumc_status gpumc_source_read(const struct gpumc_source *source, const char *path,
                                    const size_t *shape, size_t rank, double *values,
                                    struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  const hid_t data = gpumc_hdf5_open_dataset(source->file, source->file->id, path, error);
  if (data < 0)
    return GPUMC_FAILURE;
  const enum gpumc_status status = read_open(source, data, path, shape, rank, values, error);
  gpumc_hdf5_release(data);
  return status;
}

enum gpumc_status gpumc_source_number(const struct gpumc_source *source, const char *name,
                                      double *value, struct gpumc_error *error)
{
  const char *text = gpumc_result_field(&source->result.summary, name);
  if (text == NULL)
    return gpumc_error_set(
        error, GPUMC_FAILURE,
        "%s: /summary does not contain %s: produce the result again, or leave it out", source->path,
        name);
  *value = strtod(text, NULL);
  return GPUMC_OK;
}

size_t gpumc_source_members(const struct gpumc_source *source, const char *group)
{
  GPUMC_HDF5_QUIET();
  H5G_info_t info;
  if (!gpumc_hdf5_exists(source->file->id, group) ||
      H5Gget_info_by_name(source->file->id, group, &info, H5P_DEFAULT) < 0)
    return 0;
  return (size_t)info.nlinks;
}

/* A table being copied: all rows of each column in turn, scattered into rows. */
struct copied {
  size_t rows, width;
  double *all;    /* [rows][width] */
  double *column; /* [rows][width of the widest column] */
};

static enum gpumc_status read_columns(const struct gpumc_source *source, const char *group,
                                      const struct gpumc_column *columns, size_t n_columns,
                                      const struct copied *copied, struct gpumc_error *error)
{
  size_t first = 0;
  for (size_t c = 0; c < n_columns; c++) {
    const size_t width = columns[c].width, shape[] = {copied->rows, width};
    char path[256];
    snprintf(path, sizeof path, "%s/%s", group, columns[c].label.name);
    GPUMC_TRY(gpumc_source_read(source, path, shape, columns[c].across != NULL ? 2 : 1,
                                copied->column, error));
    for (size_t row = 0; row < copied->rows; row++)
      memcpy(copied->all + row * copied->width + first, copied->column + row * width,
             width * sizeof(double));
    first += width;
  }
  return GPUMC_OK;
}

static enum gpumc_status append_rows(const struct gpumc_source *source, const char *group,
                                     const struct copied *copied, const double *axis,
                                     struct gpumc_recorder *recorder, size_t table,
                                     struct gpumc_error *error)
{
  for (size_t row = 0; row < copied->rows; row++) {
    const double *values = copied->all + row * copied->width;
    if (values[0] != axis[row])
      return gpumc_error_set(
          error, GPUMC_INVALID,
          "%s: row %zu of %s is at %g, but in the files before it at %g: leave it out",
          source->path, row, group, values[0], axis[row]);
    GPUMC_TRY(gpumc_recorder_append(recorder, table, values, error));
  }
  return GPUMC_OK;
}

enum gpumc_status gpumc_source_append_rows(const struct gpumc_source *source, const char *group,
                                           const double *axis, size_t rows,
                                           struct gpumc_recorder *recorder, size_t table,
                                           struct gpumc_error *error)
{
  size_t n_columns, widest = 0;
  const struct gpumc_column *columns = gpumc_recorder_columns(recorder, table, &n_columns);
  struct copied copied = {.rows = rows};
  enum gpumc_status status = GPUMC_OK;
  for (size_t c = 0; c < n_columns; c++) {
    copied.width += columns[c].width;
    widest = columns[c].width > widest ? columns[c].width : widest;
  }
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&copied.all, rows * copied.width, "a table", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&copied.column, rows * widest, "a column", error));
  GPUMC_TRY_OUT(status, read_columns(source, group, columns, n_columns, &copied, error));
  status = append_rows(source, group, &copied, axis, recorder, table, error);
out:
  free(copied.all);
  free(copied.column);
  return status;
}

/* ---- sums ---- */

int64_t gpumc_sources_counted(const struct gpumc_sources *sources)
{
  int64_t sum = 0;
  for (size_t i = 0; i < sources->count; i++)
    sum += sources->of[i].counted;
  return sum;
}

double gpumc_average_add(double *average, double before, double part, double weight)
{
  if (isnan(part) || weight <= 0)
    return before;
  if (before <= 0)
    *average = part;
  else
    *average += (part - *average) * (weight / (before + weight));
  return before + weight;
}

/* Returns the square of the error of the average at place i, from the errors of the parts. */
static double add_up(const struct gpumc_parts_of_curve *curve, size_t i, double total)
{
  double squares = 0;
  bool any = false;
  for (size_t p = 0; p < curve->parts; p++) {
    const double share = curve->weight[p] / total;
    any = any || curve->values[p * curve->n + i] != 0;
    if (curve->values[p * curve->n + i] != 0)
      squares += share * share * curve->errors[p * curve->n + i] * curve->errors[p * curve->n + i];
  }
  return any ? squares : NAN;
}

/* The same from their scatter about the average. */
static double
scatter(const struct gpumc_parts_of_curve *curve, size_t i, double total, double average)
{
  const double freedom = (double)curve->parts - 1;
  double squares = 0;
  bool alike = true;
  for (size_t p = 0; p < curve->parts; p++) {
    const double deviation = curve->values[p * curve->n + i] - average;
    squares += curve->weight[p] / total * deviation * deviation;
    alike = alike && curve->values[p * curve->n + i] == curve->values[i];
  }
  return alike || !(freedom > 2) ? NAN : squares / (freedom - 2);
}

void gpumc_parts_average(const struct gpumc_parts_of_curve *curve, double *average,
                         double *error_of)
{
  double total = 0;
  for (size_t p = 0; p < curve->parts; p++)
    total += curve->weight[p];
  for (size_t i = 0; i < curve->n; i++) {
    double before = 0;
    average[i] = NAN;
    for (size_t p = 0; p < curve->parts; p++)
      before =
          gpumc_average_add(&average[i], before, curve->values[p * curve->n + i], curve->weight[p]);
    if (curve->parts == 1)
      error_of[i] = curve->errors[i];
    else
      error_of[i] =
          sqrt(curve->known ? add_up(curve, i, total) : scatter(curve, i, total, average[i]));
  }
}
