/* Merging: several finished results of one configuration, each with different random numbers,
 * become one. The algorithm decides what is summed (core/simulation/merge.h); this file decides
 * what is refused. */
#ifndef GPUMC_CORE_RUN_MERGE_H
#define GPUMC_CORE_RUN_MERGE_H

#include "core/run/language.h"
#include "core/simulation/merge.h"

struct gpumc_merge_options {
  const char *output;
  const char *const *paths;
  size_t n_paths;
  bool fresh; /* replace an existing file at the output */
  const char *command_line;
  const struct gpumc_observer *observer; /* may be NULL */
};

/* Returns GPUMC_INVALID, naming file, difference and remedy, if the files are not compatible or the
 * output already exists; GPUMC_FAILURE if one is damaged, unfinished, or cannot be read. On failure
 * nothing new is left at the output. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_merge(const struct gpumc_merge_options *options, struct gpumc_error *error);

/* ---- between the files of merging (merge_sources.c) ---- */

/* Sources that have passed all checks, and what follows from them for the merged result. */
struct gpumc_merging {
  struct gpumc_sources sources;
  /* The merged configuration, with the plugins of the sources; the caller sets `output`. */
  struct gpumc_task task;
  const struct gpumc_merger *merger;
  struct gpumc_sample_list samples; /* count 0: the algorithm lists none */
  double updates, seconds;          /* of all sources */
  struct gpumc_plugin_set plugins;  /* of all sources */
  char *plugins_text;               /* gpumc_plugin_set_text */
  int64_t files;                    /* runs that the sources came from, counting the sources of
                                     * merged ones */
};

/* Opens and checks all of them, in the given order. The caller frees, after a failure too. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_merging_open(const char *const *paths, size_t n_paths,
                                                      struct gpumc_merging *merging,
                                                      struct gpumc_error *error);
/* Legal on a zeroed object. */
void gpumc_merging_free(struct gpumc_merging *merging);

/* Lists the samples of all sources, if the algorithm lists them; GPUMC_INVALID if one occurs twice,
 * or if two sources have the same random numbers (merge_twice.c). */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_merging_list_samples(struct gpumc_merging *merging, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_merging_check_seeds(const struct gpumc_merging *merging, struct gpumc_error *error);

/* Returns whether sources differ by more than their errors explain; at most one in a hundred merges
 * of sources that agree. `text` then says where (merge_agree.c). */
enum { GPUMC_CONTRADICTION_BYTES = 384 };
bool gpumc_merging_contradicts(const struct gpumc_merging *merging,
                               char text[static GPUMC_CONTRADICTION_BYTES]);

/* Writes the contents of a merged result beside the sums (merge_record.c): where it comes from,
 * before the recorder is started, and samples of the disorder that all sources hold, once its
 * tables are closed. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_merging_record_sources(const struct gpumc_merging *merging,
                                                                struct gpumc_recorder *recorder,
                                                                struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_merging_record_disorder(const struct gpumc_merging *merging, struct gpumc_recorder *recorder,
                              const struct gpumc_observer *observer, struct gpumc_error *error);

#endif
