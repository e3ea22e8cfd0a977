/* gpumc plan: what a run would do and need, without doing it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/plan.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/processes/host.h"
#include "core/run/prepare.h"

/* The plan of one task. */
struct task_plan {
  struct gpumc_preparation preparation;
  bool absent;    /* for a GPU that is not here, of which no rate can be measured */
  double rate;    /* estimate: updates per second */
  double seconds; /* estimate; of an absent GPU the least, 0: unknown */
  char *refusal;  /* NULL, or why it cannot run; owned */
};

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

static bool is_on_gpu(const struct gpumc_preparation *preparation)
{
  return strcmp(preparation->device.ops->name, "cuda") == 0;
}

/* For a GPU that is not here, if its memory is known. */
static bool has_room(const struct task_plan *plan, const struct cli_plan_gpu *gpu)
{
  if (plan->absent)
    return gpu == NULL || plan->preparation.device_bytes < gpu->bytes;
  return gpumc_preparation_has_room(&plan->preparation);
}

/* A configuration that cannot run for lack of memory is part of the plan; other failures end it. */
static enum gpumc_status plan_task(const struct cli_arguments *arguments,
                                   const struct gpumc_task *task, const struct cli_plan_gpu *gpu,
                                   const struct gpumc_processes *planned, struct task_plan *plan,
                                   struct gpumc_error *error)
{
  const struct gpumc_processes *processes = task->algorithm->divides != NULL ? planned : NULL;
  const struct gpumc_params kernel = gpumc_task_params(task, "kernel");
  plan->absent = gpu != NULL || gpumc_device_is_absent(gpumc_params_string(&kernel, "device"));
  GPUMC_TRY(
      plan->absent
          ? gpumc_prepare_absent(task, arguments->threads, processes, &plan->preparation, error)
          : gpumc_prepare(task, arguments->threads, processes, NULL, &plan->preparation, error));
  if (processes != NULL) {
    GPUMC_TRY(gpumc_preparation_divide(&plan->preparation, processes, error));
    gpumc_preparation_share_gpu(&plan->preparation,
                                cli_plan_gpu_sharers(&plan->preparation, plan->absent));
    const struct gpumc_preparation before = plan->preparation;
    if (!has_room(plan, gpu))
      GPUMC_TRY(gpumc_preparation_narrow(&plan->preparation, error));
    if (!has_room(plan, gpu))
      plan->preparation = before;
  }
  if (gpu != NULL)
    plan->seconds =
        cli_plan_gpu_seconds(gpu, &plan->preparation) * cli_plan_share(&plan->preparation);
  if (plan->absent)
    return GPUMC_OK;
  if (gpumc_preparation_fits(&plan->preparation, error) == GPUMC_OK) {
    struct cli_plan_time time;
    GPUMC_TRY(cli_plan_time_measure(&plan->preparation, &time, error));
    plan->rate = time.rate * plan->preparation.per_site;
    plan->seconds = time.seconds;
    return GPUMC_OK;
  }
  plan->refusal = strdup(gpumc_error_text(error));
  gpumc_error_free(error);
  return GPUMC_OK;
}

/* Why this kernel: it was requested, or is expected to be the fastest. */
static const char *kernel_reason(const struct gpumc_config *config)
{
  const struct gpumc_node *variant = gpumc_node_find(config->document.root, "kernel.variant");
  return variant == NULL || variant->text == NULL || strcmp(variant->text, "auto") == 0
             ? "auto: expected to be the fastest for this model and number of replicas"
             : "requested by kernel.variant";
}

static cJSON *work_json(const struct gpumc_work *work)
{
  cJSON *json = cJSON_CreateObject();
  cJSON_AddNumberToObject(json, "measured_sites", work->measured);
  cJSON_AddNumberToObject(json, "exchanged_sites", work->moved);
  cJSON_AddNumberToObject(json, "compared_sites", work->compared);
  return json;
}

static void add_memory(cJSON *json, const struct task_plan *plan)
{
  const struct gpumc_preparation *preparation = &plan->preparation;
  cJSON_AddNumberToObject(json, "ensemble_bytes", preparation->ensemble_bytes);
  cJSON_AddNumberToObject(json, "host_bytes", preparation->host_bytes);
  cJSON_AddNumberToObject(json, "available_bytes", preparation->available_bytes);
  if (!is_on_gpu(preparation))
    return;
  cJSON_AddBoolToObject(json, "device_is_here", !plan->absent);
  cJSON_AddNumberToObject(json, "device_bytes", preparation->device_bytes);
  if (!plan->absent)
    cJSON_AddNumberToObject(json, "device_available_bytes", preparation->device_available_bytes);
}

