/* The recorder's life: declare, start, append, close the tables, add the summary, finish. */
#include "core/storage/recorder_long.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build_info.h"
#include "core/base/machine.h"
#include "core/base/files.h"
#include "core/base/memory.h"
#include "core/base/checksum.h"
#include "core/storage/hdf5_values.h"
#include "core/storage/result_info.h"
#include "core/storage/result_mark.h"
#include "core/storage/side_files.h"

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

enum gpumc_status gpumc_recorder_create(const struct gpumc_recorder_header *header,
                                        struct gpumc_recorder **recorder, struct gpumc_error *error)
{
  *recorder = NULL;
  enum gpumc_status status = gpumc_directory_prepare(header->output, error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(recorder, 1, "the recorder", error);
  if (status == GPUMC_OK)
    status = copy_header(*recorder, header, error);
  if (status != GPUMC_OK) {
    gpumc_recorder_free(*recorder);
    *recorder = NULL;
  }
  return status;
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
  enum gpumc_status status =
      gpumc_recorder_add_table(recorder, group, columns, n_columns, table, error);
  if (status == GPUMC_OK)
    recorder->tables[*table].is_long = true;
  return status;
}

static enum gpumc_status
write_root(const struct gpumc_recorder *recorder, struct gpumc_error *error)
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
  enum gpumc_status status = GPUMC_OK;
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes && status == GPUMC_OK; i++) {
    status = gpumc_attribute_write(file, &attributes[i], error);
    /* The format identifies a file as ours, so it reaches the disk before anything else. */
    if (status == GPUMC_OK && i == 0 && H5Fflush(file->id, H5F_SCOPE_LOCAL) < 0)
      status = gpumc_hdf5_error(file, error, "flush %s", file->path);
  }
  for (size_t i = 0; i < recorder->attributes.count && status == GPUMC_OK; i++)
    status = gpumc_attribute_write(file, &recorder->attributes.items[i], error);
  if (status == GPUMC_OK)
    status = gpumc_hdf5_put_text(file, "config/source", recorder->source, error);
  if (status == GPUMC_OK)
    status = gpumc_hdf5_put_text(file, "config/resolved", recorder->resolved, error);
  return status;
}

static enum gpumc_status store_tables(struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  for (int part = GPUMC_TABLE_VALUES; part <= GPUMC_TABLE_AXIS && status == GPUMC_OK; part++) {
    for (size_t i = 0; i < recorder->n_tables && status == GPUMC_OK; i++)
      status = gpumc_table_store(&recorder->tables[i], (enum gpumc_table_part)part, recorder->file,
                                 error);
    if (status == GPUMC_OK && H5Fflush(recorder->file->id, H5F_SCOPE_LOCAL) < 0)
      status = gpumc_hdf5_error(recorder->file, error, "flush %s", recorder->partial);
  }
  recorder->waiting = 0;
  recorder->last_flush = gpumc_clock();
  return status;
}

static enum gpumc_status close_file(struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  struct gpumc_hdf5_file *file = recorder->file;
  recorder->file = NULL;
  return gpumc_hdf5_close(file, error);
}

/* The whole working file as the rows in memory and in the log have it, closed, under its
 * preliminary name. */
static enum gpumc_status
write_working_file(struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  enum gpumc_status status = gpumc_hdf5_create(recorder->begun, 0, NULL, &recorder->file, error);
  if (status == GPUMC_OK)
    status = write_root(recorder, error);
  for (size_t i = 0; i < recorder->n_tables && status == GPUMC_OK; i++) {
    recorder->tables[i].n_stored = 0;
    status = gpumc_table_create(&recorder->tables[i], recorder->file, error);
  }
  if (status == GPUMC_OK)
    status = gpumc_long_tables_replay(recorder, store_tables, error);
  if (status == GPUMC_OK)
    status = store_tables(recorder, error);
  return status == GPUMC_OK ? close_file(recorder, error) : status;
}

enum gpumc_status gpumc_recorder_start(struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  assert(recorder->phase == GPUMC_RECORDER_DECLARING);
  enum gpumc_status status = gpumc_side_file_check(recorder->begun, GPUMC_SIDE_PARTIAL, error);
  if (status != GPUMC_OK)
    return status;
  status = gpumc_long_tables_begin(recorder, error);
  if (status == GPUMC_OK)
    status = write_working_file(recorder, error);
  if (status == GPUMC_OK)
    status = gpumc_file_publish(recorder->begun, recorder->partial, error);
  if (status == GPUMC_OK)
    status = gpumc_hdf5_open(recorder->partial, GPUMC_HDF5_WRITE_LIVE, &recorder->file, error);
  if (status != GPUMC_OK) {
    unlink(recorder->begun);
    return status;
  }
  recorder->phase = GPUMC_RECORDER_APPENDING;
  return GPUMC_OK;
}

enum gpumc_status gpumc_recorder_append(struct gpumc_recorder *recorder, size_t table,
                                        const double *row, struct gpumc_error *error)
{
  assert(recorder->phase == GPUMC_RECORDER_APPENDING && table < recorder->n_tables);
  enum gpumc_status status = gpumc_table_add_row(&recorder->tables[table], row, error);
  if (status != GPUMC_OK)
    return status;
  bool full = gpumc_long_tables_add(recorder, table, 1);
  if (full || gpumc_clock() - recorder->last_flush > seconds_between_flushes)
    status = gpumc_recorder_flush(recorder, error);
  return status;
}

size_t gpumc_recorder_count(const struct gpumc_recorder *recorder, size_t table)
{
  return recorder->tables[table].n_rows;
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
  enum gpumc_status status = gpumc_long_tables_log(recorder, error);
  if (status == GPUMC_OK)
    status = store_tables(recorder, error);
  return status == GPUMC_OK ? gpumc_hdf5_check(recorder->file, error) : status;
}

enum gpumc_status
gpumc_recorder_close_tables(struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  enum gpumc_status status = gpumc_recorder_flush(recorder, error);
  if (status == GPUMC_OK)
    status = close_file(recorder, error);
  if (status == GPUMC_OK)
    status = gpumc_hdf5_open(recorder->partial, GPUMC_HDF5_WRITE, &recorder->file, error);
  if (status == GPUMC_OK)
    recorder->phase = GPUMC_RECORDER_SUMMARIZING;
  return status;
}

enum gpumc_status gpumc_recorder_finish(struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  assert(recorder->phase == GPUMC_RECORDER_SUMMARIZING);
  enum gpumc_status status = gpumc_recorder_integer(recorder, "/", "complete", 1, error);
  if (status == GPUMC_OK)
    status = close_file(recorder, error);
  /* Before the seal as well, so that no power failure leaves a seal without what it seals: such a
   * file would look like a damaged result. */
  if (status == GPUMC_OK)
    status = gpumc_file_sync(recorder->partial, error);
  if (status == GPUMC_OK)
    status = gpumc_seal_file(recorder->partial, error);
  if (status == GPUMC_OK)
    status = gpumc_file_sync(recorder->partial, error);
  if (status == GPUMC_OK)
    status = gpumc_file_publish_new(recorder->partial, recorder->output, error);
  if (status == GPUMC_OK)
    recorder->phase = GPUMC_RECORDER_FINISHED;
  return status;
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
  gpumc_attribute_list_free(&recorder->attributes);
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
