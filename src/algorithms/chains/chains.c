/* Chains, from creation to checkpoint: units of progress, configurations, and the state. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/chains/chains_internal.h"
#include "core/base/machine.h"
#include "core/base/memory.h"
#include "core/storage/checkpoint.h"

/* ---- configurations ---- */

static enum gpumc_status configurations_declare(struct chains *chains, struct gpumc_error *error)
{
  const char *const which = chains->value == NULL ? "index of the run: 0"
                            : chains->moved.beta  ? "index of the temperature, from 0"
                                                  : "index of the value, from 0";
  const struct gpumc_column labels[CHAINS_LABELS] = {
      [CHAINS_SWEEP] = GPUMC_CONFIGURATIONS_SWEEP,
      [CHAINS_RUN] = {.label = {"run", which, "1", ""}, .width = 1, .integer = true},
      [CHAINS_REPLICA] = {.label = {"replica", "index of the replica, from 0", "1", ""},
                          .width = 1,
                          .integer = true},
  };
  if (!gpumc_configurations_request_any(&chains->request))
    return GPUMC_OK;
  return gpumc_configurations_declare(&chains->context, labels, CHAINS_LABELS,
                                      &chains->configurations, error);
}

static enum gpumc_status configurations_write(struct chains *chains, struct gpumc_error *error)
{
  const struct gpumc_configurations_request *request = &chains->request;
  const struct gpumc_configurations_chains all = chains_all_replicas(chains);
  const uint32_t sweep = chains->context.ensemble->time - chains->settings.thermalization;
  if (!gpumc_configurations_request_due(request, sweep - chains->settings.interval, sweep))
    return GPUMC_OK;
  return gpumc_configurations_write_chains(&chains->configurations, request, &all, sweep, error);
}

/* ---- creation ---- */

void chains_destroy(void *state)
{
  struct chains *chains = state;
  if (chains == NULL)
    return;
  chains_sums_free(chains);
  chains_watch_free(chains);
  chains_tuning_free(&chains->tuning);
  gpumc_configurations_free(&chains->configurations);
  chains_settings_free(chains);
  chains_merged_free(chains);
  free(chains->table);
  free(chains->row);
  free(chains);
}

static enum gpumc_status build(chains_read *read, struct chains *chains, struct gpumc_error *error)
{
  GPUMC_TRY(
      chains_settings_make(read, &chains->context.params, chains->context.model, chains, error));
  GPUMC_TRY(chains_sums_make(chains, error));
  GPUMC_TRY(chains_tables_declare(chains, error));
  GPUMC_TRY(configurations_declare(chains, error));
  GPUMC_TRY(chains_watch_make(chains, error));
  GPUMC_TRY(chains_tuning_make(chains, error));
  chains_pace(chains);
  return GPUMC_OK;
}

/* Leaves no partial state: the position may be requested at any time. */
enum gpumc_status chains_create(chains_read *read, struct gpumc_context *context, void **state,
                                struct gpumc_error *error)
{
  struct chains *chains;
  GPUMC_TRY(gpumc_allocate_array(&chains, 1, "chains", error));
  chains->context = *context;
  const enum gpumc_status status = build(read, chains, error);
  if (status == GPUMC_OK)
    *state = chains;
  else
    chains_destroy(chains);
  return status;
}

/* ---- progress ---- */

/* The stages of the device's time. */
enum stage { STAGE_OTHER = GPUMC_STAGE_OTHER, STAGE_SWEEP, STAGE_LOOK, STAGE_TALLY };
const char *const chains_stages[] = {"sweep", "look", "tally", NULL};

static void enter(const struct chains *chains, enum stage stage)
{
  chains->context.device->ops->enter(chains->context.device, stage);
}

/* Returns the time of the first measurement after `time`. */
static uint32_t next_measurement(const struct chains_settings *settings, uint32_t time)
{
  const uint64_t done = chains_measurements(settings, time);
  return settings->thermalization + (uint32_t)(done + 1) * settings->interval;
}

