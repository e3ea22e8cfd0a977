/* Inside gpumc compare: two results, the points that both have, the comparison as JSON and as
 * text. */
#ifndef GPUMC_CLI_RESULTS_COMPARE_H
#define GPUMC_CLI_RESULTS_COMPARE_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/storage/result_info.h"
#include "core/storage/result_tables.h"

/* One of the two results; `tables` says which axes a dataset has. */
struct cli_side {
  const char *path;
  struct gpumc_result result;
  struct gpumc_result_tables tables;
};

/* `group`: of the summary; NULL: the summary itself. Results are called different where all
 * differences together are less probable than `alpha`. */
struct cli_comparison {
  struct cli_side side[2];
  const char *group;
  double alpha;
};

/* ---- compare_pairs.c ---- */

enum { CLI_AXES = 2 };

/* A quantity of both results, with errors: a single number (rank 0), a curve over a control or an
 * axis of its own (1), or a profile, a curve for each value of a control (2). axis[side][d]. */
struct cli_quantity {
  size_t rank;
  const struct gpumc_result_dataset *value[2], *errors[2], *axis[2][CLI_AXES];
};

/* The `n` points that both results have, row by row: control[d][n], NULL beyond the rank. `total`:
 * those of the smaller of both. */
struct cli_points {
  size_t n;
  double total;
  double *a, *a_error, *b, *b_error;
  double *control[CLI_AXES];
};

/* Whether the dataset is a value, with errors, of the group that is compared. */
bool cli_compare_has_errors(const struct gpumc_result *result,
                            const struct gpumc_result_dataset *dataset, const char *group);
/* Whether the dataset, of the first result, is a quantity of both over axes of the same names. */
bool cli_compare_quantity(const struct cli_comparison *comparison,
                          const struct gpumc_result_dataset *dataset,
                          struct cli_quantity *quantity);
/* The points are freed by cli_compare_points_free, after a failure too. */
GPUMC_MUST_CHECK enum gpumc_status cli_compare_points(const struct cli_quantity *quantity,
                                                      struct cli_points *points,
                                                      struct gpumc_error *error);
void cli_compare_points_free(struct cli_points *points);
/* Refuses a group that one of the results lacks, naming those that it has. */
GPUMC_MUST_CHECK enum gpumc_status cli_compare_check_group(const struct cli_comparison *comparison,
                                                           struct gpumc_error *error);

/* ---- compare_json.c ---- */

/* Returns the whole comparison; NULL, with `error` set, where nothing can be compared. */
cJSON *cli_compare_json(const struct cli_comparison *comparison, struct gpumc_error *error);

/* ---- compare_print.c ---- */

/* Prints the comparison: of each quantity the worst point, with `points` all of them;
 * `temperature`: temperatures in place of inverse temperatures. */
void cli_compare_print(const cJSON *json, bool points, bool temperature);

#endif
