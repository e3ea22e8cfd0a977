/* Moves of kernels as keys name them. */
#include "core/simulation/sweeps.h"

#include <string.h>

const char *const gpumc_update_choices[] = {NULL};

const char *gpumc_update_name(const struct gpumc_params *params)
{
  return gpumc_params_has(params, "update") ? gpumc_params_string(params, "update") : NULL;
}

const struct gpumc_move *gpumc_kernel_move(const struct gpumc_kernel_ops *kernel, const char *name)
{
  for (size_t i = 0; i < kernel->n_moves; i++)
    if (name == NULL || strcmp(kernel->moves[i].name, name) == 0)
      return &kernel->moves[i];
  return NULL;
}

/* Of any kernel: those of one model mean the same by a name. */
static const struct gpumc_move *find_move(const struct gpumc_model_ops *model, const char *name)
{
  const struct gpumc_move *move = NULL;
  for (size_t k = 0; model->kernels[k] != NULL && move == NULL; k++)
    move = gpumc_kernel_move(model->kernels[k], name);
  return move;
}

void gpumc_update_check_temperatures(const struct gpumc_params *params,
                                     const struct gpumc_subject *subject,
                                     struct gpumc_report *report)
{
  const bool values = gpumc_params_has(params, "beta.values");
  const struct gpumc_move *move = find_move(subject->model, gpumc_update_name(params));
  struct gpumc_list list = {0};
  if (values)
    list = gpumc_params_list(params, "beta.values");
  const double hottest = values ? gpumc_list_real(&list) : gpumc_params_real(params, "beta.from");
  if (move != NULL && move->at_zero != NULL && !(hottest > 0))
    gpumc_params_mistake(params, report, values ? "beta.values" : "beta.from", "%s", move->at_zero);
}
