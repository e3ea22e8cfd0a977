/* Canonical runs: which configurations are written, and when. */
#include "algorithms/canonical/canonical_state.h"

enum { SWEEP, RUN, REPLICA, LABELS };

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

static struct gpumc_configurations_chains chains_of(const struct canonical *canonical)
{
  return (struct gpumc_configurations_chains){.temperatures = canonical->betas.count,
                                              .copies = 1,
                                              .replicas = canonical->settings.replicas};
}

enum gpumc_status
canonical_configurations_write(struct canonical *canonical, struct gpumc_error *error)
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
