/* Parallel tempering: rounds on the device, and the rows of the tables. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pt/pt_output.h"
#include "algorithms/pt/pt_state.h"
#include "core/base/memory.h"

/* ---- the tables of the run: bins of time, and iterations of the tuning ---- */

static struct gpumc_column over_temperatures(const struct pt *pt, struct gpumc_label label)
{
  return (struct gpumc_column){.label = label,
                               .width = pt->settings.temperatures,
                               .across = pt_moves_beta(pt) ? "temperature" : "value"};
}

static enum gpumc_status declare_bins(struct pt *pt, struct gpumc_error *error)
{
  const struct gpumc_label sweep = {"sweep", "measured sweeps up to the end of the bin", "sweeps",
                                    "t"};
  const struct gpumc_label measurements = {"measurements", "measurements in the bin", "1", "n"};
  const struct gpumc_label acceptance = pt_acceptance_label(pt);
  const size_t quantities = pt->settings.observables.n_quantities;
  const size_t n_columns = PT_BIN_QUANTITIES + 2 * quantities + 1;
  struct gpumc_error_texts texts[GPUMC_QUANTITIES_MAXIMUM];
  struct gpumc_column *columns = NULL;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&columns, n_columns, "columns", error));
  columns[PT_BIN_SWEEP] = (struct gpumc_column){.label = sweep, .width = 1, .integer = true};
  columns[PT_BIN_MEASUREMENTS] =
      (struct gpumc_column){.label = measurements, .width = 1, .integer = true};
  for (size_t q = 0; q < quantities; q++) {
    struct gpumc_column *column = columns + PT_BIN_QUANTITIES + 2 * q;
    const struct gpumc_label *label = &pt->labels.of[q];
    column[0] = over_temperatures(pt, *label);
    column[1] = over_temperatures(pt, gpumc_error_label(label, &texts[q]));
  }
  columns[n_columns - 1] = over_temperatures(pt, acceptance);
  GPUMC_TRY_OUT(status, gpumc_curve_add_table(pt->context.recorder, pt->context.model, "runs/0000",
                                              columns, n_columns, &pt->table_bins, error));
out:
  free(columns);
  return status;
}

static enum gpumc_status declare_tuning(struct pt *pt, struct gpumc_error *error)
{
  const struct gpumc_label iteration = {"iteration", "iteration of the tuning", "1", "i"};
  const struct gpumc_label sweeps = {"sweeps", "sweeps of the iteration", "sweeps", "n"};
  char long_name[96];
  snprintf(long_name, sizeof long_name, "%s during the iteration", pt->axis.long_name);
  const struct gpumc_label value = {pt->axis.name, long_name, pt->axis.units, pt->axis.symbol};
  const struct gpumc_label acceptance = pt_acceptance_label(pt);
  struct gpumc_column columns[] = {
      {.label = iteration, .width = 1, .integer = true},
      {.label = sweeps, .width = 1, .integer = true},
      over_temperatures(pt, value),
      over_temperatures(pt, acceptance),
  };
  if (pt->settings.tuning_iterations == 0)
    return GPUMC_OK;
  return gpumc_curve_add_table(pt->context.recorder, pt->context.model, "runs/0000/tuning", columns,
                               sizeof columns / sizeof *columns, &pt->table_tuning, error);
}

enum gpumc_status pt_tables_declare(struct pt *pt, struct gpumc_error *error)
{
  GPUMC_TRY(declare_bins(pt, error));
  return declare_tuning(pt, error);
}

static double places(const struct pt *pt)
{
  return (double)(pt->settings.copies * pt->settings.samples);
}

enum gpumc_status
pt_record_tuning(struct pt *pt, const struct pt_stretch *stretch, struct gpumc_error *error)
{
  const size_t temperatures = pt->settings.temperatures;
  double *value = pt->row + 2, *acceptance = value + temperatures;
  pt->row[0] = (double)stretch->index;
  pt->row[1] = (double)(stretch->rounds * pt->settings.round_sweeps);
  memcpy(value, pt->run_value, temperatures * sizeof *value);
  for (size_t t = 0; t < temperatures; t++)
    acceptance[t] =
        pt_acceptance(pt->counts.rounds, pt->counts.accepted, places(pt), temperatures, t);
  return gpumc_recorder_append(pt->context.recorder, pt->table_tuning, pt->row, error);
}

/* Returns the measurements up to the end of a bin. */
static uint64_t measured_at(const struct pt *pt, size_t bin)
{
  return pt->settings.measurements >> (pt->timeline.bins - 1 - bin);
}

uint64_t pt_bin_measurements(const struct pt *pt, size_t bin)
{
  const uint64_t before = bin > 0 ? measured_at(pt, bin - 1) : 0;
  return measured_at(pt, bin) - before;
}

void pt_bin_begin_row(const struct pt *pt, size_t bin, double *row)
{
  row[PT_BIN_SWEEP] =
      (double)(measured_at(pt, bin) * pt->settings.measure_rounds * pt->settings.round_sweeps);
}

