/* What a run would need of a GPU that is not here: a login node plans for the card of a batch job.
 */
#ifndef GPUMC_CLI_PLAN_GPU_H
#define GPUMC_CLI_PLAN_GPU_H

#include <cjson/cJSON.h>

#include "core/run/prepare.h"

struct cli_plan_gpu {
  char name[32]; /* "H200", or "80 GiB" */
  double bytes;  /* of its memory */
};

/* From the name of a known card or a size of memory, "80 GiB". GPUMC_INVALID, with the cards that
 * are known, for anything else. */
GPUMC_MUST_CHECK enum gpumc_status
cli_plan_gpu_find(const char *text, struct cli_plan_gpu *gpu, struct gpumc_error *error);
/* Whether the memory that gpumc_prepare_absent found is there. */
bool cli_plan_gpu_fits(const struct cli_plan_gpu *gpu, const struct gpumc_preparation *preparation);
/* The least time that the sweeps take, at the highest rate measured with this card, kernel and kind
 * of model; 0: not measured. */
double
cli_plan_gpu_seconds(const struct cli_plan_gpu *gpu, const struct gpumc_preparation *preparation);
/* "at least 3 min", for 0 "unknown", into `text`, which it returns. */
const char *cli_plan_gpu_time(double seconds, char text[static 64]);
/* The row of the card, `needed` bytes being those of the task that needs most; that of the time, of
 * all tasks (0: unknown); and both in JSON. */
void cli_plan_gpu_print(const struct cli_plan_gpu *gpu, double needed);
void cli_plan_gpu_print_time(double seconds);
void cli_plan_gpu_json(const struct cli_plan_gpu *gpu, const struct gpumc_preparation *preparation,
                       cJSON *json);

#endif
