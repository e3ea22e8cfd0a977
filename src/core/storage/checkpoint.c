/* The arrays and texts of a checkpoint, written and read: an HDF5 file in the shell that
 * checkpoint_seal.c describes. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/files.h"
#include "core/base/memory.h"
#include "core/storage/checkpoint_seal.h"
#include "core/storage/hdf5_file.h"
#include "core/storage/hdf5_values.h"
#include "core/storage/side_files.h"

struct element_type {
  const char *name;
  hid_t stored, native;
};

static struct element_type type_of(enum gpumc_element element)
{
  switch (element) {
  case GPUMC_UINT8:
    return (struct element_type){"uint8", H5T_STD_U8LE, H5T_NATIVE_UINT8};
  case GPUMC_UINT32:
    return (struct element_type){"uint32", H5T_STD_U32LE, H5T_NATIVE_UINT32};
  case GPUMC_INT64:
    return (struct element_type){"int64", H5T_STD_I64LE, H5T_NATIVE_INT64};
  case GPUMC_UINT64:
    return (struct element_type){"uint64", H5T_STD_U64LE, H5T_NATIVE_UINT64};
  case GPUMC_FLOAT64:
    break;
  }
  return (struct element_type){"float64", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE};
}

/* ---- an HDF5 file beside its final name, sealed, then renamed ---- */

struct gpumc_checkpoint_writer {
  char *path;
  char *written;              /* PATH.new */
  bool begun;                 /* the file there is ours */
  bool silent;                /* for a process that writes nothing */
  bool defers;                /* keeps its first failure for the commit: */
  struct gpumc_error failure; /* that failure */
  struct gpumc_hdf5_file *file;
};

static enum gpumc_status
begin(const char *path, struct gpumc_checkpoint_writer *writer, struct gpumc_error *error)
{
  writer->path = gpumc_path_with_suffix(path, "", error);
  writer->written = gpumc_path_with_suffix(path, ".new", error);
  if (writer->path == NULL || writer->written == NULL)
    return GPUMC_FAILURE;
  GPUMC_TRY(gpumc_side_file_check(path, GPUMC_SIDE_CHECKPOINT, error));
  GPUMC_TRY(gpumc_side_file_check(writer->written, GPUMC_SIDE_CHECKPOINT, error));
  writer->begun = true;
  return gpumc_hdf5_create(writer->written, GPUMC_CHECKPOINT_BLOCK_BYTES, GPUMC_CHECKPOINT_MARK,
                           &writer->file, error);
}

enum gpumc_status gpumc_checkpoint_begin(const char *path, struct gpumc_checkpoint_writer **writer,
                                         struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_allocate_array(writer, 1, "a checkpoint writer", error));
  const enum gpumc_status status = begin(path, *writer, error);
  if (status != GPUMC_OK) {
    gpumc_checkpoint_abandon(*writer);
    *writer = NULL;
  }
  return status;
}

enum gpumc_status
gpumc_checkpoint_begin_silent(struct gpumc_checkpoint_writer **writer, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_allocate_array(writer, 1, "a checkpoint writer", error));
  (*writer)->silent = true;
  return GPUMC_OK;
}

void gpumc_checkpoint_defer(struct gpumc_checkpoint_writer *writer)
{
  writer->defers = true;
}

/* Returns whether there is nothing (more) to write. */
static bool is_done(const struct gpumc_checkpoint_writer *writer)
{
  return writer->silent || writer->failure.message != NULL;
}

static enum gpumc_status
defer(struct gpumc_checkpoint_writer *writer, enum gpumc_status status, struct gpumc_error *error)
{
  if (status == GPUMC_OK || !writer->defers)
    return status;
  writer->failure = *error;
  *error = (struct gpumc_error){0};
  return GPUMC_OK;
}

static enum gpumc_status declare(struct gpumc_checkpoint_writer *writer, const char *name,
                                 enum gpumc_element element, size_t rows, size_t width,
                                 struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  hsize_t shape[2] = {rows, width};
  hid_t data = H5I_INVALID_HID;
  hid_t space = H5Screate_simple(2, shape, NULL);
  hid_t links = gpumc_hdf5_intermediate_groups();
  if (space >= 0 && links >= 0)
    data = H5Dcreate2(writer->file->id, name, type_of(element).stored, space, links, H5P_DEFAULT,
                      H5P_DEFAULT);
  gpumc_hdf5_release(data);
  gpumc_hdf5_release(links);
  gpumc_hdf5_release(space);
  return data < 0 ? gpumc_hdf5_error(writer->file, error, "write %s", name)
                  : gpumc_hdf5_check(writer->file, error);
}

