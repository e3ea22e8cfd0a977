/* The channels of O(n) spins, computed from sums over a replica: for both compilers, by the same
 * arithmetic on every device. */
#ifndef GPUMC_HEISENBERG_CHANNELS_H
#define GPUMC_HEISENBERG_CHANNELS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "core/numerics/host_device.h"
#include "models/heisenberg/heisenberg_physics.h"

/* M = sum of all spins. ALONG and ACROSS are of the bonds along x, for a twist of the boundary
 * there. */
enum heisenberg_channel {
  HEISENBERG_ENERGY,
  HEISENBERG_MAGNETIZATION_X,
  HEISENBERG_MAGNETIZATION_Y,
  HEISENBERG_MAGNETIZATION_Z, /* 0 with two components */
  HEISENBERG_MAGNETIZATION,   /* |M| */
  HEISENBERG_MAGNETIZATION2,  /* M^2 / N */
  HEISENBERG_ALONG,           /* sum of S_i . S_j, times J_ij / J if couplings are quenched */
  HEISENBERG_ACROSS,          /* (sum of S_i x S_j)^2, likewise */
  HEISENBERG_DRIFT,           /* N max ||S_i| - 1|: the effect of rounding on the lengths */
  HEISENBERG_WAVE,            /* |sum of S_i exp(i k r_i)|^2, k the smallest along each axis */
  HEISENBERG_STATE_CHANNELS,  /* those above are functions of the spins, those below of clusters */
  HEISENBERG_CLUSTER_SQUARE = HEISENBERG_STATE_CHANNELS, /* cluster/cluster_physics.h */
  HEISENBERG_CLUSTER_WAVE,
  HEISENBERG_CHANNELS
};

/* Sums over a replica in units of 2^-HEISENBERG_QUANTUM_BITS, exact: they do not depend on the
 * order. */
struct heisenberg_sums {
  int64_t bonds;            /* S_i . S_j, times c_ij if couplings are quenched */
  int64_t magnetization[3]; /* S_i */
  int64_t along, across[3]; /* S_i . S_j and S_i x S_j, j one step from i along x */
  int64_t drift;            /* the largest heisenberg_drift() */
  int64_t wave;             /* heisenberg_wave_square(), in quanta of its channel */
};

/* The parameters of an instance: J and h, the sites, and the quanta of the channels. `weight`:
 * bonds are counted in units of it (heisenberg_physics.h, w); 1 without quenched couplings. */
struct heisenberg_units {
  double coupling, weight, field, sites, quantum[HEISENBERG_CHANNELS];
};

/* Writes the channels of a replica to channel[c][at] for those that are not NULL. */
GPUMC_HOST_DEVICE static inline void heisenberg_record(const struct heisenberg_units *units,
                                                       const struct heisenberg_sums *sums,
                                                       int64_t *const *channel, size_t at)
{
  const double unit = 1.0 / (double)(1 << HEISENBERG_QUANTUM_BITS);
  double value[HEISENBERG_WAVE], m[3], current[3];
  for (int a = 0; a < 3; a++) {
    m[a] = unit * (double)sums->magnetization[a];
    current[a] = units->weight * unit * (double)sums->across[a];
    value[HEISENBERG_MAGNETIZATION_X + a] = m[a];
  }
  const double square = fma(m[2], m[2], fma(m[1], m[1], m[0] * m[0]));
  value[HEISENBERG_ENERGY] =
      -fma(units->coupling, units->weight * unit * (double)sums->bonds, units->field * m[0]);
  value[HEISENBERG_MAGNETIZATION] = sqrt(square);
  value[HEISENBERG_MAGNETIZATION2] = square / units->sites;
  value[HEISENBERG_ALONG] = units->weight * unit * (double)sums->along;
  value[HEISENBERG_ACROSS] =
      fma(current[2], current[2], fma(current[1], current[1], current[0] * current[0]));
  value[HEISENBERG_DRIFT] =
      units->sites * ((double)sums->drift / (double)((int64_t)1 << HEISENBERG_DRIFT_BITS));
  for (int c = 0; c < HEISENBERG_WAVE; c++)
    if (channel[c] != NULL)
      channel[c][at] = (int64_t)rint(value[c] / units->quantum[c]);
  if (channel[HEISENBERG_WAVE] != NULL)
    channel[HEISENBERG_WAVE][at] = sums->wave;
}

#endif
