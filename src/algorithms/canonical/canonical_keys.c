/* Canonical runs: keys, their checks, and what they say. */
#include <string.h>

#include "algorithms/canonical/canonical_state.h"
#include "core/samples.h"
#include "core/sweeps.h"
#include "core/temperatures.h"

enum { DEFAULT_REPLICAS = 32 };

static const struct gpumc_key beta_keys[] = {
    GPUMC_TEMPERATURES_KEYS(1, CANONICAL_TEMPERATURES_MAXIMUM), {0}};

static const struct gpumc_key reweight_keys[] = {
    GPUMC_BETA_KEY("from", .sweepable = true, .required = true,
                   .doc = "First inverse temperature of the grid."),
    GPUMC_BETA_KEY("to", .sweepable = true, .required = true,
                   .doc = "Last inverse temperature of the grid."),
    GPUMC_BETA_STEP_KEY(.sweepable = true, .required = true, .doc = "Spacing from `from` to `to`."),
    {0}};

const struct gpumc_key canonical_keys[] = {
    {.name = "beta",
     .type = GPUMC_KEY_MAPPING,
     .required = true,
     .children = beta_keys,
     .doc = "The inverse temperatures, all simulated side by side."},
    {.name = "replicas",
     .type = GPUMC_KEY_INTEGER,
     .minimum = 1,
     .maximum = 2147483647,
     .unit = "replicas",
     .sweepable = true,
     .population = true,
     .doc = "Independent copies at each temperature, 32 unless given (1 with more than one of "
            "`samples`); `multispin` kernels update 32 at the price of one."},
    {.name = "samples",
     .type = GPUMC_KEY_INTEGER,
     .default_text = "1",
     .minimum = 1,
     .maximum = 2147483647,
     .unit = "samples",
     .sweepable = true,
     .population = true,
     .doc = "Disorder samples, from the model's `sample` on. With more than one every sample has "
            "one replica, which `replicas` says or leaves open, and errors are those of averages "
            "over samples."},
    GPUMC_UPDATE_KEY("How a spin is updated, given its neighbours."),
    GPUMC_SWEEPS_KEY("thermalization", 0, .required = true, .sweepable = true,
                     .doc = "Sweeps from the random start that are not measured."),
    GPUMC_SWEEPS_KEY("sweeps", 1, .required = true, .sweepable = true,
                     .doc = "Sweeps that are measured, a multiple of `interval`."),
    GPUMC_SWEEPS_KEY("interval", 1, .default_text = "1", .sweepable = true,
                     .doc = "Sweeps from one measurement to the next."),
    GPUMC_STRUCTURE_FACTOR_KEY,
    {.name = "series",
     .type = GPUMC_KEY_BOOLEAN,
     .default_text = "false",
     .doc =
         "Write the time series of every replica into the result: the energy and what observables "
         "are moments of, as the magnetization and, with `structure_factor`, `wave`, whose mean "
         "the structure factor is."},
    {.name = "reweight",
     .type = GPUMC_KEY_MAPPING,
     .children = reweight_keys,
     .doc = "Reweighting onto this grid, each point from the temperature nearest to it, as far as "
            "the energy histograms overlap."},
    {.name = "configurations",
     .type = GPUMC_KEY_MAPPING,
     .children = gpumc_configurations_keys,
     .doc = "Write configurations of all replicas into the result, at times that are multiples of "
            "`interval`."},
    {0}};

static void check_times(const struct gpumc_params *params, struct gpumc_report *report)
{
  int64_t thermalization = gpumc_params_integer(params, "thermalization");
  int64_t sweeps = gpumc_params_integer(params, "sweeps");
  int64_t interval = gpumc_params_integer(params, "interval");
  if (sweeps % interval != 0)
    gpumc_params_mistake(params, report, "sweeps",
                         "sweeps = %lld must be a multiple of interval = %lld", (long long)sweeps,
                         (long long)interval);
  if ((double)thermalization + (double)sweeps > GPUMC_SWEEPS_MAXIMUM)
    gpumc_params_mistake(params, report, "sweeps",
                         "%lld sweeps after %lld of thermalization exceed the %.0f that a run may "
                         "have; a longer `interval` saves none of them",
                         (long long)sweeps, (long long)thermalization, GPUMC_SWEEPS_MAXIMUM);
}

