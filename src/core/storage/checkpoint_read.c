/* Reading checkpoints: verified, then array by array; and lists of arrays both ways. */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "core/device/device.h"
#include "core/storage/checkpoint_file.h"
#include "core/storage/hdf5_values.h"

struct gpumc_checkpoint_reader {
  struct gpumc_hdf5_file *file;
};

static enum gpumc_status open_verified(const char *path, enum gpumc_checkpoint_extent extent,
                                       struct gpumc_checkpoint_reader **reader,
                                       struct gpumc_error *error)
{
  *reader = NULL;
  GPUMC_TRY(gpumc_checkpoint_verify(path, extent, error));
  GPUMC_TRY(gpumc_allocate_array(reader, 1, "a checkpoint reader", error));
  const enum gpumc_status status = gpumc_hdf5_open(path, GPUMC_HDF5_READ, &(*reader)->file, error);
  if (status != GPUMC_OK) {
    free(*reader);
    *reader = NULL;
  }
  return status;
}

enum gpumc_status gpumc_checkpoint_open(const char *path, struct gpumc_checkpoint_reader **reader,
                                        struct gpumc_error *error)
{
  return open_verified(path, GPUMC_CHECKPOINT_WHOLE, reader, error);
}

enum gpumc_status gpumc_checkpoint_peek(const char *path, struct gpumc_checkpoint_reader **reader,
                                        struct gpumc_error *error)
{
  return open_verified(path, GPUMC_CHECKPOINT_HEAD, reader, error);
}

/* An open array with its two extents; negative with the error set. */
static hid_t open_array(struct gpumc_checkpoint_reader *reader, const char *name, hsize_t shape[2],
                        struct gpumc_error *error)
{
  struct gpumc_hdf5_file *file = reader->file;
  hid_t data = gpumc_hdf5_open_dataset(file, file->id, name, error);
  if (data < 0)
    return H5I_INVALID_HID;
  hid_t space = H5Dget_space(data);
  if (H5Sget_simple_extent_ndims(space) == 2) {
    H5Sget_simple_extent_dims(space, shape, NULL);
    gpumc_hdf5_release(space);
    return data;
  }
  (void)gpumc_error_set(error, GPUMC_FAILURE, "%s: %s is not an array of rows", file->path, name);
  gpumc_hdf5_release(space);
  gpumc_hdf5_release(data);
  return H5I_INVALID_HID;
}

enum gpumc_status gpumc_checkpoint_shape(struct gpumc_checkpoint_reader *reader, const char *name,
                                         size_t *rows, size_t *width, struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  hsize_t shape[2] = {0, 0};
  hid_t data = open_array(reader, name, shape, error);
  if (data < 0)
    return GPUMC_FAILURE;
  gpumc_hdf5_release(data);
  *rows = (size_t)shape[0];
  *width = (size_t)shape[1];
  return GPUMC_OK;
}

static const char *stored_name(hid_t type)
{
  for (enum gpumc_element element = GPUMC_UINT8; element <= GPUMC_FLOAT64; element++)
    if (H5Tequal(type, gpumc_checkpoint_element(element).stored) > 0)
      return gpumc_checkpoint_element(element).name;
  return "another type";
}

static enum gpumc_status check_array(const struct gpumc_hdf5_file *file, const char *name,
                                     hid_t data, const hsize_t shape[2], enum gpumc_element element,
                                     size_t first, size_t count, size_t width,
                                     struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  struct gpumc_checkpoint_element wanted = gpumc_checkpoint_element(element);
  hid_t type = H5Dget_type(data);
  if (H5Tequal(type, wanted.stored) <= 0)
    status = gpumc_error_set(error, GPUMC_FAILURE, "%s: %s is of %s, not of %s", file->path, name,
                             stored_name(type), wanted.name);
  else if (shape[1] != width)
    status = gpumc_error_set(error, GPUMC_FAILURE, "%s: %s has %llu values a row, not %zu",
                             file->path, name, (unsigned long long)shape[1], width);
  else if (first > shape[0] || count > shape[0] - first)
    status = gpumc_error_set(error, GPUMC_FAILURE,
                             "%s: %s has %llu rows; rows %zu to %zu were requested", file->path,
                             name, (unsigned long long)shape[0], first, first + count);
  gpumc_hdf5_release(type);
  return status;
}

static enum gpumc_status read_slice(const struct gpumc_hdf5_file *file, const char *name,
                                    hid_t data, hid_t native, size_t first, size_t count,
                                    size_t width, void *values, struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  hsize_t start[2] = {first, 0};
  hsize_t extent[2] = {count, width};
  hid_t space = H5Dget_space(data);
  hid_t memory = H5Screate_simple(2, extent, NULL);
  if (space < 0 || memory < 0 ||
      H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, extent, NULL) < 0 ||
      H5Dread(data, native, memory, space, H5P_DEFAULT, values) < 0)
    status = gpumc_hdf5_error(file, error, "read %s", name);
  gpumc_hdf5_release(memory);
  gpumc_hdf5_release(space);
  return status;
}

