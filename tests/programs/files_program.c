/* Writes the files of gpumc without any model: for scripts that read, kill and spoil them.
 *
 *   gpumc_files_program result OUTPUT ROWS      a finished result
 *   gpumc_files_program partial OUTPUT ROWS     the same, ended before it is finished
 *   gpumc_files_program series OUTPUT ROWS      a result with series, gone on with from its
 *                                               checkpoint, of which there is one every 40 rows
 *   gpumc_files_program grow OUTPUT             a working file to which a row is added every 10 ms
 *   gpumc_files_program checkpoint PATH COUNT   COUNT checkpoints one after the other (0: no end)
 *   gpumc_files_program verify PATH             prints the number in the checkpoint
 *   gpumc_files_program seal PATH               makes a checkpoint whole that was changed
 *   gpumc_files_program info FILE               state and summary of a result
 *
 * Exit status and message are those of the library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/storage/checkpoint.h"
#include "core/storage/hdf5_file.h"
#include "core/storage/recorder.h"
#include "core/storage/result_info.h"
#include "core/storage/side_files.h"

enum { N_BLOCKS = 4, VALUES = 20000 };
enum { ROWS_A_CHECKPOINT = 40, ROWS_A_FLUSH = 15 };

static const struct gpumc_column columns[] = {
    {{"beta", "inverse temperature", "1/J", "\\beta"}, 1, false, NULL, 0},
    {{"energy", "energy per site", "J", "e"}, 1, false, NULL, 0},
    {{"population", "replicas", "1", "R"}, 1, true, NULL, 0},
    {{"block_energy", "energy per site of each block", "J", "e_b"}, N_BLOCKS, false, "block", 0},
};

static enum gpumc_status
append(struct gpumc_recorder *recorder, size_t table, size_t i, struct gpumc_error *error)
{
  double x = (double)i;
  double row[3 + N_BLOCKS] = {0.01 * x, -2 + 0.001 * x, 1000 + x};
  for (size_t block = 0; block < N_BLOCKS; block++)
    row[3 + block] = row[1] + 0.1 * (double)block;
  return gpumc_recorder_append(recorder, table, row, error);
}

static enum gpumc_status start(const char *output, struct gpumc_recorder **recorder, size_t *table,
                               struct gpumc_error *error)
{
  struct gpumc_recorder_header header = {output, "a test \xce\xb2", "gpumc: 1\n", "{\"gpumc\":1}",
                                         "@article{x}"};
  enum gpumc_status status = gpumc_recorder_create(&header, recorder, error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_add_table(*recorder, "runs/0000", columns, 4, table, error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_text(*recorder, "provenance", "host", "nowhere", error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_start(*recorder, error);
  return status;
}

static enum gpumc_status
summarize(struct gpumc_recorder *recorder, size_t table, struct gpumc_error *error)
{
  size_t n;
  const double *rows = gpumc_recorder_rows(recorder, table, &n);
  double *values = calloc(3 * n + 1, sizeof *values);
  if (values == NULL)
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory");
  for (size_t i = 0; i < n; i++) {
    values[i] = rows[i * (3 + N_BLOCKS)];
    values[n + i] = rows[i * (3 + N_BLOCKS) + 1];
    values[2 * n + i] = 0.5;
  }
  struct gpumc_dataset sets[] = {
      {"summary", columns[0].label, 1, {n}, {NULL}, false, values},
      {"summary", columns[1].label, 1, {n}, {"summary/beta"}, false, values + n},
      {"summary",
       {"energy_error", "standard error", "J", "\\sigma"},
       1,
       {n},
       {"summary/beta"},
       false,
       values + 2 * n},
      {"summary", {"sites", "number of sites", "1", "N"}, 0, {0}, {NULL}, true, (double[]){64}},
  };
  enum gpumc_status status = gpumc_recorder_close_tables(recorder, error);
  for (size_t i = 0; i < 4 && status == GPUMC_OK; i++)
    status = gpumc_recorder_dataset(recorder, &sets[i], error);
  free(values);
  if (status == GPUMC_OK)
    status = gpumc_recorder_text(recorder, "summary", "warnings", "none", error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_number(recorder, "provenance", "update_rate", 0.1, error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_integer(recorder, "provenance", "resumes", 2, error);
  return status == GPUMC_OK ? gpumc_recorder_finish(recorder, error) : status;
}

static enum gpumc_status
write_result(const char *output, size_t n_rows, int finish, struct gpumc_error *error)
{
  size_t table = 0;
  struct gpumc_recorder *recorder = NULL;
  enum gpumc_status status = start(output, &recorder, &table, error);
  for (size_t i = 0; i < n_rows && status == GPUMC_OK; i++)
    status = append(recorder, table, i, error);
  if (status == GPUMC_OK)
    status = finish ? summarize(recorder, table, error) : gpumc_recorder_flush(recorder, error);
  gpumc_recorder_free(recorder);
  return status;
}

/* Two series, of which the second has a row for every third of the first, and a table. */
static enum gpumc_status
declare_series(const char *output, struct gpumc_recorder **recorder, struct gpumc_error *error)
{
  struct gpumc_recorder_header header = {output, "series", "gpumc: 1\n", "{\"gpumc\":1}", ""};
  size_t table;
  enum gpumc_status status = gpumc_recorder_create(&header, recorder, error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_add_series(*recorder, "series/0000", columns, 4, &table, error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_add_series(*recorder, "series/0001", columns, 4, &table, error);
  return status == GPUMC_OK
             ? gpumc_recorder_add_table(*recorder, "runs/0000", columns, 4, &table, error)
             : status;
}

static enum gpumc_status
load_series(struct gpumc_recorder *recorder, const char *path, struct gpumc_error *error)
{
  struct gpumc_checkpoint_reader *reader = NULL;
  if (!gpumc_file_exists(path))
    return GPUMC_OK;
  enum gpumc_status status = gpumc_checkpoint_open(path, &reader, error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_load(recorder, reader, error);
  gpumc_checkpoint_close(reader);
  return status;
}

static enum gpumc_status
save_series(struct gpumc_recorder *recorder, const char *path, struct gpumc_error *error)
{
  struct gpumc_checkpoint_writer *writer = NULL;
  enum gpumc_status status = gpumc_checkpoint_begin(path, &writer, error);
  if (status != GPUMC_OK)
    return status;
  status = gpumc_recorder_save(recorder, writer, error);
  if (status == GPUMC_OK)
    return gpumc_checkpoint_commit(writer, error);
  gpumc_checkpoint_abandon(writer);
  return status;
}

static enum gpumc_status append_series(struct gpumc_recorder *recorder, const char *checkpoint,
                                       size_t n_rows, struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  for (size_t i = gpumc_recorder_count(recorder, 0); i < n_rows && status == GPUMC_OK; i++) {
    for (size_t table = 0; table < 3 && status == GPUMC_OK; table++)
      if (table != 1 || i % 3 == 0)
        status = append(recorder, table, i, error);
    if (status == GPUMC_OK && i % ROWS_A_FLUSH == 0)
      status = gpumc_recorder_flush(recorder, error);
    if (status == GPUMC_OK && (i + 1) % ROWS_A_CHECKPOINT == 0)
      status = save_series(recorder, checkpoint, error);
  }
  return status;
}

/* As a run does it, side files included. */
static enum gpumc_status write_series(const char *output, size_t n_rows, struct gpumc_error *error)
{
  struct gpumc_task_files files;
  struct gpumc_recorder *recorder = NULL;
  enum gpumc_status status = gpumc_task_files_init(&files, output, error);
  if (status != GPUMC_OK)
    return status;
  if (!gpumc_file_exists(files.output)) {
    status = declare_series(output, &recorder, error);
    if (status == GPUMC_OK)
      status = load_series(recorder, files.checkpoint, error);
    if (status == GPUMC_OK)
      status = gpumc_recorder_start(recorder, error);
    if (status == GPUMC_OK)
      status = append_series(recorder, files.checkpoint, n_rows, error);
    if (status == GPUMC_OK)
      status = gpumc_recorder_close_tables(recorder, error);
    if (status == GPUMC_OK)
      status = gpumc_recorder_finish(recorder, error);
    gpumc_recorder_free(recorder);
  }
  if (status == GPUMC_OK)
    status = gpumc_file_remove(files.checkpoint, error);
  if (status == GPUMC_OK)
    status = gpumc_file_remove(files.log, error);
  gpumc_task_files_free(&files);
  return status;
}

static enum gpumc_status grow(const char *output, struct gpumc_error *error)
{
  size_t table = 0;
  struct timespec pause = {0, 10000000};
  struct gpumc_recorder *recorder = NULL;
  enum gpumc_status status = start(output, &recorder, &table, error);
  for (size_t i = 0; status == GPUMC_OK; i++) {
    status = append(recorder, table, i, error);
    if (status == GPUMC_OK)
      status = gpumc_recorder_flush(recorder, error);
    nanosleep(&pause, NULL);
  }
  gpumc_recorder_free(recorder);
  return status;
}

static enum gpumc_status
write_checkpoint(const char *path, uint64_t number, struct gpumc_error *error)
{
  static uint64_t values[VALUES];
  struct gpumc_checkpoint_writer *writer = NULL;
  for (size_t i = 0; i < VALUES; i++)
    values[i] = number;
  enum gpumc_status status = gpumc_checkpoint_begin(path, &writer, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_put(writer, "values", GPUMC_UINT64, VALUES, 1, values, error);
  if (status == GPUMC_OK)
    return gpumc_checkpoint_commit(writer, error);
  gpumc_checkpoint_abandon(writer);
  return status;
}

static enum gpumc_status
write_checkpoints(const char *path, uint64_t count, struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  for (uint64_t i = 1; (count == 0 || i <= count) && status == GPUMC_OK; i++)
    status = write_checkpoint(path, i, error);
  return status;
}

static enum gpumc_status verify(const char *path, struct gpumc_error *error)
{
  static uint64_t values[VALUES];
  struct gpumc_checkpoint_reader *reader = NULL;
  enum gpumc_status status = gpumc_checkpoint_open(path, &reader, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_get_rows(reader, "values", GPUMC_UINT64, 0, VALUES, 1, values, error);
  gpumc_checkpoint_close(reader);
  for (size_t i = 0; i < VALUES && status == GPUMC_OK; i++)
    if (values[i] != values[0])
      status = gpumc_error_set(error, GPUMC_FAILURE, "%s: torn", path);
  if (status == GPUMC_OK)
    printf("%llu\n", (unsigned long long)values[0]);
  return status;
}

static enum gpumc_status info(const char *path, struct gpumc_error *error)
{
  struct gpumc_result result;
  enum gpumc_status status = gpumc_result_read(path, &result, error);
  if (status != GPUMC_OK)
    return status;
  printf("complete %d, runs %zu\n", result.complete, result.n_runs);
  for (size_t i = 0; i < result.n_datasets; i++)
    printf("%s [%s] %zu\n", result.datasets[i].name, result.datasets[i].units,
           result.datasets[i].shape[0]);
  gpumc_result_free(&result);
  return GPUMC_OK;
}

int main(int argc, char **argv)
{
  struct gpumc_error error = {0};
  enum gpumc_status status = GPUMC_INVALID;
  gpumc_hdf5_prepare_program();
  const char *command = argc > 2 ? argv[1] : "";
  unsigned long count = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
  if (strcmp(command, "result") == 0 || strcmp(command, "partial") == 0)
    status = write_result(argv[2], count, strcmp(command, "result") == 0, &error);
  else if (strcmp(command, "series") == 0)
    status = write_series(argv[2], count, &error);
  else if (strcmp(command, "grow") == 0)
    status = grow(argv[2], &error);
  else if (strcmp(command, "checkpoint") == 0)
    status = write_checkpoints(argv[2], count, &error);
  else if (strcmp(command, "verify") == 0)
    status = verify(argv[2], &error);
  else if (strcmp(command, "seal") == 0)
    status = gpumc_checkpoint_seal(argv[2], &error);
  else if (strcmp(command, "info") == 0)
    status = info(argv[2], &error);
  if (status != GPUMC_OK)
    fprintf(stderr, "%s\n", gpumc_error_text(&error));
  gpumc_error_free(&error);
  return (int)status;
}
