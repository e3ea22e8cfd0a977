/* gpumc run: one task, or every task of a campaign, with progress on stderr: a bar on a terminal,
 * otherwise a line every half a minute. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/processes.h"
#include "cli/signals.h"
#include "cli/slurm.h"
#include "core/base/machine.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/run/run.h"

enum { OPTION_TIME = CLI_OPTION_OWN, OPTION_TASK, OPTION_FRESH, OPTION_ALONE };

struct run_arguments {
  struct cli_arguments common;
  struct gpumc_run_options run; /* but for the threads */
  double max_seconds;           /* 0: no limit */
  bool until_job_ends;
  const char *tasks; /* a list of numbers; NULL: all */
  long last_task;    /* the greatest of them */
  bool quiet, alone;
};

static volatile sig_atomic_t stop_requested, at_work;

/* Wrappers such as timeout send one request to the program and to its process group. */
static const double same_request_seconds = 1;
/* For a program that was asked to stop before it has begun to work, or after its work is safe: it
 * ends by itself, unless it waits for a file. */
static const double waiting_seconds = 2;

static void request_stop(int number)
{
  static volatile double first_interrupt; /* when; 0: not yet */
  const double now = gpumc_clock();
  __atomic_store_n(&stop_requested, number, __ATOMIC_RELAXED);
  if (number != SIGINT)
    return;
  if (first_interrupt == 0)
    first_interrupt = now;
  else if (now - first_interrupt > same_request_seconds)
    cli_end_by_signal(SIGINT);
}

static void look_at_waiting(double seconds)
{
  static const char text[] = "gpumc: stopped while waiting for a file or for other processes; the "
                             "same command continues the run\n";
  static double idle = -1; /* since this time; -1: at work */
  if (__atomic_load_n(&at_work, __ATOMIC_SEQ_CST) != 0)
    idle = -1;
  else if (idle < 0)
    idle = seconds;
  else if (seconds - idle >= waiting_seconds) {
    const ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
    _exit(GPUMC_STOPPED);
  }
}

/* SIGTERM, SIGHUP, SIGINT, and SIGUSR1 and SIGUSR2, which launchers pass on to processes, end the
 * current unit of work and leave a checkpoint; a SIGINT a second or more after the first ends the
 * program at once. A run under nohup continues when its terminal is closed. A reader of our
 * messages that goes away must not end a long run. */
void cli_run_listen(void)
{
  static const struct cli_listener listener = {request_stop, look_at_waiting};
  static const int stopping[] = {SIGTERM, SIGUSR1, SIGUSR2, SIGINT, SIGHUP};
  const size_t n = sizeof stopping / sizeof *stopping;
  cli_listen(stopping, cli_signal_is_ignored(SIGHUP) ? n - 1 : n, &listener);
  signal(SIGPIPE, SIG_IGN);
}

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Write the result to FILE (the key `output`)", 0},
    {"set", CLI_OPTION_SET, "KEY=VALUE", 0,
     "Set any key, for example algorithm.population=1000; KEY=null removes it", 0},
    {"device", CLI_OPTION_DEVICE, "DEVICE", 0,
     "auto, cpu, cuda or cuda:N, instead of kernel.device", 0},
    {"threads", CLI_OPTION_THREADS, "N", 0, "Host threads (default: all)", 0},
    {"max-time", OPTION_TIME, "DURATION", 0,
     "Write a checkpoint and stop, with exit code 75, after this time: '11 h', '90 s'; job: before "
     "the end of the Slurm job that this run belongs to",
     0},
    {"task", OPTION_TASK, "LIST", 0,
     "Run only these tasks of the campaign, counted from 0: 3, 0-8 or 0,3-8", 0},
    {"fresh", OPTION_FRESH, NULL, 0, "Start over: discard checkpoint and result", 0},
    {"alone", OPTION_ALONE, NULL, 0,
     "Let each process that a launcher has started work on tasks by itself", 0},
    {"quiet", 'q', NULL, 0, "Print errors and warnings only, no progress or notes", 0},
    {0}};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
  struct run_arguments *arguments = state->input;
  switch (key) {
  case 'q':
    arguments->quiet = true;
    return 0;
  case OPTION_TIME:
    arguments->until_job_ends = strcmp(argument, "job") == 0;
    arguments->max_seconds = arguments->until_job_ends
                                 ? 0
                                 : cli_duration(arguments->common.command, "--max-time", argument);
    return 0;
  case OPTION_TASK:
    arguments->tasks = argument;
    arguments->last_task = cli_task_list(arguments->common.command, argument, 0, NULL);
    return 0;
  case OPTION_ALONE:
    arguments->alone = true;
    return 0;
  case OPTION_FRESH:
    arguments->run.fresh = true;
    return 0;
  default:
    return cli_parse_common(key, argument, state);
  }
}

