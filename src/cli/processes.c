#include "cli/processes.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build_info.h"
#include "cli/cli.h"
#include "cli/signals.h"

/* ---- before the others can be reached ---- */

/* Standard output and error while they are hushed, else negative. Of the program, as its standard
 * streams are. */
static int hushed[] = {-1, -1};
static const int streams[] = {STDOUT_FILENO, STDERR_FILENO};

void cli_processes_speak(void)
{
  fflush(stdout);
  for (size_t i = 0; i < 2; i++) {
    if (hushed[i] < 0)
      continue;
    dup2(hushed[i], streams[i]);
    close(hushed[i]);
    hushed[i] = -1;
  }
}

/* The others have the same mistakes, but not the same lack of memory: they would wait for ever. */
static void linger(int code, void *unused)
{
  (void)unused;
  if (hushed[0] < 0 || code == GPUMC_OK)
    return;
  if (code != GPUMC_FAILURE) {
    gpumc_processes_give_way();
    return;
  }
  struct gpumc_launcher launcher;
  char self[GPUMC_PROCESS_NAME];
  gpumc_launcher_find(&launcher);
  gpumc_process_name(launcher.rank, launcher.size, self);
  cli_processes_speak();
  cli_error("%s: out of memory while reading the command line", self);
  gpumc_launcher_abandon(code);
}

void cli_processes_hush(int argc, char **argv)
{
  struct gpumc_launcher launcher;
  bool alone = false;
  gpumc_launcher_find(&launcher);
  for (int i = 0; i < argc; i++)
    alone = alone || strcmp(argv[i], "--alone") == 0;
  const int nowhere = launcher.rank > 0 && !alone ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
  if (nowhere < 0)
    return;
  fflush(stdout);
  for (size_t i = 0; i < 2; i++) {
    hushed[i] = dup(streams[i]);
    dup2(nowhere, streams[i]);
  }
  close(nowhere);
  on_exit(linger, NULL);
}

/* ---- together ---- */

/* What all hosts lack is said by the first process, and what one host lacks, a module or a library,
 * by the first process there, when the first of all has not ended the others with the same error.
 * Where several programs were started, any other process may be the only one that lacks it: it
 * speaks when none of these has ended it. Open MPI ends processes with SIGTERM, to which a run
 * listens, and with SIGKILL at some later time: whoever hears a signal meanwhile has nothing to
 * say, as somebody else has spoken. */
enum { WAITS_FIRST = 2, WAITS_MOST = 4 };

/* Returns whether this process has been left alone until it is its turn to speak. */
static bool is_its_turn(const struct gpumc_launcher *launcher)
{
  if (launcher->rank == 0)
    return true;
  const int later = launcher->local_rank < WAITS_MOST ? launcher->local_rank : WAITS_MOST;
  for (int i = 0; i < WAITS_FIRST + later && !cli_signal_was_heard(); i++)
    gpumc_processes_give_way();
  return !cli_signal_was_heard();
}

static int fail_to_join(const struct gpumc_launcher *launcher, struct gpumc_error *error)
{
  const int code = (int)error->status;
  char self[GPUMC_PROCESS_NAME];
  const bool speaks = is_its_turn(launcher);
  const bool other = speaks && launcher->rank > 0 && launcher->reaches;
  if (other) {
    gpumc_process_name(launcher->rank, launcher->size, self);
    gpumc_error_prefix(error, "%s", self);
  }
  if (launcher->rank == 0 || other)
    cli_error("%s", gpumc_error_text(error));
  fflush(stderr);
  gpumc_launcher_abandon(code);
  gpumc_error_free(error);
  return code;
}

int cli_processes_join(bool alone, struct gpumc_processes **processes)
{
  struct gpumc_launcher launcher;
  struct gpumc_error error = {0};
  *processes = NULL;
  gpumc_launcher_find(&launcher);
  if (alone || launcher.size == 1)
    return GPUMC_OK;
  if (gpumc_launcher_join(&launcher, processes, &error) != GPUMC_OK)
    return fail_to_join(&launcher, &error);
  const enum gpumc_status status = gpumc_processes_same(
      *processes, "the program", "gpumc " GPUMC_PROGRAM_VERSION ", commit " GPUMC_COMMIT, &error);
  return cli_processes_agree(*processes, status, &error, cli_fail);
}

int cli_processes_agree(const struct gpumc_processes *processes, enum gpumc_status status,
                        struct gpumc_error *error, int (*print)(struct gpumc_error *error))
{
  status = gpumc_processes_agree(processes, status, error);
  if (status != GPUMC_OK && gpumc_is_root(processes))
    return print(error);
  gpumc_error_free(error);
  return (int)status;
}

/* What the root tells the others. */
struct order {
  int64_t task; /* negative: the end */
  int32_t code;
};

static void give(const struct gpumc_processes *processes, struct order order)
{
  gpumc_processes_broadcast(processes, &order, sizeof order, 0);
}

void cli_processes_next(const struct gpumc_processes *processes, size_t task)
{
  give(processes, (struct order){.task = (int64_t)task});
}

int cli_processes_end(const struct gpumc_processes *processes, int code)
{
  give(processes, (struct order){.task = -1, .code = code});
  return code;
}

int cli_processes_follow(const struct gpumc_config *config, const struct gpumc_run_options *options)
{
  for (;;) {
    struct order order;
    struct gpumc_error error = {0};
    gpumc_processes_broadcast(options->processes, &order, sizeof order, 0);
    if (order.task < 0)
      return (int)order.code;
    /* The root has the same error, and prints it. */
    if (gpumc_run_task(config, &config->tasks[order.task], options, &error) != GPUMC_OK)
      gpumc_error_free(&error);
  }
}
