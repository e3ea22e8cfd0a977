/* Classical O(n) spins on a periodic chain, square or simple cubic lattice,
 *
 *   E = -J sum_<ij> S_i . S_j - h sum_i S_i^x,   |S_i| = 1, n = 3 (Heisenberg) or 2 (XY):
 *
 * what kernels and tests know of an instance. Couplings are the same for all bonds. */
#ifndef GPUMC_HEISENBERG_H
#define GPUMC_HEISENBERG_H

#include "core/simulation/model.h"
#include "models/heisenberg/heisenberg_physics.h"
#include "models/lattice/checkerboard.h"

enum { HEISENBERG_DIMENSIONS_MAXIMUM = 3 };

/* Sites of one colour are numbered with 32 bits, and so are counters. */
#define HEISENBERG_SITES_LIMIT ((size_t)1 << 32)

/* M = sum of all spins. The last two are of the bonds along x, for a twist of the boundary there.
 */
enum heisenberg_channel {
  HEISENBERG_ENERGY,
  HEISENBERG_MAGNETIZATION_X,
  HEISENBERG_MAGNETIZATION_Y,
  HEISENBERG_MAGNETIZATION_Z, /* 0 with two components */
  HEISENBERG_MAGNETIZATION,   /* |M| */
  HEISENBERG_MAGNETIZATION2,  /* M^2 / N */
  HEISENBERG_ALONG,           /* sum of S_i . S_j */
  HEISENBERG_ACROSS,          /* (sum of S_i x S_j)^2 */
  HEISENBERG_CHANNELS
};

/* What makes an instance. */
struct heisenberg_settings {
  size_t dimension, shape[HEISENBERG_DIMENSIONS_MAXIMUM]; /* sides even, from 2 to 1048576 */
  int components;                                         /* n: 2 or 3 */
  double coupling, field;                                 /* J, not 0; h */
};

/* gpumc_model.parameters. The portable form of a replica is S[sites][n] in doubles, sites in the
 * order x + Lx (y + Ly z). */
struct heisenberg_parameters {
  struct gpumc_checkerboard lattice;
  int components;
  double coupling, field;
};

static inline const struct heisenberg_parameters *
heisenberg_parameters(const struct gpumc_model *model)
{
  return (const struct heisenberg_parameters *)model->parameters;
}

/* GPUMC_FAILURE when memory ran out. */
GPUMC_MUST_CHECK enum gpumc_status heisenberg_instance(const struct heisenberg_settings *settings,
                                                       struct gpumc_model *model,
                                                       struct gpumc_error *error);

/* Sums over a replica in units of 2^-HEISENBERG_QUANTUM_BITS, exact: they depend on no order. */
struct heisenberg_sums {
  int64_t bonds;            /* S_i . S_j */
  int64_t magnetization[3]; /* S_i */
  int64_t along, across[3]; /* S_i . S_j and S_i x S_j, j one step from i along x */
};

/* Channels from sums, by the same arithmetic on every device, into channel[c][at] of those that are
 * not NULL. */
void heisenberg_record(const struct gpumc_model *model, const struct heisenberg_sums *sums,
                       int64_t *const *channel, size_t at);

/* The tables of the model (heisenberg_measured.c), of its moves, and its kernels. */
enum { HEISENBERG_MEANS = 9, HEISENBERG_QUANTITIES = 11 };
extern const struct gpumc_control heisenberg_controls[HEISENBERG_CONTROLS];
void heisenberg_coefficients(const struct gpumc_model *model, const double *control,
                             double *coefficient);
extern const struct gpumc_channel heisenberg_channels[HEISENBERG_CHANNELS];
extern const struct gpumc_mean heisenberg_means[HEISENBERG_MEANS];
extern const struct gpumc_quantity heisenberg_quantities[HEISENBERG_QUANTITIES];
extern const struct gpumc_move heisenberg_moves[HEISENBERG_MOVES];
extern const struct gpumc_kernel_ops heisenberg_float_cpu, heisenberg_double_cpu;
extern const struct gpumc_model_ops gpumc_model_heisenberg;

#endif
