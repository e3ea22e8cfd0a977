/* The tables of a result: groups walked, datasets put together by their axes, rows read. */
#include "core/storage/result_tables.h"

#include <hdf5_hl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/storage/hdf5_values.h"
#include "core/storage/result_info.h"

enum { RANK = GPUMC_TABLE_RANK_MAXIMUM };

/* ---- what a dataset is ---- */

/* A dataset on its way into a table. */
struct found {
  struct gpumc_result_column column;
  struct gpumc_result_column axes[RANK];
  size_t rank, shape[RANK];
};

static void column_free(struct gpumc_result_column *column)
{
  free(column->path);
  free(column->name);
  free(column->units);
  memset(column, 0, sizeof *column);
}

static void found_free(struct found *found)
{
  column_free(&found->column);
  for (size_t d = 0; d < RANK; d++)
    column_free(&found->axes[d]);
}

static enum gpumc_status
out_of_memory(const struct gpumc_hdf5_file *file, struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_FAILURE, "%s: out of memory", file->path);
}

static const char *base_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

static enum gpumc_status describe(const struct gpumc_hdf5_file *file, hid_t data, const char *path,
                                  bool integer, struct gpumc_result_column *column,
                                  struct gpumc_error *error)
{
  char *units = gpumc_hdf5_attribute_text(data, "units");
  *column = (struct gpumc_result_column){.path = strdup(path),
                                         .name = strdup(base_name(path)),
                                         .units = units != NULL ? units : strdup(""),
                                         .integer = integer};
  return column->path != NULL && column->name != NULL && column->units != NULL
             ? GPUMC_OK
             : out_of_memory(file, error);
}

/* Shape and type; `*numeric` is false of what is no number of more than a byte, or of a rank that
 * tables do not have. */
static bool read_shape(hid_t data, struct found *found, bool *numeric, bool *bytes)
{
  hsize_t shape[H5S_MAX_RANK] = {0};
  hid_t space = H5Dget_space(data), type = H5Dget_type(data);
  const int rank = space < 0 ? -1 : H5Sget_simple_extent_dims(space, shape, NULL);
  const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
  const bool number = class == H5T_FLOAT || class == H5T_INTEGER;
  *bytes = class == H5T_INTEGER && H5Tget_size(type) == 1;
  *numeric = number && !*bytes && rank >= 0 && rank <= RANK &&
             H5Sget_simple_extent_type(space) != H5S_NULL;
  gpumc_hdf5_release(type);
  gpumc_hdf5_release(space);
  found->rank = *numeric ? (size_t)rank : 0;
  for (size_t d = 0; d < found->rank; d++)
    found->shape[d] = (size_t)shape[d];
  found->column.integer = class == H5T_INTEGER;
  return rank >= 0 && class != H5T_NO_CLASS;
}

/* The path of the first scale of a dimension. */
static herr_t visit_scale(hid_t data, unsigned dimension, hid_t scale, void *state)
{
  char **path = state;
  (void)data;
  (void)dimension;
  const ssize_t length = H5Iget_name(scale, NULL, 0);
  *path = length > 0 ? calloc((size_t)length + 1, 1) : NULL;
  if (*path != NULL)
    H5Iget_name(scale, *path, (size_t)length + 1);
  return 1;
}

/* The axis of a dimension. The first dimension is as long as its axis: rows stand in all columns
 * once they stand there. */