size_t pt_bin_row_width(const struct pt *pt)
{
  return PT_BIN_QUANTITIES +
         (2 * pt->settings.observables.n_quantities + 1) * pt->settings.temperatures;
}

static const double *bin_row(const struct pt *pt, size_t bin)
{
  size_t n_rows;
  const double *rows = gpumc_recorder_rows(pt->context.recorder, pt->table_bins, &n_rows);
  return rows + bin * pt_bin_row_width(pt);
}

const double *pt_bin_values(const struct pt *pt, size_t bin, size_t quantity)
{
  return bin_row(pt, bin) + PT_BIN_QUANTITIES + 2 * quantity * pt->settings.temperatures;
}

const double *pt_bin_errors(const struct pt *pt, size_t bin, size_t quantity)
{
  return pt_bin_values(pt, bin, quantity) + pt->settings.temperatures;
}

/* ---- which configurations are written, and when ---- */

enum { SWEEP, TEMPERATURE, COPY, SAMPLE, LABELS };

enum gpumc_status pt_configurations_declare(struct pt *pt, struct gpumc_error *error)
{
  const struct gpumc_column labels[LABELS] = {
      [SWEEP] = GPUMC_CONFIGURATIONS_SWEEP,
      [TEMPERATURE] = {.label =
                           pt_moves_beta(pt)
                               ? (struct gpumc_label){"temperature",
                                                      "index of the temperature, from 0", "1", ""}
                               : (struct gpumc_label){"value", "index of the value, from 0", "1",
                                                      ""},
                       .width = 1,
                       .integer = true},
      [COPY] = {.label = {"copy", "index of the copy, from 0", "1", ""},
                .width = 1,
                .integer = true},
      [SAMPLE] = {.label = {"sample", "number of the sample of the disorder", "1", "s"},
                  .width = 1,
                  .integer = true},
  };
  if (!gpumc_configurations_request_any(&pt->request))
    return GPUMC_OK;
  return gpumc_configurations_declare(&pt->context, labels, LABELS, &pt->configurations, error);
}

static uint32_t measured_sweeps(const struct pt *pt, uint64_t round)
{
  return round > pt->timeline.lead
             ? (uint32_t)((round - pt->timeline.lead) * pt->settings.round_sweeps)
             : 0;
}

static struct gpumc_configurations_chains
chains_of(const struct pt_settings *settings, const struct gpumc_model *model)
{
  return (struct gpumc_configurations_chains){.temperatures = settings->temperatures,
                                              .copies = settings->copies,
                                              .replicas = settings->samples,
                                              .first = model->first_sample};
}

/* Called at the end of the round before pt->round, after its exchange: writes the configurations,
 * if they are due. */
static enum gpumc_status configurations_write(struct pt *pt, struct gpumc_error *error)
{
  const struct gpumc_configurations_chains chains = chains_of(&pt->settings, pt->context.model);
  const uint32_t sweep = measured_sweeps(pt, pt->round);
  if (!gpumc_configurations_request_due(&pt->request, measured_sweeps(pt, pt->round - 1), sweep))
    return GPUMC_OK;
  pt->context.device->ops->enter(pt->context.device, PT_STAGE_OTHER);
  return gpumc_configurations_write_chains(&pt->configurations, &pt->request, &chains, sweep,
                                           error);
}

uint64_t pt_configurations_rows(const struct pt *pt, uint64_t round)
{
  const struct gpumc_configurations_chains chains = chains_of(&pt->settings, pt->context.model);
  return (uint64_t)gpumc_configurations_chain_rows(&pt->request, &chains,
                                                   measured_sweeps(pt, round));
}

enum gpumc_status pt_configurations_demand(const struct gpumc_params *params,
                                           const struct gpumc_model *model,
                                           const struct pt_settings *settings,
                                           struct gpumc_demand *demanded, struct gpumc_error *error)
{
  struct gpumc_configurations_request request;
  const uint64_t sweeps =
      settings->measurements * settings->measure_rounds * settings->round_sweeps;
  const struct gpumc_configurations_chains chains = chains_of(settings, model);
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, gpumc_configurations_request_read(params, GPUMC_CONFIGURATIONS_TIMES,
                                                          settings->temperatures, &request, error));
  if (gpumc_configurations_request_any(&request))
    gpumc_configurations_demand(
        model, LABELS, gpumc_configurations_chain_rows(&request, &chains, (uint32_t)sweeps),
        (double)settings->samples, demanded);
out:
  gpumc_configurations_request_free(&request);
  return status;
}

/* ---- rounds ---- */

static void enter(const struct pt *pt, enum pt_stage stage)
{
  pt->context.device->ops->enter(pt->context.device, stage);
}

