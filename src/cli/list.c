/* gpumc list: the plugins, and which kernel of a model runs which algorithm. */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/table.h"
#include "core/simulation/registry.h"

enum { CAPABILITY_BITS = 32 };

static const char help[] =
    "List models, algorithms and kernels, and which kernel runs which algorithm.\v"
    "Examples:\n"
    "  gpumc list\n"
    "  gpumc list --json";

static cJSON *capabilities_json(uint32_t capabilities)
{
  cJSON *names = cJSON_CreateArray();
  for (unsigned bit = 0; bit < CAPABILITY_BITS; bit++)
    if (capabilities >> bit & 1)
      cJSON_AddItemToArray(
          names, cJSON_CreateString(gpumc_capability_name((enum gpumc_capability)(1u << bit))));
  return names;
}

static cJSON *kernel_json(const struct gpumc_kernel_ops *kernel)
{
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "device", kernel->device);
  cJSON_AddStringToObject(json, "variant", kernel->variant);
  cJSON_AddStringToObject(json, "summary", kernel->summary);
  if (kernel->takes != NULL)
    cJSON_AddStringToObject(json, "takes", kernel->takes);
  cJSON_AddStringToObject(json, "trajectory", kernel->trajectory);
  cJSON_AddItemToObject(json, "capabilities", capabilities_json(kernel->capabilities));
  cJSON_AddBoolToObject(json, "absent", kernel->absent);
  cJSON *algorithms = cJSON_AddObjectToObject(json, "algorithms");
  for (const struct gpumc_algorithm_ops *const *a = gpumc_algorithms(); *a != NULL; a++) {
    struct gpumc_text missing = {0};
    bool serves = gpumc_kernel_serves(kernel, (*a)->required, &missing);
    cJSON *cell = cJSON_AddObjectToObject(algorithms, (*a)->name);
    cJSON_AddBoolToObject(cell, "serves", serves);
    cJSON_AddStringToObject(cell, "missing", gpumc_text_string(&missing));
    gpumc_text_free(&missing);
  }
  return json;
}

static cJSON *plugins_json(void)
{
  cJSON *json = cJSON_CreateObject();
  cJSON *models = cJSON_AddArrayToObject(json, "models");
  for (const struct gpumc_model_ops *const *m = gpumc_models(); *m != NULL; m++) {
    cJSON *model = cJSON_CreateObject();
    cJSON_AddStringToObject(model, "name", (*m)->name);
    cJSON_AddStringToObject(model, "summary", (*m)->summary);
    cJSON *kernels = cJSON_AddArrayToObject(model, "kernels");
    for (const struct gpumc_kernel_ops *const *k = (*m)->kernels; *k != NULL; k++)
      cJSON_AddItemToArray(kernels, kernel_json(*k));
    cJSON_AddItemToArray(models, model);
  }
  cJSON *algorithms = cJSON_AddArrayToObject(json, "algorithms");
  for (const struct gpumc_algorithm_ops *const *a = gpumc_algorithms(); *a != NULL; a++) {
    cJSON *algorithm = cJSON_CreateObject();
    cJSON_AddStringToObject(algorithm, "name", (*a)->name);
    cJSON_AddStringToObject(algorithm, "summary", (*a)->summary);
    cJSON_AddItemToObject(algorithm, "required", capabilities_json((*a)->required));
    cJSON_AddItemToArray(algorithms, algorithm);
  }
  return json;
}

static void print_plugins(void)
{
  struct cli_table models = {.columns = 2}, algorithms = {.columns = 2}, kernels = {.columns = 4};
  for (const struct gpumc_model_ops *const *m = gpumc_models(); *m != NULL; m++) {
    cli_table_cell(&models, "%s", (*m)->name);
    cli_table_cell(&models, "%s", (*m)->summary);
    for (const struct gpumc_kernel_ops *const *k = (*m)->kernels; *k != NULL; k++) {
      cli_table_cell(&kernels, "%s", (*m)->name);
      cli_table_cell(&kernels, "%s", (*k)->device);
      cli_table_cell(&kernels, "%s", (*k)->variant);
      cli_table_cell(&kernels, "%s", (*k)->summary);
    }
  }
  for (const struct gpumc_algorithm_ops *const *a = gpumc_algorithms(); *a != NULL; a++) {
    cli_table_cell(&algorithms, "%s", (*a)->name);
    cli_table_cell(&algorithms, "%s", (*a)->summary);
  }
  puts("Models:");
  cli_table_print(&models, 2);
  puts("\nAlgorithms:");
  cli_table_print(&algorithms, 2);
  puts("\nKernels (`gpumc describe MODEL` says what each asks of the lattice):");
  cli_table_print(&kernels, 2);
}

static void
kernel_row(struct cli_table *cells, const char *model, const struct gpumc_kernel_ops *kernel)
{
  cli_table_cell(cells, "%s", model);
  cli_table_cell(cells, "%s", kernel->device);
  cli_table_cell(cells, "%s", kernel->variant);
  for (size_t a = 0; a + 3 < cells->columns; a++) {
    struct gpumc_text missing = {0};
    if (!gpumc_kernel_serves(kernel, gpumc_algorithms()[a]->required, &missing))
      cli_table_cell(cells, "no: cannot %s", gpumc_text_string(&missing));
    else
      cli_table_cell(cells, kernel->absent ? "not in this build" : "yes");
    gpumc_text_free(&missing);
  }
}

/* One row a kernel, one column an algorithm. */
static void print_cells(void)
{
  struct cli_table cells = {.columns = 3};
  cli_table_cell(&cells, "model");
  cli_table_cell(&cells, "device");
  cli_table_cell(&cells, "variant");
  for (const struct gpumc_algorithm_ops *const *a = gpumc_algorithms();
       *a != NULL && cells.columns < CLI_TABLE_COLUMNS; a++, cells.columns++)
    cli_table_cell(&cells, "%s", (*a)->name);
  for (const struct gpumc_model_ops *const *m = gpumc_models(); *m != NULL; m++)
    for (const struct gpumc_kernel_ops *const *k = (*m)->kernels; *k != NULL; k++)
      kernel_row(&cells, (*m)->name, *k);
  puts("\nWhich kernel runs which algorithm:");
  cli_table_print(&cells, 2);
}

int cli_list(int argc, char **argv)
{
  const bool json = cli_parse_json(help, argc, argv);
  if (json)
    return cli_print_json(plugins_json());
  print_plugins();
  print_cells();
  return GPUMC_OK;
}
