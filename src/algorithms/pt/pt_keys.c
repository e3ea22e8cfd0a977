/* Parallel tempering: its keys and their checks. */
#include <float.h>
#include <string.h>

#include "algorithms/pt/pt_state.h"
#include "core/curves.h"
#include "core/samples.h"

#define BETA_MAXIMUM 1e6
#define SWEEPS_MAXIMUM 4294967295.0

static const char *const spacing_choices[] = {"geometric", "linear", NULL};

static const struct gpumc_key beta_keys[] = {
    {.name = "from",
     .type = GPUMC_KEY_REAL,
     .minimum = 0,
     .maximum = BETA_MAXIMUM,
     .unit = GPUMC_UNIT_BETA,
     .sweepable = true,
     .doc = "Smallest inverse temperature, with `count`."},
    {.name = "to",
     .type = GPUMC_KEY_REAL,
     .minimum = 0,
     .minimum_exclusive = true,
     .maximum = BETA_MAXIMUM,
     .unit = GPUMC_UNIT_BETA,
     .sweepable = true,
     .doc = "Largest inverse temperature, with `count`."},
    {.name = "count",
     .type = GPUMC_KEY_INTEGER,
     .minimum = 2,
     .maximum = PT_TEMPERATURES_MAXIMUM,
     .sweepable = true,
     .exactly_one_of = "temperatures",
     .doc = "Number of temperatures, both ends included."},
    {.name = "values",
     .type = GPUMC_KEY_REAL,
     .minimum = 0,
     .maximum = BETA_MAXIMUM,
     .list_minimum = 2,
     .list_maximum = PT_TEMPERATURES_MAXIMUM,
     .ascending = true,
     .unit = GPUMC_UNIT_BETA,
     .exactly_one_of = "temperatures",
     .doc = "The inverse temperatures themselves."},
    {.name = "spacing",
     .type = GPUMC_KEY_CHOICE,
     .choices = spacing_choices,
     .doc =
         "Of `count` temperatures: neighbours in a constant ratio (geometric, which it is unless "
         "given), or equal steps in beta."},
    {0}};

static const struct gpumc_key tune_keys[] = {
    {.name = "sweeps",
     .type = GPUMC_KEY_INTEGER,
     .required = true,
     .minimum = 1,
     .maximum = SWEEPS_MAXIMUM,
     .unit = "sweeps",
     .sweepable = true,
     .doc = "Length of the warm-up, rounded up to whole rounds; each iteration is twice as long as "
            "the one before."},
    {.name = "iterations",
     .type = GPUMC_KEY_INTEGER,
     .default_text = "6",
     .minimum = 1,
     .maximum = 24,
     .doc = "How often the temperatures are moved."},
    {0}};

static const char *const update_choices[] = {"metropolis", "heat_bath", NULL};

const struct gpumc_key pt_keys[] = {
    {.name = "beta",
     .type = GPUMC_KEY_MAPPING,
     .required = true,
     .children = beta_keys,
     .doc = "The inverse temperatures: `from`, `to` and `count`, or `values`."},
    {.name = "tune",
     .type = GPUMC_KEY_MAPPING,
     .children = tune_keys,
     .doc = "A warm-up in which the temperatures between the first and the last are moved until "
            "all neighbours exchange equally often."},
    {.name = "samples",
     .type = GPUMC_KEY_INTEGER,
     .default_text = "1",
     .minimum = 1,
     .maximum = 1e9,
     .unit = "samples",
     .sweepable = true,
     .population = true,
     .doc = "Disorder samples, from the model's `sample` on, each with its own simulation; for a "
            "model without disorder independent simulations."},
    {.name = "replicas",
     .type = GPUMC_KEY_INTEGER,
     .minimum = 1,
     .maximum = PT_COPIES_MAXIMUM,
     .unit = "copies",
     .sweepable = true,
     .population = true,
     .doc =
         "Copies of every sample at every temperature, whose overlaps are measured; 2 for models "
         "with disorder and 1 for others, unless given."},
    {.name = "sweeps",
     .type = GPUMC_KEY_INTEGER,
     .required = true,
     .minimum = 1,
     .maximum = SWEEPS_MAXIMUM,
     .unit = "sweeps",
     .sweepable = true,
     .doc = "Measured sweeps: a multiple of `measure_every`. Averages are those of the last half; "
            "what came before stands in logarithmic bins of time."},
    {.name = "thermalization",
     .type = GPUMC_KEY_INTEGER,
     .default_text = "0",
     .minimum = 0,
     .maximum = SWEEPS_MAXIMUM,
     .unit = "sweeps",
     .sweepable = true,
     .doc = "Sweeps before the measured ones, rounded up to whole rounds."},
    {.name = "exchange_every",
     .type = GPUMC_KEY_INTEGER,
     .default_text = "10",
     .minimum = 0,
     .maximum = 1e6,
     .unit = "sweeps",
     .sweepable = true,
     .doc =
         "Sweeps between exchanges, which are of even and of odd pairs of temperatures in turn; 0 "
         "for none."},
    {.name = "measure_every",
     .type = GPUMC_KEY_INTEGER,
     .minimum = 1,
     .maximum = 1e9,
     .unit = "sweeps",
     .sweepable = true,
     .doc = "Sweeps between measurements: a multiple of `exchange_every`, which it is unless given "
            "(10 without exchanges)."},
    {.name = "update",
     .type = GPUMC_KEY_CHOICE,
     .choices = update_choices,
     .default_text = "metropolis",
     .sweepable = true,
     .doc = "How a spin is updated."},
    GPUMC_STRUCTURE_FACTOR_KEY,
    {.name = "blocks",
     .type = GPUMC_KEY_INTEGER,
     .minimum = 64,
     .maximum = 1024,
     .doc =
         "Blocks of time in a bin, for the errors of fewer than 8 samples; neighbours are joined "
         "until they are independent."},
    {0}};

