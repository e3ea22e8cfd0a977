/* Long tables, whose rows are in the log instead of in memory and in checkpoints. */
#include "core/storage/recorder/recorder_internal.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/memory.h"

/* A record, what is gathered for the file, and a chunk that HDF5 makes of it. */
static const double copies_on_their_way = 3;
static const double copy_bytes = 0x1p20; /* unless a row is larger */

double gpumc_recorder_series_bytes(double row, double total)
{
  const double waiting = row * ceil(GPUMC_TABLE_WAITING_BYTES / row);
  return fmin(total, waiting) + copies_on_their_way * fmin(total, fmax(row, copy_bytes));
}

static bool has_long_tables(const struct gpumc_recorder *recorder)
{
  for (size_t i = 0; i < recorder->n_tables; i++)
    if (recorder->tables[i].is_long)
      return true;
  return false;
}

enum gpumc_status
gpumc_long_tables_begin(struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  if (!has_long_tables(recorder))
    return GPUMC_OK;
  if (recorder->log != NULL)
    return gpumc_log_cut(recorder->log, error);
  return gpumc_log_create(recorder->log_path, &recorder->log, error);
}

enum gpumc_status gpumc_long_tables_log(struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  for (size_t i = 0; i < recorder->n_tables; i++) {
    struct gpumc_table *table = &recorder->tables[i];
    if (!table->is_long || table->n_logged == table->n_rows)
      continue;
    struct gpumc_log_record rows = {i, table->n_logged, table->n_rows - table->n_logged};
    GPUMC_TRY(gpumc_log_append(recorder->log, &rows, table->row_width,
                               gpumc_table_row(table, table->n_logged), error));
    table->n_logged = table->n_rows;
  }
  return GPUMC_OK;
}

void gpumc_long_tables_drop(struct gpumc_recorder *recorder)
{
  for (size_t i = 0; i < recorder->n_tables; i++) {
    struct gpumc_table *table = &recorder->tables[i];
    if (table->is_long)
      table->n_stored = table->n_logged = table->n_dropped = table->n_rows;
  }
}

bool gpumc_long_tables_add(struct gpumc_recorder *recorder, size_t table, size_t n_rows)
{
  if (recorder->tables[table].is_long)
    recorder->waiting += n_rows * recorder->tables[table].row_width * sizeof(double);
  return recorder->waiting >= GPUMC_TABLE_WAITING_BYTES;
}

static enum gpumc_status check_record(const struct gpumc_recorder *recorder,
                                      const struct gpumc_log_record *record,
                                      struct gpumc_error *error)
{
  if (record->table >= recorder->n_tables || !recorder->tables[record->table].is_long)
    return gpumc_log_damaged(recorder->log, "a record of an unknown table", error);
  const struct gpumc_table *table = &recorder->tables[record->table];
  if (record->first_row != table->n_logged)
    return gpumc_log_damaged(recorder->log, "a record whose rows are not the next ones", error);
  return gpumc_log_check_size(recorder->log, record, table->row_width, error);
}

/* Reads the rows of the next record, after those that its table has in memory; `*table` is NULL
 * after the last record. */
static enum gpumc_status
read_record(struct gpumc_recorder *recorder, struct gpumc_table **table, struct gpumc_error *error)
{
  struct gpumc_log_record record;
  *table = NULL;
  GPUMC_TRY(gpumc_log_next(recorder->log, &record, error));
  if (record.n_rows == 0)
    return GPUMC_OK;
  GPUMC_TRY(check_record(recorder, &record, error));
  struct gpumc_table *own = &recorder->tables[record.table];
  GPUMC_TRY(gpumc_table_reserve(own, own->n_rows - own->n_dropped + (size_t)record.n_rows, error));
  GPUMC_TRY(gpumc_log_values(recorder->log, &record, own->row_width,
                             gpumc_table_row(own, own->n_rows), error));
  own->n_logged += (size_t)record.n_rows;
  *table = own;
  return GPUMC_OK;
}

