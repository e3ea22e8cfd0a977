/* Canonical runs: configurations of all replicas at chosen times, in portable form. */
#include <stdlib.h>
#include <string.h>

#include "algorithms/canonical/canonical_state.h"
#include "core/memory.h"

enum { INDEX, SWEEP, RUN, REPLICA, REPLICA_BYTES, COLUMNS };

/* Doubles that have room for a replica's bytes. */
static size_t words_of(const struct gpumc_model *model)
{
  return gpumc_column_words(model->portable_bytes);
}

enum gpumc_status canonical_moments_make(const struct gpumc_params *params,
                                         struct canonical_moments *moments,
                                         struct gpumc_error *error)
{
  memset(moments, 0, sizeof *moments);
  if (gpumc_params_has(params, "configurations.every"))
    moments->every = (uint32_t)gpumc_params_integer(params, "configurations.every");
  if (!gpumc_params_has(params, "configurations.times"))
    return GPUMC_OK;
  moments->n_times = gpumc_params_count(params, "configurations.times");
  enum gpumc_status status =
      gpumc_allocate_array(&moments->times, moments->n_times, "times of configurations", error);
  for (size_t i = 0; i < moments->n_times && status == GPUMC_OK; i++)
    moments->times[i] = (uint32_t)gpumc_params_integer_at(params, "configurations.times", i);
  return status;
}

void canonical_moments_free(struct canonical_moments *moments)
{
  free(moments->times);
  memset(moments, 0, sizeof *moments);
}

bool canonical_moments_any(const struct canonical_moments *moments)
{
  return moments->every > 0 || moments->n_times > 0;
}

size_t canonical_moments_until(const struct canonical_moments *moments, uint32_t sweep)
{
  size_t past = 0;
  if (moments->every > 0)
    return sweep / moments->every;
  while (past < moments->n_times && moments->times[past] <= sweep)
    past++;
  return past;
}

enum gpumc_status
canonical_configurations_declare(struct canonical *canonical, struct gpumc_error *error)
{
  const struct gpumc_model *model = canonical->context.model;
  const struct gpumc_column columns[COLUMNS] = {
      [INDEX] = {.label = {"configuration", "index of the configuration, from 0", "1", ""},
                 .width = 1,
                 .integer = true},
      [SWEEP] = {.label = {"sweep", "sweeps since the end of the thermalization", "sweeps", "t"},
                 .width = 1,
                 .integer = true},
      [RUN] = {.label = {"run", "index of the temperature, from 0", "1", ""},
               .width = 1,
               .integer = true},
      [REPLICA] = {.label = {"replica", "index of the replica, from 0", "1", ""},
                   .width = 1,
                   .integer = true},
      [REPLICA_BYTES] = {.label = {"bytes", "the replica in portable form", "1", ""},
                         .width = words_of(model),
                         .bytes = model->portable_bytes},
  };
  if (!canonical_moments_any(&canonical->moments))
    return GPUMC_OK;
  enum gpumc_status status = gpumc_allocate_array(
      &canonical->configuration, COLUMNS - 1 + words_of(model), "a configuration", error);
  return status == GPUMC_OK
             ? gpumc_recorder_add_series(canonical->context.recorder, "configurations", columns,
                                         COLUMNS, &canonical->configurations, error)
             : status;
}

static enum gpumc_status
write_replica(struct canonical *canonical, size_t m, size_t r, struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = canonical->context.ensemble;
  struct gpumc_recorder *recorder = canonical->context.recorder;
  double *row = canonical->configuration;
  row[INDEX] = (double)gpumc_recorder_count(recorder, canonical->configurations);
  row[SWEEP] = (double)(ensemble->time - canonical->settings.thermalization);
  row[RUN] = (double)m;
  row[REPLICA] = (double)r;
  enum gpumc_status status =
      ensemble->ops->get(ensemble, m, r, 1, (uint8_t *)(row + REPLICA_BYTES), error);
  return status == GPUMC_OK ? gpumc_recorder_append(recorder, canonical->configurations, row, error)
                            : status;
}

enum gpumc_status
canonical_configurations_write(struct canonical *canonical, struct gpumc_error *error)
{
  const uint32_t sweep = canonical->context.ensemble->time - canonical->settings.thermalization;
  const uint32_t before = sweep - canonical->settings.interval;
  enum gpumc_status status = GPUMC_OK;
  if (canonical_moments_until(&canonical->moments, sweep) ==
      canonical_moments_until(&canonical->moments, before))
    return GPUMC_OK;
  for (size_t m = 0; m < canonical->betas.count; m++)
    for (size_t r = 0; r < canonical->settings.replicas && status == GPUMC_OK; r++)
      status = write_replica(canonical, m, r, error);
  return status;
}
