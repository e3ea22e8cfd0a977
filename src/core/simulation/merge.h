/* Finished results that become one: what an algorithm reads of them, and sums over them that all
 * algorithms form alike.
 *
 * An algorithm with a `merger` makes, of what stands in the sources, the state that a run of all of
 * them would have at its end; then the functions that end a run write the merged result. The core
 * has seen to it before that the sources are whole, finished, of the same configuration but for
 * what may differ, and of other random numbers each (core/run/merge.h). */
#ifndef GPUMC_CORE_SIMULATION_MERGE_H
#define GPUMC_CORE_SIMULATION_MERGE_H

#include "core/config/params.h"
#include "core/storage/hdf5_file.h"
#include "core/storage/recorder.h"
#include "core/storage/result_info.h"

/* One of them, open for reading. Owned but for the path. */
struct gpumc_source {
  const char *path; /* borrowed */
  struct gpumc_result result;
  cJSON *resolved; /* its configuration, with all defaults */
  struct gpumc_hdf5_file *file;
  int64_t counted; /* value of the key that adds up; 1 where there is none */
};

struct gpumc_sources {
  size_t count;
  struct gpumc_source *of;
};

/* Samples of a merged result, one source after the other, of algorithms that list them in the group
 * `samples`. Numbers as doubles, as they stand in results. */
struct gpumc_sample_list {
  size_t count;
  double *number;
  double *seed;     /* thermal seed of the run that simulated it */
  double *checksum; /* what it is known by; NULL where there is no disorder */
};

/* How finished results of an algorithm become one. */
struct gpumc_merger {
  /* Integer key of its block whose values add up; NULL: none. */
  const char *counted;
  /* Whether sources may be of other samples of the disorder: those that it lists in the group
   * `samples`, as many as the counted key says. Else all are of the same. */
  bool samples;
  /* Keys of its block, dotted, NULL-terminated, that may differ and are left at their defaults in
   * the merged configuration: they ask for what is not merged. */
  const char *const *dropped;
  /* What keeps such a block from being merged, with the remedy; NULL: nothing. May be NULL. */
  const char *(*refuses)(const struct gpumc_params *params);
  /* Brings a state that was just created for the merged configuration to that after the last unit.
   * GPUMC_INVALID, naming the file, where a source does not fit. */
  GPUMC_MUST_CHECK enum gpumc_status (*fill)(void *state, const struct gpumc_sources *sources,
                                             struct gpumc_error *error);
};

/* Whether there is a dataset or group at `path`. */
bool gpumc_source_has(const struct gpumc_source *source, const char *path);
/* values[shape[0]][...] of the numeric dataset at `path`, of exactly that shape: GPUMC_INVALID,
 * naming file and path, where it has another one, GPUMC_FAILURE where it cannot be read. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_source_read(const struct gpumc_source *source, const char *path, const size_t *shape,
                  size_t rank, double *values, struct gpumc_error *error);
/* Rank and shape alone; shape[GPUMC_DATASET_RANK_MAXIMUM]. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_source_shape(const struct gpumc_source *source,
                                                      const char *path, size_t *shape, size_t *rank,
                                                      struct gpumc_error *error);
/* Appends the rows that the source has in `group` to a table of the recorder that has its columns:
 * GPUMC_INVALID where the first column differs from axis[rows]. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_source_append_rows(const struct gpumc_source *source, const char *group, const double *axis,
                         size_t rows, struct gpumc_recorder *recorder, size_t table,
                         struct gpumc_error *error);
/* An attribute of /summary: GPUMC_FAILURE where there is none. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_source_number(const struct gpumc_source *source,
                                                       const char *name, double *value,
                                                       struct gpumc_error *error);
/* The number of members of a group of groups, "runs" or "earlier_bins"; 0 where there is none. */
size_t gpumc_source_members(const struct gpumc_source *source, const char *group);

/* Sum over the sources of the counted key. */
int64_t gpumc_sources_counted(const struct gpumc_sources *sources);

/* One of many parts goes into an average: `*average` is that of parts of weight `before` in all,
 * and becomes that with a part of `weight` more. A single part, or parts that are alike, are the
 * average bit for bit. Parts that are NaN do not count; returns the weight in all. */
double gpumc_average_add(double *average, double before, double part, double weight);

/* A curve of numbers in each source, of several parts that are independent of each other:
 * values[parts][n], errors[parts][n], weight[parts]. Into average[n] and error_of[n]. `known`:
 * errors are those of the parts, and add up in squares, no error of a part that is 0 or NaN
 * included where it saw nothing at all (value 0). Otherwise the scatter of the parts tells: of
 * variances as the inverse of the weights, with Student's factor, NaN of fewer than four parts and
 * where they do not scatter. */
struct gpumc_parts_of_curve {
  size_t parts, n;
  const double *weight, *values, *errors;
  bool known;
};
void gpumc_parts_average(const struct gpumc_parts_of_curve *curve, double *average,
                         double *error_of);

#endif
