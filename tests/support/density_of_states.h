/* Densities of states of small 2D Ising lattices, and the canonical averages that follow from
 * them. */
#ifndef GPUMC_TESTS_SUPPORT_DENSITY_OF_STATES_H
#define GPUMC_TESTS_SUPPORT_DENSITY_OF_STATES_H

#include <stddef.h>
#include <stdint.h>

#include "support/kaufman.h"

/* L x L, J = 1, h = 0, periodic: count[k] states at energy E = -2N + 4k, k = 0 .. N. Made and
 * checked by gpumc.ising2d_exact (P. Computed and checked with gpumc.ising2d_exact (P. */
struct density_of_states {
  size_t side, sites, levels; /* levels = sites + 1 */
  const uint64_t *count;
};

extern const struct density_of_states ising2d_states_4;
extern const struct density_of_states ising2d_states_8;

/* Computes the canonical distribution: probability[levels] of each level at inverse temperature
 * beta. */
void density_of_states_distribution(const struct density_of_states *states, double beta,
                                    long double *probability);

struct exact_thermodynamics
density_of_states_thermodynamics(const struct density_of_states *states, double beta);

#endif
