/* gpumc plan: what a run would do and need, without doing it. The command: it has the tasks planned
 * (plan_tasks.c), adds totals and remarks, and reports. */
#include <math.h>
#include <stdlib.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/plan/plan.h"
#include "core/base/text.h"
#include "core/processes/host.h"

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Same as for gpumc run", 0},
    {"set", CLI_OPTION_SET, "KEY=VALUE", 0, "Set any key, for example algorithm.population=1000",
     0},
    {"device", CLI_OPTION_DEVICE, "DEVICE", 0,
     "auto, cpu, cuda or cuda:N, instead of kernel.device", 0},
    {"gpu", CLI_OPTION_GPU, "GPU", 0,
     "Plan memory and time for a GPU that this machine lacks: a card ('H200') or its memory ('80 "
     "GiB')",
     0},
    {"threads", CLI_OPTION_THREADS, "N", 0, "Host threads per process (default: all)", 0},
    {"processes", CLI_OPTION_PROCESSES, "P", 0,
     "Plan for this number of processes started by mpirun, each with its own GPU if --gpu is given",
     0},
    {"per-host", CLI_OPTION_PER_HOST, "N", 0, "Processes per host (default: all)", 0},
    {"temperature", 'T', NULL, 0, CLI_TEMPERATURE_HELP " in the names of tasks", 0},
    {"json", CLI_OPTION_JSON, NULL, 0, "Print the plan as JSON", 0},
    {0}};

const struct argp cli_plan_argp = {
    options,
    cli_parse_common,
    "CONFIG",
    "Show what a run of CONFIG would do: tasks, the kernel and why it was chosen, memory, updates, "
    "and the time estimated from short measurements on this machine.\v"
    "Examples:\n"
    "  gpumc plan ising.yaml\n"
    "  gpumc plan campaign.yaml --set algorithm.population=1000000 --json\n"
    "\n"
    "The exit code is 1 if a task does not fit into memory.",
    NULL,
    NULL,
    NULL};

/* Totals of tasks that run one after the other: memory, and the disk beside the results, are those
 * of the task that takes most. */
static cJSON *totals_json(const cJSON *tasks, const struct cli_plan_gpu *gpu)
{
  double updates = 0, seconds = 0, least = 0, configurations = 0, results = 0, beside = 0;
  double memory = 0;
  bool estimated = false, unknown = false;
  const cJSON *task;
  cJSON_ArrayForEach(task, tasks)
  {
    const double of_gpu = cli_plan_amount(cli_member(task, "gpu"), "least_seconds");
    updates += cli_number(task, "updates");
    seconds += cli_plan_amount(task, "estimated_seconds");
    least += of_gpu;
    unknown = unknown || of_gpu == 0;
    configurations += cli_plan_amount(task, "configuration_bytes");
    results += cli_number(task, "result_bytes");
    beside = fmax(beside, cli_number(task, "disk_resume_bytes") - cli_number(task, "result_bytes"));
    memory = fmax(memory, cli_plan_memory(task));
    estimated = estimated || cli_true(task, "updates_estimated");
  }
  cJSON *json = cJSON_CreateObject();
  cJSON_AddNumberToObject(json, "updates", updates);
  cJSON_AddBoolToObject(json, "updates_estimated", estimated);
  if (cli_has(cli_first(tasks), "fits"))
    cJSON_AddNumberToObject(json, "estimated_seconds", seconds);
  cJSON_AddNumberToObject(json, "memory_bytes", memory);
  if (configurations > 0)
    cJSON_AddNumberToObject(json, "configuration_bytes", configurations);
  cJSON_AddNumberToObject(json, "result_bytes", results);
  cJSON_AddNumberToObject(json, "disk_beside_bytes", beside);
  if (gpu != NULL)
    cJSON_AddItemToObject(json, "gpu", cli_plan_gpu_json(gpu, memory, unknown ? 0 : least));
  return json;
}