static bool write_slice(hid_t data, hid_t type, size_t first, size_t count, const void *values)
{
  hsize_t shape[2] = {0, 0};
  hid_t space = H5Dget_space(data);
  bool done = false;
  if (space >= 0 && H5Sget_simple_extent_dims(space, shape, NULL) == 2) {
    hsize_t start[2] = {first, 0};
    hsize_t extent[2] = {count, shape[1]};
    hid_t memory = H5Screate_simple(2, extent, NULL);
    done = memory >= 0 && first + count <= shape[0] &&
           H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, extent, NULL) >= 0 &&
           H5Dwrite(data, type, memory, space, H5P_DEFAULT, values) >= 0;
    gpumc_hdf5_release(memory);
  }
  gpumc_hdf5_release(space);
  return done;
}

enum gpumc_status gpumc_checkpoint_declare(struct gpumc_checkpoint_writer *writer, const char *name,
                                           enum gpumc_element element, size_t rows, size_t width,
                                           struct gpumc_error *error)
{
  return is_done(writer) ? GPUMC_OK
                         : defer(writer, declare(writer, name, element, rows, width, error), error);
}

static enum gpumc_status put_rows(struct gpumc_checkpoint_writer *writer, const char *name,
                                  size_t first, size_t count, const void *values,
                                  struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  hid_t data = H5Dopen2(writer->file->id, name, H5P_DEFAULT);
  if (data < 0)
    return gpumc_hdf5_error(writer->file, error, "write %s", name);
  hid_t stored = H5Dget_type(data);
  hid_t native = H5Tget_native_type(stored, H5T_DIR_DEFAULT);
  enum gpumc_status status = GPUMC_OK;
  if (native < 0 || !write_slice(data, native, first, count, values))
    status = gpumc_hdf5_error(writer->file, error, "write the rows from %zu to %zu of %s", first,
                              first + count, name);
  else
    status = gpumc_hdf5_check(writer->file, error);
  gpumc_hdf5_release(native);
  gpumc_hdf5_release(stored);
  gpumc_hdf5_release(data);
  return status;
}

enum gpumc_status gpumc_checkpoint_put_rows(struct gpumc_checkpoint_writer *writer,
                                            const char *name, size_t first, size_t count,
                                            const void *values, struct gpumc_error *error)
{
  return count == 0 || is_done(writer)
             ? GPUMC_OK
             : defer(writer, put_rows(writer, name, first, count, values, error), error);
}

enum gpumc_status gpumc_checkpoint_put(struct gpumc_checkpoint_writer *writer, const char *name,
                                       enum gpumc_element element, size_t rows, size_t width,
                                       const void *values, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_checkpoint_declare(writer, name, element, rows, width, error));
  if (rows == 0 || width == 0)
    return GPUMC_OK;
  return gpumc_checkpoint_put_rows(writer, name, 0, rows, values, error);
}

enum gpumc_status gpumc_checkpoint_put_text(struct gpumc_checkpoint_writer *writer,
                                            const char *name, const char *text,
                                            struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  return is_done(writer)
             ? GPUMC_OK
             : defer(writer, gpumc_hdf5_put_text(writer->file, name, text, error), error);
}

enum gpumc_status
gpumc_checkpoint_commit(struct gpumc_checkpoint_writer *writer, struct gpumc_error *error)
{
  struct gpumc_hdf5_file *file = writer->file;
  enum gpumc_status status = GPUMC_OK;
  if (writer->silent)
    goto out;
  if (writer->failure.message != NULL) {
    gpumc_error_free(error);
    *error = writer->failure;
    writer->failure = (struct gpumc_error){0};
    status = error->status;
    goto out;
  }
  writer->file = NULL;
  GPUMC_TRY_OUT(status, gpumc_hdf5_close(file, error));
  GPUMC_TRY_OUT(status, gpumc_checkpoint_seal(writer->written, error));
  status = gpumc_file_publish(writer->written, writer->path, error);
out:
  gpumc_checkpoint_abandon(writer);
  return status;
}

void gpumc_checkpoint_abandon(struct gpumc_checkpoint_writer *writer)
{
  if (writer == NULL)
    return;
  gpumc_hdf5_discard(writer->file);
  /* After a commit it has its final name, and there is nothing to remove. */
  if (writer->begun)
    unlink(writer->written);
  gpumc_error_free(&writer->failure);
  free(writer->written);
  free(writer->path);
  free(writer);
}

/* ---- reading, verified ---- */

