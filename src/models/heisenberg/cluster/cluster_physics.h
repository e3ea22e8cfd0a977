/* Cluster moves of O(n) spins by Wolff's embedding of Ising spins (U. Wolff, Phys. Rev. Lett. 62,
 * 361 (1989)), for both compilers: with clusters_rules.h, what every kernel of a trajectory must
 * reproduce bit for bit.
 *
 * A unit vector r is drawn uniformly, for each replica and sweep of Swendsen-Wang and for each of
 * Wolff's clusters. a_i = r . S_i; turning the sign of a_i is a reflection of the spin. For these
 * signs the energy is that of Ising spins with couplings J_ij |a_i| |a_j| in fields h r_x |a_i|:
 *   the bond of i and j is active with probability 1 - exp(min(0, -x)), x = 2 beta J_ij a_i a_j,
 *   site i is joined to the ghost likewise, x = 2 beta h r_x a_i;
 *   a cluster that is flipped has S_i <- S_i - 2 a_i r for all its spins.
 * Reflected spins are renormalised by one step of Newton's method, in every sweep.
 *
 * Arithmetic is in the kernel's precision: 2 beta J and 2 beta h are rounded to it from double;
 * then x = ((2 beta J c_ij) a_i) a_j for the site i that owns the bond, J being J w with quenched
 * couplings (heisenberg_physics.h), and without them no c_ij; x = (2 beta h r_x) a_i. A bond is
 * active iff (floor(u / 2) + 1/2) / 2^31 is below its probability, u the bond's random number. Two
 * sites share a counter if the field is 0 and the lattice is no cubic one.
 *
 * Measured at a time, with r and the bonds that a sweep of Swendsen-Wang with that time would draw:
 * the averages over all flips of the clusters, given the bonds (improved estimators; U. Wolff,
 * Nucl. Phys. B 334, 581 (1990)), of (r . M)^2 and of the squared amplitudes of waves of a_i. Their
 * averages over r are M^2/n and |M_k|^2/n, in a field too. As for Ising spins
 * (ising/cluster/cluster_rules.h), with the integers round(a_i 2^28) in place of signs, and in
 * waves their products with the table's numbers, each rounded to units of the table
 * (heisenberg_cluster_term).
 *
 * r is drawn as the spins of starting states are, n = 3 and n = 2, from the words a, b, c, d of the
 * counter {c, replica, time, (LATTICE_CLUSTER, 2)}: c = 0, or the number of Wolff's cluster. */
#ifndef GPUMC_HEISENBERG_CLUSTER_PHYSICS_H
#define GPUMC_HEISENBERG_CLUSTER_PHYSICS_H

#include "models/heisenberg/heisenberg_physics.h"
#include "models/lattice/clusters/clusters_rules.h"

/* The draw of r. */
enum { HEISENBERG_CLUSTER_AXIS = LATTICE_CLUSTER_FLIPS + 1 };

/* Returns whether two sites share a counter. */
GPUMC_HOST_DEVICE static inline bool heisenberg_cluster_paired(size_t dimension, double field)
{
  return dimension < 3 && field == 0.0;
}

/* Returns a component in quanta times a number of the table of a wave, in units of the table. */
GPUMC_HOST_DEVICE static inline int64_t heisenberg_cluster_term(int32_t quanta, int32_t table)
{
  const int64_t half = (int64_t)1 << (HEISENBERG_QUANTUM_BITS - 1);
  return ((int64_t)quanta * table + half) >> HEISENBERG_QUANTUM_BITS;
}

#define HEISENBERG_PRECISION double
#include "models/heisenberg/cluster/cluster_rules.h"
#undef HEISENBERG_PRECISION
#define HEISENBERG_PRECISION float
#include "models/heisenberg/cluster/cluster_rules.h"
#undef HEISENBERG_PRECISION

#endif
