/* Canonical runs: updates at fixed temperatures, from creation to checkpoint, and their vtable. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/canonical/canonical.h"
#include "core/base/memory.h"
#include "core/simulation/ladder.h"
#include "core/storage/checkpoint.h"

/* ---- configurations ---- */

enum { SWEEP, RUN, REPLICA, LABELS };

static enum gpumc_status
configurations_declare(struct canonical *canonical, struct gpumc_error *error)
{
  const struct gpumc_column labels[LABELS] = {
      [SWEEP] = GPUMC_CONFIGURATIONS_SWEEP,
      [RUN] = {.label = {"run", "index of the temperature, from 0", "1", ""},
               .width = 1,
               .integer = true},
      [REPLICA] = {.label = {"replica", "index of the replica, from 0", "1", ""},
                   .width = 1,
                   .integer = true},
  };
  if (!gpumc_configurations_request_any(&canonical->request))
    return GPUMC_OK;
  return gpumc_configurations_declare(&canonical->context, labels, LABELS,
                                      &canonical->configurations, error);
}

static struct gpumc_configurations_chains chains_of(const struct canonical *canonical)
{
  return (struct gpumc_configurations_chains){.temperatures = canonical->betas.count,
                                              .copies = 1,
                                              .replicas = canonical->settings.replicas};
}

static enum gpumc_status
configurations_write(struct canonical *canonical, struct gpumc_error *error)
{
  const struct gpumc_configurations_request *request = &canonical->request;
  const struct gpumc_configurations_chains chains = chains_of(canonical);
  const uint32_t sweep = canonical->context.ensemble->time - canonical->settings.thermalization;
  if (!gpumc_configurations_request_due(request, sweep - canonical->settings.interval, sweep))
    return GPUMC_OK;
  return gpumc_configurations_write_chains(&canonical->configurations, request, &chains, sweep,
                                           error);
}

static double rows_until(const struct canonical *canonical, uint32_t sweep)
{
  const struct gpumc_configurations_chains chains = chains_of(canonical);
  return gpumc_configurations_chain_rows(&canonical->request, &chains, sweep);
}

static uint64_t configurations_rows(const struct canonical *canonical, uint32_t sweep)
{
  return (uint64_t)rows_until(canonical, sweep);
}

static void configurations_demand(const struct canonical *canonical,
                                  const struct gpumc_model *model, struct gpumc_demand *demanded)
{
  if (gpumc_configurations_request_any(&canonical->request))
    gpumc_configurations_demand(model, LABELS, rows_until(canonical, canonical->settings.sweeps),
                                (double)canonical->settings.replicas, demanded);
}

/* ---- what a run will need ---- */

/* Bytes on the host; in doubles, since a mistyped number of replicas may exceed any size_t. */
static double host_bytes(const struct canonical *canonical, const struct gpumc_device *device)
{
  const double channels = (double)canonical->quantities.observables.n_channels;
  const struct canonical_settings *settings = &canonical->settings;
  const double temperatures = (double)canonical->betas.count;
  const double replicas = (double)settings->replicas;
  double series = temperatures * (double)settings->chains * (double)canonical->quantities.n_series *
                  sizeof(struct gpumc_series);
  double numbers = (double)canonical_threads(device) * (double)canonical_scratch_width(canonical);
  numbers += temperatures * replicas * channels;
  const double sums = (settings->each_sample ? 2 : 1) * replicas + GPUMC_BINS_MOST;
  for (size_t m = 0; m < canonical->betas.count; m++)
    numbers += (double)canonical_vector_width(canonical, m) * sums;
  if (settings->series) {
    const double row = (1 + replicas * channels) * sizeof(double);
    series += gpumc_recorder_series_bytes(
        row,
        row * temperatures * (double)canonical_measurements(settings, canonical_end(settings)));
  }
  return series + numbers * sizeof(double);
}

/* Bins and averages of the replicas, the curves of the summary and, if requested, all measurements;
 * a checkpoint has the sums. */
