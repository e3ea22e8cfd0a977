/* Numeric datasets of a group with their labels and values. */
#include "core/storage/result_datasets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/storage/hdf5_dataset.h"
#include "core/storage/hdf5_values.h"

/* More than any summary; what claims to be larger is damaged or not a summary. */
enum { MOST_VALUES = 1 << 27 };

/* `prefix`: "GROUP/" within a group of summary, or "". */
struct walk {
  const struct gpumc_hdf5_file *file;
  const char *prefix;
  struct gpumc_result *result;
  struct gpumc_error *error;
  enum gpumc_status status;
};

void gpumc_result_dataset_free(struct gpumc_result_dataset *dataset)
{
  free(dataset->name);
  free(dataset->long_name);
  free(dataset->units);
  free(dataset->symbol);
  free(dataset->values);
  memset(dataset, 0, sizeof *dataset);
}

/* Rank, shape and type; false when it is not a numeric dataset of rank 0 to 2. */
static bool read_shape(hid_t data, struct gpumc_result_dataset *dataset)
{
  hsize_t shape[H5S_MAX_RANK] = {1, 1};
  hid_t space = H5Dget_space(data);
  hid_t type = H5Dget_type(data);
  int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
  H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
  bool numeric = class == H5T_FLOAT || class == H5T_INTEGER;
  bool fits = rank >= 0 && rank <= 2 && H5Sget_simple_extent_dims(space, shape, NULL) == rank &&
              H5Sget_simple_extent_type(space) != H5S_NULL;
  gpumc_hdf5_release(type);
  gpumc_hdf5_release(space);
  if (!numeric || !fits)
    return false;
  dataset->rank = (size_t)rank;
  dataset->shape[0] = rank > 0 ? (size_t)shape[0] : 1;
  dataset->shape[1] = rank > 1 ? (size_t)shape[1] : 1;
  dataset->integer = class == H5T_INTEGER;
  return true;
}

static enum gpumc_status read_values(const struct gpumc_hdf5_file *file, hid_t data,
                                     struct gpumc_result_dataset *dataset,
                                     struct gpumc_error *error)
{
  size_t count;
  if (__builtin_mul_overflow(dataset->shape[0], dataset->shape[1], &count) || count > MOST_VALUES)
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: summary/%s is too large to be right",
                           file->path, dataset->name);
  enum gpumc_status status = gpumc_allocate_array(&dataset->values, count, dataset->name, error);
  if (status == GPUMC_OK && count > 0 &&
      H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, dataset->values) < 0)
    status = gpumc_hdf5_error(file, error, "read summary/%s", dataset->name);
  return status;
}

static char *label_of(hid_t data, const char *name)
{
  char *text = gpumc_hdf5_attribute_text(data, name);
  return text != NULL ? text : strdup("");
}

enum gpumc_status gpumc_result_describe_dataset(const struct gpumc_hdf5_file *file, hid_t data,
                                                const char *name,
                                                struct gpumc_result_dataset *dataset, bool *numeric,
                                                struct gpumc_error *error)
{
  memset(dataset, 0, sizeof *dataset);
  *numeric = false;
  if (gpumc_hdf5_check_dataset(file, data, name, error) != GPUMC_OK)
    return GPUMC_FAILURE;
  *numeric = read_shape(data, dataset);
  if (!*numeric)
    return GPUMC_OK;
  dataset->name = strdup(name);
  dataset->long_name = label_of(data, "long_name");
  dataset->units = label_of(data, "units");
  dataset->symbol = label_of(data, "symbol");
  if (dataset->name != NULL && dataset->long_name != NULL && dataset->units != NULL &&
      dataset->symbol != NULL)
    return GPUMC_OK;
  gpumc_result_dataset_free(dataset);
  return gpumc_error_set(error, GPUMC_FAILURE, "%s: out of memory", file->path);
}

static enum gpumc_status add_dataset(struct walk *walk, hid_t data, const char *name)
{
  struct gpumc_result *result = walk->result;
  struct gpumc_result_dataset dataset;
  bool numeric;
  char path[BUFSIZ];
  snprintf(path, sizeof path, "%s%s", walk->prefix, name);
  enum gpumc_status status =
      gpumc_result_describe_dataset(walk->file, data, path, &dataset, &numeric, walk->error);
  if (status != GPUMC_OK || !numeric)
    return status;
  struct gpumc_result_dataset *items =
      realloc(result->datasets, (result->n_datasets + 1) * sizeof *items);
  if (items != NULL)
    result->datasets = items;
  else
    status = gpumc_error_set(walk->error, GPUMC_FAILURE, "%s: out of memory", walk->file->path);
  if (status == GPUMC_OK)
    status = read_values(walk->file, data, &dataset, walk->error);
  if (status == GPUMC_OK)
    result->datasets[result->n_datasets++] = dataset;
  else
    gpumc_result_dataset_free(&dataset);
  return status;
}

static herr_t visit(hid_t group, const char *name, const H5L_info_t *link, void *state);

/* One level deep: a group of datasets over an axis of their own. */
static enum gpumc_status add_group(const struct walk *walk, hid_t group, const char *name)
{
  char *prefix = NULL;
  if (walk->prefix[0] != '\0')
    return GPUMC_OK;
  if (asprintf(&prefix, "%s/", name) < 0)
    return gpumc_error_set(walk->error, GPUMC_FAILURE, "%s: out of memory", walk->file->path);
  struct walk inner = {walk->file, prefix, walk->result, walk->error, GPUMC_OK};
  if (H5Literate(group, H5_INDEX_CRT_ORDER, H5_ITER_INC, NULL, visit, &inner) < 0 &&
      inner.status == GPUMC_OK)
    inner.status = gpumc_hdf5_error(walk->file, walk->error, "list summary/%s", name);
  free(prefix);
  return inner.status;
}

static herr_t visit(hid_t group, const char *name, const H5L_info_t *link, void *state)
{
  struct walk *walk = state;
  if (link->type != H5L_TYPE_HARD)
    return 0;
  hid_t object = H5Oopen(group, name, H5P_DEFAULT);
  if (object < 0) {
    walk->status = gpumc_hdf5_error(walk->file, walk->error, "read summary/%s", name);
    return -1;
  }
  if (H5Iget_type(object) == H5I_DATASET)
    walk->status = add_dataset(walk, object, name);
  else if (H5Iget_type(object) == H5I_GROUP)
    walk->status = add_group(walk, object, name);
  gpumc_hdf5_release(object);
  return walk->status == GPUMC_OK ? 0 : -1;
}

enum gpumc_status gpumc_result_read_datasets(const struct gpumc_hdf5_file *file, hid_t group,
                                             struct gpumc_result *result, struct gpumc_error *error)
{
  struct walk walk = {file, "", result, error, GPUMC_OK};
  if (H5Literate(group, H5_INDEX_CRT_ORDER, H5_ITER_INC, NULL, visit, &walk) >= 0)
    return GPUMC_OK;
  return walk.status != GPUMC_OK ? walk.status : gpumc_hdf5_error(file, error, "list summary");
}
