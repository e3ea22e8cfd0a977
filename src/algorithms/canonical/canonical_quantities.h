/* Canonical runs: what is measured of a replica, and what follows from averages of it. */
#ifndef GPUMC_ALGORITHMS_CANONICAL_QUANTITIES_H
#define GPUMC_ALGORITHMS_CANONICAL_QUANTITIES_H

#include "core/model.h"

/* Quantities: e, e^2, and the observables of the model that are asked for. Results: e, C, the
 * observables, and what the model derives from them. */
enum { CANONICAL_ENERGY, CANONICAL_ENERGY2, CANONICAL_OBSERVABLES };
enum { CANONICAL_SPECIFIC_HEAT = CANONICAL_ENERGY2 };
enum { CANONICAL_OBSERVABLES_MAXIMUM = 32 };

/* One quantity of a replica: a moment of channel value times scale, which is per site. */
struct canonical_quantity {
  size_t channel;
  enum gpumc_moment moment;
  double scale;
};

struct canonical_quantities {
  const struct gpumc_model *model;
  size_t count;   /* of quantities */
  size_t derived; /* of derived ones */
  struct canonical_quantity quantity[CANONICAL_OBSERVABLES + CANONICAL_OBSERVABLES_MAXIMUM];
  size_t observable[CANONICAL_OBSERVABLES_MAXIMUM]; /* of the model, by its index there */
  size_t derivation[CANONICAL_OBSERVABLES_MAXIMUM];
};

/* `structure_factor`: with the channels that are measured on request only. */
void canonical_quantities_make(const struct gpumc_model *model, bool structure_factor,
                               struct canonical_quantities *quantities);
bool canonical_quantities_use(const struct canonical_quantities *quantities, size_t channel);

/* Quantities that are plain means, so that their time series have errors of their own: all but e^2.
 */
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
  return quantities->count + quantities->derived;
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
