/* The two-dimensional Ising model: E = -J sum_<ij> s_i s_j - h sum_i s_i on the periodic square
 * lattice, Metropolis updates on a checkerboard. What every kernel of a trajectory must reproduce
 * bit for bit is defined here.
 *
 * One sweep updates all sites of colour 0, then all of colour 1 (lattice/checkerboard.h: colour,
 * index k within the colour). The flip of spin s with neighbour sum S costs dE = 2 s (J S + h) and
 * is accepted iff u < T(dE), u a uniform 32-bit number, T = floor(min(1, exp(-beta dE)) 2^32 +
 * 1/2); T = 2^32 is always accepted.
 *
 * Trajectory "ising2d.multispin.1": group = replica / 32, lane = replica % 32, one word of 32 lanes
 * for each site. Site word w = colour N/2 + k.
 *   initial: word w = output w & 3 of the counter {w >> 2, group, 0, (LATTICE_INITIAL, 0)}; bit 1
 * is up. sweep:   the bit of weight 2^(31 - p) of every lane's u is word p & 3 of the counter {w,
 * group, time, (LATTICE_SWEEP, p >> 2)} (lattice/bit_serial.h). Trajectory "ising2d.spin.1": site
 * number i = colour N/2 + k. initial: spin i of replica r = bit i & 31 of word v = i >> 5, which is
 * output v & 3 of the counter {v >> 2, r, 0, (LATTICE_INITIAL, 0)}. sweep:   u = output (k >> 4) &
 * 3 of the counter
 *            {(k >> 6) << 4 | (k & 15), r, time, (LATTICE_SWEEP, colour)}.
 * time is the number of sweeps done in the run. */
#ifndef GPUMC_ISING2D_PHYSICS_H
#define GPUMC_ISING2D_PHYSICS_H

#include "models/lattice/threshold.h"

enum { ISING2D_CLASSES = 5 };

/* Of the two spins that see `up` neighbours up of four, one gains energy by flipping and needs a
 * comparison: the one that points along beta (J S + h), S = 2 up - 4. The other is always accepted.
 */
struct ising2d_acceptance {
  uint64_t
      threshold[ISING2D_CLASSES]; /* by the number of neighbours up, for the spin that needs it */
  uint32_t spin_up[ISING2D_CLASSES]; /* whether that is the spin up */
};

/* dE of flipping an up spin. */
GPUMC_HOST_DEVICE static inline double ising2d_energy_change(double coupling, double field, int up)
{
  return 2.0 * fma(coupling, (double)(2 * up - 4), field);
}

GPUMC_HOST_DEVICE static inline struct ising2d_acceptance
ising2d_acceptance(double beta, double coupling, double field)
{
  struct ising2d_acceptance acceptance;
  for (int up = 0; up < ISING2D_CLASSES; up++) {
    double x = beta * ising2d_energy_change(coupling, field, up);
    acceptance.threshold[up] = gpumc_metropolis_threshold(fabs(x));
    acceptance.spin_up[up] = x > 0.0;
  }
  return acceptance;
}

/* Energy in quanta from the sum of all bonds s_i s_j and the sum of all spins. Without a field the
 * quantum is |J| and the energy an integer; else J and h come in quanta and the sum is rounded. */
GPUMC_HOST_DEVICE static inline int64_t
ising2d_energy(double coupling, double field, int64_t bonds, int64_t spins)
{
  if (field == 0.0)
    return coupling > 0.0 ? -bonds : bonds;
  return (int64_t)rint(fma(-coupling, (double)bonds, -(field * (double)spins)));
}

#endif