static void add_disk(cJSON *json, const struct gpumc_preparation *preparation)
{
  struct gpumc_disk_plan disk;
  gpumc_disk_plan_make(preparation, &disk);
  if (preparation->demand.configuration_bytes > 0)
    cJSON_AddNumberToObject(json, "configuration_bytes", preparation->demand.configuration_bytes);
  cJSON_AddNumberToObject(json, "result_bytes", disk.result);
  if (disk.recorded > 0)
    cJSON_AddNumberToObject(json, "disorder_bytes", disk.recorded);
  cJSON_AddNumberToObject(json, "log_bytes", disk.log);
  cJSON_AddNumberToObject(json, "checkpoint_bytes", disk.checkpoint);
  cJSON_AddNumberToObject(json, "disk_bytes", disk.running);
  cJSON_AddNumberToObject(json, "disk_resume_bytes", disk.resuming);
}

static bool walks(const struct task_plan *plan)
{
  return (plan->preparation.task->algorithm->required & GPUMC_OPERATION_WALK) != 0;
}

/* Where replicas walk on a device that is here, and the kernel can tell. */
static void add_fills(cJSON *json, const struct task_plan *plan)
{
  const struct gpumc_preparation *preparation = &plan->preparation;
  if (plan->absent || !walks(plan) || preparation->kernel->fills == NULL)
    return;
  const size_t replicas = preparation->kernel->fills(&preparation->model, &preparation->device,
                                                     &preparation->demand.plan);
  if (replicas > 0)
    cJSON_AddNumberToObject(json, "replicas_to_fill_device", (double)replicas);
}

/* `fits` is left out of the plan for a GPU that is not here. */
static cJSON *task_json(const struct task_plan *plan, const char *reason,
                        const struct cli_plan_gpu *gpu, const struct gpumc_processes *planned)
{
  const struct gpumc_preparation *preparation = &plan->preparation;
  const struct gpumc_task *task = preparation->task;
  const struct gpumc_demand *demand = &preparation->demand;
  cJSON *json = cJSON_CreateObject();
  cJSON_AddNumberToObject(json, "task", (double)task->index);
  cJSON_AddStringToObject(json, "label", task->label);
  cJSON_AddStringToObject(json, "output", task->output);
  cJSON_AddStringToObject(json, "model", task->model->name);
  cJSON_AddNumberToObject(json, "sites", (double)preparation->model.sites);
  cJSON_AddStringToObject(json, "site_word", gpumc_site_word(&preparation->model));
  cJSON_AddStringToObject(json, "algorithm", task->algorithm->name);
  cJSON_AddStringToObject(json, "kernel", preparation->kernel->variant);
  cJSON_AddStringToObject(json, "kernel_reason", reason);
  cJSON_AddStringToObject(json, "trajectory", gpumc_kernel_trajectory(preparation->kernel));
  cJSON_AddStringToObject(json, "device", preparation->device.ops->name);
  cJSON_AddStringToObject(json, "device_description", preparation->device.description);
  cJSON_AddNumberToObject(json, "threads", preparation->device.threads);
  cJSON_AddNumberToObject(json, "runs_at_once", (double)demand->plan.runs);
  cJSON_AddNumberToObject(json, "lattices", (double)demand->plan.runs * (double)demand->replicas);
  cJSON_AddNumberToObject(json, "replicas", (double)demand->replicas);
  cJSON_AddNumberToObject(json, "capacity", (double)demand->plan.capacity);
  add_fills(json, plan);
  add_memory(json, plan);
  if (planned != NULL)
    cJSON_AddItemToObject(json, "processes", cli_plan_processes_json(preparation, planned));
  add_disk(json, preparation);
  cJSON_AddNumberToObject(json, "updates", demand->updates * preparation->per_site);
  cJSON_AddStringToObject(json, "update_unit", gpumc_trials_unit(preparation->kernel));
  cJSON_AddBoolToObject(json, "updates_estimated", demand->estimated);
  cJSON_AddItemToObject(json, "beside_updates", work_json(&demand->work));
  const cJSON *warning;
  cJSON_ArrayForEach(warning, task->warnings)
      cJSON_AddStringToObject(json, warning->string, warning->valuestring);
  if (gpu != NULL)
    cJSON_AddItemToObject(json, "gpu",
                          cli_plan_gpu_json(gpu, preparation->device_bytes, plan->seconds));
  if (plan->absent)
    return json;
  cJSON_AddBoolToObject(json, "fits", plan->refusal == NULL);
  if (plan->refusal != NULL)
    cJSON_AddStringToObject(json, "refusal", plan->refusal);
  else {
    cJSON_AddNumberToObject(json, "estimated_seconds", plan->seconds);
    cJSON_AddNumberToObject(json, "estimated_updates_per_second", plan->rate);
    cJSON_AddBoolToObject(json, "estimated_by_walks", walks(plan));
  }
  return json;
}

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