/* Neighbours may be closer than numbers are, or their ratio beyond them. */
static void check_ladder(const struct gpumc_params *params, double first, double last,
                         struct gpumc_report *report)
{
  double beta[PT_TEMPERATURES_MAXIMUM];
  const size_t temperatures = (size_t)gpumc_params_integer(params, "beta.count");
  pt_ladder_make(params, temperatures, beta);
  if (!pt_ladder_ascends(beta, temperatures))
    gpumc_params_mistake(params, report, "beta.count",
                         "%zu inverse temperatures from %.17g to %.17g are not all different, "
                         "finite numbers: use fewer, or another range",
                         temperatures, first, last);
}

static void check_beta(const struct gpumc_params *params, struct gpumc_report *report)
{
  const bool from = gpumc_params_has(params, "beta.from"), to = gpumc_params_has(params, "beta.to");
  if (gpumc_params_has(params, "beta.values")) {
    if (from || to)
      gpumc_params_mistake(params, report, from ? "beta.from" : "beta.to",
                           "beta.values holds all temperatures; leave out beta.from and beta.to");
    if (gpumc_params_has(params, "beta.spacing"))
      gpumc_params_mistake(params, report, "beta.spacing",
                           "beta.values holds all temperatures; leave out beta.spacing");
    return;
  }
  if (!from || !to) {
    gpumc_params_mistake(params, report, "beta", "beta.count needs beta.from and beta.to");
    return;
  }
  const double first = gpumc_params_real(params, "beta.from");
  const double last = gpumc_params_real(params, "beta.to");
  if (first >= last)
    gpumc_params_mistake(params, report, "beta.from", "beta.from = %g must be below beta.to = %g",
                         first, last);
  else if (first < DBL_MIN && !pt_ladder_is_linear(params))
    gpumc_params_mistake(params, report, "beta.from",
                         "temperatures in a constant ratio cannot begin at beta.from = %g: use a "
                         "larger one, or beta.spacing: linear",
                         first);
  else
    check_ladder(params, first, last, report);
}

static void check_sweeps(const struct gpumc_params *params, struct gpumc_report *report)
{
  const int64_t every = gpumc_params_integer(params, "exchange_every");
  const int64_t sweeps = gpumc_params_integer(params, "sweeps");
  int64_t measure = every > 0 ? every : 10;
  if (gpumc_params_has(params, "measure_every"))
    measure = gpumc_params_integer(params, "measure_every");
  if (every > 0 && measure % every != 0)
    gpumc_params_mistake(params, report, "measure_every",
                         "measure_every = %lld must be a multiple of exchange_every = %lld",
                         (long long)measure, (long long)every);
  if (sweeps % measure != 0)
    gpumc_params_mistake(params, report, "sweeps",
                         "sweeps = %lld must be a multiple of measure_every = %lld",
                         (long long)sweeps, (long long)measure);
  double all = (double)sweeps + (double)gpumc_params_integer(params, "thermalization");
  if (gpumc_params_has(params, "tune.sweeps"))
    all += (double)gpumc_params_integer(params, "tune.sweeps");
  if (all + 32.0 * (double)measure > SWEEPS_MAXIMUM)
    gpumc_params_mistake(params, report, "sweeps",
                         "%.0f sweeps in all are more than random numbers are counted for, %.0f",
                         all, SWEEPS_MAXIMUM);
}

void pt_check(const struct gpumc_params *params, const struct gpumc_model_ops *model,
              const struct gpumc_params *model_params, struct gpumc_report *report)
{
  (void)model_params;
  check_beta(params, report);
  check_sweeps(params, report);
  if (gpumc_params_has(params, "blocks") &&
      gpumc_params_integer(params, "samples") >= PT_SAMPLES_FOR_ERRORS)
    gpumc_params_mistake(params, report, "blocks",
                         "errors of %d samples or more come from the samples; leave out blocks",
                         PT_SAMPLES_FOR_ERRORS);
  if (gpumc_params_has(params, "tune.sweeps") &&
      gpumc_params_integer(params, "exchange_every") == 0)
    gpumc_params_mistake(params, report, "tune",
                         "temperatures are tuned by the exchanges: exchange_every must not be 0");
  gpumc_observables_check(params, model, report);
}

void pt_check_instance(const struct gpumc_params *params, const struct gpumc_model *model,
                       struct gpumc_report *report)
{
  struct pt_settings settings;
  pt_settings_read(params, model, &settings);
  const double runs = (double)settings.copies * (double)settings.temperatures;
  if (runs > GPUMC_RUN_MAXIMUM)
    gpumc_params_mistake(params, report, "beta",
                         "%zu temperatures of %zu copies are %.0f, more than the %d that there can "
                         "be",
                         settings.temperatures, settings.copies, runs, GPUMC_RUN_MAXIMUM);
  else if (runs * (double)settings.samples > 4294967295.0)
    gpumc_params_mistake(params, report, "samples",
                         "%zu samples at %zu temperatures in %zu copies are more than 2^32 - 1 "
                         "replicas: divide them among several runs",
                         settings.samples, settings.temperatures, settings.copies);
  if (settings.copies >= 2 && model->overlap_bound[GPUMC_OVERLAP_SPIN] == 0)
    gpumc_params_mistake(params, report, "replicas",
                         "model %s has no overlaps: use samples for independent simulations",
                         model->ops->name);
  gpumc_samples_check(params, model, settings.samples, report);
}
