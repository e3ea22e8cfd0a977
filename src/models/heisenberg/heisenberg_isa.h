/* The parts of the kernels `double` and `float` that are compiled once for each instruction-set
 * level: sweeps of one replica on the CPU in each precision, and measurements, in double precision
 * for both. */
#ifndef GPUMC_HEISENBERG_ISA_H
#define GPUMC_HEISENBERG_ISA_H

#include "core/numerics/isa.h"
#include "models/heisenberg/heisenberg.h"
#include "models/heisenberg/quenched/quenched_pairs.h"

/* A replica is spins[n][2][N/2] in the kernel's precision: components, colours, sites. */

/* Sweeps time .. time + sweeps - 1 of a replica. `coupling` and `field` are J and h. `couplings`:
 * NULL, or those of its sample (heisenberg.h) in the kernel's precision; `coupling` is then J w.
 * `reach` and `accepted`, the number of accepted proposals: for small steps. */
struct heisenberg_sweep {
  const struct gpumc_checkerboard *lattice;
  const struct gpumc_checkerboard_edges *edges; /* [2][blocks]: for each colour */
  int components;
  enum heisenberg_move move;
  uint32_t over_relaxations; /* for a mixed move: after each heat bath */
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

/* Two replicas in double precision with the same couplings. forward and back[dimension][N]:
 * positions of the neighbours one step along each axis, of colour 0 first
 * (gpumc_checkerboard_position). */
struct heisenberg_comparison {
  const struct gpumc_checkerboard *lattice;
  int components;
  const uint32_t *forward, *back;
  const void *couplings, *one, *other;
  int64_t *layers; /* [n][n][heisenberg_layers()], like `layers` below, for products */
};

struct heisenberg_ops {
  /* Draws spins uniformly; of the sweep, lattice, components, random, replica and spins are set. */
  void (*start)(const struct heisenberg_sweep *sweep);
  void (*sweep)(const struct heisenberg_sweep *sweep);
  /* Converts n numbers, or the spins of a replica, divided by their lengths if `unit`
   * (heisenberg_of_length_1). NULL: they are in double precision and of length 1. */
  void (*widen)(size_t n, const void *numbers, double *wide);
  void (*widen_spins)(size_t sites, int components, bool unit, const void *spins, double *wide);
};

/* Of replicas and couplings in double precision. */
struct heisenberg_measuring {
  /* `edges` and `couplings`: as in heisenberg_sweep. */
  void (*measure)(const struct gpumc_checkerboard *lattice,
                  const struct gpumc_checkerboard_edges *edges, int components,
                  const void *couplings, const void *spins, struct heisenberg_sums *sums);
  /* Returns the largest heisenberg_drift(). */
  int64_t (*drift)(const struct gpumc_checkerboard *lattice, int components, const void *spins);
  /* Computes layers[components][heisenberg_layers()]: sums of a component over planes x = const, y
   * = const and z = const, in units of 2^-HEISENBERG_QUANTUM_BITS. Among the first ones, even x
   * precede odd x, like the sites of a colour in a row. */
  void (*layers)(const struct gpumc_checkerboard *lattice, int components, const void *spins,
                 int64_t *layers);
  /* Computes all but sums->wave, and with->layers. */
  void (*compare)(const struct heisenberg_comparison *with, struct heisenberg_pair_sums *sums);
};

#ifdef GPUMC_ISA_X86_64
extern const struct heisenberg_ops heisenberg_ops_double_v2, heisenberg_ops_double_v3,
    heisenberg_ops_double_v4;
extern const struct heisenberg_ops heisenberg_ops_float_v2, heisenberg_ops_float_v3,
    heisenberg_ops_float_v4;
extern const struct heisenberg_measuring heisenberg_measuring_v2, heisenberg_measuring_v3,
    heisenberg_measuring_v4;
#else
extern const struct heisenberg_ops heisenberg_ops_double_portable, heisenberg_ops_float_portable;
extern const struct heisenberg_measuring heisenberg_measuring_portable;
#endif

#endif
