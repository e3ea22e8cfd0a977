/* Population annealing: its keys, their checks, and the steps they fix. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pa/pa_state.h"
#include "core/base/memory.h"
#include "core/simulation/shared_keys.h"

#define PA_OVERLAP_KEY(meaning)                                                                    \
  {                                                                                                \
    .name = "overlap", .type = GPUMC_KEY_REAL, .minimum = 0.01, .maximum = 0.999,                  \
    .sweepable = true, .exactly_one_of = "schedule", .doc = (meaning)                              \
  }

static const struct gpumc_key beta_keys[] = {
    GPUMC_BETA_KEY("from", .default_text = "0.0",
                   .doc = "First inverse temperature after 0, where every population starts; by "
                          "default the steps begin at 0.",
                   .temperature_doc = "First temperature after the infinite one, where every "
                                      "population starts; by default the steps begin there."),
    GPUMC_BETA_KEY("to", .required_unless = "values", .minimum_exclusive = true, .sweepable = true,
                   .example = "1.0",
                   .doc = "Last inverse temperature; the last of `values` where these are given.",
                   .temperature_doc = "Last temperature."),
    GPUMC_BETA_STEP_KEY(.sweepable = true, .exactly_one_of = "schedule", .example = "0.02",
                        .doc = "Equal steps of this size; the last one is shortened to end at "
                               "`to`.",
                        .temperature_doc =
                            "Equal steps of T of this size, starting at the hottest temperature, "
                            "which the first step from infinite temperature reaches; the last one "
                            "is shortened to end at `to`.",
                        .ends_at_to = true),
    PA_OVERLAP_KEY(
        "Adaptive steps: the overlap of neighbouring energy histograms (eq. 8), 0.5 to 0.9 in "
        "practice; later runs keep the steps of the first."),
    GPUMC_BETA_KEY("values", .list_minimum = 1, .list_maximum = GPUMC_LIST_MAXIMUM,
                   .ascending = true, .exactly_one_of = "schedule",
                   .doc = "The inverse temperatures themselves.",
                   .temperature_doc = "The temperatures themselves, ascending or descending."),
    {0}};

static const struct gpumc_key control_keys[] = {
    GPUMC_CONTROL_KEYS,
    GPUMC_SWEEPS_KEY(
        "thermalization", 0, .required = true, .sweepable = true, .example = "200",
        .doc = "Sweeps of every replica at the first value, starting from random states."),
    GPUMC_CONTROL_VALUE_KEY("from", .required_unless = "values", .sweepable = true,
                            .example = "1.0", .doc = "First value, where every population starts."),
    GPUMC_CONTROL_VALUE_KEY("to", .required_unless = "values", .sweepable = true, .example = "3.0",
                            .doc = "Last value."),
    GPUMC_CONTROL_STEP_KEY(.sweepable = true, .exactly_one_of = "schedule", .example = "0.05",
                           .doc = "Equal steps of this size; the last one is shortened to end at "
                                  "`to`."),
    PA_OVERLAP_KEY("Adaptive steps: the overlap of neighbouring histograms (eq. 8), 0.5 to 0.9 in "
                   "practice; later runs keep the steps of the first."),
    GPUMC_CONTROL_VALUE_KEY("values", .list_minimum = 2, .list_maximum = PA_VALUES_MAXIMUM,
                            .ascending = true, .exactly_one_of = "schedule",
                            .doc = "The values themselves."),
    {0}};

static const struct gpumc_key reweight_keys[] = {GPUMC_BETA_GRID_KEYS(.sweepable = false), {0}};

static const char *const resampling_choices[] = {"nearest_integer", "systematic", NULL};

static const struct gpumc_key configurations_keys[] = {
    {.name = "every",
     .type = GPUMC_KEY_INTEGER,
     .minimum = 1,
     .maximum = PA_ROWS_MAXIMUM,
     .example = "10",
     .unit = "steps",
     .exactly_one_of = "moments",
     .doc = "Temperature steps between configurations; the last step always writes one."},
    GPUMC_BETA_KEY("betas", .list_minimum = 1, .list_maximum = GPUMC_LIST_MAXIMUM,
                   .ascending = true, .exactly_one_of = "moments",
                   .doc = "Inverse temperatures at which to write configurations, which must be "
                          "among those of the steps. With adaptive steps, each stands for the "
                          "first temperature that reaches it.",
                   .temperature = "temperatures",
                   .temperature_doc =
                       "Temperatures at which to write configurations, in place of `betas`."),
    {0}};

const struct gpumc_key pa_keys[] = {
    {.name = "population",
     .type = GPUMC_KEY_INTEGER,
     .required = true,
     .minimum = 10,
     .maximum = 2147483647,
     .example = "2000",
     .unit = "replicas",
     .sweepable = true,
     .proportional = true,
     .doc = "Target size R of the population."},
    {.name = "sweeps",
     .type = GPUMC_KEY_INTEGER,
     .default_text = "10",
     .minimum = 0,
     .maximum = 1000000,
     .unit = "sweeps",
     .sweepable = true,
     .doc = "Sweeps of every replica at each temperature, theta."},
    GPUMC_UPDATE_KEY_ABSENT(
        "Move that makes up a sweep, or moves that take turns, each for a number of sweeps, which "
        "go on from one temperature to the next; by default the first move of the kernel. The step "
        "of a move named here, unless it is given, is tuned at each temperature for the next."),
    {.name = "beta",
     .type = GPUMC_KEY_MAPPING,
     .required_unless = "control",
     .children = beta_keys,
     .doc = "The inverse temperatures.",
     .temperature = "temperature",
     .temperature_doc = "The temperatures, in place of `beta`."},
    {.name = "control",
     .type = GPUMC_KEY_MAPPING,
     .children = control_keys,
     .doc = "Another control of the model, which is varied in place of the inverse temperature."},
    {.name = "runs",
     .type = GPUMC_KEY_INTEGER,
     .default_text = "1",
     .minimum = 1,
     .maximum = GPUMC_RUN_MAXIMUM,
     .sweepable = true,
     .doc = "Independent runs M, averaged with the weights of eq. 7."},
    {.name = "resampling",
     .type = GPUMC_KEY_CHOICE,
     .choices = resampling_choices,
     .default_text = "nearest_integer",
     .sweepable = true,
     .doc = "How copies are drawn: independently for each replica (eq. 2; the population "
            "fluctuates) or systematically (the population stays at R)."},
    {.name = "blocks",
     .type = GPUMC_KEY_INTEGER,
     .default_text = "64",
     .minimum = 8,
     .maximum = 4096,
     .doc = "Blocks of families in a run, for the jackknife errors; at most one for "
            "each replica."},
    GPUMC_REQUESTS_KEY,
    {.name = "reweight",
     .type = GPUMC_KEY_MAPPING,
     .children = reweight_keys,
     .doc = "Multi-histogram reweighting (eq. 9) onto this grid; needs a discrete spectrum.",
     .temperature = "reweight_temperature",
     .temperature_doc = "Grid of temperatures to reweight onto, in place of `reweight`."},
    {.name = "configurations",
     .type = GPUMC_KEY_MAPPING,
     .children = configurations_keys,
     .doc = "Write the configurations of whole populations into the result, as they are measured."},
    {0}};

/* Number of steps from `from` to `to`; a rest below a millionth of a step is rounding. */
static double step_count(double from, double to, double step)
{
  return ceil((to - from) / step - 1e-6);
}

