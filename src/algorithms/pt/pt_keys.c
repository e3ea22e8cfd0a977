/* Parallel tempering: its keys, their checks, and what they say. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pt/pt_state.h"
#include "core/base/memory.h"
#include "core/simulation/shared_keys.h"
#include "core/simulation/ladder.h"

static const struct gpumc_key beta_keys[] = {
    GPUMC_TEMPERATURES_KEYS(PT_TEMPERATURES_MINIMUM, PT_TEMPERATURES_MAXIMUM), {0}};

static const struct gpumc_key control_keys[] = {
    GPUMC_CONTROL_LADDER_KEYS(PT_TEMPERATURES_MINIMUM, PT_TEMPERATURES_MAXIMUM), {0}};

/* Exchanges come at the end of measured sweeps, and at every measurement. */
static const char *const exchanges_divide[] = {"measure_every", "sweeps", NULL};

static const struct gpumc_key tune_keys[] = {
    GPUMC_SWEEPS_KEY("sweeps", 1, .required = true, .sweepable = true, .example = "2000",
                     .doc =
                         "Length of the warm-up, at least two rounds of `exchange_every` sweeps "
                         "for each iteration. Each iteration is twice as long as the one before."),
    {.name = "iterations",
     .type = GPUMC_KEY_INTEGER,
     .default_text = "6",
     .minimum = 1,
     .maximum = 24,
     .doc = "Number of times the temperatures are adjusted."},
    {0}};

static const char *const cluster_kinds[GPUMC_CLUSTER_RULES + 1] = {
    [GPUMC_CLUSTER_CONNECTED] = "houdayer", [GPUMC_CLUSTER_ACTIVATED] = "joerg"};

static const struct gpumc_key cluster_keys[] = {
    {.name = "kind",
     .type = GPUMC_KEY_CHOICE,
     .required = true,
     .example = "houdayer",
     .choices = cluster_kinds,
     .doc = "What is exchanged: of the sites at which two copies differ, all that are connected to "
            "a random one (houdayer), or a part of them, by bonds that are drawn at the "
            "temperature (joerg)."},
    {.name = "every",
     .type = GPUMC_KEY_INTEGER,
     .default_text = "1",
     .minimum = 1,
     .maximum = 1e6,
     .unit = "rounds",
     .sweepable = true,
     .doc = "Rounds of `exchange_every` sweeps between exchanges of clusters."},
    {.name = "min_beta",
     .type = GPUMC_KEY_REAL,
     .unit = GPUMC_UNIT_BETA,
     .minimum = 0,
     .maximum = INFINITY,
     .sweepable = true,
     .doc = "Clusters are exchanged from this inverse temperature on; by default at all of them.",
     .temperature = "max_temperature",
     .temperature_doc =
         "Clusters are exchanged up to this temperature; by default at all of them."},
    {0}};