static void demand_disk(const struct canonical *canonical, struct gpumc_demand *demanded)
{
  const struct canonical_settings *settings = &canonical->settings;
  const double temperatures = (double)canonical->betas.count;
  const double replicas = (double)settings->replicas;
  const double quantities = (double)canonical->quantities.count;
  const double row = 1 + replicas * (double)canonical->quantities.observables.n_channels;
  double points = 0, sums = 0;
  for (size_t m = 0; m < canonical->betas.count; m++) {
    points += (double)canonical_grid_count(&canonical->grid, m);
    sums += (double)canonical_vector_width(canonical, m) *
            ((settings->each_sample ? 2 : 1) * replicas + GPUMC_BINS_MOST);
  }
  sums += temperatures * (double)settings->chains * (double)canonical->quantities.n_series *
          GPUMC_SERIES_WORDS;
  if (settings->series)
    demanded->series_bytes = row * temperatures *
                             (double)canonical_measurements(settings, canonical_end(settings)) *
                             sizeof(double);
  demanded->result_bytes =
      demanded->series_bytes + (temperatures * (quantities + 1) * (replicas + GPUMC_BINS_MOST) +
                                4 * (quantities + 4) * (temperatures + points)) *
                                   sizeof(double);
  demanded->state_bytes = sums * sizeof(double);
}

/* The mean over replicas goes into series and bins as well. */
static void demand_work(const struct canonical *canonical, const struct gpumc_model *model,
                        struct gpumc_work *work)
{
  enum { VALUES_OF_A_MEAN = 16 };
  const struct canonical_settings *settings = &canonical->settings;
  const double replicas = (double)settings->replicas;
  const double means =
      (double)canonical->betas.count * (double)(settings->sweeps / settings->interval);
  work->sweeps = settings->interval;
  work->measured = means * replicas * (double)model->sites;
  work->values = means * (replicas + VALUES_OF_A_MEAN);
  work->n_channels = canonical->quantities.observables.n_channels;
}

static enum gpumc_status demand(const struct gpumc_params *params, const struct gpumc_model *model,
                                const struct gpumc_device *device, struct gpumc_demand *demanded,
                                struct gpumc_error *error)
{
  struct canonical canonical = {0};
  const struct canonical_settings *settings = &canonical.settings;
  canonical_settings_read(params, &canonical.settings);
  const struct gpumc_observables observables = gpumc_observables_of(params, model->ops, NULL, 0);
  canonical_quantities_make(model, &observables, &canonical.quantities);
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, canonical_betas_make(params, &canonical.betas, error));
  GPUMC_TRY_OUT(status, canonical_grid_make(params, &canonical.betas, &canonical.grid, error));
  GPUMC_TRY_OUT(status, gpumc_configurations_request_read(params, GPUMC_CONFIGURATIONS_TIMES,
                                                          canonical.betas.count, &canonical.request,
                                                          error));
  const double channels = (double)observables.n_channels;
  const double replicas = (double)canonical.betas.count * (double)settings->replicas;
  memset(demanded, 0, sizeof *demanded);
  demanded->replicas = settings->replicas;
  demanded->plan =
      (struct gpumc_ensemble_plan){.runs = canonical.betas.count,
                                   .capacity = settings->replicas,
                                   .samples = settings->each_sample ? settings->replicas : 1,
                                   .warm_up = settings->thermalization};
  demanded->host_bytes = gpumc_demand_bytes(host_bytes(&canonical, device));
  demanded->device_bytes = gpumc_demand_bytes(replicas * channels * sizeof(int64_t));
  demand_disk(&canonical, demanded);
  configurations_demand(&canonical, model, demanded);
  demanded->updates = replicas * (double)model->sites * (double)canonical_end(settings);
  demand_work(&canonical, model, &demanded->work);
out:
  gpumc_configurations_request_free(&canonical.request);
  canonical_grid_free(&canonical.grid);
  canonical_betas_free(&canonical.betas);
  return status;
}

/* ---- creation ---- */

static void destroy(void *state)
{
  struct canonical *canonical = state;
  if (canonical == NULL)
    return;
  canonical_sums_free(canonical);
  gpumc_configurations_request_free(&canonical->request);
  gpumc_configurations_free(&canonical->configurations);
  canonical_grid_free(&canonical->grid);
  canonical_betas_free(&canonical->betas);
  free(canonical->table);
  free(canonical->row);
  free(canonical);
}

