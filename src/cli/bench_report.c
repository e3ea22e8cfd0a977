/* What `gpumc bench` prints: a table, or the same as JSON. */
#include "cli/bench_report.h"

#include <stdio.h>
#include <string.h>

static const char *generator(const struct bench_case *measured)
{
  return measured->rounds == 7 ? "philox4x32-7" : "philox4x32-10";
}

void bench_report_begin(struct bench_report *report, bool of_cpu, const char *device,
                        const struct bench_bed *bed, const struct bench_settings *settings)
{
  static const struct {
    const char *title;
    bool right, cpu_only;
  } columns[] = {{"kernel", false, false},   {"isa", false, true},      {"rng", false, false},
                 {"threads", true, true},    {"flips/ns", true, false}, {"median", true, false},
                 {"bytes/site", true, false}};
  memset(report, 0, sizeof *report);
  report->of_cpu = of_cpu;
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
    if (of_cpu || !columns[c].cpu_only) {
      report->table.right[report->table.columns++] = columns[c].right;
      cli_table_cell(&report->table, "%s", columns[c].title);
    }
  report->json = cJSON_CreateObject();
  cJSON_AddStringToObject(report->json, "model", bed->ops->name);
  cJSON_AddStringToObject(report->json, "device", device);
  cJSON_AddNumberToObject(report->json, "sites", (double)bed->model.sites);
  cJSON_AddNumberToObject(report->json, "population", (double)settings->population);
  cJSON_AddNumberToObject(report->json, "sweeps", settings->sweeps);
  cJSON_AddNumberToObject(report->json, "beta", settings->beta);
  report->rates = cJSON_AddArrayToObject(report->json, "rates");
}

static void add_row(struct bench_report *report, const struct bench_case *measured)
{
  struct cli_table *table = &report->table;
  if (measured->hits > 1)
    cli_table_cell(table, "%s, %u hits", measured->kernel->variant, measured->hits);
  else
    cli_table_cell(table, "%s", measured->kernel->variant);
  if (report->of_cpu)
    cli_table_cell(table, "%s", gpumc_isa_name(measured->isa));
  cli_table_cell(table, "%s", generator(measured));
  if (report->of_cpu)
    cli_table_cell(table, "%d", measured->threads);
  cli_table_cell(table, "%.4g", measured->rate.fastest * 1e-9);
  cli_table_cell(table, "%.4g", measured->rate.median * 1e-9);
  cli_table_cell(table, "%.3f", measured->bytes_per_site);
}

static void add_json(struct bench_report *report, const struct bench_case *measured)
{
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "kernel", measured->kernel->variant);
  cJSON_AddStringToObject(json, "device", measured->kernel->device);
  cJSON_AddStringToObject(json, "trajectory", measured->kernel->trajectory);
  if (measured->hits > 0)
    cJSON_AddNumberToObject(json, "hits", measured->hits);
  if (report->of_cpu) {
    cJSON_AddStringToObject(json, "isa", gpumc_isa_name(measured->isa));
    cJSON_AddNumberToObject(json, "threads", measured->threads);
  }
  cJSON_AddStringToObject(json, "rng", generator(measured));
  cJSON_AddNumberToObject(json, "flips_per_ns", measured->rate.fastest * 1e-9);
  cJSON_AddNumberToObject(json, "median_flips_per_ns", measured->rate.median * 1e-9);
  cJSON_AddNumberToObject(json, "bytes_per_site", measured->bytes_per_site);
  cJSON_AddItemToArray(report->rates, json);
}

void bench_report_add(struct bench_report *report, const struct bench_case *measured)
{
  add_row(report, measured);
  add_json(report, measured);
}

int bench_report_print(struct bench_report *report, bool json)
{
  int code = GPUMC_OK;
  if (json) {
    code = cli_print_json(report->json);
    report->json = NULL;
  } else {
    cli_table_print(&report->table, 0);
  }
  bench_report_free(report);
  return code;
}

void bench_report_free(struct bench_report *report)
{
  cli_table_free(&report->table);
  cJSON_Delete(report->json);
  memset(report, 0, sizeof *report);
}
