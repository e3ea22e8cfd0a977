/* Updates of spins as keys name them. */
#include "core/sweeps.h"

#include <string.h>

const char *const gpumc_update_choices[] = {"metropolis", "heat_bath", NULL};

enum gpumc_update gpumc_update_of(const struct gpumc_params *params)
{
  return strcmp(gpumc_params_string(params, "update"), "heat_bath") == 0 ? GPUMC_HEAT_BATH
                                                                         : GPUMC_METROPOLIS;
}

enum gpumc_status gpumc_update_check(enum gpumc_update update,
                                     const struct gpumc_kernel_ops *kernel, const char *model,
                                     struct gpumc_error *error)
{
  if (update == GPUMC_METROPOLIS || (kernel->capabilities & GPUMC_CAN_HEAT_BATH) != 0)
    return GPUMC_OK;
  return gpumc_error_set(error, GPUMC_INVALID,
                         "kernel %s of model %s on %s has no heat-bath updates; use "
                         "algorithm.update: metropolis, or another kernel.variant",
                         kernel->variant, model, kernel->device);
}
