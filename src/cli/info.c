/* gpumc info: what a result file holds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/info_table.h"
#include "core/storage/result_info.h"

static const struct argp_option options[] = {
    {"json", CLI_OPTION_JSON, NULL, 0, "Everything as JSON, every row of the summary", 0}, {0}};

static const struct argp parser = {
    options,
    cli_parse_common,
    "FILE",
    "Show what a result holds: state, configuration, provenance, and a table of the summary with "
    "its errors. A working file (FILE.partial) can be looked at while the run goes on.\v"
    "Examples:\n"
    "  gpumc info results/ising.h5\n"
    "  gpumc info results/ising.h5 --json | jq .summary.energy",
    NULL,
    NULL,
    NULL};

/* Numbers with all their digits; a real one has a point or an exponent, so that readers that tell
 * the types apart see it. JSON has no NaN and no infinity. */
static cJSON *field_json(const struct gpumc_result_field *field)
{
  if (field->type == GPUMC_FIELD_TEXT)
    return cJSON_CreateString(field->value);
  if (!isfinite(strtod(field->value, NULL)))
    return cJSON_CreateNull();
  if (field->type == GPUMC_FIELD_INTEGER || strpbrk(field->value, ".e") != NULL)
    return cJSON_CreateRaw(field->value);
  char real[48];
  snprintf(real, sizeof real, "%s.0", field->value);
  return cJSON_CreateRaw(real);
}

static void add_fields(cJSON *json, const char *name, const struct gpumc_result_fields *fields)
{
  cJSON *object = cJSON_AddObjectToObject(json, name);
  for (size_t i = 0; i < fields->count; i++)
    cJSON_AddItemToObject(object, fields->items[i].name, field_json(&fields->items[i]));
}

static void add_dataset(cJSON *summary, const struct gpumc_result_dataset *dataset)
{
  cJSON *json = cJSON_AddObjectToObject(summary, dataset->name);
  cJSON_AddStringToObject(json, "long_name", dataset->long_name);
  cJSON_AddStringToObject(json, "units", dataset->units);
  cJSON_AddStringToObject(json, "symbol", dataset->symbol);
  cJSON *shape = cJSON_AddArrayToObject(json, "shape");
  size_t count = 1;
  for (size_t d = 0; d < dataset->rank; d++) {
    cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)dataset->shape[d]));
    count *= dataset->shape[d];
  }
  cJSON *values = cJSON_AddArrayToObject(json, "values");
  for (size_t i = 0; i < count; i++)
    cJSON_AddItemToArray(values, cJSON_CreateNumber(dataset->values[i]));
}

static void add_progress(cJSON *json, const struct gpumc_result *result)
{
  cJSON *progress = cJSON_AddArrayToObject(json, "progress");
  for (size_t i = 0; i < result->n_runs; i++) {
    const struct gpumc_result_run *run = &result->runs[i];
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "run", run->name);
    cJSON_AddNumberToObject(item, "rows", (double)run->n_rows);
    cJSON *last = cJSON_AddObjectToObject(item, "last_row");
    for (size_t c = 0; c < run->n_columns && run->n_rows > 0; c++)
      cJSON_AddNumberToObject(last, run->columns[c].name, run->columns[c].values[0]);
    cJSON_AddItemToArray(progress, item);
  }
}

/* Of the file as a whole; a wrong one is refused before anything is shown. */
static const char *checksum_text(const struct gpumc_result *result)
{
  if (result->sealed)
    return "verified";
  return result->complete ? "none (a result of an earlier format)"
                          : "none yet (the run is not finished)";
}

static int print_json(const struct gpumc_result *result)
{
  cJSON *json = cJSON_CreateObject();
  cJSON_AddBoolToObject(json, "complete", result->complete);
  cJSON_AddStringToObject(json, "title", result->title);
  cJSON_AddStringToObject(json, "program_version", result->program_version);
  cJSON_AddNumberToObject(json, "format_version", (double)result->format_version);
  cJSON_AddStringToObject(json, "checksum", checksum_text(result));
  cJSON_AddNumberToObject(json, "runs", (double)result->n_runs);
  cJSON *resolved = cJSON_Parse(result->resolved);
  cJSON_AddItemToObject(json, "config", resolved != NULL ? resolved : cJSON_CreateNull());
  add_fields(json, "provenance", &result->provenance);
  add_fields(json, "notes", &result->summary);
  if (result->runs != NULL)
    add_progress(json, result);
  cJSON *summary = cJSON_AddObjectToObject(json, "summary");
  for (size_t i = 0; i < result->n_datasets; i++)
    add_dataset(summary, &result->datasets[i]);
  return cli_print_json(json);
}

static void print_fields(const char *title, const struct gpumc_result_fields *fields)
{
  if (fields->count == 0)
    return;
  printf("\n%s:\n", title);
  for (size_t i = 0; i < fields->count; i++)
    if (strchr(fields->items[i].value, '\n') == NULL)
      cli_say(stdout, "  %-18s %s\n", fields->items[i].name, fields->items[i].value);
}

static void print_result(const char *path, const struct gpumc_result *result)
{
  char *name = cli_line(path), *title = cli_line(result->title);
  char *version = cli_line(result->program_version);
  printf("%s: %s, %zu run%s, gpumc %s\n", name,
         result->complete ? "complete" : "unfinished: a working file", result->n_runs,
         result->n_runs == 1 ? "" : "s", version);
  printf("checksum: %s\n", checksum_text(result));
  if (title[0] != '\0')
    printf("title: %s\n", title);
  cli_say(stdout, "\nconfiguration:\n%s\n", result->resolved);
  free(name);
  free(title);
  free(version);
  print_fields("provenance", &result->provenance);
  print_fields("notes of the summary", &result->summary);
  if (result->runs != NULL)
    cli_info_progress(result);
  else
    cli_info_summary(result);
}

int cli_info(int argc, char **argv)
{
  struct cli_arguments arguments = {.command = argv[0], .kind = "file"};
  struct gpumc_result result = {0};
  struct gpumc_error error = {0};
  int code = GPUMC_OK;
  cli_parse(&parser, argc, argv, &arguments);
  if (arguments.subject == NULL)
    cli_usage_error(argv[0], "the result file is missing");
  if (gpumc_result_read(arguments.subject, &result, &error) != GPUMC_OK)
    return cli_fail(&error);
  if (arguments.json)
    code = print_json(&result);
  else
    print_result(arguments.subject, &result);
  gpumc_result_free(&result);
  return code;
}
