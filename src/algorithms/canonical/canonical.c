/* Canonical runs: single-spin-flip updates at fixed temperatures, and their vtable. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/canonical/canonical_state.h"
#include "core/base/memory.h"
#include "core/simulation/sweeps.h"

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
  canonical_settings_read(params, &canonical->settings);
  const struct gpumc_observables observables = gpumc_observables_of(params, model->ops, NULL);
  canonical_quantities_make(model, &observables, &canonical->quantities);
  enum gpumc_status status = canonical_betas_make(params, &canonical->betas, error);
  if (status == GPUMC_OK)
    status = canonical_grid_make(params, &canonical->betas, &canonical->grid, error);
  if (status == GPUMC_OK)
    status = canonical_sums_make(canonical, error);
  if (status == GPUMC_OK)
    status = canonical_tables_declare(canonical, error);
  if (status == GPUMC_OK)
    status = gpumc_configurations_request_read(params, GPUMC_CONFIGURATIONS_TIMES,
                                               canonical->betas.count, &canonical->request, error);
  if (status == GPUMC_OK)
    status = canonical_configurations_declare(canonical, error);
  canonical->unit = canonical_unit(&canonical->settings, model, canonical->betas.count);
  return status;
}

static enum gpumc_status
create(struct gpumc_context *context, void **state, struct gpumc_error *error)
{
  struct canonical *canonical = NULL;
  *state = NULL;
  enum gpumc_status status = gpumc_allocate_array(&canonical, 1, "a canonical run", error);
  if (status != GPUMC_OK)
    return status;
  canonical->context = *context;
  status = build(canonical, error);
  if (status != GPUMC_OK) {
    destroy(canonical);
    return status;
  }
  *state = canonical;
  return GPUMC_OK;
}

/* What the device's time goes to. */
enum stage { STAGE_OTHER = GPUMC_STAGE_OTHER, STAGE_SWEEP, STAGE_TALLY };
static const char *const stages[] = {"sweep", "tally", NULL};

static void enter(const struct canonical *canonical, enum stage stage)
{
  canonical->context.device->ops->enter(canonical->context.device, stage);
}

/* The time of the first measurement behind `time`. */
static uint32_t next_measurement(const struct canonical_settings *settings, uint32_t time)
{
  const uint64_t done = canonical_measurements(settings, time);
  return settings->thermalization + (uint32_t)(done + 1) * settings->interval;
}

/* `end` or later, so that nothing that the kernel does as one is cut off. */
static uint32_t after_whole_groups(const struct gpumc_ensemble *ensemble, uint32_t end)
{
  const uint32_t together = ensemble->plan.options.together;
  const uint64_t group = together > 1 ? together : 1;
  const uint64_t whole = ensemble->time + (end - ensemble->time + group - 1) / group * group;
  return whole < UINT32_MAX ? (uint32_t)whole : UINT32_MAX;
}

/* Sweeps up to `end`, or a little further, or the next measurement. The measurement before goes
 * into the sums while the device works. */
static enum gpumc_status
sweep_to(struct canonical *canonical, uint32_t end, struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = canonical->context.ensemble;
  const uint32_t next = next_measurement(&canonical->settings, ensemble->time);
  const uint32_t whole = after_whole_groups(ensemble, end);
  const uint32_t to = next < whole ? next : whole;
  const bool pending = canonical->pending;
  enum gpumc_status status = pending ? canonical_fetch(canonical, error) : GPUMC_OK;
  canonical->pending = false;
  enter(canonical, STAGE_SWEEP);
  if (status == GPUMC_OK)
    status = gpumc_ensemble_sweep_each(ensemble, to - ensemble->time, canonical->betas.beta,
                                       to == next ? canonical->device_channel : NULL, error);
  enter(canonical, STAGE_TALLY);
  if (status == GPUMC_OK && pending)
    status = canonical_digest(canonical, error);
  enter(canonical, STAGE_OTHER);
  if (status == GPUMC_OK && to == next)
    status = canonical_configurations_write(canonical, error);
  canonical->pending = status == GPUMC_OK && to == next;
  return status;
}

static enum gpumc_status settle(void *state, struct gpumc_error *error)
{
  struct canonical *canonical = state;
  if (!canonical->pending)
    return GPUMC_OK;
  canonical->pending = false;
  enum gpumc_status status = canonical_fetch(canonical, error);
  return status == GPUMC_OK ? canonical_digest(canonical, error) : status;
}

static enum gpumc_status advance(void *state, bool *finished, struct gpumc_error *error)
{
  struct canonical *canonical = state;
  struct gpumc_ensemble *ensemble = canonical->context.ensemble;
  const uint32_t total = canonical_end(&canonical->settings);
  enum gpumc_status status = GPUMC_OK;
  if (ensemble->runs == 0)
    status = gpumc_ensemble_randomize(ensemble, 0, canonical->betas.count,
                                      canonical->settings.replicas, error);
  const uint32_t left = total - ensemble->time;
  const uint32_t end = ensemble->time + (left < canonical->unit ? left : canonical->unit);
  while (ensemble->time < end && status == GPUMC_OK)
    status = sweep_to(canonical, end, error);
  *finished = status == GPUMC_OK && ensemble->time == total;
  return *finished ? settle(canonical, error) : status;
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
    .summary = "single-spin-flip updates at fixed temperatures: equilibrium averages, time series",
    .citation = citation,
    .keys = canonical_keys,
    .stages = stages,
    .required = GPUMC_CAN_RANDOMIZE | GPUMC_CAN_TRANSFER | GPUMC_CAN_SWEEP | GPUMC_CAN_MEASURE,
    .further = gpumc_update_further,
    .ergodicity = gpumc_update_ergodicity,
    .checks = canonical_checks,
    .defaults = canonical_defaults,
    .replicas = canonical_replicas,
    .demand = canonical_demand,
    .create = create,
    .advance = advance,
    .position = position,
    .settle = settle,
    .save = canonical_save,
    .load = canonical_load,
    .summarize = canonical_summarize,
    .destroy = destroy,
};