const struct gpumc_key pt_keys[] = {
    {.name = "beta",
     .type = GPUMC_KEY_MAPPING,
     .required_unless = "control",
     .children = beta_keys,
     .doc = "The inverse temperatures: `from` and `to` with `count` or `step`, or `values`.",
     .temperature = "temperature",
     .temperature_doc = "The temperatures, in place of `beta`: `from` and `to` with `count` or "
                        "`step`, or `values`."},
    {.name = "control",
     .type = GPUMC_KEY_MAPPING,
     .children = control_keys,
     .doc = "Another control of the model, whose values replace the temperatures, at one inverse "
            "temperature; with `from` and `to` and `count` or `step`, or `values`."},
    {.name = "tune",
     .type = GPUMC_KEY_MAPPING,
     .children = tune_keys,
     .doc = "A warm-up in which the temperatures between the first and the last are adjusted until "
            "all neighbours exchange equally often."},
    {.name = "samples",
     .type = GPUMC_KEY_INTEGER,
     .default_text = "1",
     .minimum = 1,
     .maximum = 1e9,
     .unit = "samples",
     .sweepable = true,
     .proportional = true,
     .doc = "Number of disorder samples, starting with the model's `sample`, each with a "
            "simulation of its own. For a model without disorder, independent simulations."},
    {.name = "replicas",
     .type = GPUMC_KEY_INTEGER,
     .minimum = 1,
     .maximum = PT_COPIES_MAXIMUM,
     .unit = "copies",
     .sweepable = true,
     .proportional = true,
     .doc = "Copies of every sample at every temperature, whose overlaps are "
            "measured; n copies make n (n - 1)/2 pairs. Defaults to 2 for models "
            "with disorder and to 1 for others."},
    GPUMC_SWEEPS_KEY("sweeps", 1, .required = true, .sweepable = true, .example = "20000",
                     .doc =
                         "Measured sweeps, a multiple of `measure_every`. Averages are taken over "
                         "the last half; earlier times go into logarithmic bins."),
    GPUMC_SWEEPS_KEY("thermalization", 0, .default_text = "0", .sweepable = true,
                     .doc = "Sweeps before the measured ones, rounded up to whole rounds of "
                            "`exchange_every` sweeps."),
    {.name = "exchange_every",
     .type = GPUMC_KEY_INTEGER,
     .default_text = "10",
     .default_divides = exchanges_divide,
     .minimum = 0,
     .maximum = 1e6,
     .unit = "sweeps",
     .sweepable = true,
     .doc = "Sweeps between exchanges, which alternate between even and odd pairs of "
            "temperatures; 0 for none."},
    {.name = "measure_every",
     .type = GPUMC_KEY_INTEGER,
     .minimum = 1,
     .maximum = 1e9,
     .unit = "sweeps",
     .sweepable = true,
     .doc = "Sweeps between measurements, a multiple of `exchange_every`. Defaults "
            "to `exchange_every`, or without exchanges to the largest divisor of "
            "`sweeps` up to 10."},
    {.name = "cluster_exchange",
     .type = GPUMC_KEY_MAPPING,
     .children = cluster_keys,
     .doc = "Exchange clusters between the copies of a sample at each temperature, after the "
            "exchange of temperatures: for glasses in two dimensions, where clusters stay small. "
            "Disjoint pairs of copies, which rotate, exchange one cluster each."},
    GPUMC_UPDATE_KEY("Move that makes up a sweep, or moves that take turns, each for a number of "
                     "sweeps; by default the first move of the model's first kernel."),
    GPUMC_REQUESTS_KEY,
    {.name = "blocks",
     .type = GPUMC_KEY_INTEGER,
     .minimum = PT_BLOCKS,
     .maximum = 1024,
     .doc = "Blocks of time in a bin, which give the errors if there are fewer than 8 samples; 256 "
            "by default. Neighbouring blocks are joined until they are independent."},
    {.name = "configurations",
     .type = GPUMC_KEY_MAPPING,
     .children = gpumc_configurations_keys,
     .doc = "Write configurations of all samples and copies into the result, at times that are "
            "multiples of `exchange_every`, after the exchange (of `measure_every` without "
            "exchanges)."},
    {0}};

enum { SWEEPS_WITHOUT_EXCHANGE = 10 };

static int64_t default_measure_every(const struct gpumc_params *params)
{
  const int64_t every = gpumc_params_integer(params, "exchange_every");
  return every > 0
             ? every
             : gpumc_divisor_up_to(gpumc_params_integer(params, "sweeps"), SWEEPS_WITHOUT_EXCHANGE);
}

/* Sweeps between measurements: as given, or by default. */
static int64_t measure_every(const struct gpumc_params *params)
{
  return gpumc_params_has(params, "measure_every") ? gpumc_params_integer(params, "measure_every")
                                                   : default_measure_every(params);
}

static size_t default_copies(const struct gpumc_model *model)
{
  return model == NULL || model->disorder ? 2 : 1;
}

