/* Inside the recorder: attributes, datasets, tables, the log, and the recorder itself. */
#ifndef GPUMC_CORE_RECORDER_INTERNAL_H
#define GPUMC_CORE_RECORDER_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/checksum.h"
#include "core/base/error.h"
#include "core/storage/hdf5_file.h"
#include "core/storage/recorder.h"
#include "core/storage/recorder/recorder_undetermined.h"

/* ---- attributes by path, written at once or kept until the file exists ---- */

enum gpumc_attribute_kind {
  GPUMC_ATTRIBUTE_TEXT,
  GPUMC_ATTRIBUTE_NUMBER,
  GPUMC_ATTRIBUTE_INTEGER,
};

struct gpumc_attribute {
  enum gpumc_attribute_kind kind;
  const char *path, *name;
  const char *text;
  double number;
  int64_t integer;
};

struct gpumc_attribute_list {
  size_t count;
  struct gpumc_attribute *items;
};

/* ---- datasets with labels and dimension scales, and values on their way to them ---- */

/* Creates a dataset of `rank` 1 to 3 with the attributes of `label`; extensible along the first
 * dimension in chunks of `chunk_rows`, or of fixed shape if that is 0. Rank 0 is a scalar.
 * Negative, with the error set, on failure. `group` names the group in messages. */
hid_t gpumc_dataset_create(const struct gpumc_hdf5_file *file, hid_t location, const char *group,
                           const struct gpumc_label *label, size_t rank, const hsize_t *shape,
                           size_t chunk_rows, bool integer, struct gpumc_error *error);
/* The same for uint8, extensible, shape[2]. */
hid_t gpumc_dataset_create_bytes(const struct gpumc_hdf5_file *file, hid_t location,
                                 const char *group, const struct gpumc_label *label,
                                 const hsize_t shape[2], size_t chunk_rows,
                                 struct gpumc_error *error);
/* Creates a dataset of fixed shape with values, in its header or compressed if that is shorter;
 * large ones are as those without values. */
hid_t gpumc_dataset_put(const struct gpumc_hdf5_file *file, hid_t location, const char *group,
                        const struct gpumc_label *label, size_t rank, const hsize_t *shape,
                        bool integer, const double *values, struct gpumc_error *error);
/* Writes `values` into rows first .. first+count-1, `width` values each, as float64 or int64.
 * `where` names the dataset in messages. GPUMC_FAILURE also for a non-integer in an integer
 * dataset. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_dataset_write(const struct gpumc_hdf5_file *file, hid_t data, const char *where, bool integer,
                    size_t first, size_t count, size_t width, const double *values,
                    struct gpumc_error *error);
/* The same for whole rows of bytes. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_dataset_write_bytes(const struct gpumc_hdf5_file *file, hid_t data, const char *where,
                          size_t first, size_t count, const uint8_t *bytes,
                          struct gpumc_error *error);

/* ---- axes of datasets ---- */

/* The axes that datasets have been given since they were last written to the file. */
struct gpumc_axis;
struct gpumc_axes {
  size_t count;
  struct gpumc_axis *axis;
};
/* Gives the dimensions of a new dataset the axes at `paths`[rank] (NULL: none). They become
 * dimension scales, under their own names, when they are written. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_axes_attach(struct gpumc_axes *axes, const struct gpumc_hdf5_file *file, hid_t data,
                  const char *where, size_t rank, const char *const *paths,
                  struct gpumc_error *error);
/* Writes to each axis of which datasets it is, and forgets all; call it before the file is
 * closed. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_axes_write(struct gpumc_axes *axes,
                                                    const struct gpumc_hdf5_file *file,
                                                    struct gpumc_error *error);
void gpumc_axes_free(struct gpumc_axes *axes);

/* ---- a table, its rows in memory and its datasets in the file ---- */

/* Rows of long tables are written to the file once this many bytes of them wait, over all
 * tables. */
enum { GPUMC_TABLE_WAITING_BYTES = 16 << 20 };

/* `columns[n_columns]`: own copies of everything. Of `n_rows` rows, `n_stored` are in the file, and
 * those from `n_dropped` on are in memory: rows[n_rows - n_dropped][row_width], room for
 * `capacity`. Ordinary tables drop none; long ones have `n_logged` in the log, and drop those in
 * the file. */
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
/* Makes room for `n_rows` in memory. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_table_reserve(struct gpumc_table *table, size_t n_rows, struct gpumc_error *error);
/* Returns the place of a row that is in memory, or would be appended there. */
double *gpumc_table_row(const struct gpumc_table *table, size_t row);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_table_add_row(struct gpumc_table *table, const double *row, struct gpumc_error *error);

/* Creates the group and its datasets, empty, with attributes and dimension scales. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_table_create(const struct gpumc_table *table, const struct gpumc_hdf5_file *file,
                   struct gpumc_axes *axes, struct gpumc_error *error);
/* Appends to the datasets the rows that are not in the file yet: first the values of all tables,
 * then, after a flush, their axes, so that a live reader who takes an axis' length finds that many
 * rows in every column. Storing the axis marks the rows as stored, and a long table drops them. */
enum gpumc_table_part { GPUMC_TABLE_VALUES, GPUMC_TABLE_AXIS };
GPUMC_MUST_CHECK enum gpumc_status
gpumc_table_store(struct gpumc_table *table, enum gpumc_table_part part,
                  const struct gpumc_hdf5_file *file, struct gpumc_error *error);