/* The last inverse temperature, or value of another control: `to`, or the last of `values`. */
static double last_value(const struct gpumc_params *params)
{
  if (gpumc_params_has(params, "control"))
    return gpumc_params_has(params, "control.values") ? gpumc_params_last(params, "control.values")
                                                      : gpumc_params_real(params, "control.to");
  return gpumc_params_has(params, "beta.to") ? gpumc_params_real(params, "beta.to")
                                             : gpumc_params_last(params, "beta.values");
}

static void check_values(const struct gpumc_params *params, struct gpumc_report *report)
{
  const double last = gpumc_params_last(params, "beta.values"), to = last_value(params);
  if (last < to || last > to)
    gpumc_params_mistake(params, report, "beta.to",
                         "beta.to = %g must be the last of beta.values, %g: leave it out", to,
                         last);
  else if (last <= 0)
    gpumc_params_mistake(params, report, "beta.values", "the last value must be above 0");
  if (gpumc_params_real(params, "beta.from") > 0)
    gpumc_params_mistake(params, report, "beta.from",
                         "beta.values holds the first temperature: leave out beta.from");
}

static void check_steps(const struct gpumc_params *params, struct gpumc_report *report)
{
  const double from = gpumc_params_real(params, "beta.from"), to = last_value(params);
  if (from >= to)
    gpumc_params_mistake(params, report, "beta.from", "beta.from = %g must be below beta.to = %g",
                         from, to);
  else if (gpumc_params_has(params, "beta.step") &&
           step_count(from, to, gpumc_params_real(params, "beta.step")) > PA_ROWS_MAXIMUM)
    gpumc_params_mistake(params, report, "beta.step", "more than %d temperatures", PA_ROWS_MAXIMUM);
}

