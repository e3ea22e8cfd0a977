/* The plan of each task (cli_plan_tasks of plan.h). Tasks of a campaign that differ in their seed
 * alone are planned once, and those that differ in nothing that costs time are timed once. */
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/plan/plan.h"
#include "core/base/machine.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/run/prepare.h"

/* The plan of one task. */
struct task_plan {
  struct gpumc_preparation preparation;
  bool absent;    /* for a GPU that is not here, of which no rate can be measured */
  double rate;    /* estimate: updates per second */
  double seconds; /* estimate; of an absent GPU the least, 0: unknown */
  char *refusal;  /* NULL, or why it cannot run; owned */
};

/* A task that was planned, for others that differ in seed and output alone. */
struct planned_task {
  char *key;
  const cJSON *json; /* of the plan */
  struct cli_plan_samples samples;
};

/* Operations that were timed, for other tasks whose operations take as long. */
struct timed_calls {
  char *key;
  struct cli_plan_calls calls;
};

/* Seconds of timings that are made at leisure; later ones are shorter, the more there were. */
static const double timings_at_leisure = 5;
static const double bar_after = 1, bar_interval = 0.2; /* s */
enum { BAR_WIDTH = 30 };

/* The planning of all tasks. */
struct planner {
  const struct cli_plan_hardware *hardware;
  void *planned, *timed; /* trees of the two, by key (search.h) */
  double timing;         /* seconds that went into timings */
  bool terminal, bar_shown;
  double begun, last_shown;
};

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

