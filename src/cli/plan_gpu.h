/* What a run would need of a GPU that is not here: a login node plans for the card of a batch job.
 */
#ifndef GPUMC_CLI_PLAN_GPU_H
#define GPUMC_CLI_PLAN_GPU_H

#include "core/prepare.h"

struct cli_plan_gpu {
  char name[32]; /* "H200", or "80 GiB" */
  double bytes;  /* of its memory */
  double cores; /* of a processor whose sweeps are as fast as those of the whole card; 0: unknown */
};

/* From the name of a known card or a size of memory, "80 GiB". GPUMC_INVALID, with the cards that
 * are known, for anything else. */
GPUMC_MUST_CHECK enum gpumc_status
cli_plan_gpu_find(const char *text, struct cli_plan_gpu *gpu, struct gpumc_error *error);
/* Device memory, about: a bit a spin of each replica, the disorder left aside, and work arrays. */
double cli_plan_gpu_needs(const struct gpumc_preparation *preparation);
/* The least time that the sweeps take, those of a card that is full; 0: unknown. */
double
cli_plan_gpu_seconds(const struct cli_plan_gpu *gpu, const struct gpumc_preparation *preparation);

#endif
