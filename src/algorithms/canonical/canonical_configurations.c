/* Canonical runs: which configurations are written, and when. */
#include "algorithms/canonical/canonical_state.h"

enum { SWEEP, RUN, REPLICA, LABELS };

/* The replicas of a temperature. */
struct place {
  uint32_t sweep;
  size_t temperature;
};

static void label(const void *of, size_t r, double *label)
{
  const struct place *place = of;
  label[SWEEP] = (double)place->sweep;
  label[RUN] = (double)place->temperature;
  label[REPLICA] = (double)r;
}

enum gpumc_status
canonical_configurations_declare(struct canonical *canonical, struct gpumc_error *error)
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

enum gpumc_status
canonical_configurations_write(struct canonical *canonical, struct gpumc_error *error)
{
  const struct gpumc_configurations_request *request = &canonical->request;
  const uint32_t sweep = canonical->context.ensemble->time - canonical->settings.thermalization;
  const uint32_t before = sweep - canonical->settings.interval;
  enum gpumc_status status = GPUMC_OK;
  if (!gpumc_configurations_request_due(request, before, sweep))
    return GPUMC_OK;
  for (size_t i = 0; i < request->n_temperatures && status == GPUMC_OK; i++) {
    const struct place place = {sweep, request->temperature[i]};
    status = gpumc_configurations_write(&canonical->configurations, place.temperature,
                                        canonical->settings.replicas, label, &place, error);
  }
  return status;
}

/* Those of a plan may be more than any file has. */
static double rows_until(const struct canonical *canonical, uint32_t sweep)
{
  const struct gpumc_configurations_request *request = &canonical->request;
  return (double)gpumc_configurations_request_until(request, sweep) *
         (double)request->n_temperatures * (double)canonical->settings.replicas;
}

uint64_t canonical_configurations_rows(const struct canonical *canonical, uint32_t sweep)
{
  return (uint64_t)rows_until(canonical, sweep);
}

void canonical_configurations_demand(const struct canonical *canonical,
                                     const struct gpumc_model *model, struct gpumc_demand *demanded)
{
  if (gpumc_configurations_request_any(&canonical->request))
    gpumc_configurations_demand(model, LABELS, rows_until(canonical, canonical->settings.sweeps),
                                (double)canonical->settings.replicas, demanded);
}
