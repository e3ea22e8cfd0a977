/* Canonical runs: keys, their checks, and what they say: settings, the inverse temperatures, the
 * grid of reweighting, and the units of progress. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/canonical/canonical.h"
#include "core/base/memory.h"
#include "core/simulation/ladder.h"
#include "core/simulation/shared_keys.h"

enum { DEFAULT_REPLICAS = 32 };
static const double unit_updates = 0x1p28;

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
     .proportional = true,
     .doc = "Independent copies at each temperature; 32 by default, and 1 with "
            "several `samples`. Kernels that pack replicas into words update 32 at the price "
            "of one."},
    {.name = "samples",
     .type = GPUMC_KEY_INTEGER,
     .default_text = "1",
     .minimum = 1,
     .maximum = 2147483647,
     .unit = "samples",
     .sweepable = true,
     .proportional = true,
     .doc = "Disorder samples, from the model's `sample` on. With several, each has "
            "one replica, and errors are those of averages over samples."},
    GPUMC_UPDATE_KEY("The move that a sweep consists of."),
    GPUMC_SWEEPS_KEY("thermalization", 0, .required = true, .sweepable = true,
                     .doc = "Sweeps after the random start, before measuring begins."),
    GPUMC_SWEEPS_KEY("sweeps", 1, .required = true, .sweepable = true,
                     .doc =
                         "Sweeps during which measurements are taken, a multiple of `interval`."),
    GPUMC_SWEEPS_KEY("interval", 1, .default_text = "1", .sweepable = true,
                     .doc = "Sweeps from one measurement to the next."),
    GPUMC_REQUESTS_KEY,
    {.name = "series",
     .type = GPUMC_KEY_BOOLEAN,
     .default_text = "false",
     .doc =
         "Write the time series of every replica into the result: all channels that are measured, "
         "those on request included."},
    {.name = "reweight",
     .type = GPUMC_KEY_MAPPING,
     .children = reweight_keys,
     .doc = "Reweighting onto this grid: each point from the nearest temperature, as "
            "far as its measurements reach."},
    {.name = "configurations",
     .type = GPUMC_KEY_MAPPING,
     .children = gpumc_configurations_keys,
     .doc = "Write configurations of all replicas into the result, at times that are multiples of "
            "`interval`."},
    {0}};

static void check_temperatures(const struct gpumc_params *params,
                               const struct gpumc_subject *subject, struct gpumc_report *report)
{
  (void)subject;
  gpumc_ladder_check(params, "beta", 1, CANONICAL_TEMPERATURES_MAXIMUM, report);
}

static void check_configured_temperatures(const struct gpumc_params *params,
                                          const struct gpumc_subject *subject,
                                          struct gpumc_report *report)
{
  (void)subject;
  gpumc_configurations_check_temperatures(params, "beta", report);
}

static void check_grid(const struct gpumc_params *params, const struct gpumc_subject *subject,
                       struct gpumc_report *report)
{
  (void)subject;
  if (gpumc_params_has(params, "reweight"))
    gpumc_range_check(params, "reweight", CANONICAL_GRID_MAXIMUM, report);
}

static void check_interval(const struct gpumc_params *params, const struct gpumc_subject *subject,
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

static void check_length(const struct gpumc_params *params, const struct gpumc_subject *subject,
                         struct gpumc_report *report)
{
  const int64_t thermalization = gpumc_params_integer(params, "thermalization");
  const int64_t sweeps = gpumc_params_integer(params, "sweeps");
  (void)subject;
  if ((double)thermalization + (double)sweeps > GPUMC_SWEEPS_MAXIMUM)
    gpumc_params_mistake(params, report, "sweeps",
                         "%lld sweeps after %lld of thermalization exceed the %.0f that a run may "
                         "have; a longer `interval` saves none of them",
                         (long long)sweeps, (long long)thermalization, GPUMC_SWEEPS_MAXIMUM);
}

static void check_configurations(const struct gpumc_params *params,
                                 const struct gpumc_subject *subject, struct gpumc_report *report)
{
  (void)subject;
  gpumc_configurations_check_times(params, "interval", gpumc_params_integer(params, "interval"),
                                   report);
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
                         "with more than one of `samples`, each sample has one replica: leave out "
                         "either `replicas` or `samples`");
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

const struct gpumc_check canonical_checks[] = {
    {.reads = "beta", .run = check_temperatures},
    GPUMC_UPDATE_CHECK,
    {.reads = "beta configurations", .run = check_configured_temperatures},
    {.reads = "reweight", .run = check_grid},
    {.reads = "sweeps interval", .run = check_interval},
    {.reads = "sweeps thermalization", .run = check_length},
    {.reads = "configurations sweeps interval", .run = check_configurations},
    {.reads = "samples replicas", .run = check_replicas},
    {.reads = "samples replicas", .needs = GPUMC_NEEDS_INSTANCE, .run = check_samples},
    {.run = NULL},
};

static size_t chains_of(const struct canonical_settings *settings)
{
  if (settings->each_sample)
    return 1;
  return settings->replicas < CANONICAL_CHAINS_MAXIMUM ? settings->replicas
                                                       : CANONICAL_CHAINS_MAXIMUM;
}

static int64_t default_replicas(const struct gpumc_params *params)
{
  return is_each_sample(params) ? 1 : DEFAULT_REPLICAS;
}

cJSON *canonical_defaults(const struct gpumc_params *params, const struct gpumc_model *model)
{
  (void)model;
  cJSON *defaults = cJSON_CreateObject();
  if (gpumc_ladder_default(params, "beta", defaults) &&
      cJSON_AddNumberToObject(defaults, "replicas", (double)default_replicas(params)) != NULL)
    return defaults;
  cJSON_Delete(defaults);
  return NULL;
}

size_t canonical_replicas(const struct gpumc_params *params)
{
  struct canonical_settings settings;
  canonical_settings_read(params, &settings);
  return settings.replicas;
}

void canonical_settings_read(const struct gpumc_params *params, struct canonical_settings *settings)
{
  memset(settings, 0, sizeof *settings);
  settings->replicas = (size_t)default_replicas(params);
  if (gpumc_params_has(params, "replicas"))
    settings->replicas = (size_t)gpumc_params_integer(params, "replicas");
  settings->each_sample = is_each_sample(params);
  if (settings->each_sample)
    settings->replicas = (size_t)gpumc_params_integer(params, "samples");
  settings->chains = chains_of(settings);
  settings->thermalization = (uint32_t)gpumc_params_integer(params, "thermalization");
  settings->sweeps = (uint32_t)gpumc_params_integer(params, "sweeps");
  settings->interval = (uint32_t)gpumc_params_integer(params, "interval");
  settings->series = gpumc_params_boolean(params, "series");
}

enum gpumc_status canonical_betas_make(const struct gpumc_params *params,
                                       struct canonical_betas *betas, struct gpumc_error *error)
{
  memset(betas, 0, sizeof *betas);
  betas->count = gpumc_ladder_count(params, "beta");
  GPUMC_TRY(gpumc_allocate_array(&betas->beta, betas->count, "inverse temperatures", error));
  gpumc_ladder_read(params, "beta", betas->beta);
  return GPUMC_OK;
}

void canonical_betas_free(struct canonical_betas *betas)
{
  free(betas->beta);
  memset(betas, 0, sizeof *betas);
}

/* Both ascend, so the points of a temperature follow each other. */
static void assign_points(const struct canonical_betas *betas, struct canonical_grid *grid)
{
  size_t m = 0;
  for (size_t p = 0; p < grid->points; p++) {
    size_t nearest = m;
    while (nearest + 1 < betas->count && fabs(betas->beta[nearest + 1] - grid->beta[p]) <
                                             fabs(betas->beta[nearest] - grid->beta[p]))
      nearest++;
    for (; m < nearest; m++)
      grid->first[m + 1] = p;
  }
  for (; m < betas->count; m++)
    grid->first[m + 1] = grid->points;
}

