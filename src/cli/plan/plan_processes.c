/* gpumc plan --processes: how a run divides over processes, and what each of them needs. */
#include "cli/plan/plan.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/device/device_gpu.h"
#include "core/device/transfer.h"
#include "core/simulation/division.h"

/* Parts of the work of process p: whole runs, or replicas of some; `replicas` without the room that
 * the last process has beyond an even cut. */
static struct gpumc_share part_of(const struct gpumc_ensemble_plan *plan, int p)
{
  struct gpumc_share share = gpumc_share_of(plan, plan->runs, p);
  const size_t end = share.first_replica + share.replicas;
  const size_t even = end < plan->even ? end : plan->even;
  share.replicas = even > share.first_replica ? even - share.first_replica : 0;
  return share;
}

/* Of processes that have whole runs each. */
static bool is_by_runs(const struct gpumc_ensemble_plan *plan)
{
  return plan->division == GPUMC_BY_RUNS ||
         (plan->division == GPUMC_BY_PARTS && plan->runs >= (size_t)plan->processes->module.size);
}

/* What is counted for the division: runs, or replicas of each. */
static size_t count_of(const struct gpumc_ensemble_plan *plan, int p)
{
  const struct gpumc_share share = part_of(plan, p);
  return is_by_runs(plan) ? share.runs : share.replicas;
}

static size_t ceiling(size_t n, size_t parts)
{
  return n / parts + (n % parts > 0);
}

/* Of whole runs in batches, the last of which may be smaller. */
static double share_of_runs(const struct gpumc_ensemble_plan *plan, size_t runs)
{
  const size_t size = (size_t)plan->processes->module.size, batches = runs / plan->runs;
  const size_t most = batches * ceiling(plan->runs, size) + ceiling(runs % plan->runs, size);
  return (double)most / (double)runs;
}

double cli_plan_share(const struct gpumc_preparation *preparation)
{
  const struct gpumc_ensemble_plan *plan = &preparation->demand.plan;
  double most = 0;
  if (plan->division == GPUMC_UNDIVIDED)
    return 1;
  if (is_by_runs(plan) && preparation->demand.runs > 0)
    return share_of_runs(plan, preparation->demand.runs);
  for (int p = 0; p < plan->processes->module.size; p++) {
    const struct gpumc_share share = part_of(plan, p);
    most = fmax(most, (double)share.runs * (double)share.replicas);
  }
  return most / ((double)plan->runs * (double)plan->even);
}

int cli_plan_gpu_sharers(const struct gpumc_preparation *preparation, bool absent)
{
  const struct gpumc_processes *processes = preparation->demand.plan.processes;
  const struct gpumc_params kernel = gpumc_task_params(preparation->task, "kernel");
  struct gpumc_gpu_list gpus;
  if (processes == NULL || absent || preparation->device.ops->kind == GPUMC_KIND_CPU)
    return 1;
  const int local_size = processes->module.local_size;
  if (strchr(gpumc_params_string(&kernel, "device"), ':') != NULL)
    return local_size;
  gpumc_gpus_find(&gpus);
  const int usable = gpumc_gpus_usable(&gpus);
  return usable > 0 ? (local_size + usable - 1) / usable : 1;
}

/* ---- the division in words ---- */

/* "1, 2, 2" in the order of the processes, or "1 or 2 each" of many. */
static void append_counts(struct gpumc_text *text, const struct gpumc_ensemble_plan *plan,
                          size_t least, size_t most)
{
  enum { LISTED = 8 };
  const int size = plan->processes->module.size;
  if (size > LISTED) {
    gpumc_text_append(text, "%zu", least);
    if (most > least)
      gpumc_text_append(text, most == least + 1 ? " or %zu" : " to %zu", most);
    gpumc_text_append(text, " each");
    return;
  }
  for (int p = 0; p < size; p++)
    gpumc_text_append(text, "%s%zu", p == 0 ? "" : ", ", count_of(plan, p));
}

/* What a run has many of. */
static const char *unit_of(const struct gpumc_preparation *preparation)
{
  const struct gpumc_ensemble_plan *plan = &preparation->demand.plan;
  if ((preparation->task->algorithm->required & GPUMC_OPERATION_WALK) != 0)
    return "walkers";
  return plan->samples > 1 && !plan->sample_by_run ? "samples" : "replicas";
}

/* "by runs or values, of which 5 are at once: 1, 2, 2". */
static void append_division(struct gpumc_text *text, const struct gpumc_preparation *preparation,
                            size_t least, size_t most)
{
  const struct gpumc_ensemble_plan *plan = &preparation->demand.plan;
  const char *unit = unit_of(preparation);
  if (is_by_runs(plan))
    gpumc_text_append(text, "by runs or values, %zu at once: ", plan->runs);
  else if (plan->division == GPUMC_BY_PARTS)
    gpumc_text_append(text, "by %s of single runs or values, %zu with %zu each: ", unit, plan->runs,
                      plan->even);
  else if (plan->runs > 1)
    gpumc_text_append(text, "by %s of every run, %zu with %zu each: ", unit, plan->runs,
                      plan->even);
  else
    gpumc_text_append(text, "by %s, %zu in all: ", unit, plan->even);
  append_counts(text, plan, least, most);
}

