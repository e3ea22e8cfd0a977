/* The recorder's life: declare, start, append, close the tables, add the summary, finish. */
#include "core/storage/recorder_internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build_info.h"
#include "core/base/checksum.h"
#include "core/base/files.h"
#include "core/base/machine.h"
#include "core/base/memory.h"
#include "core/storage/hdf5_values.h"
#include "core/storage/result_info.h"
#include "core/storage/result_mark.h"
#include "core/storage/side_files.h"

/* ---- datasets and attributes of a result ---- */

/* Returns the number of values in a row. */
static size_t row_width(const struct gpumc_dataset *dataset)
{
  size_t width = 1;
  for (size_t d = 1; d < dataset->rank; d++)
    width *= dataset->shape[d];
  return width;
}

static void leave_place(struct gpumc_recorder *recorder)
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
  leave_place(recorder);
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

/* Keeps a copy. */
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

static enum gpumc_status write_attribute(struct gpumc_recorder *recorder,
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

static void free_attributes(struct gpumc_attribute_list *list)
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
  return write_attribute(recorder, attribute, error);
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

/* ---- the recorder ---- */

enum gpumc_status gpumc_recorder_save(struct gpumc_recorder *recorder,
                                      struct gpumc_checkpoint_writer *writer,
                                      struct gpumc_error *error)
{
  for (size_t i = 0; i < recorder->n_tables; i++)
    GPUMC_TRY(gpumc_table_save(&recorder->tables[i], i, writer, error));
  return gpumc_long_tables_save(recorder, writer, error);
}

enum gpumc_status gpumc_recorder_load(struct gpumc_recorder *recorder,
                                      struct gpumc_checkpoint_reader *reader,
                                      struct gpumc_error *error)
{
  assert(recorder->phase == GPUMC_RECORDER_DECLARING);
  for (size_t i = 0; i < recorder->n_tables; i++)
    GPUMC_TRY(gpumc_table_load(&recorder->tables[i], i, reader, error));
  return gpumc_long_tables_load(recorder, reader, error);
}

static const double seconds_between_flushes = 2;

static enum gpumc_status copy_header(struct gpumc_recorder *recorder,
                                     const struct gpumc_recorder_header *header,
                                     struct gpumc_error *error)
{
  recorder->title = strdup(header->title != NULL ? header->title : "");
  recorder->source = strdup(header->source != NULL ? header->source : "");
  recorder->resolved = strdup(header->resolved != NULL ? header->resolved : "{}");
  recorder->citations = strdup(header->citations != NULL ? header->citations : "");
  if (recorder->title == NULL || recorder->source == NULL || recorder->resolved == NULL ||
      recorder->citations == NULL)
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: the header of %s", header->output);
  recorder->output = gpumc_path_with_suffix(header->output, "", error);
  recorder->partial = gpumc_path_with_suffix(header->output, ".partial", error);
  recorder->begun = gpumc_path_with_suffix(header->output, ".partial.new", error);
  recorder->log_path = gpumc_path_with_suffix(header->output, ".log", error);
  if (recorder->output == NULL || recorder->partial == NULL || recorder->begun == NULL ||
      recorder->log_path == NULL)
    return GPUMC_FAILURE;
  return GPUMC_OK;
}

static enum gpumc_status create(const struct gpumc_recorder_header *header, bool silent,
                                struct gpumc_recorder **recorder, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_allocate_array(recorder, 1, "the recorder", error));
  (*recorder)->silent = silent;
  const enum gpumc_status status = copy_header(*recorder, header, error);
  if (status != GPUMC_OK) {
    gpumc_recorder_free(*recorder);
    *recorder = NULL;
  }
  return status;
}

enum gpumc_status gpumc_recorder_create(const struct gpumc_recorder_header *header,
                                        struct gpumc_recorder **recorder, struct gpumc_error *error)
{
  *recorder = NULL;
  GPUMC_TRY(gpumc_directory_prepare(header->output, error));
  return create(header, false, recorder, error);
}

enum gpumc_status gpumc_recorder_create_silent(const struct gpumc_recorder_header *header,
                                               struct gpumc_recorder **recorder,
                                               struct gpumc_error *error)
{
  return create(header, true, recorder, error);
}

enum gpumc_status gpumc_recorder_add_table(struct gpumc_recorder *recorder, const char *group,
                                           const struct gpumc_column *columns, size_t n_columns,
                                           size_t *table, struct gpumc_error *error)
{
  assert(recorder->phase == GPUMC_RECORDER_DECLARING);
  assert(n_columns > 0 && columns[0].width == 1 && columns[0].across == NULL);
  for (size_t i = 0; i < n_columns; i++)
    assert(columns[i].bytes > 0 ? columns[i].width == gpumc_column_words(columns[i].bytes)
                                : columns[i].width == 1 || columns[i].across != NULL);
  size_t count = recorder->n_tables + 1;
  struct gpumc_table *tables = realloc(recorder->tables, count * sizeof *tables);
  if (tables == NULL)
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: the table %s", group);
  recorder->tables = tables;
  enum gpumc_status status = gpumc_table_init(&tables[count - 1], group, columns, n_columns, error);
  if (status != GPUMC_OK) {
    gpumc_table_free(&tables[count - 1]);
    return status;
  }
  recorder->n_tables = count;
  *table = count - 1;
  return GPUMC_OK;
}