static enum gpumc_status find_axis(const struct gpumc_hdf5_file *file, hid_t data, size_t d,
                                   struct found *found, struct gpumc_error *error)
{
  struct gpumc_result_column *axis = &found->axes[d];
  char *path = NULL;
  struct found scale = {0};
  bool numeric = false, bytes;
  if (H5DSget_num_scales(data, (unsigned)d) > 0)
    (void)H5DSiterate_scales(data, (unsigned)d, NULL, visit_scale, &path);
  if (path == NULL) {
    axis->units = strdup("1");
    return asprintf(&axis->name, "index%zu", d) >= 0 && axis->units != NULL
               ? GPUMC_OK
               : out_of_memory(file, error);
  }
  enum gpumc_status status = GPUMC_OK;
  const hid_t id = gpumc_hdf5_open_dataset(file, file->id, path, error);
  if (id < 0) {
    free(path);
    return GPUMC_FAILURE;
  }
  if (!read_shape(id, &scale, &numeric, &bytes) || !numeric || scale.rank != 1 ||
      scale.shape[0] > found->shape[d])
    status = gpumc_error_set(error, GPUMC_FAILURE, "%s: %s is not an axis of %s", file->path, path,
                             found->column.path);
  else {
    found->shape[d] = scale.shape[0];
    status = describe(file, id, path, scale.column.integer, axis, error);
  }
  gpumc_hdf5_release(id);
  free(path);
  return status;
}

/* ---- groups ---- */

/* `group`: the path of the group that is walked, without a slash at its beginning. */
struct walk {
  const struct gpumc_hdf5_file *file;
  struct gpumc_result_tables *tables;
  const char *group;
  bool bytes; /* the group has a dataset of these */
  struct gpumc_error *error;
  enum gpumc_status status;
};

static bool
is_of(const struct gpumc_result_table *table, const char *group, const struct found *found)
{
  bool same = strcmp(table->group, group) == 0 && table->rank == found->rank;
  for (size_t d = 0; d < found->rank && same; d++)
    same =
        table->shape[d] == found->shape[d] && strcmp(table->axes[d].name, found->axes[d].name) == 0;
  return same;
}

/* Makes room for one more item of an array of `count`. */
static bool grow(void *items, size_t count, size_t size)
{
  void **array = items;
  void *longer = realloc(*array, (count + 1) * size);
  if (longer != NULL)
    *array = longer;
  return longer != NULL;
}

/* The table that the dataset belongs to, a new one at need, which takes over its axes; NULL when
 * memory ran out. */
static struct gpumc_result_table *table_of(struct walk *walk, struct found *found)
{
  struct gpumc_result_tables *tables = walk->tables;
  for (size_t t = 0; t < tables->n; t++)
    if (is_of(&tables->items[t], walk->group, found))
      return &tables->items[t];
  if (!grow(&tables->items, tables->n, sizeof *tables->items))
    return NULL;
  struct gpumc_result_table *table = &tables->items[tables->n];
  *table = (struct gpumc_result_table){.group = strdup(walk->group), .rank = found->rank};
  memcpy(table->shape, found->shape, sizeof table->shape);
  memcpy(table->axes, found->axes, sizeof table->axes);
  memset(found->axes, 0, sizeof found->axes);
  tables->n++;
  return table->group != NULL ? table : NULL;
}

/* Errors go after what they are of. Takes over the column. */
static bool add_column(struct gpumc_result_table *table, struct gpumc_result_column *column)
{
  const size_t length = strlen(column->name);
  size_t place = table->n_columns;
  if (!grow(&table->columns, table->n_columns, sizeof *table->columns))
    return false;
  for (size_t c = 0; c < table->n_columns && gpumc_result_is_error(column->name); c++) {
    const char *name = table->columns[c].name;
    if (strncmp(name, column->name, strlen(name)) == 0 && strlen(name) + strlen("_error") == length)
      place = c + 1;
  }
  memmove(table->columns + place + 1, table->columns + place,
          (table->n_columns - place) * sizeof *table->columns);
  table->columns[place] = *column;
  memset(column, 0, sizeof *column);
  table->n_columns++;
  return true;
}

