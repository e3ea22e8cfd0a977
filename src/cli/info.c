/* gpumc info: what a result file holds, with its summary in tables: values with their errors, one
 * row a point of the axis. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "core/base/text.h"
#include "core/storage/result_info.h"

enum {
  ROWS_MAXIMUM = 24,  /* longer curves are thinned out */
  CURVES_A_TABLE = 5, /* so that a table fits on a screen */
};

struct info_arguments {
  struct cli_arguments common;
  bool temperature;
};

static const struct argp_option options[] = {
    {"json", CLI_OPTION_JSON, NULL, 0, "Print everything as JSON, with every row of the summary",
     0},
    {"temperature", 'T', NULL, 0, CLI_TEMPERATURE_HELP, 0},
    {0}};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
  struct info_arguments *arguments = state->input;
  if (key != 'T')
    return cli_parse_common(key, argument, state);
  arguments->temperature = true;
  return 0;
}

const struct argp cli_info_argp = {
    options,
    parse_option,
    "FILE",
    "Show the contents of a result: state, configuration, provenance, and a table of the summary "
    "with its errors. A working file (FILE.partial) can be read while the run writes it.\v"
    "Examples:\n"
    "  gpumc info results/ising.h5\n"
    "  gpumc info results/ising.h5 -T\n"
    "  gpumc info results/ising.h5 --json | jq .summary.energy",
    NULL,
    NULL,
    NULL};

/* Numbers with all their digits; a real one has a point or an exponent, so that readers that tell
 * the types apart see it. JSON has no NaN and no infinity: they are printed as null. */
static cJSON *field_json(const struct gpumc_result_field *field)
{
  if (field->type == GPUMC_FIELD_TEXT)
    return cJSON_CreateString(field->value);
  const double value = strtod(field->value, NULL);
  if (!isfinite(value))
    return cJSON_CreateNumber(value);
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

/* Values of more than one dimension, which text leaves out, only where `all`. */
static void add_dataset(cJSON *summary, const struct gpumc_result_dataset *dataset, bool all)
{
  cJSON *json = cJSON_AddObjectToObject(summary, dataset->name);
  cJSON_AddStringToObject(json, "long_name", dataset->long_name);
  cJSON_AddStringToObject(json, "units", dataset->units);
  cJSON_AddStringToObject(json, "symbol", dataset->symbol);
  cJSON_AddBoolToObject(json, "integer", dataset->integer);
  cJSON *shape = cJSON_AddArrayToObject(json, "shape");
  size_t count = 1;
  for (size_t d = 0; d < dataset->rank; d++) {
    cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)dataset->shape[d]));
    count *= dataset->shape[d];
  }
  cJSON *values = cJSON_AddArrayToObject(json, "values");
  for (size_t i = 0; i < count && (all || dataset->rank < 2); i++)
    cJSON_AddItemToArray(values, cJSON_CreateNumber(dataset->values[i]));
}

static cJSON *run_json(const struct gpumc_result_run *run)
{
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "run", run->name);
  cJSON_AddNumberToObject(json, "rows", (double)run->n_rows);
  cJSON *columns = cJSON_AddArrayToObject(json, "columns");
  for (size_t c = 0; c < run->n_columns; c++) {
    cJSON *column = cJSON_CreateObject();
    cJSON_AddStringToObject(column, "name", run->columns[c].name);
    cJSON_AddBoolToObject(column, "integer", run->columns[c].integer);
    cJSON_AddItemToArray(columns, column);
  }
  cJSON *last = cJSON_AddObjectToObject(json, "last_row");
  for (size_t c = 0; c < run->n_columns && run->n_rows > 0; c++)
    cJSON_AddNumberToObject(last, run->columns[c].name, run->columns[c].values[0]);
  return json;
}

/* Of the file as a whole; a wrong one is refused before anything is shown. */
static const char *checksum_text(const struct gpumc_result *result)
{
  if (result->sealed)
    return "verified";
  return result->complete ? "none (the result has an earlier format)"
                          : "none yet (the run is not finished)";
}

static cJSON *result_json(const char *path, const struct gpumc_result *result, bool all)
{
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "file", path);
  cJSON_AddBoolToObject(json, "complete", result->complete);
  cJSON_AddStringToObject(json, "title", result->title);
  cJSON_AddStringToObject(json, "program_version", result->program_version);
  cJSON_AddNumberToObject(json, "format_version", (double)result->format_version);
  cJSON_AddStringToObject(json, "checksum", checksum_text(result));
  cJSON_AddNumberToObject(json, "runs", (double)result->n_runs);
  cJSON *resolved = cJSON_Parse(result->resolved);
  cJSON_AddItemToObject(json, "config",
                        resolved != NULL ? resolved : cJSON_CreateString(result->resolved));
  add_fields(json, "provenance", &result->provenance);
  add_fields(json, "notes", &result->summary);
  cJSON *progress = result->runs != NULL ? cJSON_AddArrayToObject(json, "progress") : NULL;
  for (size_t i = 0; progress != NULL && i < result->n_runs; i++)
    cJSON_AddItemToArray(progress, run_json(&result->runs[i]));
  cJSON *summary = cJSON_AddObjectToObject(json, "summary");
  for (size_t i = 0; i < result->n_datasets; i++)
    add_dataset(summary, &result->datasets[i], all);
  return json;
}

