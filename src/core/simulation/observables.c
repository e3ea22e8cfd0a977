/* The selection of observables, and derived quantities. */
#include "core/simulation/observables.h"

#include <assert.h>
#include <math.h>

static bool is_on_request(const struct gpumc_model_ops *model, size_t k)
{
  return model->channels[model->observables[k].channel].on_request;
}

/* The place of the model's observable k among the selected ones; `count` where it is none. */
static size_t
place_of(const struct gpumc_observables *selected, const struct gpumc_observable *observable)
{
  size_t i = 0;
  while (i < selected->count && selected->item[i] != observable)
    i++;
  return i;
}

static void select_derived(const struct gpumc_model_ops *model, struct gpumc_observables *selected)
{
  for (size_t k = 0; k < model->n_derived; k++) {
    const struct gpumc_derived *what = &model->derived[k];
    struct gpumc_selected_derived derived = {.what = what};
    bool complete = true;
    for (size_t i = 0; i < 2; i++) {
      derived.from[i] = place_of(selected, &model->observables[what->from[i]]);
      complete = complete && derived.from[i] < selected->count;
    }
    if (complete)
      selected->derived[selected->n_derived++] = derived;
  }
}

struct gpumc_observables
gpumc_observables_select(const struct gpumc_model_ops *model, bool on_request)
{
  struct gpumc_observables selected = {.n_channels = 1};
  assert(model->n_observables <= GPUMC_OBSERVABLES_MAXIMUM &&
         model->n_derived <= GPUMC_OBSERVABLES_MAXIMUM);
  for (size_t k = 0; k < model->n_observables; k++) {
    const size_t channel = model->observables[k].channel;
    if (is_on_request(model, k) && !on_request)
      continue;
    selected.item[selected.count++] = &model->observables[k];
    if (channel >= selected.n_channels)
      selected.n_channels = channel + 1;
  }
  select_derived(model, &selected);
  return selected;
}

struct gpumc_observables
gpumc_observables_of(const struct gpumc_params *params, const struct gpumc_model_ops *model)
{
  return gpumc_observables_select(model, gpumc_params_boolean(params, "structure_factor"));
}

void gpumc_observables_check(const struct gpumc_params *params, const struct gpumc_subject *subject,
                             struct gpumc_report *report)
{
  const struct gpumc_model_ops *model = subject->model;
  bool any = false;
  for (size_t k = 0; k < model->n_observables; k++)
    any = any || is_on_request(model, k);
  if (gpumc_params_boolean(params, "structure_factor") && !any)
    gpumc_params_mistake(params, report, "structure_factor",
                         "model %s has no structure factor: leave structure_factor out",
                         model->name);
}

/* U4 = 1 - m4 / (3 m2^2). */
static double binder_parameter(double second, double fourth)
{
  return second > 0.0 ? 1.0 - fourth / (3.0 * second * second) : (double)NAN;
}

/* Second-moment correlation length, chi(0) = N m2 and chi(k) = S. */
static double correlation_length(const struct gpumc_model *model, double second, double factor)
{
  const double excess = (double)model->sites * second / factor - 1.0;
  return factor > 0.0 && excess >= 0.0 ? sqrt(excess) / (2.0 * sin(0.5 * model->wave_number))
                                       : (double)NAN;
}

double gpumc_derive(const struct gpumc_model *model, enum gpumc_derivation derivation,
                    const double from[2])
{
  switch (derivation) {
  case GPUMC_BINDER_PARAMETER:
    return binder_parameter(from[0], from[1]);
  case GPUMC_CORRELATION_LENGTH:
    return correlation_length(model, from[0], from[1]);
  }
  return (double)NAN;
}

double
gpumc_derive_scale(const struct gpumc_model *model, enum gpumc_derivation derivation, double value)
{
  const double wave = 2.0 * sin(0.5 * model->wave_number) * value;
  switch (derivation) {
  case GPUMC_BINDER_PARAMETER:
    return 1.0;
  case GPUMC_CORRELATION_LENGTH: /* its square is a difference from 1 */
    return value * (1.0 + wave * wave) / (2.0 * wave * wave);
  }
  return (double)NAN;
}

void gpumc_derive_all(const struct gpumc_observables *observables, const struct gpumc_model *model,
                      const double *average, double *derived)
{
  for (size_t k = 0; k < observables->n_derived; k++) {
    const struct gpumc_selected_derived *selected = &observables->derived[k];
    const double from[2] = {average[selected->from[0]], average[selected->from[1]]};
    derived[k] = gpumc_derive(model, selected->what->derivation, from);
  }
}
