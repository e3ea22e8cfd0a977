/* Sweeps of the `double` and `float` kernels as on a GPU, thread by thread on the CPU, and
 * measurements of their replicas, site by site: the code of heisenberg_block.cuh,
 * heisenberg_tile.cuh, heisenberg_sums.cuh and quenched_compare.cuh, which both compilers read. */
#ifndef TESTS_SUPPORT_HEISENBERG_EMULATED_H
#define TESTS_SUPPORT_HEISENBERG_EMULATED_H

#include "models/heisenberg/heisenberg_gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Tiles of the given number of pairs and lines, where `threads` threads do the given number of
 * sweeps at once; wide = 0: no tiles. */
struct heisenberg_emulated_tiles {
  uint32_t wide, high, sweeps, threads;
};

/* Sweeps time .. time + sweeps - 1 of a replica spins[n][2][N/2]. `in_shared`: its spins are where
 * they would be in shared memory; with `tiles`, only a tile's spins are. `couplings`:  NULL, or
 * those of its sample; then `coupling` is J w. */
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
  uint64_t *accepted; /* the number of accepted small steps is added */
  /* Sums of the spins after the sweeps, without waves; if there are couplings, also of these spins
   * with those of another replica in the same form. cosine and sine: the tables of `wave`. */
  struct heisenberg_sums *sums;
  const void *other;
  struct lattice_wave wave;
  const int32_t *cosine, *sine;
  struct heisenberg_pair_sums *pair;
};

/* Returns how many accesses are outside the replica, or not those that a pair needs: must be 0. */
size_t heisenberg_emulate(const struct heisenberg_emulated *job);

#ifdef __cplusplus
}
#endif

#endif
