/* The summary of a result as tables: values with their errors, one row a point of the axis. */
#include "cli/info_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/table.h"
#include "core/base/units.h"

enum {
  ROWS_MAXIMUM = 24,  /* longer curves are thinned out */
  CURVES_A_TABLE = 5, /* so that a table fits on a screen */
};

static bool is_error(const char *name)
{
  size_t length = strlen(name);
  return length > 6 && strcmp(name + length - 6, "_error") == 0;
}

static const struct gpumc_result_dataset *
error_of(const struct gpumc_result *result, const struct gpumc_result_dataset *dataset)
{
  char name[256];
  snprintf(name, sizeof name, "%s_error", dataset->name);
  return gpumc_result_find(result, name);
}

static size_t length_of(const struct gpumc_result_dataset *dataset)
{
  return dataset->rank == 0 ? 1 : dataset->shape[0];
}

/* NaN may have a sign, which means nothing. */
static double shown(double value)
{
  return isnan(value) ? fabs(value) : value;
}

/* The value, with its error where there is one. */
static void value_cell(struct cli_table *table, const struct gpumc_result_dataset *dataset,
                       const struct gpumc_result_dataset *error, size_t row)
{
  char text[64];
  if (dataset->integer)
    cli_table_cell(table, "%.0f", dataset->values[row]);
  else if (error != NULL && length_of(error) > row)
    cli_table_cell(table, "%s",
                   gpumc_measured_text(dataset->values[row], error->values[row], text));
  else
    cli_table_cell(table, "%.7g", shown(dataset->values[row]));
}

/* "reweighted/" of "reweighted/energy": datasets of one group share an axis. */
static size_t group_length(const char *name)
{
  const char *slash = strrchr(name, '/');
  return slash != NULL ? (size_t)(slash - name) + 1 : 0;
}

static bool same_group(const struct gpumc_result_dataset *a, const struct gpumc_result_dataset *b)
{
  size_t length = group_length(a->name);
  return length == group_length(b->name) && strncmp(a->name, b->name, length) == 0;
}

/* The axis of a curve: the first of its group and length that comes without an error; NULL when
 * that is the curve itself. */
static const struct gpumc_result_dataset *
axis_of(const struct gpumc_result *result, const struct gpumc_result_dataset *curve)
{
  for (const struct gpumc_result_dataset *d = result->datasets; d < curve; d++)
    if (d->rank == 1 && d->shape[0] == curve->shape[0] && same_group(d, curve) &&
        error_of(result, d) == NULL && !is_error(d->name))
      return d;
  return NULL;
}

static void print_curves(const struct gpumc_result *result, const struct gpumc_result_dataset *axis,
                         const struct gpumc_result_dataset *const *curves, size_t n_curves)
{
  struct cli_table table = {.columns = n_curves + 1, .right = {true}};
  size_t rows = axis->shape[0];
  size_t stride = (rows + ROWS_MAXIMUM - 1) / ROWS_MAXIMUM;
  cli_table_cell(&table, "%s", axis->name);
  for (size_t c = 0; c < n_curves; c++)
    cli_table_cell(&table, "%s", curves[c]->name);
  for (size_t row = 0; row < rows; row++) {
    if (row % stride != 0 && row + 1 != rows)
      continue;
    cli_table_cell(&table, "%.6g", axis->values[row]);
    for (size_t c = 0; c < n_curves; c++)
      value_cell(&table, curves[c], error_of(result, curves[c]), row);
  }
  putchar('\n');
  cli_table_print(&table, 2);
  if (stride > 1)
    printf("  (one in %zu of %zu rows; all of them by --json)\n", stride, rows);
}

/* All curves over one axis, a few at a time. */
static void print_axis(const struct gpumc_result *result, const struct gpumc_result_dataset *axis)
{
  const struct gpumc_result_dataset *curves[CURVES_A_TABLE];
  size_t n_curves = 0;
  const struct gpumc_result_dataset *end = result->datasets + result->n_datasets;
  for (const struct gpumc_result_dataset *d = axis + 1; d < end; d++) {
    if (d->rank != 1 || is_error(d->name) || axis_of(result, d) != axis)
      continue;
    curves[n_curves++] = d;
    if (n_curves == CURVES_A_TABLE) {
      print_curves(result, axis, curves, n_curves);
      n_curves = 0;
    }
  }
  if (n_curves > 0)
    print_curves(result, axis, curves, n_curves);
}

/* What is no curve: its value, or how large it is. */
static void
print_other(const struct gpumc_result *result, const struct gpumc_result_dataset *dataset)
{
  const struct gpumc_result_dataset *error = error_of(result, dataset);
  char text[64];
  cli_say(stdout, "  %s", dataset->name);
  if (dataset->rank == 0 && error != NULL)
    printf(" = %s\n", gpumc_measured_text(dataset->values[0], error->values[0], text));
  else if (dataset->rank == 0)
    printf(" = %.7g\n", dataset->values[0]);
  else
    printf(" [%zu][%zu]\n", dataset->shape[0], dataset->shape[1]);
}

/* Columns over which the runs agree: of one table, with the same names. */
static size_t shown_columns(const struct gpumc_result *result)
{
  size_t n_columns = result->runs[0].n_columns;
  for (size_t i = 1; i < result->n_runs; i++)
    if (result->runs[i].n_columns != n_columns)
      return 0;
  return n_columns < CURVES_A_TABLE + 1 ? n_columns : CURVES_A_TABLE + 1;
}

void cli_info_progress(const struct gpumc_result *result)
{
  if (result->n_runs == 0) {
    puts("\nprogress: no run yet");
    return;
  }
  size_t n_columns = shown_columns(result);
  struct cli_table table = {.columns = n_columns + 2, .right = {false, true}};
  cli_table_cell(&table, "run");
  cli_table_cell(&table, "rows");
  for (size_t c = 0; c < n_columns; c++)
    cli_table_cell(&table, "%s", result->runs[0].columns[c].name);
  for (size_t i = 0; i < result->n_runs; i++) {
    const struct gpumc_result_run *run = &result->runs[i];
    cli_table_cell(&table, "%s", run->name);
    cli_table_cell(&table, "%zu", run->n_rows);
    for (size_t c = 0; c < n_columns; c++)
      if (run->n_rows == 0)
        cli_table_cell(&table, "-");
      else
        cli_table_cell(&table, run->columns[c].integer ? "%.0f" : "%.7g",
                       run->columns[c].values[0]);
  }
  puts("\nprogress (rows so far, and the last one):");
  cli_table_print(&table, 2);
}

void cli_info_summary(const struct gpumc_result *result)
{
  const struct gpumc_result_dataset *end = result->datasets + result->n_datasets;
  if (result->n_datasets == 0) {
    puts("\nsummary: none yet");
    return;
  }
  puts("\nsummary (in parentheses the standard error of the last digits, NAME_error in the file):");
  for (const struct gpumc_result_dataset *d = result->datasets; d < end; d++)
    if (d->rank != 1 && !is_error(d->name))
      print_other(result, d);
  for (const struct gpumc_result_dataset *d = result->datasets; d < end; d++)
    if (d->rank == 1 && !is_error(d->name) && axis_of(result, d) == NULL)
      print_axis(result, d);
}
