/* Inside the recorder: the log of long tables, OUTPUT.log, to which rows are appended and which is
 * never changed before its end. Format: docs/file-format.md.
 *
 * Every message begins with the path of the log. */
#ifndef GPUMC_CORE_RECORDER_LOG_H
#define GPUMC_CORE_RECORDER_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/checksum.h"
#include "core/base/error.h"

/* `length`: bytes that count; `position`: of the next record to be read. `checksum`: of all bytes
 * written, while reading of those read. */
struct gpumc_log {
  int descriptor;
  char *path;
  uint64_t length, position;
  struct gpumc_checksum checksum;
  unsigned char *buffer;
  size_t capacity;
};

/* Rows first_row .. first_row + n_rows - 1 of a table. */
struct gpumc_log_record {
  uint64_t table, first_row, n_rows;
};

/* What a log begins with. */
#define GPUMC_LOG_MARK "gpumc-series-log"
/* Creates an empty log, replacing one that exists; for files that are not ours see side_files.h. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_log_create(const char *path, struct gpumc_log **log, struct gpumc_error *error);
/* A log whose first `length` bytes count, to be read from its first record on. Changes nothing. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_log_open(const char *path, uint64_t length,
                                                  struct gpumc_log **log,
                                                  struct gpumc_error *error);
/* Legal on NULL. */
void gpumc_log_close(struct gpumc_log *log);

/* Append rows, `values`[n_rows][width], in records of at most a mebibyte or one row. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_log_append(struct gpumc_log *log, const struct gpumc_log_record *rows, size_t width,
                 const double *values, struct gpumc_error *error);
/* Bring what was appended to the disk. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_log_sync(const struct gpumc_log *log, struct gpumc_error *error);

/* The next record without its values; n_rows is 0 behind the last one. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_log_next(struct gpumc_log *log, struct gpumc_log_record *record, struct gpumc_error *error);
/* Its values into `values`[n_rows][width], verified; then the one behind it is next. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_log_values(struct gpumc_log *log, const struct gpumc_log_record *record, size_t width,
                 double *values, struct gpumc_error *error);
/* Whether a record of that many rows can be: it bounds what a damaged one asks for. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_log_check_size(const struct gpumc_log *log,
                                                        const struct gpumc_log_record *record,
                                                        size_t width, struct gpumc_error *error);
/* "PATH: damaged at byte POSITION: WHAT" for what only the caller can see. */
enum gpumc_status
gpumc_log_damaged(const struct gpumc_log *log, const char *what, struct gpumc_error *error);
/* Cut off what is behind `length`, and read from the first record again. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_log_cut(struct gpumc_log *log, struct gpumc_error *error);

#endif
