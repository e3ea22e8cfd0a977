/* gpumc run by several processes: the root speaks and says what is done next, the others follow. */
#ifndef GPUMC_CLI_PROCESSES_H
#define GPUMC_CLI_PROCESSES_H

#include "core/processes/launcher.h"
#include "core/run/run.h"

/* While the command line is read, by all processes alike: those but the first of a launcher say
 * nothing, and end a second later than that one, so that its message is not lost with the
 * launcher's end. Nothing for a process with --alone among its words. */
void cli_processes_hush(int argc, char **argv);
void cli_processes_speak(void);

/* Reaches the others, and makes sure that all are of one program: `*processes` is to be closed,
 * NULL of a single process. Returns the exit code; the message has been printed, once. */
int cli_processes_join(bool alone, struct gpumc_processes **processes);

/* Ends a step that all have done: the code of the lowest process that failed, whose message the
 * root prints as `print` does. Frees the error. */
int cli_processes_agree(const struct gpumc_processes *processes, enum gpumc_status status,
                        struct gpumc_error *error, int (*print)(struct gpumc_error *error));

/* Of the root: all are to work on that task; or it was the last one, and `code` is that of all. */
void cli_processes_next(const struct gpumc_processes *processes, size_t task);
int cli_processes_end(const struct gpumc_processes *processes, int code);
/* Of the others: do so until the end; returns the code. */
int cli_processes_follow(const struct gpumc_config *config,
                         const struct gpumc_run_options *options);

#endif