/* Returns `end`, or a later time that does not split sweeps that the kernel performs together. */
static uint32_t after_whole_groups(const struct gpumc_ensemble *ensemble, uint32_t end)
{
  const uint32_t together = ensemble->plan.options.together;
  const uint64_t group = together > 1 ? together : 1;
  const uint64_t whole = ensemble->time + (end - ensemble->time + group - 1) / group * group;
  return whole < UINT32_MAX ? (uint32_t)whole : UINT32_MAX;
}

/* Adds the measurement that is on the host to sums and time series. */
static enum gpumc_status take_in(struct chains *chains, struct gpumc_error *error)
{
  chains_digest(chains);
  if (chains->watch.pending)
    chains_watch_digest(chains, chains->watch.series);
  return chains_series_record(chains, error);
}

/* Brings the pending measurement to the host. */
static enum gpumc_status fetch(struct chains *chains, struct gpumc_error *error)
{
  GPUMC_TRY(chains_fetch(chains, error));
  return chains->watch.pending ? chains_watch_fetch(chains, error) : GPUMC_OK;
}

/* Returns whether the next measurement includes a look; the last one may not be in the sums yet. */
static bool is_look(const struct chains *chains, bool pending)
{
  return chains->watch.count > 0 && (chains->measured + pending + 1) % chains->watch.every == 0;
}

/* Sweeps up to `end`, a little further, or the next measurement. Meanwhile the previous measurement
 * is added to the sums. */
static enum gpumc_status sweep_to(struct chains *chains, uint32_t end, struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = chains->context.ensemble;
  const uint32_t next = next_measurement(&chains->settings, ensemble->time);
  const uint32_t whole = after_whole_groups(ensemble, end);
  const uint32_t to = next < whole ? next : whole;
  const bool pending = chains->pending;
  const bool looks = to == next && is_look(chains, pending);
  chains->pending = false;
  if (pending)
    GPUMC_TRY(fetch(chains, error));
  enter(chains, STAGE_SWEEP);
  GPUMC_TRY(chains_sweep(chains, to - ensemble->time, to == next ? chains->channels.device : NULL,
                         error));
  enter(chains, STAGE_LOOK);
  if (looks)
    GPUMC_TRY(chains_watch_measure(chains, error));
  enter(chains, STAGE_TALLY);
  if (pending)
    GPUMC_TRY(take_in(chains, error));
  chains->watch.pending = looks;
  enter(chains, STAGE_OTHER);
  if (to == next)
    GPUMC_TRY(configurations_write(chains, error));
  chains->pending = to == next;
  return GPUMC_OK;
}

enum gpumc_status chains_settle(void *state, struct gpumc_error *error)
{
  struct chains *chains = state;
  if (!chains->pending)
    return GPUMC_OK;
  chains->pending = false;
  GPUMC_TRY(fetch(chains, error));
  GPUMC_TRY(take_in(chains, error));
  chains->watch.pending = false;
  return GPUMC_OK;
}

const enum gpumc_division chains_divides[] = {GPUMC_BY_RUNS, GPUMC_BY_PARTS, GPUMC_UNDIVIDED};

enum gpumc_status chains_advance(void *state, bool *finished, struct gpumc_error *error)
{
  struct chains *chains = state;
  struct gpumc_ensemble *ensemble = chains->context.ensemble;
  const uint32_t total = chains_end(&chains->settings);
  const double begun = gpumc_processes_clock(chains->context.processes);
  *finished = false;
  if (chains_tunes(chains))
    return chains_tune(chains, error);
  if (ensemble->runs == 0)
    GPUMC_TRY(gpumc_ensemble_start(ensemble, 0, chains->runs, chains->settings.replicas, error));
  const uint32_t left = total - ensemble->time;
  const uint32_t end = ensemble->time + (left < chains->unit ? left : chains->unit);
  for (bool over = false; ensemble->time < end && !over;
       over = gpumc_processes_clock(chains->context.processes) - begun >= CHAINS_UNIT_SECONDS)
    GPUMC_TRY(sweep_to(chains, end, error));
  *finished = ensemble->time == total;
  return *finished ? chains_settle(chains, error) : GPUMC_OK;
}

