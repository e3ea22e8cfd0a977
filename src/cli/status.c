/* gpumc status: how far the tasks of a configuration are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/slurm.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/run/decide.h"

enum { N_STATES = GPUMC_TASK_DONE + 1 };

static const char *const state_names[N_STATES] = {
    [GPUMC_TASK_NOT_STARTED] = "not started", [GPUMC_TASK_RUNNING] = "running",
    [GPUMC_TASK_RESUMABLE] = "resumable",     [GPUMC_TASK_FAILED] = "failed",
    [GPUMC_TASK_REFUSED] = "refused",         [GPUMC_TASK_DONE] = "done",
};

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "As for gpumc run", 0},
    {"set", CLI_OPTION_SET, "KEY=VALUE", 0, "As for gpumc run", 0},
    {"json", CLI_OPTION_JSON, NULL, 0, "The states as JSON", 0},
    {0}};

const struct argp cli_status_argp = {
    options,
    cli_parse_common,
    "CONFIG",
    "Show what a run of CONFIG would do with its tasks: done, running, resumable, failed, refused "
    "(result or checkpoint of another configuration, or a file that the model reads has changed or "
    "is gone) or not started, with progress and the time that is left; where there is Slurm, with "
    "your jobs of gpumc submit for them.\v"
    "Examples:\n"
    "  gpumc status campaign.yaml\n"
    "  gpumc status campaign.yaml --json",
    NULL,
    NULL,
    NULL};

static cJSON *task_json(const struct gpumc_task *task, const struct gpumc_task_report *report,
                        const struct cli_slurm_job *job)
{
  cJSON *json = cJSON_CreateObject();
  cJSON_AddNumberToObject(json, "task", (double)task->index);
  cJSON_AddStringToObject(json, "label", task->label);
  cJSON_AddStringToObject(json, "output", task->output);
  cJSON_AddStringToObject(json, "state", state_names[report->state]);
  if (report->fraction >= 0)
    cJSON_AddNumberToObject(json, "fraction", report->fraction);
  if (report->seconds >= 0)
    cJSON_AddNumberToObject(json, "seconds", report->seconds);
  if (report->remaining_seconds >= 0)
    cJSON_AddNumberToObject(json, "remaining_seconds", report->remaining_seconds);
  if (report->message[0] != '\0')
    cJSON_AddStringToObject(json, "message", report->message);
  if (job->id[0] != '\0') {
    cJSON *member = cJSON_AddObjectToObject(json, "job");
    cJSON_AddStringToObject(member, "id", job->id);
    cJSON_AddStringToObject(member, "state", job->state);
    if (job->reason[0] != '\0')
      cJSON_AddStringToObject(member, "reason", job->reason);
  }
  return json;
}

/* `jobs[n_tasks]` */
static cJSON *status_json(const struct gpumc_config *config, const char *refusal,
                          const struct cli_slurm_job *jobs)
{
  size_t counts[N_STATES] = {0};
  cJSON *json = cJSON_CreateObject();
  cJSON *tasks = cJSON_AddArrayToObject(json, "tasks");
  for (size_t i = 0; i < config->n_tasks; i++) {
    struct gpumc_task_report report;
    gpumc_task_inspect(&config->tasks[i], refusal, &report);
    cJSON_AddItemToArray(tasks, task_json(&config->tasks[i], &report, &jobs[i]));
    counts[report.state]++;
  }
  cJSON *totals = cJSON_AddObjectToObject(json, "counts");
  for (size_t state = 0; state < N_STATES; state++)
    cJSON_AddNumberToObject(totals, state_names[state], (double)counts[state]);
  if (refusal != NULL)
    cJSON_AddStringToObject(json, "refusal", refusal);
  return json;
}

static void duration_cell(struct cli_table *table, const cJSON *task, const char *name)
{
  char text[32];
  cli_table_cell(table, "%s",
                 cli_has(task, name) ? gpumc_duration_text(cli_number(task, name), text) : "");
}

/* "1234_5 PENDING (Priority)" */
static void job_cell(struct cli_table *table, const cJSON *task)
{
  const cJSON *job = cli_member(task, "job");
  if (job == NULL)
    cli_table_cell(table, "%s", "");
  else if (cli_has(job, "reason"))
    cli_table_cell(table, "%s %s (%s)", cli_text(job, "id"), cli_text(job, "state"),
                   cli_text(job, "reason"));
  else
    cli_table_cell(table, "%s %s", cli_text(job, "id"), cli_text(job, "state"));
}

