/* Ladders of a control: values, equal steps, or so many in a constant ratio. */
#include "core/simulation/ladder.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/text.h"
#include "core/numerics/elementary.h"

enum { LONGEST_KEY = 64 };

enum { GEOMETRIC_SPACING, LINEAR_SPACING };
const char *const gpumc_spacing_choices[] = {"geometric", "linear", NULL};

/* Temperatures are spaced by ratios, values of other controls, which may be negative, by steps; and
 * messages name the values of `beta` for what they are. */
static bool is_beta(const char *block)
{
  return strcmp(block, "beta") == 0;
}

static const char *default_spacing(const char *block)
{
  return gpumc_spacing_choices[is_beta(block) ? GEOMETRIC_SPACING : LINEAR_SPACING];
}

static const char *key_of(const char *block, const char *member, char text[static LONGEST_KEY])
{
  snprintf(text, LONGEST_KEY, "%s.%s", block, member);
  return text;
}

struct gpumc_range gpumc_range_read(const struct gpumc_params *params, const char *block)
{
  char key[LONGEST_KEY];
  struct gpumc_range range;
  range.from = gpumc_params_real(params, key_of(block, "from", key));
  range.to = gpumc_params_real(params, key_of(block, "to", key));
  range.step = gpumc_params_real(params, key_of(block, "step", key));
  return range;
}

double gpumc_range_count(const struct gpumc_range *range)
{
  return floor((range->to - range->from) / range->step + 1e-6) + 1;
}

/* Between values below 0 and above, what is left of them near 0 is rounding. */
static double without_rounding(double value, double from, double step)
{
  return from < 0 && fabs(value) < 1e-6 * step ? 0.0 : value;
}

double gpumc_range_point(const struct gpumc_range *range, size_t i)
{
  return without_rounding(fma((double)i, range->step, range->from), range->from, range->step);
}

static void check_range(const struct gpumc_params *params, const char *block, size_t most,
                        struct gpumc_report *report)
{
  const struct gpumc_range range = gpumc_range_read(params, block);
  char key[LONGEST_KEY];
  if (range.from > range.to)
    gpumc_params_mistake(params, report, key_of(block, "from", key),
                         "%s.from = %g must not exceed %s.to = %g", block, range.from, block,
                         range.to);
  else if (gpumc_range_count(&range) > (double)most)
    gpumc_params_mistake(params, report, key_of(block, "step", key), "more than %zu %s", most,
                         is_beta(block) ? "inverse temperatures" : "values");
}

/* What a block says. */
enum kind { VALUES, STEPS, GEOMETRIC, LINEAR };
struct ladder {
  enum kind kind;
  struct gpumc_range range; /* unless VALUES; of GEOMETRIC and LINEAR ones without a step */
  size_t count;
};

static bool has(const struct gpumc_params *params, const char *block, const char *member)
{
  char key[LONGEST_KEY];
  return gpumc_params_has(params, key_of(block, member, key));
}

static double real(const struct gpumc_params *params, const char *block, const char *member)
{
  char key[LONGEST_KEY];
  return gpumc_params_real(params, key_of(block, member, key));
}

static bool is_linear(const struct gpumc_params *params, const char *block)
{
  char key[LONGEST_KEY];
  const char *spacing = has(params, block, "spacing")
                            ? gpumc_params_string(params, key_of(block, "spacing", key))
                            : default_spacing(block);
  return strcmp(spacing, gpumc_spacing_choices[LINEAR_SPACING]) == 0;
}

static struct ladder ladder_of(const struct gpumc_params *params, const char *block)
{
  char key[LONGEST_KEY];
  struct ladder ladder = {.kind = VALUES};
  if (has(params, block, "values")) {
    ladder.count = gpumc_params_list(params, key_of(block, "values", key)).left;
  } else if (has(params, block, "step")) {
    ladder.kind = STEPS;
    ladder.range = gpumc_range_read(params, block);
    ladder.count = (size_t)gpumc_range_count(&ladder.range);
  } else {
    ladder.kind = is_linear(params, block) ? LINEAR : GEOMETRIC;
    ladder.range.from = real(params, block, "from");
    ladder.range.to = real(params, block, "to");
    ladder.count = (size_t)gpumc_params_integer(params, key_of(block, "count", key));
  }
  return ladder;
}

static double counted(const struct ladder *ladder, size_t i)
{
  const double from = ladder->range.from, to = ladder->range.to;
  const double share = (double)i / (double)(ladder->count - 1);
  if (i == 0 || i + 1 == ladder->count)
    return i == 0 ? from : to;
  if (ladder->kind == LINEAR)
    return without_rounding(fma(share, to - from, from), from, share * (to - from));
  return from * gpumc_exp(share * gpumc_log(to / from));
}