void chains_position(const void *state, struct gpumc_position *where)
{
  const struct chains *chains = state;
  const struct gpumc_ensemble *ensemble = chains->context.ensemble;
  const double time = ensemble->runs > 0 ? (double)ensemble->time : 0;
  where->fraction = time / (double)chains_end(&chains->settings);
  where->updates = time * (double)chains->runs * (double)chains->settings.replicas *
                   (double)chains->context.model->sites;
  where->coordinate = "sweep";
  where->value = time;
  where->decided = chains->tuning.done && ensemble->runs == 0;
  if (chains_tunes(chains)) {
    where->coordinate = "tuning";
    where->value = (double)chains->tuning.next;
    where->fraction = where->updates = 0;
  }
}

/* ---- checkpoints ---- */

static const char *name_of_count(const struct chains *chains, char text[static CHAINS_NAME_BYTES])
{
  snprintf(text, CHAINS_NAME_BYTES, "%s/measured", chains->name);
  return text;
}

static size_t chain_count(const struct chains *chains)
{
  return chains->settings.chains * chains->quantities.n_series;
}

/* The sums of a temperature are in groups: its own, then those of each profile. */
static size_t group_count(const struct chains *chains)
{
  return 1 + chains->quantities.observables.n_profiles;
}

static struct gpumc_bins *bins_of(const struct chains *chains, size_t m, size_t group)
{
  struct chains_sums *sums = &chains->sums[m];
  return group == 0 ? &sums->bins : &sums->profile[group - 1].bins;
}

/* Lists the parts of a group; halves only if every replica has a sample. Returns their number. */
static size_t list_parts(const struct chains *chains, size_t m, size_t group,
                         struct gpumc_part part[static CHAINS_PARTS],
                         char prefix[static CHAINS_NAME_BYTES])
{
  struct chains_sums *sums = &chains->sums[m];
  const size_t width = chains_vector_width(chains, m);
  const size_t replicas = chains->settings.replicas;
  if (group > 0)
    return chains_profile_parts(chains, m, group - 1, part, prefix);
  const struct gpumc_part all[CHAINS_PARTS] = {
      {"reference", GPUMC_INT64, 1, 1, &sums->reference},
      {"series", GPUMC_UINT64, chain_count(chains), GPUMC_SERIES_WORDS, sums->chain},
      {"bins_state", GPUMC_UINT64, GPUMC_BINS_STATE, 1, sums->bins.state},
      {"bins", GPUMC_FLOAT64, GPUMC_BINS_MOST, width, sums->bins.sums},
      {"replicas", GPUMC_FLOAT64, width, replicas, sums->replica},
      {"halves", GPUMC_FLOAT64, width, replicas, sums->half},
  };
  memcpy(part, all, sizeof all);
  snprintf(prefix, CHAINS_NAME_BYTES, "%s/%zu", chains->name, m);
  return sums->half != NULL ? CHAINS_PARTS : CHAINS_PARTS - 1;
}

static enum gpumc_status save_sums(const struct chains *chains, size_t m,
                                   struct gpumc_checkpoint_writer *writer,
                                   struct gpumc_error *error)
{
  struct gpumc_part part[CHAINS_PARTS];
  char prefix[CHAINS_NAME_BYTES];
  for (size_t group = 0; group < group_count(chains); group++) {
    const size_t parts = list_parts(chains, m, group, part, prefix);
    GPUMC_TRY(gpumc_parts_save(part, parts, NULL, writer, prefix, error));
  }
  return GPUMC_OK;
}