/* ---- temperatures in place of inverse temperatures ---- */

/* What a dataset or a column of inverse temperatures is called as one of temperatures; NULL: it is
 * another. `group`: the bytes of its group, which stays. */
static const char *name_as_temperature(const char *name, size_t group)
{
  return strcmp(name + group, "beta") == 0        ? "temperature"
         : strcmp(name + group, "from_beta") == 0 ? "from_temperature"
                                                  : NULL;
}

static void invert_number(cJSON *number)
{
  cJSON_SetNumberValue(number, 1 / number->valuedouble);
}

static void rename_member(cJSON *object, const char *name, const char *text)
{
  cJSON_ReplaceItemInObjectCaseSensitive(object, name, cJSON_CreateString(text));
}

/* `dataset`: a member of the summary, whose name goes with it. */
static void invert_dataset(cJSON *dataset)
{
  const size_t group = gpumc_result_group_length(dataset->string);
  const char *name = name_as_temperature(dataset->string, group),
             *units = cli_text(dataset, "units");
  struct gpumc_text text = {0};
  cJSON *value;
  if (name == NULL)
    return;
  cJSON_ArrayForEach(value, cJSON_GetObjectItemCaseSensitive(dataset, "values"))
      invert_number(value);
  gpumc_text_append(&text, "%s", strncmp(units, "1/", 2) == 0 ? units + 2 : "");
  rename_member(dataset, "units", gpumc_text_string(&text));
  rename_member(dataset, "long_name", "temperature, k_B = 1");
  rename_member(dataset, "symbol", "T");
  gpumc_text_free(&text);
  gpumc_text_append(&text, "%.*s%s", (int)group, dataset->string, name);
  char *renamed = strdup(gpumc_text_string(&text));
  gpumc_text_free(&text);
  if (renamed == NULL)
    return;
  free(dataset->string);
  dataset->string = renamed;
}

/* Columns of a run in progress, and its last row. */
static void invert_run(cJSON *run)
{
  cJSON *column, *last = cJSON_GetObjectItemCaseSensitive(run, "last_row");
  cJSON_ArrayForEach(column, cJSON_GetObjectItemCaseSensitive(run, "columns"))
  {
    const char *name = name_as_temperature(cli_text(column, "name"), 0);
    cJSON *value = cJSON_GetObjectItemCaseSensitive(last, cli_text(column, "name"));
    if (name == NULL)
      continue;
    if (value != NULL) {
      char *renamed = strdup(name);
      invert_number(value);
      if (renamed != NULL) {
        free(value->string);
        value->string = renamed;
      }
    }
    rename_member(column, "name", name);
  }
}

static cJSON *with_temperatures(cJSON *json)
{
  cJSON *item, *summary = cJSON_GetObjectItemCaseSensitive(json, "summary");
  cJSON_ArrayForEach(item, summary) invert_dataset(item);
  cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, "progress")) invert_run(item);
  return json;
}

/* ---- the same as text ---- */

/* The text of a field in the file: a number as it stands there. */
static void print_field(const cJSON *field)
{
  static const char point[] = ".0";
  if (cJSON_IsNumber(field)) {
    cli_say(stdout, "  %-18s %g\n", field->string, field->valuedouble);
    return;
  }
  const char *value = field->valuestring;
  size_t length = strlen(value);
  if (cJSON_IsRaw(field) && length > 2 && strcmp(value + length - 2, point) == 0)
    length -= 2;
  if (strchr(value, '\n') == NULL)
    cli_say(stdout, "  %-18s %.*s\n", field->string, (int)length, value);
}

static void print_fields(const char *title, const cJSON *fields)
{
  const cJSON *field;
  if (cli_first(fields) == NULL)
    return;
  printf("\n%s:\n", title);
  cJSON_ArrayForEach(field, fields) print_field(field);
}

static double value_of(const cJSON *dataset, int row)
{
  const cJSON *value = cJSON_GetArrayItem(cli_member(dataset, "values"), row);
  return value != NULL ? value->valuedouble : NAN;
}

static int rank_of(const cJSON *dataset)
{
  return cJSON_GetArraySize(cli_member(dataset, "shape"));
}

