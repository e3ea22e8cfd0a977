/* Walks of the `double` and `float` kernels as on a GPU, thread by thread on the CPU: the code of
 * heisenberg_walk.cuh, which both compilers read. */
#ifndef TESTS_SUPPORT_HEISENBERG_WALK_EMULATED_H
#define TESTS_SUPPORT_HEISENBERG_WALK_EMULATED_H

#include "models/heisenberg/walk/heisenberg_walk_gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Steps time .. time + steps - 1 of a replica, whose group is lanes[site][n][32]. */
struct heisenberg_walk_emulated {
  struct heisenberg_gpu_lattice lattice;
  uint32_t components, single;
  struct heisenberg_walk_rule rule;
  struct lattice_walk_canonical canonical;
  double lowest;
  const double *weight; /* [levels + 2] */
  struct gpumc_random random;
  uint32_t replica, steps;
  uint64_t time;
  void *lanes;
  uint64_t *visits; /* [levels] */
};

void heisenberg_walk_emulate(const struct heisenberg_walk_emulated *job);

#ifdef __cplusplus
}
#endif

#endif
