/* Reads results: attributes of provenance and summary, numeric datasets, and the progress of
 * runs. */
#include "core/storage/result_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/storage/hdf5_values.h"

/* ---- attributes ---- */

/* `*group` is negative if there is none, which is not a failure. */
static enum gpumc_status open_group(const struct gpumc_hdf5_file *file, const char *path,
                                    hid_t *group, struct gpumc_error *error)
{
  bool found;
  *group = H5I_INVALID_HID;
  GPUMC_TRY(gpumc_hdf5_find(file, file->id, path, &found, error));
  if (!found)
    return GPUMC_OK;
  *group = gpumc_hdf5_open_group(file, file->id, path, error);
  return *group < 0 ? GPUMC_FAILURE : GPUMC_OK;
}

static enum gpumc_status add_field(struct gpumc_result_fields *fields, enum gpumc_field_type type,
                                   const char *name, char *value)
{
  struct gpumc_result_field *items = realloc(fields->items, (fields->count + 1) * sizeof *items);
  char *copy = strdup(name);
  if (items != NULL)
    fields->items = items;
  if (items == NULL || copy == NULL) {
    free(copy);
    free(value);
    return GPUMC_FAILURE;
  }
  items[fields->count++] = (struct gpumc_result_field){type, copy, value};
  return GPUMC_OK;
}

/* Attributes that are not scalars, or cannot be read, are left out. */
static herr_t visit_attribute(hid_t object, const char *name, const H5A_info_t *info, void *state)
{
  (void)info;
  char *value = gpumc_hdf5_attribute_text(object, name);
  H5T_class_t class = gpumc_hdf5_attribute_class(object, name);
  enum gpumc_field_type type = class == H5T_INTEGER ? GPUMC_FIELD_INTEGER
                               : class == H5T_FLOAT ? GPUMC_FIELD_REAL
                                                    : GPUMC_FIELD_TEXT;
  if (value != NULL && add_field(state, type, name, value) != GPUMC_OK)
    return -1;
  return 0;
}

enum gpumc_status gpumc_result_read_fields(const struct gpumc_hdf5_file *file, const char *path,
                                           struct gpumc_result_fields *fields,
                                           struct gpumc_error *error)
{
  hid_t group;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY(open_group(file, path, &group, error));
  if (group < 0)
    return GPUMC_OK;
  if (H5Aiterate2(group, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_attribute, fields) < 0)
    status = gpumc_hdf5_error(file, error, "read the attributes of %s", path);
  gpumc_hdf5_release(group);
  return status;
}

void gpumc_result_fields_free(struct gpumc_result_fields *fields)
{
  for (size_t i = 0; i < fields->count; i++) {
    free(fields->items[i].name);
    free(fields->items[i].value);
  }
  free(fields->items);
  memset(fields, 0, sizeof *fields);
}

/* ---- the members of a group, and numeric datasets ---- */

/* Larger than any summary; anything that claims to be larger is damaged or not a summary. */
enum { MOST_VALUES = 1 << 27 };

/* `prefix`: "GROUP/" within a group of the summary, or "". */
struct group_walk {
  const struct gpumc_hdf5_file *file;
  const char *prefix;
  struct gpumc_result *result;
  struct gpumc_error *error;
  enum gpumc_status status;
};

static void dataset_free(struct gpumc_result_dataset *dataset)
{
  free(dataset->name);
  free(dataset->long_name);
  free(dataset->units);
  free(dataset->symbol);
  free(dataset->values);
  memset(dataset, 0, sizeof *dataset);
}

/* Reads rank, shape and type; false if it is not a numeric dataset of rank 0 to 2. */
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
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: summary/%s is implausibly large", file->path,
                           dataset->name);
  GPUMC_TRY(gpumc_allocate_array(&dataset->values, count, dataset->name, error));
  if (count > 0 &&
      H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, dataset->values) < 0)
    return gpumc_hdf5_error(file, error, "read summary/%s", dataset->name);
  return GPUMC_OK;
}

static char *label_of(hid_t data, const char *name)
{
  char *text = gpumc_hdf5_attribute_text(data, name);
  return text != NULL ? text : strdup("");
}

/* Reads name, labels, rank and shape of a numeric dataset of rank 0 to 2, without values; otherwise
 * `*numeric` is false, and nothing is read. */
static enum gpumc_status result_describe_dataset(const struct gpumc_hdf5_file *file, hid_t data,
                                                 const char *name,
                                                 struct gpumc_result_dataset *dataset,
                                                 bool *numeric, struct gpumc_error *error)
{
  memset(dataset, 0, sizeof *dataset);
  *numeric = false;
  GPUMC_TRY(gpumc_hdf5_check_dataset(file, data, name, error));
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
  dataset_free(dataset);
  return gpumc_error_set(error, GPUMC_FAILURE, "%s: out of memory", file->path);
}

