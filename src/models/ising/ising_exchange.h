/* Exchanges of clusters between two replicas (gpumc_kernel_ops.exchange_clusters): the arithmetic
 * that every kernel of a trajectory must reproduce bit for bit, for both compilers.
 *
 * s and t are the spins of two replicas with the same couplings J_ij, fields h_i and beta, and q_i
 * = s_i t_i. Where q_i = -1 an exchange of s_i and t_i turns both over. All sites of a cluster have
 * q = -1:
 *
 *   connected (Houdayer, Eur. Phys. J. B 22, 479 (2001)): the component of the seed, a random one
 *     of the sites with q = -1; two neighbours are connected if both have q = -1 and J_ij is not 0.
 *   activated (Joerg, Prog. Theor. Phys. Suppl. 157, 349 (2005)): the component of the seed under
 *     active bonds alone. Between two sites with q = -1 both replicas have the same bond energy,
 *     together -2 J_ij s_i s_j; a bond is active with probability 1 - exp(-4 |beta J_ij|) if
 *     beta J_ij s_i s_j > 0, otherwise never: u >= T, T the threshold of exp(-4 |beta J_ij|).
 *
 * A bond from the cluster to a site with q = 1, s_j = t_j, has the energy -J_ij s_j (s_i + t_i) = 0
 * before and after, and so have fields, -h_i (s_i + t_i): neither matters. For connected sites
 * nothing else changes, so E_s + E_t stays, and so do the sites with q = -1 and their components:
 * an exchange and its reverse are as likely. For active ones the pair is a model with the couplings
 * 2 J_ij on the sites with q = -1 and the cluster is Wolff's (Phys. Rev. Lett. 62, 361 (1989)).
 * Both bonds between two sites along a side of length 2 count, each with its own number.
 *
 * Random numbers: `n` is the number of the exchange, the generator that of the run whose replica is
 * s. A bond belongs to its end of colour 0, index k, and to the direction d = 0 .. 5 from there
 * (enum gpumc_neighbour).
 *   Trajectory "ising.spin.1", replica r:
 *     seed: w = output 0 of the counter {0, r, n, (LATTICE_PAIRS, 0)}.
 *     bond: u = output d & 3 of the counter {k, r, n, (LATTICE_PAIRS, 1 + (d >> 2))}.
 *   Trajectory "ising.multispin.1", group g, lane l:
 *     seed: w = output l & 3 of the counter {l >> 2, g, n, (LATTICE_PAIRS, 0)}.
 *     bond: the bit of weight 2^(31 - p) of every lane's u is output p & 3 of the counter {k, g, n,
 *           (LATTICE_PAIRS, 1 + 8 d + (p >> 2))}.
 * The seed is number floor(w m / 2^32) of the m sites with q = -1 in the order of colour and k. */
#ifndef GPUMC_ISING_EXCHANGE_H
#define GPUMC_ISING_EXCHANGE_H

#include "core/numerics/random.h"
#include "core/simulation/kernel.h"
#include "models/ising/ising_physics.h"
#include "models/lattice/checkerboard.h"

/* Returns which of `differing` > 0 sites is the seed. */
GPUMC_HOST_DEVICE static inline uint64_t ising_exchange_seed(uint32_t word, uint64_t differing)
{
  return word * differing >> 32;
}

/* Returns the threshold of a bond that is active if its number is not below it, given that it is
 * satisfied; GPUMC_THRESHOLD_ALWAYS: never. */
GPUMC_HOST_DEVICE static inline uint64_t ising_exchange_threshold(double beta, double coupling)
{
  return gpumc_threshold_exponential(4.0 * fabs(beta * coupling));
}

/* Returns the direction from the other end of a bond. */
GPUMC_HOST_DEVICE static inline uint32_t ising_exchange_reverse(uint32_t direction)
{
  const bool turns = direction != GPUMC_SAME_INDEX && direction != GPUMC_SIDE;
  return turns ? direction ^ 1 : direction;
}

/* Returns the counter's draws of a bond: for a number, and for the first of its bits. */
GPUMC_HOST_DEVICE static inline uint32_t ising_exchange_draw(uint32_t direction)
{
  return gpumc_random_label(GPUMC_RANDOM_LATTICE_PAIRS, 1 + (direction >> 2));
}
GPUMC_HOST_DEVICE static inline uint32_t ising_exchange_bits(uint32_t direction)
{
  return gpumc_random_label(GPUMC_RANDOM_LATTICE_PAIRS, 1 + 8 * direction);
}

GPUMC_HOST_DEVICE static inline uint64_t
ising_exchange_share(uint64_t exchanged, uint64_t differing)
{
  return (exchanged << GPUMC_CLUSTER_SHARE_BITS) / differing;
}

/* Adds one exchange of two replicas; if they did not differ, nothing. */
static inline void
ising_exchange_count(uint64_t exchanged, uint64_t differing, struct gpumc_cluster_counts *counts)
{
  if (differing == 0)
    return;
  counts->exchanges++;
  counts->differing += differing;
  counts->exchanged += exchanged;
  counts->shares += ising_exchange_share(exchanged, differing);
}

#endif
