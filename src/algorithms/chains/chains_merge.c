/* Chains: the state at the end, from finished results of other seeds.
 *
 * The replicas of all sources are treated like those of one run. Averages of each over time are in
 * the results, and so are bins, averages over the replicas at the same times: weighted by the
 * numbers of replicas they give those of all. So values, and errors from bins and from groups of
 * replicas, follow as in a run. The time series themselves are missing. Errors of plain means,
 * autocorrelation times, drifts and whether a series is long enough depend on them, and are
 * combined from the findings of each source. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/chains/chains_internal.h"
#include "core/base/memory.h"

void chains_merged_free(struct chains *chains)
{
  free(chains->merged.mean);
}

/* Work data for one source and one temperature. */
struct part {
  struct chains *chains;
  const struct gpumc_source *source;
  size_t m;
  size_t first, replicas; /* its replicas among all */
  size_t group;           /* group for profiles in which it counts */
  double share;           /* share of its replicas among all */
  double *values;         /* [largest array that is read] */
};

/* ---- bins and replicas ---- */

static size_t bins_in(const struct gpumc_bins *bins)
{
  return (size_t)bins->state[GPUMC_BINS_COUNT];
}

static enum gpumc_status
take_replicas(const struct part *part, size_t q, const char *name, struct gpumc_error *error)
{
  const struct chains *chains = part->chains;
  double *sums = chains->sums[part->m].replica + q * chains->settings.replicas + part->first;
  char path[CHAINS_PATH_BYTES];
  snprintf(path, sizeof path, "runs/%04zu/replicas/%s", part->m, name);
  GPUMC_TRY(gpumc_source_read(part->source, path, &part->replicas, 1, part->values, error));
  for (size_t r = 0; r < part->replicas; r++)
    sums[r] = part->values[r] * (double)chains->measured;
  return GPUMC_OK;
}

/* Takes vector number `at` of the bins. */
static enum gpumc_status
take_bins(const struct part *part, size_t q, const char *name, struct gpumc_error *error)
{
  const struct chains *chains = part->chains;
  struct gpumc_bins *bins = &chains->sums[part->m].bins;
  const size_t count = bins_in(bins);
  const double weight = part->share * (double)bins->state[GPUMC_BINS_LENGTH];
  char path[CHAINS_PATH_BYTES];
  snprintf(path, sizeof path, "runs/%04zu/bins/%s", part->m, name);
  GPUMC_TRY(gpumc_source_read(part->source, path, &count, 1, part->values, error));
  for (size_t b = 0; b < count; b++)
    bins->sums[b * bins->width + q] += weight * part->values[b];
  return GPUMC_OK;
}

/* Takes each bin of a profile, and its average over all measurements, which assigns those after the
 * last bin to the one that was being filled. */
static enum gpumc_status
take_profile(const struct part *part, size_t p, const char *name, struct gpumc_error *error)
{
  const struct chains *chains = part->chains;
  struct chains_profile *sums = &chains->sums[part->m].profile[p];
  struct gpumc_bins *bins = &sums->bins;
  const size_t width = bins->width, count = bins_in(bins);
  const double length = (double)bins->state[GPUMC_BINS_LENGTH];
  const size_t of_bins[] = {count, width}, of_summary[] = {chains->runs, width};
  const bool many = chains->value != NULL;
  double *filling = bins->sums + count * width;
  const double *average;
  char path[CHAINS_PATH_BYTES];
  snprintf(path, sizeof path, "runs/%04zu/bins/%s", part->m, name);
  GPUMC_TRY(gpumc_source_read(part->source, path, of_bins, 2, part->values, error));
  for (size_t i = 0; i < count * width; i++) {
    bins->sums[i] += part->share * length * part->values[i];
    filling[i % width] -= part->share * length * part->values[i];
  }
  snprintf(path, sizeof path, "summary/%s", name);
  GPUMC_TRY(gpumc_source_read(part->source, path, many ? of_summary : &width, many ? 2 : 1,
                              part->values, error));
  average = part->values + (many ? part->m * width : 0);
  for (size_t i = 0; i < width; i++) {
    filling[i] += part->share * (double)chains->measured * average[i];
    sums->group[part->group * width + i] +=
        (double)part->replicas * (double)chains->measured * average[i];
  }
  return GPUMC_OK;
}

