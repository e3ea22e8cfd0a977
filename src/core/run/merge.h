/* Merging: several finished results of one configuration, of other random numbers each, become one.
 * What is summed is the algorithm's matter (core/simulation/merge.h); what is refused is decided
 * here. */
#ifndef GPUMC_CORE_RUN_MERGE_H
#define GPUMC_CORE_RUN_MERGE_H

#include "core/run/language.h"
#include "core/simulation/merge.h"

struct gpumc_merge_options {
  const char *output;
  const char *const *paths;
  size_t n_paths;
  bool fresh; /* replace what stands at the output */
  const char *command_line;
  const struct gpumc_observer *observer; /* may be NULL */
};

/* GPUMC_INVALID, naming file, difference and remedy, where the files do not fit together or the
 * output stands there already; GPUMC_FAILURE where one is damaged, unfinished, or cannot be read.
 * Then nothing is left at the output that was not there before. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_merge(const struct gpumc_merge_options *options, struct gpumc_error *error);

/* ---- between the files of merging (merge_sources.c) ---- */

/* Sources that have passed all checks, and what follows from them for the merged result. */
struct gpumc_merging {
  struct gpumc_sources sources;
  /* The merged configuration, of the plugins of the sources; the caller sets `output`. */
  struct gpumc_task task;
  const struct gpumc_merger *merger;
  struct gpumc_sample_list samples; /* count 0: the algorithm lists none */
  double updates, seconds;          /* of all sources */
  struct gpumc_plugin_set plugins;  /* of all sources */
  char *plugins_text;               /* gpumc_plugin_set_text */
  int64_t files;                    /* runs that the sources were, merged ones opened up */
};

/* Opens and checks all of them, in the order given. The caller frees, after a failure too. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_merging_open(const char *const *paths, size_t n_paths,
                                                      struct gpumc_merging *merging,
                                                      struct gpumc_error *error);
/* Legal on a zeroed object. */
void gpumc_merging_free(struct gpumc_merging *merging);

/* The samples of all sources, where the algorithm lists them, none of which may be there twice; and
 * whether random numbers of one are those of another (merge_twice.c): GPUMC_INVALID. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_merging_list_samples(struct gpumc_merging *merging, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_merging_check_seeds(const struct gpumc_merging *merging, struct gpumc_error *error);

/* Whether sources differ by more than their errors explain, in one of a hundred merges of sources
 * that agree at most; then `text` says where (merge_agree.c). */
enum { GPUMC_CONTRADICTION_BYTES = 384 };
bool gpumc_merging_contradicts(const struct gpumc_merging *merging,
                               char text[static GPUMC_CONTRADICTION_BYTES]);

/* What is in a merged result beside the sums (merge_record.c): where it comes from, before the
 * recorder is started, and samples of the disorder that all sources hold, once its tables are
 * closed. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_merging_record_sources(const struct gpumc_merging *merging,
                                                                struct gpumc_recorder *recorder,
                                                                struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_merging_record_disorder(const struct gpumc_merging *merging, struct gpumc_recorder *recorder,
                              const struct gpumc_observer *observer, struct gpumc_error *error);

#endif
