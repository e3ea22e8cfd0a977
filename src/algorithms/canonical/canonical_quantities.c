/* Canonical runs: moments of channels, specific heat, derived quantities. */
#include "algorithms/canonical/canonical_quantities.h"

#include <math.h>
#include <string.h>

#include "core/simulation/curves.h"

void canonical_quantities_make(const struct gpumc_model *model,
                               const struct gpumc_observables *observables,
                               struct canonical_quantities *quantities)
{
  const double sites = (double)model->sites;
  memset(quantities, 0, sizeof *quantities);
  quantities->model = model;
  quantities->observables = *observables;
  quantities->count = CANONICAL_OBSERVABLES + observables->count;
  quantities->quantity[CANONICAL_ENERGY] =
      (struct canonical_quantity){0, GPUMC_MOMENT_MEAN, model->quantum[0] / sites};
  quantities->quantity[CANONICAL_ENERGY2] =
      (struct canonical_quantity){0, GPUMC_MOMENT_SECOND, model->quantum[0] / sites};
  for (size_t k = 0; k < observables->count; k++) {
    const struct gpumc_observable *item = observables->item[k];
    quantities->quantity[CANONICAL_OBSERVABLES + k] = (struct canonical_quantity){
        item->channel, item->moment, model->quantum[item->channel] / sites};
  }
}

struct gpumc_label canonical_label(const struct canonical_quantities *quantities, size_t result)
{
  const struct gpumc_observables *observables = &quantities->observables;
  if (result == CANONICAL_ENERGY)
    return gpumc_label_energy;
  if (result == CANONICAL_SPECIFIC_HEAT)
    return gpumc_label_specific_heat;
  if (result < quantities->count)
    return gpumc_observable_label(observables->item[result - CANONICAL_OBSERVABLES]);
  return gpumc_derived_label(observables->derived[result - quantities->count].what);
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

void canonical_derive(const struct canonical_quantities *quantities, double *result)
{
  gpumc_derive_all(&quantities->observables, quantities->model, result + CANONICAL_OBSERVABLES,
                   result + quantities->count);
}