static enum gpumc_status take_sums(const struct part *part, struct gpumc_error *error)
{
  const struct chains_quantities *quantities = &part->chains->quantities;
  const struct gpumc_model_ops *model = quantities->model->ops;
  for (size_t q = 0; q < quantities->count; q++) {
    const char *name = quantities->observables.mean[q]->label.name;
    GPUMC_TRY(take_replicas(part, q, name, error));
    GPUMC_TRY(take_bins(part, q, name, error));
  }
  for (size_t p = 0; p < quantities->observables.n_profiles; p++)
    GPUMC_TRY(take_profile(part, p, model->channels[quantities->observables.profile[p]].label.name,
                           error));
  return GPUMC_OK;
}

/* Finds the length and number of bins, which the configuration decides; the same in all sources as
 * in the first. */
static enum gpumc_status find_bins(struct chains *chains, size_t m,
                                   const struct gpumc_source *source, struct gpumc_error *error)
{
  struct chains_sums *sums = &chains->sums[m];
  char path[CHAINS_PATH_BYTES];
  size_t shape[GPUMC_DATASET_RANK_MAXIMUM], rank;
  double sweep[GPUMC_BINS_MOST];
  snprintf(path, sizeof path, "runs/%04zu/bins/sweep", m);
  GPUMC_TRY(gpumc_source_shape(source, path, shape, &rank, error));
  if (rank != 1 || shape[0] == 0 || shape[0] >= GPUMC_BINS_MOST)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s: %s has no bins, or too many: leave it out, or use more sweeps",
                           source->path, path);
  GPUMC_TRY(gpumc_source_read(source, path, shape, 1, sweep, error));
  sums->bins.state[GPUMC_BINS_COUNT] = shape[0];
  sums->bins.state[GPUMC_BINS_LENGTH] = (uint64_t)(sweep[0] / (double)chains->settings.interval);
  const uint64_t complete = shape[0] * sums->bins.state[GPUMC_BINS_LENGTH];
  sums->bins.state[GPUMC_BINS_FILLED] = chains->measured - complete;
  if (complete > chains->measured || gpumc_bins_check(&sums->bins, error) != GPUMC_OK)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s: %s does not match the bins of its configuration: leave it out",
                           source->path, path);
  for (size_t p = 0; p < chains->quantities.observables.n_profiles; p++)
    memcpy(sums->profile[p].bins.state, sums->bins.state, sizeof sums->bins.state);
  return GPUMC_OK;
}

/* Measurements after the last bin: the averages of the replicas include them. */
static void fill_last_bin(const struct chains *chains, size_t m)
{
  struct chains_sums *sums = &chains->sums[m];
  struct gpumc_bins *bins = &sums->bins;
  const size_t replicas = chains->settings.replicas, count = bins_in(bins);
  if (bins->state[GPUMC_BINS_FILLED] == 0) {
    for (size_t p = 0; p < chains->quantities.observables.n_profiles; p++)
      memset(sums->profile[p].bins.sums + count * sums->profile[p].bins.width, 0,
             sums->profile[p].bins.width * sizeof(double));
    return;
  }
  for (size_t q = 0; q < chains->quantities.count; q++) {
    double left = 0;
    for (size_t r = 0; r < replicas; r++)
      left += sums->replica[q * replicas + r] / (double)replicas;
    for (size_t b = 0; b < count; b++)
      left -= bins->sums[b * bins->width + q];
    bins->sums[count * bins->width + q] = left;
  }
}

/* ---- time series ---- */

/* Number k of the plain means, or of the watched ones. */
struct series {
  struct chains *chains;
  size_t k;
  const char *name;   /* of the mean */
  const char *result; /* name of its value and error in the summary; NULL: not there */
  double spacing;     /* sweeps from one value to the next */
};

/* Reads a curve of the summary over the temperatures, values[runs]. */
static enum gpumc_status read_curve(const struct chains *chains, const struct gpumc_source *source,
                                    const char *group, const char *name, const char *suffix,
                                    double *values, struct gpumc_error *error)
{
  char path[256];
  snprintf(path, sizeof path, "summary/%s%s%s", group, name, suffix);
  return gpumc_source_read(source, path, &chains->runs, chains->value != NULL ? 1 : 0, values,
                           error);
}

enum found { CONVERGED, VALUE, ERROR, TIME, TIME_ERROR, SAMPLES, DRIFT, LENGTH, FOUND };

