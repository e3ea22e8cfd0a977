/* What is added when the tables are closed: datasets and attributes. */
#include <assert.h>

#include "core/storage/hdf5_values.h"
#include "core/storage/recorder_dataset.h"
#include "core/storage/recorder_state.h"

/* Values of a row. */
static size_t row_width(const struct gpumc_dataset *dataset)
{
  size_t width = 1;
  for (size_t d = 1; d < dataset->rank; d++)
    width *= dataset->shape[d];
  return width;
}

static enum gpumc_status write_dataset(const struct gpumc_hdf5_file *file, hid_t group,
                                       const struct gpumc_dataset *dataset,
                                       struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  hsize_t shape[GPUMC_DATASET_RANK_MAXIMUM];
  const size_t rows = dataset->rank > 0 ? dataset->shape[0] : 1;
  for (size_t d = 0; d < dataset->rank; d++)
    shape[d] = dataset->shape[d];
  hid_t data = gpumc_dataset_create(file, group, dataset->group, &dataset->label, dataset->rank,
                                    shape, 0, dataset->integer, error);
  if (data < 0)
    return GPUMC_FAILURE;
  for (unsigned i = 0; i < dataset->rank && status == GPUMC_OK; i++)
    if (dataset->axes[i] != NULL)
      status = gpumc_dataset_attach(file, data, i, dataset->axes[i], error);
  if (status == GPUMC_OK && dataset->values != NULL)
    status = gpumc_dataset_write(file, data, dataset->label.name, dataset->integer, 0, rows,
                                 row_width(dataset), dataset->values, error);
  gpumc_hdf5_release(data);
  return status;
}

enum gpumc_status gpumc_recorder_dataset(struct gpumc_recorder *recorder,
                                         const struct gpumc_dataset *dataset,
                                         struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  assert(recorder->phase == GPUMC_RECORDER_SUMMARIZING &&
         dataset->rank <= GPUMC_DATASET_RANK_MAXIMUM);
  hid_t group = gpumc_hdf5_group(recorder->file->id, dataset->group);
  if (group < 0)
    return gpumc_hdf5_error(recorder->file, error, "make the group %s", dataset->group);
  enum gpumc_status status = write_dataset(recorder->file, group, dataset, error);
  gpumc_hdf5_release(group);
  return status;
}

enum gpumc_status gpumc_recorder_dataset_rows(struct gpumc_recorder *recorder,
                                              const struct gpumc_dataset *dataset, size_t first,
                                              size_t count, const double *values,
                                              struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  const struct gpumc_hdf5_file *file = recorder->file;
  const char *name = dataset->label.name;
  assert(recorder->phase == GPUMC_RECORDER_SUMMARIZING && dataset->rank > 0 &&
         first + count <= dataset->shape[0]);
  hid_t data = H5I_INVALID_HID, group = H5Gopen2(file->id, dataset->group, H5P_DEFAULT);
  if (group >= 0)
    data = H5Dopen2(group, name, H5P_DEFAULT);
  enum gpumc_status status =
      data < 0 ? gpumc_hdf5_error(file, error, "open the dataset %s in %s", name, dataset->group)
               : gpumc_dataset_write(file, data, name, dataset->integer, first, count,
                                     row_width(dataset), values, error);
  gpumc_hdf5_release(data);
  gpumc_hdf5_release(group);
  return status;
}

static enum gpumc_status set_attribute(struct gpumc_recorder *recorder,
                                       const struct gpumc_attribute *attribute,
                                       struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  if (recorder->phase == GPUMC_RECORDER_DECLARING)
    return gpumc_attribute_keep(&recorder->attributes, attribute, error);
  assert(recorder->phase == GPUMC_RECORDER_SUMMARIZING);
  return gpumc_attribute_write(recorder->file, attribute, error);
}

enum gpumc_status gpumc_recorder_text(struct gpumc_recorder *recorder, const char *path,
                                      const char *name, const char *value,
                                      struct gpumc_error *error)
{
  struct gpumc_attribute attribute = {GPUMC_ATTRIBUTE_TEXT, path, name, value, 0, 0};
  return set_attribute(recorder, &attribute, error);
}

enum gpumc_status gpumc_recorder_number(struct gpumc_recorder *recorder, const char *path,
                                        const char *name, double value, struct gpumc_error *error)
{
  struct gpumc_attribute attribute = {GPUMC_ATTRIBUTE_NUMBER, path, name, NULL, value, 0};
  return set_attribute(recorder, &attribute, error);
}

enum gpumc_status gpumc_recorder_integer(struct gpumc_recorder *recorder, const char *path,
                                         const char *name, int64_t value, struct gpumc_error *error)
{
  struct gpumc_attribute attribute = {GPUMC_ATTRIBUTE_INTEGER, path, name, NULL, 0, value};
  return set_attribute(recorder, &attribute, error);
}
