/* Cluster moves of Ising spins, for both compilers: what every kernel that has them must reproduce
 * bit for bit, and agrees on under the name "ising.spin.1". Random numbers and names of clusters:
 * models/lattice/clusters/clusters_rules.h.
 *
 * Bonds (Kasteleyn and Fortuin). Site i owns the bonds to the next sites along x, y and z, J_id and
 * the neighbour j; with x = 2 beta J_id s_i s_j and a uniform 32-bit number u
 *   the bond is active iff x > 0 and u < T(1 - exp(-x)), T(p) = floor(p 2^32 + 1/2).
 * Along a side of length 2 the two bonds of a pair of sites are two, as in the energy. The ghost is
 * a spin that is always up: site i is joined to it by the same rule, with x = 2 beta h_i s_i.
 * Couplings and fields are those of the energy: uniform ones as they are given, the others in whole
 * quanta (ising_disorder_sample).
 *
 * Measured at a time, with the bonds that a sweep of Swendsen-Wang with that time would draw, so
 * that nothing is stored and nothing else changes: the averages over all flips of the clusters,
 * given the bonds (improved estimators; U. Wolff, Nucl. Phys. B 334, 581 (1990)), of M^2 and of the
 * squared amplitudes of waves. Clusters joined to the ghost count as one, since they stay together.
 *   square: the sum over clusters of (sum over its sites of s_i)^2.
 *   wave:   for each axis of lattice/wave.h and both cosine and sine, the sum over clusters of (sum
 *           over its sites of s_i times the table's number)^2 in quanta, each square rounded to the
 *           nearest (lattice_wave_square_of); then the mean over the axes, rounded down.
 *
 * There is a field if the run's uniform field is not 0 or there are random fields. */
#ifndef GPUMC_ISING_CLUSTER_RULES_H
#define GPUMC_ISING_CLUSTER_RULES_H

#include "core/numerics/threshold.h"
#include "models/lattice/clusters/clusters_rules.h"

/* A run's. coupling, field: uniform, in units of energy; quantum: of couplings and fields of a
 * sample. `paired`: two sites share a counter, on a square lattice without a field. */
struct ising_cluster_rule {
  double beta, coupling, field, quantum;
  bool paired, has_field;
};

GPUMC_HOST_DEVICE static inline struct ising_cluster_rule
ising_cluster_rule_of(double beta, double coupling, double field, double quantum, size_t dimension,
                      bool random_fields)
{
  struct ising_cluster_rule rule = {beta, coupling, field, quantum, false, false};
  rule.has_field = random_fields || field != 0.0;
  rule.paired = dimension == 2 && !rule.has_field;
  return rule;
}

/* Returns x for a coupling or field, in units of energy, that two spins satisfy; if they do not, x
 * has the other sign. */
GPUMC_HOST_DEVICE static inline double
ising_cluster_exponent(const struct ising_cluster_rule *rule, double term)
{
  return rule->beta * (2.0 * term);
}

/* Returns T(1 - exp(-x)), 0 for x <= 0. */
GPUMC_HOST_DEVICE static inline uint64_t ising_cluster_threshold(double x)
{
  return x > 0.0 ? gpumc_threshold(1.0 - gpumc_exp(-x)) : 0;
}

#endif