static enum gpumc_status add_dataset(struct walk *walk, hid_t data, const char *path)
{
  struct found found = {0};
  bool numeric, bytes;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY(gpumc_hdf5_check_dataset(walk->file, data, path, walk->error));
  if (H5DSis_scale(data) > 0)
    return GPUMC_OK;
  if (!read_shape(data, &found, &numeric, &bytes))
    return gpumc_hdf5_error(walk->file, walk->error, "read %s", path);
  walk->bytes = walk->bytes || bytes;
  if (!numeric)
    return GPUMC_OK;
  const bool integer = found.column.integer;
  GPUMC_TRY_OUT(status, describe(walk->file, data, path, integer, &found.column, walk->error));
  for (size_t d = 0; d < found.rank; d++)
    GPUMC_TRY_OUT(status, find_axis(walk->file, data, d, &found, walk->error));
  struct gpumc_result_table *table = table_of(walk, &found);
  if (table == NULL || !add_column(table, &found.column))
    status = out_of_memory(walk->file, walk->error);
out:
  found_free(&found);
  return status;
}

static void table_free(struct gpumc_result_table *table)
{
  free(table->name);
  free(table->group);
  for (size_t d = 0; d < RANK; d++)
    column_free(&table->axes[d]);
  for (size_t c = 0; c < table->n_columns; c++)
    column_free(&table->columns[c]);
  free(table->columns);
}

static enum gpumc_status walk_group(struct walk *parent, hid_t group, const char *path);

static herr_t visit(hid_t group, const char *name, const H5L_info_t *link, void *state)
{
  struct walk *walk = state;
  char *path = NULL;
  if (link->type != H5L_TYPE_HARD || (walk->group[0] == '\0' && strcmp(name, "provenance") == 0))
    return 0;
  if (asprintf(&path, "%s%s%s", walk->group, walk->group[0] == '\0' ? "" : "/", name) < 0) {
    walk->status = out_of_memory(walk->file, walk->error);
    return -1;
  }
  const hid_t object = H5Oopen(group, name, H5P_DEFAULT);
  if (object < 0)
    walk->status = gpumc_hdf5_error(walk->file, walk->error, "read %s", path);
  else if (H5Iget_type(object) == H5I_DATASET)
    walk->status = add_dataset(walk, object, path);
  else if (H5Iget_type(object) == H5I_GROUP)
    walk->status = walk_group(walk, object, path);
  gpumc_hdf5_release(object);
  free(path);
  return walk->status == GPUMC_OK ? 0 : -1;
}

/* Groups within groups are no deeper than those of results. */
static enum gpumc_status walk_group(struct walk *parent, hid_t group, const char *path)
{
  enum { DEPTH_MAXIMUM = 8 };
  size_t depth = 0;
  struct walk walk = {.file = parent->file,
                      .tables = parent->tables,
                      .group = path,
                      .error = parent->error,
                      .status = GPUMC_OK};
  const size_t before = walk.tables->n;
  for (const char *c = path; *c != '\0'; c++)
    depth += *c == '/';
  if (depth > DEPTH_MAXIMUM)
    return gpumc_error_set(walk.error, GPUMC_FAILURE, "%s: groups are nested implausibly deep: %s",
                           walk.file->path, path);
  if (H5Literate(group, H5_INDEX_CRT_ORDER, H5_ITER_INC, NULL, visit, &walk) < 0 &&
      walk.status == GPUMC_OK)
    walk.status = gpumc_hdf5_error(walk.file, walk.error, "list %s", path);
  for (; walk.bytes && walk.tables->n > before; walk.tables->n--)
    table_free(&walk.tables->items[walk.tables->n - 1]);
  return walk.status;
}

/* ---- the whole ---- */

static enum gpumc_status name_tables(struct gpumc_result_tables *tables, struct gpumc_error *error)
{
  for (size_t t = 0; t < tables->n; t++) {
    struct gpumc_result_table *table = &tables->items[t];
    struct gpumc_text name = {0};
    size_t siblings = 0;
    for (size_t other = 0; other < tables->n; other++)
      siblings += strcmp(tables->items[other].group, table->group) == 0;
    gpumc_text_append(&name, "%s", table->group);
    for (size_t d = 0; siblings > 1 && d < table->rank; d++)
      gpumc_text_append(&name, "%s%s", d == 0 ? ":" : ",", table->axes[d].name);
    if (siblings > 1 && table->rank == 0)
      gpumc_text_append(&name, ":numbers");
    table->name = strdup(gpumc_text_string(&name));
    const bool good = !name.failed && table->name != NULL;
    gpumc_text_free(&name);
    if (!good)
      return out_of_memory(tables->file, error);
  }
  return GPUMC_OK;
}