static enum gpumc_status build(struct canonical *canonical, struct gpumc_error *error)
{
  const struct gpumc_params *params = &canonical->context.params;
  const struct gpumc_model *model = canonical->context.model;
  struct gpumc_moved beta;
  gpumc_moved_read(params, model, &beta);
  canonical->conjugate = beta.conjugate;
  canonical_settings_read(params, &canonical->settings);
  const struct gpumc_observables observables = gpumc_observables_of(params, model->ops, NULL, 0);
  canonical_quantities_make(model, &observables, &canonical->quantities);
  GPUMC_TRY(canonical_betas_make(params, &canonical->betas, error));
  GPUMC_TRY(canonical_grid_make(params, &canonical->betas, &canonical->grid, error));
  GPUMC_TRY(canonical_sums_make(canonical, error));
  GPUMC_TRY(canonical_tables_declare(canonical, error));
  GPUMC_TRY(gpumc_configurations_request_read(params, GPUMC_CONFIGURATIONS_TIMES,
                                              canonical->betas.count, &canonical->request, error));
  GPUMC_TRY(configurations_declare(canonical, error));
  canonical->unit = canonical_unit(&canonical->settings, model, canonical->betas.count);
  return GPUMC_OK;
}

/* Leaves nothing half-made: the position of a state may be asked for at any time. */
static enum gpumc_status
create(struct gpumc_context *context, void **state, struct gpumc_error *error)
{
  struct canonical *canonical;
  GPUMC_TRY(gpumc_allocate_array(&canonical, 1, "a canonical run", error));
  canonical->context = *context;
  const enum gpumc_status status = build(canonical, error);
  if (status == GPUMC_OK)
    *state = canonical;
  else
    destroy(canonical);
  return status;
}

/* ---- progress ---- */

/* What the device's time goes to. */
enum stage { STAGE_OTHER = GPUMC_STAGE_OTHER, STAGE_SWEEP, STAGE_TALLY };
static const char *const stages[] = {"sweep", "tally", NULL};

static void enter(const struct canonical *canonical, enum stage stage)
{
  canonical->context.device->ops->enter(canonical->context.device, stage);
}

/* The time of the first measurement after `time`. */
static uint32_t next_measurement(const struct canonical_settings *settings, uint32_t time)
{
  const uint64_t done = canonical_measurements(settings, time);
  return settings->thermalization + (uint32_t)(done + 1) * settings->interval;
}

/* `end`, or later so as not to split sweeps that the kernel does together. */
static uint32_t after_whole_groups(const struct gpumc_ensemble *ensemble, uint32_t end)
{
  const uint32_t together = ensemble->plan.options.together;
  const uint64_t group = together > 1 ? together : 1;
  const uint64_t whole = ensemble->time + (end - ensemble->time + group - 1) / group * group;
  return whole < UINT32_MAX ? (uint32_t)whole : UINT32_MAX;
}

/* Sweeps up to `end`, a little further, or the next measurement. Meanwhile the measurement before
 * goes into the sums. */
static enum gpumc_status
sweep_to(struct canonical *canonical, uint32_t end, struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = canonical->context.ensemble;
  const uint32_t next = next_measurement(&canonical->settings, ensemble->time);
  const uint32_t whole = after_whole_groups(ensemble, end);
  const uint32_t to = next < whole ? next : whole;
  const bool pending = canonical->pending;
  canonical->pending = false;
  if (pending)
    GPUMC_TRY(canonical_fetch(canonical, error));
  enter(canonical, STAGE_SWEEP);
  GPUMC_TRY(gpumc_ensemble_sweep_each(ensemble, to - ensemble->time, canonical->betas.beta,
                                      to == next ? canonical->device_channel : NULL, error));
  enter(canonical, STAGE_TALLY);
  if (pending)
    GPUMC_TRY(canonical_digest(canonical, error));
  enter(canonical, STAGE_OTHER);
  if (to == next)
    GPUMC_TRY(configurations_write(canonical, error));
  canonical->pending = to == next;
  return GPUMC_OK;
}

static enum gpumc_status settle(void *state, struct gpumc_error *error)
{
  struct canonical *canonical = state;
  if (!canonical->pending)
    return GPUMC_OK;
  canonical->pending = false;
  GPUMC_TRY(canonical_fetch(canonical, error));
  return canonical_digest(canonical, error);
}

static enum gpumc_status advance(void *state, bool *finished, struct gpumc_error *error)
{
  struct canonical *canonical = state;
  struct gpumc_ensemble *ensemble = canonical->context.ensemble;
  const uint32_t total = canonical_end(&canonical->settings);
  *finished = false;
  if (ensemble->runs == 0)
    GPUMC_TRY(gpumc_ensemble_start(ensemble, 0, canonical->betas.count,
                                   canonical->settings.replicas, error));
  const uint32_t left = total - ensemble->time;
  const uint32_t end = ensemble->time + (left < canonical->unit ? left : canonical->unit);
  while (ensemble->time < end)
    GPUMC_TRY(sweep_to(canonical, end, error));
  *finished = ensemble->time == total;
  return *finished ? settle(canonical, error) : GPUMC_OK;
}