struct gpumc_checkpoint_reader {
  struct gpumc_hdf5_file *file;            /* NULL: another process has it open */
  const struct gpumc_processes *processes; /* that read together; NULL: only this one */
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

/* Opens an array and reads its two extents; negative with the error set. */
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

enum gpumc_status gpumc_checkpoint_share(struct gpumc_checkpoint_reader **reader,
                                         const struct gpumc_processes *processes,
                                         struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  if (*reader == NULL)
    status = gpumc_allocate_array(reader, 1, "a checkpoint reader", error);
  GPUMC_TRY(gpumc_processes_agree(processes, status, error));
  (*reader)->processes = processes;
  return GPUMC_OK;
}

/* Gives all processes the data, or the failure, of the process that has the file. */
static enum gpumc_status spread(const struct gpumc_checkpoint_reader *reader,
                                enum gpumc_status status, void *bytes, size_t count,
                                struct gpumc_error *error)
{
  if (reader->processes == NULL)
    return status;
  GPUMC_TRY(gpumc_processes_agree(reader->processes, status, error));
  gpumc_processes_broadcast(reader->processes, bytes, count, 0);
  return GPUMC_OK;
}

static enum gpumc_status read_shape(struct gpumc_checkpoint_reader *reader, const char *name,
                                    size_t shape_read[2], struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  hsize_t shape[2] = {0, 0};
  hid_t data = open_array(reader, name, shape, error);
  if (data < 0)
    return GPUMC_FAILURE;
  gpumc_hdf5_release(data);
  shape_read[0] = (size_t)shape[0];
  shape_read[1] = (size_t)shape[1];
  return GPUMC_OK;
}

enum gpumc_status gpumc_checkpoint_shape(struct gpumc_checkpoint_reader *reader, const char *name,
                                         size_t *rows, size_t *width, struct gpumc_error *error)
{
  size_t shape[2] = {0, 0};
  const enum gpumc_status status =
      reader->file != NULL ? read_shape(reader, name, shape, error) : GPUMC_OK;
  GPUMC_TRY(spread(reader, status, shape, sizeof shape, error));
  *rows = shape[0];
  *width = shape[1];
  return GPUMC_OK;
}

static const char *stored_name(hid_t type)
{
  for (enum gpumc_element element = GPUMC_UINT8; element <= GPUMC_FLOAT64; element++)
    if (H5Tequal(type, type_of(element).stored) > 0)
      return type_of(element).name;
  return "another type";
}

static enum gpumc_status check_array(const struct gpumc_hdf5_file *file, const char *name,
                                     hid_t data, const hsize_t shape[2], enum gpumc_element element,
                                     size_t first, size_t count, size_t width,
                                     struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  struct element_type wanted = type_of(element);
  hid_t type = H5Dget_type(data);
  if (H5Tequal(type, wanted.stored) <= 0)
    status = gpumc_error_set(error, GPUMC_FAILURE, "%s: %s is of %s, not of %s", file->path, name,
                             stored_name(type), wanted.name);
  else if (shape[1] != width)
    status = gpumc_error_set(error, GPUMC_FAILURE, "%s: %s has %llu values per row, not %zu",
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

static enum gpumc_status read_rows(struct gpumc_checkpoint_reader *reader, const char *name,
                                   enum gpumc_element element, size_t first, size_t count,
                                   size_t width, void *values, struct gpumc_error *error)
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
    status = read_slice(reader->file, name, data, type_of(element).native, first, count, width,
                        values, error);
out:
  gpumc_hdf5_release(data);
  return status;
}

enum gpumc_status gpumc_checkpoint_get_rows(struct gpumc_checkpoint_reader *reader,
                                            const char *name, enum gpumc_element element,
                                            size_t first, size_t count, size_t width, void *values,
                                            struct gpumc_error *error)
{
  const enum gpumc_status status =
      reader->file != NULL ? read_rows(reader, name, element, first, count, width, values, error)
                           : GPUMC_OK;
  return spread(reader, status, values, count * width * H5Tget_size(type_of(element).native),
                error);
}

enum gpumc_status gpumc_checkpoint_get_text(struct gpumc_checkpoint_reader *reader,
                                            const char *name, char **text,
                                            struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  size_t length = 0;
  enum gpumc_status status = GPUMC_OK;
  if (reader->file != NULL)
    status = gpumc_hdf5_get_text(reader->file, name, text, error);
  if (reader->processes == NULL)
    return status;
  if (reader->file != NULL && status == GPUMC_OK)
    length = strlen(*text) + 1;
  GPUMC_TRY(spread(reader, status, &length, sizeof length, error));
  if (reader->file == NULL)
    status = gpumc_allocate_array(text, length, name, error);
  return spread(reader, status, *text, length, error);
}

void gpumc_checkpoint_close(struct gpumc_checkpoint_reader *reader)
{
  if (reader == NULL)
    return;
  gpumc_hdf5_discard(reader->file);
  free(reader);
}
