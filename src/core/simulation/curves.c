/* Curves of a result: labels, units, datasets beside their errors. */
#include "core/simulation/curves.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/simulation/merge.h"

const struct gpumc_label gpumc_label_beta = {"beta", "inverse temperature", GPUMC_UNIT_BETA, "β"};

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

struct gpumc_label
gpumc_error_label(const struct gpumc_label *label, struct gpumc_error_texts *texts)
{
  snprintf(texts->name, sizeof texts->name, "%s_error", label->name);
  snprintf(texts->long_name, sizeof texts->long_name, "standard error of the %s", label->long_name);
  snprintf(texts->symbol, sizeof texts->symbol, label->symbol[0] != '\0' ? "σ(%s)" : "%s",
           label->symbol);
  return (struct gpumc_label){texts->name, texts->long_name, label->units, texts->symbol};
}

static void settle_units(const struct gpumc_model *model, struct gpumc_column *columns,
                         size_t n_columns, char text[static GPUMC_UNIT_BYTES])
{
  for (size_t c = 0; c < n_columns; c++)
    columns[c].label.units = gpumc_unit_of(model, columns[c].label.units, text);
}

enum gpumc_status gpumc_curve_add_table(struct gpumc_recorder *recorder,
                                        const struct gpumc_model *model, const char *group,
                                        struct gpumc_column *columns, size_t n_columns,
                                        size_t *table, struct gpumc_error *error)
{
  char text[GPUMC_UNIT_BYTES];
  settle_units(model, columns, n_columns, text);
  return gpumc_recorder_add_table(recorder, group, columns, n_columns, table, error);
}

enum gpumc_status gpumc_curve_add_series(struct gpumc_recorder *recorder,
                                         const struct gpumc_model *model, const char *group,
                                         struct gpumc_column *columns, size_t n_columns,
                                         size_t *table, struct gpumc_error *error)
{
  char text[GPUMC_UNIT_BYTES];
  settle_units(model, columns, n_columns, text);
  return gpumc_recorder_add_series(recorder, group, columns, n_columns, table, error);
}

static enum gpumc_status write_dataset(const struct gpumc_curve_place *place,
                                       struct gpumc_dataset dataset,
                                       const struct gpumc_label *label, struct gpumc_error *error)
{
  char text[GPUMC_UNIT_BYTES];
  dataset.group = place->group;
  dataset.label = *label;
  dataset.label.units = gpumc_unit_of(place->model, label->units, text);
  return gpumc_recorder_dataset(place->recorder, &dataset, error);
}

enum gpumc_status gpumc_curve_write_axis(const struct gpumc_curve_place *place, size_t d,
                                         const struct gpumc_label *label, bool integer,
                                         const double *values, struct gpumc_error *error)
{
  const struct gpumc_dataset dataset = {
      .rank = 1, .shape = {place->count[d]}, .integer = integer, .values = values};
  return write_dataset(place, dataset, label, error);
}

enum gpumc_status gpumc_curve_write(const struct gpumc_curve_place *place,
                                    const struct gpumc_label *label, bool integer,
                                    const double *values, struct gpumc_error *error)
{
  const struct gpumc_dataset dataset = {.rank = place->axis[0] == NULL ? 0
                                                : place->count[1] > 0  ? 2
                                                                       : 1,
                                        .shape = {place->count[0], place->count[1]},
                                        .axes = {place->axis[0], place->axis[1]},
                                        .integer = integer,
                                        .values = values};
  return write_dataset(place, dataset, label, error);
}

enum gpumc_status
gpumc_curve_write_with_error(const struct gpumc_curve_place *place, const struct gpumc_label *label,
                             const double *values, const double *errors, struct gpumc_error *error)
{
  struct gpumc_error_texts texts;
  const struct gpumc_label error_label = gpumc_error_label(label, &texts);
  GPUMC_TRY(gpumc_curve_write(place, label, false, values, error));
  return gpumc_curve_write(place, &error_label, false, errors, error);
}

static const struct gpumc_label checksum_label = {
    "checksum", "checksum of the couplings and fields of the sample", "1", ""};

/* Writes as many bits of a checksum as integers of a result have. */
static enum gpumc_status
write_checksums(const struct gpumc_curve_place *place, double *values, struct gpumc_error *error)
{
  const struct gpumc_model *model = place->model;
  if (!model->disorder || model->ops->sample_checksum == NULL)
    return GPUMC_OK;
  for (size_t s = 0; s < place->count[0]; s++) {
    uint64_t checksum = 0;
    GPUMC_TRY(model->ops->sample_checksum(model, s, &checksum, error));
    values[s] = (double)(checksum >> 11);
  }
  return gpumc_curve_write(place, &checksum_label, true, values, error);
}

static enum gpumc_status write_merged(const struct gpumc_curve_place *place,
                                      const struct gpumc_sample_list *merged,
                                      struct gpumc_error *error)
{
  const struct gpumc_label seed = {"seed", "thermal seed of the run that the sample is from", "1",
                                   ""};
  if (merged->checksum != NULL)
    GPUMC_TRY(gpumc_curve_write(place, &checksum_label, true, merged->checksum, error));
  return gpumc_curve_write(place, &seed, true, merged->seed, error);
}

enum gpumc_status gpumc_curve_write_samples(struct gpumc_recorder *recorder,
                                            const struct gpumc_model *model, size_t count,
                                            const struct gpumc_sample_list *merged,
                                            struct gpumc_error *error)
{
  const struct gpumc_label label = {"sample", "number of the sample of the disorder", "1", "s"};
  const struct gpumc_curve_place place = {.recorder = recorder,
                                          .model = model,
                                          .group = "samples",
                                          .axis = {"samples/sample"},
                                          .count = {count}};
  double *values;
  GPUMC_TRY(gpumc_allocate_array(&values, count, "samples", error));
  for (size_t s = 0; s < count; s++)
    values[s] = merged != NULL ? merged->number[s] : (double)(model->first_sample + s);
  enum gpumc_status status = gpumc_curve_write_axis(&place, 0, &label, true, values, error);
  if (status == GPUMC_OK)
    status = merged != NULL ? write_merged(&place, merged, error)
                            : write_checksums(&place, values, error);
  free(values);
  return status;
}
