/* gpumc compare: whether two results agree within their errors, quantity by quantity. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/results/compare.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/run/language.h"
#include "core/simulation/registry.h"
#include "core/statistics/comparison.h"
#include "core/statistics/significance.h"
#include "core/storage/result_info.h"

enum { OPTION_ALPHA = CLI_OPTION_OWN, OPTION_GROUP };

/* As diff has it: trouble is neither yes nor no. */
enum { COMPATIBLE = 0, DIFFERENT = 1, TROUBLE = 2 };

/* Values of a control that differ by this share, of themselves or of the span of their axis, are
 * the same. */
static const double same_control = 1e-9;

struct compare_arguments {
  const char *command;
  const char *path[2];
  int n_paths;
  double alpha;
  const char *group;
  bool points, temperature, json;
};

static const struct argp_option options[] = {
    {"alpha", OPTION_ALPHA, "P", 0,
     "Call results different where all differences together are less probable than P; 0.01 by "
     "default",
     0},
    {"group", OPTION_GROUP, "NAME", 0,
     "Compare the curves of a group of the summary, such as reweighted", 0},
    {"points", 'p', NULL, 0, "All points of all curves, not the worst of each alone", 0},
    {"temperature", 'T', NULL, 0, "Temperatures in place of inverse temperatures", 0},
    {"json", CLI_OPTION_JSON, NULL, 0, "Everything as JSON", 0},
    {0}};