static void check_control(const struct gpumc_params *params, struct gpumc_report *report)
{
  const bool from = gpumc_params_has(params, "control.from");
  const double last = last_value(params);
  if (gpumc_params_has(params, "control.values")) {
    if (from || gpumc_params_has(params, "control.to"))
      gpumc_params_mistake(params, report, from ? "control.from" : "control.to",
                           "control.values holds all values; leave out control.from and "
                           "control.to");
    return;
  }
  const double first = gpumc_params_real(params, "control.from");
  if (first >= last)
    gpumc_params_mistake(params, report, "control.from",
                         "control.from = %g must be below control.to = %g", first, last);
  else if (gpumc_params_has(params, "control.step") &&
           step_count(first, last, gpumc_params_real(params, "control.step")) > PA_ROWS_MAXIMUM)
    gpumc_params_mistake(params, report, "control.step", "more than %d values", PA_ROWS_MAXIMUM);
}

static void check_temperatures(const struct gpumc_params *params,
                               const struct gpumc_subject *subject, struct gpumc_report *report)
{
  (void)subject;
  if (gpumc_params_has(params, "control"))
    check_control(params, report);
  else if (gpumc_params_has(params, "beta.values"))
    check_values(params, report);
  else
    check_steps(params, report);
}

static void check_grid(const struct gpumc_params *params, const struct gpumc_subject *subject,
                       struct gpumc_report *report)
{
  const bool none = subject->model != NULL && !gpumc_model_has_temperature(subject->model);
  if (!gpumc_params_has(params, "reweight"))
    return;
  if (gpumc_params_has(params, "control")) {
    gpumc_params_mistake(params, report, "reweight",
                         "reweight applies to inverse temperatures: leave it out%s",
                         none ? "" : ", or anneal in `beta`");
    return;
  }
  const double to = last_value(params);
  double first, last;
  gpumc_ladder_ends(params, "reweight", &first, &last);
  if (first > last || last > to)
    gpumc_params_mistake(params, report, "reweight",
                         "the grid %g .. %g must ascend and end at or below the last inverse "
                         "temperature, %g",
                         first, last, to);
  else if (gpumc_params_has(params, "reweight.values"))
    gpumc_grid_check(params, "reweight", GPUMC_LIST_MAXIMUM, report);
  else if (step_count(first, last, gpumc_params_real(params, "reweight.step")) > PA_ROWS_MAXIMUM)
    gpumc_params_mistake(params, report, "reweight.step", "more than %d grid points",
                         PA_ROWS_MAXIMUM);
}

/* The temperature of the schedule that is nearest to `beta`, at `*i` or after it. */
static double nearest(const struct pa_schedule *schedule, double beta, size_t *i)
{
  while (*i + 1 < schedule->count &&
         fabs(schedule->value[*i + 1] - beta) <= fabs(schedule->value[*i] - beta))
    ++*i;
  return schedule->value[*i];
}

static void check_betas(const struct gpumc_params *params, const struct pa_schedule *schedule,
                        struct gpumc_report *report)
{
  struct gpumc_list betas = gpumc_params_list(params, "configurations.betas");
  size_t i = 0;
  while (betas.left > 0) {
    const double wanted = gpumc_list_real(&betas);
    const double found = nearest(schedule, wanted, &i);
    if (fabs(found - wanted) > GPUMC_CONFIGURATIONS_ROUNDING * wanted)
      gpumc_params_mistake(
          params, report, "configurations.betas",
          "%.12g is not one of the %zu inverse temperatures of `beta`; the nearest "
          "is %.12g",
          wanted, schedule->count, found);
  }
}

