/* The tables of a result or a working file: datasets of one group over the same axes, to be read a
 * few rows at a time. */
#ifndef GPUMC_CORE_RESULT_TABLES_H
#define GPUMC_CORE_RESULT_TABLES_H

#include "core/storage/hdf5_file.h"

enum { GPUMC_TABLE_RANK_MAXIMUM = 3 };

/* `path`: of the dataset in the file; NULL of an axis that has none, whose values are 0, 1, ... */
struct gpumc_result_column {
  char *path, *name, *units;
  bool integer;
};

/* `name`: that of the group, "summary" or "runs/0000/bins"; where a group has several tables,
 * followed by a colon and the names of the axes, "samples:sample,beta". `columns`: errors follow
 * what they are of. shape[rank]: of each column; numbers are in C order, one of rank 0 has one. */
struct gpumc_result_table {
  char *name, *group;
  size_t rank;
  size_t shape[GPUMC_TABLE_RANK_MAXIMUM];
  struct gpumc_result_column axes[GPUMC_TABLE_RANK_MAXIMUM];
  size_t n_columns;
  struct gpumc_result_column *columns;
};

struct gpumc_result_tables {
  struct gpumc_hdf5_file *file;
  size_t n;
  struct gpumc_result_table *items;
};

/* All tables of numbers, in the order of the file; `live`: of a working file, with the rows that it
 * has now. Groups that hold bytes, such as configurations, are left out. The file is one that
 * gpumc_result_read has accepted. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_result_tables_open(const char *path, bool live,
                                                            struct gpumc_result_tables *tables,
                                                            struct gpumc_error *error);
/* values[rows][shape[1]][shape[2]] of a column from row `first` on, integers (of at most 2^53) as
 * doubles. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_result_table_read(const struct gpumc_result_tables *tables,
                        const struct gpumc_result_table *table,
                        const struct gpumc_result_column *column, size_t first, size_t rows,
                        double *values, struct gpumc_error *error);
/* values[count] of the axis of a dimension, from number `first` on. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_result_axis_read(const struct gpumc_result_tables *tables,
                       const struct gpumc_result_table *table, size_t dimension, size_t first,
                       size_t count, double *values, struct gpumc_error *error);
/* Numbers of a row: 1 of rank 0 and 1. */
size_t gpumc_result_table_width(const struct gpumc_result_table *table);
/* Legal on a zeroed object; leaves it zeroed. */
void gpumc_result_tables_close(struct gpumc_result_tables *tables);

#endif