static void position(const void *state, struct gpumc_position *where)
{
  const struct canonical *canonical = state;
  const struct gpumc_ensemble *ensemble = canonical->context.ensemble;
  const double time = ensemble->runs > 0 ? (double)ensemble->time : 0;
  where->fraction = time / (double)canonical_end(&canonical->settings);
  where->updates = time * (double)canonical->betas.count * (double)canonical->settings.replicas *
                   (double)canonical->context.model->sites;
  where->coordinate = "sweep";
  where->value = time;
}

/* ---- checkpoints ---- */

enum { LONGEST_NAME = 64 };

static const char *prefix_of(size_t m, char text[static LONGEST_NAME])
{
  snprintf(text, LONGEST_NAME, "canonical/%zu", m);
  return text;
}

static size_t chain_count(const struct canonical *canonical)
{
  return canonical->settings.chains * canonical->quantities.n_series;
}

enum { PARTS_MAXIMUM = 6 };

/* Lists what a temperature's sums consist of, halves only where every replica has a sample. Returns
 * their number. */
static size_t
list_parts(const struct canonical *canonical, size_t m, struct gpumc_part part[PARTS_MAXIMUM])
{
  struct canonical_sums *sums = &canonical->sums[m];
  const size_t width = canonical_vector_width(canonical, m);
  const size_t replicas = canonical->settings.replicas;
  const struct gpumc_part all[PARTS_MAXIMUM] = {
      {"reference", GPUMC_INT64, 1, 1, &sums->reference},
      {"series", GPUMC_UINT64, chain_count(canonical), GPUMC_SERIES_WORDS, sums->chain},
      {"bins_state", GPUMC_UINT64, GPUMC_BINS_STATE, 1, sums->bins.state},
      {"bins", GPUMC_FLOAT64, GPUMC_BINS_MOST, width, sums->bins.sums},
      {"replicas", GPUMC_FLOAT64, width, replicas, sums->replica},
      {"halves", GPUMC_FLOAT64, width, replicas, sums->half},
  };
  memcpy(part, all, sizeof all);
  return sums->half != NULL ? PARTS_MAXIMUM : PARTS_MAXIMUM - 1;
}

static enum gpumc_status save_sums(const struct canonical *canonical, size_t m,
                                   struct gpumc_checkpoint_writer *writer,
                                   struct gpumc_error *error)
{
  struct gpumc_part part[PARTS_MAXIMUM];
  char prefix[LONGEST_NAME];
  const size_t parts = list_parts(canonical, m, part);
  return gpumc_parts_save(part, parts, NULL, writer, prefix_of(m, prefix), error);
}

static enum gpumc_status load_sums(struct canonical *canonical, size_t m,
                                   struct gpumc_checkpoint_reader *reader,
                                   struct gpumc_error *error)
{
  struct gpumc_part part[PARTS_MAXIMUM];
  char prefix[LONGEST_NAME];
  const size_t parts = list_parts(canonical, m, part);
  GPUMC_TRY(gpumc_parts_load(part, parts, NULL, reader, prefix_of(m, prefix), error));
  return gpumc_bins_check(&canonical->sums[m].bins, error);
}

static enum gpumc_status
save(const void *state, struct gpumc_checkpoint_writer *writer, struct gpumc_error *error)
{
  const struct canonical *canonical = state;
  GPUMC_TRY(gpumc_checkpoint_put(writer, "canonical/measured", GPUMC_UINT64, 1, 1,
                                 &canonical->measured, error));
  for (size_t m = 0; m < canonical->betas.count; m++)
    GPUMC_TRY(save_sums(canonical, m, writer, error));
  return GPUMC_OK;
}

static uint64_t values_in(const struct gpumc_bins *bins)
{
  return bins->state[GPUMC_BINS_COUNT] * bins->state[GPUMC_BINS_LENGTH] +
         bins->state[GPUMC_BINS_FILLED];
}

