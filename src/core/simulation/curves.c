/* Curves of a result: labels, units, datasets beside their errors. */
#include "core/simulation/curves.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/numerics/elementary.h"
#include "core/simulation/merge.h"
#include "core/storage/recorder/recorder_undetermined.h"

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

/* A label that is written with units and words of the model. */
struct settled {
  char unit[GPUMC_UNIT_BYTES], long_name[256];
};

static struct gpumc_label
settled_label(const struct gpumc_model *model, struct gpumc_label label, struct settled *texts)
{
  const size_t length = strlen(label.long_name), end = sizeof GPUMC_COUNTED - 1;
  char counted[96];
  label.units = gpumc_unit_of(model, label.units, texts->unit);
  if (length < end || strcmp(label.long_name + length - end, GPUMC_COUNTED) != 0)
    return label;
  counted[0] = '\0';
  if (model->free_site != NULL)
    snprintf(counted, sizeof counted, ", where a free %s counts %s", gpumc_site_word(model),
             model->free_site);
  snprintf(texts->long_name, sizeof texts->long_name, "%.*s%s", (int)(length - end),
           label.long_name, counted);
  label.long_name = texts->long_name;
  return label;
}

/* Settles all labels, which borrow `texts`, to be freed. */
static enum gpumc_status settle(const struct gpumc_model *model, struct gpumc_column *columns,
                                size_t n_columns, struct settled **texts, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_allocate_array(texts, n_columns, "labels of columns", error));
  for (size_t c = 0; c < n_columns; c++)
    columns[c].label = settled_label(model, columns[c].label, &(*texts)[c]);
  return GPUMC_OK;
}

enum gpumc_status gpumc_curve_add_table(struct gpumc_recorder *recorder,
                                        const struct gpumc_model *model, const char *group,
                                        struct gpumc_column *columns, size_t n_columns,
                                        size_t *table, struct gpumc_error *error)
{
  struct settled *texts;
  GPUMC_TRY(settle(model, columns, n_columns, &texts, error));
  const enum gpumc_status status =
      gpumc_recorder_add_table(recorder, group, columns, n_columns, table, error);
  free(texts);
  return status;
}

enum gpumc_status gpumc_curve_add_series(struct gpumc_recorder *recorder,
                                         const struct gpumc_model *model, const char *group,
                                         struct gpumc_column *columns, size_t n_columns,
                                         size_t *table, struct gpumc_error *error)
{
  struct settled *texts;
  GPUMC_TRY(settle(model, columns, n_columns, &texts, error));
  const enum gpumc_status status =
      gpumc_recorder_add_series(recorder, group, columns, n_columns, table, error);
  free(texts);
  return status;
}

static enum gpumc_status write_dataset(const struct gpumc_curve_place *place,
                                       struct gpumc_dataset dataset,
                                       const struct gpumc_label *label, struct gpumc_error *error)
{
  struct settled texts;
  dataset.group = place->group;
  dataset.label = settled_label(place->model, *label, &texts);
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

/* Returns whether a quantity may be undetermined in a result that lacks nothing: by its own
 * definition, or as a property of the moves, which decides nothing about a result. */
static bool may_be_undetermined(const struct gpumc_model_ops *model, const char *name)
{
  bool found = false;
  for (size_t q = 0; q < model->n_quantities && !found; q++) {
    const struct gpumc_quantity *quantity = &model->quantities[q];
    const struct gpumc_label *label =
        quantity->label.name != NULL ? &quantity->label : &model->means[quantity->uses[0]].label;
    found = (quantity->partial || quantity->of_moves) && strcmp(label->name, name) == 0;
  }
  return found;
}

/* Returns whether a curve is one of the main columns of a result, which lacks numbers without it:
 * over values of a control in the summary, or a single number there. Profiles and distributions
 * have places where nothing can be counted, densities of states levels that are too rare, and both
 * are none; nor are quantities that may be undetermined. */
static bool is_main(const struct gpumc_curve_place *place, const struct gpumc_label *label)
{
  const struct gpumc_model_ops *model = place->model->ops;
  bool over_control = place->axis[0] == NULL;
  if (place->count[1] > 0 ||
      (strcmp(place->group, "summary") != 0 && strcmp(place->group, "summary/reweighted") != 0) ||
      may_be_undetermined(model, label->name))
    return false;
  for (size_t c = 0; c < model->n_controls && !over_control; c++) {
    const char *name = strrchr(place->axis[0], '/');
    over_control = name != NULL && strcmp(name + 1, model->controls[c].label.name) == 0;
  }
  return over_control;
}

enum gpumc_status
gpumc_curve_write_with_error(const struct gpumc_curve_place *place, const struct gpumc_label *label,
                             const double *values, const double *errors, struct gpumc_error *error)
{
  struct gpumc_error_texts texts;
  const struct gpumc_label error_label = gpumc_error_label(label, &texts);
  if (is_main(place, label))
    gpumc_recorder_note_undetermined(place->recorder, label->name, values, errors, place->count[0]);
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