static void check_configurations_until(const struct gpumc_params *params, double end,
                                       struct gpumc_report *report)
{
  struct gpumc_error error = {0};
  struct pa_schedule schedule = {0};
  if (!gpumc_params_has(params, "configurations.betas"))
    return;
  if (gpumc_params_has(params, "control")) {
    gpumc_params_mistake(params, report, "configurations.betas",
                         "betas are inverse temperatures, which stay fixed while another control "
                         "is varied: use configurations.every");
    return;
  }
  const double coldest = gpumc_params_last(params, "configurations.betas");
  if (coldest * (1 - GPUMC_CONFIGURATIONS_ROUNDING) > end)
    gpumc_params_mistake(params, report, "configurations.betas",
                         "%.12g is beyond the last inverse temperature, %.12g", coldest, end);
  else if (gpumc_params_has(params, "beta.overlap"))
    return;
  else if (pa_schedule_make(params, &schedule, &error) == GPUMC_OK)
    check_betas(params, &schedule, report);
  else
    gpumc_params_mistake(params, report, "beta", "%s", gpumc_error_text(&error));
  gpumc_error_free(&error);
  free(schedule.value);
}

static void check_configurations(const struct gpumc_params *params,
                                 const struct gpumc_subject *subject, struct gpumc_report *report)
{
  (void)subject;
  check_configurations_until(params, last_value(params), report);
}

/* Sums of powers must stay below 2^127 (gpumc_moment_sums). */
static bool powers_fit(const struct gpumc_model *model, const struct gpumc_observables *observables,
                       size_t capacity)
{
  const double replicas = log2((double)capacity);
  bool fit = true;
  for (size_t k = 0; k < observables->n_means; k++) {
    const struct gpumc_mean *mean = observables->mean[k];
    fit = fit && mean->power * log2(model->bound[mean->index]) + replicas <= 126;
  }
  return fit;
}

size_t pa_replicas(const struct gpumc_params *params)
{
  return (size_t)gpumc_params_integer(params, "population");
}

static void check_sums(const struct gpumc_params *params, const struct gpumc_subject *subject,
                       struct gpumc_report *report)
{
  const struct gpumc_model *model = subject->instance;
  const int64_t population = gpumc_params_integer(params, "population");
  /* With all that can be requested. */
  const struct gpumc_observables observables =
      gpumc_observables_select(model->ops, UINT32_MAX, NULL);
  if (!powers_fit(model, &observables, pa_capacity((size_t)population)))
    gpumc_params_mistake(params, report, "population",
                         "%lld replicas of %zu %ss are too many for exact sums of powers in 128 "
                         "bits",
                         (long long)population, model->sites, gpumc_site_word(model));
}

/* Populations are drawn at beta = 0; those of other controls come from sweeps. */
static void check_start(const struct gpumc_params *params, const struct gpumc_subject *subject,
                        struct gpumc_report *report)
{
  if (gpumc_params_has(params, "beta") && isnan(subject->instance->log_states))
    gpumc_params_mistake(
        params, report, "beta",
        "model %s has no equilibrium at beta = 0 to start from: vary another control",
        subject->instance->ops->name);
}

/* Histograms are those of the tracked channel. */
static void check_spectrum(const struct gpumc_params *params, const struct gpumc_subject *subject,
                           struct gpumc_report *report)
{
  const struct gpumc_model *model = subject->instance;
  const struct gpumc_model_ops *ops = model->ops;
  struct gpumc_moved moved;
  if (!gpumc_params_has(params, "reweight"))
    return;
  gpumc_moved_read(params, model, &moved);
  if (pa_spectrum(model)->levels == 0)
    gpumc_params_mistake(params, report, "reweight",
                         "reweight needs a model with a discrete spectrum; %s with these "
                         "parameters has none: remove the block, or what makes the spectrum "
                         "continuous (Gaussian couplings, or a field with many digits, say)",
                         ops->name);
  else if (moved.conjugate != ops->tracked)
    gpumc_params_mistake(
        params, report, "reweight",
        "reweight needs histograms of the %s, but model %s has those of the %s: remove the block",
        ops->channels[moved.conjugate].label.name, ops->name,
        ops->channels[ops->tracked].label.name);
}

