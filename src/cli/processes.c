#include "cli/processes.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build_info.h"
#include "cli/cli.h"

/* ---- before the others can be reached ---- */

/* Standard output and error while they are hushed, else negative. Of the program, as its standard
 * streams are. */
static int hushed[] = {-1, -1};
static const int streams[] = {STDOUT_FILENO, STDERR_FILENO};

static void linger(int code, void *unused)
{
  (void)unused;
  if (hushed[0] >= 0 && code != GPUMC_OK)
    gpumc_processes_give_way();
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

/* ---- together ---- */

/* What all hosts lack is said by the first process, and what one host lacks, a module or a library,
 * by the first process there, when the first of all has not ended the others with the same error.
 */
static int fail_to_join(const struct gpumc_launcher *launcher, struct gpumc_error *error)
{
  const int code = (int)error->status;
  char host[65] = "";
  if (launcher->rank > 0)
    gpumc_processes_give_way();
  if (launcher->rank > 0 && launcher->local_rank > 0)
    gpumc_processes_give_way();
  const bool of_host = launcher->rank > 0 && launcher->local_rank == 0 && launcher->reaches;
  if (of_host) {
    if (gethostname(host, sizeof host - 1) != 0)
      snprintf(host, sizeof host, "an unknown host");
    gpumc_error_prefix(error, "process %d of %d on %s", launcher->rank, launcher->size, host);
  }
  if (launcher->rank == 0 || of_host)
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
