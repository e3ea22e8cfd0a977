/* gpumc submit: the tasks of a configuration as an array job of Slurm. Element i of the array has
 * the tasks from i * bundle on, whichever of them are done by then: `gpumc run` skips these. What
 * stops by time goes back to the queue by itself, so that a job is as long as its campaign, however
 * short the limits are. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/slurm.h"
#include "core/base/memory.h"
#include "core/run/decide.h"

enum { OPTION_SLURM = CLI_OPTION_OWN, OPTION_DRY_RUN, OPTION_BUNDLE };

struct submit_arguments {
  struct cli_arguments common;
  bool slurm, dry_run;
  size_t bundle;
  char **sbatch; /* its options, n_sbatch words of the command line */
  int n_sbatch;
};

static const struct argp_option options[] = {
    {"slurm", OPTION_SLURM, NULL, 0, "Submit to Slurm, with sbatch", 0},
    {"dry-run", OPTION_DRY_RUN, NULL, 0, "Print the script that would be submitted", 0},
    {"bundle", OPTION_BUNDLE, "N", 0,
     "Run N tasks per element of the array, one after the other (default: 1)", 0},
    {"output", 'o', "FILE", 0, "Same as for gpumc run", 0},
    {"set", CLI_OPTION_SET, "KEY=VALUE", 0, "Same as for gpumc run", 0},
    {"device", CLI_OPTION_DEVICE, "DEVICE", 0, "Same as for gpumc run", 0},
    {"threads", CLI_OPTION_THREADS, "N", 0,
     "Host threads per run (default: the processors that Slurm gives it)", 0},
    {0}};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
  struct submit_arguments *arguments = state->input;
  switch (key) {
  case OPTION_SLURM:
    arguments->slurm = true;
    return 0;
  case OPTION_DRY_RUN:
    arguments->dry_run = true;
    return 0;
  case OPTION_BUNDLE:
    arguments->bundle =
        (size_t)cli_integer(arguments->common.command, "--bundle", argument, 1, INT_MAX);
    return 0;
  default:
    return cli_parse_common(key, argument, state);
  }
}

const struct argp cli_submit_argp = {
    options,
    parse_option,
    "CONFIG --slurm [-- SBATCH OPTIONS]",
    "Submit the tasks of CONFIG that are neither done nor in the queue as an array job, and print "
    "its number. Tasks stopped by the time limit go back to the queue.\v"
    "Examples:\n"
    "  gpumc submit campaign.yaml --slurm -- --time=8:00:00 --cpus-per-task=16\n"
    "  gpumc submit campaign.yaml --slurm --bundle 25 -- --time=1-0 --gpus=1 --partition=gpu\n"
    "  gpumc submit campaign.yaml --slurm --dry-run > campaign.sh\n"
    "\n"
    "gpumc status CONFIG shows the jobs next to the tasks; repeating the command submits what is "
    "left.",
    NULL,
    NULL,
    NULL};

/* ---- which tasks ---- */

/* What becomes of the tasks: `open` is to be submitted. */
struct selection {
  bool *elements; /* of the array; owned, n_elements of them */
  size_t n_elements;
  size_t open, done, queued, running;
};

/* GPUMC_INVALID for a task that a run would refuse. */
static enum gpumc_status add_task(const struct gpumc_task *task, const struct cli_slurm_job *job,
                                  size_t bundle, struct selection *selection,
                                  struct gpumc_error *error)
{
  struct gpumc_task_report report;
  gpumc_task_inspect(task, NULL, &report);
  if (report.state == GPUMC_TASK_REFUSED)
    return gpumc_error_set(error, GPUMC_INVALID, "task %zu would be refused: %s", task->index,
                           report.message);
  if (report.state == GPUMC_TASK_DONE) {
    selection->done++;
  } else if (job->id[0] != '\0') {
    selection->queued++;
  } else if (report.state == GPUMC_TASK_RUNNING) {
    selection->running++;
  } else {
    selection->open++;
    selection->elements[task->index / bundle] = true;
  }
  return GPUMC_OK;
}

