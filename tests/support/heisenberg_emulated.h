/* Sweeps of the kernels `double` and `float` as on a GPU, thread by thread on the CPU, and what is
 * measured of their replicas, site by site: the code of heisenberg_block.cuh, heisenberg_tile.cuh,
 * heisenberg_sums.cuh and quenched_compare.cuh, which both compilers read. */
#ifndef TESTS_SUPPORT_HEISENBERG_EMULATED_H
#define TESTS_SUPPORT_HEISENBERG_EMULATED_H

#include "models/heisenberg/heisenberg_gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Tiles of so many pairs and lines, of which `threads` threads make so many sweeps at once; wide =
 * 0: no tiles. */
struct heisenberg_emulated_tiles {
  uint32_t wide, high, sweeps, threads;
};

/* Sweeps time .. time + sweeps - 1 of a replica spins[n][2][N/2]. `in_shared`: its spins are where
 * they would be in shared memory; with `tiles` these of them. `couplings`: NULL, or those of its
 * sample; `coupling` is J w then. */
struct heisenberg_emulated {
  struct heisenberg_gpu_lattice lattice;
  uint32_t components, single, in_shared;
  struct heisenberg_emulated_tiles tiles;
  enum heisenberg_move move;
  uint32_t over_relaxations, sweeps, replica, time;
  double beta, coupling, field, reach;
  struct gpumc_random random;
  const void *couplings;
  void *spins;
  uint64_t *accepted; /* proposals taken of small steps are added */
  /* Of the spins after the sweeps, without waves; and where there are couplings of these spins with
   * those of another replica in the same form. cosine and sine: the tables of `wave`. */
  struct heisenberg_sums *sums;
  const void *other;
  struct lattice_wave wave;
  const int32_t *cosine, *sine;
  struct heisenberg_pair_sums *pair;
};

/* Returns how many places are outside of the replica, or not those that a pair needs: 0. */
size_t heisenberg_emulate(const struct heisenberg_emulated *job);

#ifdef __cplusplus
}
#endif

#endif