const struct argp cli_run_argp = {
    options,
    parse_option,
    "CONFIG",
    "Run CONFIG, or every task of its campaign. Resumes from a checkpoint of the same "
    "configuration, and leaves a complete result alone.\v"
    "Examples:\n"
    "  gpumc run ising.yaml -o results/ising.h5\n"
    "  gpumc run ising.yaml --set algorithm.population=1000 --max-time '11 h'\n"
    "  gpumc run campaign.yaml --task 3 --threads 8\n"
    "  gpumc run campaign.yaml --task 0,3-8 --max-time job\n"
    "  mpirun -n 4 gpumc run ising.yaml\n"
    "\n"
    "The exit code is 0 when done, 75 when stopped by SIGTERM, SIGHUP, SIGINT, SIGUSR1, SIGUSR2 or "
    "--max-time: the same command continues the run.",
    NULL,
    NULL,
    NULL};

static const double bar_interval = 0.1;   /* s */
static const double line_interval = 30.0; /* s */
static const double rate_window = 1.0;    /* s of work that a rate is taken over */
enum { BAR_WIDTH = 24 };

/* The progress of one task. `label`: in front of every line, "" for none; borrowed. */
struct progress {
  struct gpumc_observer observer; /* hand this to the run */
  const char *label;
  bool quiet, terminal, bar_shown, begun;
  double first_fraction, first_seconds;  /* where this invocation began */
  double window_updates, window_seconds; /* where the rate is measured from */
  double rate;                           /* updates per second; negative before it is known */
  double last_shown;                     /* of the monotonic clock */
};

static void
measure_rate(struct progress *progress, const struct gpumc_position *position, double seconds)
{
  if (!progress->begun) {
    progress->begun = true;
    progress->first_fraction = position->fraction;
    progress->first_seconds = seconds;
    progress->window_updates = position->updates;
    progress->window_seconds = seconds;
    return;
  }
  double elapsed = seconds - progress->window_seconds;
  if (elapsed <= 0 || (elapsed < rate_window && progress->rate >= 0))
    return;
  progress->rate = (position->updates - progress->window_updates) / elapsed;
  if (elapsed < rate_window)
    return;
  progress->window_updates = position->updates;
  progress->window_seconds = seconds;
}

/* Time left by the pace of this invocation; negative while it is unknown. */
static double
time_left(const struct progress *progress, const struct gpumc_position *position, double seconds)
{
  double done = position->fraction - progress->first_fraction;
  if (done <= 0)
    return -1;
  return (1 - position->fraction) * (seconds - progress->first_seconds) / done;
}

