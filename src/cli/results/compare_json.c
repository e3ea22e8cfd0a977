/* gpumc compare: the comparison as JSON, which its text is printed from. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/results/compare.h"
#include "core/base/text.h"
#include "core/run/language.h"
#include "core/simulation/registry.h"
#include "core/statistics/comparison.h"

/* ---- a quantity ---- */

/* In the fewest digits that give it back, as cJSON does not. */
static cJSON *exact_number(double value)
{
  struct gpumc_text text = {0};
  if (!isfinite(value))
    return cJSON_CreateNull();
  gpumc_number_append(&text, value);
  cJSON *json = cJSON_CreateRaw(gpumc_text_string(&text));
  gpumc_text_free(&text);
  return json;
}

static void add_numbers(cJSON *json, const char *name, const double *values, size_t n)
{
  cJSON *list = cJSON_AddArrayToObject(json, name);
  for (size_t i = 0; i < n; i++)
    cJSON_AddItemToArray(list, exact_number(values[i]));
}

static void add_axis(cJSON *json, const char *name, const struct gpumc_result_dataset *axis)
{
  cJSON_AddStringToObject(json, name, axis->name + gpumc_result_group_length(axis->name));
}

static void add_labels(cJSON *json, const struct cli_quantity *quantity)
{
  const struct gpumc_result_dataset *value = quantity->value[0];
  cJSON_AddStringToObject(json, "name", value->name);
  cJSON_AddStringToObject(json, "long_name", value->long_name);
  cJSON_AddStringToObject(json, "units", value->units);
  if (quantity->rank > 0)
    add_axis(json, "axis", quantity->axis[0][0]);
  if (quantity->rank > 1)
    add_axis(json, "profile_axis", quantity->axis[0][1]);
}

/* Adds the points; `difference` takes the place of the values of A. */
static void add_points(cJSON *json, struct cli_points *points)
{
  double *difference = points->a;
  if (points->control[0] != NULL)
    add_numbers(json, "control", points->control[0], points->n);
  if (points->control[1] != NULL)
    add_numbers(json, "place", points->control[1], points->n);
  add_numbers(json, "a", points->a, points->n);
  add_numbers(json, "a_error", points->a_error, points->n);
  add_numbers(json, "b", points->b, points->n);
  add_numbers(json, "b_error", points->b_error, points->n);
  for (size_t p = 0; p < points->n; p++)
    difference[p] = gpumc_difference_in_errors(points->a[p], points->a_error[p], points->b[p],
                                               points->b_error[p]);
  add_numbers(json, "difference", difference, points->n);
}

/* NULL where there is no point in common, or, with `error` set, when memory ran out. */
static cJSON *quantity_json(const struct cli_quantity *quantity, bool independent,
                            struct gpumc_comparison *found, struct gpumc_error *error)
{
  struct cli_points points = {0};
  cJSON *json = NULL;
  memset(found, 0, sizeof *found);
  if (cli_compare_points(quantity, &points, error) != GPUMC_OK || points.n == 0)
    goto out;
  const struct gpumc_curve_pair pair = {points.n, points.a,       points.a_error,
                                        points.b, points.b_error, independent};
  *found = gpumc_compare_curves(&pair);
  json = cJSON_CreateObject();
  add_labels(json, quantity);
  cJSON_AddBoolToObject(json, "independent", independent);
  cJSON_AddBoolToObject(json, "identical", found->identical);
  cJSON_AddNumberToObject(json, "total", points.total);
  cJSON_AddNumberToObject(json, "common", (double)points.n);
  cJSON_AddNumberToObject(json, "points", (double)found->points);
  cJSON_AddNumberToObject(json, "unknown", (double)found->unknown);
  cJSON_AddNumberToObject(json, "chi_square", found->chi_square);
  cJSON_AddNumberToObject(json, "p", found->chance);
  if (found->points > 0)
    cJSON_AddNumberToObject(json, "worst", (double)found->worst);
  add_points(json, &points);
out:
  cli_compare_points_free(&points);
  return json;
}

/* ---- both results ---- */

/* Whether values at different controls are from simulations of their own: of each result by what
 * its algorithm says, unless they have disorder samples in common. */
static bool is_independent(const cJSON *config)
{
  const cJSON *algorithm = cli_member(config, "algorithm");
  const struct gpumc_algorithm_ops *ops = gpumc_algorithm_find(cli_text(algorithm, "name"));
  const double samples = cli_number(algorithm, "samples");
  return ops != NULL && ops->independent_values && !(samples > 1);
}

static void add_remark(cJSON *remarks, const char *format, ...) GPUMC_PRINTF(2, 3);
static void add_remark(cJSON *remarks, const char *format, ...)
{
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  cJSON_AddItemToArray(remarks, cJSON_CreateString(text));
}

/* Adds a list `name` of the quantities that one of the results, `first` or the second, has alone.
 */
static void
add_missing(cJSON *json, const char *name, const struct cli_comparison *comparison, bool first)
{
  const struct gpumc_result *one = &comparison->side[first ? 0 : 1].result;
  const struct gpumc_result *other = &comparison->side[first ? 1 : 0].result;
  cJSON *list = cJSON_AddArrayToObject(json, name);
  for (size_t i = 0; i < one->n_datasets; i++)
    if (cli_compare_has_errors(one, &one->datasets[i], comparison->group) &&
        gpumc_result_dataset(other, one->datasets[i].name) == NULL)
      cJSON_AddItemToArray(list, cJSON_CreateString(one->datasets[i].name));
}

