/* Merging: contents of a merged result beside the sums - where it comes from, and the samples of
 * the disorder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/run/merging/merge.h"
#include "core/simulation/algorithm.h"
#include "core/storage/hdf5_values.h"
#include "core/storage/result_data.h"

/* ---- provenance ---- */

static const char *name_of(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

static enum gpumc_status record_fields(const struct gpumc_result_fields *fields, const char *group,
                                       struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  for (size_t f = 0; f < fields->count; f++) {
    const struct gpumc_result_field *field = &fields->items[f];
    switch (field->type) {
    case GPUMC_FIELD_TEXT:
      GPUMC_TRY(gpumc_recorder_text(recorder, group, field->name, field->value, error));
      break;
    case GPUMC_FIELD_INTEGER:
      GPUMC_TRY(gpumc_recorder_integer(recorder, group, field->name,
                                       strtoll(field->value, NULL, 10), error));
      break;
    case GPUMC_FIELD_REAL:
      GPUMC_TRY(
          gpumc_recorder_number(recorder, group, field->name, strtod(field->value, NULL), error));
      break;
    }
  }
  return GPUMC_OK;
}

/* Records a run that became a source, as group number `number`. */
static enum gpumc_status record_run(const struct gpumc_source *source, size_t number,
                                    struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  char group[64];
  snprintf(group, sizeof group, "provenance/sources/%04zu", number);
  GPUMC_TRY(gpumc_recorder_text(recorder, group, "file", name_of(source->path), error));
  GPUMC_TRY(gpumc_recorder_text(recorder, group, "title", source->result.title, error));
  GPUMC_TRY(gpumc_recorder_text(recorder, group, "resolved", source->result.resolved, error));
  return record_fields(&source->result.provenance, group, recorder, error);
}

/* Records the runs that a source was merged from, from group `number` on. */
static enum gpumc_status record_merged(const struct gpumc_source *source, size_t runs,
                                       size_t number, struct gpumc_recorder *recorder,
                                       struct gpumc_error *error)
{
  for (size_t i = 0; i < runs; i++) {
    struct gpumc_result_fields fields = {0};
    char from[64], to[64];
    snprintf(from, sizeof from, "provenance/sources/%04zu", i);
    snprintf(to, sizeof to, "provenance/sources/%04zu", number + i);
    enum gpumc_status status = gpumc_result_read_fields(source->file, from, &fields, error);
    if (status == GPUMC_OK)
      status = record_fields(&fields, to, recorder, error);
    gpumc_result_fields_free(&fields);
    GPUMC_TRY(status);
  }
  return GPUMC_OK;
}

enum gpumc_status gpumc_merging_record_sources(const struct gpumc_merging *merging,
                                               struct gpumc_recorder *recorder,
                                               struct gpumc_error *error)
{
  const struct gpumc_sources *sources = &merging->sources;
  struct gpumc_text names = {0};
  size_t number = 0;
  for (size_t i = 0; i < sources->count; i++)
    gpumc_text_append(&names, "%s%s", i == 0 ? "" : " ", name_of(sources->of[i].path));
  enum gpumc_status status =
      names.failed ? gpumc_error_set(error, GPUMC_FAILURE, "out of memory: names of files")
                   : gpumc_recorder_text(recorder, "provenance", "merged_from",
                                         gpumc_text_string(&names), error);
  gpumc_text_free(&names);
  for (size_t i = 0; i < sources->count && status == GPUMC_OK; i++) {
    const struct gpumc_source *source = &sources->of[i];
    const size_t runs = gpumc_source_members(source, "provenance/sources");
    status = runs > 0 ? record_merged(source, runs, number, recorder, error)
                      : record_run(source, number, recorder, error);
    number += runs > 0 ? runs : 1;
  }
  return status;
}

/* ---- samples of the disorder ---- */

/* A dataset of the first source, and its continuation in the others. */
struct column {
  const struct gpumc_merging *merging;
  char path[96];
  char *long_name, *units, *symbol;
  struct gpumc_dataset dataset;
};

static size_t members_of(const struct gpumc_dataset *dataset)
{
  size_t members = 1;
  for (size_t d = 1; d < dataset->rank; d++)
    members *= dataset->shape[d];
  return members;
}

/* Writes the rows of the samples of all sources, one sample at a time. */
static enum gpumc_status
write_rows(const struct column *column, struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  const struct gpumc_sources *sources = &column->merging->sources;
  size_t shape[GPUMC_DATASET_RANK_MAXIMUM], done = 0;
  memcpy(shape, column->dataset.shape, sizeof shape);
  for (size_t i = 0; i < sources->count; i++) {
    double *values = NULL;
    enum gpumc_status status;
    shape[0] = (size_t)sources->of[i].counted;
    GPUMC_TRY(gpumc_allocate_array(&values, shape[0] * members_of(&column->dataset),
                                   "samples of the disorder", error));
    status = gpumc_source_read(&sources->of[i], column->path, shape, column->dataset.rank, values,
                               error);
    if (status == GPUMC_OK)
      status =
          gpumc_recorder_dataset_rows(recorder, &column->dataset, done, shape[0], values, error);
    free(values);
    GPUMC_TRY(status);
    done += shape[0];
  }
  return GPUMC_OK;
}

/* Data that are not a list over the samples are copied from the first source. */
static enum gpumc_status
write_whole(const struct column *column, struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  struct gpumc_dataset dataset = column->dataset;
  double *values = NULL;
  GPUMC_TRY(gpumc_allocate_array(&values, dataset.shape[0], "samples of the disorder", error));
  enum gpumc_status status = gpumc_source_read(&column->merging->sources.of[0], column->path,
                                               dataset.shape, dataset.rank, values, error);
  dataset.values = values;
  if (status == GPUMC_OK)
    status = gpumc_recorder_dataset(recorder, &dataset, error);
  free(values);
  return status;
}

static enum gpumc_status record_column(const struct gpumc_merging *merging, const char *name,
                                       struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  const struct gpumc_source *first = &merging->sources.of[0];
  struct column column = {.merging = merging};
  enum gpumc_status status = GPUMC_OK;
  snprintf(column.path, sizeof column.path, "disorder/%s", name);
  hid_t data = gpumc_hdf5_open_dataset(first->file, first->file->id, column.path, error);
  if (data < 0)
    return GPUMC_FAILURE;
  column.long_name = gpumc_hdf5_attribute_text(data, "long_name");
  column.units = gpumc_hdf5_attribute_text(data, "units");
  column.symbol = gpumc_hdf5_attribute_text(data, "symbol");
  hid_t type = H5Dget_type(data);
  column.dataset =
      (struct gpumc_dataset){.group = "disorder",
                             .label = {name, column.long_name, column.units, column.symbol},
                             .integer = H5Tget_class(type) == H5T_INTEGER};
  gpumc_hdf5_release(type);
  gpumc_hdf5_release(data);
  if (column.long_name == NULL || column.units == NULL || column.symbol == NULL)
    GPUMC_TRY_OUT(status, gpumc_error_set(error, GPUMC_FAILURE, "%s: %s has no labels", first->path,
                                          column.path));
  GPUMC_TRY_OUT(status, gpumc_source_shape(first, column.path, column.dataset.shape,
                                           &column.dataset.rank, error));
  if (column.dataset.rank < 2) {
    status = write_whole(&column, recorder, error);
  } else {
    column.dataset.shape[0] = (size_t)gpumc_sources_counted(&merging->sources);
    GPUMC_TRY_OUT(status, gpumc_recorder_dataset(recorder, &column.dataset, error));
    status = write_rows(&column, recorder, error);
  }
out:
  free(column.long_name);
  free(column.units);
  free(column.symbol);
  return status;
}

/* All sources, or none: otherwise merged samples could not be matched with their disorder. */
static bool
all_have_disorder(const struct gpumc_merging *merging, const struct gpumc_observer *observer)
{
  size_t members = gpumc_source_members(&merging->sources.of[0], "disorder"), having = 0;
  bool all = members > 0;
  for (size_t i = 0; i < merging->sources.count; i++) {
    const size_t own = gpumc_source_members(&merging->sources.of[i], "disorder");
    all = all && own == members;
    having += own > 0;
  }
  if (!all && having > 0)
    gpumc_observer_note(observer,
                        "the result is without /disorder, which not all of the files have");
  return all;
}

enum gpumc_status
gpumc_merging_record_disorder(const struct gpumc_merging *merging, struct gpumc_recorder *recorder,
                              const struct gpumc_observer *observer, struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  const struct gpumc_source *first = &merging->sources.of[0];
  char name[64];
  if (merging->samples.count == 0 || !all_have_disorder(merging, observer))
    return GPUMC_OK;
  const size_t members = gpumc_source_members(first, "disorder");
  for (size_t i = 0; i < members; i++) {
    if (H5Lget_name_by_idx(first->file->id, "disorder", H5_INDEX_NAME, H5_ITER_INC, i, name,
                           sizeof name, H5P_DEFAULT) <= 0)
      return gpumc_hdf5_error(first->file, error, "list disorder");
    GPUMC_TRY(record_column(merging, name, recorder, error));
  }
  return GPUMC_OK;
}
