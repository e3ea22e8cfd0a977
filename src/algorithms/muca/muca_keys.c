/* Multicanonical sampling: keys and their checks. */
#include <math.h>
#include <string.h>

#include "algorithms/muca/muca.h"
#include "core/simulation/shared_keys.h"

enum {
  LEVELS_LEAST = 3,
  WINDOWS_MOST = 1024,
  SAMPLES_MOST = GPUMC_RUN_MAXIMUM,
  /* A window, and what it has in common with the next one. */
  WINDOW_LEAST = 16,
  COMMON_LEAST = 4
};

static const struct gpumc_key beta_keys[] = {GPUMC_BETA_GRID_KEYS(.sweepable = true), {0}};

static const struct gpumc_key control_keys[] = {
    GPUMC_CONTROL_KEYS,
    GPUMC_CONTROL_VALUE_KEY("from", .required = true, .sweepable = true, .example = "-1.0",
                            .doc = "First value of the grid."),
    GPUMC_CONTROL_VALUE_KEY("to", .required = true, .sweepable = true, .example = "1.0",
                            .doc = "Last value of the grid."),
    GPUMC_CONTROL_STEP_KEY(.required = true, .sweepable = true, .example = "0.1",
                           .doc = "Spacing of the grid."),
    {0}};

static const struct gpumc_key range_keys[] = {{.name = "from",
                                               .type = GPUMC_KEY_REAL,
                                               .minimum = -1e9,
                                               .maximum = 1e9,
                                               .sweepable = true,
                                               .required = true,
                                               .doc = "Lowest value that is sampled, per site."},
                                              {.name = "to",
                                               .type = GPUMC_KEY_REAL,
                                               .minimum = -1e9,
                                               .maximum = 1e9,
                                               .sweepable = true,
                                               .required = true,
                                               .doc = "Highest value that is sampled, per site."},
                                              {0}};

static const struct gpumc_key windows_keys[] = {
    {.name = "count",
     .type = GPUMC_KEY_INTEGER,
     .minimum = 1,
     .maximum = WINDOWS_MOST,
     .unit = "windows",
     .example = "2",
     .required = true,
     .sweepable = true,
     .doc = "Number of windows, each with walkers and weights of its own."},
    {.name = "overlap",
     .type = GPUMC_KEY_REAL,
     .default_text = "0.25",
     .minimum = 0.05,
     .maximum = 0.9,
     .sweepable = true,
     .doc = "Share of a window that overlaps with the next one."},
    {0}};

static const struct gpumc_key iteration_keys[] = {
    {.name = "start",
     .type = GPUMC_KEY_CHOICE,
     .choices = muca_start_choices,
     .default_text = "flat",
     .sweepable = true,
     .doc = "Weights that the iterations start from: flat, from the Wang-Landau scheme, or from a "
            "file."},
    {.name = "file",
     .type = GPUMC_KEY_STRING,
     .sweepable = true,
     .doc = "Path of the density of states that `start: file` reads, a result of muca or a text "
            "file; docs/file-format.md describes its form."},
    {.name = "thermalization",
     .type = GPUMC_KEY_REAL,
     .default_text = "30",
     .minimum = 0,
     .maximum = 1e6,
     .unit = "updates",
     .sweepable = true,
     .doc = "Updates of each walker before an iteration starts to count, in units of the number of "
            "levels in the range; with 0, weights oscillate."},
    {.name = "updates",
     .type = GPUMC_KEY_REAL,
     .default_text = "6",
     .minimum = 0,
     .maximum = 1e9,
     .minimum_exclusive = true,
     .sweepable = true,
     .doc = "Updates that an iteration counts, of all walkers together, divided by a power of the "
            "number of levels in the range (eq. 7)."},
    {.name = "exponent",
     .type = GPUMC_KEY_REAL,
     .default_text = "2.25",
     .minimum = 0.5,
     .maximum = 4,
     .sweepable = true,
     .doc = "Power z of the number of levels that `updates` is multiplied by."},
    {.name = "growth",
     .type = GPUMC_KEY_REAL,
     .default_text = "1.1",
     .minimum = 1,
     .maximum = 4,
     .sweepable = true,
     .doc = "Factor by which the counted updates grow with each iteration that does not extend the "
            "range."},
    {.name = "divergence",
     .type = GPUMC_KEY_REAL,
     .default_text = "1e-4",
     .minimum = 1e-9,
     .maximum = 0.5,
     .sweepable = true,
     .doc = "Kullback-Leibler divergence of the histogram from a flat one (eq. 6) below which "
            "weights count as converged."},
    {.name = "maximum",
     .type = GPUMC_KEY_INTEGER,
     .default_text = "1000",
     .minimum = 1,
     .maximum = 1000000,
     .unit = "iterations",
     .doc = "Iterations after which production begins even if the weights have not converged."},
    {.name = "extrapolate",
     .type = GPUMC_KEY_BOOLEAN,
     .default_text = "true",
     .sweepable = true,
     .doc = "Whether weights are extrapolated beyond the range seen so far, along a straight line; "
            "false is the plain scheme of the paper."},
    {.name = "write_weights",
     .type = GPUMC_KEY_BOOLEAN,
     .default_text = "false",
     .doc = "Whether the weights of each iteration are written into the result."},
    {0}};

