/* Cluster moves of O(n) spins on a GPU: what the drivers of their CUDA kernels take.
 *
 * Swendsen-Wang: a thread a site, and a launch for each step: bonds, unions, names, reflections.
 * Measurements: the same without reflections, then for each sum a launch that adds up clusters and
 * one that squares them.
 * Wolff: a block of threads a replica, one cluster after the other. */
#ifndef GPUMC_HEISENBERG_CLUSTER_GPU_H
#define GPUMC_HEISENBERG_CLUSTER_GPU_H

#include "models/heisenberg/cluster/cluster_physics.h"
#include "models/heisenberg/heisenberg_gpu.h"
#include "models/lattice/clusters/clusters_part.h"
#include "models/lattice/clusters/clusters_squares.h"

#ifdef __cplusplus
extern "C" {
#endif

/* accepted[runs]: takes the sites that Wolff's clusters reflect; scratch: below. Device memory. */
struct heisenberg_cluster_gpu {
  struct heisenberg_replicas replicas;
  const struct heisenberg_rule *rules; /* [runs], device memory */
  uint32_t sweeps, block_threads;
  uint64_t *accepted;
  void *scratch;
};

/* Return the scratch of a sweep, for this number of replicas of all runs. */
size_t
heisenberg_swendsen_wang_scratch(const struct heisenberg_cluster_gpu *arguments, size_t replicas);
size_t heisenberg_wolff_scratch(const struct heisenberg_cluster_gpu *arguments, size_t replicas);
GPUMC_MUST_CHECK enum gpumc_status
heisenberg_swendsen_wang_sweep(const struct heisenberg_cluster_gpu *arguments,
                               struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
heisenberg_wolff_sweep(const struct heisenberg_cluster_gpu *arguments,
                       const struct lattice_wolff_part *part, struct gpumc_error *error);

/* Finds the names of clusters in a sweep of Swendsen-Wang with that time, and reflects none. */
GPUMC_MUST_CHECK enum gpumc_status
heisenberg_swendsen_wang_label(const struct heisenberg_cluster_gpu *arguments, uint32_t time,
                               struct gpumc_error *error);

/* scale.cosine, scale.sine, square[runs][capacity] and wave, likewise, NULL: not wanted: device
 * memory. k: the driver's. */
struct heisenberg_cluster_gpu_squares {
  struct heisenberg_cluster_gpu clusters;
  struct lattice_cluster_scale scale;
  uint32_t time, k;
  int64_t *square, *wave;
};

size_t
heisenberg_cluster_squares_scratch(const struct heisenberg_cluster_gpu *clusters, size_t replicas);
GPUMC_MUST_CHECK enum gpumc_status
heisenberg_cluster_squares_measure(const struct heisenberg_cluster_gpu_squares *arguments,
                                   struct gpumc_error *error);

#ifdef __cplusplus
}
#endif

#endif
