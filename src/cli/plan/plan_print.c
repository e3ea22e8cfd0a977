/* gpumc plan: the text, of the plan as JSON. */
#include "cli/plan/plan.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "core/base/memory.h"
#include "core/base/text.h"

double cli_plan_memory(const cJSON *task)
{
  return cli_number(task, cli_has(task, "device_bytes") ? "device_bytes" : "host_bytes");
}

double cli_plan_amount(const cJSON *json, const char *name)
{
  return cli_has(json, name) ? cli_number(json, name) : 0;
}

static const char *size_of(const cJSON *json, const char *name, char text[static 32])
{
  return gpumc_size_text(cli_number(json, name), text);
}

/* Of processes on CPUs, or on one GPU, each has that much; what is available is for all there. */
static void print_memory(const cJSON *task)
{
  const bool gpu = cli_has(task, "device_bytes"), absent = !cli_has(task, "fits");
  const cJSON *processes = cli_member(task, "processes");
  const bool several =
      gpu ? cli_plan_amount(processes, "on_a_gpu") > 1 : cli_true(processes, "divided");
  const double all =
      several ? cli_number(processes, gpu ? "device_bytes" : "host_bytes") : cli_plan_memory(task);
  const double ensemble = cli_number(task, "ensemble_bytes");
  char text[32];
  printf("memory      %s%s%s", absent ? "about " : "", gpumc_size_text(all, text),
         several ? " per process"
         : gpu   ? " on the GPU"
                 : "");
  printf(": replicas %s", gpumc_size_text(ensemble, text));
  printf(", work arrays %s", gpumc_size_text(all - ensemble, text));
  if (several)
    printf("; %s on %s", gpumc_size_text(cli_plan_memory(task), text), gpu ? "the GPU" : "a host");
  if (!absent)
    printf("; %s available",
           size_of(task, gpu ? "device_available_bytes" : "available_bytes", text));
  printf("\n");
  if (!gpu)
    return;
  printf("            %s on the host", size_of(task, "host_bytes", text));
  printf("; %s available\n", size_of(task, "available_bytes", text));
}

/* Replicas are those of one run: in memory at once are all of theirs. */
static void print_replicas(const cJSON *task)
{
  const double runs = cli_number(task, "runs_at_once");
  printf("replicas    %.0f", cli_number(task, "replicas"));
  if (runs > 1)
    printf(" in each of %.0f runs at once: %.0f in all", runs, cli_number(task, "lattices"));
  printf("; room for %.0f%s\n", cli_number(task, "capacity"), runs > 1 ? " in each" : "");
  if (cli_has(task, "replicas_to_fill_device"))
    printf("            %.0f keep the device busy\n", cli_number(task, "replicas_to_fill_device"));
}

static void print_disk(const cJSON *task)
{
  char text[32];
  printf("result      about %s", size_of(task, "result_bytes", text));
  if (cli_has(task, "configuration_bytes"))
    printf(", %s of it configurations", size_of(task, "configuration_bytes", text));
  if (cli_has(task, "disorder_bytes"))
    printf(", %s of it samples of the disorder", size_of(task, "disorder_bytes", text));
  printf("%s\n", cli_true(task, "updates_estimated") ? ", with steps chosen during the run" : "");
  printf("disk        about %s while it runs", size_of(task, "disk_bytes", text));
  printf(", %s when it resumes", size_of(task, "disk_resume_bytes", text));
  printf("; a checkpoint takes %s, twice that while it is replaced\n",
         size_of(task, "checkpoint_bytes", text));
}

static const char add_gpu_hint[] =
    "this machine has no GPU: --gpu NAME|SIZE plans memory and time for a card, such as --gpu H200";

static void print_time(const cJSON *task)
{
  char duration[32], rate[32];
  if (cli_has(task, "gpu"))
    cli_plan_gpu_print_time(cli_member(task, "gpu"));
  else if (!cli_has(task, "fits"))
    printf("time        unknown; %s\n", add_gpu_hint);
  else if (!cli_true(task, "fits"))
    printf("time        none: it does not fit\n");
  else
    printf("time        about %s (estimate: %s at %s, with measurements and exchanges)\n",
           gpumc_duration_text(cli_number(task, "estimated_seconds"), duration),
           cli_true(task, "estimated_by_walks") ? "walks" : "sweeps",
           cli_rate_text(cli_number(task, "estimated_updates_per_second"),
                         cli_text(task, "update_unit"), rate));
}

