/* How far the runs of an unfinished result are: the rows of each, and the last one. */
#include "core/storage/result_runs.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/storage/hdf5_values.h"
#include "core/storage/result_datasets.h"

struct walk {
  const struct gpumc_hdf5_file *file;
  struct gpumc_result *result;
  struct gpumc_result_run *run; /* the one whose columns are read */
  struct gpumc_error *error;
  enum gpumc_status status;
};

/* A column grows with the rows; an axis across a column is as long as it is. */
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

static enum gpumc_status add_column(struct walk *walk, hid_t data, const char *name)
{
  struct gpumc_result_run *run = walk->run;
  struct gpumc_result_dataset column;
  bool numeric;
  enum gpumc_status status =
      gpumc_result_describe_dataset(walk->file, data, name, &column, &numeric, walk->error);
  if (status != GPUMC_OK || !numeric)
    return status;
  /* The writer stores the axis last: a row stands in all columns once it stands there. */
  bool is_axis = run->n_columns == 0;
  if (is_axis && column.rank == 1)
    run->n_rows = column.shape[0];
  if (column.rank != 1 || column.shape[0] < run->n_rows || !grows(data)) {
    gpumc_result_dataset_free(&column);
    return GPUMC_OK;
  }
  struct gpumc_result_dataset *items = realloc(run->columns, (run->n_columns + 1) * sizeof *items);
  if (items != NULL)
    run->columns = items;
  status = items == NULL
               ? gpumc_error_set(walk->error, GPUMC_FAILURE, "%s: out of memory", walk->file->path)
               : gpumc_allocate_array(&column.values, 1, name, walk->error);
  column.shape[0] = run->n_rows > 0;
  if (status == GPUMC_OK && run->n_rows > 0 && !read_element(data, run->n_rows - 1, column.values))
    status = gpumc_hdf5_error(walk->file, walk->error, "read runs/%s/%s", run->name, name);
  if (status == GPUMC_OK)
    run->columns[run->n_columns++] = column;
  else
    gpumc_result_dataset_free(&column);
  return status;
}

static herr_t visit_column(hid_t group, const char *name, const H5L_info_t *link, void *state)
{
  struct walk *walk = state;
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

static enum gpumc_status read_run(struct walk *walk, hid_t group)
{
  if (H5Literate(group, H5_INDEX_CRT_ORDER, H5_ITER_INC, NULL, visit_column, walk) >= 0)
    return GPUMC_OK;
  return walk->status != GPUMC_OK
             ? walk->status
             : gpumc_hdf5_error(walk->file, walk->error, "list runs/%s", walk->run->name);
}

static herr_t visit_run(hid_t runs, const char *name, const H5L_info_t *link, void *state)
{
  struct walk *walk = state;
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

enum gpumc_status gpumc_result_read_runs(const struct gpumc_hdf5_file *file, hid_t group,
                                         struct gpumc_result *result, struct gpumc_error *error)
{
  struct walk walk = {.file = file, .result = result, .error = error, .status = GPUMC_OK};
  if (H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_run, &walk) >= 0)
    return GPUMC_OK;
  return walk.status != GPUMC_OK ? walk.status : gpumc_hdf5_error(file, error, "list runs");
}

void gpumc_result_runs_free(struct gpumc_result *result)
{
  for (size_t i = 0; result->runs != NULL && i < result->n_runs; i++) {
    struct gpumc_result_run *run = &result->runs[i];
    for (size_t c = 0; c < run->n_columns; c++)
      gpumc_result_dataset_free(&run->columns[c]);
    free(run->columns);
    free(run->name);
  }
  free(result->runs);
  result->runs = NULL;
  result->n_runs = 0;
}
