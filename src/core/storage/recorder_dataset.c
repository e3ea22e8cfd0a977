/* Datasets with labels and dimension scales in a file that is being written. */
#include "core/storage/recorder_internal.h"

#include <assert.h>
#include <hdf5_hl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/storage/hdf5_values.h"

static const double largest_exact_integer = 9007199254740992.0; /* 2^53 */

/* HDF5 limits a chunk to less than 4 GiB: wider rows are cut into parts of about equal width. */
static const hsize_t chunk_width_maximum = 1 << 24;

static hsize_t chunk_width(hsize_t width)
{
  const hsize_t parts = (width + chunk_width_maximum - 1) / chunk_width_maximum;
  return parts > 1 ? (width + parts - 1) / parts : width;
}

static hid_t dataset_creation_list(size_t rank, const hsize_t *shape, size_t chunk_rows)
{
  hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  if (list < 0 || chunk_rows == 0)
    return list;
  hsize_t chunk[GPUMC_DATASET_RANK_MAXIMUM] = {chunk_rows};
  for (size_t d = 1; d < rank; d++)
    chunk[d] = chunk_width(shape[d]);
  if (H5Pset_chunk(list, (int)rank, chunk) >= 0)
    return list;
  gpumc_hdf5_release(list);
  return H5I_INVALID_HID;
}

static hid_t dataspace(size_t rank, const hsize_t *shape, size_t chunk_rows)
{
  if (rank == 0)
    return H5Screate(H5S_SCALAR);
  hsize_t limit[GPUMC_DATASET_RANK_MAXIMUM] = {chunk_rows > 0 ? H5S_UNLIMITED : shape[0]};
  for (size_t d = 1; d < rank; d++)
    limit[d] = shape[d];
  return H5Screate_simple((int)rank, shape, limit);
}

static enum gpumc_status set_label(const struct gpumc_hdf5_file *file, hid_t data,
                                   const struct gpumc_label *label, struct gpumc_error *error)
{
  const char *const names[] = {"long_name", "units", "symbol"};
  const char *const values[] = {label->long_name, label->units, label->symbol};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *value = values[i] != NULL ? values[i] : "";
    GPUMC_TRY(gpumc_hdf5_set_text(file, data, label->name, names[i], value, error));
  }
  return GPUMC_OK;
}