enum gpumc_status gpumc_recorder_add_series(struct gpumc_recorder *recorder, const char *group,
                                            const struct gpumc_column *columns, size_t n_columns,
                                            size_t *table, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_recorder_add_table(recorder, group, columns, n_columns, table, error));
  recorder->tables[*table].is_long = true;
  return GPUMC_OK;
}

static enum gpumc_status write_root(struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  const struct gpumc_hdf5_file *file = recorder->file;
  struct gpumc_attribute attributes[] = {
      {GPUMC_ATTRIBUTE_TEXT, "/", "format", GPUMC_RESULTS_MARK, 0, 0},
      {GPUMC_ATTRIBUTE_INTEGER, "/", "format_version", NULL, 0, GPUMC_RESULT_VERSION},
      {GPUMC_ATTRIBUTE_TEXT, "/", "program_version", GPUMC_PROGRAM_VERSION, 0, 0},
      {GPUMC_ATTRIBUTE_TEXT, "/", "title", recorder->title, 0, 0},
      {GPUMC_ATTRIBUTE_INTEGER, "/", "complete", NULL, 0, 0},
      {GPUMC_ATTRIBUTE_TEXT, "provenance", "citations", recorder->citations, 0, 0},
  };
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
    GPUMC_TRY(write_attribute(recorder, &attributes[i], error));
    /* The format identifies a file as ours, so it is written to the disk before anything else. */
    if (i == 0 && H5Fflush(file->id, H5F_SCOPE_LOCAL) < 0)
      return gpumc_hdf5_error(file, error, "flush %s", file->path);
  }
  for (size_t i = 0; i < recorder->attributes.count; i++)
    GPUMC_TRY(write_attribute(recorder, &recorder->attributes.items[i], error));
  GPUMC_TRY(gpumc_hdf5_put_text(file, "config/source", recorder->source, error));
  return gpumc_hdf5_put_text(file, "config/resolved", recorder->resolved, error);
}

static enum gpumc_status
store_part(struct gpumc_recorder *recorder, enum gpumc_table_part part, struct gpumc_error *error)
{
  for (size_t i = 0; i < recorder->n_tables; i++)
    GPUMC_TRY(gpumc_table_store(&recorder->tables[i], part, recorder->file, error));
  return H5Fflush(recorder->file->id, H5F_SCOPE_LOCAL) >= 0
             ? GPUMC_OK
             : gpumc_hdf5_error(recorder->file, error, "flush %s", recorder->partial);
}

static enum gpumc_status store_tables(struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, store_part(recorder, GPUMC_TABLE_VALUES, error));
  status = store_part(recorder, GPUMC_TABLE_AXIS, error);
out:
  recorder->waiting = 0;
  recorder->last_flush = gpumc_clock();
  return status;
}

static enum gpumc_status close_file(struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  leave_place(recorder);
  struct gpumc_hdf5_file *file = recorder->file;
  recorder->file = NULL;
  return gpumc_hdf5_close(file, error);
}

/* Writes the whole working file from the rows in memory and in the log, and closes it, under its
 * preliminary name. */
static enum gpumc_status
write_working_file(struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_hdf5_create(recorder->begun, 0, NULL, &recorder->file, error));
  GPUMC_TRY(write_root(recorder, error));
  for (size_t i = 0; i < recorder->n_tables; i++) {
    recorder->tables[i].n_stored = 0;
    GPUMC_TRY(gpumc_table_create(&recorder->tables[i], recorder->file, &recorder->axes, error));
  }
  GPUMC_TRY(gpumc_axes_write(&recorder->axes, recorder->file, error));
  GPUMC_TRY(gpumc_long_tables_replay(recorder, store_tables, error));
  GPUMC_TRY(store_tables(recorder, error));
  return close_file(recorder, error);
}

enum gpumc_status gpumc_recorder_start(struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  assert(recorder->phase == GPUMC_RECORDER_DECLARING);
  enum gpumc_status status;
  recorder->phase = recorder->silent ? GPUMC_RECORDER_APPENDING : recorder->phase;
  if (recorder->silent)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_side_file_check(recorder->begun, GPUMC_SIDE_PARTIAL, error));
  GPUMC_TRY_OUT(status, gpumc_long_tables_begin(recorder, error));
  GPUMC_TRY_OUT(status, write_working_file(recorder, error));
  /* Not synced, neither the file nor its name: the checkpoint and the log contain everything. */
  GPUMC_TRY_OUT(status, gpumc_file_replace(recorder->begun, recorder->partial, error));
  GPUMC_TRY_OUT(status,
                gpumc_hdf5_open(recorder->partial, GPUMC_HDF5_WRITE_LIVE, &recorder->file, error));
  recorder->phase = GPUMC_RECORDER_APPENDING;
  return GPUMC_OK;
