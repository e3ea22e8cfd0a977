/* Population annealing: datasets of the summary, in the units of the model. */
#include "algorithms/pa/pa_output.h"

#include <stdio.h>
#include <string.h>

const char *pa_unit(const struct pa *pa, const char *declared)
{
  if (strcmp(declared, PA_UNIT_ENERGY) == 0)
    return pa->context.model->energy_unit;
  if (strcmp(declared, PA_UNIT_ENERGY2) == 0)
    return pa->energy2_unit;
  return strcmp(declared, PA_UNIT_BETA) == 0 ? pa->context.model->beta_unit : declared;
}

static enum gpumc_status write_dataset(struct pa *pa, const struct pa_place *place,
                                       const char *axis, const struct gpumc_label *label,
                                       const double *values, struct gpumc_error *error)
{
  struct gpumc_dataset dataset = {.group = place->group,
                                  .label = *label,
                                  .rank = 1,
                                  .shape = {place->count},
                                  .axes = {axis},
                                  .values = values};
  dataset.label.units = pa_unit(pa, label->units);
  return gpumc_recorder_dataset(pa->context.recorder, &dataset, error);
}

enum gpumc_status pa_write_axis(struct pa *pa, const struct pa_place *place,
                                const struct gpumc_label *label, const double *values,
                                struct gpumc_error *error)
{
  return write_dataset(pa, place, NULL, label, values, error);
}

enum gpumc_status pa_write_with_error(struct pa *pa, const struct pa_place *place,
                                      const struct gpumc_label *label, const double *values,
                                      const double *errors, struct gpumc_error *error)
{
  char name[128];
  char long_name[192];
  char symbol[64];
  snprintf(name, sizeof name, "%s_error", label->name);
  snprintf(long_name, sizeof long_name, "standard error of the %s", label->long_name);
  snprintf(symbol, sizeof symbol, "σ(%s)", label->symbol);
  struct gpumc_label error_label = {
      .name = name, .long_name = long_name, .units = label->units, .symbol = symbol};
  enum gpumc_status status = write_dataset(pa, place, place->axis, label, values, error);
  if (status == GPUMC_OK)
    status = write_dataset(pa, place, place->axis, &error_label, errors, error);
  return status;
}
