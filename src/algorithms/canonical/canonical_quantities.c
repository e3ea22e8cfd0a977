/* Canonical runs: powers of channels, and which of them have time series. */
#include "algorithms/canonical/canonical_quantities.h"

#include <string.h>

#include "core/numerics/power.h"

void canonical_quantities_make(const struct gpumc_model *model,
                               const struct gpumc_observables *observables,
                               struct canonical_quantities *quantities)
{
  memset(quantities, 0, sizeof *quantities);
  quantities->model = model;
  quantities->observables = *observables;
  quantities->count = observables->n_means;
  for (size_t k = 0; k < observables->n_means; k++) {
    const size_t result = gpumc_observables_reported(observables, k);
    quantities->unit[k] = gpumc_mean_unit(observables->mean[k], model);
    if (result == observables->n_quantities)
      continue;
    quantities->series_mean[quantities->n_series] = k;
    quantities->series_result[quantities->n_series++] = result;
  }
}

/* With a power that the compiler knows. */
static inline void fill(double unit, const int64_t *channel, size_t count, unsigned power,
                        bool absolute, double *values)
{
  for (size_t i = 0; i < count; i++)
    values[i] = gpumc_power((double)channel[i] * unit, power, absolute);
}

void canonical_moments_of(const struct gpumc_mean *mean, double unit, const int64_t *channel,
                          size_t count, double *values)
{
  if (mean->power == 1 && mean->absolute)
    fill(unit, channel, count, 1, true, values);
  else if (mean->power == 1)
    fill(unit, channel, count, 1, false, values);
  else if (mean->power == 2)
    fill(unit, channel, count, 2, false, values);
  else
    fill(unit, channel, count, 4, false, values);
}
