/* gpumc list: what is built in and in plugins, and which kernel of a model runs which algorithm. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "core/simulation/registry.h"

enum { OPTION_PLUGIN = CLI_OPTION_OWN, OPERATION_BITS = 32 };

struct list_arguments {
  struct cli_arguments common;
  struct gpumc_plugin_set plugins;
};

static const struct argp_option options[] = {
    {"json", CLI_OPTION_JSON, NULL, 0, "Print the same as JSON", 0},
    {"plugin", OPTION_PLUGIN, "PLUGIN", 0, CLI_PLUGIN_HELP, 0},
    {0}};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
  struct list_arguments *arguments = state->input;
  if (key == OPTION_PLUGIN)
    cli_plugin_add(&arguments->plugins, argument);
  else if (key == ARGP_KEY_ARG)
    cli_usage_error(arguments->common.command, "unexpected argument '%s'", argument);
  else
    return cli_parse_common(key, argument, state);
  return 0;
}

const struct argp cli_list_argp = {
    options,
    parse_option,
    "",
    "List the models, algorithms and kernels that are built in or in plugins of the search path, "
    "and which kernel runs which algorithm.\v"
    "Examples:\n"
    "  gpumc list\n"
    "  gpumc list --json",
    NULL,
    NULL,
    NULL};

static cJSON *operations_json(uint32_t operations)
{
  cJSON *names = cJSON_CreateArray();
  for (unsigned bit = 0; bit < OPERATION_BITS; bit++)
    if (operations >> bit & 1)
      cJSON_AddItemToArray(names, cJSON_CreateString(gpumc_operation_name(1u << bit)));
  return names;
}

static cJSON *moves_json(const struct gpumc_kernel_ops *kernel)
{
  cJSON *moves = cJSON_CreateArray();
  for (size_t i = 0; i < kernel->n_moves; i++) {
    cJSON *move = cJSON_CreateObject();
    cJSON_AddStringToObject(move, "name", kernel->moves[i].name);
    cJSON_AddStringToObject(move, "summary", kernel->moves[i].summary);
    cJSON_AddItemToArray(moves, move);
  }
  return moves;
}

static cJSON *
kernel_json(const struct gpumc_plugin_set *plugins, const struct gpumc_kernel_ops *kernel)
{
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "device", kernel->device);
  cJSON_AddStringToObject(json, "variant", kernel->variant);
  cJSON_AddStringToObject(json, "summary", kernel->summary);
  if (kernel->takes != NULL)
    cJSON_AddStringToObject(json, "takes", kernel->takes);
  cJSON_AddStringToObject(json, "trajectory", gpumc_kernel_trajectory(kernel));
  cJSON_AddItemToObject(json, "capabilities", operations_json(gpumc_kernel_operations(kernel)));
  cJSON_AddItemToObject(json, "moves", moves_json(kernel));
  cJSON_AddBoolToObject(json, "absent", kernel->absent != 0);
  cJSON *algorithms = cJSON_AddObjectToObject(json, "algorithms");
  for (const struct gpumc_algorithm_ops *const *a = plugins->algorithms; *a != NULL; a++) {
    struct gpumc_text missing = {0};
    bool serves = gpumc_kernel_serves(kernel, *a, &missing);
    cJSON *cell = cJSON_AddObjectToObject(algorithms, (*a)->name);
    cJSON_AddBoolToObject(cell, "serves", serves);
    cJSON_AddStringToObject(cell, "missing", gpumc_text_string(&missing));
    gpumc_text_free(&missing);
  }
  return json;
}

static cJSON *file_json(const struct gpumc_plugin_file *file)
{
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "name", file->note.name);
  cJSON_AddStringToObject(json, "version", file->note.version);
  cJSON_AddStringToObject(json, "path", file->path);
  cJSON_AddStringToObject(json, "models", file->note.models);
  cJSON_AddStringToObject(json, "algorithms", file->note.algorithms);
  cJSON_AddStringToObject(json, "kernels_for", file->note.kernels);
  cJSON_AddBoolToObject(json, "usable", file->why_not[0] == '\0');
  cJSON_AddStringToObject(json, "why_not", file->why_not);
  return json;
}

/* Plugins of options, and those of the search path, which may not be usable. */
static void
add_files(cJSON *json, const struct gpumc_plugin_set *plugins, const struct gpumc_plugin_list *list)
{
  char abi[GPUMC_PLUGIN_ABI_BYTES];
  cJSON_AddStringToObject(json, "plugin_abi", gpumc_plugin_abi(abi));
  cJSON *files = cJSON_AddArrayToObject(json, "plugins");
  for (size_t i = 0; i < plugins->n_used; i++)
    cJSON_AddItemToArray(files, file_json(&plugins->used[i]));
  for (size_t i = 0; i < list->count; i++)
    if (!gpumc_plugin_set_uses(plugins, list->files[i].path))
      cJSON_AddItemToArray(files, file_json(&list->files[i]));
}