enum gpumc_status canonical_grid_make(const struct gpumc_params *params,
                                      const struct canonical_betas *betas,
                                      struct canonical_grid *grid, struct gpumc_error *error)
{
  memset(grid, 0, sizeof *grid);
  if (!gpumc_params_has(params, "reweight.step"))
    return GPUMC_OK;
  const struct gpumc_range range = gpumc_range_read(params, "reweight");
  grid->points = (size_t)gpumc_range_count(&range);
  GPUMC_TRY(gpumc_allocate_array(&grid->beta, grid->points, "inverse temperatures", error));
  for (size_t p = 0; p < grid->points; p++)
    grid->beta[p] = gpumc_range_point(&range, p);
  GPUMC_TRY(gpumc_allocate_array(&grid->first, betas->count + 1, "the grid", error));
  assign_points(betas, grid);
  return GPUMC_OK;
}

void canonical_grid_free(struct canonical_grid *grid)
{
  free(grid->beta);
  free(grid->first);
  memset(grid, 0, sizeof *grid);
}

uint32_t canonical_unit(const struct canonical_settings *settings, const struct gpumc_model *model,
                        size_t temperatures)
{
  double sweep = (double)temperatures * (double)settings->replicas * (double)model->sites;
  double unit = fmax(floor(unit_updates / sweep), 1);
  return unit < canonical_end(settings) ? (uint32_t)unit : canonical_end(settings);
}
