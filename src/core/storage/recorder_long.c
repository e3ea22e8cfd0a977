/* Long tables: rows into the log, and from it after a resume. */
#include "core/storage/recorder_long.h"

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
  enum gpumc_status status = GPUMC_OK;
  for (size_t i = 0; i < recorder->n_tables && status == GPUMC_OK; i++) {
    struct gpumc_table *table = &recorder->tables[i];
    if (!table->is_long || table->n_logged == table->n_rows)
      continue;
    struct gpumc_log_record rows = {i, table->n_logged, table->n_rows - table->n_logged};
    status = gpumc_log_append(recorder->log, &rows, table->row_width,
                              gpumc_table_row(table, table->n_logged), error);
    if (status == GPUMC_OK)
      table->n_logged = table->n_rows;
  }
  return status;
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
    return gpumc_log_damaged(recorder->log, "a record of a table that is not there", error);
  const struct gpumc_table *table = &recorder->tables[record->table];
  if (record->first_row != table->n_logged)
    return gpumc_log_damaged(recorder->log, "a record of other rows than the next ones", error);
  return gpumc_log_check_size(recorder->log, record, table->row_width, error);
}

/* The rows of the next record behind those that its table has in memory; `*table` is NULL behind
 * the last record. */
static enum gpumc_status
read_record(struct gpumc_recorder *recorder, struct gpumc_table **table, struct gpumc_error *error)
{
  struct gpumc_log_record record;
  *table = NULL;
  enum gpumc_status status = gpumc_log_next(recorder->log, &record, error);
  if (status != GPUMC_OK || record.n_rows == 0)
    return status;
  status = check_record(recorder, &record, error);
  if (status != GPUMC_OK)
    return status;
  struct gpumc_table *own = &recorder->tables[record.table];
  status = gpumc_table_reserve(own, own->n_rows - own->n_dropped + (size_t)record.n_rows, error);
  if (status == GPUMC_OK)
    status = gpumc_log_values(recorder->log, &record, own->row_width,
                              gpumc_table_row(own, own->n_rows), error);
  if (status != GPUMC_OK)
    return status;
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
  enum gpumc_status status = read_record(recorder, &table, error);
  while (status == GPUMC_OK && table != NULL) {
    size_t n_rows = table->n_logged - table->n_rows;
    table->n_rows = table->n_logged;
    if (gpumc_long_tables_add(recorder, (size_t)(table - recorder->tables), n_rows))
      status = store(recorder, error);
    if (status == GPUMC_OK)
      status = read_record(recorder, &table, error);
  }
  return status;
}

enum gpumc_status gpumc_long_tables_save(struct gpumc_recorder *recorder,
                                         struct gpumc_checkpoint_writer *writer,
                                         struct gpumc_error *error)
{
  if (recorder->log == NULL)
    return GPUMC_OK;
  enum gpumc_status status = gpumc_long_tables_log(recorder, error);
  if (status == GPUMC_OK)
    status = gpumc_log_sync(recorder->log, error);
  uint64_t extent[2] = {recorder->log->length, gpumc_checksum_value(&recorder->log->checksum)};
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_put(writer, "recorder/log", GPUMC_UINT64, 2, 1, extent, error);
  return status;
}

/* All records by their checksums, and the tables by the numbers of rows that the checkpoint has for
 * them. The rows are read and forgotten. */
static enum gpumc_status
verify(struct gpumc_recorder *recorder, uint64_t checksum, struct gpumc_error *error)
{
  struct gpumc_table *table;
  enum gpumc_status status;
  bool agrees = true;
  size_t *n_saved;
  status = gpumc_allocate_array(&n_saved, recorder->n_tables, "numbers of rows", error);
  if (status != GPUMC_OK)
    return status;
  for (size_t i = 0; i < recorder->n_tables; i++)
    n_saved[i] = recorder->tables[i].n_rows;
  forget_rows(recorder);
  do
    status = read_record(recorder, &table, error);
  while (status == GPUMC_OK && table != NULL);
  for (size_t i = 0; i < recorder->n_tables; i++) {
    agrees = agrees && (!recorder->tables[i].is_long || recorder->tables[i].n_logged == n_saved[i]);
    recorder->tables[i].n_rows = n_saved[i];
  }
  free(n_saved);
  if (status == GPUMC_OK && !(agrees && gpumc_checksum_value(&recorder->log->checksum) == checksum))
    status =
        gpumc_error_set(error, GPUMC_FAILURE,
                        "%s: not the log that the checkpoint was written with", recorder->log_path);
  return status;
}

enum gpumc_status gpumc_long_tables_load(struct gpumc_recorder *recorder,
                                         struct gpumc_checkpoint_reader *reader,
                                         struct gpumc_error *error)
{
  uint64_t extent[2];
  if (!has_long_tables(recorder))
    return GPUMC_OK;
  enum gpumc_status status =
      gpumc_checkpoint_get_rows(reader, "recorder/log", GPUMC_UINT64, 0, 2, 1, extent, error);
  if (status == GPUMC_OK)
    status = gpumc_log_open(recorder->log_path, extent[0], &recorder->log, error);
  if (status == GPUMC_OK)
    status = verify(recorder, extent[1], error);
  return status;
}
