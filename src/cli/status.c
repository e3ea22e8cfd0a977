/* gpumc status: how far the tasks of a configuration are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/table.h"
#include "core/base/units.h"
#include "core/run/run.h"

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

static const struct argp parser = {
    options,
    cli_parse_common,
    "CONFIG",
    "Show what a run of CONFIG would do with its tasks: done, running, resumable, failed, refused "
    "(result or checkpoint of another configuration, or a file that the model reads has changed or "
    "is gone) or not started, with progress and the time that is left.\v"
    "Examples:\n"
    "  gpumc status campaign.yaml\n"
    "  gpumc status campaign.yaml --json",
    NULL,
    NULL,
    NULL};

static cJSON *task_json(const struct gpumc_task *task, const struct gpumc_task_report *report)
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
  return json;
}

static void duration_cell(struct cli_table *table, double seconds)
{
  char text[32];
  cli_table_cell(table, "%s", seconds >= 0 ? gpumc_duration_text(seconds, text) : "");
}

static void task_row(struct cli_table *table, const struct gpumc_task *task,
                     const struct gpumc_task_report *report)
{
  cli_table_cell(table, "%zu", task->index);
  cli_table_cell(table, "%s", state_names[report->state]);
  if (report->fraction >= 0)
    cli_table_cell(table, "%.0f %%", 100 * report->fraction);
  else
    cli_table_cell(table, "%s", "");
  duration_cell(table, report->seconds);
  duration_cell(table, report->state == GPUMC_TASK_RUNNING ? report->remaining_seconds : -1);
  cli_table_cell(table, "%s", task->output);
  cli_table_cell(table, "%s", task->label);
}

static void print_counts(const size_t counts[N_STATES], size_t n_tasks)
{
  static const enum gpumc_task_state order[] = {GPUMC_TASK_DONE,        GPUMC_TASK_RUNNING,
                                                GPUMC_TASK_RESUMABLE,   GPUMC_TASK_FAILED,
                                                GPUMC_TASK_NOT_STARTED, GPUMC_TASK_REFUSED};
  printf("\n%zu task%s:", n_tasks, n_tasks == 1 ? "" : "s");
  for (size_t i = 0; i < sizeof order / sizeof *order; i++)
    printf("%s %zu %s", i > 0 ? "," : "", counts[order[i]], state_names[order[i]]);
  putchar('\n');
}

/* What keeps a run from the whole configuration once, else the message of each task. */
static void print_messages(const struct cli_arguments *arguments, const struct gpumc_config *config,
                           const struct gpumc_task_report *reports)
{
  if (arguments->refusal != NULL)
    cli_say(stdout, "\n%s\n", arguments->refusal);
  for (size_t i = 0; i < config->n_tasks && arguments->refusal == NULL; i++)
    if (reports[i].message[0] != '\0')
      cli_say(stdout, "\ntask %zu %s: %s\n", i, state_names[reports[i].state], reports[i].message);
}

static void print_table(const struct cli_arguments *arguments, const struct gpumc_config *config,
                        const struct gpumc_task_report *reports)
{
  struct cli_table table = {.columns = 7, .right = {true, false, true, true, true}};
  const char *const titles[] = {"task", "state",  "progress",  "time",
                                "left", "output", "parameters"};
  size_t counts[N_STATES] = {0};
  for (size_t c = 0; c < table.columns; c++)
    cli_table_cell(&table, "%s", titles[c]);
  for (size_t i = 0; i < config->n_tasks; i++) {
    task_row(&table, &config->tasks[i], &reports[i]);
    counts[reports[i].state]++;
  }
  cli_table_print(&table, 0);
  print_messages(arguments, config, reports);
  print_counts(counts, config->n_tasks);
}

static int print_json(const struct gpumc_config *config, const struct gpumc_task_report *reports)
{
  size_t counts[N_STATES] = {0};
  cJSON *json = cJSON_CreateObject();
  cJSON *tasks = cJSON_AddArrayToObject(json, "tasks");
  for (size_t i = 0; i < config->n_tasks; i++) {
    cJSON_AddItemToArray(tasks, task_json(&config->tasks[i], &reports[i]));
    counts[reports[i].state]++;
  }
  cJSON *totals = cJSON_AddObjectToObject(json, "counts");
  for (size_t state = 0; state < N_STATES; state++)
    cJSON_AddNumberToObject(totals, state_names[state], (double)counts[state]);
  return cli_print_json(json);
}

static int report_status(const struct cli_arguments *arguments, const struct gpumc_config *config)
{
  struct gpumc_task_report *reports = calloc(config->n_tasks, sizeof *reports);
  int code = GPUMC_OK;
  if (reports == NULL) {
    cli_error("out of memory: the states of %zu tasks", config->n_tasks);
    return GPUMC_FAILURE;
  }
  for (size_t i = 0; i < config->n_tasks; i++)
    gpumc_task_inspect(&config->tasks[i], arguments->refusal, &reports[i]);
  if (arguments->json)
    code = print_json(config, reports);
  else
    print_table(arguments, config, reports);
  free(reports);
  return code;
}

int cli_status(int argc, char **argv)
{
  return cli_config_main(&parser, true, argc, argv, report_status);
}