/* Of a ladder that is not VALUES. */
static double spaced(const struct ladder *ladder, size_t i)
{
  return ladder->kind == STEPS ? gpumc_range_point(&ladder->range, i) : counted(ladder, i);
}

size_t gpumc_ladder_count(const struct gpumc_params *params, const char *block)
{
  return ladder_of(params, block).count;
}

void gpumc_ladder_read(const struct gpumc_params *params, const char *block, double *value)
{
  char key[LONGEST_KEY];
  const struct ladder ladder = ladder_of(params, block);
  struct gpumc_list values = {0};
  if (ladder.kind == VALUES)
    values = gpumc_params_list(params, key_of(block, "values", key));
  for (size_t i = 0; i < ladder.count; i++)
    value[i] = ladder.kind == VALUES ? gpumc_list_real(&values) : spaced(&ladder, i);
}

bool gpumc_ladder_default(const struct gpumc_params *params, const char *block, cJSON *defaults)
{
  if (!has(params, block, "count"))
    return true;
  cJSON *members = cJSON_AddObjectToObject(defaults, block);
  return cJSON_AddStringToObject(members, "spacing", default_spacing(block)) != NULL;
}

static const char *values_of(const char *block)
{
  return is_beta(block) ? "inverse temperatures" : "values";
}

static const char *all_of(const char *block)
{
  return is_beta(block) ? "temperatures" : "values";
}

/* Neighbours may be closer than numbers are, or their ratio beyond them. */
static void check_ascent(const struct gpumc_params *params, const char *block, const char *member,
                         struct gpumc_report *report)
{
  char key[LONGEST_KEY];
  const struct ladder ladder = ladder_of(params, block);
  bool ascends = true;
  for (size_t i = 0; i + 1 < ladder.count && ascends; i++) {
    const double next = spaced(&ladder, i + 1);
    ascends = spaced(&ladder, i) < next && isfinite(next);
  }
  if (!ascends)
    gpumc_params_mistake(params, report, key_of(block, member, key),
                         "%zu %s from %.17g to %.17g are not all different, "
                         "finite numbers: use fewer of them, or another range",
                         ladder.count, values_of(block), ladder.range.from, ladder.range.to);
}

static void check_values(const struct gpumc_params *params, const char *block, size_t least,
                         struct gpumc_report *report)
{
  char key[LONGEST_KEY];
  const bool from = has(params, block, "from"), to = has(params, block, "to");
  if (from || to)
    gpumc_params_mistake(params, report, key_of(block, from ? "from" : "to", key),
                         "%s.values holds all %s; leave out %s.from and %s.to", block,
                         all_of(block), block, block);
  if (has(params, block, "spacing"))
    gpumc_params_mistake(params, report, key_of(block, "spacing", key),
                         "%s.values holds all %s; leave out %s.spacing", block, all_of(block),
                         block);
  if (gpumc_ladder_count(params, block) < least)
    gpumc_params_mistake(params, report, key_of(block, "values", key),
                         "%s.values: at least %zu values are needed", block, least);
}

static void check_steps(const struct gpumc_params *params, const char *block, size_t least,
                        size_t most, struct gpumc_report *report)
{
  char key[LONGEST_KEY];
  const size_t before = report->calls;
  if (has(params, block, "spacing"))
    gpumc_params_mistake(params, report, key_of(block, "spacing", key),
                         "%s.step makes equal steps; leave out %s.spacing, or use %s.count", block,
                         block, block);
  check_range(params, block, most, report);
  if (report->calls > before)
    return;
  const size_t count = gpumc_ladder_count(params, block);
  if (count < least)
    gpumc_params_mistake(params, report, key_of(block, "step", key),
                         "%s.step gives %zu %.*s, and at least %zu are needed: use "
                         "a smaller step",
                         block, count, (int)(strlen(values_of(block)) - (count == 1)),
                         values_of(block), least);
  else
    check_ascent(params, block, "step", report);
}

static void
check_count(const struct gpumc_params *params, const char *block, struct gpumc_report *report)
{
  char key[LONGEST_KEY];
  const double first = real(params, block, "from"), last = real(params, block, "to");
  if (first >= last)
    gpumc_params_mistake(params, report, key_of(block, "from", key),
                         "%s.from = %g must be below %s.to = %g", block, first, block, last);
  else if (first < DBL_MIN && !is_linear(params, block))
    gpumc_params_mistake(params, report, key_of(block, "from", key),
                         "%s in a constant ratio cannot begin at %s.from = %g: use a larger value, "
                         "or %s.spacing: linear",
                         all_of(block), block, first, block);
  else
    check_ascent(params, block, "count", report);
}