static void show(struct progress *progress, const struct gpumc_position *position, double seconds)
{
  char rate[32] = "", left[32] = "", bar[BAR_WIDTH + 1];
  double remaining = time_left(progress, position, seconds);
  if (progress->rate >= 0)
    cli_rate_text(progress->rate, position->unit, rate);
  if (remaining >= 0)
    gpumc_duration_text(remaining, left);
  int filled = (int)(position->fraction * BAR_WIDTH);
  memset(bar, '.', BAR_WIDTH);
  memset(bar, '#', (size_t)(filled < 0 ? 0 : filled > BAR_WIDTH ? BAR_WIDTH : filled));
  bar[BAR_WIDTH] = '\0';
  if (progress->terminal)
    fprintf(stderr, "\r\033[K%s[%s] ", progress->label, bar);
  else
    fprintf(stderr, "gpumc: %s", progress->label);
  fprintf(stderr, "%3.0f %%  %s = %.6g", 100 * position->fraction, position->coordinate,
          position->value);
  if (*rate != '\0')
    fprintf(stderr, "  %s", rate);
  if (*left != '\0')
    fprintf(stderr, "  %s left", left);
  if (!progress->terminal)
    fputc('\n', stderr);
  fflush(stderr);
  progress->bar_shown = progress->terminal;
}

static void on_progress(void *state, const struct gpumc_position *position, double seconds)
{
  struct progress *progress = state;
  measure_rate(progress, position, seconds);
  double time = gpumc_clock();
  double interval = progress->terminal ? bar_interval : line_interval;
  if (progress->quiet || time - progress->last_shown < interval)
    return;
  progress->last_shown = time;
  show(progress, position, seconds);
}

/* Removes the bar, if it is on the screen. */
static void end_progress(struct progress *progress)
{
  if (progress->bar_shown)
    fputs("\r\033[K", stderr);
  progress->bar_shown = false;
}

static void on_message(void *state, enum gpumc_message_level level, const char *text)
{
  struct progress *progress = state;
  if (progress->quiet && level == GPUMC_NOTE)
    return;
  end_progress(progress);
  char *line = cli_line(text);
  if (level == GPUMC_WARNING)
    cli_warning(progress->label, "%s", line);
  else
    cli_say(stderr, "gpumc: %s%s\n", progress->label, line);
  free(line);
}

static void begin_progress(struct progress *progress, const char *label, bool quiet)
{
  *progress = (struct progress){.label = label, .quiet = quiet, .rate = -1};
  progress->observer =
      (struct gpumc_observer){.state = progress, .message = on_message, .progress = on_progress};
  progress->terminal = isatty(STDERR_FILENO) == 1;
  progress->last_shown = gpumc_clock();
}

/* What came of the tasks of one invocation. */
struct tally {
  size_t done, failed, elsewhere;
  enum gpumc_status failure; /* of all failed tasks, GPUMC_FAILURE where they differ */
  struct gpumc_text failures;
  bool stopped;
};

static void
note_failure(struct tally *tally, const struct gpumc_task *task, struct gpumc_error *error)
{
  enum gpumc_status kind = error->status == GPUMC_BUSY ? GPUMC_FAILURE : error->status;
  tally->failure = tally->failed == 0 || tally->failure == kind ? kind : GPUMC_FAILURE;
  tally->failed++;
  gpumc_text_append(&tally->failures, "\n  task %zu (%s): %s", task->index, task->label,
                    gpumc_error_text(error));
}