/* Reads found[FOUND][runs] of one source. */
static enum gpumc_status read_found(const struct series *series, const struct gpumc_source *source,
                                    double *found, struct gpumc_error *error)
{
  const struct chains *chains = series->chains;
  const size_t runs = chains->runs;
  const struct {
    const char *group, *name, *suffix;
  } curves[FOUND] = {[CONVERGED] = {"", "converged", ""},
                     [VALUE] = {"", series->result, ""},
                     [ERROR] = {"", series->result, "_error"},
                     [TIME] = {"autocorrelation_time/", series->name, ""},
                     [TIME_ERROR] = {"autocorrelation_time/", series->name, "_error"},
                     [SAMPLES] = {"effective_samples/", series->name, ""},
                     [DRIFT] = {"drift/", series->name, ""},
                     [LENGTH] = {"drift_length/", series->name, ""}};
  for (size_t i = 0; i < FOUND; i++)
    if (curves[i].name != NULL)
      GPUMC_TRY(read_curve(chains, source, curves[i].group, curves[i].name, curves[i].suffix,
                           found + i * runs, error));
  return GPUMC_OK;
}

/* A series drifts beyond this, in a result of few series (series.h). */
static const double drift_allowed = 4.5;

/* Returns whether sources are unconverged whatever their series are: the summary will say so
 * again. */
static bool is_doubted(const struct chains *chains)
{
  return cJSON_GetObjectItemCaseSensitive(chains->context.warnings, "ergodicity_warning") != NULL;
}

/* Adds one more source at temperature m: `share` of the replicas; `before`: effective samples so
 * far. */
static void
add_found(const struct series *series, const double *found, size_t m, double share, double *before)
{
  const struct chains *chains = series->chains;
  const size_t runs = chains->runs;
  struct gpumc_series_estimate *mean = chains_merged_mean(chains, m, series->k);
  const double error_of = found[ERROR * runs + m], drift = found[DRIFT * runs + m];
  const double samples = found[SAMPLES * runs + m], weight = isnan(samples) ? 0 : samples;
  const double time_error = found[TIME_ERROR * runs + m] / series->spacing;
  mean->mean += share * found[VALUE * runs + m];
  mean->error += share * share * error_of * error_of;
  mean->converged = mean->converged && (found[CONVERGED * runs + m] != 0 || is_doubted(chains));
  mean->effective_samples += samples;
  mean->time_error += weight * weight * time_error * time_error;
  *before = gpumc_average_add(&mean->autocorrelation_time, *before,
                              found[TIME * runs + m] / series->spacing, weight);
  if (isnan(mean->drift) || fabs(drift) > fabs(mean->drift)) {
    mean->drift = drift;
    mean->drift_length = (uint64_t)(found[LENGTH * runs + m] / series->spacing);
  }
}

static void
finish_mean(const struct series *series, struct gpumc_series_estimate *mean, double weight)
{
  if (series->result == NULL)
    mean->mean = mean->error = NAN;
  mean->error = sqrt(mean->error);
  mean->freedom = INFINITY; /* Student's factor is included */
  mean->variance = isnan(mean->error) ? 0 : 1;
  mean->time_error = weight > 0 ? sqrt(mean->time_error) / weight : NAN;
  mean->bin_time = isnan(mean->autocorrelation_time) ? 0 : mean->autocorrelation_time;
  mean->drifts = !mean->converged && fabs(mean->drift) > drift_allowed;
  mean->doubt = mean->converged                                ? GPUMC_SERIES_NO_DOUBT
                : mean->drifts                                 ? GPUMC_SERIES_DRIFTS
                : series->result != NULL && isnan(mean->error) ? GPUMC_SERIES_STILL
                                                               : GPUMC_SERIES_SHORT;
}

static enum gpumc_status merge_series(const struct series *series,
                                      const struct gpumc_sources *sources,
                                      struct gpumc_error *error)
{
  const struct chains *chains = series->chains;
  const size_t runs = chains->runs;
  double *found = NULL, *before = NULL;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&found, FOUND * runs, "time series", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&before, runs, "time series", error));
  for (size_t m = 0; m < runs; m++)
    *chains_merged_mean(chains, m, series->k) = (struct gpumc_series_estimate){
        .autocorrelation_time = NAN, .drift = NAN, .converged = true};
  for (size_t i = 0; i < sources->count; i++) {
    const double share = (double)sources->of[i].counted / (double)gpumc_sources_counted(sources);
    GPUMC_TRY_OUT(status, read_found(series, &sources->of[i], found, error));
    for (size_t m = 0; m < runs; m++)
      add_found(series, found, m, share, &before[m]);
  }
  for (size_t m = 0; m < runs; m++)
    finish_mean(series, chains_merged_mean(chains, m, series->k), before[m]);
out:
  free(found);
  free(before);
  return status;
}

/* Results of earlier programs lack means of watched quantities. */
static bool has_all(const struct gpumc_sources *sources, const char *name)
{
  char path[160];
  bool has = true;
  snprintf(path, sizeof path, "summary/%s_error", name);
  for (size_t i = 0; i < sources->count; i++)
    has = has && gpumc_source_has(&sources->of[i], path);
  return has;
}

