/* Chains: how far the measurements of a temperature reach when reweighted.
 *
 * The variance of a quantity reweighted from beta to beta' is a moment of its distribution at beta
 * + 2 (beta' - beta), so errors are right only if the states that count there have been seen at
 * beta. States that have not, such as those of the other sign of the magnetization, leave no trace
 * in the measurements. But grid points are at most half as far as the neighbour in whose direction
 * they lie, and there is a direct measurement: if the reweighted one contradicts it, although
 * enough measurements seem to count, errors in between are unknown. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "algorithms/chains/chains_internal.h"
#include "core/base/memory.h"

/* Standard errors of a difference that are attributed to chance: exceeded once in 150,000. */
static const double contradiction = 4.5;

static size_t at(const struct chains_reach *reach, size_t m, int side, size_t q)
{
  return (m * CHAINS_SIDES + (size_t)side) * reach->results + q;
}

enum gpumc_status chains_reach_init(const struct chains *chains, struct chains_reach *reach,
                                    struct gpumc_error *error)
{
  *reach = (struct chains_reach){.chains = chains,
                                 .results = chains->quantities.observables.n_quantities};
  const size_t count = chains->runs * CHAINS_SIDES * reach->results;
  GPUMC_TRY(gpumc_allocate_array(&reach->value, count, "reweighting onto neighbours", error));
  GPUMC_TRY(gpumc_allocate_array(&reach->error, count, "reweighting onto neighbours", error));
  for (size_t i = 0; i < count; i++)
    reach->value[i] = reach->error[i] = NAN;
  return GPUMC_OK;
}

void chains_reach_free(struct chains_reach *reach)
{
  free(reach->value);
  free(reach->error);
  *reach = (struct chains_reach){0};
}

void chains_reach_take(struct chains_reach *reach, size_t m,
                       const struct chains_estimates *estimates, double least_share)
{
  const struct chains *chains = reach->chains;
  size_t point = 1 + chains_grid_served(&chains->grid, m);
  for (int side = 0; side < CHAINS_SIDES; side++) {
    if (!chains_grid_reaches(chains, m, side))
      continue;
    const size_t from = point++ * (estimates->results + 1);
    if (!(estimates->value[from + estimates->results] >= least_share))
      continue;
    for (size_t q = 0; q < reach->results; q++) {
      reach->value[at(reach, m, side, q)] = estimates->value[from + q];
      reach->error[at(reach, m, side, q)] = estimates->error[from + q];
    }
  }
}

/* Returns whether result q of temperature m, reweighted onto the neighbour on that side,
 * contradicts the measurement there. */
static bool falls_short(const struct chains_reach *reach, size_t m, int side, size_t q,
                        const double *value, const double *error)
{
  const struct chains *chains = reach->chains;
  if (!chains_grid_reaches(chains, m, side) ||
      chains->quantities.observables.quantity[q].what->of_moves)
    return false;
  const size_t neighbour = q * chains->runs + (side == 0 ? m - 1 : m + 1);
  const double difference = reach->value[at(reach, m, side, q)] - value[neighbour];
  /* False for NaN: nothing is known. */
  return fabs(difference) >
         contradiction * hypot(reach->error[at(reach, m, side, q)], error[neighbour]);
}

/* Handles the points that temperature m serves on one side. */
static void doubt_side(struct chains_reach *reach, size_t m, int side, const double *value,
                       const double *error, double *grid_error)
{
  const struct chains *chains = reach->chains;
  const struct chains_grid *grid = &chains->grid;
  bool doubted = false;
  for (size_t q = 0; q < reach->results; q++) {
    if (!falls_short(reach, m, side, q, value, error))
      continue;
    for (size_t p = grid->first[m]; p < grid->first[m + 1]; p++) {
      const double distance = grid->value[p] - chains->value[m];
      if (side == 0 ? distance >= 0 : distance <= 0)
        continue;
      grid_error[q * grid->points + p] = NAN;
      reach->doubtful += !doubted;
    }
    doubted = true;
    reach->quantity = q;
  }
}

void chains_reach_doubt(struct chains_reach *reach, const double *value, const double *error,
                        double *grid_error)
{
  for (size_t m = 0; m < reach->chains->runs; m++)
    for (int side = 0; side < CHAINS_SIDES; side++)
      doubt_side(reach, m, side, value, error, grid_error);
}

void chains_reach_explain(const struct chains_reach *reach, size_t bytes, char *text)
{
  const struct chains *chains = reach->chains;
  snprintf(
      text, bytes,
      "at %zu of %zu points of the reweighting grid errors are unknown (NaN), such as that of the "
      "%s: reweighted to the next of the %s, the measurements contradict those made there, so they "
      "sample too few of the states that matter in between; simulate more %s or more sweeps",
      reach->doubtful, chains->grid.points,
      gpumc_quantity_label(&chains->quantities.observables, reach->quantity).long_name,
      chains_values_word(chains), chains_values_word(chains));
}