static void print_single(const cJSON *task)
{
  printf("model       %s, %.0f %ss\n", cli_text(task, "model"), cli_number(task, "sites"),
         cli_text(task, "site_word"));
  printf("algorithm   %s\n", cli_text(task, "algorithm"));
  printf("kernel      %s on %s (%s)\n", cli_text(task, "kernel"), cli_text(task, "device"),
         cli_text(task, "kernel_reason"));
  printf("device      %s\n", cli_text(task, "device_description"));
  cli_say(stdout, "output      %s\n", cli_text(task, "output"));
  print_replicas(task);
  if (cli_has(task, "processes"))
    cli_plan_processes_print(task);
  print_memory(task);
  if (cli_has(task, "gpu"))
    cli_plan_gpu_print(cli_member(task, "gpu"));
  print_disk(task);
  printf("updates     %.4g%s%s\n", cli_number(task, "updates"),
         strcmp(cli_text(task, "update_unit"), "flips") == 0 ? "" : " trials",
         cli_true(task, "updates_estimated") ? " (estimate: the steps are chosen during the run)"
                                             : "");
  print_time(task);
}

static void time_cell(struct cli_table *table, const cJSON *task)
{
  char text[64];
  if (!cli_has(task, "fits"))
    cli_table_cell(table, "%s", cli_plan_gpu_time(cli_member(task, "gpu"), text));
  else if (!cli_true(task, "fits"))
    cli_table_cell(table, "does not fit");
  else
    cli_table_cell(table, "%s", gpumc_duration_text(cli_number(task, "estimated_seconds"), text));
}

static void print_row(struct cli_table *table, const cJSON *task, bool configurations)
{
  char text[32];
  cli_table_cell(table, "%.0f", cli_number(task, "task"));
  cli_table_cell(table, "%s", cli_text(task, "label"));
  cli_table_cell(table, "%s on %s", cli_text(task, "kernel"), cli_text(task, "device"));
  cli_table_cell(table, "%.0f", cli_number(task, "replicas"));
  cli_table_cell(table, "%s", gpumc_size_text(cli_plan_memory(task), text));
  if (configurations)
    cli_table_cell(table, "%s",
                   gpumc_size_text(cli_plan_amount(task, "configuration_bytes"), text));
  cli_table_cell(table, "%.4g", cli_number(task, "updates"));
  time_cell(table, task);
  cli_table_cell(table, "%s", cli_text(task, "output"));
}

static void print_tasks(const cJSON *tasks, bool configurations)
{
  const char *const titles[] = {"task",           "parameters", "kernel", "replicas", "memory",
                                "configurations", "updates",    "time",   "output"};
  struct cli_table table = {.columns = configurations ? 9 : 8,
                            .right = {true, false, false, true, true, true, true, configurations}};
  const cJSON *task;
  for (size_t c = 0; c < sizeof titles / sizeof *titles; c++)
    if (configurations || strcmp(titles[c], "configurations") != 0)
      cli_table_cell(&table, "%s", titles[c]);
  cJSON_ArrayForEach(task, tasks) print_row(&table, task, configurations);
  cli_table_print(&table, 0);
}

static void print_totals(const cJSON *totals, const cJSON *tasks)
{
  const bool on_gpu = cli_has(cli_first(tasks), "device_bytes");
  char text[32];
  printf("\n%d tasks, %.4g updates", cJSON_GetArraySize(tasks), cli_number(totals, "updates"));
  if (cli_has(totals, "estimated_seconds"))
    printf(", about %s one after the other (estimate)",
           gpumc_duration_text(cli_number(totals, "estimated_seconds"), text));
  printf("; at most %s of %smemory at once", size_of(totals, "memory_bytes", text),
         on_gpu ? "the GPU's " : "");
  if (cli_has(totals, "configuration_bytes"))
    printf("; %s of configurations%s", size_of(totals, "configuration_bytes", text),
           cli_true(totals, "updates_estimated") ? " (estimate)" : "");
  printf("\n");
  if (cli_has(totals, "gpu")) {
    cli_plan_gpu_print(cli_member(totals, "gpu"));
    cli_plan_gpu_print_time(cli_member(totals, "gpu"));
  } else if (!cli_has(totals, "estimated_seconds"))
    printf("time unknown; %s\n", add_gpu_hint);
  printf("disk: about %s of results", size_of(totals, "result_bytes", text));
  printf(", and %s in addition while a task runs\n", size_of(totals, "disk_beside_bytes", text));
}

void cli_plan_print(const cJSON *json)
{
  const cJSON *tasks = cli_member(json, "tasks"), *totals = cli_member(json, "totals"), *remark;
  if (cJSON_GetArraySize(tasks) == 1) {
    print_single(cli_first(tasks));
    return;
  }
  print_tasks(tasks, cli_has(totals, "configuration_bytes"));
  print_totals(totals, tasks);
  printf("device: %s; kernel: %s\n", cli_text(cli_first(tasks), "device_description"),
         cli_text(cli_first(tasks), "kernel_reason"));
  cJSON_ArrayForEach(remark, cli_member(json, "remarks"))
      printf("remark: %s\n", remark->valuestring);
}