static void add_division(cJSON *json, const struct gpumc_preparation *preparation)
{
  static const char *const names[] = {[GPUMC_BY_RUNS] = "runs",
                                      [GPUMC_BY_PARTS] = "runs or parts of one",
                                      [GPUMC_BY_REPLICAS] = "parts of every run"};
  const struct gpumc_ensemble_plan *plan = &preparation->demand.plan;
  struct gpumc_text text = {0};
  size_t least = SIZE_MAX, most = 0;
  for (int p = 0; p < plan->processes->module.size; p++) {
    const size_t count = count_of(plan, p);
    least = count < least ? count : least;
    most = count > most ? count : most;
  }
  cJSON_AddStringToObject(json, "division", names[plan->division]);
  cJSON_AddStringToObject(json, "unit", is_by_runs(plan) ? "runs" : unit_of(preparation));
  cJSON_AddNumberToObject(json, "least", (double)least);
  cJSON_AddNumberToObject(json, "most", (double)most);
  append_division(&text, preparation, least, most);
  cJSON_AddStringToObject(json, "division_text", gpumc_text_string(&text));
  gpumc_text_free(&text);
}

/* ---- the plan ---- */

cJSON *cli_plan_processes_json(const struct gpumc_preparation *preparation,
                               const struct gpumc_processes *planned)
{
  const struct gpumc_module *module = &planned->module;
  const bool divided = preparation->demand.plan.division != GPUMC_UNDIVIDED;
  struct gpumc_text undivided = {0};
  cJSON *json = cJSON_CreateObject();
  cJSON_AddNumberToObject(json, "processes", module->size);
  cJSON_AddNumberToObject(json, "per_host", module->local_size);
  cJSON_AddBoolToObject(json, "divided", divided);
  if (divided)
    add_division(json, preparation);
  cJSON_AddNumberToObject(json, "host_bytes",
                          preparation->host_bytes / (divided ? module->local_size : 1));
  if (preparation->device.ops->kind != GPUMC_KIND_CPU) {
    const int sharers = preparation->device.sharers, on_gpu = sharers > 1 ? sharers : 1;
    cJSON_AddNumberToObject(json, "device_bytes", preparation->device_bytes / on_gpu);
    cJSON_AddNumberToObject(json, "on_a_gpu", on_gpu);
    cJSON_AddStringToObject(json, "transfers",
                            preparation->demand.transfers &&
                                    preparation->demand.plan.division == GPUMC_BY_REPLICAS
                                ? gpumc_transfer_expected(on_gpu)
                                : "host copies");
  }
  if (gpumc_preparation_undivided(preparation, planned, &undivided))
    cJSON_AddStringToObject(json, "warning", gpumc_text_string(&undivided));
  gpumc_text_free(&undivided);
  return json;
}

void cli_plan_processes_print(const cJSON *task)
{
  const cJSON *json = cli_member(task, "processes");
  const double threads = cli_number(task, "threads");
  char size[32];
  if (!cli_true(json, "divided")) {
    printf("processes   %.0f; the first does all of the work\n", cli_number(json, "processes"));
    return;
  }
  printf("processes   %.0f, %.0f per host; divided %s\n", cli_number(json, "processes"),
         cli_number(json, "per_host"), cli_text(json, "division_text"));
  printf("            each with %.0f thread%s and %s of host memory", threads,
         threads == 1 ? "" : "s", gpumc_size_text(cli_number(json, "host_bytes"), size));
  if (cli_has(json, "device_bytes"))
    printf(", %s of %s", gpumc_size_text(cli_number(json, "device_bytes"), size),
           cli_number(json, "on_a_gpu") > 1 ? "a shared GPU" : "a GPU");
  printf("\n");
  if (cli_has(json, "transfers"))
    printf("            data moves between GPUs by %s\n", cli_text(json, "transfers"));
}

/* The same of many tasks is said once. */
void cli_plan_processes_warn(const cJSON *tasks)
{
  const cJSON *task;
  const char *said = "", *shared = NULL;
  cJSON_ArrayForEach(task, tasks)
  {
    const cJSON *json = cli_member(task, "processes");
    const char *warning = cli_has(json, "warning") ? cli_text(json, "warning") : "";
    if (warning[0] != '\0' && strcmp(warning, said) != 0)
      cli_warning("", "task %.0f: %s", cli_number(task, "task"), warning);
    said = warning;
    if (shared == NULL && cli_has(json, "on_a_gpu") && cli_number(json, "on_a_gpu") > 1)
      shared = cli_text(task, "device_description");
  }
  if (shared != NULL)
    cli_warning("", "processes on one host share a GPU (%s)", shared);
}