static const struct gpumc_key production_keys[] = {
    {.name = "updates",
     .type = GPUMC_KEY_REAL,
     .default_text = "0",
     .minimum = 0,
     .maximum = 1.7e10,
     .unit = "updates",
     .sweepable = true,
     .doc = "Updates of each walker with fixed weights. 0 takes as many as walkers need to go from "
            "one end of the range to the other twice on average, or 200 times with fewer than 640 "
            "walkers."},
    {.name = "measurements",
     .type = GPUMC_KEY_INTEGER,
     .default_text = "1000",
     .minimum = 100,
     .maximum = 100000000,
     .sweepable = true,
     .doc = "Measurements of every walker, for averages at each level. Visits are counted more "
            "often, after every fourth update."},
    {0}};

const struct gpumc_key muca_keys[] = {
    {.name = "walkers",
     .type = GPUMC_KEY_INTEGER,
     .minimum = 1,
     .maximum = 2147483647,
     .unit = "walkers",
     .sweepable = true,
     .proportional = true,
     .or_auto = true,
     .doc = "Parallel walkers that share one weight function, ideally a multiple of 32. By "
            "default, and with auto, the next power of two above w^1.25 for w levels, or above 4 "
            "w^1.25 for several windows of w levels, between 1024 and 262144. Each window and each "
            "sample has this number."},
    {.name = "samples",
     .type = GPUMC_KEY_INTEGER,
     .default_text = "1",
     .minimum = 1,
     .maximum = SAMPLES_MOST,
     .unit = "samples",
     .sweepable = true,
     .doc = "Number of disorder samples, starting with the model's `sample`, each with weights of "
            "its own."},
    {.name = "beta",
     .type = GPUMC_KEY_MAPPING,
     .children = beta_keys,
     .doc = "Weights depend on the energy; results are reweighted to these inverse temperatures, "
            "by default from 0 to 1 in steps of 0.01.",
     .temperature = "temperature",
     .temperature_doc = "Weights depend on the energy; results are reweighted to these "
                        "temperatures, in place of `beta`."},
    {.name = "control",
     .type = GPUMC_KEY_MAPPING,
     .children = control_keys,
     .doc = "Weights depend on the quantity that this other control of the model couples to, such "
            "as the magnetization for a field, on top of the canonical weight; results are "
            "reweighted to these values."},
    {.name = "range",
     .type = GPUMC_KEY_MAPPING,
     .children = range_keys,
     .doc = "Only levels with values in this range are sampled; by default all."},
    {.name = "windows",
     .type = GPUMC_KEY_MAPPING,
     .children = windows_keys,
     .doc = "Splits the range into overlapping windows, for large systems; results are those of "
            "all windows, joined."},
    {.name = "bin",
     .type = GPUMC_KEY_REAL,
     .minimum = 0,
     .minimum_exclusive = true,
     .maximum = 1e12,
     .sweepable = true,
     .doc = "Width of a bin, for the whole system, where values are continuous, or to combine "
            "levels of a discrete spectrum; then a multiple of their spacing. By default every "
            "discrete level stands alone, and bins of continuous values have the width over which "
            "weights at the far end of the grid change by a factor of e, or a 64th of all values "
            "if that is less."},
    GPUMC_REQUESTS_KEY,
    {.name = "iteration",
     .type = GPUMC_KEY_MAPPING,
     .children = iteration_keys,
     .doc = "How weights are found."},
    {.name = "production",
     .type = GPUMC_KEY_MAPPING,
     .children = production_keys,
     .doc = "The run with fixed weights."},
    {0}};

