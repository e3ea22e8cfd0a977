/* Walks of O(n) spins on a GPU: the host's interface to the drivers in heisenberg_walk_gpu.cu.
 *
 * A thread walks with one replica. During a call the replicas of a group are lanes in scratch
 * memory, [site][n][32]: the threads of a warp visit the same sites, and their reads and writes are
 * adjacent. */
#ifndef GPUMC_HEISENBERG_WALK_GPU_H
#define GPUMC_HEISENBERG_WALK_GPU_H

#include "models/heisenberg/heisenberg_gpu.h"
#include "models/heisenberg/walk/heisenberg_walk.h"

/* A call of gpumc_kernel_ops.walk. Device memory: lanes[active][groups][sites][n][32] in the
 * kernel's precision; weight[runs][levels + 2]; run[active], those that walk; visits and passages
 * as in struct gpumc_weight_table. A launch makes up to `steps` steps of each run after its first
 * `done`. */
struct heisenberg_gpu_walk {
  struct heisenberg_replicas replicas;
  struct heisenberg_walk_rule rule;
  uint32_t active, done, steps;
  size_t groups, levels, parts;
  void *lanes;
  const double *weight;
  const struct lattice_walk_run *run;
  uint64_t *visits;
  uint32_t *passages;
};

#ifdef __cplusplus
extern "C" {
#endif

/* Copies from replicas to lanes, or back. */
GPUMC_MUST_CHECK enum gpumc_status
heisenberg_walk_load(const struct heisenberg_gpu_walk *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
heisenberg_walk_store(const struct heisenberg_gpu_walk *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
heisenberg_walk_launch(const struct heisenberg_gpu_walk *arguments, struct gpumc_error *error);
/* Returns the number of replicas that occupy all multiprocessors; 0: CUDA cannot tell. */
size_t heisenberg_walk_occupy(uint32_t components, uint32_t single, uint32_t multiprocessors);
/* Recomputes sums[].bonds of a measurement, the sums of all bonds as in a walk. */
GPUMC_MUST_CHECK enum gpumc_status
heisenberg_walk_bonds(const struct heisenberg_gpu_measurement *arguments,
                      struct gpumc_error *error);

#ifdef __cplusplus
}
#endif

#endif
