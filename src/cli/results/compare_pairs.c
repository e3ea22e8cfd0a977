/* gpumc compare: which quantities two results have in common, and at which points. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/results/compare.h"
#include "core/base/memory.h"
#include "core/base/text.h"

/* Values of a control that differ by this share, of themselves or of the span of their axis, are
 * the same. */
static const double same_control = 1e-9;

/* ---- quantities ---- */

/* Whether the dataset is in the group, NULL being the summary itself. */
static bool is_in_group(const struct gpumc_result_dataset *dataset, const char *group)
{
  const size_t length = gpumc_result_group_length(dataset->name);
  if (length == 0)
    return group == NULL;
  return group != NULL && strlen(group) + 1 == length &&
         strncmp(group, dataset->name, length - 1) == 0;
}

bool cli_compare_has_errors(const struct gpumc_result *result,
                            const struct gpumc_result_dataset *dataset, const char *group)
{
  return is_in_group(dataset, group) && !gpumc_result_is_error(dataset->name) &&
         gpumc_result_errors(result, dataset) != NULL;
}

/* Returns the name of a dataset below the summary: "energy" of "summary/energy", with or without
 * a slash before it. */
static const char *name_in_summary(const char *path)
{
  static const char summary[] = "summary/";
  path += path[0] == '/';
  return strncmp(path, summary, strlen(summary)) == 0 ? path + strlen(summary) : path;
}

/* Returns the axis of one dimension of a dataset; NULL: it has none. */
static const struct gpumc_result_dataset *
axis_of(const struct cli_side *side, const struct gpumc_result_dataset *dataset, size_t dimension)
{
  for (size_t t = 0; t < side->tables.n; t++) {
    const struct gpumc_result_table *table = &side->tables.items[t];
    for (size_t c = 0; c < table->n_columns && dimension < table->rank; c++)
      if (strcmp(name_in_summary(table->columns[c].path), dataset->name) == 0) {
        const char *axis = table->axes[dimension].path;
        return axis != NULL ? gpumc_result_dataset(&side->result, name_in_summary(axis)) : NULL;
      }
  }
  return NULL;
}

bool cli_compare_quantity(const struct cli_comparison *comparison,
                          const struct gpumc_result_dataset *dataset, struct cli_quantity *quantity)
{
  *quantity = (struct cli_quantity){.rank = dataset->rank};
  for (size_t i = 0; i < 2; i++) {
    const struct cli_side *side = &comparison->side[i];
    const struct gpumc_result_dataset *value =
        i == 0 ? dataset : gpumc_result_dataset(&side->result, dataset->name);
    if (value == NULL || value->rank != dataset->rank ||
        !cli_compare_has_errors(&side->result, value, comparison->group))
      return false;
    quantity->value[i] = value;
    quantity->errors[i] = gpumc_result_errors(&side->result, value);
    for (size_t d = 0; d < dataset->rank; d++) {
      quantity->axis[i][d] = axis_of(side, value, d);
      if (quantity->axis[i][d] == NULL ||
          strcmp(quantity->axis[i][d]->name, quantity->axis[0][d]->name) != 0)
        return false;
    }
  }
  return true;
}

/* ---- points ---- */

/* The places along one dimension that both results have: at[side][n]. */
struct match {
  size_t n;
  size_t *at[2];
};

