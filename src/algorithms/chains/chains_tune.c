/* Chains: tuning of the kernel's own keys by the clock, before the run begins.
 *
 * All combinations of the values that the kernel proposes (gpumc_kernel_ops.tunables), and the
 * given ones, sweep and measure for equal shares of the time, one after the other, each continuing
 * from the states of the one before; a first share only relaxes the initial states. The best one
 * has the shortest autocorrelation time, in seconds, of the slowest of the means that the model has
 * watched. Then the run begins anew with it, like one whose configuration gives these values: the
 * tuning leaves no trace in its numbers. Since the choice depends on the machine, it is part of the
 * checkpoint, which is written at once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/chains/chains_internal.h"
#include "core/base/machine.h"
#include "core/base/memory.h"
#include "core/base/text.h"

/* Share of the time for relaxing the states. */
static const double relaxing_share = 0.1;
/* A time is known once its error is below this share of it, from at least this many
 * measurements. */
static const double largest_error = 0.5;
enum { LEAST_MEASUREMENTS = 32 };

bool chains_tunes(const struct chains *chains)
{
  return chains->settings.tune > 0 && !chains->tuning.done;
}

/* ---- candidates ---- */

static size_t combinations(const struct chains *chains)
{
  size_t count = 1;
  for (size_t i = 0; i < chains->tuning.tunables; i++)
    count *= chains_tunables(chains)[i].count;
  return count;
}

/* Fills them in, none of them tried. The first is the given one, which may also be among the
 * others. */
static void fill_candidates(struct chains *chains)
{
  struct chains_tuning *tuning = &chains->tuning;
  memset(tuning->candidate, 0, (1 + combinations(chains)) * sizeof *tuning->candidate);
  for (size_t i = 0; i < tuning->tunables; i++)
    tuning->candidate[0].value[i] = chains_tunables(chains)[i].get(&tuning->given);
  tuning->count = 1;
  for (size_t k = 0; k < combinations(chains); k++) {
    struct chains_candidate *candidate = &tuning->candidate[tuning->count];
    size_t rest = k;
    for (size_t i = 0; i < tuning->tunables; i++) {
      const struct gpumc_tunable *tunable = &chains_tunables(chains)[i];
      candidate->value[i] = tunable->value[rest % tunable->count];
      rest /= tunable->count;
    }
    tuning->count +=
        memcmp(candidate->value, tuning->candidate[0].value, sizeof candidate->value) != 0;
  }
}

static size_t series_count(const struct chains *chains)
{
  return chains->runs * chains->settings.chains * chains->quantities.n_series;
}

static size_t watched_count(const struct chains *chains)
{
  return chains->runs * chains->settings.chains * chains->watch.count;
}

enum gpumc_status chains_tuning_make(struct chains *chains, struct gpumc_error *error)
{
  const struct gpumc_ensemble *ensemble = chains->context.ensemble;
  struct chains_tuning *tuning = &chains->tuning;
  if (!chains_tunes(chains))
    return GPUMC_OK;
  if (ensemble->ops->n_tunables == 0 || ensemble->ops->n_tunables > CHAINS_TUNABLES)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "algorithm.tune: kernel %s has no keys that can be tuned",
                           ensemble->ops->variant);
  tuning->tunables = ensemble->ops->n_tunables;
  tuning->given = ensemble->plan.options;
  GPUMC_TRY(
      gpumc_allocate_array(&tuning->candidate, 1 + combinations(chains), "tuned keys", error));
  fill_candidates(chains);
  GPUMC_TRY(gpumc_allocate_array(&tuning->series, series_count(chains), "time series", error));
  return gpumc_allocate_array(&tuning->watched, watched_count(chains) + 1, "time series", error);
}

void chains_tuning_free(struct chains_tuning *tuning)
{
  free(tuning->candidate);
  free(tuning->series);
  free(tuning->watched);
}

static struct gpumc_kernel_options options_of(const struct chains *chains, size_t candidate)
{
  struct gpumc_kernel_options options = chains->tuning.given;
  for (size_t i = 0; i < chains->tuning.tunables; i++)
    chains_tunables(chains)[i].set(&options, chains->tuning.candidate[candidate].value[i]);
  return options;
}

/* ---- the performance of one ---- */

static bool is_watched(const struct chains *chains, size_t k)
{
  const struct chains_quantities *quantities = &chains->quantities;
  bool any = chains->watch.count > 0;
  for (size_t i = 0; i < quantities->n_series; i++)
    any =
        any || quantities->observables.mean[quantities->series_mean[i]]->watch != GPUMC_WATCH_NEVER;
  return !any ||
         quantities->observables.mean[quantities->series_mean[k]]->watch != GPUMC_WATCH_NEVER;
}