enum gpumc_status gpumc_result_tables_open(const char *path, bool live,
                                           struct gpumc_result_tables *tables,
                                           struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  enum gpumc_status status = GPUMC_OK;
  memset(tables, 0, sizeof *tables);
  GPUMC_TRY(
      gpumc_hdf5_open(path, live ? GPUMC_HDF5_READ_LIVE : GPUMC_HDF5_READ, &tables->file, error));
  struct walk root = {
      .file = tables->file, .tables = tables, .group = "", .error = error, .status = GPUMC_OK};
  const hid_t group = gpumc_hdf5_open_group(tables->file, tables->file->id, "/", error);
  if (group < 0) {
    status = GPUMC_FAILURE;
    goto out;
  }
  if (H5Literate(group, H5_INDEX_CRT_ORDER, H5_ITER_INC, NULL, visit, &root) < 0 &&
      root.status == GPUMC_OK)
    root.status = gpumc_hdf5_error(tables->file, error, "list its groups");
  gpumc_hdf5_release(group);
  GPUMC_TRY_OUT(status, root.status);
  GPUMC_TRY_OUT(status, name_tables(tables, error));
out:
  if (status != GPUMC_OK)
    gpumc_result_tables_close(tables);
  return status;
}

size_t gpumc_result_table_width(const struct gpumc_result_table *table)
{
  size_t width = 1;
  for (size_t d = 1; d < table->rank; d++)
    width *= table->shape[d];
  return width;
}

/* A block of a dataset: `count` numbers along each dimension. */
static enum gpumc_status read_block(const struct gpumc_result_tables *tables, const char *path,
                                    size_t rank, const hsize_t *start, const hsize_t *count,
                                    double *values, struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  const hid_t data = gpumc_hdf5_open_dataset(tables->file, tables->file->id, path, error);
  if (data < 0)
    return GPUMC_FAILURE;
  hid_t space = H5Dget_space(data);
  hid_t memory = rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple((int)rank, count, NULL);
  const bool good =
      space >= 0 && memory >= 0 &&
      (rank == 0 || H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0) &&
      H5Dread(data, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values) >= 0;
  const enum gpumc_status status =
      good ? GPUMC_OK : gpumc_hdf5_error(tables->file, error, "read %s", path);
  gpumc_hdf5_release(memory);
  gpumc_hdf5_release(space);
  gpumc_hdf5_release(data);
  return status;
}

enum gpumc_status gpumc_result_table_read(const struct gpumc_result_tables *tables,
                                          const struct gpumc_result_table *table,
                                          const struct gpumc_result_column *column, size_t first,
                                          size_t rows, double *values, struct gpumc_error *error)
{
  hsize_t start[RANK] = {first}, count[RANK] = {rows};
  for (size_t d = 1; d < table->rank; d++)
    count[d] = table->shape[d];
  return read_block(tables, column->path, table->rank, start, count, values, error);
}

enum gpumc_status gpumc_result_axis_read(const struct gpumc_result_tables *tables,
                                         const struct gpumc_result_table *table, size_t dimension,
                                         size_t first, size_t count, double *values,
                                         struct gpumc_error *error)
{
  const hsize_t start[1] = {first}, length[1] = {count};
  const char *path = table->axes[dimension].path;
  for (size_t i = 0; i < count && path == NULL; i++)
    values[i] = (double)(first + i);
  return path == NULL ? GPUMC_OK : read_block(tables, path, 1, start, length, values, error);
}

void gpumc_result_tables_close(struct gpumc_result_tables *tables)
{
  GPUMC_HDF5_QUIET();
  for (size_t t = 0; t < tables->n; t++)
    table_free(&tables->items[t]);
  free(tables->items);
  gpumc_hdf5_discard(tables->file);
  memset(tables, 0, sizeof *tables);
}
