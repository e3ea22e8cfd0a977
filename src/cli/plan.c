/* gpumc plan: what a run would do and need, without doing it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/observer.h"
#include "cli/plan_disk.h"
#include "cli/plan_gpu.h"
#include "cli/plan_remarks.h"
#include "cli/plan_time.h"
#include "cli/rate.h"
#include "cli/table.h"
#include "core/base/memory.h"
#include "core/base/units.h"
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
    {"output", 'o', "FILE", 0, "As for gpumc run", 0},
    {"set", CLI_OPTION_SET, "KEY=VALUE", 0, "Set any key, for example algorithm.population=1000",
     0},
    {"device", CLI_OPTION_DEVICE, "DEVICE", 0,
     "auto, cpu, cuda or cuda:N, instead of kernel.device", 0},
    {"gpu", CLI_OPTION_GPU, "GPU", 0,
     "Plan memory and time for a GPU that is not here: a card ('H200') or its memory ('80 GiB')",
     0},
    {"threads", CLI_OPTION_THREADS, "N", 0, "Host threads (default: all)", 0},
    {"json", CLI_OPTION_JSON, NULL, 0, "The plan as JSON", 0},
    {0}};

static const struct argp parser = {
    options,
    cli_parse_common,
    "CONFIG",
    "Say what a run of CONFIG would do: tasks, kernel and why, memory, updates, and the time, "
    "estimated from short measurements on this machine.\v"
    "Examples:\n"
    "  gpumc plan ising.yaml\n"
    "  gpumc plan campaign.yaml --set algorithm.population=1000000 --json\n\n"
    "Ends with 1 when a task does not fit into memory.",
    NULL,
    NULL,
    NULL};

static bool is_on_gpu(const struct gpumc_preparation *preparation)
{
  return strcmp(preparation->device.ops->name, "cuda") == 0;
}

/* A configuration that cannot run is part of the plan; other failures end it. */
static enum gpumc_status plan_task(const struct cli_arguments *arguments,
                                   const struct gpumc_task *task, const struct cli_plan_gpu *gpu,
                                   struct task_plan *plan, struct gpumc_error *error)
{
  const struct gpumc_params kernel = gpumc_task_params(task, "kernel");
  plan->absent = gpu != NULL || gpumc_device_is_absent(gpumc_params_string(&kernel, "device"));
  enum gpumc_status status =
      plan->absent ? gpumc_prepare_absent(task, arguments->threads, &plan->preparation, error)
                   : gpumc_prepare(task, arguments->threads, &plan->preparation, error);
  if (status == GPUMC_OK && gpu != NULL)
    plan->seconds = cli_plan_gpu_seconds(gpu, &plan->preparation);
  if (status != GPUMC_OK || plan->absent)
    return status;
  if (gpumc_preparation_fits(&plan->preparation, error) == GPUMC_OK) {
    struct cli_plan_time time;
    status = cli_plan_time_measure(&plan->preparation, &time, error);
    plan->rate = time.rate;
    plan->seconds = time.seconds;
    return status;
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
             ? "auto: the fastest expected for this lattice and number of replicas"
             : "asked for by kernel.variant";
}

static void add_work(cJSON *json, const struct gpumc_work *work)
{
  cJSON *object = cJSON_AddObjectToObject(json, "beside_updates");
  cJSON_AddNumberToObject(object, "measured_sites", work->measured);
  cJSON_AddNumberToObject(object, "exchanged_sites", work->moved);
  cJSON_AddNumberToObject(object, "compared_sites", work->compared);
}

static cJSON *plan_json(const struct task_plan *plan, const char *reason)
{
  const struct gpumc_preparation *preparation = &plan->preparation;
  const struct gpumc_task *task = preparation->task;
  cJSON *json = cJSON_CreateObject();
  cJSON_AddNumberToObject(json, "task", (double)task->index);
  cJSON_AddStringToObject(json, "label", task->label);
  cJSON_AddStringToObject(json, "output", task->output);
  cJSON_AddStringToObject(json, "model", task->model->name);
  cJSON_AddStringToObject(json, "algorithm", task->algorithm->name);
  cJSON_AddStringToObject(json, "kernel", preparation->kernel->variant);
  cJSON_AddStringToObject(json, "kernel_reason", reason);
  cJSON_AddStringToObject(json, "trajectory", preparation->kernel->trajectory);
  cJSON_AddStringToObject(json, "device", preparation->device.ops->name);
  cJSON_AddStringToObject(json, "device_description", preparation->device.description);
  cJSON_AddNumberToObject(json, "runs_at_once", (double)preparation->demand.plan.runs);
  cJSON_AddNumberToObject(json, "lattices",
                          (double)preparation->demand.plan.runs *
                              (double)preparation->demand.replicas);
  cJSON_AddNumberToObject(json, "replicas", (double)preparation->demand.replicas);
  cJSON_AddNumberToObject(json, "capacity", (double)preparation->demand.plan.capacity);
  cJSON_AddNumberToObject(json, "ensemble_bytes", preparation->ensemble_bytes);
  cJSON_AddNumberToObject(json, "host_bytes", preparation->host_bytes);
  cJSON_AddNumberToObject(json, "available_bytes", preparation->available_bytes);
  if (is_on_gpu(preparation)) {
    cJSON_AddBoolToObject(json, "device_is_here", !plan->absent);
    cJSON_AddNumberToObject(json, "device_bytes", preparation->device_bytes);
    if (!plan->absent)
      cJSON_AddNumberToObject(json, "device_available_bytes", preparation->device_available_bytes);
  }
  if (preparation->demand.configuration_bytes > 0)
    cJSON_AddNumberToObject(json, "configuration_bytes", preparation->demand.configuration_bytes);
  cli_plan_disk_json(preparation, json);
  cJSON_AddNumberToObject(json, "updates", preparation->demand.updates);
  cJSON_AddBoolToObject(json, "updates_estimated", preparation->demand.estimated);
  add_work(json, &preparation->demand.work);
  const cJSON *warning;
  cJSON_ArrayForEach(warning, task->warnings)
      cJSON_AddStringToObject(json, warning->string, warning->valuestring);
  if (plan->absent)
    return json;
  cJSON_AddBoolToObject(json, "fits", plan->refusal == NULL);
  if (plan->refusal != NULL)
    cJSON_AddStringToObject(json, "refusal", plan->refusal);
  else {
    cJSON_AddNumberToObject(json, "estimated_seconds", plan->seconds);
    cJSON_AddNumberToObject(json, "estimated_updates_per_second", plan->rate);
  }
  return json;
}

static void print_memory(const struct gpumc_preparation *preparation, bool absent)
{
  bool gpu = is_on_gpu(preparation);
  const double all = gpu ? preparation->device_bytes : preparation->host_bytes;
  char ensemble[32], work[32], needed[32], available[32];
  gpumc_size_text(preparation->ensemble_bytes, ensemble);
  gpumc_size_text(all - preparation->ensemble_bytes, work);
  gpumc_size_text(all, needed);
  gpumc_size_text(gpu ? preparation->device_available_bytes : preparation->available_bytes,
                  available);
  printf("memory      %s%s%s: replicas %s, work arrays %s", absent ? "about " : "", needed,
         gpu ? " on the GPU" : "", ensemble, work);
  if (!absent)
    printf("; %s available", available);
  printf("\n");
  if (gpu)
    printf("            %s on the host; %s available\n",
           gpumc_size_text(preparation->host_bytes, needed),
           gpumc_size_text(preparation->available_bytes, available));
}

/* Replicas are those of one run: lattices in memory at once are all of theirs. */
static void print_replicas(const struct gpumc_demand *demand)
{
  const size_t runs = demand->plan.runs;
  printf("replicas    %zu", demand->replicas);
  if (runs > 1)
    printf(" in each of %zu runs at once: %zu lattices", runs, runs * demand->replicas);
  printf("; room for %zu%s\n", demand->plan.capacity, runs > 1 ? " in each" : "");
}

static const char add_gpu_hint[] =
    "there is no GPU here: --gpu NAME|SIZE plans memory and time for a card, such as --gpu H200";

static void
print_single(const struct task_plan *plan, const char *reason, const struct cli_plan_gpu *gpu)
{
  const struct gpumc_preparation *preparation = &plan->preparation;
  const struct gpumc_task *task = preparation->task;
  char duration[32], rate[32];
  printf("model       %s, %zu sites\n", task->model->name, preparation->model.sites);
  printf("algorithm   %s\n", task->algorithm->name);
  printf("kernel      %s on %s (%s)\n", preparation->kernel->variant, preparation->device.ops->name,
         reason);
  printf("device      %s\n", preparation->device.description);
  cli_say(stdout, "output      %s\n", task->output);
  print_replicas(&preparation->demand);
  print_memory(preparation, plan->absent);
  if (gpu != NULL)
    cli_plan_gpu_print(gpu, preparation->device_bytes);
  cli_plan_disk_print(preparation);
  printf("updates     %.4g%s\n", preparation->demand.updates,
         preparation->demand.estimated ? " (estimate: the steps are chosen as the run goes)" : "");
  if (plan->absent && gpu == NULL)
    printf("time        unknown; %s\n", add_gpu_hint);
  else if (plan->absent)
    cli_plan_gpu_print_time(plan->seconds);
  else if (plan->refusal != NULL)
    printf("time        none: it does not fit\n");
  else
    printf("time        about %s (estimate: sweeps at %s, with measurements and exchanges)\n",
           gpumc_duration_text(plan->seconds, duration), cli_rate_text(plan->rate, rate));
}

/* Of the device: the host's own where that is the CPU. */
static double memory_of(const struct gpumc_preparation *preparation)
{
  return is_on_gpu(preparation) ? preparation->device_bytes : preparation->host_bytes;
}

/* Of all tasks. */
struct totals {
  double updates, seconds, configuration_bytes;
  double results;          /* bytes on the disk */
  double beside;           /* of the task that needs most on the disk beside its result */
  double memory;           /* of the task that takes most */
  bool estimated, unknown; /* `unknown`: the time of some task */
};

static struct totals add_up(const struct task_plan *plans, size_t n_plans)
{
  struct totals totals = {0};
  for (size_t i = 0; i < n_plans; i++) {
    const struct gpumc_preparation *preparation = &plans[i].preparation;
    totals.updates += preparation->demand.updates;
    totals.seconds += plans[i].seconds;
    totals.configuration_bytes += preparation->demand.configuration_bytes;
    struct gpumc_disk_plan disk;
    gpumc_disk_plan_make(preparation, &disk);
    totals.results += disk.result;
    totals.beside = fmax(totals.beside, disk.resuming - disk.result);
    totals.memory = fmax(totals.memory, memory_of(preparation));
    totals.unknown = totals.unknown || (plans[i].absent && plans[i].seconds == 0);
    totals.estimated = totals.estimated || preparation->demand.estimated;
  }
  return totals;
}

static void print_row(struct cli_table *table, const struct task_plan *plan, bool configurations)
{
  const struct gpumc_preparation *preparation = &plan->preparation;
  const struct gpumc_demand *demand = &preparation->demand;
  char text[64];
  cli_table_cell(table, "%zu", preparation->task->index);
  cli_table_cell(table, "%s", preparation->task->label);
  cli_table_cell(table, "%s on %s", preparation->kernel->variant, preparation->device.ops->name);
  cli_table_cell(table, "%zu", demand->replicas);
  cli_table_cell(table, "%s", gpumc_size_text(memory_of(preparation), text));
  if (configurations)
    cli_table_cell(table, "%s", gpumc_size_text(demand->configuration_bytes, text));
  cli_table_cell(table, "%.4g", demand->updates);
  cli_table_cell(table, "%s",
                 plan->absent            ? cli_plan_gpu_time(plan->seconds, text)
                 : plan->refusal != NULL ? "does not fit"
                                         : gpumc_duration_text(plan->seconds, text));
  cli_table_cell(table, "%s", preparation->task->output);
}

static void print_campaign(const struct task_plan *plans, size_t n_plans, const char *reason,
                           const struct cli_plan_gpu *gpu, const struct cli_plan_remarks *remarks)
{
  const char *const titles[] = {"task",           "parameters", "kernel", "replicas", "memory",
                                "configurations", "updates",    "time",   "output"};
  const struct totals totals = add_up(plans, n_plans);
  const bool configurations = totals.configuration_bytes > 0;
  struct cli_table table = {.columns = configurations ? 9 : 8,
                            .right = {true, false, false, true, true, true, true, configurations}};
  char text[32];
  for (size_t c = 0; c < sizeof titles / sizeof *titles; c++)
    if (configurations || strcmp(titles[c], "configurations") != 0)
      cli_table_cell(&table, "%s", titles[c]);
  for (size_t i = 0; i < n_plans; i++)
    print_row(&table, &plans[i], configurations);
  cli_table_print(&table, 0);
  printf("\n%zu tasks, %.4g updates", n_plans, totals.updates);
  if (!plans[0].absent)
    printf(", about %s one after the other (estimate)", gpumc_duration_text(totals.seconds, text));
  printf("; at most %s of %smemory at once", gpumc_size_text(totals.memory, text),
         is_on_gpu(&plans[0].preparation) ? "the GPU's " : "");
  if (configurations)
    printf("; %s of configurations%s", gpumc_size_text(totals.configuration_bytes, text),
           totals.estimated ? " (estimate)" : "");
  printf("\n");
  if (gpu != NULL) {
    cli_plan_gpu_print(gpu, totals.memory);
    cli_plan_gpu_print_time(totals.unknown ? 0 : totals.seconds);
  } else if (plans[0].absent)
    printf("time unknown; %s\n", add_gpu_hint);
  printf("disk: about %s of results", gpumc_size_text(totals.results, text));
  printf(", and %s beside them while a task runs\n", gpumc_size_text(totals.beside, text));
  printf("device: %s; kernel: %s\n", plans[0].preparation.device.description, reason);
  for (size_t i = 0; i < remarks->count; i++)
    printf("remark: %s\n", gpumc_text_string(&remarks->text[i]));
}

static void add_remarks(cJSON *json, const struct cli_plan_remarks *remarks)
{
  cJSON *list = cJSON_AddArrayToObject(json, "remarks");
  for (size_t i = 0; i < remarks->count; i++)
    cJSON_AddItemToArray(list, cJSON_CreateString(gpumc_text_string(&remarks->text[i])));
}

static int report(const struct cli_arguments *arguments, const struct gpumc_config *config,
                  const struct cli_plan_gpu *gpu, const struct task_plan *plans,
                  const struct cli_plan_remarks *remarks)
{
  size_t n_plans = config->n_tasks;
  const char *reason = kernel_reason(config);
  int code = GPUMC_OK;
  if (arguments->json) {
    cJSON *json = cJSON_CreateObject();
    cJSON *tasks = cJSON_AddArrayToObject(json, "tasks");
    for (size_t i = 0; i < n_plans; i++) {
      cJSON *task = plan_json(&plans[i], reason);
      if (gpu != NULL)
        cli_plan_gpu_json(gpu, &plans[i].preparation, task);
      cJSON_AddItemToArray(tasks, task);
    }
    add_remarks(json, remarks);
    code = cli_print_json(json);
  } else if (n_plans == 1) {
    print_single(&plans[0], reason, gpu);
  } else {
    print_campaign(plans, n_plans, reason, gpu, remarks);
  }
  cli_config_warn(arguments->subject, config);
  for (size_t i = 0; i < n_plans && gpu != NULL; i++)
    if (!cli_plan_gpu_fits(gpu, &plans[i].preparation)) {
      cli_error("task %zu: it does not fit into the memory of %s", plans[i].preparation.task->index,
                gpu->name);
      code = GPUMC_FAILURE;
    }
  for (size_t i = 0; i < n_plans; i++)
    if (plans[i].refusal != NULL) {
      cli_error("task %zu: %s", plans[i].preparation.task->index, plans[i].refusal);
      code = GPUMC_FAILURE;
    }
  return code;
}

static enum gpumc_status find_remarks(const struct task_plan *plans, size_t n_plans,
                                      struct cli_plan_remarks *remarks, struct gpumc_error *error)
{
  const struct gpumc_preparation **preparations = calloc(n_plans, sizeof *preparations);
  for (size_t i = 0; preparations != NULL && i < n_plans; i++)
    preparations[i] = &plans[i].preparation;
  const bool good = preparations != NULL && cli_plan_remarks_find(preparations, n_plans, remarks);
  free(preparations);
  return good ? GPUMC_OK
              : gpumc_error_set(error, GPUMC_FAILURE, "out of memory: remarks on %zu tasks",
                                n_plans);
}

static int plan_config(const struct cli_arguments *arguments, const struct gpumc_config *config)
{
  struct gpumc_error error = {0};
  struct task_plan *plans = calloc(config->n_tasks, sizeof *plans);
  enum gpumc_status status = GPUMC_OK;
  if (plans == NULL)
    status = gpumc_error_set(&error, GPUMC_FAILURE, "out of memory: plans of %zu tasks",
                             config->n_tasks);
  struct cli_plan_gpu gpu;
  if (status == GPUMC_OK && arguments->gpu != NULL)
    status = cli_plan_gpu_find(arguments->gpu, &gpu, &error);
  for (size_t i = 0; i < config->n_tasks && status == GPUMC_OK; i++)
    status = plan_task(arguments, &config->tasks[i], arguments->gpu != NULL ? &gpu : NULL,
                       &plans[i], &error);
  struct cli_plan_remarks remarks = {0};
  if (status == GPUMC_OK)
    status = find_remarks(plans, config->n_tasks, &remarks, &error);
  int code = status == GPUMC_OK
                 ? report(arguments, config, arguments->gpu != NULL ? &gpu : NULL, plans, &remarks)
                 : cli_fail(&error);
  cli_plan_remarks_free(&remarks);
  for (size_t i = 0; plans != NULL && i < config->n_tasks; i++) {
    gpumc_preparation_free(&plans[i].preparation);
    free(plans[i].refusal);
  }
  free(plans);
  return code;
}

int cli_plan(int argc, char **argv)
{
  return cli_config_main(&parser, false, argc, argv, plan_config);
}