static void add_measurement(const struct chains *chains)
{
  const struct chains_settings *settings = &chains->settings;
  const struct chains_quantities *quantities = &chains->quantities;
  for (size_t i = 0; i < chains->runs * quantities->n_series; i++) {
    const size_t m = i / quantities->n_series, k = i % quantities->n_series;
    const size_t q = quantities->series_mean[k];
    const struct gpumc_mean *mean = quantities->observables.mean[q];
    if (is_watched(chains, k))
      chains_add_means(settings, mean, quantities->unit[q],
                       chains->channels.host[mean->index] + m * settings->replicas, chains->scratch,
                       chains->tuning.series + m * settings->chains * quantities->n_series + k,
                       quantities->n_series);
  }
  chains_watch_digest(chains, chains->tuning.watched);
}

/* Sweeps to the next measurement and performs it, like the run, except for profiles. */
static enum gpumc_status sweep_and_measure(struct chains *chains, struct gpumc_error *error)
{
  int64_t *channel[GPUMC_CHANNELS_MAXIMUM] = {NULL};
  memcpy(channel, chains->channels.device,
         chains->quantities.observables.n_channels * sizeof *channel);
  GPUMC_TRY(chains_sweep(chains, chains->settings.interval, channel, error));
  return chains_channels_fetch(chains, &chains->channels, false, error);
}

/* Performs a look at the watched means. */
static enum gpumc_status look(struct chains *chains, struct gpumc_error *error)
{
  if (chains->watch.count == 0)
    return GPUMC_OK;
  GPUMC_TRY(chains_watch_measure(chains, error));
  return chains_watch_fetch(chains, error);
}

/* Performs as many measurements as take the time of a look, then a look, whose time does not count:
 * looks are rare in the run. */
static enum gpumc_status try_once(struct chains *chains, struct gpumc_error *error)
{
  struct chains_tuning *tuning = &chains->tuning;
  const uint32_t steps = tuning->spacing > 0 ? tuning->spacing : 1;
  const double begun = gpumc_processes_clock(chains->context.processes);
  for (uint32_t i = 0; i < steps; i++)
    GPUMC_TRY(sweep_and_measure(chains, error));
  const double swept = gpumc_processes_clock(chains->context.processes);
  GPUMC_TRY(look(chains, error));
  const double looked = gpumc_processes_clock(chains->context.processes);
  if (!tuning->relaxed)
    return GPUMC_OK;
  if (tuning->spacing > 0) {
    struct chains_candidate *candidate = &tuning->candidate[tuning->next];
    candidate->sweeps += (double)steps * (double)chains->settings.interval;
    candidate->seconds += swept - begun;
    add_measurement(chains);
  } else {
    tuning->spacing = (uint32_t)fmin(fmax(ceil((looked - swept) / (swept - begun)), 1), 1000);
  }
  return GPUMC_OK;
}

/* Takes the autocorrelation time of a series, all chains together, if it is the slowest. */
static void take_slower(const struct chains *chains, const struct gpumc_series *series,
                        size_t stride, struct chains_candidate *candidate)
{
  const double spacing = (double)chains->settings.interval * (double)chains->tuning.spacing;
  struct gpumc_series together = {0};
  struct gpumc_series_estimate estimate;
  for (size_t b = 0; b < chains->settings.chains; b++)
    gpumc_series_merge(&together, &series[b * stride]);
  gpumc_series_estimate(&together, &estimate);
  /* It is unknown for values that are practically independent. */
  const double error = isnan(estimate.time_error) ? 0 : estimate.time_error;
  if (estimate.count < LEAST_MEASUREMENTS ||
      !(error <= largest_error * estimate.autocorrelation_time)) {
    candidate->time = candidate->time_error = (double)NAN;
  } else if (estimate.autocorrelation_time * spacing > candidate->time) {
    candidate->time = estimate.autocorrelation_time * spacing;
    candidate->time_error = error * spacing;
  }
}

static void evaluate(const struct chains *chains, struct chains_candidate *candidate)
{
  const struct chains_tuning *tuning = &chains->tuning;
  const size_t n_chains = chains->settings.chains, series = chains->quantities.n_series,
               watched = chains->watch.count;
  candidate->time = 0;
  for (size_t m = 0; m < chains->runs; m++) {
    for (size_t k = 0; k < series; k++)
      if (is_watched(chains, k))
        take_slower(chains, tuning->series + m * n_chains * series + k, series, candidate);
    for (size_t w = 0; w < watched; w++)
      take_slower(chains, tuning->watched + m * n_chains * watched + w, watched, candidate);
  }
}

/* ---- the choice ---- */

/* The run begins with it, as if nothing had happened before. */
static enum gpumc_status choose(struct chains *chains, struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = chains->context.ensemble;
  chains->tuning.chosen = chains_tuning_best(&chains->tuning);
  chains->tuning.done = true;
  const struct gpumc_kernel_options options = options_of(chains, chains->tuning.chosen);
  GPUMC_TRY(gpumc_ensemble_set_options(ensemble, &options, error));
  ensemble->runs = 0;
  ensemble->time = 0;
  chains_pace(chains);
  chains_tuning_tell(chains);
  return GPUMC_OK;
}

