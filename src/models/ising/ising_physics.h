/* Models of Ising spins: E = -sum_<ij> J_ij s_i s_j - sum_i h_i s_i on a periodic square or simple
 * cubic lattice, single-spin updates on a checkerboard. This header defines what every kernel of a
 * trajectory must reproduce bit for bit.
 *
 * One sweep updates all sites of colour 0, then all of colour 1 (lattice/checkerboard.h: colour,
 * index k within the colour). Spin s in the local field f = sum_j J_ij s_j + h_i, with a uniform
 * 32-bit number u:
 *   Metropolis: the flip costs dE = 2 s f and is accepted iff u < T(beta dE),
 *               T(x) = floor(min(1, exp(-x)) 2^32 + 1/2); T = 2^32 is always accepted.
 *   heat bath:  the spin becomes up iff u < T(2 beta f), T(x) = floor(2^32 / (1 + exp(-x)) + 1/2),
 *               and down otherwise; T = 2^32 is always up.
 *
 * If all |J_ij| are the same J, and fields are uniform or of the same size h everywhere, f takes
 * one value for each number n of neighbours that pull in the direction of the field: of its 2d
 * neighbours j those with J_ij s_j sign(h_i) > 0 (sign(J_ij) with uniform J of any sign is left
 * out: then f = J S + h, S = 2 n - 2d, n the neighbours up). With random fields of both signs s
 * stands for s sign(h_i) too, so that f = J S + h again. Quanta: if there is disorder, J and h are
 * those of ising_disorder_sample, whole quanta of the energy.
 *
 * Trajectory "ising.multispin.1": group = replica / 32, lane = replica % 32, one word of 32 lanes
 * for each site. Site word w = colour N/2 + k.
 *   initial: word w = output w & 3 of the counter {w >> 2, group, 0, (LATTICE_INITIAL, 0)}; bit 1
 *            is up.
 *   sweep:   the bit of weight 2^(31 - p) of every lane's u is word p & 3 of the counter {w, group,
 *            time, (LATTICE_SWEEP, p >> 2)} (lattice/bit_sliced.h). With random fields u decides
 *            about s sign(h_i).
 * Trajectory "ising.spin.1": site number i = colour N/2 + k.
 *   initial: spin i of replica r = bit i & 31 of word v = i >> 5, which is output v & 3 of the
 *            counter {v >> 2, r, 0, (LATTICE_INITIAL, 0)}.
 *   sweep:   u = output (k >> 4) & 3 of the counter
 *            {(k >> 6) << 4 | (k & 15), r, time, (LATTICE_SWEEP, colour)}; u decides about
 *            s itself.
 *   cluster moves: models/ising/cluster/cluster_rules.h.
 * Trajectory "ising.packed.1", Lx a multiple of 64, no disorder: site k of a colour is bit k % 32
 * of word w = (colour N/2 + k) / 32 of its replica.
 *   initial: word w = output w & 3 of the counter {w >> 2, r, 0, (LATTICE_INITIAL, 0)}.
 *   sweep:   the bit of weight 2^(31 - p) of every site's u is word p & 3 of the counter
 *            {w, r, time, (LATTICE_SWEEP, p >> 2)}, as in "ising.multispin.1".
 * Trajectory "ising.tiled.1": models/ising/tiled/tiled.h.
 * Walks under a tabulated weight (gpumc_kernel_ops.walk): the step of replica r, of group g =
 * r / 32, at t = 2^32 t1 + t0 of its clock is four updates, j = 0 .. 3, of sites numbered as in
 * "ising.spin.1".
 *   site:    i = floor(w N / 2^32), w = output j of the counter {g, t1, t0, (LATTICE_WALK, 1)}.
 *   update:  u = output j of the counter {r, t1, t0, (LATTICE_WALK, 0)}; s flips iff u < T, T the
 *            threshold of W(new) / W(old), at most 2^32 - 1, and 0 for a level without a weight.
 * Exchanges of clusters between two replicas: models/ising/ising_exchange.h.
 * time is the number of sweeps done in the run. */
