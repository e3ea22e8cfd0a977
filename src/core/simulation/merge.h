/* Merging of finished results: what an algorithm reads of them, and sums over them that all
 * algorithms form alike.
 *
 * An algorithm with a `merger` makes, from the contents of the sources, the state that a run of all
 * of them would have at its end; then the functions that end a run write the merged result. The
 * core has already checked that the sources are whole, finished, of the same configuration except
 * where it may differ, and of different random numbers each (core/run/merging/merge.h). */
#ifndef GPUMC_CORE_SIMULATION_MERGE_H
#define GPUMC_CORE_SIMULATION_MERGE_H

#include "core/config/params.h"
#include "core/storage/hdf5_file.h"
#include "core/storage/recorder.h"
#include "core/storage/result_info.h"

/* A source, open for reading. Owns everything but the path. */
struct gpumc_source {
  const char *path; /* borrowed */
  struct gpumc_result result;
  cJSON *resolved; /* its configuration, with all defaults */
  struct gpumc_hdf5_file *file;
  int64_t counted; /* value of the key that adds up; 1 if there is none */
};

struct gpumc_sources {
  size_t count;
  struct gpumc_source *of;
};

/* Samples of a merged result, one source after the other, for algorithms that list them in the
 * group `samples`. Numbers as doubles, as in results. */
struct gpumc_sample_list {
  size_t count;
  double *number;
  double *seed;     /* thermal seed of the run that simulated it */
  double *checksum; /* by which it is identified; NULL if there is no disorder */
};

/* How finished results of an algorithm are merged. */
struct gpumc_merger {
  /* Integer key of its block whose values add up; NULL: none. */
  const char *counted;
  /* Whether sources may have different samples of the disorder: those listed in the group
   * `samples`, as many as the counted key says. Otherwise all have the same. */
  bool samples;
  /* Keys of its block, dotted, NULL-terminated, that may differ and are left at their defaults in
   * the merged configuration: they request things that are not merged. */
  const char *const *dropped;
  /* Returns what keeps such a block from being merged, with the remedy; NULL: nothing. May be
   * NULL. */
  const char *(*refuses)(const struct gpumc_params *params);
  /* Brings a state that was just created for the merged configuration to that after the last unit.
   * GPUMC_INVALID, naming the file, if a source does not fit. */
  GPUMC_MUST_CHECK enum gpumc_status (*fill)(void *state, const struct gpumc_sources *sources,
                                             struct gpumc_error *error);
};

/* Returns whether there is a dataset or group at `path`. */
bool gpumc_source_has(const struct gpumc_source *source, const char *path);
/* Reads values[shape[0]][...] of the numeric dataset at `path`, of exactly that shape:
 * GPUMC_INVALID, naming file and path, if it has another one, GPUMC_FAILURE if it cannot be
 * read. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_source_read(const struct gpumc_source *source, const char *path, const size_t *shape,
                  size_t rank, double *values, struct gpumc_error *error);
/* Reads rank and shape alone; shape[GPUMC_DATASET_RANK_MAXIMUM]. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_source_shape(const struct gpumc_source *source,
                                                      const char *path, size_t *shape, size_t *rank,
                                                      struct gpumc_error *error);
/* Appends the rows of the source's `group` to a table of the recorder with the same columns:
 * GPUMC_INVALID if the first column differs from axis[rows]. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_source_append_rows(const struct gpumc_source *source, const char *group, const double *axis,
                         size_t rows, struct gpumc_recorder *recorder, size_t table,
                         struct gpumc_error *error);
/* Reads an attribute of /summary: GPUMC_FAILURE if there is none. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_source_number(const struct gpumc_source *source,
                                                       const char *name, double *value,
                                                       struct gpumc_error *error);
/* Returns the number of members of a group of groups, "runs" or "earlier_bins"; 0 if there is
 * none. */
size_t gpumc_source_members(const struct gpumc_source *source, const char *group);

/* Returns the sum of the counted key over the sources. */
int64_t gpumc_sources_counted(const struct gpumc_sources *sources);

/* Adds one of many parts to an average: `*average` is that of parts of weight `before` in all, and
 * becomes that with one more part of `weight`. The average of a single part, or of equal parts, is
 * exact bit for bit. Parts that are NaN do not count; returns the total weight. */
double gpumc_average_add(double *average, double before, double part, double weight);

/* A curve of numbers in each source, of several parts that are independent of each other:
 * values[parts][n], errors[parts][n], weight[parts]. Averaged into average[n] and error_of[n].
 * `known`: errors are those of the parts and add up in squares, leaving out errors that are 0 or
 * NaN of a part that saw nothing at all (value 0). Otherwise the error is from the scatter of the
 * parts: variances are taken as the inverse of the weights, with Student's factor; NaN for fewer
 * than four parts and if they do not scatter. */
struct gpumc_parts_of_curve {
  size_t parts, n;
  const double *weight, *values, *errors;
  bool known;
};
void gpumc_parts_average(const struct gpumc_parts_of_curve *curve, double *average,
                         double *error_of);

#endif