/* ---- checks ---- */

static void check_grid(const struct gpumc_params *params, const struct gpumc_subject *subject,
                       struct gpumc_report *report)
{
  (void)subject;
  const char *block = gpumc_ladder_block(params);
  if (gpumc_params_has(params, block))
    gpumc_grid_check(params, block, MUCA_GRID_MAXIMUM, report);
}

static void check_range(const struct gpumc_params *params, const struct gpumc_subject *subject,
                        struct gpumc_report *report)
{
  (void)subject;
  if (!gpumc_params_has(params, "range"))
    return;
  const double from = gpumc_params_real(params, "range.from");
  const double to = gpumc_params_real(params, "range.to");
  if (!(from < to))
    gpumc_params_mistake(params, report, "range.from",
                         "range.from = %g must be below range.to = %g", from, to);
}

static void check_start(const struct gpumc_params *params, const struct gpumc_subject *subject,
                        struct gpumc_report *report)
{
  const char *start = gpumc_params_string(params, "iteration.start");
  const bool wanted = strcmp(start, muca_start_choices[MUCA_START_FILE]) == 0;
  const bool given = gpumc_params_has(params, "iteration.file");
  (void)subject;
  if (wanted && !given)
    gpumc_params_mistake(params, report, "iteration.start",
                         "start: file needs the key 'file', the path of a density of states");
  else if (wanted && gpumc_params_string(params, "iteration.file")[0] == '\0')
    gpumc_params_mistake(params, report, "iteration.file",
                         "file must be the path of a density of states");
  else if (given && !wanted)
    gpumc_params_mistake(params, report, "iteration.file",
                         "file is read with start: file only; this start is %s", start);
}

/* Less than one update would be none, which stands for as many as tunnelling asks for. */
static void check_production(const struct gpumc_params *params, const struct gpumc_subject *subject,
                             struct gpumc_report *report)
{
  const double updates = gpumc_params_real(params, "production.updates");
  (void)subject;
  if (updates > 0 && updates < 1)
    gpumc_params_mistake(params, report, "production.updates",
                         "updates = %g is less than one: give 1 or more, or 0 for as many as "
                         "walkers need",
                         updates);
}

/* Levels that two windows have in common, at least. */
static void check_windows(const struct gpumc_params *params, const struct muca_settings *settings,
                          struct gpumc_report *report)
{
  const size_t apart = muca_window_first(settings, 1) + 1 - muca_window_first(settings, 0);
  if (settings->window < WINDOW_LEAST || settings->window < apart + COMMON_LEAST)
    gpumc_params_mistake(params, report, "windows.count",
                         "%zu windows have %zu levels each and %zu in common, but need at least %d "
                         "and %d: use fewer windows, or a larger overlap",
                         settings->windows, settings->window,
                         settings->window > apart ? settings->window - apart : 0, WINDOW_LEAST,
                         COMMON_LEAST);
}

