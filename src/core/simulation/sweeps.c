/* Updates of spins as keys name them. */
#include "core/simulation/sweeps.h"

#include <string.h>

const char *const gpumc_update_choices[] = {"metropolis", "heat_bath", NULL};

enum gpumc_update gpumc_update_of(const struct gpumc_params *params)
{
  return strcmp(gpumc_params_string(params, "update"), "heat_bath") == 0 ? GPUMC_HEAT_BATH
                                                                         : GPUMC_METROPOLIS;
}

void gpumc_update_check_temperatures(const struct gpumc_params *params,
                                     const struct gpumc_subject *subject,
                                     struct gpumc_report *report)
{
  const bool values = gpumc_params_has(params, "beta.values");
  struct gpumc_list list = {0};
  if (values)
    list = gpumc_params_list(params, "beta.values");
  const double hottest = values ? gpumc_list_real(&list) : gpumc_params_real(params, "beta.from");
  if ((subject->model->traits & GPUMC_TRAIT_TWO_STATES) != 0 &&
      gpumc_update_of(params) == GPUMC_METROPOLIS && !(hottest > 0))
    gpumc_params_mistake(params, report, values ? "beta.values" : "beta.from",
                         "at beta = 0 Metropolis accepts every flip, so that a sweep turns all "
                         "spins over and the energy never changes: use update: heat_bath, or a "
                         "beta above 0");
}

uint32_t gpumc_update_further(const struct gpumc_params *params, const char **remedy)
{
  if (gpumc_update_of(params) == GPUMC_METROPOLIS)
    return 0;
  *remedy = "use algorithm.update: metropolis";
  return GPUMC_CAN_HEAT_BATH;
}

enum gpumc_status gpumc_update_ergodicity(const struct gpumc_params *params,
                                          const struct gpumc_model *model, const char **warning,
                                          struct gpumc_error *error)
{
  *warning = NULL;
  if (gpumc_update_of(params) != GPUMC_METROPOLIS || model->ops->ergodicity == NULL)
    return GPUMC_OK;
  return model->ops->ergodicity(model, (size_t)gpumc_params_integer(params, "samples"), warning,
                                error);
}
