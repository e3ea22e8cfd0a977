/* Writing checkpoints: an HDF5 file beside the name, sealed, then put in place. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/files.h"
#include "core/base/memory.h"
#include "core/storage/checkpoint_file.h"
#include "core/storage/hdf5_values.h"
#include "core/storage/side_files.h"

struct gpumc_checkpoint_writer {
  char *path;
  char *written; /* PATH.new */
  bool begun;    /* what is there is ours */
  struct gpumc_hdf5_file *file;
};

enum gpumc_status gpumc_checkpoint_begin(const char *path, struct gpumc_checkpoint_writer **writer,
                                         struct gpumc_error *error)
{
  enum gpumc_status status = gpumc_allocate_array(writer, 1, "a checkpoint writer", error);
  if (status != GPUMC_OK)
    return status;
  struct gpumc_checkpoint_writer *made = *writer;
  status = GPUMC_FAILURE;
  made->path = gpumc_path_with_suffix(path, "", error);
  made->written = gpumc_path_with_suffix(path, ".new", error);
  if (made->path != NULL && made->written != NULL)
    status = gpumc_side_file_check(path, GPUMC_SIDE_CHECKPOINT, error);
  if (status == GPUMC_OK)
    status = gpumc_side_file_check(made->written, GPUMC_SIDE_CHECKPOINT, error);
  made->begun = status == GPUMC_OK;
  if (status == GPUMC_OK)
    status = gpumc_hdf5_create(made->written, GPUMC_CHECKPOINT_BLOCK, GPUMC_CHECKPOINT_MARK,
                               &made->file, error);
  if (status != GPUMC_OK) {
    gpumc_checkpoint_abandon(made);
    *writer = NULL;
  }
  return status;
}

enum gpumc_status gpumc_checkpoint_declare(struct gpumc_checkpoint_writer *writer, const char *name,
                                           enum gpumc_element element, size_t rows, size_t width,
                                           struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  enum gpumc_status status = GPUMC_OK;
  hsize_t shape[2] = {rows, width};
  hid_t data = H5I_INVALID_HID;
  hid_t space = H5Screate_simple(2, shape, NULL);
  hid_t links = gpumc_hdf5_intermediate_groups();
  if (space >= 0 && links >= 0)
    data = H5Dcreate2(writer->file->id, name, gpumc_checkpoint_element(element).stored, space,
                      links, H5P_DEFAULT, H5P_DEFAULT);
  if (data < 0)
    status = gpumc_hdf5_error(writer->file, error, "write %s", name);
  gpumc_hdf5_release(data);
  gpumc_hdf5_release(links);
  gpumc_hdf5_release(space);
  return status == GPUMC_OK ? gpumc_hdf5_check(writer->file, error) : status;
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

enum gpumc_status gpumc_checkpoint_put_rows(struct gpumc_checkpoint_writer *writer,
                                            const char *name, size_t first, size_t count,
                                            const void *values, struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  if (count == 0)
    return GPUMC_OK;
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

enum gpumc_status gpumc_checkpoint_put(struct gpumc_checkpoint_writer *writer, const char *name,
                                       enum gpumc_element element, size_t rows, size_t width,
                                       const void *values, struct gpumc_error *error)
{
  enum gpumc_status status = gpumc_checkpoint_declare(writer, name, element, rows, width, error);
  if (status != GPUMC_OK || rows == 0 || width == 0)
    return status;
  return gpumc_checkpoint_put_rows(writer, name, 0, rows, values, error);
}

enum gpumc_status gpumc_checkpoint_put_text(struct gpumc_checkpoint_writer *writer,
                                            const char *name, const char *text,
                                            struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  return gpumc_hdf5_put_text(writer->file, name, text, error);
}

enum gpumc_status
gpumc_checkpoint_commit(struct gpumc_checkpoint_writer *writer, struct gpumc_error *error)
{
  struct gpumc_hdf5_file *file = writer->file;
  writer->file = NULL;
  enum gpumc_status status = gpumc_hdf5_close(file, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_seal(writer->written, error);
  if (status == GPUMC_OK)
    status = gpumc_file_publish(writer->written, writer->path, error);
  gpumc_checkpoint_abandon(writer);
  return status;
}

void gpumc_checkpoint_abandon(struct gpumc_checkpoint_writer *writer)
{
  if (writer == NULL)
    return;
  gpumc_hdf5_discard(writer->file);
  /* After a commit it has its name already, and there is nothing to remove. */
  if (writer->begun)
    unlink(writer->written);
  free(writer->written);
  free(writer->path);
  free(writer);
}