/* Returns whether a bin, as it was written, is a whole number of distances of levels. */
static bool is_multiple(double bin, double distance)
{
  const double levels = bin / distance;
  return levels > 0.5 && fabs(levels - rint(levels)) <= 1e-9 * levels;
}

static void check_levels(const struct gpumc_params *params, const struct gpumc_subject *subject,
                         struct gpumc_report *report)
{
  const struct gpumc_model *model = subject->instance;
  struct muca_settings settings;
  muca_settings_read(params, model, &settings);
  const char *name = model->ops->channels[settings.channel].label.name;
  const struct gpumc_grid *grid = &model->grid[settings.channel];
  if (grid->levels == 1)
    gpumc_params_mistake(params, report, "name",
                         "muca cannot be used here: without couplings and fields every state has "
                         "the same %s, %g",
                         name, gpumc_level_value(model, settings.channel, 0));
  else if (grid->levels > 0 && gpumc_params_has(params, "bin") &&
           !is_multiple(gpumc_params_real(params, "bin"),
                        gpumc_level_distance(model, settings.channel)))
    gpumc_params_mistake(params, report, "bin",
                         "bin = %g is not a multiple of %g, the distance between levels of the %s: "
                         "bins would hold different numbers of levels",
                         gpumc_params_real(params, "bin"),
                         gpumc_level_distance(model, settings.channel), name);
  else if (settings.levels > MUCA_LEVELS_MAXIMUM)
    gpumc_params_mistake(params, report, "bin",
                         "%zu levels exceed the limit of %d: use a wider algorithm.bin",
                         settings.levels, MUCA_LEVELS_MAXIMUM);
  else if (settings.levels < LEVELS_LEAST && gpumc_params_has(params, "bin"))
    gpumc_params_mistake(params, report, "bin",
                         "bin = %g leaves fewer than %d levels of the %s: make it narrower",
                         gpumc_params_real(params, "bin"), LEVELS_LEAST, name);
  else if (settings.last + 1 < settings.first + LEVELS_LEAST)
    gpumc_params_mistake(params, report, "range",
                         "fewer than %d levels of the %s are in the range: widen it", LEVELS_LEAST,
                         name);
  else if (settings.windows > 1)
    check_windows(params, &settings, report);
}

/* Drawn samples differ; those of a model without disorder would not. */
static void check_samples(const struct gpumc_params *params, const struct gpumc_subject *subject,
                          struct gpumc_report *report)
{
  const struct gpumc_model *model = subject->instance;
  const size_t samples = (size_t)gpumc_params_integer(params, "samples");
  struct muca_settings settings;
  if (samples > 1 && !model->disorder)
    gpumc_params_mistake(params, report, "samples",
                         "model %s has no quenched disorder as configured; use more walkers",
                         model->ops->name);
  else
    gpumc_samples_check(params, model, samples, report);
  muca_settings_read(params, model, &settings);
  if (muca_tables(&settings) > GPUMC_RUN_MAXIMUM)
    gpumc_params_mistake(params, report, settings.windows > samples ? "windows.count" : "samples",
                         "%zu windows of %zu samples exceed the limit of %d runs", settings.windows,
                         samples, GPUMC_RUN_MAXIMUM);
  else if ((double)muca_tables(&settings) * (double)settings.walkers > 4294967295.0)
    gpumc_params_mistake(
        params, report, "walkers",
        "%zu walkers for each of %zu samples and windows exceed the limit of 2^32 - 1",
        settings.walkers, muca_tables(&settings));
}

const struct gpumc_check muca_checks[] = {
    GPUMC_CONTROL_CHECKS,
    {.reads = "beta control", .run = check_grid},
    {.reads = "range", .run = check_range},
    {.reads = "iteration", .run = check_start},
    {.reads = "production", .run = check_production},
    {.reads = NULL, .needs = GPUMC_NEEDS_INSTANCE, .run = check_levels},
    {.reads = NULL, .needs = GPUMC_NEEDS_INSTANCE, .run = check_samples},
    {.run = NULL},
};