/* Copies of a sample: as the block says, or by the instance; NULL is one with disorder. */
static size_t copies_of(const struct gpumc_params *params, const struct gpumc_model *model)
{
  return gpumc_params_has(params, "replicas") ? (size_t)gpumc_params_integer(params, "replicas")
                                              : default_copies(model);
}

/* Returns whether moves are proven to meet no barrier at one of the values, where walkers find what
 * they missed elsewhere; without exchanges, at all of them. */
static enum gpumc_status
mixes_enough(const struct gpumc_params *params, const struct gpumc_model *model,
             const struct gpumc_kernel_ops *kernel, bool *mixes, struct gpumc_error *error)
{
  const char *block = gpumc_ladder_block(params);
  const size_t values = gpumc_ladder_count(params, block);
  const struct gpumc_update update = gpumc_update_of(params);
  struct gpumc_moved moved = {0};
  double *value;
  const bool exchange = gpumc_params_integer(params, "exchange_every") > 0;
  *mixes = !exchange;
  GPUMC_TRY(gpumc_allocate_array(&value, values, "the ladder", error));
  gpumc_moved_read(params, model, &moved);
  gpumc_ladder_read(params, block, value);
  for (size_t t = 0; t < values && *mixes != exchange; t++) {
    const struct gpumc_controls controls = gpumc_controls_at(moved.fixed, moved.control, value[t]);
    *mixes = gpumc_update_mixes(&update, kernel, model, controls.value);
  }
  free(value);
  return GPUMC_OK;
}

enum gpumc_status pt_warn(const struct gpumc_params *params, const struct gpumc_model *model,
                          const struct gpumc_kernel_ops *kernel, const char **name,
                          char text[GPUMC_WARNING_BYTES], struct gpumc_error *error)
{
  const size_t simulations = pt_replicas(params) * copies_of(params, model);
  bool mixes;
  *name = "replicas_warning";
  text[0] = '\0';
  if (simulations >= GPUMC_CHAINS_FOR_TRUST)
    return GPUMC_OK;
  GPUMC_TRY(mixes_enough(params, model, kernel, &mixes, error));
  if (!mixes)
    snprintf(
        text, GPUMC_WARNING_BYTES,
        "%zu independent simulation%s %s too few to show whether states were missed that only "
        "other starts lead to, and moves are not proven to reach all states at %s value of the "
        "ladder, so the result is not trusted; use algorithm.%s: %d%s",
        simulations, simulations == 1 ? "" : "s", simulations == 1 ? "is" : "are",
        gpumc_params_integer(params, "exchange_every") > 0 ? "any" : "every",
        model->disorder ? "replicas" : "samples", GPUMC_CHAINS_FOR_TRUST,
        gpumc_params_has(params, "beta") ? ", or begin the ladder at a higher temperature" : "");
  return GPUMC_OK;
}

uint32_t pt_needs(const struct gpumc_params *params)
{
  return gpumc_params_has(params, "cluster_exchange") ? GPUMC_OPERATION_CLUSTERS : 0;
}

size_t pt_replicas(const struct gpumc_params *params)
{
  return (size_t)gpumc_params_integer(params, "samples");
}

static void check_temperatures(const struct gpumc_params *params,
                               const struct gpumc_subject *subject, struct gpumc_report *report)
{
  (void)subject;
  gpumc_ladder_check(params, gpumc_ladder_block(params), PT_TEMPERATURES_MINIMUM,
                     PT_TEMPERATURES_MAXIMUM, report);
}

static void check_configured_temperatures(const struct gpumc_params *params,
                                          const struct gpumc_subject *subject,
                                          struct gpumc_report *report)
{
  (void)subject;
  gpumc_configurations_check_temperatures(params, gpumc_ladder_block(params), report);
}