/* Makes room for one more than `count`. */
static enum gpumc_status grow(struct gpumc_result_dataset **datasets, size_t count,
                              const struct gpumc_hdf5_file *file, struct gpumc_error *error)
{
  struct gpumc_result_dataset *items = realloc(*datasets, (count + 1) * sizeof *items);
  if (items == NULL)
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: out of memory", file->path);
  *datasets = items;
  return GPUMC_OK;
}

static enum gpumc_status add_dataset(struct group_walk *walk, hid_t data, const char *name)
{
  struct gpumc_result *result = walk->result;
  struct gpumc_result_dataset dataset;
  bool numeric;
  char path[BUFSIZ];
  snprintf(path, sizeof path, "%s%s", walk->prefix, name);
  enum gpumc_status status;
  GPUMC_TRY(result_describe_dataset(walk->file, data, path, &dataset, &numeric, walk->error));
  if (!numeric)
    return GPUMC_OK;
  GPUMC_TRY_OUT(status, grow(&result->datasets, result->n_datasets, walk->file, walk->error));
  GPUMC_TRY_OUT(status, read_values(walk->file, data, &dataset, walk->error));
  result->datasets[result->n_datasets++] = dataset;
  return GPUMC_OK;
out:
  dataset_free(&dataset);
  return status;
}

static herr_t visit(hid_t group, const char *name, const H5L_info_t *link, void *state);

/* One level deep: adds a group of datasets over an axis of their own. */
static enum gpumc_status add_group(const struct group_walk *walk, hid_t group, const char *name)
{
  char *prefix = NULL;
  if (walk->prefix[0] != '\0')
    return GPUMC_OK;
  if (asprintf(&prefix, "%s/", name) < 0)
    return gpumc_error_set(walk->error, GPUMC_FAILURE, "%s: out of memory", walk->file->path);
  struct group_walk inner = {walk->file, prefix, walk->result, walk->error, GPUMC_OK};
  if (H5Literate(group, H5_INDEX_CRT_ORDER, H5_ITER_INC, NULL, visit, &inner) < 0 &&
      inner.status == GPUMC_OK)
    inner.status = gpumc_hdf5_error(walk->file, walk->error, "list summary/%s", name);
  free(prefix);
  return inner.status;
}

