/* Tables: rows in memory and in extensible datasets. */
#include "core/storage/recorder/recorder_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/storage/hdf5_values.h"

/* Large buffers that are repeatedly allocated and freed would fragment the heap. */
enum { STORE_BYTES = 1 << 20 };
/* A chunk is about a page, so that short tables stay small; long ones have fewer, larger ones. */
enum { CHUNK_BYTES = 4096, LONG_CHUNK_BYTES = 16384 };
/* Initial room of a table in rows, unless they are large. */
enum { FIRST_CAPACITY = 64, FIRST_BYTES = 1 << 20 };

static char *copy_text(const char *text, bool *failed)
{
  char *copy = strdup(text != NULL ? text : "");
  *failed = *failed || copy == NULL;
  return copy;
}

enum gpumc_status gpumc_table_init(struct gpumc_table *table, const char *group,
                                   const struct gpumc_column *columns, size_t n_columns,
                                   struct gpumc_error *error)
{
  bool failed = false;
  memset(table, 0, sizeof *table);
  GPUMC_TRY(gpumc_allocate_array(&table->columns, n_columns, "columns of a table", error));
  table->group = copy_text(group, &failed);
  table->n_columns = n_columns;
  for (size_t i = 0; i < n_columns; i++) {
    struct gpumc_column *column = &table->columns[i];
    *column = columns[i];
    column->label.name = copy_text(columns[i].label.name, &failed);
    column->label.long_name = copy_text(columns[i].label.long_name, &failed);
    column->label.units = copy_text(columns[i].label.units, &failed);
    column->label.symbol = copy_text(columns[i].label.symbol, &failed);
    column->across = columns[i].across == NULL ? NULL : copy_text(columns[i].across, &failed);
    table->row_width += columns[i].width;
  }
  if (failed)
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: the columns of %s", group);
  return GPUMC_OK;
}

void gpumc_table_free(struct gpumc_table *table)
{
  for (size_t i = 0; i < table->n_columns; i++) {
    struct gpumc_column *column = &table->columns[i];
    free((char *)column->label.name);
    free((char *)column->label.long_name);
    free((char *)column->label.units);
    free((char *)column->label.symbol);
    free((char *)column->across);
  }
  free(table->columns);
  free(table->rows);
  free(table->group);
  memset(table, 0, sizeof *table);
}

/* Doubles the room, but for a long table to no more than ever waits. */
static size_t next_capacity(const struct gpumc_table *table, size_t n_rows)
{
  const size_t row_bytes = table->row_width * sizeof *table->rows;
  const size_t first = FIRST_BYTES / row_bytes;
  const size_t waiting = (GPUMC_TABLE_WAITING_BYTES + row_bytes - 1) / row_bytes;
  size_t capacity = 2 * table->capacity;
  if (capacity == 0)
    capacity = first < 1 ? 1 : first < FIRST_CAPACITY ? first : FIRST_CAPACITY;
  if (table->is_long && capacity > waiting)
    capacity = waiting;
  return capacity < n_rows ? n_rows : capacity;
}

enum gpumc_status
gpumc_table_reserve(struct gpumc_table *table, size_t n_rows, struct gpumc_error *error)
{
  double *rows;
  if (n_rows <= table->capacity && table->rows != NULL)
    return GPUMC_OK;
  size_t capacity = next_capacity(table, n_rows);
  size_t bytes;
  if (__builtin_mul_overflow(capacity, table->row_width * sizeof *rows, &bytes))
    bytes = SIZE_MAX;
  /* Untouched pages of a large block cost nothing, which a zeroing allocation would spoil. */
  rows = realloc(table->rows, bytes);
  if (rows == NULL) {
    char size[32];
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: %zu rows of %s need %s", capacity,
                           table->group, gpumc_size_text((double)bytes, size));
  }
  table->rows = rows;
  table->capacity = capacity;
  return GPUMC_OK;
}

/* An integer column refuses a value that it cannot store when the row arrives, not at some later
 * flush. */
static enum gpumc_status
check_row(const struct gpumc_table *table, const double *row, struct gpumc_error *error)
{
  for (size_t i = 0; i < table->n_columns; row += table->columns[i].width, i++)
    for (size_t k = 0; table->columns[i].integer && k < table->columns[i].width; k++)
      if (!(fabs(row[k]) <= 0x1p53) || row[k] != trunc(row[k]))
        return gpumc_error_set(error, GPUMC_FAILURE,
                               "%s/%s: %.17g is not an integer of magnitude 2^53 or less",
                               table->group, table->columns[i].label.name, row[k]);
  return GPUMC_OK;
}