static void check_tuning(const struct gpumc_params *params, const struct gpumc_subject *subject,
                         struct gpumc_report *report)
{
  const int64_t every = gpumc_params_integer(params, "exchange_every");
  (void)subject;
  if (!gpumc_params_has(params, "tune"))
    return;
  const int64_t sweeps = gpumc_params_integer(params, "tune.sweeps");
  const int64_t iterations = gpumc_params_integer(params, "tune.iterations");
  const int64_t least = PT_TUNING_ROUNDS_MINIMUM * iterations * every;
  if (every == 0)
    gpumc_params_mistake(params, report, "tune",
                         "temperatures are tuned by the exchanges: exchange_every must not be 0");
  else if (sweeps < least)
    gpumc_params_mistake(params, report, "tune.sweeps",
                         "tune.sweeps = %lld is too short: %lld iterations, each of two rounds of "
                         "exchanges every %lld sweeps, take at least %lld",
                         (long long)sweeps, (long long)iterations, (long long)every,
                         (long long)least);
}

static void check_rounds(const struct gpumc_params *params, const struct gpumc_subject *subject,
                         struct gpumc_report *report)
{
  const int64_t every = gpumc_params_integer(params, "exchange_every");
  const int64_t sweeps = gpumc_params_integer(params, "sweeps");
  const int64_t measure = measure_every(params);
  const char *key = gpumc_params_has(params, "measure_every") ? "measure_every" : "exchange_every";
  (void)subject;
  if (every > 0 && measure % every != 0)
    gpumc_params_mistake(params, report, "measure_every",
                         "measure_every = %lld must be a multiple of exchange_every = %lld",
                         (long long)measure, (long long)every);
  if (sweeps % measure != 0)
    gpumc_params_mistake(params, report, "sweeps", "sweeps = %lld must be a multiple of %s = %lld",
                         (long long)sweeps, key, (long long)measure);
}

static void check_length(const struct gpumc_params *params, const struct gpumc_subject *subject,
                         struct gpumc_report *report)
{
  double all = (double)gpumc_params_integer(params, "sweeps") +
               (double)gpumc_params_integer(params, "thermalization");
  (void)subject;
  if (gpumc_params_has(params, "tune"))
    all += (double)gpumc_params_integer(params, "tune.sweeps");
  if (all + 64.0 * (double)measure_every(params) > GPUMC_SWEEPS_MAXIMUM)
    gpumc_params_mistake(params, report, "sweeps",
                         "%.0f sweeps in all, plus up to 64 times measure_every to round them up, "
                         "exceed the limit of %.0f, up to which random numbers are counted",
                         all, GPUMC_SWEEPS_MAXIMUM);
}

/* Rounds are whole, whether there is an exchange at their ends or not. */
static void check_configurations(const struct gpumc_params *params,
                                 const struct gpumc_subject *subject, struct gpumc_report *report)
{
  const int64_t every = gpumc_params_integer(params, "exchange_every");
  (void)subject;
  gpumc_configurations_check_times(params, every > 0 ? "exchange_every" : "measure_every",
                                   every > 0 ? every : measure_every(params), report);
}

static void check_blocks(const struct gpumc_params *params, const struct gpumc_subject *subject,
                         struct gpumc_report *report)
{
  (void)subject;
  if (gpumc_params_has(params, "blocks") &&
      gpumc_params_integer(params, "samples") >= PT_SAMPLES_FOR_ERRORS)
    gpumc_params_mistake(params, report, "blocks",
                         "with %d samples or more, errors come from the samples; leave out blocks",
                         PT_SAMPLES_FOR_ERRORS);
}

static void check_replicas(const struct gpumc_params *params, const struct gpumc_subject *subject,
                           struct gpumc_report *report)
{
  const struct gpumc_model *model = subject->instance;
  const size_t copies = copies_of(params, model);
  const char *block = gpumc_ladder_block(params);
  const bool is_beta = gpumc_params_has(params, "beta");
  const size_t temperatures = gpumc_ladder_count(params, block);
  const size_t samples = (size_t)gpumc_params_integer(params, "samples");
  const double runs = (double)copies * (double)temperatures;
  if (runs > GPUMC_RUN_MAXIMUM)
    gpumc_params_mistake(
        params, report, block,
        "%zu %s in %zu copies make %.0f simulations, which exceeds the limit of %d", temperatures,
        is_beta ? "temperatures" : "values", copies, runs, GPUMC_RUN_MAXIMUM);
  else if (runs * (double)samples > 4294967295.0)
    gpumc_params_mistake(params, report, "samples",
                         "%zu samples at %zu %s in %zu copies are more than 2^32 - 1 "
                         "replicas: divide them among several runs",
                         samples, temperatures, is_beta ? "temperatures" : "values", copies);
}