/* Along a dimension. */
static int length_of(const cJSON *dataset, int dimension)
{
  const cJSON *length = cJSON_GetArrayItem(cli_member(dataset, "shape"), dimension);
  return length != NULL ? (int)length->valuedouble : 1;
}

static bool is_error(const char *name)
{
  size_t length = strlen(name);
  return length > 6 && strcmp(name + length - 6, "_error") == 0;
}

/* NULL where there is none. */
static const cJSON *error_of(const cJSON *summary, const cJSON *dataset)
{
  char name[256];
  snprintf(name, sizeof name, "%s_error", dataset->string);
  return cli_member(summary, name);
}

/* A number without an error: those with one are written alike (gpumc_measured_text). */
static const char *plain_text(double value, char text[static 64])
{
  snprintf(text, 64, isnan(value) ? "?" : "%.7g", value);
  return text;
}

/* The value, with its error where there is one. */
static void value_cell(struct cli_table *table, const cJSON *dataset, const cJSON *error, int row)
{
  char text[64];
  const double value = value_of(dataset, row);
  if (cli_true(dataset, "integer"))
    cli_table_cell(table, "%.0f", value);
  else if (error != NULL && length_of(error, 0) > row)
    cli_table_cell(table, "%s", gpumc_measured_text(value, value_of(error, row), text));
  else
    cli_table_cell(table, "%s", plain_text(value, text));
}

/* "reweighted/" of "reweighted/energy": datasets of one group share an axis. */
static size_t group_length(const char *name)
{
  const char *slash = strrchr(name, '/');
  return slash != NULL ? (size_t)(slash - name) + 1 : 0;
}

static bool same_group(const char *a, const char *b)
{
  size_t length = group_length(a);
  return length == group_length(b) && strncmp(a, b, length) == 0;
}

/* The axis of a curve: the first of its group and length that comes without an error; NULL when
 * that is the curve itself. */
static const cJSON *axis_of(const cJSON *summary, const cJSON *curve)
{
  for (const cJSON *d = cli_first(summary); d != curve; d = d->next)
    if (rank_of(d) == 1 && length_of(d, 0) == length_of(curve, 0) &&
        same_group(d->string, curve->string) && error_of(summary, d) == NULL &&
        !is_error(d->string))
      return d;
  return NULL;
}

static void
print_curves(const cJSON *summary, const cJSON *axis, const cJSON *const *curves, size_t n_curves)
{
  struct cli_table table = {.columns = n_curves + 1, .right = {true}};
  const int rows = length_of(axis, 0);
  const int stride = (rows + ROWS_MAXIMUM - 1) / ROWS_MAXIMUM;
  cli_table_cell(&table, "%s", axis->string);
  for (size_t c = 0; c < n_curves; c++)
    cli_table_cell(&table, "%s", curves[c]->string);
  for (int row = 0; row < rows; row++) {
    if (row % stride != 0 && row + 1 != rows)
      continue;
    cli_table_cell(&table, "%.6g", value_of(axis, row));
    for (size_t c = 0; c < n_curves; c++)
      value_cell(&table, curves[c], error_of(summary, curves[c]), row);
  }
  putchar('\n');
  cli_table_print(&table, 2);
  if (stride > 1)
    printf("  (1 in %d of %d rows; --json shows all of them)\n", stride, rows);
}

/* All curves over one axis, a few at a time. */
static void print_axis(const cJSON *summary, const cJSON *axis)
{
  const cJSON *curves[CURVES_A_TABLE];
  size_t n_curves = 0;
  for (const cJSON *d = axis->next; d != NULL; d = d->next) {
    if (rank_of(d) != 1 || is_error(d->string) || axis_of(summary, d) != axis)
      continue;
    curves[n_curves++] = d;
    if (n_curves == CURVES_A_TABLE) {
      print_curves(summary, axis, curves, n_curves);
      n_curves = 0;
    }
  }
  if (n_curves > 0)
    print_curves(summary, axis, curves, n_curves);
}

/* What is no curve: its value, or how large it is. */
static void print_other(const cJSON *summary, const cJSON *dataset)
{
  const cJSON *error = error_of(summary, dataset);
  const double value = value_of(dataset, 0);
  char text[64];
  cli_say(stdout, "  %s", dataset->string);
  if (rank_of(dataset) > 0)
    printf(" [%d][%d]\n", length_of(dataset, 0), length_of(dataset, 1));
  else if (error != NULL)
    printf(" = %s\n", gpumc_measured_text(value, value_of(error, 0), text));
  else
    printf(" = %s\n", plain_text(value, text));
}

