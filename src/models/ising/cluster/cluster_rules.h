/* Cluster moves of Ising spins (Swendsen and Wang, Phys. Rev. Lett. 58, 86 (1987); U. Wolff, Phys.
 * Rev. Lett. 62, 361 (1989)), for both compilers: what every kernel that has them must reproduce
 * bit for bit, and agrees on under the name "ising.spin.1".
 *
 * Bonds (Kasteleyn and Fortuin). Site i = x + Lx (y + Ly z) owns the bonds to the next sites along
 * x, y and z, J_id and the neighbour j; with x = 2 beta J_id s_i s_j and a uniform 32-bit number u
 *   the bond is active iff x > 0 and u < T(1 - exp(-x)), T(p) = floor(p 2^32 + 1/2).
 * Along a side of length 2 the two bonds of a pair of sites are two, as in the energy. A field is a
 * spin that is always up and neighbour to all others, the ghost: site i is joined to it by the same
 * rule, with x = 2 beta h_i s_i. Couplings and fields are those of the energy: uniform ones as they
 * are given, the others in whole quanta (ising_disorder_sample).
 *
 * A cluster is a connected component of the active bonds. Its name is its smallest site.
 *
 * Swendsen-Wang: a sweep draws all bonds once; a cluster joined to the ghost stays, each of the
 * others is flipped with probability 1/2.
 *   bonds: on a square lattice without a field, the words 0 and 1 of the counter
 *          {i >> 1, replica, time, (LATTICE_CLUSTER, 0)} are u of the bonds along x and y for an
 *          even site i, 2 and 3 for an odd one. Otherwise u of the bonds along x, y, z and with the
 *          ghost are words 0, 1, 2, 3 of the counter {i, replica, time, (LATTICE_CLUSTER, 0)}.
 *   flips: a cluster is flipped iff bit (name & 31) of word (name >> 5 & 3) of the counter
 *          {name >> 7, replica, time, (LATTICE_CLUSTER, 1)} is set.
 *
 * Wolff: a sweep flips `clusters` clusters one after the other. Cluster c = 0, 1, .. of the sweep
 * is that of the site floor(w N / 2^32), w word 0 of the counter {c, replica, time,
 * (LATTICE_WOLFF, 0)}, among bonds with numbers of its own, those above with the label
 * (LATTICE_WOLFF, 1 + c). It is flipped unless it is joined to the ghost. Only bonds at its sites
 * are needed, and the order in which it grows decides nothing.
 *
 * There is a field if the run's uniform field is not 0 or there are random fields. */
#ifndef GPUMC_ISING_CLUSTER_RULES_H
#define GPUMC_ISING_CLUSTER_RULES_H

#include <stdbool.h>

#include "core/numerics/random.h"
#include "core/numerics/threshold.h"

/* The draws of a sweep, for labels of counters; of Wolff's, the first cluster's bonds. */
enum { ISING_CLUSTER_BONDS = 0, ISING_CLUSTER_FLIPS = 1 };
enum { ISING_WOLFF_SEED = 0, ISING_WOLFF_BONDS = 1 };

/* The word of the bond with the ghost, and the names with flips in one counter. */
enum { ISING_CLUSTER_GHOST = 3, ISING_CLUSTER_NAMES = 128 };

/* Limit on Wolff's clusters in a sweep: labels of counters have 24 bits for a draw. */
#define ISING_WOLFF_CLUSTERS_MAXIMUM 1048576

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

/* Return the counter and the word in it for the bond of a site along `axis`, or with the ghost
 * (ISING_CLUSTER_GHOST). */
GPUMC_HOST_DEVICE static inline uint32_t ising_cluster_counter(bool paired, uint32_t site)
{
  return paired ? site >> 1 : site;
}
GPUMC_HOST_DEVICE static inline uint32_t
ising_cluster_word(bool paired, uint32_t site, uint32_t axis)
{
  return paired ? (site & 1) * 2 + axis : axis;
}

GPUMC_HOST_DEVICE static inline uint32_t ising_cluster_label(uint32_t draw)
{
  return gpumc_random_label(GPUMC_RANDOM_LATTICE_CLUSTER, draw);
}
GPUMC_HOST_DEVICE static inline uint32_t ising_wolff_label(uint32_t draw)
{
  return gpumc_random_label(GPUMC_RANDOM_LATTICE_WOLFF, draw);
}

/* Returns the site whose cluster is number c of a sweep. */
GPUMC_HOST_DEVICE static inline uint32_t ising_wolff_seed(struct gpumc_random random,
                                                          uint32_t replica, uint32_t time,
                                                          uint32_t c, uint64_t sites)
{
  uint32_t word[4];
  gpumc_random_draw(random, c, replica, time, ising_wolff_label(ISING_WOLFF_SEED), word);
  return (uint32_t)(word[0] * sites >> 32);
}

#endif
