/* Selects means, and quantities that follow from them. */
#include "core/simulation/observables.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The data for a selection: `requested` has a bit for each channel. */
struct selection {
  const struct gpumc_model_ops *model;
  uint32_t requested;
  const struct gpumc_model *paired;
  size_t moved;
};

static bool is_moved(const struct selection *selection, uint32_t controls)
{
  return controls == 0 || (controls >> selection->moved & 1) != 0;
}

static bool is_measured(const struct selection *selection, const struct gpumc_mean *mean)
{
  if (!is_moved(selection, mean->controls))
    return false;
  switch (mean->source) {
  case GPUMC_MEAN_CHANNEL:
    return selection->model->channels[mean->index].request_key == NULL ||
           (selection->requested >> mean->index & 1) != 0;
  case GPUMC_MEAN_PAIR:
    return selection->paired != NULL && selection->paired->pair[mean->index].unit > 0;
  case GPUMC_MEAN_PRODUCT:
    return selection->paired != NULL && selection->paired->disorder;
  }
  return false;
}

static uint8_t place_of(const struct gpumc_observables *selected, const struct gpumc_mean *mean)
{
  for (size_t i = 0; i < selected->n_means; i++)
    if (selected->mean[i] == mean)
      return (uint8_t)i;
  return GPUMC_NOT_MEASURED;
}

/* Returns how many of its means must be measured. */
static size_t needed_by(const struct gpumc_quantity *quantity)
{
  return quantity->n_needed > 0 ? quantity->n_needed : quantity->n_uses;
}

static bool applies(const struct gpumc_quantity *what, const struct gpumc_model *instance)
{
  return what->applies == NULL || what->applies(instance);
}

static void add_quantity(const struct selection *selection, const struct gpumc_quantity *what,
                         struct gpumc_observables *selected)
{
  const size_t needed = needed_by(what);
  struct gpumc_selected_quantity quantity = {.what = what};
  if (!is_moved(selection, what->controls))
    return;
  for (size_t i = 0; i < what->n_uses; i++) {
    quantity.uses[i] = place_of(selected, &selection->model->means[what->uses[i]]);
    if (i < needed && quantity.uses[i] == GPUMC_NOT_MEASURED)
      return;
  }
  if (selection->paired == NULL || applies(what, selection->paired))
    selected->quantity[selected->n_quantities++] = quantity;
}

static struct gpumc_observables select_from(const struct selection *selection)
{
  const struct gpumc_model_ops *model = selection->model;
  struct gpumc_observables selected = {.n_channels = 1};
  assert(model->n_means <= GPUMC_MEANS_MAXIMUM && model->n_quantities <= GPUMC_QUANTITIES_MAXIMUM);
  for (size_t k = 0; k < model->n_means; k++) {
    const struct gpumc_mean *mean = &model->means[k];
    if (!is_measured(selection, mean))
      continue;
    selected.mean[selected.n_means++] = mean;
    selected.pairs = selected.pairs || mean->source == GPUMC_MEAN_PAIR;
    if (mean->source == GPUMC_MEAN_CHANNEL && mean->index >= selected.n_channels)
      selected.n_channels = mean->index + (size_t)1;
  }
  for (size_t k = 0; k < model->n_quantities; k++)
    add_quantity(selection, &model->quantities[k], &selected);
  for (size_t c = 0; c < model->n_channels; c++)
    if (gpumc_channel_is_profile(&model->channels[c]) && (selection->requested >> c & 1) != 0)
      selected.profile[selected.n_profiles++] = (uint8_t)c;
  return selected;
}

struct gpumc_observables gpumc_observables_select(const struct gpumc_model_ops *model,
                                                  uint32_t requested,
                                                  const struct gpumc_model *paired)
{
  const struct selection selection = {model, requested, paired, 0};
  return select_from(&selection);
}

struct gpumc_observables gpumc_observables_of(const struct gpumc_params *params,
                                              const struct gpumc_model_ops *model,
                                              const struct gpumc_model *paired, size_t moved)
{
  uint32_t requested = 0;
  for (size_t c = 0; c < model->n_channels; c++) {
    const char *key = model->channels[c].request_key;
    if (key != NULL && gpumc_params_boolean(params, key))
      requested |= (uint32_t)1 << c;
  }
  const struct selection selection = {model, requested, paired, moved};
  return select_from(&selection);
}

struct gpumc_observables gpumc_observables_that_apply(const struct gpumc_observables *selected,
                                                      const struct gpumc_model *instance)
{
  struct gpumc_observables left = *selected;
  left.n_quantities = 0;
  for (size_t q = 0; q < selected->n_quantities; q++)
    if (applies(selected->quantity[q].what, instance))
      left.quantity[left.n_quantities++] = selected->quantity[q];
  return left;
}