double *gpumc_table_row(const struct gpumc_table *table, size_t row)
{
  return table->rows + (row - table->n_dropped) * table->row_width;
}

enum gpumc_status
gpumc_table_add_row(struct gpumc_table *table, const double *row, struct gpumc_error *error)
{
  GPUMC_TRY(check_row(table, row, error));
  GPUMC_TRY(gpumc_table_reserve(table, table->n_rows - table->n_dropped + 1, error));
  memcpy(gpumc_table_row(table, table->n_rows), row, table->row_width * sizeof *row);
  table->n_rows++;
  return GPUMC_OK;
}

/* Creates the axis along the width of a column: 0 .. width-1, shared by columns that name the same
 * axis. */
static enum gpumc_status
ensure_across(const struct gpumc_table *table, const struct gpumc_column *column,
              const struct gpumc_hdf5_file *file, hid_t group, struct gpumc_error *error)
{
  char long_name[128];
  double *indices;
  hsize_t shape[1] = {column->width};
  if (gpumc_hdf5_exists(group, column->across))
    return GPUMC_OK;
  snprintf(long_name, sizeof long_name, "index of the %s, from 0", column->across);
  struct gpumc_label label = {column->across, long_name, "1", ""};
  GPUMC_TRY(gpumc_allocate_array(&indices, column->width, "the indices of an axis", error));
  for (size_t i = 0; i < column->width; i++)
    indices[i] = (double)i;
  hid_t data = gpumc_dataset_put(file, group, table->group, &label, 1, shape, true, indices, error);
  gpumc_hdf5_release(data);
  free(indices);
  return data < 0 ? GPUMC_FAILURE : GPUMC_OK;
}

/* Returns the values per row stored in the dataset, and their size. */
static size_t stored_width(const struct gpumc_column *column)
{
  return column->bytes > 0 ? column->bytes : column->width;
}

static size_t stored_size(const struct gpumc_column *column)
{
  return column->bytes > 0 ? sizeof(uint8_t) : sizeof(double);
}

/* Creates it empty. Negative, with the error set, on failure. */
static hid_t create_dataset(const struct gpumc_table *table, const struct gpumc_column *column,
                            const struct gpumc_hdf5_file *file, hid_t group,
                            struct gpumc_error *error)
{
  hsize_t shape[2] = {0, stored_width(column)};
  size_t chunk_bytes = table->is_long ? LONG_CHUNK_BYTES : CHUNK_BYTES;
  size_t chunk_rows = chunk_bytes / (stored_size(column) * stored_width(column));
  chunk_rows = chunk_rows > 0 ? chunk_rows : 1;
  if (column->bytes > 0)
    return gpumc_dataset_create_bytes(file, group, table->group, &column->label, shape, chunk_rows,
                                      error);
  return gpumc_dataset_create(file, group, table->group, &column->label,
                              column->across != NULL ? 2 : 1, shape, chunk_rows, column->integer,
                              error);
}

/* Column 0 is the axis of the rows. */
static enum gpumc_status attach_axes(const struct gpumc_table *table, size_t index,
                                     const struct gpumc_hdf5_file *file, hid_t data,
                                     struct gpumc_axes *axes, struct gpumc_error *error)
{
  char rows[BUFSIZ], across[BUFSIZ];
  const struct gpumc_column *column = &table->columns[index];
  const char *paths[2] = {index > 0 ? rows : NULL, column->across != NULL ? across : NULL};
  snprintf(rows, sizeof rows, "%s/%s", table->group, table->columns[0].label.name);
  if (column->across != NULL)
    snprintf(across, sizeof across, "%s/%s", table->group, column->across);
  const size_t rank = column->across != NULL || column->bytes > 0 ? 2 : 1;
  return gpumc_axes_attach(axes, file, data, column->label.name, rank, paths, error);
}

static enum gpumc_status create_column(const struct gpumc_table *table, size_t index,
                                       const struct gpumc_hdf5_file *file, hid_t group,
                                       struct gpumc_axes *axes, struct gpumc_error *error)
{
  const struct gpumc_column *column = &table->columns[index];
  if (column->across != NULL)
    GPUMC_TRY(ensure_across(table, column, file, group, error));
  hid_t data = create_dataset(table, column, file, group, error);
  if (data < 0)
    return GPUMC_FAILURE;
  const enum gpumc_status status = attach_axes(table, index, file, data, axes, error);
  gpumc_hdf5_release(data);
  return status;
}

