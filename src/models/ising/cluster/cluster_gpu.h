/* Cluster moves on a GPU: what the drivers of their CUDA kernels take.
 *
 * Swendsen-Wang: replicas whose labels fit into shared memory, one or several to a block of
 * threads, all sweeps in one launch; or by tiles (cluster_tiles.h), a launch for each step. Wolff:
 * a block of threads a replica. */
#ifndef GPUMC_ISING_CLUSTER_GPU_H
#define GPUMC_ISING_CLUSTER_GPU_H

#include "models/ising/cluster/cluster_tiles.h"
#include "models/ising/spin/spin_gpu.h"
#include "models/lattice/clusters/clusters_part.h"
#include "models/lattice/clusters/clusters_squares.h"

#ifdef __cplusplus
extern "C" {
#endif

/* terms[samples][sample_terms]: [dimension][sites] couplings of a sample, and its fields after
 * them if there are random ones, in quanta; NULL: all are uniform. `fields`: any run has a field.
 * accepted[runs]: takes the sites that Wolff's clusters flip. Device memory. */
struct ising_cluster_gpu {
  struct ising_spin_replicas replicas;
  struct ising_cluster_tiling tiling;
  const struct ising_run_rule *rules;
  const int32_t *terms;
  size_t sample_terms;
  uint32_t samples, by_run, plan_runs; /* see struct ising_tables */
  uint32_t random_fields, fields;
  uint32_t sweeps;
  uint64_t *accepted;
  void *scratch;
};

/* Swendsen-Wang for replicas whose labels fit into shared memory; returns whether they do. */
int ising_cluster_block_fits(const struct ising_cluster_gpu *arguments);
GPUMC_MUST_CHECK enum gpumc_status
ising_cluster_block_sweep(const struct ising_cluster_gpu *arguments, struct gpumc_error *error);

/* Swendsen-Wang by tiles, and Wolff. Return the scratch of a sweep, for this number of replicas of
 * all runs. */
size_t ising_cluster_tiles_scratch(const struct ising_cluster_gpu *arguments, size_t replicas);
GPUMC_MUST_CHECK enum gpumc_status
ising_cluster_tiles_sweep(const struct ising_cluster_gpu *arguments, struct gpumc_error *error);
/* The parts of a sweep by tiles: bytes of scratch of a replica; how many of these replicas of so
 * many bytes share a launch; and labels of the clusters of `count` replicas of all runs from number
 * `first` on, with the bonds of that time. */
size_t ising_cluster_tiles_bytes(const struct ising_cluster_gpu *arguments);
size_t ising_cluster_tiles_together(size_t bytes, size_t replicas);
GPUMC_MUST_CHECK enum gpumc_status
ising_cluster_tiles_label(const struct ising_cluster_gpu *arguments, size_t first, size_t count,
                          uint32_t time, struct gpumc_error *error);
size_t ising_cluster_wolff_scratch(const struct ising_cluster_gpu *arguments, size_t replicas);
GPUMC_MUST_CHECK enum gpumc_status
ising_cluster_wolff_sweep(const struct ising_cluster_gpu *arguments,
                          const struct lattice_wolff_part *part, struct gpumc_error *error);

/* A measurement with the bonds of that time; square, wave: [runs][capacity], NULL if not wanted; k:
 * the driver's own. */
struct ising_cluster_gpu_squares {
  struct ising_cluster_gpu clusters;
  struct lattice_cluster_scale scale;
  uint32_t time, k;
  int64_t *square, *wave;
};
size_t ising_cluster_squares_scratch(const struct ising_cluster_gpu *clusters, size_t replicas);
GPUMC_MUST_CHECK enum gpumc_status
ising_cluster_squares_measure(const struct ising_cluster_gpu_squares *arguments,
                              struct gpumc_error *error);

#ifdef __cplusplus
}
#endif

#endif