const char *const gpumc_request_choices[GPUMC_SWEPT_TARGETS][1] = {{NULL}};

const char gpumc_no_control[] = "no control";

/* For quantities that exist only if one of these controls is moved. */
static const char *moved_of(const struct gpumc_model_ops *model, uint32_t controls)
{
  const size_t first = gpumc_model_has_temperature(model) ? 1 : 0;
  if (controls == GPUMC_CONTROLS_NONE)
    return gpumc_no_control;
  if ((controls & GPUMC_CONTROLS_NONE) != 0 || (first == 1 && (controls & 1) != 0))
    return NULL;
  for (size_t k = first; k < model->n_controls; k++)
    if ((controls >> k & 1) != 0)
      return model->controls[k].label.name;
  return NULL;
}

/* Returns, as gpumc_declared_moved() does, the control of a model that must be moved for the
 * profile or the quantities that the key requests, of which there are some. */
static const char *moved_for(const struct gpumc_model_ops *model, const char *key)
{
  const char *moved = NULL;
  for (size_t c = 0; c < model->n_channels; c++)
    if (gpumc_channel_is_profile(&model->channels[c]) &&
        strcmp(model->channels[c].request_key, key) == 0)
      return moved_of(model, model->channels[c].controls);
  for (size_t q = 0; q < model->n_quantities; q++) {
    const char *request = gpumc_declared_request(model, q);
    if (request == NULL || strcmp(request, key) != 0)
      continue;
    moved = gpumc_declared_moved(model, q);
    if (moved == NULL)
      break;
  }
  return moved;
}

void gpumc_observables_check(const struct gpumc_params *params, const char *key,
                             const struct gpumc_model_ops *model, enum gpumc_target_kind target,
                             struct gpumc_report *report)
{
  bool known = false;
  for (size_t c = 0; c < model->n_channels; c++)
    known = known || (model->channels[c].request_key != NULL &&
                      strcmp(model->channels[c].request_key, key) == 0);
  const char *moved = moved_for(model, key);
  if (!gpumc_params_boolean(params, key))
    return;
  if (!known)
    gpumc_params_mistake(params, report, key, "model %s has no %s: leave %s out", model->name, key,
                         key);
  else if (moved != NULL && (moved == gpumc_no_control) == (target != GPUMC_ATHERMAL))
    gpumc_params_mistake(params, report, key,
                         "model %s has %s only where %s is moved: leave %s out", model->name, key,
                         moved, key);
}

bool gpumc_observables_is_profile(const struct gpumc_model_ops *model, const char *key)
{
  bool is = false;
  for (size_t c = 0; c < model->n_channels; c++)
    is = is || (gpumc_channel_is_profile(&model->channels[c]) &&
                strcmp(model->channels[c].request_key, key) == 0);
  return is;
}

void gpumc_observables_check_instance(const struct gpumc_params *params, const char *key,
                                      const struct gpumc_model *instance,
                                      struct gpumc_report *report)
{
  const struct gpumc_model_ops *model = instance->ops;
  const struct gpumc_quantity *missing = NULL;
  if (!gpumc_params_boolean(params, key))
    return;
  for (size_t q = 0; q < model->n_quantities; q++) {
    const char *request = gpumc_declared_request(model, q);
    if (request == NULL || strcmp(request, key) != 0)
      continue;
    if (applies(&model->quantities[q], instance))
      return;
    missing = &model->quantities[q];
  }
  if (missing != NULL)
    gpumc_params_mistake(params, report, key, "model %s has %s only where %s: leave %s out",
                         model->name, key, missing->applies_where, key);
}

size_t
gpumc_observables_power(const struct gpumc_observables *observables, size_t channel, unsigned power)
{
  size_t i = 0;
  for (; i < observables->n_means; i++) {
    const struct gpumc_mean *mean = observables->mean[i];
    if (mean->source == GPUMC_MEAN_CHANNEL && mean->index == channel && mean->power == power &&
        !mean->absolute)
      break;
  }
  return i;
}

size_t gpumc_observables_reported(const struct gpumc_observables *observables, size_t mean)
{
  size_t q = 0;
  while (q < observables->n_quantities &&
         !(gpumc_quantity_is_mean(observables, q) && observables->quantity[q].uses[0] == mean))
    q++;
  return q;
}

double gpumc_mean_unit(const struct gpumc_mean *mean, const struct gpumc_model *model)
{
  return mean->source == GPUMC_MEAN_PAIR ? model->pair[mean->index].unit
                                         : model->quantum[mean->index] / (double)model->sites;
}

