/* Canonical runs: chains (algorithms/chains) at fixed temperatures, or values of another control,
 * with the keys of their ladder and of the grid of reweighting. */
#include "algorithms/canonical/canonical.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/simulation/ladder.h"

enum { DEFAULT_REPLICAS = 32, GRID_MAXIMUM = 100000, VALUES_MAXIMUM = 4096 };

static const struct gpumc_key beta_keys[] = {GPUMC_TEMPERATURES_KEYS(1, GPUMC_RUN_MAXIMUM), {0}};

static const struct gpumc_key reweight_keys[] = {GPUMC_BETA_GRID_KEYS(.sweepable = true), {0}};

static const struct gpumc_key control_reweight_keys[] = {
    GPUMC_CONTROL_VALUE_KEY("from", .sweepable = true, .required = true, .example = "1.0",
                            .doc = "First value of the grid."),
    GPUMC_CONTROL_VALUE_KEY("to", .sweepable = true, .required = true, .example = "3.0",
                            .doc = "Last value of the grid."),
    GPUMC_CONTROL_STEP_KEY(.sweepable = true, .required = true, .example = "0.1",
                           .doc = "Spacing from `from` to `to`."),
    {0}};

static const struct gpumc_key control_keys[] = {
    GPUMC_CONTROL_LADDER_KEYS(1, VALUES_MAXIMUM),
    {.name = "reweight",
     .type = GPUMC_KEY_MAPPING,
     .children = control_reweight_keys,
     .doc = "Grid of values of the control to reweight onto."},
    {0}};

static const struct gpumc_key keys[] = {
    {.name = "beta",
     .type = GPUMC_KEY_MAPPING,
     .required_unless = "control",
     .children = beta_keys,
     .doc = "The inverse temperatures, all simulated side by side.",
     .temperature = "temperature",
     .temperature_doc = "The temperatures, in place of `beta`."},
    {.name = "control",
     .type = GPUMC_KEY_MAPPING,
     .children = control_keys,
     .doc = "Another control of the model, such as a field or a pressure, whose values replace the "
            "temperatures."},
    {.name = "replicas",
     .type = GPUMC_KEY_INTEGER,
     .minimum = 1,
     .maximum = 2147483647,
     .unit = "replicas",
     .sweepable = true,
     .proportional = true,
     .doc = "Independent copies at each temperature; 32 by default, and 1 with several `samples`. "
            "Kernels that pack replicas into words update 32 for the price of one."},
    {.name = "samples",
     .type = GPUMC_KEY_INTEGER,
     .default_text = "1",
     .minimum = 1,
     .maximum = 2147483647,
     .unit = "samples",
     .sweepable = true,
     .proportional = true,
     .doc = "Number of disorder samples, starting with the model's `sample`. With several, each "
            "has one replica, and errors are those of averages over samples."},
    GPUMC_UPDATE_KEY("Move that makes up a sweep, or moves that take turns, each for a number of "
                     "sweeps; by default the first move of the model's first kernel."),
    CHAINS_TIMES_KEYS,
    GPUMC_REQUESTS_KEY,
    CHAINS_SERIES_KEY,
    {.name = "reweight",
     .type = GPUMC_KEY_MAPPING,
     .children = reweight_keys,
     .doc = "Grid of inverse temperatures to reweight onto; each point uses the nearest simulated "
            "temperature, as far as its measurements reach.",
     .temperature = "reweight_temperature",
     .temperature_doc = "Grid of temperatures to reweight onto, in place of `reweight`."},
    CHAINS_CONFIGURATIONS_KEY(gpumc_configurations_keys),
    {0}};

static void check_temperatures(const struct gpumc_params *params,
                               const struct gpumc_subject *subject, struct gpumc_report *report)
{
  (void)subject;
  const size_t most = gpumc_params_has(params, "control") ? VALUES_MAXIMUM : GPUMC_RUN_MAXIMUM;
  gpumc_ladder_check(params, gpumc_ladder_block(params), 1, most, report);
}

static void check_configured_temperatures(const struct gpumc_params *params,
                                          const struct gpumc_subject *subject,
                                          struct gpumc_report *report)
{
  (void)subject;
  gpumc_configurations_check_temperatures(params, gpumc_ladder_block(params), report);
}

static const char *reweight_block(const struct gpumc_params *params)
{
  return gpumc_params_has(params, "control") ? "control.reweight" : "reweight";
}

static void check_grid(const struct gpumc_params *params, const struct gpumc_subject *subject,
                       struct gpumc_report *report)
{
  (void)subject;
  if (gpumc_params_has(params, "reweight") && gpumc_params_has(params, "control"))
    gpumc_params_mistake(params, report, "reweight",
                         "reweight applies to inverse temperatures: use control.reweight");
  else if (gpumc_params_has(params, "reweight") || gpumc_params_has(params, "control.reweight"))
    gpumc_grid_check(params, reweight_block(params), GRID_MAXIMUM, report);
}

static bool is_each_sample(const struct gpumc_params *params)
{
  return gpumc_params_integer(params, "samples") > 1;
}

static void check_replicas(const struct gpumc_params *params, const struct gpumc_subject *subject,
                           struct gpumc_report *report)
{
  (void)subject;
  if (is_each_sample(params) && gpumc_params_has(params, "replicas") &&
      gpumc_params_integer(params, "replicas") > 1)
    gpumc_params_mistake(params, report, "replicas",
                         "with several `samples`, each sample has one replica: leave out either "
                         "`replicas` or `samples`");
}

