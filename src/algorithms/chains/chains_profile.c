/* Chains: profiles, channels of many numbers, from a measurement to averages with errors.
 *
 * Each number is a plain mean. Its error pools two jackknife estimates, over bins of time and over
 * the chains, like derived results (chains_estimate.c); if each replica has a disorder sample it is
 * a jackknife over the samples. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/chains/chains_internal.h"
#include "core/base/memory.h"
#include "core/simulation/curves.h"

/* Returns the groups of replicas whose sums are kept separately: chains, or each replica with its
 * sample. */
static size_t groups_of(const struct chains_settings *settings)
{
  return settings->each_sample ? settings->replicas : settings->chains;
}

static size_t group_first(const struct chains_settings *settings, size_t group)
{
  return settings->each_sample ? group : chains_first(settings, group);
}

/* The same for a merged result, whose sums are those of whole sources. */
static size_t groups_in(const struct chains *chains)
{
  return chains->merged.mean != NULL ? chains->merged.groups : groups_of(&chains->settings);
}

static size_t members_of(const struct chains *chains, size_t group)
{
  const size_t *first = chains->merged.first;
  return chains->merged.mean != NULL
             ? first[group + 1] - first[group]
             : group_first(&chains->settings, group + 1) - group_first(&chains->settings, group);
}

static size_t channel_of(const struct chains *chains, size_t p)
{
  return chains->quantities.observables.profile[p];
}

static const struct gpumc_profile *profile_of(const struct chains *chains, size_t p)
{
  return &chains->quantities.model->profile[channel_of(chains, p)];
}

static const struct gpumc_channel *declared(const struct chains *chains, size_t p)
{
  return &chains->quantities.model->ops->channels[channel_of(chains, p)];
}

/* ---- memory ---- */

double chains_profile_width(const struct chains *chains)
{
  double width = 0;
  for (size_t p = 0; p < chains->quantities.observables.n_profiles; p++)
    width += (double)profile_of(chains, p)->width;
  return width;
}

double chains_profile_sums(const struct chains *chains)
{
  return (double)chains->runs * chains_profile_width(chains) *
         (double)(groups_of(&chains->settings) + GPUMC_BINS_MOST);
}

enum gpumc_status chains_profiles_make(struct chains *chains, size_t m, struct gpumc_error *error)
{
  for (size_t p = 0; p < chains->quantities.observables.n_profiles; p++) {
    struct chains_profile *sums = &chains->sums[m].profile[p];
    const size_t width = profile_of(chains, p)->width;
    GPUMC_TRY(gpumc_bins_init(&sums->bins, width, error));
    GPUMC_TRY(gpumc_allocate_array(&sums->group, groups_of(&chains->settings) * width,
                                   "sums of a profile", error));
  }
  return GPUMC_OK;
}

void chains_profiles_free(struct chains_sums *sums)
{
  for (size_t p = 0; p < GPUMC_CHANNELS_MAXIMUM; p++) {
    gpumc_bins_free(&sums->profile[p].bins);
    free(sums->profile[p].group);
  }
}

/* ---- from a measurement into the sums ---- */

/* `vector`: of the whole run, averaged over the replicas. */
static void add_profile(const struct chains *chains, size_t m, size_t p, double *vector)
{
  const struct chains_settings *settings = &chains->settings;
  const struct gpumc_profile *profile = profile_of(chains, p);
  const size_t width = profile->width;
  const int64_t *value =
      chains->channels.host[channel_of(chains, p)] + m * settings->replicas * width;
  struct chains_profile *sums = &chains->sums[m].profile[p];
  memset(vector, 0, width * sizeof *vector);
  for (size_t g = 0; g < groups_of(settings); g++)
    for (size_t r = group_first(settings, g); r < group_first(settings, g + 1); r++)
      for (size_t i = 0; i < width; i++) {
        const double number = (double)value[r * width + i] * profile->unit[i];
        sums->group[g * width + i] += number;
        vector[i] += number;
      }
  for (size_t i = 0; i < width; i++)
    vector[i] /= (double)settings->replicas;
  gpumc_bins_add(&sums->bins, vector);
}

