/* One look at the tasks of a configuration, and the table of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/status/status.h"
#include "core/base/machine.h"
#include "core/base/text.h"

/* Slurm is asked no more often than this, whatever the interval. */
static const double seconds_of_slurm = 30;

const char *const status_names[STATUS_NAMES] = {
    [GPUMC_TASK_NOT_STARTED] = "not started", [GPUMC_TASK_RUNNING] = "running",
    [GPUMC_TASK_RESUMABLE] = "resumable",     [GPUMC_TASK_FAILED] = "failed",
    [GPUMC_TASK_REFUSED] = "refused",         [GPUMC_TASK_DONE] = "done",
};

static cJSON *task_json(const struct gpumc_task *task, const struct gpumc_task_report *report,
                        const struct cli_slurm_job *job)
{
  cJSON *json = cJSON_CreateObject();
  cJSON_AddNumberToObject(json, "task", (double)task->index);
  cJSON_AddStringToObject(json, "label", task->label);
  cJSON_AddStringToObject(json, "output", task->output);
  cJSON_AddStringToObject(json, "state", status_names[report->state]);
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

/* `jobs[n_tasks]`; `reports[n_tasks]`: of the look before, zeroed at first. What is done stays as
 * it was: its checksum is not read again. */
static cJSON *status_json(const struct gpumc_config *config, const char *refusal,
                          const struct cli_slurm_job *jobs, struct gpumc_task_report *reports)
{
  size_t counts[STATUS_NAMES] = {0};
  cJSON *json = cJSON_CreateObject();
  cJSON *tasks = cJSON_AddArrayToObject(json, "tasks");
  for (size_t i = 0; i < config->n_tasks; i++) {
    struct gpumc_task_report *report = &reports[i];
    if (report->state != GPUMC_TASK_DONE)
      gpumc_task_inspect(&config->tasks[i], refusal, report);
    cJSON_AddItemToArray(tasks, task_json(&config->tasks[i], report, &jobs[i]));
    counts[report->state]++;
  }
  cJSON *totals = cJSON_AddObjectToObject(json, "counts");
  for (size_t state = 0; state < STATUS_NAMES; state++)
    cJSON_AddNumberToObject(totals, status_names[state], (double)counts[state]);
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

static enum cli_style style_of(const char *state)
{
  static const enum cli_style styles[STATUS_NAMES] = {
      [GPUMC_TASK_RUNNING] = CLI_WORKING, [GPUMC_TASK_RESUMABLE] = CLI_WARNING,
      [GPUMC_TASK_FAILED] = CLI_ERROR,    [GPUMC_TASK_REFUSED] = CLI_ERROR,
      [GPUMC_TASK_DONE] = CLI_GOOD,
  };
  for (size_t i = 0; i < STATUS_NAMES; i++)
    if (strcmp(state, status_names[i]) == 0)
      return styles[i];
  return CLI_PLAIN;
}

static void task_row(struct cli_table *table, const cJSON *task, bool with_jobs)
{
  const char *state = cli_text(task, "state");
  const bool running = strcmp(state, status_names[GPUMC_TASK_RUNNING]) == 0;
  cli_table_cell(table, "%.0f", cli_number(task, "task"));
  cli_table_cell(table, "%s", state);
  cli_table_style(table, style_of(state));
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

void status_append_counts(const cJSON *counts, int n_tasks, struct gpumc_text *text)
{
  static const enum gpumc_task_state order[] = {GPUMC_TASK_DONE,        GPUMC_TASK_RUNNING,
                                                GPUMC_TASK_RESUMABLE,   GPUMC_TASK_FAILED,
                                                GPUMC_TASK_NOT_STARTED, GPUMC_TASK_REFUSED};
  gpumc_text_append(text, "%d task%s:", n_tasks, n_tasks == 1 ? "" : "s");
  for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
    const char *state = status_names[order[i]];
    gpumc_text_append(text, "%s %.0f %s", i > 0 ? "," : "", cli_number(counts, state), state);
  }
}

static void print_counts(const cJSON *counts, int n_tasks)
{
  struct gpumc_text text = {0};
  status_append_counts(counts, n_tasks, &text);
  printf("\n%s\n", gpumc_text_string(&text));
  gpumc_text_free(&text);
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

void status_print(const cJSON *json)
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
    cli_say(stdout, "\nThe Slurm jobs are unknown: %s\n", cli_text(json, "squeue"));
}

/* ---- a look ---- */

static void ask_slurm(struct status_look *look)
{
  struct gpumc_error error = {0};
  const struct cli_arguments *arguments = &look->arguments->common;
  if (look->asked > 0 && gpumc_clock() - look->asked < seconds_of_slurm)
    return;
  free(look->unknown_jobs);
  look->unknown_jobs = NULL;
  memset(look->jobs, 0, look->config->n_tasks * sizeof *look->jobs);
  if (cli_slurm_find_jobs(&arguments->config, arguments->subject, look->config->n_tasks, look->jobs,
                          &error) == CLI_SLURM_FAILED)
    look->unknown_jobs = strdup(gpumc_error_text(&error));
  look->asked = gpumc_clock();
  gpumc_error_free(&error);
}

cJSON *status_look_once(struct status_look *look)
{
  ask_slurm(look);
  cJSON *json =
      status_json(look->config, look->arguments->common.refusal, look->jobs, look->reports);
  if (look->unknown_jobs != NULL)
    cJSON_AddStringToObject(json, "squeue", look->unknown_jobs);
  return json;
}