enum gpumc_moment_choice gpumc_mean_sum(const struct gpumc_mean *mean)
{
  if (mean->power == 1)
    return mean->absolute ? GPUMC_SUM_ABSOLUTE : GPUMC_SUM_FIRST;
  return mean->power == 2 ? GPUMC_SUM_SECOND : GPUMC_SUM_FOURTH;
}

struct gpumc_label gpumc_quantity_label(const struct gpumc_observables *observables, size_t q)
{
  const struct gpumc_selected_quantity *quantity = &observables->quantity[q];
  return quantity->what->label.name != NULL ? quantity->what->label
                                            : observables->mean[quantity->uses[0]]->label;
}

struct gpumc_label gpumc_declared_label(const struct gpumc_model_ops *model, size_t q)
{
  const struct gpumc_quantity *quantity = &model->quantities[q];
  return quantity->label.name != NULL ? quantity->label : model->means[quantity->uses[0]].label;
}

const char *gpumc_declared_request(const struct gpumc_model_ops *model, size_t q)
{
  const struct gpumc_quantity *quantity = &model->quantities[q];
  for (size_t i = 0; i < needed_by(quantity); i++) {
    const struct gpumc_mean *mean = &model->means[quantity->uses[i]];
    if (mean->source == GPUMC_MEAN_CHANNEL && model->channels[mean->index].request_key != NULL)
      return model->channels[mean->index].request_key;
  }
  return NULL;
}

const char *gpumc_declared_where(const struct gpumc_model_ops *model, size_t q)
{
  return model->quantities[q].applies_where;
}

bool gpumc_declared_paired(const struct gpumc_model_ops *model, size_t q)
{
  const struct gpumc_quantity *quantity = &model->quantities[q];
  bool paired = false;
  for (size_t i = 0; i < needed_by(quantity); i++)
    paired = paired || model->means[quantity->uses[i]].source != GPUMC_MEAN_CHANNEL;
  return paired;
}

const char *gpumc_declared_moved(const struct gpumc_model_ops *model, size_t q)
{
  const struct gpumc_quantity *quantity = &model->quantities[q];
  uint32_t controls = quantity->controls;
  for (size_t i = 0; i < needed_by(quantity) && controls == 0; i++)
    controls = model->means[quantity->uses[i]].controls;
  return moved_of(model, controls);
}

struct gpumc_controls gpumc_controls_at(const double *fixed, size_t moved, double value)
{
  struct gpumc_controls controls;
  memcpy(controls.value, fixed, sizeof controls.value);
  if (moved != GPUMC_CONTROL_NONE)
    controls.value[moved] = value;
  return controls;
}

static void collect(const struct gpumc_selected_quantity *quantity, const double *mean,
                    double used[GPUMC_USES_MAXIMUM])
{
  for (size_t i = 0; i < quantity->what->n_uses; i++)
    used[i] = quantity->uses[i] == GPUMC_NOT_MEASURED ? (double)NAN : mean[quantity->uses[i]];
}

double gpumc_quantity_value(const struct gpumc_observables *observables, size_t q,
                            const struct gpumc_model *model, const struct gpumc_controls *controls,
                            const double *mean)
{
  const struct gpumc_selected_quantity *quantity = &observables->quantity[q];
  double used[GPUMC_USES_MAXIMUM];
  if (quantity->what->value == NULL)
    return mean[quantity->uses[0]];
  collect(quantity, mean, used);
  return quantity->what->value(model, controls->value, used);
}

double gpumc_quantity_scale(const struct gpumc_observables *observables, size_t q,
                            const struct gpumc_model *model, const struct gpumc_controls *controls,
                            const double *mean)
{
  const struct gpumc_selected_quantity *quantity = &observables->quantity[q];
  double used[GPUMC_USES_MAXIMUM];
  if (quantity->what->scale == NULL)
    return fabs(gpumc_quantity_value(observables, q, model, controls, mean));
  collect(quantity, mean, used);
  return quantity->what->scale(model, controls->value, used);
}

/* Returns the position of a quantity of the model's table among the selected ones. */
static size_t
selected_place(const struct gpumc_observables *observables, const struct gpumc_quantity *what)
{
  size_t q = 0;
  while (q < observables->n_quantities && observables->quantity[q].what != what)
    q++;
  return q;
}

/* Returns the square of a systematic error, from a difference that is 0 without one. */
static double excess_of(double difference, double error)
{
  const double excess = difference * difference - 4.0 * error * error;
  return excess > 0.0 ? excess : 0.0; /* NaN: nothing is known about it */
}