void chains_profiles_add(const struct chains *chains, size_t m, double *scratch)
{
  for (size_t p = 0; p < chains->quantities.observables.n_profiles; p++)
    add_profile(chains, m, p, scratch);
}

/* ---- checkpoints ---- */

size_t chains_profile_parts(const struct chains *chains, size_t m, size_t p,
                            struct gpumc_part part[static CHAINS_PARTS],
                            char prefix[static CHAINS_NAME_BYTES])
{
  struct chains_profile *sums = &chains->sums[m].profile[p];
  const size_t width = sums->bins.width;
  const struct gpumc_part all[] = {
      {"bins_state", GPUMC_UINT64, GPUMC_BINS_STATE, 1, sums->bins.state},
      {"bins", GPUMC_FLOAT64, GPUMC_BINS_MOST, width, sums->bins.sums},
      {"groups", GPUMC_FLOAT64, groups_of(&chains->settings), width, sums->group},
  };
  memcpy(part, all, sizeof all);
  snprintf(prefix, CHAINS_NAME_BYTES, "%s/%zu/%s", chains->name, m,
           declared(chains, p)->label.name);
  return sizeof all / sizeof *all;
}

/* ---- averages with errors ---- */

/* Scratch for the estimate of a profile. */
struct work {
  size_t width, groups, blocks;
  double *mean;          /* of all data, from bins */
  double *mean_of_all;   /* the same from groups */
  double *members;       /* [groups] replicas */
  double *stretch;       /* [groups] */
  double *without;       /* [blocks][width] */
  double *without_group; /* [groups][width] */
};

static void work_free(struct work *work)
{
  free(work->mean);
  free(work->mean_of_all);
  free(work->members);
  free(work->stretch);
  free(work->without);
  free(work->without_group);
}

static enum gpumc_status work_make(struct work *work, struct gpumc_error *error)
{
  const struct {
    double **array;
    size_t count;
  } arrays[] = {{&work->mean, work->width},
                {&work->mean_of_all, work->width},
                {&work->members, work->groups},
                {&work->stretch, work->groups},
                {&work->without, work->blocks * work->width + 1},
                {&work->without_group, work->groups * work->width}};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    GPUMC_TRY(gpumc_allocate_array(arrays[i].array, arrays[i].count, "a profile", error));
  return GPUMC_OK;
}

static void
leave_out_groups(const struct chains *chains, const struct chains_profile *sums, struct work *work)
{
  for (size_t g = 0; g < work->groups; g++)
    work->members[g] = (double)members_of(chains, g) * (double)chains->measured;
  gpumc_leave_one_out(sums->group, work->members, work->groups, work->width, work->mean_of_all,
                      work->without_group);
  gpumc_stretch(work->members, work->groups, work->stretch);
}

static enum gpumc_status estimate_profile(const struct chains *chains, size_t m, size_t p,
                                          double shortest, double *value, double *error_of,
                                          struct gpumc_error *error)
{
  const struct chains_settings *settings = &chains->settings;
  const struct chains_profile *sums = &chains->sums[m].profile[p];
  struct work work = {.width = sums->bins.width,
                      .groups = groups_in(chains),
                      .blocks =
                          settings->each_sample ? 0 : gpumc_bins_blocks(&sums->bins, shortest)};
  const struct gpumc_estimator estimator = {.width = work.width, .n_results = work.width};
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, work_make(&work, error));
  gpumc_bins_mean_of_all(&sums->bins, work.mean);
  if (work.groups > 1)
    leave_out_groups(chains, sums, &work);
  if (work.blocks > 1)
    gpumc_bins_leave_out(&sums->bins, work.blocks, work.without);
  const struct gpumc_replicates of[] = {
      {.strata = 1,
       .blocks = work.groups,
       .without = work.without_group,
       .stretch = work.stretch,
       .mean = work.mean_of_all,
       .freedom = INFINITY},
      {.strata = 1, .blocks = work.blocks, .without = work.without, .freedom = INFINITY}};
  status = gpumc_estimate(&estimator, work.mean, of, settings->each_sample ? 1 : 2, value, error_of,
                          NULL, error);
