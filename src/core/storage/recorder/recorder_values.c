/* What a recorder writes to a result beside its tables: datasets, and attributes by path. */
#include "core/storage/recorder/recorder_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/storage/hdf5_values.h"

/* Returns the number of values in a row. */
static size_t row_width(const struct gpumc_dataset *dataset)
{
  size_t width = 1;
  for (size_t d = 1; d < dataset->rank; d++)
    width *= dataset->shape[d];
  return width;
}

void gpumc_recorder_leave_place(struct gpumc_recorder *recorder)
{
  if (recorder->place_path != NULL)
    gpumc_hdf5_release(recorder->place);
  free(recorder->place_path);
  recorder->place_path = NULL;
}

/* Opens the object at `path`, creating it as a group if it is missing, and keeps it open until
 * another one is written to. */
static hid_t open_place(struct gpumc_recorder *recorder, const char *path)
{
  const struct gpumc_hdf5_file *file = recorder->file;
  if (recorder->place_path != NULL && strcmp(recorder->place_path, path) == 0)
    return recorder->place;
  gpumc_recorder_leave_place(recorder);
  if (strcmp(path, "/") != 0 && gpumc_hdf5_exists(file->id, path))
    recorder->place = H5Oopen(file->id, path, H5P_DEFAULT);
  else
    recorder->place = gpumc_hdf5_group(file->id, path);
  recorder->place_path = recorder->place >= 0 ? strdup(path) : NULL;
  return recorder->place;
}

static enum gpumc_status write_dataset(struct gpumc_recorder *recorder, hid_t group,
                                       const struct gpumc_dataset *dataset,
                                       struct gpumc_error *error)
{
  const struct gpumc_hdf5_file *file = recorder->file;
  const struct gpumc_label *label = &dataset->label;
  hsize_t shape[GPUMC_DATASET_RANK_MAXIMUM];
  for (size_t d = 0; d < dataset->rank; d++)
    shape[d] = dataset->shape[d];
  hid_t data = dataset->values != NULL
                   ? gpumc_dataset_put(file, group, dataset->group, label, dataset->rank, shape,
                                       dataset->integer, dataset->values, error)
                   : gpumc_dataset_create(file, group, dataset->group, label, dataset->rank, shape,
                                          0, dataset->integer, error);
  if (data < 0)
    return GPUMC_FAILURE;
  const enum gpumc_status status = gpumc_axes_attach(&recorder->axes, file, data, label->name,
                                                     dataset->rank, dataset->axes, error);
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
  hid_t group = open_place(recorder, dataset->group);
  return group >= 0
             ? write_dataset(recorder, group, dataset, error)
             : gpumc_hdf5_error(recorder->file, error, "create the group %s", dataset->group);
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

static void release_attribute(struct gpumc_attribute *attribute)
{
  free((char *)attribute->path);
  free((char *)attribute->name);
  free((char *)attribute->text);
}

static enum gpumc_status keep_attribute(struct gpumc_attribute_list *list,
                                        const struct gpumc_attribute *attribute,
                                        struct gpumc_error *error)
{
  struct gpumc_attribute copy = *attribute;
  struct gpumc_attribute *items = realloc(list->items, (list->count + 1) * sizeof *items);
  if (items != NULL)
    list->items = items;
  copy.path = strdup(attribute->path);
  copy.name = strdup(attribute->name);
  copy.text = strdup(attribute->text != NULL ? attribute->text : "");
  if (items == NULL || copy.path == NULL || copy.name == NULL || copy.text == NULL) {
    release_attribute(&copy);
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: the attribute %s of %s",
                           attribute->name, attribute->path);
  }
  list->items[list->count++] = copy;
  return GPUMC_OK;
}

enum gpumc_status gpumc_recorder_write_attribute(struct gpumc_recorder *recorder,
                                                 const struct gpumc_attribute *attribute,
                                                 struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  const struct gpumc_hdf5_file *file = recorder->file;
  hid_t object = open_place(recorder, attribute->path);
  if (object < 0)
    return gpumc_hdf5_error(file, error, "write to %s", attribute->path);
  switch (attribute->kind) {
  case GPUMC_ATTRIBUTE_TEXT:
    status =
        gpumc_hdf5_set_text(file, object, attribute->path, attribute->name, attribute->text, error);
    break;
  case GPUMC_ATTRIBUTE_NUMBER:
    status = gpumc_hdf5_set_number(file, object, attribute->path, attribute->name,
                                   attribute->number, error);
    break;
  case GPUMC_ATTRIBUTE_INTEGER:
    status = gpumc_hdf5_set_integer(file, object, attribute->path, attribute->name,
                                    attribute->integer, error);
    break;
  }
  return status;
}

void gpumc_recorder_free_attributes(struct gpumc_attribute_list *list)
{
  for (size_t i = 0; i < list->count; i++)
    release_attribute(&list->items[i]);
  free(list->items);
  memset(list, 0, sizeof *list);
}

static enum gpumc_status set_attribute(struct gpumc_recorder *recorder,
                                       const struct gpumc_attribute *attribute,
                                       struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  if (recorder->phase == GPUMC_RECORDER_DECLARING)
    return keep_attribute(&recorder->attributes, attribute, error);
  assert(recorder->phase == GPUMC_RECORDER_SUMMARIZING);
  return gpumc_recorder_write_attribute(recorder, attribute, error);
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