static enum gpumc_status load_sums(struct chains *chains, size_t m,
                                   struct gpumc_checkpoint_reader *reader,
                                   struct gpumc_error *error)
{
  struct gpumc_part part[CHAINS_PARTS];
  char prefix[CHAINS_NAME_BYTES];
  for (size_t group = 0; group < group_count(chains); group++) {
    const size_t parts = list_parts(chains, m, group, part, prefix);
    GPUMC_TRY(gpumc_parts_load(part, parts, NULL, reader, prefix, error));
    GPUMC_TRY(gpumc_bins_check(bins_of(chains, m, group), error));
  }
  return GPUMC_OK;
}

enum gpumc_status
chains_save(const void *state, struct gpumc_checkpoint_writer *writer, struct gpumc_error *error)
{
  const struct chains *chains = state;
  char name[CHAINS_NAME_BYTES];
  GPUMC_TRY(gpumc_checkpoint_put(writer, name_of_count(chains, name), GPUMC_UINT64, 1, 1,
                                 &chains->measured, error));
  GPUMC_TRY(chains_tuning_save(chains, writer, error));
  GPUMC_TRY(chains_watch_save(chains, writer, error));
  for (size_t m = 0; m < chains->runs; m++)
    GPUMC_TRY(save_sums(chains, m, writer, error));
  return GPUMC_OK;
}

static uint64_t values_in(const struct gpumc_bins *bins)
{
  return bins->state[GPUMC_BINS_COUNT] * bins->state[GPUMC_BINS_LENGTH] +
         bins->state[GPUMC_BINS_FILLED];
}

/* Returns whether the recorder has the expected rows. */
static bool rows_fit(const struct chains *chains)
{
  const struct gpumc_recorder *recorder = chains->context.recorder;
  const uint64_t sweeps = chains->measured * chains->settings.interval;
  bool good = true;
  for (size_t m = 0; m < chains->runs && chains->settings.series; m++)
    good = good && gpumc_recorder_count(recorder, chains->table[m]) == chains->measured;
  return good && gpumc_configurations_count(&chains->configurations) ==
                     (uint64_t)chains_configurations_rows(chains, (uint32_t)sweeps);
}

/* A readable checkpoint may still be wrong. */
static bool fits(const struct chains *chains)
{
  const struct gpumc_ensemble *ensemble = chains->context.ensemble;
  bool good = ensemble->runs == 0 || ensemble->runs == chains->runs;
  good = good && ensemble->first_run == 0 && ensemble->time <= chains_end(&chains->settings) &&
         chains->measured == chains_measurements(&chains->settings, ensemble->time);
  good = good && rows_fit(chains);
  for (size_t m = 0; m < chains->runs && good; m++) {
    const struct chains_sums *sums = &chains->sums[m];
    for (size_t group = 0; group < group_count(chains); group++)
      good = good && values_in(bins_of(chains, m, group)) == chains->measured;
    for (size_t i = 0; i < chain_count(chains) && good; i++)
      good = sums->chain[i].level[0].bins == chains->measured &&
             sums->chain[i].merged == (chains->measured > 0);
  }
  return good;
}

enum gpumc_status chains_load(void *state, struct gpumc_checkpoint_reader *reader, bool *finished,
                              struct gpumc_error *error)
{
  struct chains *chains = state;
  char name[CHAINS_NAME_BYTES];
  GPUMC_TRY(gpumc_checkpoint_get_rows(reader, name_of_count(chains, name), GPUMC_UINT64, 0, 1, 1,
                                      &chains->measured, error));
  GPUMC_TRY(chains_tuning_load(chains, reader, error));
  GPUMC_TRY(chains_watch_load(chains, reader, error));
  for (size_t m = 0; m < chains->runs; m++)
    GPUMC_TRY(load_sums(chains, m, reader, error));
  if (!fits(chains))
    return gpumc_error_set(error, GPUMC_FAILURE,
                           "is damaged: its counters, sums and rows are inconsistent");
  *finished = chains->context.ensemble->runs > 0 &&
              chains->context.ensemble->time == chains_end(&chains->settings);
  return GPUMC_OK;
}