/* `one_of_many`: who works on the task elsewhere does its part of the campaign. */
static void run_one(const struct run_arguments *arguments, const struct gpumc_config *config,
                    const struct gpumc_task *task, bool one_of_many, double begin,
                    struct tally *tally)
{
  struct gpumc_error error = {0};
  struct gpumc_run_options run = arguments->run;
  struct progress progress;
  char label[64] = "";
  cli_processes_next(run.processes, task->index);
  if (config->n_tasks > 1)
    snprintf(label, sizeof label, "task %zu: ", task->index);
  begin_progress(&progress, label, arguments->quiet);
  run.threads = arguments->common.threads;
  run.observer = &progress.observer;
  run.stop = &stop_requested;
  run.at_work = &at_work;
  if (arguments->max_seconds > 0) {
    double left = arguments->max_seconds - (gpumc_clock() - begin);
    run.max_seconds = left > 0 ? left : 1e-9;
  }
  enum gpumc_status status = gpumc_run_task(config, task, &run, &error);
  end_progress(&progress);
  if (status == GPUMC_OK) {
    tally->done++;
  } else if (status == GPUMC_STOPPED) {
    tally->stopped = true;
  } else if (status == GPUMC_BUSY && one_of_many) {
    if (!arguments->quiet)
      cli_say(stderr, "gpumc: %s%s: skipped\n", label, gpumc_error_text(&error));
    tally->elsewhere++;
  } else {
    if (config->n_tasks > 1)
      cli_error("task %zu (%s): %s", task->index, task->label, gpumc_error_text(&error));
    note_failure(tally, task, &error);
    if (config->n_tasks == 1)
      cli_error("%s", gpumc_error_text(&error));
  }
  gpumc_error_free(&error);
}

/* `selected[n_tasks]`, `n_selected` of them. */
static int run_tasks(const struct run_arguments *arguments, const struct gpumc_config *config,
                     const bool *selected, size_t n_selected)
{
  struct tally tally = {0};
  double begin = gpumc_clock();
  size_t n_begun = 0;
  for (size_t i = 0; i < config->n_tasks && !tally.stopped; i++) {
    if (!selected[i])
      continue;
    bool out_of_time = arguments->max_seconds > 0 && n_begun > 0 &&
                       gpumc_clock() - begin >= arguments->max_seconds;
    if (__atomic_load_n(&stop_requested, __ATOMIC_RELAXED) != 0 || out_of_time)
      tally.stopped = true;
    else
      run_one(arguments, config, &config->tasks[i], n_selected > 1, begin, &tally);
    n_begun++;
  }
  if (tally.failed > 0 && n_selected > 1)
    cli_error("%zu of %zu tasks failed:%s", tally.failed, n_selected,
              gpumc_text_string(&tally.failures));
  if (!arguments->quiet && tally.elsewhere == 1)
    fprintf(stderr, "gpumc: 1 task is being worked on elsewhere\n");
  else if (!arguments->quiet && tally.elsewhere > 1)
    fprintf(stderr, "gpumc: %zu tasks are being worked on elsewhere\n", tally.elsewhere);
  if (!arguments->quiet && tally.stopped)
    fprintf(stderr, "gpumc: stopped; the same command continues the run\n");
  gpumc_text_free(&tally.failures);
  if (tally.stopped)
    return GPUMC_STOPPED;
  return tally.failed > 0 ? (int)tally.failure : GPUMC_OK;
}

/* Returns how many tasks the command line selects, in selected[n_tasks]. */
static size_t select_tasks(const struct run_arguments *arguments, size_t n_tasks, bool *selected)
{
  size_t count = 0;
  if (arguments->tasks != NULL)
    cli_task_list(arguments->common.command, arguments->tasks, n_tasks, selected);
  for (size_t i = 0; i < n_tasks; i++) {
    selected[i] = selected[i] || arguments->tasks == NULL;
    count += selected[i];
  }
  return count;
}

static int run_selected(const struct run_arguments *arguments, const struct gpumc_config *config)
{
  bool *selected;
  struct gpumc_error error = {0};
  if (arguments->tasks != NULL && arguments->last_task >= (long)config->n_tasks) {
    cli_error("--task %s: %s has tasks 0 to %zu", arguments->tasks, arguments->common.subject,
              config->n_tasks - 1);
    return GPUMC_INVALID;
  }
  if (gpumc_allocate_array(&selected, config->n_tasks, "tasks", &error) != GPUMC_OK)
    return cli_fail(&error);
  const size_t n_selected = select_tasks(arguments, config->n_tasks, selected);
  const int code = run_tasks(arguments, config, selected, n_selected);
  free(selected);
  return code;
}

/* Kept free before the end of a job, for a unit of work to end and for a checkpoint: seconds, but
 * half of what is left at most. */