static hid_t create_of_type(const struct gpumc_hdf5_file *file, hid_t location, const char *group,
                            const struct gpumc_label *label, size_t rank, const hsize_t *shape,
                            size_t chunk_rows, hid_t type, struct gpumc_error *error)
{
  assert(rank <= GPUMC_DATASET_RANK_MAXIMUM);
  hid_t data = H5I_INVALID_HID;
  hid_t space = dataspace(rank, shape, chunk_rows);
  hid_t creation = dataset_creation_list(rank, shape, chunk_rows);
  if (space >= 0 && creation >= 0)
    data = H5Dcreate2(location, label->name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  if (data < 0)
    (void)gpumc_hdf5_error(file, error, "create the dataset %s in %s", label->name, group);
  gpumc_hdf5_release(creation);
  gpumc_hdf5_release(space);
  if (data >= 0 && set_label(file, data, label, error) != GPUMC_OK) {
    gpumc_hdf5_release(data);
    return H5I_INVALID_HID;
  }
  return data;
}

hid_t gpumc_dataset_create(const struct gpumc_hdf5_file *file, hid_t location, const char *group,
                           const struct gpumc_label *label, size_t rank, const hsize_t *shape,
                           size_t chunk_rows, bool integer, struct gpumc_error *error)
{
  return create_of_type(file, location, group, label, rank, shape, chunk_rows,
                        integer ? H5T_STD_I64LE : H5T_IEEE_F64LE, error);
}

hid_t gpumc_dataset_create_bytes(const struct gpumc_hdf5_file *file, hid_t location,
                                 const char *group, const struct gpumc_label *label,
                                 const hsize_t shape[2], size_t chunk_rows,
                                 struct gpumc_error *error)
{
  return create_of_type(file, location, group, label, 2, shape, chunk_rows, H5T_STD_U8LE, error);
}

enum gpumc_status gpumc_dataset_attach(const struct gpumc_hdf5_file *file, hid_t data,
                                       unsigned dimension, const char *axis_path,
                                       struct gpumc_error *error)
{
  const char *slash = strrchr(axis_path, '/');
  hid_t axis = H5Dopen2(file->id, axis_path, H5P_DEFAULT);
  htri_t is_scale = axis < 0 ? -1 : H5DSis_scale(axis);
  const bool attached =
      is_scale >= 0 &&
      (is_scale > 0 || H5DSset_scale(axis, slash != NULL ? slash + 1 : axis_path) >= 0) &&
      H5DSattach_scale(data, axis, dimension) >= 0;
  gpumc_hdf5_release(axis);
  return attached ? gpumc_hdf5_check(file, error)
                  : gpumc_hdf5_error(file, error, "use %s as an axis", axis_path);
}

static enum gpumc_status to_integers(const double *values, size_t n, const char *where,
                                     int64_t *integers, struct gpumc_error *error)
{
  for (size_t i = 0; i < n; i++) {
    /* NaN fails the comparison too. */
    if (!(fabs(values[i]) <= largest_exact_integer) || values[i] != trunc(values[i]))
      return gpumc_error_set(error, GPUMC_FAILURE,
                             "%s: %.17g is not an integer of magnitude 2^53 or less", where,
                             values[i]);
    integers[i] = (int64_t)values[i];
  }
  return GPUMC_OK;
}

/* Writes rows of a dataset; all of it if the rank is 0. */
static bool write_rows(hid_t data, hid_t type, size_t first, size_t count, const void *values)
{
  hsize_t start[GPUMC_DATASET_RANK_MAXIMUM] = {first};
  hsize_t extent[GPUMC_DATASET_RANK_MAXIMUM];
  hid_t memory = H5I_INVALID_HID;
  hid_t space = H5Dget_space(data);
  int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
  bool done = false;
  if (rank == 0)
    done = H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
  if (rank > 0 && H5Sget_simple_extent_dims(space, extent, NULL) == rank) {
    extent[0] = count;
    memory = H5Screate_simple(rank, extent, NULL);
    done = memory >= 0 &&
           H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, extent, NULL) >= 0 &&
           H5Dwrite(data, type, memory, space, H5P_DEFAULT, values) >= 0;
  }
  gpumc_hdf5_release(memory);
  gpumc_hdf5_release(space);
  return done;
}

enum gpumc_status gpumc_dataset_write(const struct gpumc_hdf5_file *file, hid_t data,
                                      const char *where, bool integer, size_t first, size_t count,
                                      size_t width, const double *values, struct gpumc_error *error)
{
  int64_t *integers = NULL;
  enum gpumc_status status = GPUMC_OK;
  if (count == 0 || width == 0)
    return GPUMC_OK;
  if (integer) {
    GPUMC_TRY(gpumc_allocate_array(&integers, count * width, where, error));
    GPUMC_TRY_OUT(status, to_integers(values, count * width, where, integers, error));
  }
  const bool done = integer ? write_rows(data, H5T_NATIVE_INT64, first, count, integers)
                            : write_rows(data, H5T_NATIVE_DOUBLE, first, count, values);
  status = done ? gpumc_hdf5_check(file, error) : gpumc_hdf5_error(file, error, "write %s", where);
out:
  free(integers);
  return status;
}

enum gpumc_status gpumc_dataset_write_bytes(const struct gpumc_hdf5_file *file, hid_t data,
                                            const char *where, size_t first, size_t count,
                                            const uint8_t *bytes, struct gpumc_error *error)
{
  if (count == 0)
    return GPUMC_OK;
  return write_rows(data, H5T_NATIVE_UINT8, first, count, bytes)
             ? gpumc_hdf5_check(file, error)
             : gpumc_hdf5_error(file, error, "write %s", where);
}
