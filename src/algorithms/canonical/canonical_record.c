/* Canonical runs: time series of every replica, row by row. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/canonical/canonical_state.h"
#include "core/base/memory.h"
#include "core/simulation/curves.h"

enum { LONGEST_GROUP = 32 };

static bool is_recorded(const struct canonical *canonical, size_t channel)
{
  return canonical->channel[channel] != NULL;
}

static struct gpumc_column column_of(const struct canonical *canonical, size_t channel)
{
  const struct gpumc_model_ops *model = canonical->context.model->ops;
  const size_t replicas = canonical->settings.replicas;
  return (struct gpumc_column){
      .label = model->channels[channel].label, .width = replicas, .across = "replica"};
}

static enum gpumc_status
declare_series(struct canonical *canonical, size_t m, const char *group, struct gpumc_error *error)
{
  struct gpumc_column column[1 + GPUMC_CHANNELS_MAXIMUM] = {
      {.label = {"sweep", "sweeps since the end of the thermalization", "sweeps", "t"},
       .width = 1,
       .integer = true}};
  size_t columns = 1;
  for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM; c++)
    if (is_recorded(canonical, c)) {
      column[columns] = column_of(canonical, c);
      columns++;
    }
  return gpumc_curve_add_series(canonical->context.recorder, canonical->context.model, group,
                                column, columns, &canonical->table[m], error);
}

enum gpumc_status canonical_tables_declare(struct canonical *canonical, struct gpumc_error *error)
{
  const size_t width = 1 + GPUMC_CHANNELS_MAXIMUM * canonical->settings.replicas;
  enum gpumc_status status = GPUMC_OK;
  if (canonical->settings.series) {
    status = gpumc_allocate_array(&canonical->table, canonical->betas.count, "tables", error);
    if (status == GPUMC_OK)
      status = gpumc_allocate_array(&canonical->row, width, "a row", error);
  }
  for (size_t m = 0; m < canonical->betas.count && status == GPUMC_OK; m++) {
    char group[LONGEST_GROUP];
    snprintf(group, sizeof group, "runs/%04zu", m);
    status = gpumc_recorder_number(canonical->context.recorder, group, "beta",
                                   canonical->betas.beta[m], error);
    if (status == GPUMC_OK && canonical->settings.series)
      status = declare_series(canonical, m, group, error);
  }
  return status;
}

/* The row of the last measurement that went into the sums. */
enum gpumc_status canonical_record(struct canonical *canonical, struct gpumc_error *error)
{
  const struct gpumc_model *model = canonical->context.model;
  const size_t replicas = canonical->settings.replicas;
  enum gpumc_status status = GPUMC_OK;
  for (size_t m = 0; m < canonical->betas.count && status == GPUMC_OK; m++) {
    double *value = canonical->row;
    *value++ = (double)canonical->measured * canonical->settings.interval;
    for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM; c++) {
      if (!is_recorded(canonical, c))
        continue;
      const double unit = model->quantum[c] / (double)model->sites;
      for (size_t r = 0; r < replicas; r++)
        value[r] = (double)canonical->channel[c][m * replicas + r] * unit;
      value += replicas;
    }
    status = gpumc_recorder_append(canonical->context.recorder, canonical->table[m], canonical->row,
                                   error);
  }
  return status;
}