/* Returns the square of all systematic errors of quantity q. */
static double systematic_of(const struct gpumc_observables *observables, size_t q,
                            const struct gpumc_model *model, const struct gpumc_controls *controls,
                            const double *average, const double *value, const double *error)
{
  const struct gpumc_selected_quantity *quantity = &observables->quantity[q];
  double square = 0.0, used[GPUMC_USES_MAXIMUM];
  for (size_t i = 0; i < quantity->what->n_doubts; i++) {
    const size_t doubt =
        selected_place(observables, &model->ops->quantities[quantity->what->doubts[i]]);
    if (doubt < observables->n_quantities)
      square += excess_of(value[doubt], error[doubt]);
  }
  if (quantity->what->systematic != NULL) {
    collect(quantity, average, used);
    const double known = quantity->what->systematic(model, controls->value, used);
    square += known * known;
  }
  return square;
}

void gpumc_errors_widen(const struct gpumc_observables *observables,
                        const struct gpumc_model *model, const struct gpumc_controls *controls,
                        const double *average, const double *value, double *error)
{
  double square[GPUMC_QUANTITIES_MAXIMUM];
  for (size_t q = 0; q < observables->n_quantities; q++)
    square[q] = systematic_of(observables, q, model, controls, average, value, error);
  for (size_t q = 0; q < observables->n_quantities; q++)
    if (square[q] > 0.0)
      error[q] = sqrt(error[q] * error[q] + square[q]);
}

size_t gpumc_quantity_excess(const struct gpumc_observables *observables, size_t q,
                             const double *value, size_t count, bool beta,
                             char text[static GPUMC_EXCESS_BYTES])
{
  const struct gpumc_quantity *what = observables->quantity[q].what;
  double largest = 0.0;
  size_t exceeding = 0;
  for (size_t i = 0; what->excess != NULL && i < count; i++) {
    exceeding += value[i] > what->most;
    largest = fmax(largest, value[i]);
  }
  if (exceeding > 0)
    snprintf(text, GPUMC_EXCESS_BYTES, "at %zu of %zu %s %s exceeds %g and reaches %.3g: %s",
             exceeding, count, beta ? "temperatures" : "values",
             gpumc_quantity_label(observables, q).name, what->most, largest, what->excess);
  return exceeding;
}

size_t gpumc_identity_broken(const struct gpumc_observables *observables, size_t q,
                             const double *value, const double *error, size_t count, bool beta,
                             char text[static GPUMC_EXCESS_BYTES])
{
  const struct gpumc_quantity *what = observables->quantity[q].what;
  double largest = 0.0;
  size_t broken = 0, worst = 0;
  char where[64] = "";
  for (size_t i = 0; what->broken != NULL && i < count; i++) {
    const double deviation = fabs(value[i]) / error[i]; /* NaN if unknown */
    broken += deviation > GPUMC_IDENTITY_ERRORS;
    worst = deviation > largest ? i : worst;
    largest = deviation > largest ? deviation : largest;
  }
  if (count > 1)
    snprintf(where, sizeof where, "at %zu of %zu %s ", broken, count,
             beta ? "temperatures" : "values");
  if (broken > 0)
    snprintf(text, GPUMC_EXCESS_BYTES, "%s%s does not hold: %s = %.3g is %.1f errors from 0; %s",
             where, what->identity, gpumc_quantity_label(observables, q).name, value[worst],
             largest, what->broken);
  return broken;
}

bool gpumc_quantity_is_known(const struct gpumc_observables *observables, size_t q,
                             const struct gpumc_model *model, const struct gpumc_controls *controls)
{
  const struct gpumc_quantity *what = observables->quantity[q].what;
  return what->is_known != NULL && what->is_known(model, controls->value);
}

void gpumc_averages_of_each(const struct gpumc_observables *observables,
                            const struct gpumc_model *model, const struct gpumc_controls *controls,
                            const double *mean, double *average)
{
  double *quantity = average + observables->n_means;
  memcpy(average, mean, observables->n_means * sizeof *average);
  for (size_t q = 0; q < observables->n_quantities; q++)
    quantity[q] = observables->quantity[q].what->of_each
                      ? gpumc_quantity_value(observables, q, model, controls, mean)
                      : 0;
}

void gpumc_averages_evaluate(const struct gpumc_observables *observables,
                             const struct gpumc_model *model, const struct gpumc_controls *controls,
                             const double *average, double *quantity)
{
  for (size_t q = 0; q < observables->n_quantities; q++)
    quantity[q] = observables->quantity[q].what->of_each
                      ? average[observables->n_means + q]
                      : gpumc_quantity_value(observables, q, model, controls, average);
}