static double probability(const char *command, const char *text)
{
  char *end;
  const double value = strtod(text, &end);
  if (end == text || *end != '\0' || !(value > 0 && value < 1))
    cli_usage_error(command, "--alpha: expected a number between 0 and 1, not '%s'", text);
  return value;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
  struct compare_arguments *arguments = state->input;
  switch (key) {
  case OPTION_ALPHA:
    arguments->alpha = probability(arguments->command, argument);
    return 0;
  case OPTION_GROUP:
    arguments->group = argument;
    return 0;
  case 'p':
    arguments->points = true;
    return 0;
  case 'T':
    arguments->temperature = true;
    return 0;
  case CLI_OPTION_JSON:
    arguments->json = true;
    return 0;
  case ARGP_KEY_ARG:
    if (arguments->n_paths == 2)
      cli_usage_error(arguments->command, "two results are compared; '%s' is a third", argument);
    arguments->path[arguments->n_paths++] = argument;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

const struct argp cli_compare_argp = {
    options,
    parse_option,
    "A B",
    "Compare two results: of every quantity that both have, at the values of the control that both "
    "have, the difference in error bars, and the probability of such differences by chance.\v"
    "Examples:\n"
    "  gpumc compare cpu.h5 gpu.h5\n"
    "  gpumc compare old.h5 new.h5 --points -T\n"
    "  gpumc compare pa.h5 pt.h5 --json | jq .compatible\n\n"
    "Exit codes: 0 compatible; 1 not; 2 no comparison (usage, files, no point to compare, "
    "output).\n"
    "docs/statistics.md#comparing says what the probabilities assume.",
    NULL,
    NULL,
    NULL};

/* ---- what both have ---- */

/* Points that both have: their places in each, and room for what is compared there. */
struct common {
  size_t n;
  size_t *at[2];
  double *values[4]; /* a, error of a, b, error of b */
  double *control;   /* NULL: a single number */
};

static void common_free(struct common *common)
{
  for (size_t i = 0; i < 2; i++)
    free(common->at[i]);
  for (size_t i = 0; i < 4; i++)
    free(common->values[i]);
  free(common->control);
  memset(common, 0, sizeof *common);
}

/* The span of an axis that ascends; 0 of one that is not finite. */
static double span_of(const struct gpumc_result_dataset *axis)
{
  const size_t n = axis->shape[0];
  const double span = n > 0 ? fabs(axis->values[n - 1] - axis->values[0]) : 0;
  return isfinite(span) ? span : 0;
}

/* `span`: of the axes, which makes rounding errors of a value near 0 small. */
static bool is_same_control(double one, double other, double span)
{
  return fabs(one - other) <= same_control * fmax(span, fmax(fabs(one), fabs(other)));
}

/* Both axes ascend. */
static void match(const struct gpumc_result_dataset *const axis[2], struct common *common)
{
  const double span = fmax(span_of(axis[0]), span_of(axis[1]));
  size_t i = 0, k = 0;
  while (i < axis[0]->shape[0] && k < axis[1]->shape[0]) {
    const double one = axis[0]->values[i], other = axis[1]->values[k];
    if (is_same_control(one, other, span)) {
      common->control[common->n] = one;
      common->at[0][common->n] = i++;
      common->at[1][common->n++] = k++;
    } else if (one < other)
      i++;
    else
      k++;
  }
}

/* A quantity of both results, with errors, and over axes of one name or as a single number. */
struct quantity {
  const struct gpumc_result_dataset *value[2], *errors[2], *axis[2];
};

/* Whether the dataset is a value of the group, NULL being the summary itself, of at most one axis.
 */
static bool is_of_group(const struct gpumc_result_dataset *dataset, const char *group)
{
  const size_t length = gpumc_result_group_length(dataset->name);
  if (gpumc_result_is_error(dataset->name) || dataset->rank > 1)
    return false;
  return length == 0 ? group == NULL
                     : group != NULL && strlen(group) + 1 == length &&
                           strncmp(group, dataset->name, length - 1) == 0;
}

/* Whether it is one. */
static bool find_quantity(const struct gpumc_result results[2],
                          const struct gpumc_result_dataset *dataset, const char *group,
                          struct quantity *quantity)
{
  if (!is_of_group(dataset, group))
    return false;
  for (size_t i = 0; i < 2; i++) {
    quantity->value[i] = i == 0 ? dataset : gpumc_result_dataset(&results[1], dataset->name);
    if (quantity->value[i] == NULL || quantity->value[i]->rank != dataset->rank)
      return false;
    quantity->errors[i] = gpumc_result_errors(&results[i], quantity->value[i]);
    quantity->axis[i] = gpumc_result_axis(&results[i], quantity->value[i]);
    if (quantity->errors[i] == NULL || (dataset->rank == 1 && quantity->axis[i] == NULL))
      return false;
  }
  return dataset->rank == 0 || strcmp(quantity->axis[0]->name, quantity->axis[1]->name) == 0;
}

static enum gpumc_status
make_common(const struct quantity *quantity, struct common *common, struct gpumc_error *error)
{
  const bool curve = quantity->value[0]->rank == 1;
  const size_t room = quantity->value[0]->shape[0];
  for (size_t i = 0; i < 2; i++)
    GPUMC_TRY(gpumc_allocate_array(&common->at[i], room, "points in common", error));
  for (size_t i = 0; i < 4; i++)
    GPUMC_TRY(gpumc_allocate_array(&common->values[i], room, "points in common", error));
  if (curve) {
    GPUMC_TRY(gpumc_allocate_array(&common->control, room, "points in common", error));
    match(quantity->axis, common);
  } else
    common->n = 1;
  for (size_t p = 0; p < common->n; p++)
    for (size_t i = 0; i < 2; i++) {
      const size_t at = curve ? common->at[i][p] : 0;
      common->values[2 * i][p] = quantity->value[i]->values[at];
      common->values[2 * i + 1][p] = quantity->errors[i]->values[at];
    }
  return GPUMC_OK;
}

/* ---- groups of the summary ---- */

/* The bytes of the group, with the slash, of a dataset that can be compared; 0: it cannot, or is in
 * no group. */
static size_t comparable_group(const struct gpumc_result *result, size_t d)
{
  const struct gpumc_result_dataset *dataset = &result->datasets[d];
  return dataset->rank <= 1 && gpumc_result_errors(result, dataset) != NULL
             ? gpumc_result_group_length(dataset->name)
             : 0;
}

/* "reweighted, overlap_distribution": the groups of a result that can be compared, each once. */
static void append_groups(const struct gpumc_result *result, struct gpumc_text *text)
{
  for (size_t i = 0; i < result->n_datasets; i++) {
    const char *name = result->datasets[i].name;
    const size_t length = comparable_group(result, i);
    bool known = length == 0;
    for (size_t k = 0; k < i && !known; k++)
      known = comparable_group(result, k) == length &&
              strncmp(result->datasets[k].name, name, length) == 0;
    if (!known)
      gpumc_text_append(text, "%s%.*s", text->length > 0 ? ", " : "", (int)length - 1, name);
  }
}

/* Whether both results have the group, if one is wanted. */
static enum gpumc_status check_group(const struct compare_arguments *arguments,
                                     const struct gpumc_result results[2],
                                     struct gpumc_error *error)
{
  for (size_t i = 0; i < 2 && arguments->group != NULL; i++) {
    const size_t length = strlen(arguments->group);
    struct gpumc_text groups = {0};
    bool found = false;
    for (size_t d = 0; d < results[i].n_datasets && !found; d++)
      found = gpumc_result_group_length(results[i].datasets[d].name) == length + 1 &&
              strncmp(results[i].datasets[d].name, arguments->group, length) == 0;
    if (found)
      continue;
    append_groups(&results[i], &groups);
    (void)gpumc_error_set(error, GPUMC_INVALID,
                          "--group: the summary of %s has no group '%s'; %s%s", arguments->path[i],
                          arguments->group,
                          groups.length > 0 ? "it has " : "it has none that can be compared",
                          gpumc_text_string(&groups));
    gpumc_text_free(&groups);
    return error->status;
  }
  return GPUMC_OK;
}

/* ---- the comparison as JSON ---- */

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

/* Of the shorter of the two curves; 1 of a single number. */
static double total_points(const struct quantity *quantity)
{
  return quantity->axis[0] == NULL
             ? 1
             : fmin((double)quantity->value[0]->shape[0], (double)quantity->value[1]->shape[0]);
}

/* NULL where there is no point in common, or, with `error` set, when memory ran out. */
static cJSON *quantity_json(const struct quantity *quantity, bool independent,
                            struct gpumc_comparison *found, struct gpumc_error *error)
{
  struct common common = {0};
  cJSON *json = NULL;
  memset(found, 0, sizeof *found);
  if (make_common(quantity, &common, error) != GPUMC_OK || common.n == 0)
    goto out;
  const struct gpumc_curve_pair pair = {common.n,         common.values[0], common.values[1],
                                        common.values[2], common.values[3], independent};
  *found = gpumc_compare_curves(&pair);
  json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "name", quantity->value[0]->name);
  cJSON_AddStringToObject(json, "long_name", quantity->value[0]->long_name);
  cJSON_AddStringToObject(json, "units", quantity->value[0]->units);
  if (quantity->axis[0] != NULL)
    cJSON_AddStringToObject(
        json, "axis", quantity->axis[0]->name + gpumc_result_group_length(quantity->axis[0]->name));
  cJSON_AddBoolToObject(json, "independent", independent);
  cJSON_AddBoolToObject(json, "identical", found->identical);
  cJSON_AddNumberToObject(json, "total", total_points(quantity));
  cJSON_AddNumberToObject(json, "common", (double)common.n);
  cJSON_AddNumberToObject(json, "points", (double)found->points);
  cJSON_AddNumberToObject(json, "unknown", (double)found->unknown);
  cJSON_AddNumberToObject(json, "chi_square", found->chi_square);
  cJSON_AddNumberToObject(json, "p", found->chance);
  if (found->points > 0)
    cJSON_AddNumberToObject(json, "worst", (double)found->worst);
  if (common.control != NULL)
    add_numbers(json, "control", common.control, common.n);
  add_numbers(json, "a", common.values[0], common.n);
  add_numbers(json, "a_error", common.values[1], common.n);
  add_numbers(json, "b", common.values[2], common.n);
  add_numbers(json, "b_error", common.values[3], common.n);
  double *difference = common.values[0];
  for (size_t p = 0; p < common.n; p++)
    difference[p] = gpumc_difference_in_errors(common.values[0][p], common.values[1][p],
                                               common.values[2][p], common.values[3][p]);
  add_numbers(json, "difference", difference, common.n);
out:
  common_free(&common);
  return json;
}

static const cJSON *block_of(const cJSON *config, const char *name)
{
  return cJSON_GetObjectItemCaseSensitive(config, name);
}

/* Whether values at different controls are from simulations of their own: of each result by what
 * its algorithm says, unless they have disorder samples in common. */
static bool is_independent(const cJSON *config)
{
  const cJSON *algorithm = block_of(config, "algorithm");
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

/* The quantities with errors that `one` has and `other` lacks, as a list `name`. */
static void add_missing(cJSON *json, const char *name, const char *group,
                        const struct gpumc_result *one, const struct gpumc_result *other)
{
  cJSON *list = cJSON_AddArrayToObject(json, name);
  for (size_t i = 0; i < one->n_datasets; i++) {
    const struct gpumc_result_dataset *dataset = &one->datasets[i];
    if (is_of_group(dataset, group) && gpumc_result_errors(one, dataset) != NULL &&
        gpumc_result_dataset(other, dataset->name) == NULL)
      cJSON_AddItemToArray(list, cJSON_CreateString(dataset->name));
  }
}

/* What is to be known of the pair beside its numbers; of `total` points `compared` are, and
 * `unknown` have no error. */
static void add_remarks(cJSON *json, const struct compare_arguments *arguments,
                        const struct gpumc_result results[2], cJSON *const config[2], double total,
                        size_t compared, size_t unknown)
{
  cJSON *remarks = cJSON_AddArrayToObject(json, "remarks");
  const double seed = cli_number(config[0], "seed");
  for (size_t i = 0; i < 2; i++) {
    const char *trusted = gpumc_result_field(&results[i].summary, "trusted");
    if (trusted != NULL && strcmp(trusted, "0") == 0)
      add_remark(remarks, "%s is not trusted: its errors may be too small (gpumc info)",
                 arguments->path[i]);
  }
  if (seed == cli_number(config[1], "seed") && !cli_true(json, "identical"))
    add_remark(remarks,
               "both have seed %.0f: where they share random numbers they differ less than "
               "independent results would",
               seed);
  if ((double)compared < total / 2)
    add_remark(remarks, "little is compared: %zu of %.0f points", compared, total);
  if (unknown > 0)
    add_remark(remarks, "at %zu point%s an error is unknown: %s not compared", unknown,
               unknown == 1 ? "" : "s", unknown == 1 ? "it is" : "they are");
}

/* The lines of two configurations that differ, without those that decide no number. */
static void add_differences(cJSON *json, const struct gpumc_result results[2])
{
  static const char *const idle[] = {"output:",        "title:",      "checkpoint.",
                                     "kernel.device:", "kernel.isa:", "kernel.block_threads:"};
  cJSON *list = cJSON_AddArrayToObject(json, "configuration");
  char *text = gpumc_identity_difference(results[0].resolved, results[1].resolved);
  for (char *line = text; line != NULL && *line != '\0';) {
    char *end = strchrnul(line, '\n');
    const bool last = *end == '\0';
    bool matters = true;
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
      matters = matters && strncmp(line, idle[i], strlen(idle[i])) != 0;
    *end = '\0';
    if (matters)
      cJSON_AddItemToArray(list, cJSON_CreateString(line));
    line = last ? end : end + 1;
  }
  free(text);
}

/* Why nothing can be compared, of `common` points that both have. */
static void refuse_comparison(const struct compare_arguments *arguments, size_t common,
                              size_t unknown, bool identical, struct gpumc_error *error)
{
  const char *const *path = arguments->path;
  if (common == 0)
    (void)gpumc_error_set(error, GPUMC_INVALID,
                          "%s and %s have no quantity with errors in common at the same values of "
                          "a control",
                          path[0], path[1]);
  else
    (void)gpumc_error_set(
        error, GPUMC_INVALID,
        "no point of %s and %s can be compared: of %zu that both have, an error is "
        "unknown at %zu, and %zu are exact and equal%s",
        path[0], path[1], common, unknown, common - unknown,
        identical ? "; their values and errors are the same, bit for bit" : "");
}

/* NULL, with `error` set, where nothing can be compared. */
static cJSON *comparison_json(const struct compare_arguments *arguments,
                              const struct gpumc_result results[2], struct gpumc_error *error)
{
  cJSON *json = cJSON_CreateObject(), *list = cJSON_CreateArray();
  cJSON *config[2] = {cJSON_Parse(results[0].resolved), cJSON_Parse(results[1].resolved)};
  const bool separate = is_independent(config[0]) && is_independent(config[1]);
  bool identical = true;
  double least = 1, n_quantities = 0, total = 0;
  size_t compared = 0, common = 0, unknown = 0;
  for (size_t i = 0; i < results[0].n_datasets && error->status == GPUMC_OK; i++) {
    struct quantity quantity = {0};
    struct gpumc_comparison found;
    if (!find_quantity(results, &results[0].datasets[i], arguments->group, &quantity))
      continue;
    const bool curve = quantity.axis[0] != NULL;
    cJSON *one =
        quantity_json(&quantity, curve && separate && arguments->group == NULL, &found, error);
    if (one == NULL)
      continue;
    identical = identical && found.identical;
    least = fmin(least, found.chance);
    n_quantities += found.points > 0;
    compared += found.points;
    common += (size_t)cli_number(one, "common");
    total += cli_number(one, "total");
    unknown += found.unknown;
    cJSON_AddItemToArray(list, one);
  }
  const double p = fmin(1, least * fmax(n_quantities, 1));
  cJSON_AddStringToObject(json, "a", arguments->path[0]);
  cJSON_AddStringToObject(json, "b", arguments->path[1]);
  cJSON_AddNumberToObject(json, "alpha", arguments->alpha);
  cJSON_AddNumberToObject(json, "p", p);
  cJSON_AddBoolToObject(json, "compatible", p >= arguments->alpha);
  cJSON_AddBoolToObject(json, "identical", identical);
  cJSON_AddNumberToObject(json, "compared", (double)compared);
  add_missing(json, "only_a", arguments->group, &results[0], &results[1]);
  add_missing(json, "only_b", arguments->group, &results[1], &results[0]);
  add_remarks(json, arguments, results, config, total, compared, unknown);
  add_differences(json, results);
  if (compared == 0 && error->status == GPUMC_OK)
    refuse_comparison(arguments, common, unknown, identical, error);
  cJSON_AddItemToObject(json, "quantities", list);
  cJSON_Delete(config[0]);
  cJSON_Delete(config[1]);
  if (error->status == GPUMC_OK)
    return json;
  cJSON_Delete(json);
  return NULL;
}

/* ---- the command ---- */

static enum gpumc_status
read_result(const char *path, struct gpumc_result *result, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_result_read(path, result, error));
  return result->n_datasets > 0
             ? GPUMC_OK
             : gpumc_error_set(error, GPUMC_INVALID,
                               "%s has no summary yet: the run is not finished", path);
}

int cli_compare(int argc, char **argv)
{
  struct compare_arguments arguments = {.command = argv[0], .alpha = GPUMC_FALSE_ALARMS};
  struct gpumc_result results[2] = {0};
  struct gpumc_error error = {0};
  enum gpumc_status status = GPUMC_OK;
  cJSON *json = NULL;
  int code = TROUBLE;
  cli_parse(&cli_compare_argp, argc, argv, &arguments);
  if (arguments.n_paths < 2)
    cli_usage_error(argv[0], "two results are compared");
  for (size_t i = 0; i < 2; i++)
    GPUMC_TRY_OUT(status, read_result(arguments.path[i], &results[i], &error));
  GPUMC_TRY_OUT(status, check_group(&arguments, results, &error));
  json = comparison_json(&arguments, results, &error);
  if (json == NULL)
    goto out;
  code = cli_true(json, "compatible") ? COMPATIBLE : DIFFERENT;
  if (!arguments.json)
    cli_compare_print(json, arguments.points, arguments.temperature);
  else if (cli_print_json(json) != GPUMC_OK)
    code = TROUBLE;
  if (!arguments.json)
    cJSON_Delete(json);
  /* That it could not be said is no difference; main.c says so. */
  if (fflush(stdout) != 0 || ferror(stdout))
    code = TROUBLE;
out:
  if (error.status != GPUMC_OK) {
    (void)cli_fail(&error);
    code = TROUBLE;
  }
  for (size_t i = 0; i < 2; i++)
    gpumc_result_free(&results[i]);
  return code;
}