/* Saves rows to a checkpoint, or loads them from one (for a long table, their number); `index`: of
 * the table in the recorder. Refuses a checkpoint of another table. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_table_save(const struct gpumc_table *table, size_t index,
                                                    struct gpumc_checkpoint_writer *writer,
                                                    struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status gpumc_table_load(struct gpumc_table *table, size_t index,
                                                    struct gpumc_checkpoint_reader *reader,
                                                    struct gpumc_error *error);

/* ---- the log of long tables, OUTPUT.log, to which rows are appended and which is never changed
 * before its end; docs/file-format.md. Every message begins with the path of the log ---- */

/* `length`: valid bytes; `position`: of the next record to be read. `checksum`: of all bytes
 * written or, while reading, of those read. */
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

/* The first bytes of a log. */
#define GPUMC_LOG_MARK "gpumc-series-log"
/* Creates an empty log, replacing an existing one; for files that are not ours see side_files.h. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_log_create(const char *path, struct gpumc_log **log, struct gpumc_error *error);
/* Opens a log whose first `length` bytes are valid, to be read from its first record on. Changes
 * nothing. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_log_open(const char *path, uint64_t length,
                                                  struct gpumc_log **log,
                                                  struct gpumc_error *error);
/* Legal on NULL. */
void gpumc_log_close(struct gpumc_log *log);

/* Appends rows, `values`[n_rows][width], in records of at most a mebibyte or one row. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_log_append(struct gpumc_log *log, const struct gpumc_log_record *rows, size_t width,
                 const double *values, struct gpumc_error *error);
/* Syncs what was appended to the disk. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_log_sync(const struct gpumc_log *log, struct gpumc_error *error);
/* Cuts off everything after `length` and returns to the first record. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_log_cut(struct gpumc_log *log, struct gpumc_error *error);

/* Reads the next record without its values; n_rows is 0 after the last one. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_log_next(struct gpumc_log *log, struct gpumc_log_record *record, struct gpumc_error *error);
/* Checks that a record of that many rows is possible: limits what a damaged one can ask for. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_log_check_size(const struct gpumc_log *log,
                                                        const struct gpumc_log_record *record,
                                                        size_t width, struct gpumc_error *error);
/* Reads and verifies the record's values, `values`[n_rows][width], and moves on to the next
 * record. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_log_values(struct gpumc_log *log, const struct gpumc_log_record *record, size_t width,
                 double *values, struct gpumc_error *error);
/* Reports "PATH: damaged at byte POSITION: WHAT" for damage that only the caller can see. */
enum gpumc_status
gpumc_log_damaged(const struct gpumc_log *log, const char *what, struct gpumc_error *error);

/* ---- the parts of a recorder ---- */

enum gpumc_recorder_phase {
  GPUMC_RECORDER_DECLARING,
  GPUMC_RECORDER_APPENDING,
  GPUMC_RECORDER_SUMMARIZING,
  GPUMC_RECORDER_FINISHED
};

struct gpumc_recorder {
  enum gpumc_recorder_phase phase;
  bool silent;
  char *output, *partial, *begun; /* OUTPUT, OUTPUT.partial, OUTPUT.partial.new */
  char *log_path;                 /* OUTPUT.log */
  char *title, *source, *resolved, *citations;
  size_t n_tables;
  struct gpumc_table *tables;
  struct gpumc_attribute_list attributes; /* given before the start */
  struct gpumc_hdf5_file *file;
  struct gpumc_axes axes;
  char *place_path; /* of the object that was written to last, and which is open */
  hid_t place;
  struct gpumc_log *log; /* NULL without long tables */
  size_t waiting;        /* bytes of rows of long tables that are not yet in the file */
  double last_flush;
  struct gpumc_undetermined undetermined;
};

/* ---- datasets and attributes ---- */

GPUMC_MUST_CHECK enum gpumc_status
gpumc_recorder_write_attribute(struct gpumc_recorder *recorder,
                               const struct gpumc_attribute *attribute, struct gpumc_error *error);
/* Closes the object that was written to last. */
void gpumc_recorder_leave_place(struct gpumc_recorder *recorder);
void gpumc_recorder_free_attributes(struct gpumc_attribute_list *list);

/* ---- long tables, whose rows are in the log instead of in memory ---- */

/* Begins a new log, or cuts the checkpoint's log back to its length; does nothing without long
 * tables. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_long_tables_begin(struct gpumc_recorder *recorder, struct gpumc_error *error);
/* Writes rows that are not yet in the log. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_long_tables_log(struct gpumc_recorder *recorder, struct gpumc_error *error);
/* Writes all rows of the log into the empty datasets of the working file, one part at a time by
 * `store`. */
typedef enum gpumc_status
gpumc_long_tables_store(struct gpumc_recorder *recorder, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status gpumc_long_tables_replay(struct gpumc_recorder *recorder,
                                                            gpumc_long_tables_store *store,
                                                            struct gpumc_error *error);
/* For a silent recorder: forgets rows, of which only the number matters. */
void gpumc_long_tables_drop(struct gpumc_recorder *recorder);
/* Counts rows added to a table; returns whether enough of them wait in memory to be written to the
 * file. */
bool gpumc_long_tables_add(struct gpumc_recorder *recorder, size_t table, size_t n_rows);

/* Syncs the log to the disk and saves its length and its tables' numbers of rows to a checkpoint;
 * or opens and verifies the log of a checkpoint without changing it. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_long_tables_save(struct gpumc_recorder *recorder,
                                                          struct gpumc_checkpoint_writer *writer,
                                                          struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status gpumc_long_tables_load(struct gpumc_recorder *recorder,
                                                          struct gpumc_checkpoint_reader *reader,
                                                          struct gpumc_error *error);

#endif