out:
  unlink(recorder->begun);
  return status;
}

enum gpumc_status gpumc_recorder_append(struct gpumc_recorder *recorder, size_t table,
                                        const double *row, struct gpumc_error *error)
{
  assert(recorder->phase == GPUMC_RECORDER_APPENDING && table < recorder->n_tables);
  GPUMC_TRY(gpumc_table_add_row(&recorder->tables[table], row, error));
  if (recorder->silent) {
    gpumc_long_tables_drop(recorder);
    return GPUMC_OK;
  }
  bool full = gpumc_long_tables_add(recorder, table, 1);
  if (full || gpumc_clock() - recorder->last_flush > seconds_between_flushes)
    GPUMC_TRY(gpumc_recorder_flush(recorder, error));
  return GPUMC_OK;
}

size_t gpumc_recorder_count(const struct gpumc_recorder *recorder, size_t table)
{
  return recorder->tables[table].n_rows;
}

const struct gpumc_column *
gpumc_recorder_columns(const struct gpumc_recorder *recorder, size_t table, size_t *n_columns)
{
  *n_columns = recorder->tables[table].n_columns;
  return recorder->tables[table].columns;
}

const double *
gpumc_recorder_rows(const struct gpumc_recorder *recorder, size_t table, size_t *n_rows)
{
  assert(!recorder->tables[table].is_long);
  *n_rows = recorder->tables[table].n_rows;
  return recorder->tables[table].rows;
}

enum gpumc_status gpumc_recorder_flush(struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  assert(recorder->phase == GPUMC_RECORDER_APPENDING);
  if (recorder->silent)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_long_tables_log(recorder, error));
  GPUMC_TRY(store_tables(recorder, error));
  return gpumc_hdf5_check(recorder->file, error);
}

enum gpumc_status
gpumc_recorder_close_tables(struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  GPUMC_TRY(gpumc_recorder_flush(recorder, error));
  GPUMC_TRY(close_file(recorder, error));
  GPUMC_TRY(gpumc_hdf5_open(recorder->partial, GPUMC_HDF5_WRITE, &recorder->file, error));
  recorder->phase = GPUMC_RECORDER_SUMMARIZING;
  return GPUMC_OK;
}

static enum gpumc_status
finish(struct gpumc_recorder *recorder, bool replaces, struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  assert(recorder->phase == GPUMC_RECORDER_SUMMARIZING);
  GPUMC_TRY(gpumc_axes_write(&recorder->axes, recorder->file, error));
  GPUMC_TRY(gpumc_recorder_integer(recorder, "/", "complete", 1, error));
  GPUMC_TRY(close_file(recorder, error));
  /* Also synced before the seal, so that no power failure leaves a seal without its contents: such
   * a file would look like a damaged result. */
  GPUMC_TRY(gpumc_file_sync(recorder->partial, error));
  GPUMC_TRY(gpumc_seal_file(recorder->partial, error));
  GPUMC_TRY(gpumc_file_sync(recorder->partial, error));
  GPUMC_TRY(replaces ? gpumc_file_publish(recorder->partial, recorder->output, error)
                     : gpumc_file_publish_new(recorder->partial, recorder->output, error));
  recorder->phase = GPUMC_RECORDER_FINISHED;
  return GPUMC_OK;
}

enum gpumc_status gpumc_recorder_finish(struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  return finish(recorder, false, error);
}

enum gpumc_status gpumc_recorder_replace(struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  return finish(recorder, true, error);
}

void gpumc_recorder_free(struct gpumc_recorder *recorder)
{
  GPUMC_HDF5_QUIET();
  struct gpumc_error ignored = {0};
  if (recorder == NULL)
    return;
  if (recorder->phase == GPUMC_RECORDER_APPENDING && recorder->file != NULL &&
      recorder->file->fault.code == 0 && store_tables(recorder, &ignored) != GPUMC_OK)
    gpumc_error_free(&ignored);
  if (recorder->file != NULL && close_file(recorder, &ignored) != GPUMC_OK)
    gpumc_error_free(&ignored);
  for (size_t i = 0; i < recorder->n_tables; i++)
    gpumc_table_free(&recorder->tables[i]);
  free(recorder->tables);
  gpumc_log_close(recorder->log);
  free_attributes(&recorder->attributes);
  gpumc_axes_free(&recorder->axes);
  free(recorder->output);
  free(recorder->partial);
  free(recorder->begun);
  free(recorder->log_path);
  free(recorder->title);
  free(recorder->source);
  free(recorder->resolved);
  free(recorder->citations);
  free(recorder);
}
