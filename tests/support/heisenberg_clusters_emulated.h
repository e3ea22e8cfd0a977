/* Cluster moves of O(n) spins by the code of a GPU's threads, run on the CPU one thread after the
 * other. */
#ifndef TESTS_SUPPORT_HEISENBERG_CLUSTERS_EMULATED_H
#define TESTS_SUPPORT_HEISENBERG_CLUSTERS_EMULATED_H

#include "models/heisenberg/heisenberg_gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A sweep of a replica. spins[n][2][N/2] and couplings[2][2 d][N/2] (NULL: none) in its precision.
 * clusters: Wolff's; 0: Swendsen-Wang, whose threads come in an order that `stride`, which has no
 * factor in common with the number of sites, decides. limit: of the sites that they reflect. */
struct heisenberg_clusters_emulated {
  struct gpumc_checkerboard lattice;
  uint32_t components, single, replica, time, clusters, stride;
  struct gpumc_random random;
  struct heisenberg_rule rule;
  uint64_t limit;
  const void *couplings;
  void *spins;
};

/* Returns the sites that Wolff's clusters reflected. */
uint64_t heisenberg_clusters_emulate(const struct heisenberg_clusters_emulated *job);

#ifdef __cplusplus
}
#endif

#endif
