/* Parallel tempering: which configurations are written, and when. */
#include "algorithms/pt/pt_state.h"

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

enum gpumc_status pt_configurations_write(struct pt *pt, struct gpumc_error *error)
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
  const enum gpumc_status status = gpumc_configurations_request_read(
      params, GPUMC_CONFIGURATIONS_TIMES, settings->temperatures, &request, error);
  if (status == GPUMC_OK && gpumc_configurations_request_any(&request))
    gpumc_configurations_demand(
        model, LABELS, gpumc_configurations_chain_rows(&request, &chains, (uint32_t)sweeps),
        (double)settings->samples, demanded);
  gpumc_configurations_request_free(&request);
  return status;
}
