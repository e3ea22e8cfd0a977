/* What a run finds in the files of its task and how it handles them; and, decided by the same code,
 * what onlookers are told. */
#ifndef GPUMC_CORE_DECIDE_H
#define GPUMC_CORE_DECIDE_H

#include "core/run/compare.h"
#include "core/simulation/algorithm.h"
#include "core/storage/side_files.h"

/* Checks the file at a task's output: `*complete` if it is such a result. GPUMC_INVALID if it is
 * not a finished result, or another one: the message has the differences. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_check_output(const struct gpumc_task *task,
                                                      enum gpumc_result_check check, bool *complete,
                                                      struct gpumc_error *error);

/* What a run should do: nothing if the result is `complete`, continue from `checkpoint`, which the
 * caller closes, or start if that is NULL. */
struct gpumc_decision {
  bool complete;
  struct gpumc_checkpoint_reader *checkpoint;
};
/* Called by the run (GPUMC_CHECK_FILES), which holds the lock, and by onlookers (GPUMC_CHECK_LOOK)
 * before anything is written: GPUMC_INVALID if result or checkpoint are of another configuration,
 * GPUMC_FAILURE if they, or the names beside them, cannot be used. Onlookers also learn why the
 * lock could not be taken, and whether an input file of the task has changed since the checkpoint,
 * which a run finds once it has read that file anyway. A fresh start (GPUMC_CHECK_ANY) accepts any
 * result as its own. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_decide(const struct gpumc_task *task, const struct gpumc_task_files *files,
             enum gpumc_result_check check, struct gpumc_decision *decision,
             struct gpumc_error *error);
/* Adds the remedy to the message about an unreadable checkpoint; returns GPUMC_FAILURE. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_decide_nothing_deleted(struct gpumc_error *error);

/* After the end: removes every file of ours except the result. A run that found its result
 * complete, and did no work, leaves the files of another configuration and sends the observer a
 * note. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_clear_side_files(const struct gpumc_task *task, const struct gpumc_task_files *files,
                       bool did_work, const struct gpumc_observer *observer,
                       struct gpumc_error *error);
/* For a fresh start: removes result, checkpoint, log, working file and status. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_clear_files(const struct gpumc_task *task, const struct gpumc_task_files *files,
                  const struct gpumc_observer *observer, struct gpumc_error *error);

/* What a run of a task would find in its files and do. */
enum gpumc_task_state {
  GPUMC_TASK_NOT_STARTED,
  GPUMC_TASK_RUNNING,
  GPUMC_TASK_RESUMABLE,
  GPUMC_TASK_FAILED,  /* would fail, or has failed and left nothing to continue from */
  GPUMC_TASK_REFUSED, /* result or checkpoint of another configuration, or a file it reads is gone
                       */
  GPUMC_TASK_DONE,
};
/* `message`: for a failed or refused task, or for a resumable one whose last run failed. Unknown
 * times are negative. */
struct gpumc_task_report {
  enum gpumc_task_state state;
  double fraction, seconds, remaining_seconds;
  char message[512];
};
/* `refusal`: why a run would refuse the configuration (gpumc_config_load), if the task could only
 * be looked at (gpumc_config_look): its progress is reported all the same; otherwise NULL. */
void gpumc_task_inspect(const struct gpumc_task *task, const char *refusal,
                        struct gpumc_task_report *report);

#endif