static void check_copies(const struct gpumc_params *params, const struct gpumc_subject *subject,
                         struct gpumc_report *report)
{
  const struct gpumc_model *model = subject->instance;
  bool any = false;
  for (size_t k = 0; k < GPUMC_PAIRS_MAXIMUM; k++)
    any = any || model->pair[k].unit > 0;
  if (copies_of(params, model) >= 2 && !any)
    gpumc_params_mistake(params, report, "replicas",
                         "model %s has no overlaps: use samples for independent simulations",
                         model->ops->name);
}

/* Clusters are exchanged in rounds of exchanges, between copies. */
static void check_clusters(const struct gpumc_params *params, const struct gpumc_subject *subject,
                           struct gpumc_report *report)
{
  if (!gpumc_params_has(params, "cluster_exchange"))
    return;
  if (copies_of(params, subject->instance) < 2)
    gpumc_params_mistake(params, report, "cluster_exchange",
                         "clusters are exchanged between copies of a sample, and there is one: "
                         "set replicas: 2 or more");
  if (gpumc_params_integer(params, "exchange_every") == 0)
    gpumc_params_mistake(params, report, "cluster_exchange",
                         "clusters are exchanged after rounds of exchange_every sweeps: "
                         "exchange_every must not be 0");
}

/* For a ladder without mistakes. */
static void check_least(const struct gpumc_params *params, const struct gpumc_subject *subject,
                        struct gpumc_report *report)
{
  double hottest, coldest;
  (void)subject;
  if (!gpumc_params_has(params, "cluster_exchange.min_beta"))
    return;
  if (gpumc_params_has(params, "control")) {
    gpumc_params_mistake(params, report, "cluster_exchange.min_beta",
                         "there is one temperature, and another control is moved: leave out "
                         "cluster_exchange.min_beta");
    return;
  }
  const double least = gpumc_params_real(params, "cluster_exchange.min_beta");
  gpumc_ladder_ends(params, gpumc_ladder_block(params), &hottest, &coldest);
  if (coldest < least)
    gpumc_params_mistake(params, report, "cluster_exchange.min_beta",
                         "no temperature is that cold: the last beta is %g, below %g", coldest,
                         least);
}

static void check_samples(const struct gpumc_params *params, const struct gpumc_subject *subject,
                          struct gpumc_report *report)
{
  gpumc_samples_check(params, subject->instance, (size_t)gpumc_params_integer(params, "samples"),
                      report);
}

const struct gpumc_check pt_checks[] = {
    GPUMC_CONTROL_CHECKS,
    {.reads = "beta control", .run = check_temperatures},
    {.reads = "beta control update",
     .needs = GPUMC_NEEDS_MODEL,
     .run = gpumc_update_check_temperatures},
    {.reads = "beta control configurations", .run = check_configured_temperatures},
    {.reads = "sweeps exchange_every measure_every", .run = check_rounds},
    {.reads = "sweeps thermalization tune exchange_every measure_every", .run = check_length},
    {.reads = "configurations sweeps exchange_every measure_every", .run = check_configurations},
    {.reads = "samples blocks", .run = check_blocks},
    {.reads = "tune exchange_every", .run = check_tuning},
    {.reads = "beta control samples replicas",
     .needs = GPUMC_NEEDS_INSTANCE,
     .run = check_replicas},
    {.reads = "replicas", .needs = GPUMC_NEEDS_INSTANCE, .run = check_copies},
    {.reads = "cluster_exchange replicas exchange_every",
     .needs = GPUMC_NEEDS_INSTANCE,
     .run = check_clusters},
    {.reads = "beta control cluster_exchange", .run = check_least},
    {.reads = "samples", .needs = GPUMC_NEEDS_INSTANCE, .run = check_samples},
    {.run = NULL},
};