static int compare_keys(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_planned(void *node)
{
  struct planned_task *planned = node;
  free(planned->key);
  free(planned);
}

static void free_timed(void *node)
{
  struct timed_calls *timed = node;
  free(timed->key);
  free(timed);
}

/* Times the operations of a task, unless they were timed for another one. */
static enum gpumc_status
time_task(struct planner *planner, struct task_plan *plan, struct gpumc_error *error)
{
  struct gpumc_text key = {0};
  cli_plan_time_key(&plan->preparation, &key);
  struct timed_calls *timed = calloc(1, sizeof *timed);
  enum gpumc_status status = GPUMC_OK;
  struct timed_calls *const *found = NULL;
  if (timed != NULL && !key.failed) {
    timed->key = key.characters;
    found = tsearch(timed, &planner->timed, compare_keys);
  }
  if (found == NULL) {
    status = gpumc_error_set(error, GPUMC_FAILURE, "out of memory: times of operations");
    free(timed);
    gpumc_text_free(&key);
  } else if (*found == timed) {
    const double part = timings_at_leisure / fmax(planner->timing, timings_at_leisure);
    const double begun = gpumc_clock();
    status = cli_plan_time_measure(&plan->preparation, part * part, &timed->calls, error);
    planner->timing += gpumc_clock() - begun;
  } else {
    free_timed(timed);
  }
  if (status != GPUMC_OK)
    return status;
  const struct cli_plan_time time = cli_plan_time_of(&plan->preparation, &(*found)->calls);
  plan->rate = time.rate * plan->preparation.per_site;
  plan->seconds = time.seconds;
  return GPUMC_OK;
}

/* A configuration that cannot run for lack of memory is part of the plan; other failures end it. */
static enum gpumc_status plan_task(struct planner *planner, const struct gpumc_task *task,
                                   struct task_plan *plan, struct gpumc_error *error)
{
  const int threads = planner->hardware->threads;
  const struct cli_plan_gpu *gpu = planner->hardware->gpu;
  const struct gpumc_processes *processes =
      task->algorithm->divides != NULL ? planner->hardware->processes : NULL;
  const struct gpumc_params kernel = gpumc_task_params(task, "kernel");
  plan->absent = gpu != NULL || gpumc_device_is_absent(gpumc_params_string(&kernel, "device"));
  GPUMC_TRY(plan->absent
                ? gpumc_prepare_absent(task, threads, processes, &plan->preparation, error)
                : gpumc_prepare(task, threads, processes, NULL, &plan->preparation, error));
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
  if (gpumc_preparation_fits(&plan->preparation, error) == GPUMC_OK)
    return time_task(planner, plan, error);
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

/* All keys of a task that a plan can depend on, as a text; NULL when memory ran out. */
static char *key_of(const struct gpumc_task *task)
{
  static const char *const without[] = {"seed", "title", "output"};
  cJSON *copy = cJSON_Duplicate(task->resolved, true);
  for (size_t i = 0; i < sizeof without / sizeof *without; i++)
    cJSON_DeleteItemFromObjectCaseSensitive(copy, without[i]);
  char *printed = cJSON_PrintUnformatted(copy), *key = printed != NULL ? strdup(printed) : NULL;
  cJSON_free(printed);
  cJSON_Delete(copy);
  return key;
}

/* The plan of a task, from that of one that differs in seed and output alone. */
static cJSON *copy_plan(const cJSON *json, const struct gpumc_task *task)
{
  cJSON *copy = cJSON_Duplicate(json, true);
  cJSON_ReplaceItemInObjectCaseSensitive(copy, "task", cJSON_CreateNumber((double)task->index));
  cJSON_ReplaceItemInObjectCaseSensitive(copy, "label", cJSON_CreateString(task->label));
  cJSON_ReplaceItemInObjectCaseSensitive(copy, "output", cJSON_CreateString(task->output));
  return copy;
}

/* Plans a task unless one like it was planned; `*json` is its plan. */
static enum gpumc_status add_task(struct planner *planner, const struct gpumc_config *config,
                                  const struct gpumc_task *task, cJSON **json,
                                  struct cli_plan_samples *samples, struct gpumc_error *error)
{
  struct planned_task *planned = calloc(1, sizeof *planned);
  struct planned_task *const *found = NULL;
  if (planned != NULL && (planned->key = key_of(task)) != NULL)
    found = tsearch(planned, &planner->planned, compare_keys);
  if (found == NULL) {
    free(planned != NULL ? planned->key : NULL);
    free(planned);
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: plan of task %zu", task->index);
  }
  if (*found != planned) {
    free_planned(planned);
    *json = copy_plan((*found)->json, task);
  } else {
    struct task_plan plan = {0};
    const enum gpumc_status status = plan_task(planner, task, &plan, error);
    if (status == GPUMC_OK) {
      *json = task_json(&plan, kernel_reason(config), planner->hardware->gpu,
                        planner->hardware->processes);
      planned->json = *json;
      planned->samples = cli_plan_samples_of(&plan.preparation);
    }
    gpumc_preparation_free(&plan.preparation);
    free(plan.refusal);
    GPUMC_TRY(status);
  }
  *samples = (*found)->samples;
  samples->task = task;
  return *json != NULL ? GPUMC_OK
                       : gpumc_error_set(error, GPUMC_FAILURE, "out of memory: plan of task %zu",
                                         task->index);
}

/* Draws how many tasks are planned, on a terminal, if it takes long. */
static void show_progress(struct planner *planner, size_t done, size_t all)
{
  const double time = gpumc_clock();
  char bar[BAR_WIDTH + 1];
  if (!planner->terminal || time - planner->begun < bar_after ||
      time - planner->last_shown < bar_interval)
    return;
  const size_t filled = BAR_WIDTH * done / all;
  memset(bar, '.', BAR_WIDTH);
  memset(bar, '#', filled);
  bar[BAR_WIDTH] = '\0';
  fprintf(stderr, "\r\033[K[%s] %zu of %zu tasks planned", bar, done, all);
  fflush(stderr);
  planner->last_shown = time;
  planner->bar_shown = true;
}

enum gpumc_status cli_plan_tasks(const struct cli_plan_hardware *hardware,
                                 const struct gpumc_config *config, cJSON *tasks,
                                 struct cli_plan_samples *samples, struct gpumc_error *error)
{
  struct planner planner = {.hardware = hardware};
  enum gpumc_status status = GPUMC_OK;
  planner.terminal = isatty(STDERR_FILENO) == 1;
  planner.begun = gpumc_clock();
  for (size_t i = 0; i < config->n_tasks && status == GPUMC_OK; i++) {
    cJSON *json = NULL;
    show_progress(&planner, i, config->n_tasks);
    status = add_task(&planner, config, &config->tasks[i], &json, &samples[i], error);
    if (json != NULL)
      cJSON_AddItemToArray(tasks, json);
  }
  if (planner.bar_shown)
    fputs("\r\033[K", stderr);
  tdestroy(planner.planned, free_planned);
  tdestroy(planner.timed, free_timed);
  return status;
}
