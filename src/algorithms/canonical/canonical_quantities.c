/* Canonical runs: moments of channels, specific heat, derived quantities. */
#include "algorithms/canonical/canonical_quantities.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "core/curves.h"

static bool is_measured(const struct gpumc_model_ops *model, size_t observable, bool on_request)
{
  return on_request || !model->channels[model->observables[observable].channel].on_request;
}

/* Where the model's observable `index` stands among those selected; SIZE_MAX: it is not. */
static size_t place_of(const struct canonical_quantities *quantities, size_t index)
{
  for (size_t k = 0; k < quantities->count - CANONICAL_OBSERVABLES; k++)
    if (quantities->observable[k] == index)
      return CANONICAL_OBSERVABLES + k;
  return SIZE_MAX;
}

void canonical_quantities_make(const struct gpumc_model *model, bool structure_factor,
                               struct canonical_quantities *quantities)
{
  const struct gpumc_model_ops *ops = model->ops;
  const double sites = (double)model->sites;
  memset(quantities, 0, sizeof *quantities);
  quantities->model = model;
  quantities->count = CANONICAL_OBSERVABLES;
  quantities->quantity[CANONICAL_ENERGY] =
      (struct canonical_quantity){0, GPUMC_MOMENT_MEAN, model->quantum[0] / sites};
  quantities->quantity[CANONICAL_ENERGY2] =
      (struct canonical_quantity){0, GPUMC_MOMENT_SECOND, model->quantum[0] / sites};
  for (size_t k = 0; k < ops->n_observables; k++) {
    const struct gpumc_observable *observable = &ops->observables[k];
    if (!is_measured(ops, k, structure_factor))
      continue;
    assert(quantities->count < CANONICAL_OBSERVABLES + CANONICAL_OBSERVABLES_MAXIMUM);
    quantities->observable[quantities->count - CANONICAL_OBSERVABLES] = k;
    quantities->quantity[quantities->count++] =
        (struct canonical_quantity){observable->channel, observable->moment,
                                    model->quantum[observable->channel] / sites};
  }
  for (size_t d = 0; d < ops->n_derived; d++)
    if (place_of(quantities, ops->derived[d].from[0]) != SIZE_MAX &&
        place_of(quantities, ops->derived[d].from[1]) != SIZE_MAX) {
      assert(quantities->derived < CANONICAL_OBSERVABLES_MAXIMUM);
      quantities->derivation[quantities->derived++] = d;
    }
}

bool canonical_quantities_use(const struct canonical_quantities *quantities, size_t channel)
{
  for (size_t q = 0; q < quantities->count; q++)
    if (quantities->quantity[q].channel == channel)
      return true;
  return false;
}

struct gpumc_label canonical_label(const struct canonical_quantities *quantities, size_t result)
{
  const struct gpumc_model_ops *ops = quantities->model->ops;
  if (result == CANONICAL_ENERGY)
    return gpumc_label_energy;
  if (result == CANONICAL_SPECIFIC_HEAT)
    return gpumc_label_specific_heat;
  if (result < quantities->count)
    return gpumc_observable_label(
        &ops->observables[quantities->observable[result - CANONICAL_OBSERVABLES]]);
  return gpumc_derived_label(&ops->derived[quantities->derivation[result - quantities->count]]);
}

void canonical_moments_of(const struct canonical_quantity *quantity, const int64_t *channel,
                          size_t count, double *values)
{
  for (size_t i = 0; i < count; i++)
    values[i] = (double)channel[i] * quantity->scale;
  if (quantity->moment == GPUMC_MOMENT_ABSOLUTE)
    for (size_t i = 0; i < count; i++)
      values[i] = fabs(values[i]);
  if (quantity->moment == GPUMC_MOMENT_SECOND || quantity->moment == GPUMC_MOMENT_FOURTH)
    for (size_t i = 0; i < count; i++)
      values[i] *= values[i];
  if (quantity->moment == GPUMC_MOMENT_FOURTH)
    for (size_t i = 0; i < count; i++)
      values[i] *= values[i];
}

void canonical_connect(const struct canonical_quantities *quantities, double beta,
                       const double *mean, double *average)
{
  const double energy = mean[CANONICAL_ENERGY], energy2 = mean[CANONICAL_ENERGY2];
  memmove(average, mean, quantities->count * sizeof *average);
  average[CANONICAL_SPECIFIC_HEAT] =
      beta * beta * (double)quantities->model->sites * (energy2 - energy * energy);
}

static double derive(const struct gpumc_model *model, enum gpumc_derivation derivation,
                     double first, double second)
{
  if (derivation == GPUMC_BINDER_PARAMETER)
    return 1 - second / (3 * first * first);
  double ratio = (double)model->sites * first / second - 1;
  return ratio >= 0 ? sqrt(ratio) / (2 * sin(model->wave_number / 2)) : NAN;
}

void canonical_derive(const struct canonical_quantities *quantities, double *result)
{
  const struct gpumc_model *model = quantities->model;
  for (size_t d = 0; d < quantities->derived; d++) {
    const struct gpumc_derived *derived = &model->ops->derived[quantities->derivation[d]];
    result[quantities->count + d] = derive(model, derived->derivation,
                                           result[place_of(quantities, derived->from[0])],
                                           result[place_of(quantities, derived->from[1])]);
  }
}