static cJSON *
plugins_json(const struct gpumc_plugin_set *plugins, const struct gpumc_plugin_list *list)
{
  cJSON *json = cJSON_CreateObject();
  cJSON *models = cJSON_AddArrayToObject(json, "models");
  for (const struct gpumc_model_ops *const *m = plugins->models; *m != NULL; m++) {
    cJSON *model = cJSON_CreateObject();
    cJSON_AddStringToObject(model, "name", (*m)->name);
    cJSON_AddStringToObject(model, "summary", (*m)->summary);
    cJSON *kernels = cJSON_AddArrayToObject(model, "kernels");
    for (const struct gpumc_kernel_ops *const *k = (*m)->kernels; *k != NULL; k++)
      cJSON_AddItemToArray(kernels, kernel_json(plugins, *k));
    cJSON_AddItemToArray(models, model);
  }
  cJSON *algorithms = cJSON_AddArrayToObject(json, "algorithms");
  for (const struct gpumc_algorithm_ops *const *a = plugins->algorithms; *a != NULL; a++) {
    cJSON *algorithm = cJSON_CreateObject();
    cJSON_AddStringToObject(algorithm, "name", (*a)->name);
    cJSON_AddStringToObject(algorithm, "summary", (*a)->summary);
    cJSON_AddItemToObject(algorithm, "required", operations_json((*a)->required));
    cJSON_AddItemToArray(algorithms, algorithm);
  }
  add_files(json, plugins, list);
  return json;
}

static void print_names(const char *title, const cJSON *items)
{
  struct cli_table table = {.columns = 2};
  const cJSON *item;
  cJSON_ArrayForEach(item, items)
  {
    cli_table_cell(&table, "%s", cli_text(item, "name"));
    cli_table_cell(&table, "%s", cli_text(item, "summary"));
  }
  puts(title);
  cli_table_print(&table, 2);
}

static void print_kernels(const cJSON *models)
{
  struct cli_table table = {.columns = 4};
  const cJSON *model, *kernel;
  cJSON_ArrayForEach(model, models)
  {
    cJSON_ArrayForEach(kernel, cli_member(model, "kernels"))
    {
      cli_table_cell(&table, "%s", cli_text(model, "name"));
      cli_table_cell(&table, "%s", cli_text(kernel, "device"));
      cli_table_cell(&table, "%s", cli_text(kernel, "variant"));
      cli_table_cell(&table, "%s", cli_text(kernel, "summary"));
    }
  }
  puts("\nKernels (`gpumc describe MODEL` shows what each requires of the lattice):");
  cli_table_print(&table, 2);
}

static void kernel_row(struct cli_table *cells, const char *model, const cJSON *kernel)
{
  const cJSON *cell = cli_first(cli_member(kernel, "algorithms"));
  cli_table_cell(cells, "%s", model);
  cli_table_cell(cells, "%s", cli_text(kernel, "device"));
  cli_table_cell(cells, "%s", cli_text(kernel, "variant"));
  for (size_t a = 0; a + 3 < cells->columns && cell != NULL; a++, cell = cell->next)
    if (!cli_true(cell, "serves"))
      cli_table_cell(cells, "no: cannot %s", cli_text(cell, "missing"));
    else
      cli_table_cell(cells, cli_true(kernel, "absent") ? "not in this build" : "yes");
}

/* One row a kernel, one column an algorithm. */
static void print_cells(const cJSON *models, const cJSON *algorithms)
{
  struct cli_table cells = {.columns = 3};
  const cJSON *algorithm, *model, *kernel;
  cli_table_cell(&cells, "model");
  cli_table_cell(&cells, "device");
  cli_table_cell(&cells, "variant");
  cJSON_ArrayForEach(algorithm, algorithms)
  {
    if (cells.columns == CLI_TABLE_COLUMNS)
      break;
    cli_table_cell(&cells, "%s", cli_text(algorithm, "name"));
    cells.columns++;
  }
  cJSON_ArrayForEach(model, models)
  {
    cJSON_ArrayForEach(kernel, cli_member(model, "kernels"))
        kernel_row(&cells, cli_text(model, "name"), kernel);
  }
  puts("\nWhich kernel runs which algorithm:");
  cli_table_print(&cells, 2);
}

static void print_files(const cJSON *json)
{
  struct cli_table table = {.columns = 4};
  const cJSON *file;
  if (cli_first(cli_member(json, "plugins")) == NULL)
    return;
  printf("\nPlugins (this gpumc has ABI %s):\n", cli_text(json, "plugin_abi"));
  cJSON_ArrayForEach(file, cli_member(json, "plugins"))
  {
    cli_table_cell(&table, "%s", cli_text(file, "name"));
    cli_table_cell(&table, "%s", cli_text(file, "version"));
    cli_table_cell(&table, "%s", cli_text(file, "path"));
    cli_table_cell(&table, "%s%s",
                   cli_true(file, "usable") ? "usable" : "not usable: ", cli_text(file, "why_not"));
  }
  cli_table_print(&table, 2);
}

static void print_plugins(const cJSON *json)
{
  const cJSON *models = cli_member(json, "models"), *algorithms = cli_member(json, "algorithms");
  print_names("Models:", models);
  print_names("\nAlgorithms:", algorithms);
  print_kernels(models);
  print_cells(models, algorithms);
  print_files(json);
}

int cli_list(int argc, char **argv)
{
  struct list_arguments arguments = {.common = {.command = argv[0]}};
  struct gpumc_plugin_list list;
  struct gpumc_error error = {0};
  cli_plugins_open(&arguments.plugins);
  cli_parse(&cli_list_argp, argc, argv, &arguments);
  if (gpumc_plugin_search(&list, &error) != GPUMC_OK ||
      gpumc_plugin_set_add_all(&arguments.plugins, &list, &error) != GPUMC_OK)
    return cli_fail(&error);
  const int code =
      cli_report(plugins_json(&arguments.plugins, &list), arguments.common.json, print_plugins);
  gpumc_plugin_list_free(&list);
  gpumc_plugin_set_free(&arguments.plugins);
  return code;
}
