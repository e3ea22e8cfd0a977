/* Chains: the contents of runs/NNNN of every temperature: time series, averages over bins and of
 * each replica. */
#include <stdio.h>
#include <stdlib.h>

#include "algorithms/chains/chains_internal.h"
#include "core/base/memory.h"
#include "core/simulation/curves.h"

/* ---- time series ---- */

enum { LONGEST_GROUP = 32 };

static bool is_recorded(const struct chains *chains, size_t channel)
{
  return chains->channels.host[channel] != NULL &&
         !gpumc_channel_is_profile(&chains->context.model->ops->channels[channel]);
}

static struct gpumc_column column_of(const struct chains *chains, size_t channel)
{
  const struct gpumc_model_ops *model = chains->context.model->ops;
  const size_t replicas = chains->settings.replicas;
  return (struct gpumc_column){
      .label = model->channels[channel].label, .width = replicas, .across = "replica"};
}

static enum gpumc_status
declare_series(struct chains *chains, size_t m, const char *group, struct gpumc_error *error)
{
  struct gpumc_column column[1 + GPUMC_CHANNELS_MAXIMUM] = {
      {.label = {"sweep", "sweeps since the end of the thermalization", "sweeps", "t"},
       .width = 1,
       .integer = true}};
  size_t columns = 1;
  for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM; c++)
    if (is_recorded(chains, c)) {
      column[columns] = column_of(chains, c);
      columns++;
    }
  return gpumc_curve_add_series(chains->context.recorder, chains->context.model, group, column,
                                columns, &chains->table[m], error);
}

enum gpumc_status chains_tables_declare(struct chains *chains, struct gpumc_error *error)
{
  const size_t width = 1 + GPUMC_CHANNELS_MAXIMUM * chains->settings.replicas;
  if (chains->settings.series) {
    GPUMC_TRY(gpumc_allocate_array(&chains->table, chains->runs, "tables", error));
    GPUMC_TRY(gpumc_allocate_array(&chains->row, width, "a row", error));
  }
  for (size_t m = 0; m < chains->runs; m++) {
    char group[LONGEST_GROUP];
    snprintf(group, sizeof group, "runs/%04zu", m);
    if (chains->value != NULL)
      GPUMC_TRY(gpumc_recorder_number(chains->context.recorder, group, chains->axis.name,
                                      chains->value[m], error));
    if (chains->settings.series)
      GPUMC_TRY(declare_series(chains, m, group, error));
  }
  return GPUMC_OK;
}

enum gpumc_status chains_series_record(struct chains *chains, struct gpumc_error *error)
{
  const struct gpumc_model *model = chains->context.model;
  const size_t replicas = chains->settings.replicas;
  if (!chains->settings.series)
    return GPUMC_OK;
  for (size_t m = 0; m < chains->runs; m++) {
    double *value = chains->row;
    *value++ = (double)chains->measured * chains->settings.interval;
    for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM; c++) {
      if (!is_recorded(chains, c))
        continue;
      const double unit = model->quantum[c] / (double)model->sites;
      for (size_t r = 0; r < replicas; r++)
        value[r] = (double)chains->channels.host[c][m * replicas + r] * unit;
      value += replicas;
    }
    GPUMC_TRY(
        gpumc_recorder_append(chains->context.recorder, chains->table[m], chains->row, error));
  }
  return GPUMC_OK;
}

/* ---- bins and replicas, from which results can be formed again, to merge files or analyse them
 * anew ---- */

enum { LONGEST_PATH = 64 };

/* Writes table[quantities][place->count[0]] over the axis. */
static enum gpumc_status write_table(const struct chains *chains,
                                     const struct gpumc_curve_place *place,
                                     const struct gpumc_label *axis, const double *along,
                                     const double *table, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_curve_write_axis(place, 0, axis, true, along, error));
  for (size_t q = 0; q < chains->quantities.count; q++) {
    const struct gpumc_label *label = &chains->quantities.observables.mean[q]->label;
    GPUMC_TRY(gpumc_curve_write(place, label, false, table + q * place->count[0], error));
  }
  return GPUMC_OK;
}

struct paths {
  char group[LONGEST_PATH], axis[LONGEST_PATH];
};

static struct gpumc_curve_place table_place(const struct chains *chains, size_t m,
                                            const char *table, const char *axis, size_t count,
                                            struct paths *paths)
{
  snprintf(paths->group, sizeof paths->group, "runs/%04zu/%s", m, table);
  snprintf(paths->axis, sizeof paths->axis, "runs/%04zu/%s/%s", m, table, axis);
  return (struct gpumc_curve_place){.recorder = chains->context.recorder,
                                    .model = chains->context.model,
                                    .group = paths->group,
                                    .axis = {paths->axis},
                                    .count = {count}};
}

/* Writes the complete bins, averages over the replicas. */
static enum gpumc_status
write_bins(const struct chains *chains, size_t m, double *scratch, struct gpumc_error *error)
{
  static const struct gpumc_label axis = {"sweep",
                                          "sweeps from the end of the thermalization to the end of "
                                          "the bin",
                                          "sweeps", "t"};
  const struct gpumc_bins *bins = &chains->sums[m].bins;
  const size_t count = (size_t)bins->state[GPUMC_BINS_COUNT];
  const double length = (double)bins->state[GPUMC_BINS_LENGTH] * (double)chains->settings.interval;
  struct paths paths;
  const struct gpumc_curve_place place = table_place(chains, m, "bins", axis.name, count, &paths);
  double *along = scratch, *table = along + count;
  double *mean = table + chains->quantities.count * count;
  for (size_t b = 0; b < count; b++) {
    along[b] = (double)(b + 1) * length;
    gpumc_bins_mean(bins, b, mean);
    for (size_t q = 0; q < chains->quantities.count; q++)
      table[q * count + b] = mean[q];
  }
  GPUMC_TRY(write_table(chains, &place, &axis, along, table, error));
  return chains_profiles_write_bins(chains, m, &place, error);
}

static enum gpumc_status
write_replicas(const struct chains *chains, size_t m, double *scratch, struct gpumc_error *error)
{
  static const struct gpumc_label axis = {"replica", "index of the replica, from 0", "1", ""};
  const size_t replicas = chains->settings.replicas;
  struct paths paths;
  const struct gpumc_curve_place place =
      table_place(chains, m, "replicas", axis.name, replicas, &paths);
  double *along = scratch, *table = along + replicas;
  for (size_t r = 0; r < replicas; r++)
    along[r] = (double)r;
  for (size_t i = 0; i < chains->quantities.count * replicas; i++)
    table[i] = chains->sums[m].replica[i] / (double)chains->measured;
  return write_table(chains, &place, &axis, along, table, error);
}

enum gpumc_status chains_runs_write(const struct chains *chains, struct gpumc_error *error)
{
  const size_t replicas = chains->settings.replicas;
  const size_t most = replicas > GPUMC_BINS_MOST ? replicas : GPUMC_BINS_MOST;
  double *scratch = NULL;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&scratch,
                                             (1 + chains->quantities.count) * most +
                                                 chains_scratch_width(chains),
                                             "tables of the result", error));
  for (size_t m = 0; m < chains->runs; m++) {
    GPUMC_TRY_OUT(status, write_bins(chains, m, scratch, error));
    GPUMC_TRY_OUT(status, write_replicas(chains, m, scratch, error));
  }
out:
  free(scratch);
  return status;
}