static enum gpumc_status select_tasks(const struct submit_arguments *arguments,
                                      const struct gpumc_config *config,
                                      struct selection *selection, struct gpumc_error *error)
{
  const struct cli_arguments *common = &arguments->common;
  struct cli_slurm_job *jobs;
  struct gpumc_error problem = {0};
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY(gpumc_allocate_array(&jobs, config->n_tasks, "jobs", error));
  selection->n_elements = (config->n_tasks - 1) / arguments->bundle + 1;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&selection->elements, selection->n_elements,
                                             "elements of the array", error));
  const bool unknown = cli_slurm_find_jobs(&common->config, common->subject, config->n_tasks, jobs,
                                           &problem) == CLI_SLURM_FAILED;
  if (unknown && !arguments->dry_run)
    GPUMC_TRY_OUT(
        status,
        gpumc_error_set(
            error, GPUMC_FAILURE,
            "nothing was submitted, since it is unknown which tasks are already in the queue: %s",
            gpumc_error_text(&problem)));
  if (unknown)
    cli_warning("", "it is unknown which tasks are already in the queue: %s",
                gpumc_error_text(&problem));
  for (size_t i = 0; i < config->n_tasks; i++)
    GPUMC_TRY_OUT(status,
                  add_task(&config->tasks[i], &jobs[i], arguments->bundle, selection, error));
out:
  gpumc_error_free(&problem);
  free(jobs);
  return status;
}

/* "0,3-8" */
static void append_elements(struct gpumc_text *text, const struct selection *selection)
{
  const char *comma = "";
  for (size_t i = 0; i < selection->n_elements; i++) {
    if (!selection->elements[i])
      continue;
    const size_t first = i;
    while (i + 1 < selection->n_elements && selection->elements[i + 1])
      i++;
    gpumc_text_append(text, first == i ? "%s%zu" : "%s%zu-%zu", comma, first, i);
    comma = ",";
  }
}

/* ---- the script ---- */

/* As one word of the shell. */
static void append_shell_word(struct gpumc_text *text, const char *word)
{
  gpumc_text_append(text, "'");
  for (; *word != '\0'; word++)
    gpumc_text_append(text, *word == '\'' ? "'\\''" : "%c", *word);
  gpumc_text_append(text, "'");
}

/* As one word of a line #SBATCH: within quotes only a quote and a backslash have a meaning. */
static void append_sbatch_word(struct gpumc_text *text, const char *word)
{
  if (strpbrk(word, " \t\\'\"#") == NULL) {
    gpumc_text_append(text, "%s", word);
    return;
  }
  gpumc_text_append(text, "\"");
  for (; *word != '\0'; word++)
    gpumc_text_append(text, *word == '"' || *word == '\\' ? "\\%c" : "%c", *word);
  gpumc_text_append(text, "\"");
}

static void append_directives(struct gpumc_text *script, const struct submit_arguments *arguments,
                              const struct selection *selection, const char *name)
{
  gpumc_text_append(script, "#!/bin/bash\n#SBATCH --job-name=%s\n#SBATCH --array=", name);
  append_elements(script, selection);
  /* The signal reaches the program, a step of the job, and not this script. */
  gpumc_text_append(script, "\n#SBATCH --signal=TERM@120\n#SBATCH --requeue\n"
                            "#SBATCH --open-mode=append\n");
  if (arguments->n_sbatch > 0)
    gpumc_text_append(script, "#SBATCH");
  for (int i = 0; i < arguments->n_sbatch; i++) {
    gpumc_text_append(script, " ");
    append_sbatch_word(script, arguments->sbatch[i]);
  }
  gpumc_text_append(script, arguments->n_sbatch > 0 ? "\n" : "");
}

/* Sets the variables `tasks` and `threads`. Slurm gives an element processors for each of its
 * processes, or, where that was not asked for, some for all that are on a node. */
static void append_variables(struct gpumc_text *script, const struct submit_arguments *arguments,
                             size_t n_tasks)
{
  const size_t bundle = arguments->bundle;
  if (bundle == 1) {
    gpumc_text_append(script, "tasks=$SLURM_ARRAY_TASK_ID\n");
  } else {
    gpumc_text_append(script,
                      "first=$((SLURM_ARRAY_TASK_ID * %zu))\nlast=$((first + %zu))\n"
                      "tasks=$first-$((last < %zu ? last : %zu))\n",
                      bundle, bundle - 1, n_tasks - 1, n_tasks - 1);
  }
  if (arguments->common.threads > 0)
    gpumc_text_append(script, "threads=%d\n", arguments->common.threads);
  else
    gpumc_text_append(script, "threads=${SLURM_CPUS_PER_TASK:-$((SLURM_CPUS_ON_NODE / "
                              "${SLURM_TASKS_PER_NODE%%%%[!0-9]*}))}\n"
                              "[ \"$threads\" -ge 1 ] || threads=1\n");
  /* srun of Slurm 22.05 and newer does not take it from the job by itself. */
  gpumc_text_append(script, "[ -z \"$SLURM_CPUS_PER_TASK\" ] || "
                            "export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK\n");
}

