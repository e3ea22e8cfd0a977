/* Chains: looks at slow observables that were not requested.
 *
 * A result is no better than its slowest observable. Means that the model always wants watched
 * (gpumc_mean.watch), of channels that are measured only on request and were not requested, are
 * measured with every `every`-th measurement: a look. They have time series, like the others, from
 * which the summary takes their means with errors: the length of all these series decides whether
 * the chains have converged. Looks are rare enough to take a small share of the time, by the costs
 * that model and kernel declare, so the interval depends only on the configuration; but there are
 * enough of them in a run to show that it was long, even if they are all independent. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/chains/chains_internal.h"
#include "core/base/memory.h"
#include "core/simulation/curves.h"
#include "core/storage/checkpoint.h"

/* Share of the time of sweeps that looks may take. */
static const double looking_share = 0.1;
/* A series must be 500 of its autocorrelation times long, which for independent values is half of
 * their spacing: 250 values, and as many again for estimates that come out too large. */
enum { LEAST_LOOKS = 512 };
/* Nanoseconds per site and sweep for kernels that do not say. */
static const double unknown_cost = 10.0;

static bool is_looked_at(const struct gpumc_observables *observables,
                         const struct gpumc_model_ops *model, const struct gpumc_mean *mean)
{
  bool requested = mean->source != GPUMC_MEAN_CHANNEL || mean->watch != GPUMC_WATCH_ALWAYS ||
                   mean->controls != 0 || model->channels[mean->index].request_key == NULL;
  for (size_t k = 0; k < observables->n_means; k++)
    requested = requested || observables->mean[k] == mean;
  return !requested;
}

void chains_watch_choose(const struct gpumc_model *model,
                         const struct gpumc_observables *observables, struct chains_watch *watch)
{
  watch->count = 0;
  for (size_t k = 0; k < model->ops->n_means && watch->count < CHAINS_WATCHED; k++)
    if (is_looked_at(observables, model->ops, &model->ops->means[k])) {
      const struct gpumc_mean *mean = &model->ops->means[k];
      watch->unit[watch->count] = gpumc_mean_unit(mean, model);
      watch->cost = fmax(watch->cost, model->ops->channels[mean->index].cost);
      watch->mean[watch->count++] = mean;
    }
}

double chains_least_looks(const struct chains_settings *settings)
{
  return fmin((double)(settings->sweeps / settings->interval),
              ceil((double)LEAST_LOOKS / (double)settings->chains));
}

void chains_watch_pace(struct chains *chains)
{
  const struct gpumc_ensemble *ensemble = chains->context.ensemble;
  const struct chains_settings *settings = &chains->settings;
  const double sites = (double)ensemble->model->sites;
  const double sweep = ensemble->ops->cost != NULL
                           ? gpumc_kernel_cost(ensemble->ops, ensemble->model, &ensemble->plan, 1)
                           : unknown_cost * sites;
  const double rare = ceil(chains->watch.cost * sites /
                           (looking_share * sweep * (double)settings->interval)),
               enough = floor((double)(settings->sweeps / settings->interval) /
                              chains_least_looks(settings));
  chains->watch.every = (uint32_t)fmax(fmin(rare, enough), 1);
}

/* ---- memory ---- */

static size_t series_count(const struct chains *chains)
{
  return chains->runs * chains->settings.chains * chains->watch.count;
}

enum gpumc_status chains_watch_make(struct chains *chains, struct gpumc_error *error)
{
  struct chains_watch *watch = &chains->watch;
  if (watch->count == 0)
    return GPUMC_OK;
  bool asked[GPUMC_CHANNELS_MAXIMUM] = {false};
  for (size_t w = 0; w < watch->count; w++)
    asked[watch->mean[w]->index] = true;
  GPUMC_TRY(chains_channels_make(chains, asked, &watch->channels, error));
  return gpumc_allocate_array(&watch->series, series_count(chains), "time series", error);
}

void chains_watch_free(struct chains *chains)
{
  struct chains_watch *watch = &chains->watch;
  chains_channels_free(chains, &watch->channels);
  free(watch->series);
}

/* ---- looks ---- */