/* Rows that the recorder must have. */
static bool rows_fit(const struct canonical *canonical)
{
  const struct gpumc_recorder *recorder = canonical->context.recorder;
  const uint64_t sweeps = canonical->measured * canonical->settings.interval;
  bool good = true;
  for (size_t m = 0; m < canonical->betas.count && canonical->settings.series; m++)
    good = good && gpumc_recorder_count(recorder, canonical->table[m]) == canonical->measured;
  return good && gpumc_configurations_count(&canonical->configurations) ==
                     configurations_rows(canonical, (uint32_t)sweeps);
}

/* A checkpoint that reads well may still be wrong. */
static bool fits(const struct canonical *canonical)
{
  const struct gpumc_ensemble *ensemble = canonical->context.ensemble;
  bool good = ensemble->runs == 0 || ensemble->runs == canonical->betas.count;
  good = good && ensemble->first_run == 0 &&
         ensemble->time <= canonical_end(&canonical->settings) &&
         canonical->measured == canonical_measurements(&canonical->settings, ensemble->time);
  good = good && rows_fit(canonical);
  for (size_t m = 0; m < canonical->betas.count && good; m++) {
    const struct canonical_sums *sums = &canonical->sums[m];
    good = values_in(&sums->bins) == canonical->measured;
    for (size_t i = 0; i < chain_count(canonical) && good; i++)
      good = sums->chain[i].level[0].bins == canonical->measured &&
             sums->chain[i].merged == (canonical->measured > 0);
  }
  return good;
}

static enum gpumc_status
load(void *state, struct gpumc_checkpoint_reader *reader, bool *finished, struct gpumc_error *error)
{
  struct canonical *canonical = state;
  GPUMC_TRY(gpumc_checkpoint_get_rows(reader, "canonical/measured", GPUMC_UINT64, 0, 1, 1,
                                      &canonical->measured, error));
  for (size_t m = 0; m < canonical->betas.count; m++)
    GPUMC_TRY(load_sums(canonical, m, reader, error));
  if (!fits(canonical))
    return gpumc_error_set(error, GPUMC_FAILURE,
                           "the checkpoint's counters, sums and rows contradict each other");
  *finished = canonical->context.ensemble->runs > 0 &&
              canonical->context.ensemble->time == canonical_end(&canonical->settings);
  return GPUMC_OK;
}

static const char citation[] =
    "@article{metropolis1953equation,\n"
    "  author  = {Metropolis, Nicholas and Rosenbluth, Arianna W. and Rosenbluth, Marshall N. and "
    "Teller, Augusta H. and Teller, Edward},\n"
    "  title   = {Equation of State Calculations by Fast Computing Machines},\n"
    "  journal = {The Journal of Chemical Physics},\n"
    "  volume  = {21},\n"
    "  pages   = {1087--1092},\n"
    "  year    = {1953},\n"
    "  doi     = {10.1063/1.1699114}\n"
    "}\n"
    "@article{flyvbjerg1989error,\n"
    "  author  = {Flyvbjerg, Henrik and Petersen, Henrik Gordon},\n"
    "  title   = {Error estimates on averages of correlated data},\n"
    "  journal = {The Journal of Chemical Physics},\n"
    "  volume  = {91},\n"
    "  pages   = {461--466},\n"
    "  year    = {1989},\n"
    "  doi     = {10.1063/1.457480}\n"
    "}\n"
    "@article{ferrenberg1988new,\n"
    "  author  = {Ferrenberg, Alan M. and Swendsen, Robert H.},\n"
    "  title   = {New {Monte} {Carlo} technique for studying phase transitions},\n"
    "  journal = {Physical Review Letters},\n"
    "  volume  = {61},\n"
    "  pages   = {2635--2638},\n"
    "  year    = {1988},\n"
    "  doi     = {10.1103/PhysRevLett.61.2635}\n"
    "}\n";

const struct gpumc_algorithm_ops gpumc_algorithm_canonical = {
    .name = "canonical",
    .summary = "updates at fixed temperatures: equilibrium averages, time series",
    .citation = citation,
    .keys = canonical_keys,
    .stages = stages,
    .required = GPUMC_OPERATION_START | GPUMC_OPERATION_TRANSFER | GPUMC_OPERATION_SWEEP |
                GPUMC_OPERATION_MEASURE,
    .sweeps_alone = true,
    .checks = canonical_checks,
    .defaults = canonical_defaults,
    .replicas = canonical_replicas,
    .demand = demand,
    .create = create,
    .advance = advance,
    .position = position,
    .settle = settle,
    .save = save,
    .load = load,
    .summarize = canonical_summarize,
    .destroy = destroy,
};
