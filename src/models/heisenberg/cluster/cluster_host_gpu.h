/* Cluster moves of O(n) spins on a GPU: what the kernels `double`, `float` and `fast` call. */
#ifndef GPUMC_HEISENBERG_CLUSTER_HOST_GPU_H
#define GPUMC_HEISENBERG_CLUSTER_HOST_GPU_H

#include "core/simulation/kernel.h"
#include "models/heisenberg/heisenberg_gpu.h"
#include "models/lattice/clusters/clusters_squares.h"

/* The scratch of the plan's cluster moves; 0: it makes none. */
size_t heisenberg_cluster_scratch_bytes(const struct gpumc_model *model,
                                        const struct gpumc_ensemble_plan *plan);

/* gpumc_kernel_ops.sweep without channels. rules[runs], device memory. */
GPUMC_MUST_CHECK enum gpumc_status
heisenberg_cluster_gpu_sweep(struct gpumc_ensemble *ensemble,
                             const struct heisenberg_replicas *replicas,
                             const struct heisenberg_rule *rules, uint32_t sweeps,
                             struct gpumc_error *error);

/* Measures the wanted ones of the channels HEISENBERG_CLUSTER_SQUARE and HEISENBERG_CLUSTER_WAVE,
 * with the bonds of a sweep with that time; of scale the tables are in device memory. */
GPUMC_MUST_CHECK enum gpumc_status
heisenberg_cluster_gpu_measure(struct gpumc_ensemble *ensemble,
                               const struct heisenberg_replicas *replicas,
                               const struct heisenberg_rule *rules,
                               const struct lattice_cluster_scale *scale, uint32_t time,
                               int64_t *const *channel, struct gpumc_error *error);

#endif