/* Takes the remarks over. */
static cJSON *plan_json(const struct task_plan *plans, size_t n_plans, const char *reason,
                        const struct cli_plan_gpu *gpu, const struct gpumc_processes *planned,
                        cJSON *remarks)
{
  cJSON *json = cJSON_CreateObject();
  cJSON *tasks = cJSON_AddArrayToObject(json, "tasks");
  for (size_t i = 0; i < n_plans; i++)
    cJSON_AddItemToArray(tasks, task_json(&plans[i], reason, gpu, planned));
  cJSON_AddItemToObject(json, "totals", totals_json(tasks, gpu));
  cJSON_AddItemToObject(json, "remarks", remarks);
  return json;
}

/* Reports the tasks that do not fit; returns the exit code. */
static int
report_refusals(const struct task_plan *plans, size_t n_plans, const struct cli_plan_gpu *gpu)
{
  int code = GPUMC_OK;
  for (size_t i = 0; i < n_plans; i++) {
    const struct gpumc_preparation *preparation = &plans[i].preparation;
    const size_t task = preparation->task->index;
    if (gpu != NULL && !has_room(&plans[i], gpu))
      cli_error("task %zu: it does not fit into the memory of %s", task, gpu->name);
    else if (plans[i].refusal != NULL)
      cli_error("task %zu: %s", task, plans[i].refusal);
    else
      continue;
    code = GPUMC_FAILURE;
  }
  return code;
}

static cJSON *find_remarks(const struct task_plan *plans, size_t n_plans)
{
  const struct gpumc_preparation **preparations = calloc(n_plans, sizeof *preparations);
  for (size_t i = 0; preparations != NULL && i < n_plans; i++)
    preparations[i] = &plans[i].preparation;
  cJSON *remarks = preparations != NULL ? cli_plan_remarks(preparations, n_plans) : NULL;
  free(preparations);
  return remarks;
}

/* Plans all tasks and reports them. */
static enum gpumc_status plan_all(const struct cli_arguments *arguments,
                                  const struct gpumc_config *config, struct task_plan *plans,
                                  int *code, struct gpumc_error *error)
{
  const size_t n_plans = config->n_tasks;
  const int per_host = arguments->per_host > 0 ? arguments->per_host : arguments->processes;
  const struct gpumc_processes several =
      gpumc_processes_planned(arguments->processes, per_host > 0 ? per_host : 1);
  const struct gpumc_processes *planned = arguments->processes > 1 ? &several : NULL;
  struct cli_plan_gpu card;
  const struct cli_plan_gpu *gpu = arguments->gpu != NULL ? &card : NULL;
  if (gpu != NULL)
    GPUMC_TRY(cli_plan_gpu_find(arguments->gpu, &card, error));
  for (size_t i = 0; i < n_plans; i++)
    GPUMC_TRY(plan_task(arguments, &config->tasks[i], gpu, planned, &plans[i], error));
  cJSON *remarks = find_remarks(plans, n_plans);
  if (remarks == NULL)
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: remarks on %zu tasks", n_plans);
  cJSON *json = plan_json(plans, n_plans, kernel_reason(config), gpu, planned, remarks);
  if (planned != NULL)
    cli_plan_processes_warn(cli_member(json, "tasks"));
  *code = cli_report(json, arguments->json, cli_plan_print);
  cli_config_warn(arguments->subject, config);
  const int refusals = report_refusals(plans, n_plans, gpu);
  if (refusals != GPUMC_OK)
    *code = refusals;
  return GPUMC_OK;
}

static int plan_config(const struct cli_arguments *arguments, const struct gpumc_config *config)
{
  struct gpumc_error error = {0};
  struct task_plan *plans = calloc(config->n_tasks, sizeof *plans);
  if (plans == NULL) {
    cli_error("out of memory: plans of %zu tasks", config->n_tasks);
    return GPUMC_FAILURE;
  }
  int code = GPUMC_OK;
  if (plan_all(arguments, config, plans, &code, &error) != GPUMC_OK)
    code = cli_fail(&error);
  for (size_t i = 0; i < config->n_tasks; i++) {
    gpumc_preparation_free(&plans[i].preparation);
    free(plans[i].refusal);
  }
  free(plans);
  return code;
}

int cli_plan(int argc, char **argv)
{
  return cli_config_main(&cli_plan_argp, false, argc, argv, plan_config);
}