/* Sums over the quantities: their points, and the least probability of `n` with a difference. */
struct sums {
  bool identical;
  double least, n, total;
  size_t compared, common, unknown;
};

/* Adds what a reader needs to know besides the numbers. */
static void add_remarks(cJSON *json, const struct cli_comparison *comparison,
                        cJSON *const config[2], const struct sums *sums)
{
  cJSON *remarks = cJSON_AddArrayToObject(json, "remarks");
  const double seed = cli_number(config[0], "seed");
  for (size_t i = 0; i < 2; i++) {
    const struct cli_side *side = &comparison->side[i];
    const char *trusted = gpumc_result_field(&side->result.summary, "trusted");
    if (trusted != NULL && strcmp(trusted, "0") == 0)
      add_remark(remarks, "%s is not trusted: its errors may be too small (gpumc info)",
                 side->path);
  }
  if (seed == cli_number(config[1], "seed") && !sums->identical)
    add_remark(remarks,
               "both have seed %.0f: where they share random numbers they differ less than "
               "independent results would",
               seed);
  if ((double)sums->compared < sums->total / 2)
    add_remark(remarks, "little is compared: %zu of %.0f points", sums->compared, sums->total);
  if (sums->unknown > 0)
    add_remark(remarks, "at %zu point%s an error is unknown: %s not compared", sums->unknown,
               sums->unknown == 1 ? "" : "s", sums->unknown == 1 ? "it is" : "they are");
}

/* Adds the keys in which the configurations differ, a line each. */
static void add_differences(cJSON *json, const struct cli_comparison *comparison)
{
  cJSON *list = cJSON_AddArrayToObject(json, "configuration");
  char *text = gpumc_configuration_difference(comparison->side[0].result.resolved,
                                              comparison->side[1].result.resolved);
  char *rest = NULL;
  for (char *line = text != NULL ? strtok_r(text, "\n", &rest) : NULL; line != NULL;
       line = strtok_r(NULL, "\n", &rest))
    cJSON_AddItemToArray(list, cJSON_CreateString(line));
  free(text);
}

/* Sets the error that says why nothing can be compared. */
static void refuse_comparison(const struct cli_comparison *comparison, const struct sums *sums,
                              struct gpumc_error *error)
{
  const char *a = comparison->side[0].path, *b = comparison->side[1].path;
  if (sums->common == 0)
    (void)gpumc_error_set(error, GPUMC_INVALID,
                          "%s and %s have no quantity with errors in common at the same values of "
                          "a control",
                          a, b);
  else
    (void)gpumc_error_set(
        error, GPUMC_INVALID,
        "no point of %s and %s can be compared: of %zu that both have, an error is "
        "unknown at %zu, and %zu are exact and equal%s",
        a, b, sums->common, sums->unknown, sums->common - sums->unknown,
        sums->identical ? "; their values and errors are the same, bit for bit" : "");
}

/* Appends all quantities of both results to a list. `separate`: values at different controls are
 * independent. */
static void add_quantities(cJSON *list, const struct cli_comparison *comparison, bool separate,
                           struct sums *sums, struct gpumc_error *error)
{
  const struct gpumc_result *first = &comparison->side[0].result;
  for (size_t i = 0; i < first->n_datasets && error->status == GPUMC_OK; i++) {
    struct cli_quantity quantity;
    struct gpumc_comparison found;
    if (!cli_compare_quantity(comparison, &first->datasets[i], &quantity))
      continue;
    /* Points along a profile are from the same simulation. */
    const bool independent = separate && quantity.rank == 1 && comparison->group == NULL;
    cJSON *one = quantity_json(&quantity, independent, &found, error);
    if (one == NULL)
      continue;
    sums->identical = sums->identical && found.identical;
    sums->least = fmin(sums->least, found.chance);
    sums->n += found.points > 0;
    sums->compared += found.points;
    sums->common += (size_t)cli_number(one, "common");
    sums->total += cli_number(one, "total");
    sums->unknown += found.unknown;
    cJSON_AddItemToArray(list, one);
  }
}

cJSON *cli_compare_json(const struct cli_comparison *comparison, struct gpumc_error *error)
{
  cJSON *json = cJSON_CreateObject(), *list = cJSON_CreateArray();
  cJSON *config[2] = {cJSON_Parse(comparison->side[0].result.resolved),
                      cJSON_Parse(comparison->side[1].result.resolved)};
  struct sums sums = {.identical = true, .least = 1};
  add_quantities(list, comparison, is_independent(config[0]) && is_independent(config[1]), &sums,
                 error);
  const double p = fmin(1, sums.least * fmax(sums.n, 1));
  cJSON_AddStringToObject(json, "a", comparison->side[0].path);
  cJSON_AddStringToObject(json, "b", comparison->side[1].path);
  cJSON_AddNumberToObject(json, "alpha", comparison->alpha);
  cJSON_AddNumberToObject(json, "p", p);
  cJSON_AddBoolToObject(json, "compatible", p >= comparison->alpha);
  cJSON_AddBoolToObject(json, "identical", sums.identical);
  cJSON_AddNumberToObject(json, "compared", (double)sums.compared);
  add_missing(json, "only_a", comparison, true);
  add_missing(json, "only_b", comparison, false);
  add_remarks(json, comparison, config, &sums);
  add_differences(json, comparison);
  if (sums.compared == 0 && error->status == GPUMC_OK)
    refuse_comparison(comparison, &sums, error);
  cJSON_AddItemToObject(json, "quantities", list);
  cJSON_Delete(config[0]);
  cJSON_Delete(config[1]);
  if (error->status == GPUMC_OK)
    return json;
  cJSON_Delete(json);
  return NULL;
}
