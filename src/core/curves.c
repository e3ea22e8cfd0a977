/* Curves of a result: labels, units, datasets beside their errors. */
#include "core/curves.h"

#include <stdio.h>
#include <string.h>

const struct gpumc_label gpumc_label_beta = {"beta", "inverse temperature", GPUMC_UNIT_BETA, "β"};
const struct gpumc_label gpumc_label_energy = {"energy", "energy per site", GPUMC_UNIT_ENERGY, "e"};
const struct gpumc_label gpumc_label_energy2 = {"energy2", "square of the energy per site",
                                                GPUMC_UNIT_ENERGY2, "e²"};
const struct gpumc_label gpumc_label_specific_heat = {"specific_heat", "specific heat per site",
                                                      "k_B", "C"};

const char *gpumc_unit_of(const struct gpumc_model *model, const char *declared,
                          char text[static GPUMC_UNIT_BYTES])
{
  if (strcmp(declared, GPUMC_UNIT_ENERGY) == 0)
    return model->energy_unit;
  if (strcmp(declared, GPUMC_UNIT_BETA) == 0)
    return model->beta_unit;
  if (strcmp(declared, GPUMC_UNIT_ENERGY2) != 0)
    return declared;
  snprintf(text, GPUMC_UNIT_BYTES, "(%s)^2", model->energy_unit);
  return text;
}

struct gpumc_label gpumc_observable_label(const struct gpumc_observable *observable)
{
  return (struct gpumc_label){observable->name, observable->long_name, observable->units,
                              observable->symbol};
}

struct gpumc_label gpumc_derived_label(const struct gpumc_derived *derived)
{
  return (struct gpumc_label){derived->name, derived->long_name, derived->units, derived->symbol};
}

static enum gpumc_status write_dataset(const struct gpumc_curve_place *place, const char *axis,
                                       const struct gpumc_label *label, bool integer,
                                       const double *values, struct gpumc_error *error)
{
  char text[GPUMC_UNIT_BYTES];
  struct gpumc_dataset dataset = {.group = place->group,
                                  .label = *label,
                                  .rank = 1,
                                  .shape = {place->count},
                                  .axes = {axis},
                                  .integer = integer,
                                  .values = values};
  dataset.label.units = gpumc_unit_of(place->model, label->units, text);
  return gpumc_recorder_dataset(place->recorder, &dataset, error);
}

enum gpumc_status gpumc_curve_write_axis(const struct gpumc_curve_place *place,
                                         const struct gpumc_label *label, bool integer,
                                         const double *values, struct gpumc_error *error)
{
  return write_dataset(place, NULL, label, integer, values, error);
}

enum gpumc_status gpumc_curve_write(const struct gpumc_curve_place *place,
                                    const struct gpumc_label *label, bool integer,
                                    const double *values, struct gpumc_error *error)
{
  return write_dataset(place, place->axis, label, integer, values, error);
}

enum gpumc_status
gpumc_curve_write_with_error(const struct gpumc_curve_place *place, const struct gpumc_label *label,
                             const double *values, const double *errors, struct gpumc_error *error)
{
  char name[128], long_name[192], symbol[64];
  snprintf(name, sizeof name, "%s_error", label->name);
  snprintf(long_name, sizeof long_name, "standard error of the %s", label->long_name);
  snprintf(symbol, sizeof symbol, "σ(%s)", label->symbol);
  const struct gpumc_label error_label = {name, long_name, label->units, symbol};
  enum gpumc_status status = gpumc_curve_write(place, label, false, values, error);
  if (status == GPUMC_OK)
    status = gpumc_curve_write(place, &error_label, false, errors, error);
  return status;
}