static const double job_reserve = 60;

/* --max-time job: the root asks. Where Slurm does not tell, its signals alone end the run. */
static void limit_to_job(struct run_arguments *arguments)
{
  struct gpumc_error error = {0};
  double left = INFINITY;
  if (cli_slurm_time_left(&left, &error) != GPUMC_OK)
    cli_warning("",
                "--max-time job: the end of the job is unknown, so only a signal can stop the run "
                "before it: %s",
                gpumc_error_text(&error));
  if (isfinite(left))
    arguments->max_seconds = fmax(left - fmin(job_reserve, left / 2), 1e-9);
  gpumc_error_free(&error);
}

/* Of all processes; the root's clock decides later, too. */
static void find_limit(struct run_arguments *arguments)
{
  if (arguments->until_job_ends && gpumc_is_root(arguments->run.processes))
    limit_to_job(arguments);
  gpumc_processes_broadcast(arguments->run.processes, &arguments->max_seconds,
                            sizeof arguments->max_seconds, 0);
}

/* All processes have loaded the same plugins, wherever the files are. */
static enum gpumc_status check_plugins(const struct gpumc_processes *processes,
                                       const struct gpumc_config *config, struct gpumc_error *error)
{
  struct gpumc_text text = {0};
  gpumc_plugin_set_list(&config->plugins, &text);
  const enum gpumc_status status =
      gpumc_processes_same(processes, "the list of plugins", gpumc_text_string(&text), error);
  gpumc_text_free(&text);
  return status;
}

/* With all processes there: loads the configuration, and works on its tasks. */
static int run_together(const struct run_arguments *arguments, struct gpumc_config *config)
{
  const struct gpumc_processes *processes = arguments->run.processes;
  struct gpumc_error error = {0};
  const enum gpumc_status status =
      cli_config_load(&arguments->common.config, arguments->common.subject, config, &error);
  int code = cli_processes_agree(processes, status, &error, cli_config_fail);
  if (code != GPUMC_OK)
    return code;
  char tasks[32];
  snprintf(tasks, sizeof tasks, "%zu", config->n_tasks);
  code = cli_processes_agree(processes,
                             gpumc_processes_same(processes, "the number of tasks", tasks, &error),
                             &error, cli_fail);
  if (code == GPUMC_OK)
    code =
        cli_processes_agree(processes, check_plugins(processes, config, &error), &error, cli_fail);
  if (code != GPUMC_OK)
    return code;
  if (!gpumc_is_root(processes)) {
    struct gpumc_run_options run = arguments->run;
    run.threads = arguments->common.threads;
    run.stop = &stop_requested;
    run.at_work = &at_work;
    return cli_processes_follow(config, &run);
  }
  return cli_processes_end(processes, run_selected(arguments, config));
}

int cli_run(int argc, char **argv)
{
  struct run_arguments arguments = {.common = {.command = argv[0], .kind = "configuration"}};
  struct gpumc_config config = {0};
  struct gpumc_processes *processes = NULL;
  char *command_line = cli_command_line(argc, argv);
  arguments.run.command_line = command_line;
  cli_processes_hush(argc, argv);
  cli_parse(&cli_run_argp, argc, argv, &arguments);
  cli_config_require(&arguments.common);
  if (arguments.until_job_ends && !cli_slurm_in_job())
    cli_usage_error(arguments.common.command,
                    "--max-time job: this is not a Slurm job: SLURM_JOB_ID is not set");
  cli_processes_speak();
  int code = cli_processes_join(arguments.alone, &processes);
  arguments.run.processes = processes != NULL ? processes : gpumc_processes_alone();
  if (code == GPUMC_OK) {
    find_limit(&arguments);
    code = run_together(&arguments, &config);
  }
  gpumc_config_free(&config);
  cli_config_options_free(&arguments.common.config);
  free(command_line);
  gpumc_processes_close(processes);
  return code;
}
