/* The contents of a result file: for `gpumc info`, and for a run that finds one at its output
 * path. */
#ifndef GPUMC_CORE_RESULT_INFO_H
#define GPUMC_CORE_RESULT_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

/* Versions: of the format that is written, and of the first one that ends in a seal
 * (core/base/checksum.h). */
enum { GPUMC_RESULT_VERSION = 3, GPUMC_RESULT_SEALED_SINCE = 2 };

/* An attribute; `value` is text; a number reads back the same. */
enum gpumc_field_type { GPUMC_FIELD_TEXT, GPUMC_FIELD_INTEGER, GPUMC_FIELD_REAL };
struct gpumc_result_field {
  enum gpumc_field_type type;
  char *name, *value;
};
struct gpumc_result_fields {
  size_t count;
  struct gpumc_result_field *items;
};

/* A numeric dataset of rank 0 to 2 in /summary, "energy", or in a group there, "reweighted/energy".
 * `values[shape[0]][shape[1]]`, the shape being 1 along missing dimensions; integers as doubles. */
struct gpumc_result_dataset {
  char *name, *long_name, *units, *symbol;
  size_t rank;
  size_t shape[2];
  bool integer;
  double *values;
};

/* A group in /runs: its number of rows, and its columns of one value per row, the axis first, with
 * `values` of the last row alone (shape[0] is 0 if there is no row yet). */
struct gpumc_result_run {
  char *name;
  size_t n_rows;
  size_t n_columns;
  struct gpumc_result_dataset *columns;
};

/* The object owns everything. Datasets are in the order in which they were written. */
struct gpumc_result {
  bool complete;
  bool sealed;  /* ends in a checksum of the whole file, which is correct */
  bool damaged; /* for a refused result: a file of gpumc, no longer as it was finished */
  bool foreign; /* likewise: an HDF5 file of another program */
  int64_t format_version;
  char *title, *program_version;
  char *source, *resolved;               /* YAML as given; JSON */
  struct gpumc_result_fields provenance; /* attributes of /provenance */
  struct gpumc_result_fields summary;    /* attributes of /summary, such as warnings */
  size_t n_runs;                         /* groups in /runs */
  struct gpumc_result_run *runs;         /* [n_runs] while unfinished; NULL for a finished result */
  size_t n_datasets;
  struct gpumc_result_dataset *datasets;
};

/* Reads a finished result, or a working file (also while it grows, and after its writer died).
 * GPUMC_FAILURE, saying which: missing, not a result of gpumc, a newer format, damaged, or a
 * working file that is just being finished; `result` is then empty except for `damaged`. A sealed
 * file is verified completely before HDF5 sees it. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_result_read(const char *path, struct gpumc_result *result, struct gpumc_error *error);
/* The same for a file at OUTPUT.partial: accepts a finished result without its seal as well, since
 * a process killed before sealing leaves one. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_working_file_read(const char *path, struct gpumc_result *result, struct gpumc_error *error);
/* Checks any HDF5 file that numbers are to be read from: GPUMC_FAILURE if it is a result of gpumc
 * whose seal does not match or is missing, if it is a working file, or if it cannot be opened. A
 * sealed file is read completely. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_result_check_source(const char *path, struct gpumc_error *error);
/* Legal on a zeroed object; leaves it zeroed. */
void gpumc_result_free(struct gpumc_result *result);

/* A dataset by its name, "energy" or "reweighted/energy"; NULL: there is none. */
const struct gpumc_result_dataset *
gpumc_result_dataset(const struct gpumc_result *result, const char *name);
/* The standard errors of a dataset, NAME_error; NULL where there are none. */
const struct gpumc_result_dataset *
gpumc_result_errors(const struct gpumc_result *result, const struct gpumc_result_dataset *dataset);
/* Whether the name is that of errors. */
bool gpumc_result_is_error(const char *name);
/* Of the name of a dataset the bytes of its group, with the slash: 11 of "reweighted/energy". */
size_t gpumc_result_group_length(const char *name);

/* The value of a field, or NULL. */
const char *gpumc_result_field(const struct gpumc_result_fields *fields, const char *name);

#endif