/* Called when the current candidate's share of the time is over. */
static enum gpumc_status go_on(struct chains *chains, struct gpumc_error *error)
{
  struct chains_tuning *tuning = &chains->tuning;
  if (tuning->relaxed) {
    evaluate(chains, &tuning->candidate[tuning->next]);
    tuning->next++;
  }
  tuning->relaxed = true;
  tuning->spent = 0;
  tuning->spacing = 0;
  memset(tuning->series, 0, series_count(chains) * sizeof *tuning->series);
  memset(tuning->watched, 0, watched_count(chains) * sizeof *tuning->watched);
  if (tuning->next == tuning->count)
    return choose(chains, error);
  const struct gpumc_kernel_options options = options_of(chains, tuning->next);
  return gpumc_ensemble_set_options(chains->context.ensemble, &options, error);
}

/* An interrupted tuning begins anew, since the machine may be another one. */
static void warn_of_limit(const struct chains *chains)
{
  const double limit = chains->context.max_seconds;
  char text[256], needed[32], given[32];
  if (limit <= 0 || limit > chains->settings.tune)
    return;
  snprintf(text, sizeof text,
           "algorithm.tune takes %s, but the time limit is %s: tuning would be cut off, and start "
           "over when the run is resumed; raise --max-time or lower algorithm.tune",
           gpumc_duration_text(chains->settings.tune, needed), gpumc_duration_text(limit, given));
  gpumc_observer_tell(chains->context.observer, GPUMC_WARNING, text);
}

enum gpumc_status chains_tune(struct chains *chains, struct gpumc_error *error)
{
  struct chains_tuning *tuning = &chains->tuning;
  struct gpumc_ensemble *ensemble = chains->context.ensemble;
  const double share =
      chains->settings.tune *
      (tuning->relaxed ? (1 - relaxing_share) / (double)tuning->count : relaxing_share);
  if (ensemble->runs == 0) {
    warn_of_limit(chains);
    GPUMC_TRY(gpumc_ensemble_start(ensemble, 0, chains->runs, chains->settings.replicas, error));
  }
  const double begun = gpumc_processes_clock(chains->context.processes);
  double elapsed;
  do {
    GPUMC_TRY(try_once(chains, error));
    elapsed = gpumc_processes_clock(chains->context.processes) - begun;
  } while (elapsed < CHAINS_UNIT_SECONDS && tuning->spent + elapsed < share);
  tuning->spent += elapsed;
  tuning->seconds += elapsed;
  return tuning->spent < share ? GPUMC_OK : go_on(chains, error);
}

/* ---- checkpoints: of the choice; without one everything is done anew ---- */

enum { PARTS = 3, LONGEST_NAME = 64 };

static void list_parts(struct chains_tuning *tuning, uint64_t state[2], double seconds[2],
                       struct gpumc_part part[PARTS])
{
  const size_t numbers = sizeof *tuning->candidate / sizeof(double);
  part[0] = (struct gpumc_part){"state", GPUMC_UINT64, 2, 1, state};
  part[1] = (struct gpumc_part){"seconds", GPUMC_FLOAT64, 2, 1, seconds};
  part[2] =
      (struct gpumc_part){"candidates", GPUMC_FLOAT64, tuning->count, numbers, tuning->candidate};
}

static const char *prefix_of(const struct chains *chains, char text[static LONGEST_NAME])
{
  snprintf(text, LONGEST_NAME, "%s/tuning", chains->name);
  return text;
}

enum gpumc_status chains_tuning_save(const struct chains *chains,
                                     struct gpumc_checkpoint_writer *writer,
                                     struct gpumc_error *error)
{
  struct chains_tuning tuning = chains->tuning;
  uint64_t state[2] = {tuning.done, tuning.chosen};
  double seconds[2] = {tuning.seconds, tuning.stopped};
  struct gpumc_part part[PARTS];
  char prefix[LONGEST_NAME];
  if (tuning.candidate == NULL)
    return GPUMC_OK;
  list_parts(&tuning, state, seconds, part);
  return gpumc_parts_save(part, PARTS, NULL, writer, prefix_of(chains, prefix), error);
}

enum gpumc_status chains_tuning_load(struct chains *chains, struct gpumc_checkpoint_reader *reader,
                                     struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = chains->context.ensemble;
  struct chains_tuning *tuning = &chains->tuning;
  uint64_t state[2];
  double seconds[2];
  struct gpumc_part part[PARTS];
  char prefix[LONGEST_NAME];
  if (tuning->candidate == NULL)
    return GPUMC_OK;
  list_parts(tuning, state, seconds, part);
  GPUMC_TRY(gpumc_parts_load(part, PARTS, NULL, reader, prefix_of(chains, prefix), error));
  if (state[0] > 1 || state[1] >= tuning->count)
    return gpumc_error_set(error, GPUMC_FAILURE,
                           "is damaged: a tuned value is not one of those that tuning tries");
  tuning->done = state[0] == 1;
  tuning->chosen = (size_t)state[1];
  tuning->stopped = seconds[1];
  if (tuning->done) {
    tuning->seconds = seconds[0];
    ensemble->plan.options = options_of(chains, tuning->chosen);
    chains_pace(chains);
  } else {
    tuning->stopped += seconds[0];
    fill_candidates(chains);
    ensemble->runs = 0;
    ensemble->time = 0;
  }
  return GPUMC_OK;
}
