/* Inside gpumc compare. */
#ifndef GPUMC_CLI_RESULTS_COMPARE_H
#define GPUMC_CLI_RESULTS_COMPARE_H

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Prints the comparison: of each quantity the worst point, with `points` all of them;
 * `temperature`: temperatures in place of inverse temperatures. */
void cli_compare_print(const cJSON *json, bool points, bool temperature);

#endif