static enum gpumc_status merge_all_series(struct chains *chains,
                                          const struct gpumc_sources *sources,
                                          struct gpumc_error *error)
{
  const struct chains_quantities *quantities = &chains->quantities;
  const size_t requested = quantities->n_series;
  for (size_t k = 0; k < requested + chains->watch.count; k++) {
    struct series series = {.chains = chains, .k = k, .spacing = (double)chains->settings.interval};
    if (k < requested) {
      series.name = quantities->observables.mean[quantities->series_mean[k]]->label.name;
      series.result =
          gpumc_quantity_label(&quantities->observables, quantities->series_result[k]).name;
    } else {
      series.name = chains->watch.mean[k - requested]->label.name;
      series.result = has_all(sources, series.name) ? series.name : NULL;
      series.spacing *= (double)chains->watch.every;
    }
    GPUMC_TRY(merge_series(&series, sources, error));
  }
  return GPUMC_OK;
}

/* ---- all of it ---- */

static enum gpumc_status check_measurements(struct chains *chains,
                                            const struct gpumc_sources *sources,
                                            struct gpumc_error *error)
{
  chains->measured = chains->settings.sweeps / chains->settings.interval;
  for (size_t i = 0; i < sources->count; i++) {
    double measured;
    GPUMC_TRY(gpumc_source_number(&sources->of[i], "measurements", &measured, error));
    if ((uint64_t)measured != chains->measured)
      return gpumc_error_set(
          error, GPUMC_INVALID,
          "%s has %g measurements, but its configuration asks for %llu: leave it out",
          sources->of[i].path, measured, (unsigned long long)chains->measured);
  }
  return GPUMC_OK;
}

/* Groups of whole sources, for profiles, since averages of single replicas are unknown. */
static void group_sources(struct chains *chains, const struct gpumc_sources *sources)
{
  struct chains_merged *merged = &chains->merged;
  size_t replicas = 0;
  merged->groups = sources->count < CHAINS_MAXIMUM ? sources->count : CHAINS_MAXIMUM;
  for (size_t g = 0, i = 0; g < merged->groups; g++) {
    merged->first[g] = replicas;
    for (; i < (g + 1) * sources->count / merged->groups; i++)
      replicas += (size_t)sources->of[i].counted;
  }
  merged->first[merged->groups] = replicas;
}

static size_t group_of(const struct chains_merged *merged, size_t replica)
{
  size_t g = 0;
  while (replica >= merged->first[g + 1])
    g++;
  return g;
}

/* Takes everything of all sources at temperature m. */
static enum gpumc_status take_temperature(struct chains *chains, size_t m,
                                          const struct gpumc_sources *sources, double *values,
                                          struct gpumc_error *error)
{
  struct part part = {.chains = chains, .m = m, .values = values};
  GPUMC_TRY(find_bins(chains, m, &sources->of[0], error));
  for (size_t i = 0; i < sources->count; i++) {
    part.source = &sources->of[i];
    part.replicas = (size_t)part.source->counted;
    part.share = (double)part.replicas / (double)chains->settings.replicas;
    part.group = group_of(&chains->merged, part.first);
    GPUMC_TRY(take_sums(&part, error));
    part.first += part.replicas;
  }
  fill_last_bin(chains, m);
  return GPUMC_OK;
}

enum gpumc_status
chains_merge(void *state, const struct gpumc_sources *sources, struct gpumc_error *error)
{
  struct chains *chains = state;
  const size_t means = chains->quantities.n_series + chains->watch.count;
  const size_t wide = (size_t)chains_profile_width(chains) + 1;
  const size_t longest =
      chains->settings.replicas + (GPUMC_BINS_MOST + chains->runs) * wide + GPUMC_BINS_MOST;
  double *values = NULL;
  enum gpumc_status status = GPUMC_OK;
  chains->watch.every = 1; /* there are no looks: times of all series are in the same unit */
  GPUMC_TRY(check_measurements(chains, sources, error));
  group_sources(chains, sources);
  GPUMC_TRY(gpumc_allocate_array(&chains->merged.mean, chains->runs * means, "time series", error));
  GPUMC_TRY(merge_all_series(chains, sources, error));
  GPUMC_TRY(gpumc_allocate_array(&values, longest, "contents of results", error));
  for (size_t m = 0; m < chains->runs && status == GPUMC_OK; m++)
    status = take_temperature(chains, m, sources, values, error);
  free(values);
  return status;
}