#ifndef GPUMC_ISING_PHYSICS_H
#define GPUMC_ISING_PHYSICS_H

#include "core/numerics/threshold.h"

/* Numbers of neighbours up: for the square lattice, and for any. */
enum { ISING_CLASSES = 5, ISING_CLASSES_MAXIMUM = 7 };

/* Controls of these models. The energy channel has the instance's own uniform field, even if an
 * algorithm moves h: ln of the weight is -beta E + beta (h - own h) M. */
enum ising_control { ISING_BETA, ISING_FIELD, ISING_CONTROLS };

/* How spins are updated; numbers of ising_moves (ising.h). */
enum ising_move {
  ISING_MOVE_METROPOLIS,
  ISING_MOVE_HEAT_BATH,
  ISING_LOCAL_MOVES, /* those of one spin, which all kernels have */
  ISING_MOVE_SWENDSEN_WANG = ISING_LOCAL_MOVES,
  ISING_MOVE_WOLFF,
  ISING_MOVES
};

/* Metropolis. Of the two spins with `up` neighbours up, one gains energy by flipping and needs a
 * comparison: the one that points along beta f. The other is always accepted. */
struct ising_acceptance {
  uint64_t threshold[ISING_CLASSES_MAXIMUM]; /* by the number of neighbours up, for the spin that
                                                needs it */
  uint32_t spin_up[ISING_CLASSES_MAXIMUM];   /* whether that is the spin up */
};

/* Returns the local field with `up` of `neighbours` neighbours up. */
GPUMC_HOST_DEVICE static inline double
ising_local_field(double coupling, double field, uint32_t neighbours, uint32_t up)
{
  return fma(coupling, (double)(2 * (int)up - (int)neighbours), field);
}

GPUMC_HOST_DEVICE static inline struct ising_acceptance
ising_acceptance(double beta, double coupling, double field, uint32_t neighbours)
{
  struct ising_acceptance acceptance = {{0}, {0}};
  for (uint32_t up = 0; up <= neighbours; up++) {
    double x = beta * (2.0 * ising_local_field(coupling, field, neighbours, up));
    acceptance.threshold[up] = gpumc_threshold_exponential(fabs(x));
    acceptance.spin_up[up] = x > 0.0;
  }
  return acceptance;
}

/* Computes the heat-bath thresholds for becoming up, by the number of neighbours up. */
GPUMC_HOST_DEVICE static inline void ising_heat_bath(double beta, double coupling, double field,
                                                     uint32_t neighbours,
                                                     uint64_t threshold[ISING_CLASSES_MAXIMUM])
{
  for (uint32_t up = 0; up <= neighbours; up++)
    threshold[up] =
        gpumc_threshold_logistic(beta * (2.0 * ising_local_field(coupling, field, neighbours, up)));
}

/* Returns the energy in quanta from the sum of all bonds s_i s_j and the sum of all spins. Without
 * a field the quantum is |J| and the energy an integer; otherwise J and h are given in quanta and
 * the sum is rounded. */
GPUMC_HOST_DEVICE static inline int64_t
ising_energy(double coupling, double field, int64_t bonds, int64_t spins)
{
  if (field == 0.0)
    return coupling > 0.0 ? -bonds : bonds;
  return (int64_t)rint(fma(-coupling, (double)bonds, -(field * (double)spins)));
}

/* The same if couplings or fields differ in sign, in whole quanta: every |J_ij| is |coupling|,
 * `bonds` the sum of sign(J_ij) s_i s_j; every h_i is field + width or field - width, `along` the
 * sum of the spins times the sign of the second term. */
GPUMC_HOST_DEVICE static inline int64_t ising_energy_of_signs(double coupling, double field,
                                                              double width, int64_t bonds,
                                                              int64_t spins, int64_t along)
{
  return -((int64_t)fabs(coupling) * bonds + (int64_t)field * spins + (int64_t)width * along);
}

#endif