void gpumc_ladder_check(const struct gpumc_params *params, const char *block, size_t least,
                        size_t most, struct gpumc_report *report)
{
  const bool steps = has(params, block, "step");
  if (has(params, block, "values"))
    check_values(params, block, least, report);
  else if (!has(params, block, "from") || !has(params, block, "to"))
    gpumc_params_mistake(params, report, block, "%s.%s needs both %s.from and %s.to", block,
                         steps ? "step" : "count", block, block);
  else if (steps)
    check_steps(params, block, least, most, report);
  else
    check_count(params, block, report);
}

void gpumc_grid_check(const struct gpumc_params *params, const char *block, size_t most,
                      struct gpumc_report *report)
{
  if (has(params, block, "values"))
    check_values(params, block, 1, report);
  else
    check_range(params, block, most, report);
}

void gpumc_ladder_ends(const struct gpumc_params *params, const char *block, double *first,
                       double *last)
{
  char key[LONGEST_KEY];
  const struct ladder ladder = ladder_of(params, block);
  if (ladder.kind == VALUES) {
    struct gpumc_list values = gpumc_params_list(params, key_of(block, "values", key));
    *first = gpumc_list_real(&values);
    *last = gpumc_params_last(params, key);
  } else {
    *first = ladder.range.from;
    *last = ladder.range.to;
  }
}

/* ---- which control is moved ---- */

const char *gpumc_ladder_block(const struct gpumc_params *params)
{
  return gpumc_params_has(params, "control") ? "control" : "beta";
}

bool gpumc_keys_move_controls(const struct gpumc_key *keys)
{
  return gpumc_key_find(keys, "control") != NULL;
}

void gpumc_keys_without_temperature(struct gpumc_key *keys, struct gpumc_key *children)
{
  for (struct gpumc_key *key = keys; key->name != NULL; key++) {
    if (strcmp(key->name, "beta") == 0)
      key->required_unless = NULL;
    if (strcmp(key->name, "control") != 0)
      continue;
    const size_t count = gpumc_key_count(key->children);
    assert(count < GPUMC_CONTROL_KEYS_MAXIMUM);
    memcpy(children, key->children, (count + 1) * sizeof *children);
    for (size_t i = 0; i < count; i++)
      if (strcmp(children[i].name, "beta") == 0 ||
          (children[i].inverse_of != NULL && strcmp(children[i].inverse_of, "beta") == 0)) {
        children[i].required = false;
        children[i].example = NULL;
      }
    key->children = children;
    key->required_unless = "beta"; /* which is a mistake by itself */
  }
}

/* n_controls: there is none of this name. */
static size_t control_named(const struct gpumc_model_ops *model, const char *name)
{
  size_t k = 0;
  while (k < model->n_controls && strcmp(model->controls[k].label.name, name) != 0)
    k++;
  return k;
}

void gpumc_control_check(const struct gpumc_params *params, const struct gpumc_subject *subject,
                         struct gpumc_report *report)
{
  (void)subject;
  if (gpumc_params_has(params, "control") && gpumc_params_has(params, "beta"))
    gpumc_params_mistake(params, report, "control",
                         "'%s' and 'control' exclude each other: beta is moved, or stays at "
                         "control.beta while another control is moved",
                         gpumc_params_as_temperatures(params, report, "beta") ? "temperature"
                                                                              : "beta");
}

void gpumc_beta_check_model(const struct gpumc_params *params, const struct gpumc_subject *subject,
                            struct gpumc_report *report)
{
  const struct gpumc_model_ops *model = subject->model;
  if (gpumc_params_has(params, "beta") && !gpumc_model_has_temperature(model))
    gpumc_params_mistake(params, report, "beta",
                         "model %s has no temperature: use control: {name: %s, ...}", model->name,
                         model->controls[0].label.name);
}

void gpumc_control_check_model(const struct gpumc_params *params,
                               const struct gpumc_subject *subject, struct gpumc_report *report)
{
  const struct gpumc_model_ops *model = subject->model;
  const bool temperature = gpumc_model_has_temperature(model);
  const size_t first = temperature ? 1 : 0;
  if (!gpumc_params_has(params, "control"))
    return;
  const char *name = gpumc_params_string(params, "control.name");
  const size_t control = control_named(model, name);
  struct gpumc_text known = {0};
  for (size_t k = first; k < model->n_controls; k++)
    gpumc_text_append(&known, "%s%s", k == first ? "" : ", ", model->controls[k].label.name);
  if (temperature && model->n_controls < 2)
    gpumc_params_mistake(
        params, report, "control",
        "model %s has no control besides the inverse temperature: use the block `beta`",
        model->name);
  else if (temperature && control == 0)
    gpumc_params_mistake(params, report, "control.name",
                         "%s is moved by the block `beta`; use control for another one: %s", name,
                         gpumc_text_string(&known));
  else if (control == model->n_controls)
    gpumc_params_mistake(params, report, "control.name",
                         "model %s has no control '%s' that can be moved: expected %s", model->name,
                         name, gpumc_text_string(&known));
  else if (!temperature && gpumc_params_has(params, "control.beta"))
    gpumc_params_mistake(params, report, "control.beta",
                         "model %s has no temperature: leave out control.beta", model->name);
  gpumc_text_free(&known);
}