const struct gpumc_check pa_checks[] = {
    GPUMC_CONTROL_CHECKS,
    {.reads = "beta control", .run = check_temperatures},
    {.reads = "beta control reweight", .run = check_grid},
    {.reads = "beta control configurations", .run = check_configurations},
    {.reads = "population", .needs = GPUMC_NEEDS_INSTANCE, .run = check_sums},
    {.reads = "beta", .needs = GPUMC_NEEDS_INSTANCE, .run = check_start},
    {.reads = "control reweight", .needs = GPUMC_NEEDS_INSTANCE, .run = check_spectrum},
    {.run = NULL},
};

/* At beta = 0, where random states are in equilibrium, populations need no proof. */
enum gpumc_status pa_warn(const struct gpumc_params *params, const struct gpumc_model *model,
                          const struct gpumc_kernel_ops *kernel, const char **name,
                          char text[GPUMC_WARNING_BYTES], struct gpumc_error *error)
{
  const struct gpumc_update update = gpumc_update_of(params);
  struct gpumc_moved moved = {0};
  struct pa_schedule schedule;
  *name = "start_warning";
  text[0] = '\0';
  gpumc_moved_read(params, model, &moved);
  if (moved.beta)
    return GPUMC_OK;
  const enum gpumc_status status = pa_schedule_make(params, &schedule, error);
  const double first = status == GPUMC_OK ? schedule.value[0] : (double)NAN;
  free(schedule.value);
  GPUMC_TRY(status);
  const struct gpumc_controls controls = gpumc_controls_at(moved.fixed, moved.control, first);
  if (!gpumc_update_mixes(&update, kernel, model, controls.value))
    snprintf(text, GPUMC_WARNING_BYTES,
             "the population begins at %s = %g, where moves are not proven to reach all states: "
             "replicas may stay in those that their starts lead to, and nothing would show it, so "
             "the result is not trusted; begin at a hotter or more dilute value, or use another "
             "algorithm.update, pt, or canonical with algorithm.replicas: %d",
             gpumc_moved_label(model, &moved).name, first, GPUMC_CHAINS_FOR_TRUST);
  return GPUMC_OK;
}

/* A list of temperatures includes the last one. */
cJSON *pa_defaults(const struct gpumc_params *params, const struct gpumc_model *model)
{
  (void)model;
  cJSON *defaults = cJSON_CreateObject();
  if (!gpumc_params_has(params, "beta.values") ||
      cJSON_AddNumberToObject(cJSON_AddObjectToObject(defaults, "beta"), "to",
                              last_value(params)) != NULL)
    return defaults;
  cJSON_Delete(defaults);
  return NULL;
}

void pa_settings_read(const struct gpumc_params *params, const struct gpumc_model *model,
                      struct pa_settings *settings)
{
  memset(settings, 0, sizeof *settings);
  gpumc_moved_read(params, model, &settings->moved);
  const struct gpumc_observables observables =
      gpumc_observables_of(params, model->ops, NULL, settings->moved.control);
  settings->observables = gpumc_observables_that_apply(&observables, model);
  settings->population = (size_t)gpumc_params_integer(params, "population");
  settings->sweeps = (uint32_t)gpumc_params_integer(params, "sweeps");
  settings->tunes = gpumc_params_has(params, "update");
  settings->runs = (size_t)gpumc_params_integer(params, "runs");
  settings->blocks = (size_t)gpumc_params_integer(params, "blocks");
  if (settings->blocks > settings->population)
    settings->blocks = settings->population;
  settings->strata = settings->runs < PA_STRATA_MAXIMUM ? settings->runs : PA_STRATA_MAXIMUM;
  settings->run_groups =
      settings->runs < PA_RUN_GROUPS_MAXIMUM ? settings->runs : PA_RUN_GROUPS_MAXIMUM;
  if (strcmp(gpumc_params_string(params, "resampling"), "systematic") == 0)
    settings->resampling = PA_RESAMPLING_SYSTEMATIC;
  settings->end = last_value(params);
  if (gpumc_params_has(params, "control"))
    settings->thermalization = (uint32_t)gpumc_params_integer(params, "control.thermalization");
  const char *overlap = settings->moved.beta ? "beta.overlap" : "control.overlap";
  settings->adaptive = gpumc_params_has(params, overlap);
  if (settings->adaptive)
    settings->overlap = gpumc_params_real(params, overlap);
  settings->reweight = gpumc_params_has(params, "reweight");
}

