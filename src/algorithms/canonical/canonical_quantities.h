/* Canonical runs: what is measured of a replica, and what follows from averages of it. */
#ifndef GPUMC_ALGORITHMS_CANONICAL_QUANTITIES_H
#define GPUMC_ALGORITHMS_CANONICAL_QUANTITIES_H

#include "core/simulation/observables.h"
#include "core/storage/recorder.h"

/* Quantities: e, e^2, and the observables of the model that are asked for. Results: e, C, the
 * observables, and what the model derives from them. */
enum { CANONICAL_ENERGY, CANONICAL_ENERGY2, CANONICAL_OBSERVABLES };
enum { CANONICAL_SPECIFIC_HEAT = CANONICAL_ENERGY2 };
enum { CANONICAL_QUANTITIES_MAXIMUM = CANONICAL_OBSERVABLES + GPUMC_OBSERVABLES_MAXIMUM };

/* One quantity of a replica: a moment of channel value times scale, which is per site. */
struct canonical_quantity {
  size_t channel;
  enum gpumc_moment moment;
  double scale;
};

struct canonical_quantities {
  const struct gpumc_model *model;
  struct gpumc_observables observables;
  size_t count; /* of quantities */
  struct canonical_quantity quantity[CANONICAL_QUANTITIES_MAXIMUM];
};

void canonical_quantities_make(const struct gpumc_model *model,
                               const struct gpumc_observables *observables,
                               struct canonical_quantities *quantities);

/* Quantities that are plain means, whose time series have errors of their own: all but e^2. */
static inline size_t canonical_means(const struct canonical_quantities *quantities)
{
  return quantities->count - 1;
}
/* Which quantity, and which result, mean k is. */
static inline size_t canonical_mean(size_t k)
{
  return k == 0 ? CANONICAL_ENERGY : k + CANONICAL_OBSERVABLES - 1;
}

static inline size_t canonical_results(const struct canonical_quantities *quantities)
{
  return quantities->count + quantities->observables.n_derived;
}
struct gpumc_label canonical_label(const struct canonical_quantities *quantities, size_t result);

/* Of count values of a channel. */
void canonical_moments_of(const struct canonical_quantity *quantity, const int64_t *channel,
                          size_t count, double *values);

/* The specific heat in the place of <e^2>: mean[count] becomes average[count]. */
void canonical_connect(const struct canonical_quantities *quantities, double beta,
                       const double *mean, double *average);
/* result[count ..] from result[0 .. count-1]. */
void canonical_derive(const struct canonical_quantities *quantities, double *result);

#endif
