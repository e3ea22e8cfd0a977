/* Inside the recorder: a table, its rows in memory and its datasets in the file. */
#ifndef GPUMC_CORE_RECORDER_TABLE_H
#define GPUMC_CORE_RECORDER_TABLE_H

#include "core/storage/hdf5_file.h"
#include "core/storage/recorder.h"

/* Rows of long tables are brought to the file once so many bytes of them wait, of all together. */
enum { GPUMC_TABLE_WAITING_BYTES = 16 << 20 };

/* `columns[n_columns]`: own copies of everything. Of `n_rows` rows `n_stored` are in the file, and
 * those from `n_dropped` on in memory: rows[n_rows - n_dropped][row_width], room for `capacity`.
 * Ordinary tables drop none; long ones have `n_logged` in the log, and drop what is in the file. */
struct gpumc_table {
  char *group;
  size_t n_columns;
  struct gpumc_column *columns;
  size_t row_width;
  double *rows;
  size_t n_rows, capacity, n_stored, n_dropped, n_logged;
  bool is_long;
};

GPUMC_MUST_CHECK enum gpumc_status gpumc_table_init(struct gpumc_table *table, const char *group,
                                                    const struct gpumc_column *columns,
                                                    size_t n_columns, struct gpumc_error *error);
void gpumc_table_free(struct gpumc_table *table);
/* Group and columns as one text, by which a checkpoint knows its table again. Caller frees; NULL
 * when memory ran out. */
char *gpumc_table_layout(const struct gpumc_table *table);
/* Room for `n_rows` in memory. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_table_reserve(struct gpumc_table *table, size_t n_rows, struct gpumc_error *error);
/* Where a row stands that is in memory, or would be appended there. */
double *gpumc_table_row(const struct gpumc_table *table, size_t row);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_table_add_row(struct gpumc_table *table, const double *row, struct gpumc_error *error);

/* Make the group and its datasets, empty, with attributes and dimension scales. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_table_create(const struct gpumc_table *table,
                                                      const struct gpumc_hdf5_file *file,
                                                      struct gpumc_error *error);
/* Append to the datasets the rows that are not in the file yet: first the values of all tables,
 * then, after a flush, their axes, so that a live reader who takes an axis' length finds that many
 * rows in every column. The axis counts the rows as stored, and a long table drops them. */
enum gpumc_table_part { GPUMC_TABLE_VALUES, GPUMC_TABLE_AXIS };
GPUMC_MUST_CHECK enum gpumc_status
gpumc_table_store(struct gpumc_table *table, enum gpumc_table_part part,
                  const struct gpumc_hdf5_file *file, struct gpumc_error *error);

#endif
