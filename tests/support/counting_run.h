/* Runs of the counting plugins: a task made by hand, and what its run reports. */
#ifndef TESTS_SUPPORT_COUNTING_RUN_H
#define TESTS_SUPPORT_COUNTING_RUN_H

#include <signal.h>

#include "core/run/decide.h"
#include "core/run/run.h"
#include "support/counting_plugins.h"

struct attempt {
  int64_t population, units, fail_at;
  double max_seconds;
  bool fresh;
};

struct heard {
  char notes[1024];
  int units;
  volatile sig_atomic_t stop;
  int stop_after; /* units; 0: never */
};

/* Does one run with the result run.h5 in the working directory and a checkpoint after every
 * unit. */
GPUMC_MUST_CHECK enum gpumc_status
attempt(const struct attempt *wanted, struct heard *heard, struct gpumc_error *error);
/* Reports on the task. */
void inspect(const struct attempt *wanted, struct gpumc_task_report *report);

#endif
