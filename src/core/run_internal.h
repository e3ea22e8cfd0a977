/* One run while it runs: what run.c, run_checkpoint.c, run_files.c and provenance.c share. */
#ifndef GPUMC_CORE_RUN_INTERNAL_H
#define GPUMC_CORE_RUN_INTERNAL_H

#include "core/prepare.h"
#include "core/run.h"
#include "core/task_files.h"

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

/* What a finished result has to be: anybody's, this configuration's, or also of a model that is
 * read from a file as it stands now. */
enum gpumc_result_check { GPUMC_CHECK_ANY, GPUMC_CHECK_CONFIGURATION, GPUMC_CHECK_FILES };
/* What stands at a task's output: `*complete` when it is such a result. GPUMC_INVALID when it is no
 * finished result at all, or another one: the message has the differences. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_run_check_output(const struct gpumc_task *task, enum gpumc_result_check check, bool *complete,
                       struct gpumc_error *error);
/* For a fresh start: remove result, checkpoint, log, working file and status. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_run_discard(const struct gpumc_run *run, struct gpumc_error *error);
/* After the end: everything but the result. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_run_remove_side_files(const struct gpumc_run *run, struct gpumc_error *error);
/* For those who look on; best effort, since it decides nothing. `message`: of a failure, else NULL.
 */
void gpumc_run_write_status(struct gpumc_run *run, enum gpumc_record_state state,
                            const char *message);

GPUMC_MUST_CHECK enum gpumc_status gpumc_run_save(struct gpumc_run *run, struct gpumc_error *error);
/* Go on from OUTPUT.ckpt: GPUMC_INVALID when it is of another configuration, GPUMC_FAILURE when it
 * cannot be read. `*resumed` is false when there is none. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_run_load(struct gpumc_run *run, bool *resumed, struct gpumc_error *error);

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
