/* Parallel tempering: which configurations are written, and when. */
#include "algorithms/pt/pt_state.h"

enum { SWEEP, TEMPERATURE, COPY, SAMPLE, LABELS };

/* The replicas of a copy at a temperature. */
struct place {
  uint32_t sweep;
  size_t temperature, copy, first_sample;
};

static void label(const void *of, size_t r, double *label)
{
  const struct place *place = of;
  label[SWEEP] = (double)place->sweep;
  label[TEMPERATURE] = (double)place->temperature;
  label[COPY] = (double)place->copy;
  label[SAMPLE] = (double)(place->first_sample + r);
}

enum gpumc_status pt_configurations_declare(struct pt *pt, struct gpumc_error *error)
{
  const struct gpumc_column labels[LABELS] = {
      [SWEEP] = GPUMC_CONFIGURATIONS_SWEEP,
      [TEMPERATURE] = {.label = {"temperature", "index of the temperature, from 0", "1", ""},
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

/* Of a temperature, copy after copy. */
static enum gpumc_status
write_temperature(struct pt *pt, size_t t, uint32_t sweep, struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  for (size_t c = 0; c < pt->settings.copies && status == GPUMC_OK; c++) {
    const struct place place = {sweep, t, c, pt->context.model->first_sample};
    status = gpumc_configurations_write(&pt->configurations, c * pt->settings.temperatures + t,
                                        pt->settings.samples, label, &place, error);
  }
  return status;
}

enum gpumc_status pt_configurations_write(struct pt *pt, struct gpumc_error *error)
{
  const struct gpumc_configurations_request *request = &pt->request;
  const uint32_t sweep = measured_sweeps(pt, pt->round);
  const uint32_t before = measured_sweeps(pt, pt->round - 1);
  enum gpumc_status status = GPUMC_OK;
  if (!gpumc_configurations_request_due(request, before, sweep))
    return GPUMC_OK;
  pt->context.device->ops->enter(pt->context.device, PT_STAGE_OTHER);
  for (size_t i = 0; i < request->n_temperatures && status == GPUMC_OK; i++)
    status = write_temperature(pt, request->temperature[i], sweep, error);
  return status;
}

/* Those of a plan may be more than any file has. */
static double rows_until(const struct pt_settings *settings,
                         const struct gpumc_configurations_request *request, uint32_t sweep)
{
  return (double)gpumc_configurations_request_until(request, sweep) *
         (double)request->n_temperatures * (double)settings->copies * (double)settings->samples;
}

uint64_t pt_configurations_rows(const struct pt *pt, uint64_t round)
{
  return (uint64_t)rows_until(&pt->settings, &pt->request, measured_sweeps(pt, round));
}

enum gpumc_status pt_configurations_demand(const struct gpumc_params *params,
                                           const struct gpumc_model *model,
                                           const struct pt_settings *settings,
                                           struct gpumc_demand *demanded, struct gpumc_error *error)
{
  struct gpumc_configurations_request request;
  const uint64_t sweeps =
      settings->measurements * settings->measure_rounds * settings->round_sweeps;
  enum gpumc_status status =
      gpumc_configurations_request_read(params, settings->temperatures, &request, error);
  if (status == GPUMC_OK && gpumc_configurations_request_any(&request))
    gpumc_configurations_demand(model, LABELS, rows_until(settings, &request, (uint32_t)sweeps),
                                (double)settings->samples, demanded);
  gpumc_configurations_request_free(&request);
  return status;
}
