/* Results in HDF5: tables that grow row by row in a working file, and the finished file.
 *
 * A table is a group of columns over a common axis; rows are kept in memory too, for checkpoints,
 * for rebuilding the working file and for the summary. Those of a long table (a time series) go to
 * a log beside the file instead, OUTPUT.log, from which the working file is rebuilt. The working
 * file, OUTPUT.partial, is open in single-writer/multiple-reader mode. Format: docs/file-format.md.
 *
 * A program that uses it calls gpumc_hdf5_prepare_program() (hdf5_file.h) first thing in main().
 * After a failure the recorder can only be freed; the working file then ends where the failure was.
 */
#ifndef GPUMC_CORE_RECORDER_H
#define GPUMC_CORE_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/storage/checkpoint.h"

struct gpumc_recorder;

/* What every dataset says of itself. */
struct gpumc_label {
  const char *name;
  const char *long_name;
  const char *units;
  const char *symbol;
};

/* One column: `width` values a row (1: dataset [rows], else [rows, width]). Column 0 of a table is
 * its axis, width 1. `across`: name of the axis along the width ("block"), NULL for width 1. Raw
 * bytes: a dataset [rows, bytes] of uint8, without an axis; they stand in the row in place of
 * numbers, gpumc_column_words(bytes) wide. */
struct gpumc_column {
  struct gpumc_label label;
  size_t width;
  bool integer; /* stored as int64, else float64 */
  const char *across;
  size_t bytes; /* 0: numbers */
};
static inline size_t gpumc_column_words(size_t bytes)
{
  return (bytes + sizeof(double) - 1) / sizeof(double);
}

/* What stands in /, /config and /provenance from the start. All strings are copied. */
struct gpumc_recorder_header {
  const char *output; /* path of the finished file */
  const char *title;
  const char *source;    /* the YAML as given */
  const char *resolved;  /* JSON */
  const char *citations; /* BibTeX */
};

/* Nothing is written yet. Checks that the directory can be written (making it where it is missing).
 */
GPUMC_MUST_CHECK enum gpumc_status gpumc_recorder_create(const struct gpumc_recorder_header *header,
                                                         struct gpumc_recorder **recorder,
                                                         struct gpumc_error *error);

/* One that touches no file, of a process that does the same as another one, which writes. It can be
 * declared, started, appended to, flushed, saved and loaded. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_recorder_create_silent(const struct gpumc_recorder_header *header,
                             struct gpumc_recorder **recorder, struct gpumc_error *error);

/* Declare a table before the start: group "runs/0000". */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_recorder_add_table(struct gpumc_recorder *recorder, const char *group,
                         const struct gpumc_column *columns, size_t n_columns, size_t *table,
                         struct gpumc_error *error);
/* The same for a table of very many rows: memory has only those that have not reached the file. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_recorder_add_series(struct gpumc_recorder *recorder, const char *group,
                          const struct gpumc_column *columns, size_t n_columns, size_t *table,
                          struct gpumc_error *error);
/* Host memory of all tables of that kind together, of rows of so many bytes and `total` bytes. */
double gpumc_recorder_series_bytes(double row, double total);
/* Write the working file with the rows there are (after a resume: those of the checkpoint), put it
 * in its place and open it for appending. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_recorder_start(struct gpumc_recorder *recorder, struct gpumc_error *error);
/* `row`: the columns' values one after the other, sum of widths in all. Integers above 2^53 are not
 * representable (GPUMC_FAILURE, as for a NaN). The row goes to memory; the rows that wait there
 * reach the file together, by a flush or here when the last one is more than two seconds ago or
 * much waits. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_recorder_append(struct gpumc_recorder *recorder,
                                                         size_t table, const double *row,
                                                         struct gpumc_error *error);
size_t gpumc_recorder_count(const struct gpumc_recorder *recorder, size_t table);
/* What a table was declared with, and how many columns these are. */
const struct gpumc_column *
gpumc_recorder_columns(const struct gpumc_recorder *recorder, size_t table, size_t *n_columns);
/* The rows of a table that is no series, row-major; valid until the next append. */
const double *
gpumc_recorder_rows(const struct gpumc_recorder *recorder, size_t table, size_t *n_rows);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_recorder_flush(struct gpumc_recorder *recorder, struct gpumc_error *error);

/* All rows to and from a checkpoint; load before the start. Of series the checkpoint has the number
 * of rows: the log is brought to the disk before, verified on loading and cut back at the start; it
 * must stay as long as the checkpoint. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_recorder_save(struct gpumc_recorder *recorder,
                                                       struct gpumc_checkpoint_writer *writer,
                                                       struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status gpumc_recorder_load(struct gpumc_recorder *recorder,
                                                       struct gpumc_checkpoint_reader *reader,
                                                       struct gpumc_error *error);

/* Leave single-writer mode; from here datasets and attributes can be added. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_recorder_close_tables(struct gpumc_recorder *recorder, struct gpumc_error *error);

/* A dataset of rank 0 to 3 at "group/name" with its axes by path ("summary/beta"; NULL: none). An
 * axis is written as a dataset first. Values float64, or int64 when `integer`; NULL: rows of them
 * follow, by gpumc_recorder_dataset_rows. */
enum { GPUMC_DATASET_RANK_MAXIMUM = 3 };
struct gpumc_dataset {
  const char *group;
  struct gpumc_label label;
  size_t rank;
  size_t shape[GPUMC_DATASET_RANK_MAXIMUM];
  const char *axes[GPUMC_DATASET_RANK_MAXIMUM];
  bool integer;
  const double *values;
};
GPUMC_MUST_CHECK enum gpumc_status gpumc_recorder_dataset(struct gpumc_recorder *recorder,
                                                          const struct gpumc_dataset *dataset,
                                                          struct gpumc_error *error);
/* Rows first .. first+count-1, along the first dimension, of a dataset of rank 1 or more that is
 * made already: values[count][...]. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_recorder_dataset_rows(struct gpumc_recorder *recorder, const struct gpumc_dataset *dataset,
                            size_t first, size_t count, const double *values,
                            struct gpumc_error *error);
/* Attributes of the object at `path` ("/", "provenance", "summary", "runs/0000"; made as a group
 * where missing). Given before the start they are kept and stand in the working file from its first
 * instant; after it they must wait until the tables are closed. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_recorder_text(struct gpumc_recorder *recorder, const char *path, const char *name,
                    const char *value, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status gpumc_recorder_number(struct gpumc_recorder *recorder,
                                                         const char *path, const char *name,
                                                         double value, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status gpumc_recorder_integer(struct gpumc_recorder *recorder,
                                                          const char *path, const char *name,
                                                          int64_t value, struct gpumc_error *error);

/* Mark complete, close, seal, fsync, rename to the output path, fsync the directory. GPUMC_FAILURE
 * where there is a file at that path: it and the working file stay as they are. The log of series
 * is left to the caller, who removes it after the checkpoint that needs it. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_recorder_finish(struct gpumc_recorder *recorder, struct gpumc_error *error);
/* The same, in the place of what may stand at the output, which stays until its successor is whole.
 */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_recorder_replace(struct gpumc_recorder *recorder, struct gpumc_error *error);
/* Close what is open, leaving the working file. Legal on NULL. */
void gpumc_recorder_free(struct gpumc_recorder *recorder);

#endif