static herr_t visit(hid_t group, const char *name, const H5L_info_t *link, void *state)
{
  struct group_walk *walk = state;
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

static enum gpumc_status read_datasets(const struct gpumc_hdf5_file *file, hid_t group,
                                       struct gpumc_result *result, struct gpumc_error *error)
{
  struct group_walk walk = {file, "", result, error, GPUMC_OK};
  if (H5Literate(group, H5_INDEX_CRT_ORDER, H5_ITER_INC, NULL, visit, &walk) >= 0)
    return GPUMC_OK;
  GPUMC_TRY(walk.status);
  return gpumc_hdf5_error(file, error, "list summary");
}

static enum gpumc_status read_summary(const struct gpumc_hdf5_file *file,
                                      struct gpumc_result *result, struct gpumc_error *error)
{
  hid_t group;
  GPUMC_TRY(open_group(file, "summary", &group, error));
  if (group < 0)
    return GPUMC_OK;
  const enum gpumc_status status = read_datasets(file, group, result, error);
  gpumc_hdf5_release(group);
  return status;
}

/* ---- the progress of the runs of an unfinished result ---- */

struct run_walk {
  const struct gpumc_hdf5_file *file;
  struct gpumc_result *result;
  struct gpumc_result_run *run; /* the run whose columns are being read */
  struct gpumc_error *error;
  enum gpumc_status status;
};

/* A column grows with the rows; an axis across a column has fixed length. */
static bool grows(hid_t data)
{
  hsize_t shape[H5S_MAX_RANK], limit[H5S_MAX_RANK] = {0};
  hid_t space = H5Dget_space(data);
  int rank = space < 0 ? -1 : H5Sget_simple_extent_dims(space, shape, limit);
  gpumc_hdf5_release(space);
  return rank > 0 && limit[0] == H5S_UNLIMITED;
}

static bool read_element(hid_t data, size_t row, double *value)
{
  hsize_t start[1] = {row}, count[1] = {1};
  hid_t memory = H5Screate(H5S_SCALAR);
  hid_t space = H5Dget_space(data);
  bool done = space >= 0 &&
              H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
              H5Dread(data, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, value) >= 0;
  gpumc_hdf5_release(space);
  gpumc_hdf5_release(memory);
  return done;
}

static enum gpumc_status add_column(struct run_walk *walk, hid_t data, const char *name)
{
  struct gpumc_result_run *run = walk->run;
  struct gpumc_result_dataset column;
  bool numeric;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY(result_describe_dataset(walk->file, data, name, &column, &numeric, walk->error));
  if (!numeric)
    return GPUMC_OK;
  /* The writer stores the axis last: a row that is there is in all columns. */
  bool is_axis = run->n_columns == 0;
  if (is_axis && column.rank == 1)
    run->n_rows = column.shape[0];
  if (column.rank != 1 || column.shape[0] < run->n_rows || !grows(data))
    goto out;
  GPUMC_TRY_OUT(status, grow(&run->columns, run->n_columns, walk->file, walk->error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&column.values, 1, name, walk->error));
  column.shape[0] = run->n_rows > 0;
  if (run->n_rows > 0 && !read_element(data, run->n_rows - 1, column.values))
    GPUMC_TRY_OUT(status,
                  gpumc_hdf5_error(walk->file, walk->error, "read runs/%s/%s", run->name, name));
  run->columns[run->n_columns++] = column;
  return GPUMC_OK;
out:
  dataset_free(&column);
  return status;
}

static herr_t visit_column(hid_t group, const char *name, const H5L_info_t *link, void *state)
{
  struct run_walk *walk = state;
  if (link->type != H5L_TYPE_HARD)
    return 0;
  hid_t object = H5Oopen(group, name, H5P_DEFAULT);
  if (object < 0)
    walk->status =
        gpumc_hdf5_error(walk->file, walk->error, "read runs/%s/%s", walk->run->name, name);
  else if (H5Iget_type(object) == H5I_DATASET)
    walk->status = add_column(walk, object, name);
  H5Oclose(object);
  return walk->status == GPUMC_OK ? 0 : -1;
}

static enum gpumc_status read_run(struct run_walk *walk, hid_t group)
{
  if (H5Literate(group, H5_INDEX_CRT_ORDER, H5_ITER_INC, NULL, visit_column, walk) >= 0)
    return GPUMC_OK;
  GPUMC_TRY(walk->status);
  return gpumc_hdf5_error(walk->file, walk->error, "list runs/%s", walk->run->name);
}

static herr_t visit_run(hid_t runs, const char *name, const H5L_info_t *link, void *state)
{
  struct run_walk *walk = state;
  struct gpumc_result *result = walk->result;
  struct gpumc_result_run *items = realloc(result->runs, (result->n_runs + 1) * sizeof *items);
  char *copy = strdup(name);
  if (items != NULL)
    result->runs = items;
  if (items == NULL || copy == NULL) {
    free(copy);
    walk->status =
        gpumc_error_set(walk->error, GPUMC_FAILURE, "%s: out of memory", walk->file->path);
    return -1;
  }
  walk->run = &items[result->n_runs++];
  *walk->run = (struct gpumc_result_run){.name = copy};
  hid_t group = link->type == H5L_TYPE_HARD ? H5Gopen2(runs, name, H5P_DEFAULT) : H5I_INVALID_HID;
  if (group < 0)
    walk->status = gpumc_hdf5_error(walk->file, walk->error, "read runs/%s", name);
  else
    walk->status = read_run(walk, group);
  gpumc_hdf5_release(group);
  return walk->status == GPUMC_OK ? 0 : -1;
}

static enum gpumc_status list_runs(const struct gpumc_hdf5_file *file, hid_t group,
                                   struct gpumc_result *result, struct gpumc_error *error)
{
  struct run_walk walk = {.file = file, .result = result, .error = error, .status = GPUMC_OK};
  if (H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_run, &walk) >= 0)
    return GPUMC_OK;
  GPUMC_TRY(walk.status);
  return gpumc_hdf5_error(file, error, "list runs");
}

static enum gpumc_status read_runs(const struct gpumc_hdf5_file *file, struct gpumc_result *result,
                                   struct gpumc_error *error)
{
  H5G_info_t info;
  hid_t group;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY(open_group(file, "runs", &group, error));
  if (group < 0)
    return GPUMC_OK;
  if (!result->complete)
    status = list_runs(file, group, result, error);
  else if (H5Gget_info(group, &info) >= 0)
    result->n_runs = (size_t)info.nlinks;
  gpumc_hdf5_release(group);
  return status;
}

static void free_runs(struct gpumc_result *result)
{
  for (size_t i = 0; result->runs != NULL && i < result->n_runs; i++) {
    struct gpumc_result_run *run = &result->runs[i];
    for (size_t c = 0; c < run->n_columns; c++)
      dataset_free(&run->columns[c]);
    free(run->columns);
    free(run->name);
  }
  free(result->runs);
  result->runs = NULL;
  result->n_runs = 0;
}

enum gpumc_status gpumc_result_read_data(const struct gpumc_hdf5_file *file,
                                         struct gpumc_result *result, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_result_read_fields(file, "provenance", &result->provenance, error));
  GPUMC_TRY(gpumc_result_read_fields(file, "summary", &result->summary, error));
  GPUMC_TRY(read_summary(file, result, error));
  return read_runs(file, result, error);
}

void gpumc_result_data_free(struct gpumc_result *result)
{
  gpumc_result_fields_free(&result->provenance);
  gpumc_result_fields_free(&result->summary);
  for (size_t i = 0; i < result->n_datasets; i++)
    dataset_free(&result->datasets[i]);
  free(result->datasets);
  free_runs(result);
}
