/* gpumc status: what one look and --watch share. */
#ifndef GPUMC_CLI_STATUS_STATUS_H
#define GPUMC_CLI_STATUS_STATUS_H

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/slurm.h"
#include "core/run/decide.h"

struct status_arguments {
  struct cli_arguments common;
  bool watch;
  double seconds; /* from one look to the next */
};

/* What is kept from one look to the next. */
struct status_look {
  const struct status_arguments *arguments;
  const struct gpumc_config *config;
  struct gpumc_task_report *reports; /* [n_tasks] */
  struct cli_slurm_job *jobs;        /* [n_tasks] */
  char *unknown_jobs;                /* why they are not known, or NULL */
  double asked;                      /* Slurm, by the clock; 0: not yet */
};

enum { STATUS_NAMES = GPUMC_TASK_DONE + 1 };
/* Of each enum gpumc_task_state. */
extern const char *const status_names[STATUS_NAMES];

/* The tasks as they are now, as JSON; `look->reports` has them, too. */
cJSON *status_look_once(struct status_look *look);
/* That as a table on standard output. */
void status_print(const cJSON *json);
/* Appends "3 tasks: 1 done, 2 running, ..." of its member `counts`. */
void status_append_counts(const cJSON *counts, int n_tasks, struct gpumc_text *text);
/* Looks until all tasks have ended; returns the exit code. */
int status_watch(struct status_look *look);

#endif
