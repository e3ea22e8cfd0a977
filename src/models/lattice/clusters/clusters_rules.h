/* Cluster moves on periodic lattices (Swendsen and Wang, Phys. Rev. Lett. 58, 86 (1987); U. Wolff,
 * Phys. Rev. Lett. 62, 361 (1989)), for both compilers: the random numbers and names that they have
 * for spins of any kind. Which bonds are active is the model's rule.
 *
 * Site i = x + Lx (y + Ly z) owns the bonds to the next sites along x, y and z. A field is one more
 * spin, neighbour to all others: the ghost. A cluster is a connected component of the active bonds.
 * Its name is its smallest site.
 *
 * Swendsen-Wang: a sweep draws all bonds once; a cluster joined to the ghost stays, each of the
 * others is flipped with probability 1/2.
 *   bonds: on chains and square lattices without a field, the words 0 and 1 of the counter
 *          {i >> 1, replica, time, (LATTICE_CLUSTER, 0)} are those of the bonds along x and y for
 *          an even site i, 2 and 3 for an odd one. Otherwise those of the bonds along x, y, z and
 *          with the ghost are words 0, 1, 2, 3 of the counter {i, replica, time,
 *          (LATTICE_CLUSTER, 0)}.
 *   flips: a cluster is flipped iff bit (name & 31) of word (name >> 5 & 3) of the counter
 *          {name >> 7, replica, time, (LATTICE_CLUSTER, 1)} is set.
 *
 * Wolff: a sweep flips `clusters` clusters one after the other. Cluster c = 0, 1, .. of the sweep
 * is that of the site floor(w N / 2^32), w word 0 of the counter {c, replica, time,
 * (LATTICE_WOLFF, 0)}, among bonds with numbers of its own, those above with the label
 * (LATTICE_WOLFF, 1 + c). It is flipped unless it is joined to the ghost. Only bonds at its sites
 * are needed, and the order in which it grows decides nothing. */
#ifndef GPUMC_LATTICE_CLUSTERS_RULES_H
#define GPUMC_LATTICE_CLUSTERS_RULES_H

#include <stdbool.h>

#include "core/numerics/random.h"

/* The draws of a sweep, for labels of counters; of Wolff's, the first cluster's bonds. */
enum { LATTICE_CLUSTER_BONDS = 0, LATTICE_CLUSTER_FLIPS = 1 };
enum { LATTICE_WOLFF_SEED = 0, LATTICE_WOLFF_BONDS = 1 };

/* The word of the bond with the ghost, and the names with flips in one counter. */
enum { LATTICE_CLUSTER_GHOST = 3, LATTICE_CLUSTER_NAMES = 128 };

/* Limit on Wolff's clusters in a sweep: labels of counters have 24 bits for a draw. */
#define LATTICE_WOLFF_CLUSTERS_MAXIMUM 1048576

/* Return the counter and the word in it for the bond of a site along `axis`, or with the ghost
 * (LATTICE_CLUSTER_GHOST). `paired`: two sites share a counter. */
GPUMC_HOST_DEVICE static inline uint32_t lattice_cluster_counter(bool paired, uint32_t site)
{
  return paired ? site >> 1 : site;
}
GPUMC_HOST_DEVICE static inline uint32_t
lattice_cluster_word(bool paired, uint32_t site, uint32_t axis)
{
  return paired ? (site & 1) * 2 + axis : axis;
}

GPUMC_HOST_DEVICE static inline uint32_t lattice_cluster_label(uint32_t draw)
{
  return gpumc_random_label(GPUMC_RANDOM_LATTICE_CLUSTER, draw);
}
GPUMC_HOST_DEVICE static inline uint32_t lattice_wolff_label(uint32_t draw)
{
  return gpumc_random_label(GPUMC_RANDOM_LATTICE_WOLFF, draw);
}

/* Returns the site whose cluster is number c of a sweep. */
GPUMC_HOST_DEVICE static inline uint32_t lattice_wolff_seed(struct gpumc_random random,
                                                            uint32_t replica, uint32_t time,
                                                            uint32_t c, uint64_t sites)
{
  uint32_t word[4];
  gpumc_random_draw(random, c, replica, time, lattice_wolff_label(LATTICE_WOLFF_SEED), word);
  return (uint32_t)(word[0] * sites >> 32);
}

#endif