static void task_row(struct cli_table *table, const cJSON *task, bool with_jobs)
{
  const char *state = cli_text(task, "state");
  const bool running = strcmp(state, state_names[GPUMC_TASK_RUNNING]) == 0;
  cli_table_cell(table, "%.0f", cli_number(task, "task"));
  cli_table_cell(table, "%s", state);
  if (cli_has(task, "fraction"))
    cli_table_cell(table, "%.0f %%", 100 * cli_number(task, "fraction"));
  else
    cli_table_cell(table, "%s", "");
  duration_cell(table, task, "seconds");
  if (running)
    duration_cell(table, task, "remaining_seconds");
  else
    cli_table_cell(table, "%s", "");
  if (with_jobs)
    job_cell(table, task);
  cli_table_cell(table, "%s", cli_text(task, "output"));
  cli_table_cell(table, "%s", cli_text(task, "label"));
}

/* What keeps a run from the whole configuration once, else the message of each task. */
static void print_messages(const cJSON *json)
{
  const cJSON *task;
  if (cli_has(json, "refusal")) {
    cli_say(stdout, "\n%s\n", cli_text(json, "refusal"));
    return;
  }
  cJSON_ArrayForEach(task, cli_member(json, "tasks"))
  {
    if (cli_has(task, "message"))
      cli_say(stdout, "\ntask %.0f %s: %s\n", cli_number(task, "task"), cli_text(task, "state"),
              cli_text(task, "message"));
  }
}

static void print_counts(const cJSON *counts, int n_tasks)
{
  static const enum gpumc_task_state order[] = {GPUMC_TASK_DONE,        GPUMC_TASK_RUNNING,
                                                GPUMC_TASK_RESUMABLE,   GPUMC_TASK_FAILED,
                                                GPUMC_TASK_NOT_STARTED, GPUMC_TASK_REFUSED};
  printf("\n%d task%s:", n_tasks, n_tasks == 1 ? "" : "s");
  for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
    const char *state = state_names[order[i]];
    printf("%s %.0f %s", i > 0 ? "," : "", cli_number(counts, state), state);
  }
  putchar('\n');
}

static bool any_job(const cJSON *tasks)
{
  const cJSON *task;
  cJSON_ArrayForEach(task, tasks)
  {
    if (cli_has(task, "job"))
      return true;
  }
  return false;
}

static void print_status(const cJSON *json)
{
  const char *const titles[] = {"task", "state", "progress", "time",
                                "left", "job",   "output",   "parameters"};
  const cJSON *tasks = cli_member(json, "tasks"), *task;
  const bool with_jobs = any_job(tasks);
  struct cli_table table = {.columns = with_jobs ? 8 : 7, .right = {true, false, true, true, true}};
  for (size_t c = 0; c < sizeof titles / sizeof *titles; c++)
    if (with_jobs || strcmp(titles[c], "job") != 0)
      cli_table_cell(&table, "%s", titles[c]);
  cJSON_ArrayForEach(task, tasks) task_row(&table, task, with_jobs);
  cli_table_print(&table, 0);
  print_messages(json);
  print_counts(cli_member(json, "counts"), cJSON_GetArraySize(tasks));
  if (cli_has(json, "squeue"))
    cli_say(stdout, "\nIts jobs are unknown: %s\n", cli_text(json, "squeue"));
}

static int report_status(const struct cli_arguments *arguments, const struct gpumc_config *config)
{
  struct gpumc_error error = {0};
  struct cli_slurm_job *jobs;
  if (gpumc_allocate_array(&jobs, config->n_tasks, "jobs", &error) != GPUMC_OK)
    return cli_fail(&error);
  const enum cli_slurm_answer answer =
      cli_slurm_find_jobs(&arguments->config, arguments->subject, config->n_tasks, jobs, &error);
  cJSON *json = status_json(config, arguments->refusal, jobs);
  if (answer == CLI_SLURM_FAILED)
    cJSON_AddStringToObject(json, "squeue", gpumc_error_text(&error));
  gpumc_error_free(&error);
  free(jobs);
  return cli_report(json, arguments->json, print_status);
}

int cli_status(int argc, char **argv)
{
  return cli_config_main(&cli_status_argp, true, argc, argv, report_status);
}
