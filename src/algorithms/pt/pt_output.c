/* Parallel tempering: datasets of the result. */
#include "algorithms/pt/pt_output.h"

enum gpumc_status pt_write(struct pt *pt, const char *group, struct gpumc_label label,
                           const size_t shape[2], const char *const axes[2], const double *values,
                           struct gpumc_error *error)
{
  const struct gpumc_dataset dataset = {.group = group,
                                        .label = label,
                                        .rank = shape[1] > 0 ? 2 : 1,
                                        .shape = {shape[0], shape[1]},
                                        .axes = {axes[0], axes[1]},
                                        .values = values};
  return gpumc_recorder_dataset(pt->context.recorder, &dataset, error);
}

enum gpumc_status pt_write_integers(struct pt *pt, const char *group, struct gpumc_label label,
                                    size_t count, const char *axis, const double *values,
                                    struct gpumc_error *error)
{
  const struct gpumc_dataset dataset = {.group = group,
                                        .label = label,
                                        .rank = 1,
                                        .shape = {count},
                                        .axes = {axis},
                                        .integer = true,
                                        .values = values};
  return gpumc_recorder_dataset(pt->context.recorder, &dataset, error);
}

enum gpumc_status pt_write_beta(struct pt *pt, const char *group, struct gpumc_error *error)
{
  const struct gpumc_label label = {"beta", "inverse temperature", pt->context.model->beta_unit,
                                    "β"};
  const size_t shape[2] = {pt->settings.temperatures, 0};
  const char *const axes[2] = {NULL, NULL};
  return pt_write(pt, group, label, shape, axes, pt->beta, error);
}
