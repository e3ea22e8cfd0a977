/* Samples of quenched disorder in an HDF5 file: datasets couplings[samples][sites][dimension],
 * shape[dimension] and, where there are random fields, fields[samples][sites], in the root or in
 * the group /disorder, where a result has them. */
#include <math.h>
#include <stdlib.h>

#include "core/hdf5_dataset.h"
#include "core/hdf5_values.h"
#include "core/memory.h"
#include "core/system_memory.h"
#include "models/ising/disorder/disorder_samples_file.h"

enum { RANK_MAXIMUM = 3 };

static hid_t open_dataset(const struct gpumc_hdf5_file *file, hid_t group, const char *name,
                          struct gpumc_error *error)
{
  if (!gpumc_hdf5_exists(group, name)) {
    (void)gpumc_error_set(error, GPUMC_INVALID, "%s: holds no dataset %s", file->path, name);
    return H5I_INVALID_HID;
  }
  return gpumc_hdf5_open_dataset(file, group, name, error);
}

static bool holds_numbers(hid_t data)
{
  hid_t type = H5Dget_type(data);
  const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
  gpumc_hdf5_release(type);
  return class == H5T_INTEGER || class == H5T_FLOAT;
}

/* Whether a dataset holds numbers in an array of this rank, whose extent is then given. */
static bool has_rank(hid_t data, int rank, hsize_t extent[RANK_MAXIMUM])
{
  hid_t space = H5Dget_space(data);
  const bool fits = space >= 0 && H5Sget_simple_extent_ndims(space) == rank &&
                    H5Sget_simple_extent_dims(space, extent, NULL) == rank;
  gpumc_hdf5_release(space);
  return fits && holds_numbers(data);
}

/* A dataset as it must be. */
struct wanted {
  const char *name, *layout; /* "couplings", "[samples][sites][dimension]" */
  int rank;
  size_t extent[RANK_MAXIMUM]; /* 0: any but 0 */
};

static bool has_extent(hid_t data, const struct wanted *wanted, hsize_t extent[RANK_MAXIMUM])
{
  if (!has_rank(data, wanted->rank, extent))
    return false;
  for (int d = 0; d < wanted->rank; d++)
    if (wanted->extent[d] == 0 ? extent[d] == 0 : extent[d] != wanted->extent[d])
      return false;
  return true;
}

/* "numbers [1][24][2]", "a single number", "other values [4]". */
static void append_found(struct gpumc_text *text, hid_t data)
{
  hsize_t extent[H5S_MAX_RANK];
  hid_t space = H5Dget_space(data);
  const int rank = space < 0 ? -1 : H5Sget_simple_extent_dims(space, extent, NULL);
  const bool single = rank == 0 && H5Sget_simple_extent_type(space) == H5S_SCALAR;
  gpumc_hdf5_release(space);
  if (!holds_numbers(data))
    gpumc_text_append(text, rank > 0 ? "other values " : "other values");
  else
    gpumc_text_append(text, single ? "a single number" : rank > 0 ? "numbers " : "nothing");
  for (int d = 0; d < rank; d++)
    gpumc_text_append(text, "[%llu]", (unsigned long long)extent[d]);
}

static enum gpumc_status refuse_extent(const struct gpumc_hdf5_file *file, hid_t data,
                                       const struct wanted *wanted, struct gpumc_error *error)
{
  struct gpumc_text sizes = {0}, found = {0};
  for (int d = 0; d < wanted->rank; d++)
    if (wanted->extent[d] == 0)
      gpumc_text_append(&sizes, "[any]");
    else
      gpumc_text_append(&sizes, "[%zu]", wanted->extent[d]);
  append_found(&found, data);
  enum gpumc_status status = gpumc_error_set(
      error, GPUMC_INVALID, "%s: the dataset %s must hold numbers %s, here %s, and holds %s",
      file->path, wanted->name, wanted->layout, gpumc_text_string(&sizes),
      gpumc_text_string(&found));
  gpumc_text_free(&sizes);
  gpumc_text_free(&found);
  return status;
}

static enum gpumc_status check_values(const struct gpumc_hdf5_file *file, const char *name,
                                      const double *values, size_t count, struct gpumc_error *error)
{
  for (size_t i = 0; i < count; i++)
    if (!(fabs(values[i]) <= ISING_FILE_LARGEST))
      return gpumc_error_set(error, GPUMC_INVALID,
                             "%s: element %zu of the dataset %s is %g, beyond +-%g", file->path, i,
                             name, values[i], ISING_FILE_LARGEST);
  return GPUMC_OK;
}

/* An array for all numbers of a dataset, or a refusal by name: what a file declares is no reason to
 * take all of the memory. */
