/* Inside a run: its parts, and its checkpoints. */
#ifndef GPUMC_CORE_RUN_INTERNAL_H
#define GPUMC_CORE_RUN_INTERNAL_H

#include "core/device/devices.h"
#include "core/processes/processes.h"
#include "core/run/prepare.h"
#include "core/run/run.h"
#include "core/simulation/algorithm.h"
#include "core/storage/side_files.h"

/* Zero-initialise. Everything is owned unless it says otherwise. */
struct run {
  const struct gpumc_config *config;       /* borrowed */
  const struct gpumc_task *task;           /* borrowed */
  const struct gpumc_run_options *options; /* borrowed */
  const struct gpumc_processes *processes; /* borrowed, never NULL */
  bool divided;                            /* all processes work; otherwise only the root does */
  struct gpumc_task_files files;
  char *identity;
  struct gpumc_preparation preparation;
  struct gpumc_devices devices; /* of a divided run */
  uint64_t read_checksum;       /* gpumc_checksum_of_files; 0: none */
  struct gpumc_ensemble ensemble;
  struct gpumc_recorder *recorder;
  struct gpumc_checkpoint_reader *checkpoint; /* to continue from; NULL: none */
  struct gpumc_context context;
  void *state;   /* the algorithm's */
  bool finished; /* all units are done */
  /* Kept in the checkpoint. */
  char started[32]; /* UTC, ISO 8601 */
  uint64_t resumes;
  double earlier_seconds; /* worked before this invocation */
  /* For this invocation, on the monotonic clock. */
  double begun, begun_fraction, checkpointed, status_written;
  double unit_seconds; /* spent in units, without start, checkpoints and end */
  double seconds;      /* gpumc_context.seconds */
};

/* Returns the seconds worked so far, including earlier invocations. */
static inline double gpumc_run_seconds(const struct run *run)
{
  return run->earlier_seconds + gpumc_clock() - run->begun;
}

/* For calls that can fail differently only in the processes that work on it: all get the worst
 * status. */
static inline enum gpumc_status
gpumc_run_agree(const struct run *run, enum gpumc_status status, struct gpumc_error *error)
{
  return run->divided ? gpumc_processes_agree(run->processes, status, error) : status;
}

struct gpumc_position gpumc_run_position(const struct run *run);
/* Best effort, since it decides nothing. `message`: for a failure, otherwise NULL. */
void gpumc_run_write_status(struct run *run, enum gpumc_record_state state, const char *message);
/* For a failure while others wait for this process and cannot be asked: it ends them all, unless
 * the error is everywhere, in which case it is returned. The root gets the time to report an error
 * that all have. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_run_fail(struct run *run, struct gpumc_error *error);

/* Writes a checkpoint; in a divided run all processes take part, and the root writes. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_run_save(struct run *run, struct gpumc_error *error);
/* Finds which runs are side by side in run->checkpoint, before memory is planned; called by the
 * root alone. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_run_begun(const struct run *run, struct gpumc_slice *begun, struct gpumc_error *error);
/* Continues from run->checkpoint, one of this configuration: GPUMC_INVALID if an input file of the
 * task has changed since, GPUMC_FAILURE if it cannot be read. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_run_load(struct run *run, struct gpumc_error *error);

#endif
