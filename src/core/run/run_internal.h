/* One run while it runs: what run.c, run_checkpoint.c, run_compare.c, run_files.c,
 * run_status.c and provenance.c share. */
#ifndef GPUMC_CORE_RUN_INTERNAL_H
#define GPUMC_CORE_RUN_INTERNAL_H

#include "core/run/prepare.h"
#include "core/run/run.h"
#include "core/storage/result_info.h"
#include "core/storage/task_files.h"

/* Zero-initialise. Everything is owned unless it says otherwise. */
struct gpumc_run {
  const struct gpumc_config *config;       /* borrowed */
  const struct gpumc_task *task;           /* borrowed */
  const struct gpumc_run_options *options; /* borrowed */
  struct gpumc_task_files files;
  char *identity;
  struct gpumc_preparation preparation;
  uint64_t read_checksum; /* of the samples that the model reads from a file; 0: none */
  struct gpumc_ensemble ensemble;
  struct gpumc_recorder *recorder;
  struct gpumc_checkpoint_reader *checkpoint; /* to go on from; NULL: none */
  struct gpumc_context context;
  void *state;   /* the algorithm's */
  bool finished; /* all units are done */
  /* Survive in the checkpoint. */
  char started[32]; /* UTC, ISO 8601 */
  uint64_t resumes;
  double earlier_seconds; /* worked before this invocation */
  /* Of this invocation, on the monotonic clock. */
  double begun, begun_fraction, checkpointed, status_written;
  double unit_seconds; /* spent in units: without start, checkpoints and end */
};

/* Seconds worked so far, earlier invocations included. */
double gpumc_run_seconds(const struct gpumc_run *run);
/* "2017-08-01T12:00:00Z" of this moment. */
void gpumc_run_timestamp(char text[static 32]);
/* To the observer, if it listens. */
void gpumc_run_note(const struct gpumc_run *run, const char *format, ...) GPUMC_PRINTF(2, 3);
struct gpumc_position gpumc_run_position(const struct gpumc_run *run);

/* How closely a finished result, or a checkpoint, is looked at: not at all; by its configuration;
 * also against the model's file as it is now, as an onlooker does, who does not read the arrays of
 * a checkpoint; or, as a run does, with every byte of a checkpoint verified. */
enum gpumc_result_check {
  GPUMC_CHECK_ANY,
  GPUMC_CHECK_CONFIGURATION,
  GPUMC_CHECK_LOOK,
  GPUMC_CHECK_FILES
};
/* What stands at a task's output: `*complete` when it is such a result. GPUMC_INVALID when it is no
 * finished result at all, or another one: the message has the differences. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_run_check_output(const struct gpumc_task *task, enum gpumc_result_check check, bool *complete,
                       struct gpumc_error *error);
/* Whether a result, or a checkpoint, is of the task's configuration and of the trajectory that this
 * program has: GPUMC_INVALID with the differences where it is not. A kernel that the configuration
 * leaves open is taken for the stored one. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_run_compare_result(const struct gpumc_task *task, const struct gpumc_result *result,
                         enum gpumc_result_check check, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_run_compare_checkpoint(const struct gpumc_task *task, const char *path,
                             struct gpumc_checkpoint_reader *reader, struct gpumc_error *error);
/* Whether the samples that the checkpoint was made with, out of a file, are those of `checksum`
 * (gpumc_samples_checksum): GPUMC_INVALID where they are not. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_run_compare_samples(const char *path, struct gpumc_checkpoint_reader *reader,
                          uint64_t checksum, struct gpumc_error *error);
/* The same with the file as it is now. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_run_compare_file(const struct gpumc_task *task, const char *path,
                       struct gpumc_checkpoint_reader *reader, struct gpumc_error *error);

/* What a run is to do: nothing where the result is `complete`, go on from `checkpoint`, which the
 * caller closes, or start where that is NULL. */
struct gpumc_run_decision {
  bool complete;
  struct gpumc_checkpoint_reader *checkpoint;
};
/* Asked by the run (GPUMC_CHECK_FILES), which holds the lock, and by onlookers (GPUMC_CHECK_LOOK)
 * before anything is written: GPUMC_INVALID where result or checkpoint are of another
 * configuration, GPUMC_FAILURE where they, or the names beside them, cannot be used. Onlookers also
 * learn why the lock could not be had, and whether the file that the model reads has changed since
 * the checkpoint, which a run finds when it has read that file anyway (gpumc_run_load). A fresh
 * start (GPUMC_CHECK_ANY) takes any result for its own. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_run_decide(const struct gpumc_task *task, const struct gpumc_task_files *files,
                 enum gpumc_result_check check, struct gpumc_run_decision *decision,
                 struct gpumc_error *error);
/* Adds the remedy to the message about an unreadable checkpoint; returns GPUMC_FAILURE. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_run_nothing_deleted(struct gpumc_error *error);
/* For a fresh start: remove result, checkpoint, log, working file and status. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_run_discard(const struct gpumc_run *run, struct gpumc_error *error);
/* After the end: removes every file of ours but the result. A run that found its result complete
 * leaves the files of another configuration, with a note. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_run_remove_side_files(const struct gpumc_run *run, struct gpumc_error *error);
/* For those who look on; best effort, since it decides nothing. `message`: of a failure, else NULL.
 */
void gpumc_run_write_status(struct gpumc_run *run, enum gpumc_record_state state,
                            const char *message);

GPUMC_MUST_CHECK enum gpumc_status gpumc_run_save(struct gpumc_run *run, struct gpumc_error *error);
/* Go on from a checkpoint of this configuration: GPUMC_INVALID when the file that the model reads
 * has changed since, GPUMC_FAILURE when it cannot be read. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_run_load(struct gpumc_run *run,
                                                  struct gpumc_checkpoint_reader *reader,
                                                  struct gpumc_error *error);

/* Attributes of /provenance where the model reads samples from a file: how many the run takes, and
 * gpumc_samples_checksum() of them, as text since attributes are no unsigned integers. */
#define GPUMC_READ_SAMPLES "read_samples"
#define GPUMC_READ_CHECKSUM "read_checksum"
enum { GPUMC_READ_CHECKSUM_BYTES = 17 };
const char *
gpumc_run_read_checksum_text(uint64_t checksum, char text[static GPUMC_READ_CHECKSUM_BYTES]);

/* The attributes of /provenance: what is known before the recorder's start, so that a working file
 * has it too, and after the tables are closed what only the end knows. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_run_record_start(struct gpumc_run *run, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_run_record_end(struct gpumc_run *run, struct gpumc_error *error);

#endif