void gpumc_control_check_instance(const struct gpumc_params *params,
                                  const struct gpumc_subject *subject, struct gpumc_report *report)
{
  const struct gpumc_model *model = subject->instance;
  const struct gpumc_control *controls = model->ops->controls;
  struct gpumc_moved moved;
  if (!gpumc_params_has(params, "control"))
    return;
  gpumc_moved_read(params, model, &moved);
  if (model->immovable[moved.control] != NULL)
    gpumc_params_mistake(params, report, "control.name", "%s cannot be moved: %s",
                         controls[moved.control].label.name, model->immovable[moved.control]);
  for (size_t k = 0; k < model->ops->n_controls; k++)
    if (k != moved.control && isnan(moved.fixed[k]))
      gpumc_params_mistake(params, report, "control", "%s has no fixed value while %s is moved",
                           controls[k].label.name, controls[moved.control].label.name);
}

/* The ends of a ladder, or its values up to the first that is refused. */
void gpumc_control_check_values(const struct gpumc_params *params, const struct gpumc_model *model,
                                const struct gpumc_kernel_ops *kernel,
                                const struct gpumc_kernel_options *options,
                                struct gpumc_report *report)
{
  static const char *const ends[] = {"control.from", "control.to"};
  const bool listed = gpumc_params_has(params, "control.values");
  struct gpumc_list values = {0};
  struct gpumc_moved moved;
  gpumc_moved_read(params, model, &moved);
  if (listed)
    values = gpumc_params_list(params, "control.values");
  const size_t count = listed ? values.left : sizeof ends / sizeof *ends;
  bool good = true;
  for (size_t i = 0; i < count && good; i++) {
    const char *key = listed ? "control.values" : ends[i];
    struct gpumc_error error = {0};
    const double value = listed ? gpumc_list_real(&values) : gpumc_params_real(params, key);
    good = kernel->check_value(model, options, moved.control, value, &error) == GPUMC_OK;
    if (!good)
      gpumc_params_mistake(params, report, key, "%s: %s", key, gpumc_error_text(&error));
    gpumc_error_free(&error);
  }
}

/* The channel whose coefficient differs between two values of the moved control. */
static size_t conjugate_of(const struct gpumc_model *model, const struct gpumc_moved *moved)
{
  double here[GPUMC_CHANNELS_MAXIMUM] = {0}, there[GPUMC_CHANNELS_MAXIMUM] = {0};
  double control[GPUMC_CONTROLS_MAXIMUM];
  memcpy(control, moved->fixed, sizeof control);
  control[moved->control] = 0.0;
  model->ops->coefficients(model, control, here);
  control[moved->control] = 1.0;
  model->ops->coefficients(model, control, there);
  size_t c = 0;
  while (c + 1 < model->ops->n_channels && here[c] == there[c])
    c++;
  return c;
}

void gpumc_moved_read(const struct gpumc_params *params, const struct gpumc_model *model,
                      struct gpumc_moved *moved)
{
  const bool temperature = gpumc_model_has_temperature(model->ops);
  *moved = (struct gpumc_moved){.control = 0};
  memcpy(moved->fixed, model->control, sizeof moved->fixed);
  if (gpumc_params_has(params, "control"))
    moved->control = control_named(model->ops, gpumc_params_string(params, "control.name"));
  moved->beta = temperature && moved->control == 0;
  if (temperature && !moved->beta)
    moved->fixed[0] = gpumc_params_real(params, "control.beta");
  moved->conjugate = conjugate_of(model, moved);
}

struct gpumc_label
gpumc_moved_label(const struct gpumc_model *model, const struct gpumc_moved *moved)
{
  return moved->beta ? gpumc_label_beta : model->ops->controls[moved->control].label;
}

double gpumc_moved_coefficient(const struct gpumc_model *model, const struct gpumc_moved *moved,
                               double value)
{
  double control[GPUMC_CONTROLS_MAXIMUM], coefficient[GPUMC_CHANNELS_MAXIMUM] = {0};
  memcpy(control, moved->fixed, sizeof control);
  control[moved->control] = value;
  model->ops->coefficients(model, control, coefficient);
  return coefficient[moved->conjugate];
}