static void match_free(struct match *match)
{
  for (size_t i = 0; i < 2; i++)
    free(match->at[i]);
  memset(match, 0, sizeof *match);
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
static void match_axes(const struct gpumc_result_dataset *one,
                       const struct gpumc_result_dataset *other, struct match *match)
{
  const double span = fmax(span_of(one), span_of(other));
  size_t i = 0, k = 0;
  while (i < one->shape[0] && k < other->shape[0]) {
    if (is_same_control(one->values[i], other->values[k], span)) {
      match->at[0][match->n] = i++;
      match->at[1][match->n++] = k++;
    } else if (one->values[i] < other->values[k])
      i++;
    else
      k++;
  }
}

/* Matches one dimension; beyond the rank there is one place. */
static enum gpumc_status match_dimension(const struct cli_quantity *quantity, size_t d,
                                         struct match *match, struct gpumc_error *error)
{
  for (size_t i = 0; i < 2; i++)
    GPUMC_TRY(
        gpumc_allocate_array(&match->at[i], quantity->value[0]->shape[d], "common points", error));
  if (d < quantity->rank)
    match_axes(quantity->axis[0][d], quantity->axis[1][d], match);
  else
    match->n = 1; /* place 0 of both */
  return GPUMC_OK;
}

/* Copies the points at the matched places. */
static void fill(const struct cli_quantity *quantity, const struct match match[CLI_AXES],
                 struct cli_points *points)
{
  for (size_t p = 0; p < points->n; p++) {
    const size_t place[CLI_AXES] = {p / match[1].n, p % match[1].n};
    size_t at[2];
    for (size_t i = 0; i < 2; i++)
      at[i] = match[0].at[i][place[0]] * quantity->value[i]->shape[1] + match[1].at[i][place[1]];
    points->a[p] = quantity->value[0]->values[at[0]];
    points->a_error[p] = quantity->errors[0]->values[at[0]];
    points->b[p] = quantity->value[1]->values[at[1]];
    points->b_error[p] = quantity->errors[1]->values[at[1]];
    for (size_t d = 0; d < quantity->rank; d++)
      points->control[d][p] = quantity->axis[0][d]->values[match[d].at[0][place[d]]];
  }
}

enum gpumc_status cli_compare_points(const struct cli_quantity *quantity, struct cli_points *points,
                                     struct gpumc_error *error)
{
  struct match match[CLI_AXES] = {0};
  enum gpumc_status status = GPUMC_OK;
  double **const columns[] = {&points->a, &points->a_error, &points->b, &points->b_error};
  memset(points, 0, sizeof *points);
  points->total = 1;
  for (size_t d = 0; d < CLI_AXES; d++) {
    points->total *=
        fmin((double)quantity->value[0]->shape[d], (double)quantity->value[1]->shape[d]);
    GPUMC_TRY_OUT(status, match_dimension(quantity, d, &match[d], error));
  }
  points->n = match[0].n * match[1].n;
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
    GPUMC_TRY_OUT(status, gpumc_allocate_array(columns[c], points->n, "common points", error));
  for (size_t d = 0; d < quantity->rank; d++)
    GPUMC_TRY_OUT(status,
                  gpumc_allocate_array(&points->control[d], points->n, "common points", error));
  fill(quantity, match, points);
out:
  for (size_t d = 0; d < CLI_AXES; d++)
    match_free(&match[d]);
  return status;
}

void cli_compare_points_free(struct cli_points *points)
{
  free(points->a);
  free(points->a_error);
  free(points->b);
  free(points->b_error);
  for (size_t d = 0; d < CLI_AXES; d++)
    free(points->control[d]);
  memset(points, 0, sizeof *points);
}

/* ---- groups of the summary ---- */

/* The bytes of the group, with the slash, of a dataset that can be compared; 0: it cannot, or is in
 * no group. */
static size_t comparable_group(const struct gpumc_result *result, size_t d)
{
  const struct gpumc_result_dataset *dataset = &result->datasets[d];
  return gpumc_result_errors(result, dataset) != NULL ? gpumc_result_group_length(dataset->name)
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

static bool has_group(const struct gpumc_result *result, const char *group)
{
  for (size_t d = 0; d < result->n_datasets; d++)
    if (is_in_group(&result->datasets[d], group))
      return true;
  return false;
}

enum gpumc_status
cli_compare_check_group(const struct cli_comparison *comparison, struct gpumc_error *error)
{
  for (size_t i = 0; i < 2 && comparison->group != NULL; i++) {
    const struct cli_side *side = &comparison->side[i];
    struct gpumc_text groups = {0};
    if (has_group(&side->result, comparison->group))
      continue;
    append_groups(&side->result, &groups);
    (void)gpumc_error_set(
        error, GPUMC_INVALID, "--group: the summary of %s has no group '%s'; %s%s", side->path,
        comparison->group, groups.length > 0 ? "it has " : "it has none that can be compared",
        gpumc_text_string(&groups));
    gpumc_text_free(&groups);
    return error->status;
  }
  return GPUMC_OK;
}