/* The messages of tasks that do not fit. */
static cJSON *refusals_of(const cJSON *tasks, const struct cli_plan_gpu *gpu)
{
  cJSON *refusals = cJSON_CreateArray();
  const cJSON *task;
  cJSON_ArrayForEach(task, tasks)
  {
    struct gpumc_text text = {0};
    if (gpu != NULL && !cli_true(cli_member(task, "gpu"), "fits"))
      gpumc_text_append(&text, "task %.0f: it does not fit into the memory of %s",
                        cli_number(task, "task"), gpu->name);
    else if (cli_has(task, "refusal"))
      gpumc_text_append(&text, "task %.0f: %s", cli_number(task, "task"),
                        cli_text(task, "refusal"));
    if (text.length > 0)
      cJSON_AddItemToArray(refusals, cJSON_CreateString(gpumc_text_string(&text)));
    gpumc_text_free(&text);
  }
  return refusals;
}

/* The plan of all tasks, with totals and remarks; NULL, with the error set. */
static cJSON *make_plan(const struct cli_plan_hardware *hardware, const struct gpumc_config *config,
                        struct gpumc_error *error)
{
  const size_t n = config->n_tasks;
  cJSON *json = cJSON_CreateObject(), *remarks = NULL;
  cJSON *tasks = cJSON_AddArrayToObject(json, "tasks");
  struct cli_plan_samples *samples = calloc(n, sizeof *samples);
  enum gpumc_status status = GPUMC_OK;
  if (tasks == NULL || samples == NULL)
    GPUMC_TRY_OUT(status,
                  gpumc_error_set(error, GPUMC_FAILURE, "out of memory: plans of %zu tasks", n));
  GPUMC_TRY_OUT(status, cli_plan_tasks(hardware, config, tasks, samples, error));
  remarks = cli_plan_remarks(samples, n);
  if (remarks == NULL)
    GPUMC_TRY_OUT(status,
                  gpumc_error_set(error, GPUMC_FAILURE, "out of memory: remarks on %zu tasks", n));
  cJSON_AddItemToObject(json, "totals", totals_json(tasks, hardware->gpu));
  cJSON_AddItemToObject(json, "remarks", remarks);
out:
  free(samples);
  if (status == GPUMC_OK)
    return json;
  cJSON_Delete(json);
  return NULL;
}

/* Plans all tasks and reports them. */
static enum gpumc_status plan_all(const struct cli_arguments *arguments,
                                  const struct gpumc_config *config, int *code,
                                  struct gpumc_error *error)
{
  const int per_host = arguments->per_host > 0 ? arguments->per_host : arguments->processes;
  const struct gpumc_processes several =
      gpumc_processes_planned(arguments->processes, per_host > 0 ? per_host : 1);
  struct cli_plan_gpu card;
  const struct cli_plan_hardware hardware = {.threads = arguments->threads,
                                             .gpu = arguments->gpu != NULL ? &card : NULL,
                                             .processes =
                                                 arguments->processes > 1 ? &several : NULL};
  if (hardware.gpu != NULL)
    GPUMC_TRY(cli_plan_gpu_find(arguments->gpu, &card, error));
  cJSON *json = make_plan(&hardware, config, error);
  if (json == NULL)
    return error->status;
  cJSON *tasks = cJSON_GetObjectItemCaseSensitive(json, "tasks");
  if (hardware.processes != NULL)
    cli_plan_processes_warn(tasks);
  cJSON *refusals = refusals_of(tasks, hardware.gpu);
  const cJSON *refusal;
  *code = cli_report(json, arguments->json, cli_plan_print);
  cli_config_warn(arguments->subject, config);
  cJSON_ArrayForEach(refusal, refusals)
  {
    cli_error("%s", refusal->valuestring);
    *code = GPUMC_FAILURE;
  }
  cJSON_Delete(refusals);
  return GPUMC_OK;
}

static int plan_config(const struct cli_arguments *arguments, const struct gpumc_config *config)
{
  struct gpumc_error error = {0};
  int code = GPUMC_OK;
  if (plan_all(arguments, config, &code, &error) != GPUMC_OK)
    code = cli_fail(&error);
  return code;
}

int cli_plan(int argc, char **argv)
{
  return cli_config_main(&cli_plan_argp, false, argc, argv, plan_config);
}