static void print_summary(const cJSON *summary)
{
  const cJSON *dataset;
  if (cli_first(summary) == NULL) {
    puts("\nsummary: none yet");
    return;
  }
  puts("\nsummary (in parentheses: standard error in the last digits, ? if unknown; in the file: "
       "NAME_error):");
  cJSON_ArrayForEach(dataset, summary)
  {
    if (rank_of(dataset) != 1 && !is_error(dataset->string))
      print_other(summary, dataset);
  }
  cJSON_ArrayForEach(dataset, summary)
  {
    if (rank_of(dataset) == 1 && !is_error(dataset->string) && axis_of(summary, dataset) == NULL)
      print_axis(summary, dataset);
  }
}

/* Columns over which the runs agree: of one table, with the same names. */
static int shown_columns(const cJSON *progress)
{
  const int n_columns = cJSON_GetArraySize(cli_member(progress->child, "columns"));
  const cJSON *run;
  cJSON_ArrayForEach(run, progress)
  {
    if (cJSON_GetArraySize(cli_member(run, "columns")) != n_columns)
      return 0;
  }
  return n_columns < CURVES_A_TABLE + 1 ? n_columns : CURVES_A_TABLE + 1;
}

static void run_row(struct cli_table *table, const cJSON *run, int n_columns)
{
  cli_table_cell(table, "%s", cli_text(run, "run"));
  cli_table_cell(table, "%.0f", cli_number(run, "rows"));
  for (int c = 0; c < n_columns; c++) {
    const cJSON *column = cJSON_GetArrayItem(cli_member(run, "columns"), c);
    const cJSON *value = cJSON_GetArrayItem(cli_member(run, "last_row"), c);
    if (value == NULL)
      cli_table_cell(table, "-");
    else
      cli_table_cell(table, cli_true(column, "integer") ? "%.0f" : "%.7g", value->valuedouble);
  }
}

/* Of an unfinished result: the rows of each run, and the last one. */
static void print_progress(const cJSON *progress)
{
  if (cli_first(progress) == NULL) {
    puts("\nprogress: no run yet");
    return;
  }
  const int n_columns = shown_columns(progress);
  struct cli_table table = {.columns = (size_t)n_columns + 2, .right = {false, true}};
  cli_table_cell(&table, "run");
  cli_table_cell(&table, "rows");
  for (int c = 0; c < n_columns; c++)
    cli_table_cell(&table, "%s",
                   cli_text(cJSON_GetArrayItem(cli_member(progress->child, "columns"), c), "name"));
  const cJSON *run;
  cJSON_ArrayForEach(run, progress) run_row(&table, run, n_columns);
  puts("\nprogress (rows so far, and the last one):");
  cli_table_print(&table, 2);
}

/* The configuration as it stands in the file, where JSON is printed in the same way. */
static void print_config(const cJSON *config)
{
  char *text = cJSON_IsString(config) ? strdup(config->valuestring) : cJSON_Print(config);
  cli_say(stdout, "\nconfiguration:\n%s\n", text != NULL ? text : "");
  free(text);
}

static void print_result(const cJSON *json)
{
  char *name = cli_line(cli_text(json, "file")), *title = cli_line(cli_text(json, "title"));
  char *version = cli_line(cli_text(json, "program_version"));
  const double runs = cli_number(json, "runs");
  printf("%s: %s, %.0f run%s, gpumc %s\n", name,
         cli_true(json, "complete") ? "complete" : "unfinished: a working file", runs,
         runs == 1 ? "" : "s", version);
  printf("checksum: %s\n", cli_text(json, "checksum"));
  if (title[0] != '\0')
    printf("title: %s\n", title);
  free(name);
  free(title);
  free(version);
  print_config(cli_member(json, "config"));
  print_fields("provenance", cli_member(json, "provenance"));
  print_fields("notes of the summary", cli_member(json, "notes"));
  if (cli_has(json, "progress"))
    print_progress(cli_member(json, "progress"));
  else
    print_summary(cli_member(json, "summary"));
}

int cli_info(int argc, char **argv)
{
  struct info_arguments arguments = {.common = {.command = argv[0], .kind = "file"}};
  const struct cli_arguments *common = &arguments.common;
  struct gpumc_result result = {0};
  struct gpumc_error error = {0};
  cli_parse(&cli_info_argp, argc, argv, &arguments);
  if (common->subject == NULL)
    cli_usage_error(argv[0], "no result file given");
  if (gpumc_result_read(common->subject, &result, &error) != GPUMC_OK)
    return cli_fail(&error);
  cJSON *json = result_json(common->subject, &result, common->json);
  if (arguments.temperature && json != NULL)
    json = with_temperatures(json);
  const int code = cli_report(json, common->json, print_result);
  gpumc_result_free(&result);
  return code;
}
