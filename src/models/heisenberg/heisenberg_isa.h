/* What of the kernels `double` and `float` is compiled once for each instruction-set level: sweeps
 * and measurements of one replica on the CPU. */
#ifndef GPUMC_HEISENBERG_ISA_H
#define GPUMC_HEISENBERG_ISA_H

#include "core/numerics/isa.h"
#include "models/heisenberg/heisenberg.h"
#include "models/heisenberg/quenched/quenched_pairs.h"

/* A replica is spins[n][2][N/2] in the kernel's precision: components, colours, sites. */

/* Sweeps time .. time + sweeps - 1 of a replica. `coupling` and `field` are J and h. `couplings`:
 * NULL, or those of its sample (heisenberg.h) in the kernel's precision; `coupling` is J w then.
 * `reach` and `accepted`, the number of proposals taken: of small steps. */
struct heisenberg_sweep {
  const struct gpumc_checkerboard *lattice;
  const struct gpumc_checkerboard_edges *edges; /* [2][blocks]: of each colour */
  int components;
  enum heisenberg_move move;
  uint32_t over_relaxations; /* of a mixed move: after each heat bath */
  double beta, coupling, field, reach;
  struct gpumc_random random;
  uint32_t replica, time, sweeps;
  const void *couplings;
  void *spins;
  uint64_t *accepted;
};

static inline size_t heisenberg_layers(const struct gpumc_checkerboard *lattice)
{
  return lattice->length_x + lattice->length_y + lattice->length_z;
}

/* Of two replicas with the same couplings. forward and back[dimension][N]: positions of the
 * neighbours one step along each axis, of colour 0 first (gpumc_checkerboard_position). */
struct heisenberg_comparison {
  const struct gpumc_checkerboard *lattice;
  int components;
  const uint32_t *forward, *back;
  const void *couplings, *one, *other;
  int64_t *layers; /* [n][n][heisenberg_layers()], as those of `layers` below, of products */
};

struct heisenberg_ops {
  /* Spins drawn uniformly; of the sweep lattice, components, random, replica and spins are set. */
  void (*start)(const struct heisenberg_sweep *sweep);
  void (*sweep)(const struct heisenberg_sweep *sweep);
  /* `edges` and `couplings`: as in heisenberg_sweep. */
  void (*measure)(const struct gpumc_checkerboard *lattice,
                  const struct gpumc_checkerboard_edges *edges, int components,
                  const void *couplings, const void *spins, struct heisenberg_sums *sums);
  /* The largest of heisenberg_drift(). */
  int64_t (*drift)(const struct gpumc_checkerboard *lattice, int components, const void *spins);
  /* layers[components][heisenberg_layers()]: sums of a component over planes x = const, y = const
   * and z = const, in units of 2^-HEISENBERG_QUANTUM_BITS. Of the first ones, even x stand before
   * odd x, as the sites of a colour do in a row. */
  void (*layers)(const struct gpumc_checkerboard *lattice, int components, const void *spins,
                 int64_t *layers);
  /* All but sums->wave, and with->layers. */
  void (*compare)(const struct heisenberg_comparison *with, struct heisenberg_pair_sums *sums);
};

#ifdef GPUMC_ISA_X86_64
extern const struct heisenberg_ops heisenberg_ops_double_v2, heisenberg_ops_double_v3,
    heisenberg_ops_double_v4;
extern const struct heisenberg_ops heisenberg_ops_float_v2, heisenberg_ops_float_v3,
    heisenberg_ops_float_v4;
#else
extern const struct heisenberg_ops heisenberg_ops_double_portable, heisenberg_ops_float_portable;
#endif

#endif
