/* Cluster moves of the kernel `spin` on a GPU, for plans whose move is one; `table` is in the
 * storage's table. */
#ifndef GPUMC_ISING_CLUSTER_HOST_GPU_H
#define GPUMC_ISING_CLUSTER_HOST_GPU_H

#include "core/simulation/kernel.h"
#include "models/ising/cluster/cluster_gpu.h"

/* Return the bytes of the table, samples by site, and of scratch; 0 for other moves. */
size_t
ising_cluster_table_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan);
size_t ising_cluster_scratch_bytes(const struct ising_spin_replicas *replicas,
                                   const struct gpumc_model *model,
                                   const struct gpumc_ensemble_plan *plan);
/* Fills the table. */
GPUMC_MUST_CHECK enum gpumc_status
ising_cluster_table_fill(struct gpumc_ensemble *ensemble, void *table, struct gpumc_error *error);
/* Sweeps replicas whose rules are in `tables`. */
GPUMC_MUST_CHECK enum gpumc_status
ising_cluster_gpu_sweep(struct gpumc_ensemble *ensemble, const struct ising_spin_replicas *replicas,
                        const struct ising_tables *tables, const void *table, const double *control,
                        uint32_t sweeps, struct gpumc_error *error);

/* Measures the wanted ones of the channels ISING_CLUSTER_SQUARE and ISING_CLUSTER_WAVE, with the
 * bonds of a sweep with that time; brings the rules. */
GPUMC_MUST_CHECK enum gpumc_status
ising_cluster_gpu_measure(struct gpumc_ensemble *ensemble,
                          const struct ising_spin_replicas *replicas,
                          const struct ising_tables *tables, const void *table,
                          const double *control, uint32_t time, int64_t *const *channel,
                          struct gpumc_error *error);

#endif