enum gpumc_status gpumc_table_create(const struct gpumc_table *table,
                                     const struct gpumc_hdf5_file *file, struct gpumc_axes *axes,
                                     struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  hid_t group = gpumc_hdf5_group(file->id, table->group);
  if (group < 0)
    return gpumc_hdf5_error(file, error, "create the group %s", table->group);
  for (size_t i = 0; i < table->n_columns; i++)
    GPUMC_TRY_OUT(status, create_column(table, i, file, group, axes, error));
out:
  gpumc_hdf5_release(group);
  return status;
}

/* Writes `count` rows from `first` on to their dataset. */
static enum gpumc_status write_values(const struct gpumc_column *column, const char *where,
                                      hid_t data, size_t first, size_t count, const void *values,
                                      const struct gpumc_hdf5_file *file, struct gpumc_error *error)
{
  if (column->bytes > 0)
    return gpumc_dataset_write_bytes(file, data, where, first, count, values, error);
  return gpumc_dataset_write(file, data, where, column->integer, first, count, column->width,
                             values, error);
}

/* Returns how many rows are gathered at once for a dataset. */
static size_t rows_at_once(const struct gpumc_table *table)
{
  size_t rows = STORE_BYTES / (table->row_width * sizeof *table->rows);
  size_t count = table->n_rows - table->n_stored;
  rows = rows > 0 ? rows : 1;
  return rows < count ? rows : count;
}

/* `values`[rows at once][row width]: scratch. */
static enum gpumc_status store_rows(const struct gpumc_table *table,
                                    const struct gpumc_column *column, size_t offset,
                                    const char *where, hid_t data, double *values,
                                    const struct gpumc_hdf5_file *file, struct gpumc_error *error)
{
  const size_t row_bytes = stored_width(column) * stored_size(column);
  size_t most = rows_at_once(table);
  for (size_t row = table->n_stored; row < table->n_rows; row += most) {
    size_t left = table->n_rows - row;
    size_t count = left < most ? left : most;
    for (size_t i = 0; i < count; i++)
      memcpy((unsigned char *)values + i * row_bytes, gpumc_table_row(table, row + i) + offset,
             row_bytes);
    GPUMC_TRY(write_values(column, where, data, row, count, values, file, error));
  }
  return GPUMC_OK;
}

/* Datasets are open only while rows are written: HDF5 slows down, and fails, with tens of thousands
 * of open datasets in single-writer mode. */
static enum gpumc_status store_column(const struct gpumc_table *table, size_t index, size_t offset,
                                      double *values, const struct gpumc_hdf5_file *file,
                                      struct gpumc_error *error)
{
  char where[BUFSIZ];
  const struct gpumc_column *column = &table->columns[index];
  hsize_t shape[2] = {table->n_rows, stored_width(column)};
  snprintf(where, sizeof where, "%s/%s", table->group, column->label.name);
  hid_t data = H5Dopen2(file->id, where, H5P_DEFAULT);
  if (data < 0)
    return gpumc_hdf5_error(file, error, "open %s", where);
  const enum gpumc_status status =
      H5Dset_extent(data, shape) < 0
          ? gpumc_hdf5_error(file, error, "extend %s", where)
          : store_rows(table, column, offset, where, data, values, file, error);
  gpumc_hdf5_release(data);
  return status;
}

enum gpumc_status gpumc_table_store(struct gpumc_table *table, enum gpumc_table_part part,
                                    const struct gpumc_hdf5_file *file, struct gpumc_error *error)
{
  double *values;
  size_t offset = 0;
  if (table->n_stored == table->n_rows)
    return GPUMC_OK;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY(gpumc_allocate_array(&values, rows_at_once(table) * table->row_width,
                                 "rows to be stored", error));
  for (size_t i = 0; i < table->n_columns; i++) {
    if ((i == 0) == (part == GPUMC_TABLE_AXIS))
      GPUMC_TRY_OUT(status, store_column(table, i, offset, values, file, error));
    offset += table->columns[i].width;
  }
  if (part == GPUMC_TABLE_AXIS) {
    table->n_stored = table->n_rows;
    table->n_dropped = table->is_long ? table->n_rows : 0;
  }
out:
  free(values);
  return status;
}

/* ---- rows to and from a checkpoint ---- */

enum { LONGEST_NAME = 64 };

/* Returns group and columns as one text, by which a checkpoint recognises its table. Caller frees;
 * NULL if memory ran out. */
