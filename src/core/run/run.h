/* One run from a task to its finished file: start or resume, the loop, checkpoints, stopping. */
#ifndef GPUMC_CORE_RUN_H
#define GPUMC_CORE_RUN_H

#include <signal.h>

#include "core/processes/processes.h"
#include "core/run/language.h"
#include "core/simulation/algorithm.h"

struct gpumc_run_options {
  int threads;              /* 0: all */
  double max_seconds;       /* of this invocation; 0: no limit */
  bool fresh;               /* discard an existing checkpoint, result and working file */
  const char *command_line; /* for the provenance */
  /* Nonzero: end the current unit, checkpoint, return. A handler or another thread may set it. */
  const volatile sig_atomic_t *stop;
  /* Made nonzero while there is, or may be, work that only the end of this run keeps; NULL: nobody
   * asks. While it is zero the process may end at any instant. */
  volatile sig_atomic_t *at_work;
  const struct gpumc_observer *observer;
  const struct gpumc_processes *processes; /* that work on it together; NULL: only this one */
};

/* GPUMC_OK: the file is complete (also if it already was: a note says so). GPUMC_STOPPED: stopped
 * by `stop` or the time limit, after a checkpoint. GPUMC_INVALID: a checkpoint or result of another
 * configuration is in the way (with the differences), or the task is impossible. GPUMC_BUSY:
 * another process is working on it. GPUMC_DEVICE, GPUMC_FAILURE: see there; nothing that was safe
 * before is lost. If there are several processes, all call it with the same task, and all get the
 * same status; only the root touches files and reports to its observer. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_run_task(const struct gpumc_config *config, const struct gpumc_task *task,
               const struct gpumc_run_options *options, struct gpumc_error *error);

#endif
