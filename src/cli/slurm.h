/* What gpumc asks of Slurm: through squeue, sbatch and scontrol, where they are on the PATH, since
 * they alone know the cluster. No shell takes part, and no answer is waited for without end. */
#ifndef GPUMC_CLI_SLURM_H
#define GPUMC_CLI_SLURM_H

#include "cli/arguments.h"
#include "core/base/text.h"

/* ---- programs ---- */

enum { CLI_PROGRAM_NOT_FOUND = 127 };

/* A program that has ended. `code`: its exit code, CLI_PROGRAM_NOT_FOUND where there is no such
 * program on the PATH, -1 where a signal ended it or its time was over. */
struct cli_program {
  int code;
  struct gpumc_text output, messages; /* of its standard output and standard error */
};
/* Runs words[0] from the PATH, with `input` as its standard input, NULL: none, for `seconds` at
 * most. GPUMC_FAILURE when it cannot be started, but not when it is not there. */
GPUMC_MUST_CHECK enum gpumc_status cli_program_run(const char *const words[], const char *input,
                                                   double seconds, struct cli_program *program,
                                                   struct gpumc_error *error);
/* Legal on a zeroed object; leaves it zeroed. */
void cli_program_free(struct cli_program *program);

/* ---- Slurm ---- */

/* Seconds that an answer of Slurm is waited for. */
extern const double cli_slurm_patience;

/* Whether this process is part of a job. */
bool cli_slurm_in_job(void);
/* The time left to that job; infinite where it has no limit. GPUMC_FAILURE where Slurm does not
 * tell.
 */
GPUMC_MUST_CHECK enum gpumc_status cli_slurm_time_left(double *seconds, struct gpumc_error *error);

/* The name of the array jobs that work on a configuration from the present folder, with its options
 * -o and --set, in bundles of `bundle` tasks: element i has the tasks from i * bundle on. The
 * caller frees; NULL when memory ran out or `path` cannot be resolved. */
char *cli_slurm_job_name(const struct cli_config_options *options, const char *path, size_t bundle);

/* The element of an array job that a task belongs to; `id` is "" where there is none. */
struct cli_slurm_job {
  char id[48];     /* "1234_5" */
  char state[24];  /* as Slurm has it: "PENDING", "RUNNING", ... */
  char reason[64]; /* why it is not running; "" */
};
enum cli_slurm_answer {
  CLI_SLURM_NONE,  /* there is no squeue, or this machine is in no cluster */
  CLI_SLURM_KNOWN, /* `jobs` is what is in the queue */
  CLI_SLURM_FAILED /* squeue failed, as the error says */
};
/* The user's jobs in the queue that work on the tasks of a configuration: jobs[n_tasks]. */
enum cli_slurm_answer cli_slurm_find_jobs(const struct cli_config_options *options,
                                          const char *path, size_t n_tasks,
                                          struct cli_slurm_job *jobs, struct gpumc_error *error);

/* The elements that one array job may have here (MaxArraySize); Slurm's default where it does not
 * tell. */
size_t cli_slurm_elements(void);

#endif