static void append_setting(struct gpumc_text *script, const char *assignment)
{
  if (assignment == NULL)
    return;
  gpumc_text_append(script, " --set ");
  append_shell_word(script, assignment);
}

/* `program`, `folder` and `config`: absolute paths. */
static void append_run(struct gpumc_text *script, const struct submit_arguments *arguments,
                       const char *program, const char *folder, const char *config)
{
  const struct cli_config_options *set = &arguments->common.config;
  gpumc_text_append(script, "cd ");
  append_shell_word(script, folder);
  gpumc_text_append(script, " || exit 1\nsrun ");
  append_shell_word(script, program);
  gpumc_text_append(script, " run ");
  append_shell_word(script, config);
  for (size_t i = 0; i < set->n_assignments; i++)
    append_setting(script, set->assignments[i]);
  append_setting(script, set->output_assignment);
  append_setting(script, set->device_assignment);
  /* Not by SLURM_JOB_ID, which for one of the elements is the number of the whole array. */
  gpumc_text_append(script, " --task \"$tasks\" --threads \"$threads\" --max-time job\n"
                            "code=$?\n"
                            "# Stopped before the time limit, with a checkpoint: to be continued.\n"
                            "[ $code -ne 75 ] || "
                            "scontrol requeue \"${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\"\n"
                            "exit $code\n");
}

static enum gpumc_status write_script(const struct submit_arguments *arguments,
                                      const struct gpumc_config *config,
                                      const struct selection *selection, struct gpumc_text *script,
                                      struct gpumc_error *error)
{
  const struct cli_arguments *common = &arguments->common;
  char *name = cli_slurm_job_name(&common->config, common->subject, arguments->bundle);
  char *program = realpath("/proc/self/exe", NULL);
  char *path = realpath(common->subject, NULL);
  char *folder = getcwd(NULL, 0);
  if (name != NULL && program != NULL && path != NULL && folder != NULL) {
    append_directives(script, arguments, selection, name);
    append_variables(script, arguments, config->n_tasks);
    append_run(script, arguments, program, folder, path);
  } else {
    script->failed = true;
  }
  free(name);
  free(program);
  free(path);
  free(folder);
  return script->failed ? gpumc_error_set(error, GPUMC_FAILURE, "cannot write the job script")
                        : GPUMC_OK;
}

/* ---- sbatch ---- */

/* Of an array with an element that no job of this Slurm can have. */
static enum gpumc_status check_elements(const struct submit_arguments *arguments, size_t n_tasks,
                                        const struct selection *selection,
                                        struct gpumc_error *error)
{
  size_t last = selection->n_elements - 1;
  while (!selection->elements[last])
    last--;
  const size_t most = cli_slurm_elements();
  if (last < most)
    return GPUMC_OK;
  return gpumc_error_set(error, GPUMC_INVALID,
                         "element %zu of the array is beyond the %zu that a job can have here "
                         "(MaxArraySize): use --bundle %zu or more instead of %zu",
                         last, most, (n_tasks - 1) / most + 1, arguments->bundle);
}

/* GPUMC_FAILURE with what sbatch said. */
static enum gpumc_status refuse(const struct cli_program *sbatch, struct gpumc_error *error)
{
  const char *messages = gpumc_text_string(&sbatch->messages);
  size_t length = strlen(messages);
  while (length > 0 && messages[length - 1] == '\n')
    length--;
  if (sbatch->code == CLI_PROGRAM_NOT_FOUND)
    return gpumc_error_set(error, GPUMC_FAILURE,
                           "sbatch is not on the PATH: Slurm jobs cannot be submitted from here; "
                           "--dry-run prints the script");
  if (sbatch->code < 0)
    return gpumc_error_set(
        error, GPUMC_FAILURE,
        "sbatch did not answer; check with squeue whether it has submitted the job nevertheless");
  if (length == 0)
    return gpumc_error_set(error, GPUMC_FAILURE,
                           "nothing was submitted: sbatch exited with code %d", sbatch->code);
  return gpumc_error_set(error, GPUMC_FAILURE, "nothing was submitted: %.*s", (int)length,
                         messages);
}