static void forget_rows(struct gpumc_recorder *recorder)
{
  for (size_t i = 0; i < recorder->n_tables; i++) {
    struct gpumc_table *table = &recorder->tables[i];
    if (table->is_long)
      table->n_rows = table->n_stored = table->n_logged = table->n_dropped = 0;
  }
}

enum gpumc_status gpumc_long_tables_replay(struct gpumc_recorder *recorder,
                                           gpumc_long_tables_store *store,
                                           struct gpumc_error *error)
{
  struct gpumc_table *table;
  if (recorder->log == NULL)
    return GPUMC_OK;
  forget_rows(recorder);
  GPUMC_TRY(read_record(recorder, &table, error));
  while (table != NULL) {
    size_t n_rows = table->n_logged - table->n_rows;
    table->n_rows = table->n_logged;
    if (gpumc_long_tables_add(recorder, (size_t)(table - recorder->tables), n_rows))
      GPUMC_TRY(store(recorder, error));
    GPUMC_TRY(read_record(recorder, &table, error));
  }
  return GPUMC_OK;
}

enum gpumc_status gpumc_long_tables_save(struct gpumc_recorder *recorder,
                                         struct gpumc_checkpoint_writer *writer,
                                         struct gpumc_error *error)
{
  if (recorder->log == NULL)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_long_tables_log(recorder, error));
  GPUMC_TRY(gpumc_log_sync(recorder->log, error));
  uint64_t extent[2] = {recorder->log->length, gpumc_checksum_value(&recorder->log->checksum)};
  return gpumc_checkpoint_put(writer, "recorder/log", GPUMC_UINT64, 2, 1, extent, error);
}

static enum gpumc_status read_to_end(struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  struct gpumc_table *table;
  do
    GPUMC_TRY(read_record(recorder, &table, error));
  while (table != NULL);
  return GPUMC_OK;
}

/* Verifies all records by their checksums, and the tables by the numbers of rows that the
 * checkpoint has for them. The rows are read and forgotten. */
static enum gpumc_status
verify(struct gpumc_recorder *recorder, uint64_t checksum, struct gpumc_error *error)
{
  bool agrees = true;
  size_t *n_saved;
  GPUMC_TRY(gpumc_allocate_array(&n_saved, recorder->n_tables, "numbers of rows", error));
  for (size_t i = 0; i < recorder->n_tables; i++)
    n_saved[i] = recorder->tables[i].n_rows;
  forget_rows(recorder);
  const enum gpumc_status status = read_to_end(recorder, error);
  for (size_t i = 0; i < recorder->n_tables; i++) {
    agrees = agrees && (!recorder->tables[i].is_long || recorder->tables[i].n_logged == n_saved[i]);
    recorder->tables[i].n_rows = n_saved[i];
  }
  free(n_saved);
  GPUMC_TRY(status);
  if (agrees && gpumc_checksum_value(&recorder->log->checksum) == checksum)
    return GPUMC_OK;
  return gpumc_error_set(error, GPUMC_FAILURE,
                         "%s: is not the log that the checkpoint was written with",
                         recorder->log_path);
}

enum gpumc_status gpumc_long_tables_load(struct gpumc_recorder *recorder,
                                         struct gpumc_checkpoint_reader *reader,
                                         struct gpumc_error *error)
{
  uint64_t extent[2];
  if (!has_long_tables(recorder))
    return GPUMC_OK;
  GPUMC_TRY(
      gpumc_checkpoint_get_rows(reader, "recorder/log", GPUMC_UINT64, 0, 2, 1, extent, error));
  if (recorder->silent) {
    gpumc_long_tables_drop(recorder);
    return GPUMC_OK;
  }
  GPUMC_TRY(gpumc_log_open(recorder->log_path, extent[0], &recorder->log, error));
  return verify(recorder, extent[1], error);
}