out:
  work_free(&work);
  return status;
}

/* ---- the summary ---- */

/* Returns whether an earlier profile has the same axis, which is then already written. */
static bool has_axis(const struct chains *chains, size_t p)
{
  bool has = false;
  for (size_t before = 0; before < p; before++)
    has = has || strcmp(declared(chains, before)->axis.name, declared(chains, p)->axis.name) == 0;
  return has;
}

/* Writes values[T][width] and errors of profile p, over the temperatures, if any, and its axis. */
static enum gpumc_status write_profile(const struct chains *chains, size_t p, const double *values,
                                       const double *errors, struct gpumc_error *error)
{
  const struct gpumc_channel *channel = declared(chains, p);
  const size_t width = profile_of(chains, p)->width;
  char axis[CHAINS_NAME_BYTES], over[CHAINS_PATH_BYTES];
  snprintf(axis, sizeof axis, "summary/%s", channel->axis.name);
  struct gpumc_curve_place place = {.recorder = chains->context.recorder,
                                    .model = chains->context.model,
                                    .group = "summary",
                                    .axis = {axis},
                                    .count = {width}};
  if (!has_axis(chains, p))
    GPUMC_TRY(
        gpumc_curve_write_axis(&place, 0, &channel->axis, false, profile_of(chains, p)->at, error));
  chains_axis_path(chains, "summary", over);
  if (chains->value != NULL) {
    place.axis[0] = over;
    place.count[0] = chains->runs;
    place.axis[1] = axis;
    place.count[1] = width;
  }
  return gpumc_curve_write_with_error(&place, &channel->label, values, errors, error);
}

enum gpumc_status chains_profiles_write_bins(const struct chains *chains, size_t m,
                                             const struct gpumc_curve_place *bins,
                                             struct gpumc_error *error)
{
  for (size_t p = 0; p < chains->quantities.observables.n_profiles; p++) {
    const struct gpumc_channel *channel = declared(chains, p);
    const struct gpumc_profile *profile = profile_of(chains, p);
    struct gpumc_curve_place place = *bins;
    char axis[CHAINS_PATH_BYTES];
    double *table = NULL;
    enum gpumc_status status;
    snprintf(axis, sizeof axis, "%s/%s", bins->group, channel->axis.name);
    place.axis[1] = axis;
    place.count[1] = profile->width;
    if (!has_axis(chains, p))
      GPUMC_TRY(gpumc_curve_write_axis(&place, 1, &channel->axis, false, profile->at, error));
    GPUMC_TRY(
        gpumc_allocate_array(&table, place.count[0] * profile->width, "bins of a profile", error));
    for (size_t b = 0; b < place.count[0]; b++)
      gpumc_bins_mean(&chains->sums[m].profile[p].bins, b, table + b * profile->width);
    status = gpumc_curve_write(&place, &channel->label, false, table, error);
    free(table);
    if (status != GPUMC_OK)
      return status;
  }
  return GPUMC_OK;
}

enum gpumc_status chains_profiles_write(const struct chains *chains, const double *shortest,
                                        struct gpumc_error *error)
{
  for (size_t p = 0; p < chains->quantities.observables.n_profiles; p++) {
    const size_t width = profile_of(chains, p)->width;
    double *values = NULL, *errors = NULL;
    enum gpumc_status status;
    GPUMC_TRY_OUT(status, gpumc_allocate_array(&values, chains->runs * width, "a profile", error));
    GPUMC_TRY_OUT(status, gpumc_allocate_array(&errors, chains->runs * width, "a profile", error));
    for (size_t m = 0; m < chains->runs; m++)
      GPUMC_TRY_OUT(status, estimate_profile(chains, m, p, shortest[m], values + m * width,
                                             errors + m * width, error));
    status = write_profile(chains, p, values, errors, error);
  out:
    free(values);
    free(errors);
    GPUMC_TRY(status);
  }
  return GPUMC_OK;
}