/* `*job`: the number that sbatch printed; the caller frees. */
static enum gpumc_status submit(const char *script, char **job, struct gpumc_error *error)
{
  const char *const words[] = {"sbatch", "--parsable", NULL};
  struct cli_program sbatch;
  enum gpumc_status status = GPUMC_OK;
  *job = NULL;
  GPUMC_TRY(cli_program_run(words, script, 2 * cli_slurm_patience, &sbatch, error));
  const char *said = gpumc_text_string(&sbatch.output);
  if (sbatch.code != 0)
    status = refuse(&sbatch, error);
  else if ((*job = strndup(said, strcspn(said, ";\n"))) == NULL)
    status = gpumc_error_set(error, GPUMC_FAILURE, "out of memory");
  cli_program_free(&sbatch);
  return status;
}

/* ": 3 done, 2 in the queue" on stderr, and the end of the line. */
static void say_rest(const struct selection *selection)
{
  const struct {
    size_t count;
    const char *text;
  } rest[] = {{selection->done, "done"},
              {selection->queued, "in the queue"},
              {selection->running, "being worked on"}};
  const char *before = ": ";
  for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) {
    if (rest[i].count == 0)
      continue;
    fprintf(stderr, "%s%zu %s", before, rest[i].count, rest[i].text);
    before = ", ";
  }
  fputc('\n', stderr);
}

static enum gpumc_status work(const struct submit_arguments *arguments,
                              const struct gpumc_config *config, struct selection *selection,
                              struct gpumc_text *script, struct gpumc_error *error)
{
  char *job = NULL;
  GPUMC_TRY(select_tasks(arguments, config, selection, error));
  if (selection->open == 0) {
    fprintf(stderr, "gpumc: nothing to submit");
    say_rest(selection);
    return GPUMC_OK;
  }
  GPUMC_TRY(check_elements(arguments, config->n_tasks, selection, error));
  GPUMC_TRY(write_script(arguments, config, selection, script, error));
  if (arguments->dry_run) {
    fputs(gpumc_text_string(script), stdout);
    return GPUMC_OK;
  }
  GPUMC_TRY(submit(gpumc_text_string(script), &job, error));
  cli_say(stdout, "%s\n", job);
  fprintf(stderr, "gpumc: %zu of %zu tasks submitted", selection->open, config->n_tasks);
  say_rest(selection);
  free(job);
  return GPUMC_OK;
}

static void check_arguments(const struct submit_arguments *arguments)
{
  const char *command = arguments->common.command;
  cli_config_require(&arguments->common);
  if (!arguments->slurm)
    cli_usage_error(command, "no scheduler given: use --slurm (docs/cluster.md covers others)");
  for (int i = 0; i < arguments->n_sbatch; i++) {
    const char *word = arguments->sbatch[i];
    if (strncmp(word, "-a", 2) == 0 || strncmp(word, "--ar", 4) == 0)
      cli_usage_error(command, "'%s': gpumc submit sets --array itself", word);
    if (strchr(word, '\n') != NULL || word[0] == '\0')
      cli_usage_error(command, "options of sbatch must not be empty or contain line breaks");
    if (i == 0 && word[0] != '-')
      cli_usage_error(command, "'%s' after -- is not an option of sbatch", word);
  }
}

int cli_submit(int argc, char **argv)
{
  struct submit_arguments arguments = {.common = {.command = argv[0], .kind = "configuration"},
                                       .bundle = 1};
  struct gpumc_config config = {0};
  struct gpumc_error error = {0};
  struct selection selection = {0};
  struct gpumc_text script = {0};
  int own = 1;
  while (own < argc && strcmp(argv[own], "--") != 0)
    own++;
  if (own < argc) {
    arguments.sbatch = argv + own + 1;
    arguments.n_sbatch = argc - own - 1;
  }
  cli_parse(&cli_submit_argp, own, argv, &arguments);
  check_arguments(&arguments);
  int code = GPUMC_OK;
  if (cli_config_load(&arguments.common.config, arguments.common.subject, &config, &error) !=
      GPUMC_OK)
    code = cli_config_fail(&error);
  else if (work(&arguments, &config, &selection, &script, &error) != GPUMC_OK)
    code = cli_fail(&error);
  free(selection.elements);
  gpumc_text_free(&script);
  gpumc_config_free(&config);
  cli_config_options_free(&arguments.common.config);
  return code;
}