static enum gpumc_status allocate_values(const struct gpumc_hdf5_file *file, const char *name,
                                         const hsize_t *extent, size_t count, double **values,
                                         struct gpumc_error *error)
{
  struct gpumc_error ignored = {0};
  const double bytes = (double)count * sizeof **values;
  if (bytes < gpumc_available_memory() &&
      gpumc_allocate_array(values, count, name, &ignored) == GPUMC_OK)
    return GPUMC_OK;
  gpumc_error_free(&ignored);
  return gpumc_error_set(
      error, GPUMC_INVALID,
      "%s: the dataset %s has %llu rows, which take %.3g GiB and do not fit into "
      "the memory that is left: put fewer samples into a file",
      file->path, name, (unsigned long long)extent[0], bytes / (1 << 30));
}

/* Into a new array; `first`: the extent of the first dimension. */
static enum gpumc_status read_dataset(const struct gpumc_hdf5_file *file, hid_t group,
                                      const struct wanted *wanted, double **values, size_t *first,
                                      struct gpumc_error *error)
{
  hsize_t extent[RANK_MAXIMUM];
  size_t count = 1;
  enum gpumc_status status = GPUMC_OK;
  hid_t data = open_dataset(file, group, wanted->name, error);
  if (data < 0)
    return GPUMC_INVALID;
  if (!has_extent(data, wanted, extent))
    status = refuse_extent(file, data, wanted, error);
  for (int d = 0; d < wanted->rank && status == GPUMC_OK; d++)
    if (__builtin_mul_overflow(count, (size_t)extent[d], &count))
      status = refuse_extent(file, data, wanted, error);
  if (status == GPUMC_OK)
    status = gpumc_hdf5_check_written(file, data, wanted->name, error);
  if (status == GPUMC_OK)
    status = allocate_values(file, wanted->name, extent, count, values, error);
  if (status == GPUMC_OK &&
      H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, *values) < 0) {
    (void)gpumc_hdf5_error(file, error, "read %s", wanted->name);
    status = GPUMC_INVALID;
  }
  gpumc_hdf5_release(data);
  if (status != GPUMC_OK)
    return GPUMC_INVALID;
  *first = (size_t)extent[0];
  return check_values(file, wanted->name, *values, count, error);
}

static enum gpumc_status check_shape(const struct gpumc_hdf5_file *file, hid_t group,
                                     const size_t *shape, size_t dimension,
                                     struct gpumc_error *error)
{
  const struct wanted wanted = {"shape", "[dimension]", 1, {dimension}};
  double *sides = NULL;
  size_t count = 0;
  char text[64];
  bool same = true;
  enum gpumc_status status = read_dataset(file, group, &wanted, &sides, &count, error);
  for (size_t d = 0; d < dimension && status == GPUMC_OK; d++)
    same = same && sides[d] >= (double)shape[d] && sides[d] <= (double)shape[d];
  free(sides);
  if (status == GPUMC_OK && !same)
    status = gpumc_error_set(error, GPUMC_INVALID,
                             "%s: the dataset shape is not that of the lattice of the model, %s",
                             file->path, ising_shape_text(dimension, shape, text));
  return status;
}

static enum gpumc_status read_group(const struct gpumc_hdf5_file *file, hid_t group,
                                    const size_t *shape, struct ising_samples_file *samples,
                                    struct gpumc_error *error)
{
  const struct wanted couplings = {
      "couplings", "[samples][sites][dimension]", 3, {0, samples->sites, samples->dimension}};
  size_t same;
  enum gpumc_status status = check_shape(file, group, shape, samples->dimension, error);
  if (status == GPUMC_OK)
    status = read_dataset(file, group, &couplings, &samples->coupling, &samples->samples, error);
  if (status != GPUMC_OK || !gpumc_hdf5_exists(group, "fields"))
    return status;
  const struct wanted fields = {
      "fields", "[samples][sites]", 2, {samples->samples, samples->sites}};
  return read_dataset(file, group, &fields, &samples->field, &same, error);
}

enum gpumc_status ising_samples_read_hdf5(const char *path, const size_t *shape,
                                          struct ising_samples_file *samples,
                                          struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  struct gpumc_hdf5_file *file = NULL;
  if (gpumc_hdf5_open(path, GPUMC_HDF5_READ, &file, error) != GPUMC_OK)
    return GPUMC_INVALID;
  const char *place = gpumc_hdf5_exists(file->id, "disorder") ? "disorder" : "/";
  hid_t group = gpumc_hdf5_open_group(file, file->id, place, error);
  enum gpumc_status status = GPUMC_INVALID;
  if (group >= 0)
    status = read_group(file, group, shape, samples, error);
  gpumc_hdf5_release(group);
  gpumc_hdf5_discard(file);
  return status;
}