static char *table_layout(const struct gpumc_table *table)
{
  struct gpumc_text text = {0};
  gpumc_text_append(&text, "%s%s", table->is_long ? "long " : "", table->group);
  for (size_t i = 0; i < table->n_columns; i++)
    if (table->columns[i].bytes > 0)
      gpumc_text_append(&text, " %s:%zub", table->columns[i].label.name, table->columns[i].bytes);
    else
      gpumc_text_append(&text, " %s:%zu%s", table->columns[i].label.name, table->columns[i].width,
                        table->columns[i].integer ? "i" : "f");
  if (!text.failed)
    return text.characters;
  gpumc_text_free(&text);
  return NULL;
}

static void member_name(char name[static LONGEST_NAME], size_t table, const char *member)
{
  snprintf(name, LONGEST_NAME, "recorder/%zu/%s", table, member);
}

static enum gpumc_status
layout_of(const struct gpumc_table *table, char **layout, struct gpumc_error *error)
{
  *layout = table_layout(table);
  if (*layout == NULL)
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: the layout of %s", table->group);
  return GPUMC_OK;
}

static enum gpumc_status save_layout(const struct gpumc_table *table, size_t index,
                                     struct gpumc_checkpoint_writer *writer,
                                     struct gpumc_error *error)
{
  char name[LONGEST_NAME];
  char *layout;
  GPUMC_TRY(layout_of(table, &layout, error));
  member_name(name, index, "layout");
  const enum gpumc_status status = gpumc_checkpoint_put_text(writer, name, layout, error);
  free(layout);
  return status;
}

enum gpumc_status gpumc_table_save(const struct gpumc_table *table, size_t index,
                                   struct gpumc_checkpoint_writer *writer,
                                   struct gpumc_error *error)
{
  char name[LONGEST_NAME];
  GPUMC_TRY(save_layout(table, index, writer, error));
  if (table->is_long) {
    uint64_t count = table->n_rows;
    member_name(name, index, "count");
    return gpumc_checkpoint_put(writer, name, GPUMC_UINT64, 1, 1, &count, error);
  }
  member_name(name, index, "rows");
  return gpumc_checkpoint_put(writer, name, GPUMC_FLOAT64, table->n_rows, table->row_width,
                              table->rows, error);
}

static enum gpumc_status check_layout(const struct gpumc_table *table, size_t index,
                                      struct gpumc_checkpoint_reader *reader,
                                      struct gpumc_error *error)
{
  char name[LONGEST_NAME];
  char *expected;
  char *found = NULL;
  enum gpumc_status status;
  GPUMC_TRY(layout_of(table, &expected, error));
  member_name(name, index, "layout");
  GPUMC_TRY_OUT(status, gpumc_checkpoint_get_text(reader, name, &found, error));
  if (strcmp(found, expected) != 0)
    status =
        gpumc_error_set(error, GPUMC_FAILURE,
                        "was written by a version whose table has other columns (\"%s\" instead "
                        "of \"%s\"): finish the run with the version that began it",
                        found, expected);
out:
  free(found);
  free(expected);
  return status;
}

static enum gpumc_status load_count(struct gpumc_table *table, size_t index,
                                    struct gpumc_checkpoint_reader *reader,
                                    struct gpumc_error *error)
{
  char name[LONGEST_NAME];
  uint64_t count = 0;
  member_name(name, index, "count");
  enum gpumc_status status =
      gpumc_checkpoint_get_rows(reader, name, GPUMC_UINT64, 0, 1, 1, &count, error);
  table->n_rows = (size_t)count;
  return status;
}

static enum gpumc_status load_rows(struct gpumc_table *table, size_t index,
                                   struct gpumc_checkpoint_reader *reader,
                                   struct gpumc_error *error)
{
  char name[LONGEST_NAME];
  size_t n_rows = 0;
  size_t width = 0;
  member_name(name, index, "rows");
  GPUMC_TRY(gpumc_checkpoint_shape(reader, name, &n_rows, &width, error));
  GPUMC_TRY(gpumc_table_reserve(table, n_rows, error));
  GPUMC_TRY(gpumc_checkpoint_get_rows(reader, name, GPUMC_FLOAT64, 0, n_rows, table->row_width,
                                      table->rows, error));
  table->n_rows = n_rows;
  return GPUMC_OK;
}

enum gpumc_status gpumc_table_load(struct gpumc_table *table, size_t index,
                                   struct gpumc_checkpoint_reader *reader,
                                   struct gpumc_error *error)
{
  GPUMC_TRY(check_layout(table, index, reader, error));
  return table->is_long ? load_count(table, index, reader, error)
                        : load_rows(table, index, reader, error);
}
