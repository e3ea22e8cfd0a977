/* Walks of O(n) spins: the host's preparation of a call of gpumc_kernel_ops.walk, for both devices,
 * and the walk on each. */
#ifndef GPUMC_HEISENBERG_WALK_HOST_H
#define GPUMC_HEISENBERG_WALK_HOST_H

#include "models/heisenberg/heisenberg.h"
#include "models/heisenberg/walk/heisenberg_walk.h"

/* Returns GPUMC_INVALID for a channel that the kernels do not walk with. */
GPUMC_MUST_CHECK enum gpumc_status
heisenberg_walk_rule_make(const struct gpumc_model *model, const struct gpumc_weight_table *table,
                          struct heisenberg_walk_rule *rule, struct gpumc_error *error);

/* Computes weight[runs][levels + 2] of the table: ln of the weights, as in heisenberg_walk_rule. */
void heisenberg_walk_weights(const struct gpumc_weight_table *table, size_t runs, double *weight);

static inline struct lattice_walk_canonical
heisenberg_walk_canonical_of(const struct gpumc_model *model, const struct gpumc_target *target,
                             size_t m)
{
  return lattice_walk_canonical_of(model, target, m, HEISENBERG_ENERGY, HEISENBERG_MAGNETIZATION_X);
}

/* For the kernels `double` and `float` on a CPU; `single`: the latter. around[sites]: the positions
 * of the neighbours of every site. The spins of a group are in the scratch of the thread that walks
 * with them: GPUMC_WALK_GROUP replicas in portable form have at least as many bytes. */
GPUMC_MUST_CHECK enum gpumc_status heisenberg_walk_cpu(struct gpumc_ensemble *ensemble,
                                                       const struct gpumc_target *target,
                                                       uint32_t (*around)[GPUMC_NEIGHBOURS_MAXIMUM],
                                                       bool single, struct gpumc_error *error);
int64_t
heisenberg_walk_cpu_bonds(const struct gpumc_ensemble *ensemble, const void *spins, bool single);
/* Returns the bytes of a call, for weights and visits; 0 if the plan has no walks. */
size_t heisenberg_walk_cpu_bytes(const struct gpumc_device *device,
                                 const struct gpumc_ensemble_plan *plan);
size_t heisenberg_walk_cpu_fills(const struct gpumc_model *model, const struct gpumc_device *device,
                                 const struct gpumc_ensemble_plan *plan);

/* For the kernels on a GPU; `replicas` are those of the ensemble. Bytes: of lattice_gpu_scratch,
 * for the spins of all groups, weights and runs; 0 if the plan has no walks. */
struct heisenberg_replicas;
GPUMC_MUST_CHECK enum gpumc_status
heisenberg_walk_gpu(struct gpumc_ensemble *ensemble, const struct gpumc_target *target,
                    const struct heisenberg_replicas *replicas, struct gpumc_error *error);
size_t heisenberg_walk_gpu_bytes(const struct gpumc_model *model,
                                 const struct gpumc_ensemble_plan *plan, bool single);
size_t heisenberg_walk_gpu_fills(const struct gpumc_model *model, const struct gpumc_device *device,
                                 bool single);

#endif