uint64_t chains_looks(const struct chains *chains)
{
  return chains->watch.count > 0 ? chains->measured / chains->watch.every : 0;
}

enum gpumc_status chains_watch_measure(struct chains *chains, struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = chains->context.ensemble;
  return ensemble->ops->measure(ensemble, chains->watch.channels.device, error);
}

enum gpumc_status chains_watch_fetch(struct chains *chains, struct gpumc_error *error)
{
  return chains_channels_fetch(chains, &chains->watch.channels, true, error);
}

void chains_watch_digest(const struct chains *chains, struct gpumc_series *series)
{
  const struct chains_settings *settings = &chains->settings;
  const struct chains_watch *watch = &chains->watch;
  for (size_t i = 0; i < chains->runs * watch->count; i++) {
    const size_t m = i / watch->count, w = i % watch->count;
    chains_add_means(settings, watch->mean[w], watch->unit[w],
                     watch->channels.host[watch->mean[w]->index] + m * settings->replicas,
                     chains->scratch, series + m * settings->chains * watch->count + w,
                     watch->count);
  }
}

void chains_watch_estimate(const struct chains *chains, size_t m, size_t w,
                           struct gpumc_series_estimate *estimate)
{
  const size_t count = chains->watch.count, n_chains = chains->settings.chains;
  struct gpumc_series together = {0};
  if (chains->merged.mean != NULL) {
    *estimate = *chains_merged_mean(chains, m, chains->quantities.n_series + w);
    return;
  }
  for (size_t b = 0; b < n_chains; b++)
    gpumc_series_merge(&together, &chains->watch.series[(m * n_chains + b) * count + w]);
  together.members = (chains->settings.replicas + n_chains - 1) / n_chains;
  gpumc_series_estimate_among(&together, chains_deciding(chains), estimate);
  estimate->effective_samples *= (double)chains->settings.replicas / (double)n_chains;
}

enum gpumc_status chains_watch_write(const struct chains *chains,
                                     const struct gpumc_curve_place *place,
                                     struct gpumc_error *error)
{
  double *value = NULL;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&value, 2 * chains->runs, "watched means", error));
  for (size_t w = 0; w < chains->watch.count; w++) {
    for (size_t m = 0; m < chains->runs; m++) {
      struct gpumc_series_estimate mean;
      chains_watch_estimate(chains, m, w, &mean);
      value[m] = mean.mean;
      value[chains->runs + m] = chains_series_error(&mean);
    }
    GPUMC_TRY_OUT(status, gpumc_curve_write_with_error(place, &chains->watch.mean[w]->label, value,
                                                       value + chains->runs, error));
  }
out:
  free(value);
  return status;
}

/* ---- checkpoints ---- */

enum { LONGEST_NAME = 64 };

static struct gpumc_part part_of(const struct chains *chains, char prefix[static LONGEST_NAME])
{
  snprintf(prefix, LONGEST_NAME, "%s/watch", chains->name);
  return (struct gpumc_part){"series", GPUMC_UINT64, series_count(chains), GPUMC_SERIES_WORDS,
                             chains->watch.series};
}

enum gpumc_status chains_watch_save(const struct chains *chains,
                                    struct gpumc_checkpoint_writer *writer,
                                    struct gpumc_error *error)
{
  char prefix[LONGEST_NAME];
  const struct gpumc_part part = part_of(chains, prefix);
  return chains->watch.count == 0 ? GPUMC_OK
                                  : gpumc_parts_save(&part, 1, NULL, writer, prefix, error);
}

enum gpumc_status chains_watch_load(struct chains *chains, struct gpumc_checkpoint_reader *reader,
                                    struct gpumc_error *error)
{
  char prefix[LONGEST_NAME];
  const struct gpumc_part part = part_of(chains, prefix);
  if (chains->watch.count == 0)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_parts_load(&part, 1, NULL, reader, prefix, error));
  for (size_t i = 0; i < series_count(chains); i++)
    if (chains->watch.series[i].level[0].bins != chains_looks(chains) ||
        chains->watch.series[i].merged != (chains_looks(chains) > 0))
      return gpumc_error_set(error, GPUMC_FAILURE,
                             "is damaged: its counters and watched series are inconsistent");
  return GPUMC_OK;
}