static void check_replicas(const struct gpumc_params *params, struct gpumc_report *report)
{
  if (gpumc_params_integer(params, "samples") > 1 && gpumc_params_has(params, "replicas") &&
      gpumc_params_integer(params, "replicas") > 1)
    gpumc_params_mistake(params, report, "replicas",
                         "with more than one of `samples` each has one replica; leave out "
                         "`replicas`, or the other");
}

void canonical_check(const struct gpumc_params *params, const struct gpumc_model_ops *model,
                     const struct gpumc_params *model_params, struct gpumc_report *report)
{
  const size_t before = report->calls;
  (void)model_params;
  gpumc_temperatures_check(params, 1, CANONICAL_TEMPERATURES_MAXIMUM, report);
  if (report->calls == before) {
    gpumc_update_check_temperatures(params, model, report);
    gpumc_configurations_check_temperatures(params, report);
  }
  if (gpumc_params_has(params, "reweight.step"))
    gpumc_range_check(params, "reweight", CANONICAL_GRID_MAXIMUM, report);
  check_times(params, report);
  gpumc_configurations_check_times(params, "interval", gpumc_params_integer(params, "interval"),
                                   report);
  check_replicas(params, report);
  gpumc_observables_check(params, model, report);
}

void canonical_check_instance(const struct gpumc_params *params, const struct gpumc_model *model,
                              struct gpumc_report *report)
{
  struct canonical_settings settings;
  canonical_settings_read(params, &settings);
  if (!settings.each_sample)
    return;
  if (!model->disorder)
    gpumc_params_mistake(params, report, "samples",
                         "model %s has no quenched disorder as configured; use `replicas` for "
                         "independent copies",
                         model->ops->name);
  gpumc_samples_check(params, model, settings.replicas, report);
}

static size_t chains_of(const struct canonical_settings *settings)
{
  if (settings->each_sample)
    return 1;
  return settings->replicas < CANONICAL_CHAINS_MAXIMUM ? settings->replicas
                                                       : CANONICAL_CHAINS_MAXIMUM;
}

static int64_t default_replicas(const struct gpumc_params *params)
{
  return gpumc_params_integer(params, "samples") > 1 ? 1 : DEFAULT_REPLICAS;
}

cJSON *canonical_defaults(const struct gpumc_params *params, const struct gpumc_model *model)
{
  (void)model;
  cJSON *defaults = cJSON_CreateObject();
  if (gpumc_temperatures_default(params, defaults) &&
      cJSON_AddNumberToObject(defaults, "replicas", (double)default_replicas(params)) != NULL)
    return defaults;
  cJSON_Delete(defaults);
  return NULL;
}

void canonical_settings_read(const struct gpumc_params *params, struct canonical_settings *settings)
{
  memset(settings, 0, sizeof *settings);
  settings->replicas = (size_t)default_replicas(params);
  if (gpumc_params_has(params, "replicas"))
    settings->replicas = (size_t)gpumc_params_integer(params, "replicas");
  settings->each_sample = gpumc_params_integer(params, "samples") > 1;
  if (settings->each_sample)
    settings->replicas = (size_t)gpumc_params_integer(params, "samples");
  settings->chains = chains_of(settings);
  settings->update = gpumc_update_of(params);
  settings->thermalization = (uint32_t)gpumc_params_integer(params, "thermalization");
  settings->sweeps = (uint32_t)gpumc_params_integer(params, "sweeps");
  settings->interval = (uint32_t)gpumc_params_integer(params, "interval");
  settings->series = gpumc_params_boolean(params, "series");
}
