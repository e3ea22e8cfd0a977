/* Parallel tempering: the tables of the run - bins of time, and iterations of the tuning. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pt/pt_average.h"
#include "algorithms/pt/pt_output.h"
#include "core/base/memory.h"

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
  enum gpumc_status status = gpumc_allocate_array(&columns, n_columns, "columns", error);
  if (status != GPUMC_OK)
    return status;
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
  status = gpumc_curve_add_table(pt->context.recorder, pt->context.model, "runs/0000", columns,
                                 n_columns, &pt->table_bins, error);
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
  enum gpumc_status status = declare_bins(pt, error);
  return status == GPUMC_OK ? declare_tuning(pt, error) : status;
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

/* What is compared between the last bins, by sample. */
static void remember(struct pt *pt, size_t bin)
{
  const size_t samples = pt->settings.samples, temperatures = pt->settings.temperatures;
  double *values =
      pt->history + bin % PT_BINS_COMPARED * pt->terms.n_compared * temperatures * samples;
  for (size_t i = 0; i < pt->terms.n_compared; i++)
    for (size_t t = 0; t < temperatures; t++)
      for (size_t s = 0; s < samples; s++)
        *values++ = pt_term_mean_of_all(pt, pt->terms.compared[i], t, s);
}

static enum gpumc_status
fill_bin(struct pt *pt, struct pt_average *average, struct gpumc_error *error)
{
  const size_t temperatures = pt->settings.temperatures;
  const size_t quantities = pt->settings.observables.n_quantities;
  double value[GPUMC_QUANTITIES_MAXIMUM], error_of[GPUMC_QUANTITIES_MAXIMUM];
  double *columns = pt->row + PT_BIN_QUANTITIES;
  double *acceptance = columns + 2 * quantities * temperatures;
  for (size_t t = 0; t < temperatures; t++) {
    GPUMC_TRY(pt_average_at(average, t, value, error_of, error));
    for (size_t q = 0; q < quantities; q++) {
      columns[2 * q * temperatures + t] = value[q];
      columns[(2 * q + 1) * temperatures + t] = error_of[q];
    }
    acceptance[t] = pt_acceptance(pt->bin.rounds, pt->bin.accepted, places(pt), temperatures, t);
  }
  return GPUMC_OK;
}

enum gpumc_status pt_record_bin(struct pt *pt, size_t bin, struct gpumc_error *error)
{
  struct pt_average average;
  const int halvings = (int)(pt->timeline.bins - 1 - bin);
  double measurements = 0;
  enum gpumc_status status = pt_average_init(pt, &average, error);
  if (status != GPUMC_OK)
    return status;
  for (size_t b = 0; b < pt->bin.blocks; b++)
    measurements += (double)pt->bin.measurements[b];
  pt->row[PT_BIN_SWEEP] = (double)((pt->settings.measurements >> halvings) *
                                   pt->settings.measure_rounds * pt->settings.round_sweeps);
  pt->row[PT_BIN_MEASUREMENTS] = measurements;
  status = fill_bin(pt, &average, error);
  pt_average_free(&average);
  if (status != GPUMC_OK)
    return status;
  remember(pt, bin);
  return gpumc_recorder_append(pt->context.recorder, pt->table_bins, pt->row, error);
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