enum gpumc_status pt_set_temperatures(struct pt *pt, struct gpumc_error *error)
{
  const struct gpumc_moved *moved = &pt->settings.moved;
  const struct gpumc_model *model = pt->context.model;
  const size_t temperatures = pt->settings.temperatures;
  double *coefficient;
  GPUMC_TRY(gpumc_allocate_array(&coefficient, temperatures, "coefficients", error));
  for (size_t t = 0; t < temperatures; t++)
    coefficient[t] = gpumc_moved_coefficient(model, moved, pt->value[t]);
  for (size_t c = 0; c < pt->settings.copies; c++)
    memcpy(pt->run_value + c * temperatures, pt->value, temperatures * sizeof *pt->value);
  const enum gpumc_status status = pt_tempering_set_temperatures(
      &pt->tempering, coefficient, model->quantum[moved->conjugate], error);
  free(coefficient);
  return status;
}

enum gpumc_status pt_begin(struct pt *pt, struct gpumc_error *error)
{
  pt->begun = true;
  return gpumc_ensemble_start(pt->context.ensemble, 0,
                              pt->settings.copies * pt->settings.temperatures, pt->settings.samples,
                              error);
}

/* Measures every pair of copies, at all temperatures. */
static enum gpumc_status measure_overlaps(struct pt *pt, struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = pt->context.ensemble;
  const size_t temperatures = pt->settings.temperatures, copies = pt->settings.copies;
  size_t pair = 0;
  for (size_t c = 0; c < copies; c++)
    for (size_t d = c + 1; d < copies; d++, pair++) {
      int64_t *overlap[GPUMC_PAIRS_MAXIMUM] = {NULL};
      for (int kind = 0; kind < GPUMC_PAIRS_MAXIMUM; kind++)
        if (pt->tempering.pair[kind] != NULL)
          overlap[kind] =
              pt->tempering.pair[kind] + pair * temperatures * pt->tempering.plan.samples;
      GPUMC_TRY(ensemble->ops->compare(ensemble, c * temperatures, d * temperatures, temperatures,
                                       overlap, error));
    }
  return GPUMC_OK;
}

static enum gpumc_status measure(struct pt *pt, bool histogram, struct gpumc_error *error)
{
  enter(pt, PT_STAGE_TALLY);
  if (pt->settings.observables.pairs)
    GPUMC_TRY(measure_overlaps(pt, error));
  return pt_tempering_accumulate(&pt->tempering, histogram, error);
}

static enum gpumc_status exchange(struct pt *pt, struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = pt->context.ensemble;
  enter(pt, PT_STAGE_EXCHANGE);
  GPUMC_TRY(pt_tempering_exchange(&pt->tempering, gpumc_ensemble_random(ensemble, 0),
                                  (uint32_t)pt->round, error));
  return ensemble->ops->exchange(ensemble, pt->tempering.swap, error);
}

/* Channels are measured only at the end of a round, if an exchange or a measurement needs them. */
static enum gpumc_status
sweep(struct pt *pt, uint32_t sweeps, bool measured, struct gpumc_error *error)
{
  int64_t *exchanged[GPUMC_CHANNELS_MAXIMUM] = {NULL};
  const size_t conjugate = pt->settings.moved.conjugate;
  const bool ends = pt->swept + sweeps == pt->settings.round_sweeps;
  int64_t *const *channel = pt->settings.exchange && ends ? exchanged : NULL;
  exchanged[conjugate] = pt->tempering.channel[conjugate];
  enter(pt, PT_STAGE_SWEEP);
  return gpumc_ensemble_sweep_each(pt->context.ensemble, sweeps, pt->run_value,
                                   measured && ends ? pt->tempering.channel : channel, error);
}

/* Called when the sweeps of the current round are done. */
static enum gpumc_status end_round(struct pt *pt, bool measured, struct gpumc_error *error)
{
  const bool histogram =
      pt->settings.observables.pairs && pt_is_last_bin(pt, &pt->timeline.stretch[pt->stretch]);
  if (measured)
    GPUMC_TRY(measure(pt, histogram, error));
  if (pt->settings.exchange)
    GPUMC_TRY(exchange(pt, error));
  if (pt_has_clusters(&pt->settings))
    GPUMC_TRY(pt_exchange_clusters(pt, error));
  pt->swept = 0;
  pt->done++;
  pt->round++;
  return configurations_write(pt, error);
}

enum gpumc_status pt_enqueue(struct pt *pt, uint64_t sweeps, struct gpumc_error *error)
{
  const struct pt_settings *settings = &pt->settings;
  const bool measuring = pt->timeline.stretch[pt->stretch].phase == PT_MEASUREMENT;
  while (sweeps > 0) {
    const uint32_t left = settings->round_sweeps - pt->swept;
    const uint32_t part = sweeps < left ? (uint32_t)sweeps : left;
    const bool measured = measuring && (pt->done + 1) % settings->measure_rounds == 0;
    GPUMC_TRY(sweep(pt, part, measured, error));
    pt->swept += part;
    sweeps -= part;
    if (part == left)
      GPUMC_TRY(end_round(pt, measured, error));
  }
  enter(pt, PT_STAGE_OTHER);
  return GPUMC_OK;
}