enum gpumc_status gpumc_checkpoint_get_rows(struct gpumc_checkpoint_reader *reader,
                                            const char *name, enum gpumc_element element,
                                            size_t first, size_t count, size_t width, void *values,
                                            struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  hsize_t shape[2] = {0, 0};
  hid_t data = open_array(reader, name, shape, error);
  if (data < 0)
    return GPUMC_FAILURE;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status,
                check_array(reader->file, name, data, shape, element, first, count, width, error));
  if (count > 0 && width > 0)
    status = read_slice(reader->file, name, data, gpumc_checkpoint_element(element).native, first,
                        count, width, values, error);
out:
  gpumc_hdf5_release(data);
  return status;
}

enum gpumc_status gpumc_checkpoint_get_text(struct gpumc_checkpoint_reader *reader,
                                            const char *name, char **text,
                                            struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  return gpumc_hdf5_get_text(reader->file, name, text, error);
}

void gpumc_checkpoint_close(struct gpumc_checkpoint_reader *reader)
{
  if (reader == NULL)
    return;
  gpumc_hdf5_discard(reader->file);
  free(reader);
}

/* ---- arrays of a state ---- */

enum { NAME_BYTES = 128 };

/* One array on its way. */
struct passage {
  char name[NAME_BYTES];
  size_t bytes;
  struct gpumc_device *device;
  void *values; /* on the host: the part's own unless they are a device's */
};

static size_t element_bytes(enum gpumc_element element)
{
  static const size_t bytes[] = {
      [GPUMC_UINT8] = 1,  [GPUMC_UINT32] = 4,  [GPUMC_INT64] = 8,
      [GPUMC_UINT64] = 8, [GPUMC_FLOAT64] = 8,
  };
  return bytes[element];
}

static enum gpumc_status passage_begin(struct passage *passage, const struct gpumc_part *part,
                                       struct gpumc_device *device, const char *prefix,
                                       struct gpumc_error *error)
{
  const size_t bytes = element_bytes(part->element), count = part->rows * part->width;
  *passage = (struct passage){.bytes = count * bytes, .device = device, .values = part->values};
  snprintf(passage->name, NAME_BYTES, "%s/%s", prefix, part->name);
  return device == NULL ? GPUMC_OK
                        : gpumc_allocate(count, bytes, passage->name, &passage->values, error);
}

static void passage_end(struct passage *passage)
{
  if (passage->device != NULL)
    free(passage->values);
}

static enum gpumc_status save_part(const struct gpumc_part *part, struct gpumc_device *device,
                                   struct gpumc_checkpoint_writer *writer, const char *prefix,
                                   struct gpumc_error *error)
{
  struct passage passage;
  enum gpumc_status status;
  GPUMC_TRY(passage_begin(&passage, part, device, prefix, error));
  if (device != NULL)
    GPUMC_TRY_OUT(status, device->ops->copy_to_host(device, passage.values, part->values,
                                                    passage.bytes, error));
  status = gpumc_checkpoint_put(writer, passage.name, part->element, part->rows, part->width,
                                passage.values, error);
out:
  passage_end(&passage);
  return status;
}

static enum gpumc_status load_part(const struct gpumc_part *part, struct gpumc_device *device,
                                   struct gpumc_checkpoint_reader *reader, const char *prefix,
                                   struct gpumc_error *error)
{
  struct passage passage;
  enum gpumc_status status;
  GPUMC_TRY(passage_begin(&passage, part, device, prefix, error));
  GPUMC_TRY_OUT(status, gpumc_checkpoint_get_rows(reader, passage.name, part->element, 0,
                                                  part->rows, part->width, passage.values, error));
  if (device != NULL)
    status =
        device->ops->copy_to_device(device, part->values, passage.values, passage.bytes, error);
out:
  passage_end(&passage);
  return status;
}

enum gpumc_status gpumc_parts_save(const struct gpumc_part *parts, size_t count,
                                   struct gpumc_device *device,
                                   struct gpumc_checkpoint_writer *writer, const char *prefix,
                                   struct gpumc_error *error)
{
  for (size_t i = 0; i < count; i++)
    GPUMC_TRY(save_part(&parts[i], device, writer, prefix, error));
  return GPUMC_OK;
}

enum gpumc_status gpumc_parts_load(const struct gpumc_part *parts, size_t count,
                                   struct gpumc_device *device,
                                   struct gpumc_checkpoint_reader *reader, const char *prefix,
                                   struct gpumc_error *error)
{
  for (size_t i = 0; i < count; i++)
    GPUMC_TRY(load_part(&parts[i], device, reader, prefix, error));
  return GPUMC_OK;
}
