/* The recorder's life: declare, start, append, close the tables, add the summary, finish. */
#include "core/storage/recorder/recorder_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build_info.h"
#include "core/base/files.h"
#include "core/base/machine.h"
#include "core/base/memory.h"
#include "core/storage/hdf5_values.h"
#include "core/storage/result_info.h"
#include "core/storage/result_mark.h"
#include "core/storage/side_files.h"

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
    GPUMC_TRY(gpumc_recorder_write_attribute(recorder, &attributes[i], error));
    /* The format identifies a file as ours, so it is written to the disk before anything else. */
    if (i == 0 && H5Fflush(file->id, H5F_SCOPE_LOCAL) < 0)
      return gpumc_hdf5_error(file, error, "flush %s", file->path);
  }
  for (size_t i = 0; i < recorder->attributes.count; i++)
    GPUMC_TRY(gpumc_recorder_write_attribute(recorder, &recorder->attributes.items[i], error));
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
  gpumc_recorder_leave_place(recorder);
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
  if (recorder == NULL) /* without a call of HDF5, which may crash where memory ran out */
    return;
  GPUMC_HDF5_QUIET();
  struct gpumc_error ignored = {0};
  if (recorder->phase == GPUMC_RECORDER_APPENDING && recorder->file != NULL &&
      recorder->file->fault.code == 0 && store_tables(recorder, &ignored) != GPUMC_OK)
    gpumc_error_free(&ignored);
  if (recorder->file != NULL && close_file(recorder, &ignored) != GPUMC_OK)
    gpumc_error_free(&ignored);
  for (size_t i = 0; i < recorder->n_tables; i++)
    gpumc_table_free(&recorder->tables[i]);
  free(recorder->tables);
  gpumc_log_close(recorder->log);
  gpumc_recorder_free_attributes(&recorder->attributes);
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
