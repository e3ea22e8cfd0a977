/* gpumc compare: the comparison as text. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/results/compare.h"
#include "core/base/text.h"
#include "core/statistics/comparison.h"

static double at(const cJSON *quantity, const char *name, int place)
{
  const cJSON *value = cJSON_GetArrayItem(cli_member(quantity, name), place);
  return cJSON_IsRaw(value) ? strtod(value->valuestring, NULL) : NAN;
}

static void measured_cell(struct cli_table *table, const cJSON *quantity, const char *name,
                          const char *error, int place)
{
  char text[64];
  cli_table_cell(table, "%s",
                 gpumc_measured_text(at(quantity, name, place), at(quantity, error, place), text));
}

/* JSON has no infinity, which is the difference of exact numbers that differ. */
static void difference_cell(struct cli_table *table, const cJSON *quantity, int place)
{
  const double difference =
      gpumc_difference_in_errors(at(quantity, "a", place), at(quantity, "a_error", place),
                                 at(quantity, "b", place), at(quantity, "b_error", place));
  cli_table_cell(table, isnan(difference) ? "-" : "%+.2f", difference);
}

/* Where a point is: "beta = 0.4", of a profile "beta = 0.4, distance = 1.2". */
static void
control_cell(struct cli_table *table, const cJSON *quantity, bool temperature, int place)
{
  const double value = at(quantity, "control", place);
  const bool beta = temperature && strcmp(cli_text(quantity, "axis"), "beta") == 0;
  const char *axis = beta ? "T" : cli_text(quantity, "axis");
  if (!cli_has(quantity, "axis"))
    cli_table_cell(table, "-");
  else if (!cli_has(quantity, "profile_axis"))
    cli_table_cell(table, "%s = %.6g", axis, beta ? 1 / value : value);
  else
    cli_table_cell(table, "%s = %.6g, %s = %.6g", axis, beta ? 1 / value : value,
                   cli_text(quantity, "profile_axis"), at(quantity, "place", place));
}

static void print_overview(const cJSON *quantities, bool temperature)
{
  struct cli_table table = {.columns = 8,
                            .right = {false, true, true, true, false, true, true, true}};
  static const char *const titles[] = {"quantity",           "points", "chi2/points", "p",
                                       "largest difference", "A",      "B",           "A - B"};
  const cJSON *quantity;
  for (size_t i = 0; i < table.columns; i++)
    cli_table_cell(&table, "%s", titles[i]);
  cJSON_ArrayForEach(quantity, quantities)
  {
    const double points = cli_number(quantity, "points");
    const bool any = points > 0;
    const int worst = any ? (int)cli_number(quantity, "worst") : 0;
    cli_table_cell(&table, "%s", cli_text(quantity, "name"));
    if (points < cli_number(quantity, "total"))
      cli_table_cell(&table, "%.0f of %.0f", points, cli_number(quantity, "total"));
    else
      cli_table_cell(&table, "%.0f", points);
    if (any) {
      cli_table_cell(&table, "%.3g", cli_number(quantity, "chi_square") / points);
      cli_table_cell(&table, "%.2g", cli_number(quantity, "p"));
      control_cell(&table, quantity, temperature, worst);
    } else
      for (int i = 0; i < 3; i++)
        cli_table_cell(&table, "-");
    measured_cell(&table, quantity, "a", "a_error", worst);
    measured_cell(&table, quantity, "b", "b_error", worst);
    difference_cell(&table, quantity, worst);
  }
  putchar('\n');
  cli_table_print(&table, 2);
}

static void print_points(const cJSON *quantities, bool temperature)
{
  const cJSON *quantity;
  cJSON_ArrayForEach(quantity, quantities)
  {
    struct cli_table table = {.columns = 4, .right = {false, true, true, true}};
    cli_say(stdout, "\n%s: %s\n", cli_text(quantity, "name"), cli_text(quantity, "long_name"));
    cli_table_cell(&table, "at");
    cli_table_cell(&table, "A");
    cli_table_cell(&table, "B");
    cli_table_cell(&table, "A - B");
    for (int p = 0; p < (int)cli_number(quantity, "common"); p++) {
      control_cell(&table, quantity, temperature, p);
      measured_cell(&table, quantity, "a", "a_error", p);
      measured_cell(&table, quantity, "b", "b_error", p);
      difference_cell(&table, quantity, p);
    }
    cli_table_print(&table, 2);
  }
}

static void print_list(const char *title, const cJSON *lines)
{
  const cJSON *line;
  if (cli_first(lines) == NULL)
    return;
  printf("%s", title);
  cJSON_ArrayForEach(line, lines) cli_say(stdout, "  %s\n", line->valuestring);
}

void cli_compare_print(const cJSON *json, bool points, bool temperature)
{
  const cJSON *quantities = cli_member(json, "quantities");
  bool independent = true;
  const cJSON *quantity;
  cJSON_ArrayForEach(quantity, quantities) independent =
      independent && (cli_true(quantity, "independent") || cli_number(quantity, "common") < 2);
  cli_say(stdout, "A: %s\nB: %s\n", cli_text(json, "a"), cli_text(json, "b"));
  print_list("configurations differ in:\n", cli_member(json, "configuration"));
  print_list("only in A:\n", cli_member(json, "only_a"));
  print_list("only in B:\n", cli_member(json, "only_b"));
  print_list("remarks:\n", cli_member(json, "remarks"));
  print_overview(quantities, temperature);
  if (points)
    print_points(quantities, temperature);
  printf("\nA - B is in units of its standard error. p: %s.\n",
         independent ? "from chi-square; points are independent"
                     : "a bound that holds for any correlations between the points of a curve");
  if (cli_true(json, "identical"))
    puts("identical: all compared values and errors are the same, bit for bit");
  else
    printf("%s: p = %.2g for all quantities together (Bonferroni), alpha = %g\n",
           cli_true(json, "compatible") ? "compatible" : "NOT compatible", cli_number(json, "p"),
           cli_number(json, "alpha"));
}