/* Nearest-integer resampling gives R with a variance of at most R/4 (a Bernoulli variable a
 * replica); systematic resampling gives R itself. Twenty standard deviations are room enough. */
size_t pa_capacity(size_t population)
{
  return population + (size_t)(10.0 * sqrt((double)population)) + 16;
}

enum gpumc_status
pa_schedule_append(struct pa_schedule *schedule, double value, struct gpumc_error *error)
{
  if (schedule->count > PA_ROWS_MAXIMUM)
    return gpumc_error_set(error, GPUMC_FAILURE,
                           "more than %d %s up to %s = %.17g: use a smaller "
                           "algorithm.%s.overlap or end at a smaller algorithm.%s.to",
                           PA_ROWS_MAXIMUM,
                           strcmp(schedule->block, "beta") == 0 ? "temperatures" : "values",
                           schedule->block, value, schedule->block, schedule->block);
  if (schedule->count == schedule->capacity) {
    double *longer = NULL;
    size_t capacity = schedule->capacity == 0 ? 256 : 2 * schedule->capacity;
    GPUMC_TRY(gpumc_allocate_array(&longer, capacity, "the steps", error));
    if (schedule->count > 0)
      memcpy(longer, schedule->value, schedule->count * sizeof *longer);
    free(schedule->value);
    schedule->value = longer;
    schedule->capacity = capacity;
  }
  schedule->value[schedule->count++] = value;
  return GPUMC_OK;
}

/* Those above what is there. */
static enum gpumc_status append_values(const struct gpumc_params *params, const char *key,
                                       struct pa_schedule *schedule, struct gpumc_error *error)
{
  struct gpumc_list values = gpumc_params_list(params, key);
  while (values.left > 0) {
    const double value = gpumc_list_real(&values);
    if (schedule->count == 0 || value > schedule->value[schedule->count - 1])
      GPUMC_TRY(pa_schedule_append(schedule, value, error));
  }
  return GPUMC_OK;
}

/* From step `first` on. */
static enum gpumc_status append_steps(const struct gpumc_range *range, double first,
                                      struct pa_schedule *schedule, struct gpumc_error *error)
{
  const double steps = step_count(range->from, range->to, range->step);
  for (double i = first; i <= steps; i++)
    GPUMC_TRY(pa_schedule_append(
        schedule, i < steps ? gpumc_range_point(range, (size_t)i) : range->to, error));
  return GPUMC_OK;
}

static enum gpumc_status make_control(const struct gpumc_params *params,
                                      struct pa_schedule *schedule, struct gpumc_error *error)
{
  if (gpumc_params_has(params, "control.values"))
    return append_values(params, "control.values", schedule, error);
  if (!gpumc_params_has(params, "control.step"))
    return pa_schedule_append(schedule, gpumc_params_real(params, "control.from"), error);
  const struct gpumc_range range = gpumc_range_read(params, "control");
  return append_steps(&range, 0, schedule, error);
}

enum gpumc_status pa_schedule_make(const struct gpumc_params *params, struct pa_schedule *schedule,
                                   struct gpumc_error *error)
{
  *schedule = (struct pa_schedule){.block = gpumc_ladder_block(params)};
  if (gpumc_params_has(params, "control"))
    return make_control(params, schedule, error);
  const double from = gpumc_params_real(params, "beta.from");
  GPUMC_TRY(pa_schedule_append(schedule, 0.0, error));
  if (gpumc_params_has(params, "beta.values"))
    return append_values(params, "beta.values", schedule, error);
  if (!gpumc_params_has(params, "beta.step"))
    return from > 0 ? pa_schedule_append(schedule, from, error) : GPUMC_OK;
  const struct gpumc_range range = gpumc_range_read(params, "beta");
  return append_steps(&range, from > 0 ? 0 : 1, schedule, error);
}