cJSON *pt_defaults(const struct gpumc_params *params, const struct gpumc_model *model)
{
  cJSON *defaults = cJSON_CreateObject();
  bool good =
      gpumc_ladder_default(params, gpumc_ladder_block(params), defaults) &&
      cJSON_AddNumberToObject(defaults, "replicas", (double)default_copies(model)) &&
      cJSON_AddNumberToObject(defaults, "measure_every", (double)default_measure_every(params));
  if (good && gpumc_params_integer(params, "samples") < PT_SAMPLES_FOR_ERRORS)
    good = cJSON_AddNumberToObject(defaults, "blocks", PT_BLOCKS) != NULL;
  if (good)
    return defaults;
  cJSON_Delete(defaults);
  return NULL;
}

static uint64_t whole_rounds(int64_t sweeps, uint32_t round_sweeps)
{
  return ((uint64_t)sweeps + round_sweeps - 1) / round_sweeps;
}

static void read_rounds(const struct gpumc_params *params, struct pt_settings *settings)
{
  const int64_t every = gpumc_params_integer(params, "exchange_every");
  const int64_t measure = measure_every(params);
  settings->exchange = every > 0;
  settings->round_sweeps = (uint32_t)(settings->exchange ? every : measure);
  settings->measure_rounds = (uint32_t)measure / settings->round_sweeps;
  settings->measurements = (uint64_t)(gpumc_params_integer(params, "sweeps") / measure);
  settings->thermalization_rounds =
      whole_rounds(gpumc_params_integer(params, "thermalization"), settings->round_sweeps);
  if (!gpumc_params_has(params, "tune.sweeps"))
    return;
  settings->tuning_rounds =
      whole_rounds(gpumc_params_integer(params, "tune.sweeps"), settings->round_sweeps);
  settings->tuning_iterations = (size_t)gpumc_params_integer(params, "tune.iterations");
}

static void read_clusters(const struct gpumc_params *params, struct pt_clusters *clusters)
{
  if (!gpumc_params_has(params, "cluster_exchange"))
    return;
  clusters->every = (uint32_t)gpumc_params_integer(params, "cluster_exchange.every");
  while (strcmp(cluster_kinds[clusters->rule],
                gpumc_params_string(params, "cluster_exchange.kind")) != 0)
    clusters->rule++;
  clusters->least = gpumc_params_has(params, "cluster_exchange.min_beta")
                        ? gpumc_params_real(params, "cluster_exchange.min_beta")
                        : -INFINITY;
}

void pt_settings_read(const struct gpumc_params *params, const struct gpumc_model *model,
                      struct pt_settings *settings)
{
  memset(settings, 0, sizeof *settings);
  settings->samples = (size_t)gpumc_params_integer(params, "samples");
  settings->copies = copies_of(params, model);
  gpumc_moved_read(params, model, &settings->moved);
  settings->temperatures = gpumc_ladder_count(params, gpumc_ladder_block(params));
  read_rounds(params, settings);
  read_clusters(params, &settings->clusters);
  settings->by_time = settings->samples < PT_SAMPLES_FOR_ERRORS;
  settings->blocks = settings->by_time ? PT_BLOCKS : 1;
  if (gpumc_params_has(params, "blocks"))
    settings->blocks = (size_t)gpumc_params_integer(params, "blocks");
  const struct gpumc_observables observables = gpumc_observables_of(
      params, model->ops, settings->copies >= 2 ? model : NULL, settings->moved.control);
  settings->observables = gpumc_observables_that_apply(&observables, model);
}