static void check_samples(const struct gpumc_params *params, const struct gpumc_subject *subject,
                          struct gpumc_report *report)
{
  const struct gpumc_model *model = subject->instance;
  if (!is_each_sample(params))
    return;
  if (!model->disorder)
    gpumc_params_mistake(params, report, "samples",
                         "model %s has no quenched disorder as configured; use `replicas` for "
                         "independent copies",
                         model->ops->name);
  gpumc_samples_check(params, model, (size_t)gpumc_params_integer(params, "samples"), report);
}

static const struct gpumc_check checks[] = {
    GPUMC_CONTROL_CHECKS,
    {.reads = "beta control", .run = check_temperatures},
    GPUMC_UPDATE_CHECK,
    {.reads = "beta control configurations", .run = check_configured_temperatures},
    {.reads = "control reweight", .run = check_grid},
    CHAINS_CHECKS,
    {.reads = "samples replicas", .run = check_replicas},
    {.reads = "samples replicas", .needs = GPUMC_NEEDS_INSTANCE, .run = check_samples},
    {.run = NULL},
};

static int64_t default_replicas(const struct gpumc_params *params)
{
  return is_each_sample(params) ? 1 : DEFAULT_REPLICAS;
}

static cJSON *defaults_of(const struct gpumc_params *params, const struct gpumc_model *model)
{
  (void)model;
  cJSON *defaults = cJSON_CreateObject();
  if (gpumc_ladder_default(params, gpumc_ladder_block(params), defaults) &&
      chains_default_thermalization(params, defaults) &&
      cJSON_AddNumberToObject(defaults, "replicas", (double)default_replicas(params)) != NULL)
    return defaults;
  cJSON_Delete(defaults);
  return NULL;
}

static struct chains_settings settings_of(const struct gpumc_params *params)
{
  const int64_t replicas = gpumc_params_has(params, "replicas")
                               ? gpumc_params_integer(params, "replicas")
                               : default_replicas(params);
  return chains_settings_read(params, (size_t)replicas,
                              (size_t)gpumc_params_integer(params, "samples"));
}

static size_t replicas_of(const struct gpumc_params *params)
{
  return settings_of(params).replicas;
}

/* Every point is served by the temperature nearest to it. Both ascend, so the points of a
 * temperature follow each other. */
static void assign_points(const struct chains *chains, const struct chains_grid *grid)
{
  const double *value = chains->value;
  size_t m = 0;
  for (size_t p = 0; p < grid->points; p++) {
    size_t nearest = m;
    while (nearest + 1 < chains->runs &&
           fabs(value[nearest + 1] - grid->value[p]) < fabs(value[nearest] - grid->value[p]))
      nearest++;
    for (; m < nearest; m++)
      grid->first[m + 1] = p;
  }
  for (; m < chains->runs; m++)
    grid->first[m + 1] = grid->points;
}

static enum gpumc_status
read_grid(const struct gpumc_params *params, struct chains *chains, struct gpumc_error *error)
{
  struct chains_grid *grid = &chains->grid;
  const char *block = reweight_block(params);
  if (!gpumc_params_has(params, block))
    return GPUMC_OK;
  grid->points = gpumc_ladder_count(params, block);
  GPUMC_TRY(gpumc_allocate_array(&grid->value, grid->points, "a grid of values", error));
  gpumc_ladder_read(params, block, grid->value);
  GPUMC_TRY(gpumc_allocate_array(&grid->first, chains->runs + 1, "the grid", error));
  assign_points(chains, grid);
  return GPUMC_OK;
}

enum gpumc_status
canonical_read(const struct gpumc_params *params, struct chains *chains, struct gpumc_error *error)
{
  chains->name = "canonical";
  chains->settings = settings_of(params);
  const char *block = gpumc_ladder_block(params);
  chains->runs = gpumc_ladder_count(params, block);
  GPUMC_TRY(gpumc_allocate_array(&chains->value, chains->runs, "values of a control", error));
  gpumc_ladder_read(params, block, chains->value);
  return read_grid(params, chains, error);
}

static enum gpumc_status warn(const struct gpumc_params *params, const struct gpumc_model *model,
                              const struct gpumc_kernel_ops *kernel, const char **name,
                              char text[GPUMC_WARNING_BYTES], struct gpumc_error *error)
{
  return chains_warn(canonical_read, params, model, kernel, name, text, error);
}

static enum gpumc_status demand(const struct gpumc_params *params, const struct gpumc_model *model,
                                const struct gpumc_device *device,
                                const struct gpumc_spread *spread, struct gpumc_demand *demanded,
                                struct gpumc_error *error)
{
  (void)spread;
  return chains_demand(canonical_read, params, model, device, demanded, error);
}

static enum gpumc_status
create(struct gpumc_context *context, void **state, struct gpumc_error *error)
{
  return chains_create(canonical_read, context, state, error);
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

static const char *refuses_merging(const struct gpumc_params *params)
{
  return is_each_sample(params)
             ? "averages over samples are corrected with the halves of the run, which results do "
               "not contain; use one run for all samples, or pt, whose samples can be merged"
             : NULL;
}

static const char *const not_merged[] = {"reweight", "control.reweight", "series", "configurations",
                                         NULL};

static const struct gpumc_merger merger = {
    .counted = "replicas", .dropped = not_merged, .refuses = refuses_merging, .fill = chains_merge};

const struct gpumc_algorithm_ops gpumc_algorithm_canonical = {
    CHAINS_OPERATIONS,
    .name = "canonical",
    .summary = "updates at fixed temperatures: equilibrium averages, time series",
    .citation = citation,
    .independent_values = true,
    .keys = keys,
    .merger = &merger,
    .checks = checks,
    .defaults = defaults_of,
    .warn = warn,
    .replicas = replicas_of,
    .demand = demand,
    .create = create,
};
