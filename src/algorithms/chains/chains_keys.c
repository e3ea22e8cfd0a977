/* Chains: checks of the keys that algorithms share which run them, and what a configuration says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/chains/chains_internal.h"

void chains_check_interval(const struct gpumc_params *params, const struct gpumc_subject *subject,
                           struct gpumc_report *report)
{
  const int64_t sweeps = gpumc_params_integer(params, "sweeps");
  const int64_t interval = gpumc_params_integer(params, "interval");
  (void)subject;
  if (sweeps % interval != 0)
    gpumc_params_mistake(params, report, "sweeps",
                         "sweeps = %lld must be a multiple of interval = %lld", (long long)sweeps,
                         (long long)interval);
}

/* Enough for the tuning of any step (gpumc_steps_enough). Whether it is for equilibrium, the
 * summary tells, as of any thermalization (trust.h). */
enum { LEAST_THERMALIZATION = 100, SWEEPS_OF_EACH = 5 };

int64_t chains_thermalization(const struct gpumc_params *params)
{
  if (gpumc_params_has(params, "thermalization"))
    return gpumc_params_integer(params, "thermalization");
  const int64_t sweeps = gpumc_params_integer(params, "sweeps");
  const int64_t fifth = sweeps / SWEEPS_OF_EACH + (sweeps % SWEEPS_OF_EACH != 0);
  return fifth > LEAST_THERMALIZATION ? fifth : LEAST_THERMALIZATION;
}

bool chains_default_thermalization(const struct gpumc_params *params, cJSON *defaults)
{
  const double sweeps = (double)chains_thermalization(params);
  return cJSON_AddNumberToObject(defaults, "thermalization", sweeps) != NULL;
}

void chains_check_length(const struct gpumc_params *params, const struct gpumc_subject *subject,
                         struct gpumc_report *report)
{
  const int64_t thermalization = chains_thermalization(params);
  const int64_t sweeps = gpumc_params_integer(params, "sweeps");
  (void)subject;
  if ((double)thermalization + (double)sweeps > GPUMC_SWEEPS_MAXIMUM)
    gpumc_params_mistake(params, report, "sweeps",
                         "%lld sweeps after %lld of thermalization exceed the limit of %.0f for a "
                         "run; a longer `interval` does not lower their number",
                         (long long)sweeps, (long long)thermalization, GPUMC_SWEEPS_MAXIMUM);
}

void chains_check_configurations(const struct gpumc_params *params,
                                 const struct gpumc_subject *subject, struct gpumc_report *report)
{
  (void)subject;
  gpumc_configurations_check_times(params, "interval", gpumc_params_integer(params, "interval"),
                                   report);
}

struct chains_settings
chains_settings_read(const struct gpumc_params *params, size_t replicas, size_t samples)
{
  struct chains_settings settings = {.replicas = replicas, .each_sample = samples > 1};
  if (settings.each_sample)
    settings.replicas = samples;
  settings.chains = settings.replicas < CHAINS_MAXIMUM ? settings.replicas : CHAINS_MAXIMUM;
  if (settings.each_sample)
    settings.chains = 1;
  settings.thermalization = (uint32_t)chains_thermalization(params);
  settings.sweeps = (uint32_t)gpumc_params_integer(params, "sweeps");
  settings.interval = (uint32_t)gpumc_params_integer(params, "interval");
  settings.series = gpumc_params_boolean(params, "series");
  return settings;
}

enum gpumc_status chains_settings_make(chains_read *read, const struct gpumc_params *params,
                                       const struct gpumc_model *model, struct chains *chains,
                                       struct gpumc_error *error)
{
  chains->moved = (struct gpumc_moved){.control = GPUMC_CONTROL_NONE};
  memcpy(chains->moved.fixed, model->control, sizeof chains->moved.fixed);
  GPUMC_TRY(read(params, chains, error));
  if (chains->value != NULL) {
    gpumc_moved_read(params, model, &chains->moved);
    chains->axis = gpumc_moved_label(model, &chains->moved);
  }
  const struct gpumc_observables observables =
      gpumc_observables_of(params, model->ops, NULL, chains->moved.control);
  chains_quantities_make(model, &observables, &chains->quantities);
  chains_watch_choose(model, &observables, &chains->watch);
  return gpumc_configurations_request_read(params, GPUMC_CONFIGURATIONS_TIMES, chains->runs,
                                           &chains->request, error);
}

/* Returns whether the moves of the block are proven to meet no barrier in any of its runs. */
static bool mixes(const struct chains *chains, const struct gpumc_params *params,
                  const struct gpumc_kernel_ops *kernel)
{
  const bool athermal = chains->value == NULL;
  const struct gpumc_update update = gpumc_update_of(params);
  double control[GPUMC_CONTROLS_MAXIMUM];
  memcpy(control, chains->moved.fixed, sizeof control);
  for (size_t m = 0; m < chains->runs; m++) {
    if (!athermal)
      control[chains->moved.control] = chains->value[m];
    if (!gpumc_update_mixes(&update, kernel, chains->context.model, athermal ? NULL : control))
      return false;
  }
  return true;
}

enum gpumc_status chains_warn(chains_read *read, const struct gpumc_params *params,
                              const struct gpumc_model *model,
                              const struct gpumc_kernel_ops *kernel, const char **name,
                              char text[GPUMC_WARNING_BYTES], struct gpumc_error *error)
{
  struct chains chains = {.context.model = model};
  const struct chains_settings *settings = &chains.settings;
  enum gpumc_status status = chains_settings_make(read, params, model, &chains, error);
  *name = "replicas_warning";
  text[0] = '\0';
  if (status == GPUMC_OK &&
      (settings->each_sample || settings->replicas < GPUMC_CHAINS_FOR_TRUST) &&
      !mixes(&chains, params, kernel)) {
    if (settings->each_sample)
      snprintf(text, GPUMC_WARNING_BYTES,
               "each sample has one replica, which cannot show whether it missed states that only "
               "other starts lead to, so the result is not trusted; use algorithm pt, or one run "
               "for each sample (model.sample) with algorithm.replicas: %d",
               GPUMC_CHAINS_FOR_TRUST);
    else
      snprintf(text, GPUMC_WARNING_BYTES,
               "algorithm.replicas = %zu is too few to show whether replicas missed states that "
               "only other starts lead to, so the result is not trusted; use %d or more, which "
               "would then contradict each other",
               settings->replicas, GPUMC_CHAINS_FOR_TRUST);
  }
  chains_settings_free(&chains);
  return status;
}

void chains_settings_free(struct chains *chains)
{
  gpumc_configurations_request_free(&chains->request);
  free(chains->value);
  free(chains->grid.value);
  free(chains->grid.first);
}

double chains_configurations_rows(const struct chains *chains, uint32_t sweep)
{
  const struct gpumc_configurations_chains all = chains_all_replicas(chains);
  return gpumc_configurations_chain_rows(&chains->request, &all, sweep);
}
