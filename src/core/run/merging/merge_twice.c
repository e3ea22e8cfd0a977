/* Merging: random numbers, and samples of the disorder, that occur twice in the sources. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "core/run/merging/merge.h"
#include "core/storage/result_data.h"

/* Returns the thermal seed of a run, from its provenance. */
static double seed_of(const struct gpumc_result_fields *provenance, double otherwise)
{
  const char *text = gpumc_result_field(provenance, "thermal_seed");
  return text != NULL ? strtod(text, NULL) : otherwise;
}

/* Seeds of the runs behind a source: its own, or those of the sources that it was merged from. */
struct seeds {
  size_t count;
  double *of;
};

static enum gpumc_status
find_seeds(const struct gpumc_source *source, struct seeds *seeds, struct gpumc_error *error)
{
  const size_t merged = gpumc_source_members(source, "provenance/sources");
  const double own =
      cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(source->resolved, "seed"));
  seeds->count = merged > 0 ? merged : 1;
  GPUMC_TRY(gpumc_allocate_array(&seeds->of, seeds->count, "seeds", error));
  seeds->of[0] = seed_of(&source->result.provenance, own);
  for (size_t i = 0; i < merged; i++) {
    struct gpumc_result_fields fields = {0};
    char path[64];
    snprintf(path, sizeof path, "provenance/sources/%04zu", i);
    GPUMC_TRY(gpumc_result_read_fields(source->file, path, &fields, error));
    seeds->of[i] = seed_of(&fields, NAN);
    gpumc_result_fields_free(&fields);
  }
  return GPUMC_OK;
}

static bool meet(const double *one, size_t n_one, const double *other, size_t n_other)
{
  for (size_t i = 0; i < n_one; i++)
    for (size_t j = 0; j < n_other; j++)
      if (one[i] == other[j])
        return true;
  return false;
}

enum gpumc_status
gpumc_merging_check_seeds(const struct gpumc_merging *merging, struct gpumc_error *error)
{
  const struct gpumc_sources *sources = &merging->sources;
  struct seeds *seeds = NULL;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&seeds, sources->count, "seeds", error));
  for (size_t i = 0; i < sources->count; i++)
    GPUMC_TRY_OUT(status, find_seeds(&sources->of[i], &seeds[i], error));
  for (size_t i = 0; i < sources->count; i++)
    for (size_t j = 0; j < i; j++)
      if (meet(seeds[i].of, seeds[i].count, seeds[j].of, seeds[j].count))
        GPUMC_TRY_OUT(status,
                      gpumc_error_set(error, GPUMC_INVALID,
                                      "%s: has the same seed and first sample as %s, so that their "
                                      "random numbers are not independent, or their data are the "
                                      "same: leave it out, or produce it again with another seed",
                                      sources->of[i].path, sources->of[j].path));
out:
  for (size_t i = 0; seeds != NULL && i < sources->count; i++)
    free(seeds[i].of);
  free(seeds);
  return status;
}

/* Reads those of one source, at `first` of the list. */
static enum gpumc_status read_samples(const struct gpumc_source *source, size_t first,
                                      struct gpumc_sample_list *list, struct gpumc_error *error)
{
  const size_t count = (size_t)source->counted;
  GPUMC_TRY(gpumc_source_read(source, "samples/sample", &count, 1, list->number + first, error));
  if (list->checksum != NULL)
    GPUMC_TRY(
        gpumc_source_read(source, "samples/checksum", &count, 1, list->checksum + first, error));
  if (gpumc_source_has(source, "samples/seed"))
    return gpumc_source_read(source, "samples/seed", &count, 1, list->seed + first, error);
  const double own =
      cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(source->resolved, "seed"));
  for (size_t s = 0; s < count; s++)
    list->seed[first + s] = seed_of(&source->result.provenance, own);
  return GPUMC_OK;
}

/* A sample and the source that has it. */
struct owned {
  double checksum;
  size_t source;
};

static int compare_owned(const void *a, const void *b)
{
  const struct owned *one = a, *other = b;
  const int checksums = (one->checksum > other->checksum) - (one->checksum < other->checksum);
  return checksums != 0 ? checksums : (one->source > other->source) - (one->source < other->source);
}

static enum gpumc_status refuse_sample(const struct gpumc_sources *sources,
                                       const struct owned *first, const struct owned *again,
                                       struct gpumc_error *error)
{
  const char *path = sources->of[again->source].path;
  if (first->source == again->source)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s: has a sample of the disorder twice: leave it out", path);
  return gpumc_error_set(
      error, GPUMC_INVALID,
      "%s: has samples that %s also has: leave it out, or simulate other ones (model.sample)", path,
      sources->of[first->source].path);
}

/* No sample may occur twice, in one source or in two. */
static enum gpumc_status
check_samples(const struct gpumc_merging *merging, struct gpumc_error *error)
{
  const struct gpumc_sources *sources = &merging->sources;
  const struct gpumc_sample_list *list = &merging->samples;
  struct owned *owned = NULL;
  size_t first = 0;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY(gpumc_allocate_array(&owned, list->count, "samples", error));
  for (size_t i = 0; i < sources->count; first += (size_t)sources->of[i].counted, i++)
    for (size_t s = 0; s < (size_t)sources->of[i].counted; s++)
      owned[first + s] = (struct owned){list->checksum[first + s], i};
  qsort(owned, list->count, sizeof *owned, compare_owned);
  for (size_t s = 1; s < list->count && status == GPUMC_OK; s++)
    if (owned[s - 1].checksum >= owned[s].checksum)
      status = refuse_sample(sources, &owned[s - 1], &owned[s], error);
  free(owned);
  return status;
}

enum gpumc_status
gpumc_merging_list_samples(struct gpumc_merging *merging, struct gpumc_error *error)
{
  const struct gpumc_sources *sources = &merging->sources;
  struct gpumc_sample_list *list = &merging->samples;
  size_t known = 0, first = 0;
  if (!merging->merger->samples)
    return GPUMC_OK;
  for (size_t i = 0; i < sources->count; i++)
    known += gpumc_source_has(&sources->of[i], "samples/checksum");
  list->count = (size_t)gpumc_sources_counted(sources);
  GPUMC_TRY(gpumc_allocate_array(&list->number, list->count, "samples", error));
  GPUMC_TRY(gpumc_allocate_array(&list->seed, list->count, "samples", error));
  if (known > 0)
    GPUMC_TRY(gpumc_allocate_array(&list->checksum, list->count, "samples", error));
  for (size_t i = 0; i < sources->count; i++) {
    GPUMC_TRY(read_samples(&sources->of[i], first, list, error));
    first += (size_t)sources->of[i].counted;
  }
  return list->checksum != NULL ? check_samples(merging, error) : GPUMC_OK;
}
