/* Results in HDF5: tables that grow row by row in a working file, and the finished file.
 *
 * A table is a group of columns over a common axis; rows are also kept in memory, for checkpoints,
 * for rebuilding the working file and for the summary. Rows of a long table (a time series) go to a
 * log beside the file instead, OUTPUT.log, from which the working file is rebuilt. The working
 * file, OUTPUT.partial, is open in single-writer/multiple-reader mode. Format: docs/file-format.md.
 *
 * A program that uses it calls gpumc_hdf5_prepare_program() (hdf5_file.h) first thing in main().
 * After a failure the recorder can only be freed; the working file then ends at the failure. */
#ifndef GPUMC_CORE_RECORDER_H
#define GPUMC_CORE_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/storage/checkpoint.h"

struct gpumc_recorder;

/* The attributes of every dataset. */
struct gpumc_label {
  const char *name;
  const char *long_name;
  const char *units;
  const char *symbol;
};

/* One column: `width` values per row (1: dataset [rows], else [rows, width]). Column 0 of a table
 * is its axis, width 1. `across`: name of the axis along the width ("block"), NULL for width 1. Raw
 * bytes: a dataset [rows, bytes] of uint8, without an axis; in the row they take the place of
 * numbers, gpumc_column_words(bytes) of them. */
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

/* The contents of /, /config and /provenance from the start. All strings are copied. */
struct gpumc_recorder_header {
  const char *output; /* path of the finished file */
  const char *title;
  const char *source;    /* the YAML as given */
  const char *resolved;  /* JSON */
  const char *citations; /* BibTeX */
};

/* Creates a recorder; nothing is written yet. Checks that the directory is writable (creating it if
 * it is missing). */
GPUMC_MUST_CHECK enum gpumc_status gpumc_recorder_create(const struct gpumc_recorder_header *header,
                                                         struct gpumc_recorder **recorder,
                                                         struct gpumc_error *error);

/* Creates a recorder that touches no file, for a process that does the same as the one that writes.
 * It can be declared, started, appended to, flushed, saved and loaded. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_recorder_create_silent(const struct gpumc_recorder_header *header,
                             struct gpumc_recorder **recorder, struct gpumc_error *error);

/* Declares a table before the start: group "runs/0000". */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_recorder_add_table(struct gpumc_recorder *recorder, const char *group,
                         const struct gpumc_column *columns, size_t n_columns, size_t *table,
                         struct gpumc_error *error);
/* The same for a table with very many rows: memory holds only those that have not reached the
 * file. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_recorder_add_series(struct gpumc_recorder *recorder, const char *group,
                          const struct gpumc_column *columns, size_t n_columns, size_t *table,
                          struct gpumc_error *error);
/* Returns the host memory of all tables of that kind together, with rows of `row` bytes and `total`
 * bytes. */
double gpumc_recorder_series_bytes(double row, double total);
/* Writes the working file with the existing rows (after a resume, those of the checkpoint), renames
 * it into place and opens it for appending. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_recorder_start(struct gpumc_recorder *recorder, struct gpumc_error *error);
/* Appends `row`: the columns' values one after the other, sum of widths in all. Integers above 2^53
 * are not representable (GPUMC_FAILURE, as for a NaN). The row goes to memory; waiting rows reach
 * the file together, by a flush or here if the last one was more than two seconds ago or many are
 * waiting. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_recorder_append(struct gpumc_recorder *recorder,
                                                         size_t table, const double *row,
                                                         struct gpumc_error *error);
size_t gpumc_recorder_count(const struct gpumc_recorder *recorder, size_t table);
/* Returns the columns that a table was declared with, and their number. */
const struct gpumc_column *
gpumc_recorder_columns(const struct gpumc_recorder *recorder, size_t table, size_t *n_columns);
/* Returns the rows of a table that is not a series, row-major; valid until the next append. */
const double *
gpumc_recorder_rows(const struct gpumc_recorder *recorder, size_t table, size_t *n_rows);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_recorder_flush(struct gpumc_recorder *recorder, struct gpumc_error *error);

/* Saves all rows to a checkpoint, or loads them from one; load before the start. For series the
 * checkpoint holds only the number of rows: the log is synced to the disk first, verified on
 * loading and cut back at the start; it must be kept as long as the checkpoint. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_recorder_save(struct gpumc_recorder *recorder,
                                                       struct gpumc_checkpoint_writer *writer,
                                                       struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status gpumc_recorder_load(struct gpumc_recorder *recorder,
                                                       struct gpumc_checkpoint_reader *reader,
                                                       struct gpumc_error *error);

/* Leaves single-writer mode; from here on datasets and attributes can be added. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_recorder_close_tables(struct gpumc_recorder *recorder, struct gpumc_error *error);

/* A dataset of rank 0 to 3 at "group/name" with its axes by path ("summary/beta"; NULL: none).
 * Write an axis as a dataset first. Values are float64, or int64 if `integer`; NULL: its rows
 * follow by gpumc_recorder_dataset_rows. */
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
/* Writes rows first .. first+count-1, along the first dimension, of an existing dataset of rank 1
 * or more: values[count][...]. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_recorder_dataset_rows(struct gpumc_recorder *recorder, const struct gpumc_dataset *dataset,
                            size_t first, size_t count, const double *values,
                            struct gpumc_error *error);
/* Writes attributes of the object at `path` ("/", "provenance", "summary", "runs/0000"; created as
 * a group if missing). Those given before the start are kept and are in the working file from its
 * first instant; after the start they must wait until the tables are closed. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_recorder_text(struct gpumc_recorder *recorder, const char *path, const char *name,
                    const char *value, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status gpumc_recorder_number(struct gpumc_recorder *recorder,
                                                         const char *path, const char *name,
                                                         double value, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status gpumc_recorder_integer(struct gpumc_recorder *recorder,
                                                          const char *path, const char *name,
                                                          int64_t value, struct gpumc_error *error);

/* Marks the file complete, closes, seals and fsyncs it, renames it to the output path, and fsyncs
 * the directory. GPUMC_FAILURE if a file already exists at that path: it and the working file stay
 * as they are. The caller removes the log of series after the checkpoint that needs it. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_recorder_finish(struct gpumc_recorder *recorder, struct gpumc_error *error);
/* The same, replacing any file at the output path, which is kept until its successor is
 * complete. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_recorder_replace(struct gpumc_recorder *recorder, struct gpumc_error *error);
/* Closes what is open and leaves the working file. Legal on NULL. */
void gpumc_recorder_free(struct gpumc_recorder *recorder);

#endif
