/* Parallel tempering: its keys and their checks. */
#include "algorithms/pt/pt_state.h"
#include "core/samples.h"
#include "core/sweeps.h"
#include "core/temperatures.h"

static const struct gpumc_key beta_keys[] = {
    GPUMC_TEMPERATURES_KEYS(PT_TEMPERATURES_MINIMUM, PT_TEMPERATURES_MAXIMUM), {0}};

static const struct gpumc_key tune_keys[] = {
    GPUMC_SWEEPS_KEY("sweeps", 1, .required = true, .sweepable = true,
                     .doc = "Length of the warm-up: at least two rounds of `exchange_every` sweeps "
                            "for each iteration. Each is twice as long as the one before, rounded "
                            "up to whole rounds, of which it has two or more."),
    {.name = "iterations",
     .type = GPUMC_KEY_INTEGER,
     .default_text = "6",
     .minimum = 1,
     .maximum = 24,
     .doc = "How often the temperatures are moved."},
    {0}};

const struct gpumc_key pt_keys[] = {
    {.name = "beta",
     .type = GPUMC_KEY_MAPPING,
     .required = true,
     .children = beta_keys,
     .doc = "The inverse temperatures: `from` and `to` with `count` or `step`, or `values`."},
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
         "Copies of every sample at every temperature, whose overlaps are measured. There are "
         "n (n - 1)/2 pairs of n copies, whose time `gpumc plan` does not count; 2 for models with "
         "disorder and 1 for others, unless given."},
    GPUMC_SWEEPS_KEY("sweeps", 1, .required = true, .sweepable = true,
                     .doc = "Measured sweeps: a multiple of `measure_every`. Averages are those of "
                            "the last half; what came before stands in logarithmic bins of time."),
    GPUMC_SWEEPS_KEY("thermalization", 0, .default_text = "0", .sweepable = true,
                     .doc = "Sweeps before the measured ones, rounded up to whole rounds."),
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
    GPUMC_UPDATE_KEY("How a spin is updated."),
    GPUMC_STRUCTURE_FACTOR_KEY,
    {.name = "blocks",
     .type = GPUMC_KEY_INTEGER,
     .minimum = PT_BLOCKS,
     .maximum = 1024,
     .doc = "Blocks of time in a bin, for the errors of fewer than 8 samples, 256 unless given; "
            "neighbours are joined until they are independent, by their time series."},
    {.name = "configurations",
     .type = GPUMC_KEY_MAPPING,
     .children = gpumc_configurations_keys,
     .doc = "Write configurations of all samples and copies into the result, at times that are "
            "multiples of `exchange_every`, after the exchange (of `measure_every` without "
            "exchanges)."},
    {0}};

static void check_tuning(const struct gpumc_params *params, struct gpumc_report *report)
{
  const int64_t every = gpumc_params_integer(params, "exchange_every");
  if (!gpumc_params_has(params, "tune.sweeps"))
    return;
  const int64_t sweeps = gpumc_params_integer(params, "tune.sweeps");
  const int64_t iterations = gpumc_params_integer(params, "tune.iterations");
  const int64_t least = PT_TUNING_ROUNDS_MINIMUM * iterations * every;
  if (every == 0)
    gpumc_params_mistake(params, report, "tune",
                         "temperatures are tuned by the exchanges: exchange_every must not be 0");
  else if (sweeps < least)
    gpumc_params_mistake(params, report, "tune.sweeps",
                         "tune.sweeps = %lld are fewer than two rounds of exchanges, every %lld "
                         "sweeps, for each of %lld iterations: at least %lld",
                         (long long)sweeps, (long long)every, (long long)iterations,
                         (long long)least);
}

static void check_sweeps(const struct gpumc_params *params, struct gpumc_report *report)
{
  const int64_t every = gpumc_params_integer(params, "exchange_every");
  const int64_t sweeps = gpumc_params_integer(params, "sweeps");
  const int64_t measure = pt_measure_every(params);
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
  if (all + 64.0 * (double)measure > GPUMC_SWEEPS_MAXIMUM)
    gpumc_params_mistake(params, report, "sweeps",
                         "%.0f sweeps in all, and up to 64 times measure_every more to round them "
                         "up, exceed the %.0f that random numbers are counted for",
                         all, GPUMC_SWEEPS_MAXIMUM);
}

/* Rounds are whole, whether there is an exchange at their ends or not. */
static void check_configurations(const struct gpumc_params *params, struct gpumc_report *report)
{
  const int64_t every = gpumc_params_integer(params, "exchange_every");
  gpumc_configurations_check_times(params, every > 0 ? "exchange_every" : "measure_every",
                                   every > 0 ? every : pt_measure_every(params), report);
}

size_t pt_replicas(const struct gpumc_params *params)
{
  return (size_t)gpumc_params_integer(params, "samples");
}

const char *pt_unmergeable(const struct gpumc_params *params)
{
  return gpumc_params_has(params, "tune.sweeps")
             ? "tuned temperatures differ from run to run; give those of one run to all as "
               "beta.values"
             : NULL;
}

void pt_check(const struct gpumc_params *params, const struct gpumc_model_ops *model,
              const struct gpumc_params *model_params, struct gpumc_report *report)
{
  const size_t before = report->calls;
  (void)model_params;
  gpumc_temperatures_check(params, PT_TEMPERATURES_MINIMUM, PT_TEMPERATURES_MAXIMUM, report);
  if (report->calls == before) {
    gpumc_update_check_temperatures(params, model, report);
    gpumc_configurations_check_temperatures(params, report);
  }
  check_sweeps(params, report);
  check_configurations(params, report);
  if (gpumc_params_has(params, "blocks") &&
      gpumc_params_integer(params, "samples") >= PT_SAMPLES_FOR_ERRORS)
    gpumc_params_mistake(params, report, "blocks",
                         "errors of %d samples or more come from the samples; leave out blocks",
                         PT_SAMPLES_FOR_ERRORS);
  check_tuning(params, report);
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
