/* Datasets with labels and dimension scales in a file that is being written. */
#include "core/storage/recorder/recorder_internal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

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

/* Returns the creation list of a dataset that is stored outside of its header; invalid on
 * failure. */
static hid_t creation_list(const struct gpumc_hdf5_file *file, size_t rank, const hsize_t *shape,
                           size_t chunk_rows)
{
  hsize_t chunk[GPUMC_DATASET_RANK_MAXIMUM] = {chunk_rows};
  for (size_t d = 1; d < rank; d++)
    chunk[d] = chunk_width(shape[d]);
  const herr_t set = chunk_rows > 0 ? H5Pset_chunk(file->plain, (int)rank, chunk)
                                    : H5Pset_layout(file->plain, H5D_CONTIGUOUS);
  return set >= 0 ? file->plain : H5I_INVALID_HID;
}

static hid_t dataspace(size_t rank, const hsize_t *shape, size_t chunk_rows)
{
  if (rank == 0)
    return H5Screate(H5S_SCALAR);
  hsize_t limit[GPUMC_DATASET_RANK_MAXIMUM] = {chunk_rows > 0 ? H5S_UNLIMITED : shape[0]};
  for (size_t d = 1; d < rank; d++)
    limit[d] = shape[d];
  return H5Screate_simple((int)rank, shape, chunk_rows > 0 ? limit : NULL);
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

/* `creation`: borrowed. */
static hid_t create(const struct gpumc_hdf5_file *file, hid_t location, const char *group,
                    const struct gpumc_label *label, hid_t space, hid_t creation, hid_t type,
                    struct gpumc_error *error)
{
  hid_t data = H5I_INVALID_HID;
  if (space >= 0 && creation >= 0)
    data = H5Dcreate2(location, label->name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  if (data < 0)
    (void)gpumc_hdf5_error(file, error, "create the dataset %s in %s", label->name, group);
  else if (set_label(file, data, label, error) != GPUMC_OK) {
    gpumc_hdf5_release(data);
    return H5I_INVALID_HID;
  }
  return data;
}

static hid_t create_of_type(const struct gpumc_hdf5_file *file, hid_t location, const char *group,
                            const struct gpumc_label *label, size_t rank, const hsize_t *shape,
                            size_t chunk_rows, hid_t type, struct gpumc_error *error)
{
  assert(rank <= GPUMC_DATASET_RANK_MAXIMUM);
  hid_t space = dataspace(rank, shape, chunk_rows);
  hid_t data = create(file, location, group, label, space,
                      creation_list(file, rank, shape, chunk_rows), type, error);
  gpumc_hdf5_release(space);
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

/* ---- datasets that are whole from the start ---- */

/* Fewer bytes are not worth the time, above all those of real numbers, whose last digits are
 * random; more are read in parts. A chunk and its filters take so many bytes more than a dataset in
 * its header. */
enum { DEFLATED_MINIMUM = 256, DEFLATED_REALS_MINIMUM = 768, DEFLATED_MAXIMUM = 1 << 18 };
enum { DEFLATED_OVERHEAD = 64 };
/* Of zlib: a window that is enough for such sizes, and less memory to clear. */
enum { DEFLATE_LEVEL = 6, WINDOW_BITS = 14, MEMORY_LEVEL = 6 };

/* Does what HDF5's filters of these names do, which would set up zlib's largest window for each
 * dataset: bytes of equal rank stand together. Returns a block of `*size` bytes, or NULL if that is
 * no gain. */
static unsigned char *shuffle_and_deflate(const void *numbers, size_t count, size_t *size)
{
  enum { WIDTH = 8 };
  const unsigned char *from = numbers;
  const size_t bytes = count * WIDTH;
  z_stream stream = {0};
  unsigned char *shuffled = malloc(2 * bytes);
  if (shuffled == NULL || deflateInit2(&stream, DEFLATE_LEVEL, Z_DEFLATED, WINDOW_BITS,
                                       MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
    free(shuffled);
    return NULL;
  }
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < WIDTH; k++)
      shuffled[k * count + i] = from[i * WIDTH + k];
  stream.next_in = shuffled;
  stream.avail_in = (uInt)bytes;
  stream.next_out = shuffled + bytes;
  stream.avail_out = (uInt)(bytes - DEFLATED_OVERHEAD);
  const bool deflated = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  *size = stream.total_out;
  deflateEnd(&stream);
  if (deflated) {
    memmove(shuffled, shuffled + bytes, *size);
    return shuffled;
  }
  free(shuffled);
  return NULL;
}

/* Returns the creation list for a dataset of `bytes` bytes, all of them given; invalid on failure.
 * `deflated`: whether that is done, to one chunk. */
static hid_t whole_list(const struct gpumc_hdf5_file *file, size_t rank, const hsize_t *shape,
                        size_t bytes, bool deflated)
{
  if (deflated)
    return H5Pset_chunk(file->deflated, (int)rank, shape) >= 0 ? file->deflated : H5I_INVALID_HID;
  const bool compact = bytes > 0 && bytes <= GPUMC_HDF5_COMPACT_BYTES;
  return H5Pset_layout(file->plain, compact ? H5D_COMPACT : H5D_CONTIGUOUS) >= 0 ? file->plain
                                                                                 : H5I_INVALID_HID;
}

static enum gpumc_status write_whole(const struct gpumc_hdf5_file *file, hid_t data,
                                     const char *where, hid_t type, const void *numbers,
                                     size_t count, const void *deflated, size_t size,
                                     struct gpumc_error *error)
{
  static const hsize_t origin[GPUMC_DATASET_RANK_MAXIMUM] = {0};
  const bool done =
      count == 0 ||
      (deflated != NULL ? H5Dwrite_chunk(data, H5P_DEFAULT, 0, origin, size, deflated) >= 0
                        : H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0);
  return done ? gpumc_hdf5_check(file, error) : gpumc_hdf5_error(file, error, "write %s", where);
}

static hid_t put_numbers(const struct gpumc_hdf5_file *file, hid_t location, const char *group,
                         const struct gpumc_label *label, size_t rank, const hsize_t *shape,
                         bool integer, const void *numbers, struct gpumc_error *error)
{
  size_t count = 1, size = 0;
  for (size_t d = 0; d < rank; d++)
    count *= shape[d];
  const size_t bytes = count * sizeof(double);
  const size_t fewest = integer ? DEFLATED_MINIMUM : DEFLATED_REALS_MINIMUM;
  const bool suits = rank > 0 && bytes >= fewest && bytes <= DEFLATED_MAXIMUM;
  unsigned char *deflated = NULL;
  if (suits && file->deflated >= 0)
    deflated = shuffle_and_deflate(numbers, count, &size);
  hid_t space = dataspace(rank, shape, 0);
  hid_t data = create(file, location, group, label, space,
                      whole_list(file, rank, shape, bytes, deflated != NULL),
                      integer ? H5T_STD_I64LE : H5T_IEEE_F64LE, error);
  if (data >= 0 &&
      write_whole(file, data, label->name, integer ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE, numbers,
                  count, deflated, size, error) != GPUMC_OK) {
    gpumc_hdf5_release(data);
    data = H5I_INVALID_HID;
  }
  gpumc_hdf5_release(space);
  free(deflated);
  return data;
}

hid_t gpumc_dataset_put(const struct gpumc_hdf5_file *file, hid_t location, const char *group,
                        const struct gpumc_label *label, size_t rank, const hsize_t *shape,
                        bool integer, const double *values, struct gpumc_error *error)
{
  int64_t *integers;
  size_t count = 1;
  hid_t data = H5I_INVALID_HID;
  if (!integer)
    return put_numbers(file, location, group, label, rank, shape, false, values, error);
  for (size_t d = 0; d < rank; d++)
    count *= shape[d];
  if (gpumc_allocate_array(&integers, count, label->name, error) != GPUMC_OK)
    return data;
  if (to_integers(values, count, label->name, integers, error) == GPUMC_OK)
    data = put_numbers(file, location, group, label, rank, shape, true, integers, error);
  free(integers);
  return data;
}
