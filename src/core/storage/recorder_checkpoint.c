/* The rows of all tables to and from a checkpoint: for table i the text "recorder/i/layout" and the
 * array "recorder/i/rows" of [rows, row width], or "recorder/i/count" for a long one. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/storage/recorder_long.h"

enum { LONGEST_NAME = 64 };

static void member_name(char name[static LONGEST_NAME], size_t table, const char *member)
{
  snprintf(name, LONGEST_NAME, "recorder/%zu/%s", table, member);
}

static enum gpumc_status
layout_of(const struct gpumc_table *table, char **layout, struct gpumc_error *error)
{
  *layout = gpumc_table_layout(table);
  if (*layout == NULL)
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: the layout of %s", table->group);
  return GPUMC_OK;
}

static enum gpumc_status save_table(const struct gpumc_table *table, size_t index,
                                    struct gpumc_checkpoint_writer *writer,
                                    struct gpumc_error *error)
{
  char name[LONGEST_NAME];
  char *layout;
  enum gpumc_status status = layout_of(table, &layout, error);
  if (status != GPUMC_OK)
    return status;
  member_name(name, index, "layout");
  status = gpumc_checkpoint_put_text(writer, name, layout, error);
  free(layout);
  if (status != GPUMC_OK)
    return status;
  if (table->is_long) {
    uint64_t count = table->n_rows;
    member_name(name, index, "count");
    return gpumc_checkpoint_put(writer, name, GPUMC_UINT64, 1, 1, &count, error);
  }
  member_name(name, index, "rows");
  return gpumc_checkpoint_put(writer, name, GPUMC_FLOAT64, table->n_rows, table->row_width,
                              table->rows, error);
}

enum gpumc_status gpumc_recorder_save(struct gpumc_recorder *recorder,
                                      struct gpumc_checkpoint_writer *writer,
                                      struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  for (size_t i = 0; i < recorder->n_tables && status == GPUMC_OK; i++)
    status = save_table(&recorder->tables[i], i, writer, error);
  if (status == GPUMC_OK)
    status = gpumc_long_tables_save(recorder, writer, error);
  return status;
}

static enum gpumc_status check_layout(const struct gpumc_table *table, size_t index,
                                      struct gpumc_checkpoint_reader *reader,
                                      struct gpumc_error *error)
{
  char name[LONGEST_NAME];
  char *expected;
  char *found = NULL;
  enum gpumc_status status = layout_of(table, &expected, error);
  member_name(name, index, "layout");
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_get_text(reader, name, &found, error);
  if (status == GPUMC_OK && strcmp(found, expected) != 0)
    status = gpumc_error_set(error, GPUMC_FAILURE,
                             "the checkpoint was written for another table: \"%s\" instead of "
                             "\"%s\"",
                             found, expected);
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
  enum gpumc_status status = gpumc_checkpoint_shape(reader, name, &n_rows, &width, error);
  if (status == GPUMC_OK)
    status = gpumc_table_reserve(table, n_rows, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_get_rows(reader, name, GPUMC_FLOAT64, 0, n_rows, table->row_width,
                                       table->rows, error);
  if (status == GPUMC_OK)
    table->n_rows = n_rows;
  return status;
}

static enum gpumc_status load_table(struct gpumc_table *table, size_t index,
                                    struct gpumc_checkpoint_reader *reader,
                                    struct gpumc_error *error)
{
  enum gpumc_status status = check_layout(table, index, reader, error);
  if (status != GPUMC_OK)
    return status;
  return table->is_long ? load_count(table, index, reader, error)
                        : load_rows(table, index, reader, error);
}

enum gpumc_status gpumc_recorder_load(struct gpumc_recorder *recorder,
                                      struct gpumc_checkpoint_reader *reader,
                                      struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  assert(recorder->phase == GPUMC_RECORDER_DECLARING);
  for (size_t i = 0; i < recorder->n_tables && status == GPUMC_OK; i++)
    status = load_table(&recorder->tables[i], i, reader, error);
  if (status == GPUMC_OK)
    status = gpumc_long_tables_load(recorder, reader, error);
  return status;
}
