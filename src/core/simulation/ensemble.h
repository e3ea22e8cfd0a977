/* Functions that are the same for the ensembles of every kernel: creating and freeing, sweeps under
 * a moved control, numbers of replicas, and replicas in a checkpoint. */
#ifndef GPUMC_CORE_ENSEMBLE_H
#define GPUMC_CORE_ENSEMBLE_H

#include "core/simulation/model.h"
#include "core/storage/checkpoint.h"

/* Makes room for the runs of `plan`, none of them begun. GPUMC_INVALID if they are to walk and the
 * instance does not (gpumc_model.unwalkable), if the plan is a share that the kernel does not
 * divide runs into (gpumc_plan_group), or if the kernel refuses the plan. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_ensemble_create(const struct gpumc_kernel_ops *ops, const struct gpumc_model *model,
                      struct gpumc_device *device, const struct gpumc_ensemble_plan *plan,
                      uint64_t seed, uint32_t rounds, struct gpumc_ensemble *ensemble,
                      struct gpumc_error *error);
/* Begins `runs` runs from `first_run` on with `size` replicas each, in all processes together, in
 * the kernel's starting states; time becomes 0. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_ensemble_start(struct gpumc_ensemble *ensemble,
                                                        uint32_t first_run, size_t runs,
                                                        size_t size, struct gpumc_error *error);
/* Sweeps all runs under the Boltzmann weight in which the moved control of the plan is `value`.
 * Advances ensemble->time by `sweeps`; GPUMC_FAILURE if the counter's 32 bits would overflow. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_ensemble_sweep(struct gpumc_ensemble *ensemble, uint32_t sweeps, double value,
                     int64_t *const *channel, struct gpumc_error *error);
/* The same with a value for each run, value[runs]. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_ensemble_sweep_each(struct gpumc_ensemble *ensemble, uint32_t sweeps, const double *value,
                          int64_t *const *channel, struct gpumc_error *error);
/* For timings: sweeps under a target that the plan's move serves, Boltzmann weights or none. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_ensemble_sweep_any(struct gpumc_ensemble *ensemble, uint32_t sweeps, double value,
                         int64_t *const *channel, struct gpumc_error *error);
/* The same for any target. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_ensemble_sweep_target(struct gpumc_ensemble *ensemble, const struct gpumc_target *target,
                            uint32_t sweeps, int64_t *const *channel, struct gpumc_error *error);
/* Exchanges clusters (gpumc_kernel_ops.exchange_clusters) at the values of the moved control that
 * the last sweeps had; with->control is not read. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_ensemble_exchange_clusters(struct gpumc_ensemble *ensemble,
                                 const struct gpumc_cluster_exchange *with,
                                 struct gpumc_error *error);
/* Performs gpumc_kernel_ops.inspect for all runs of the batch; a run does so before each checkpoint
 * and before its summary, so that none ends with invalid replicas. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_ensemble_inspect(struct gpumc_ensemble *ensemble, struct gpumc_error *error);
/* Continues with other options, which may differ only in tunables (gpumc_kernel_ops): steps take
 * the values given there, and earlier proposals are forgotten. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_ensemble_set_options(struct gpumc_ensemble *ensemble,
                           const struct gpumc_kernel_options *options, struct gpumc_error *error);
/* Copies size[runs] from and to host memory; waits for everything enqueued. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_ensemble_get_sizes(const struct gpumc_ensemble *ensemble,
                                                            uint32_t *size,
                                                            struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status gpumc_ensemble_set_sizes(struct gpumc_ensemble *ensemble,
                                                            const uint32_t *size,
                                                            struct gpumc_error *error);
/* Returns the processes that divide the ensemble in any way, or a single one, alone. */
const struct gpumc_processes *gpumc_ensemble_processes(const struct gpumc_ensemble *ensemble);
/* Returns whether each process sees only its own runs: divided by runs, as plan.own_runs asks. */
bool gpumc_ensemble_has_own_runs(const struct gpumc_ensemble *ensemble);
/* Returns the runs of the batch that process `rank` sees: its own, or all. */
struct gpumc_slice gpumc_ensemble_runs_of(const struct gpumc_ensemble *ensemble, int rank);
/* Returns the sizes of all processes together if replicas are divided (columns.h), those of all
 * runs if each process has its own runs, and otherwise the same as gpumc_ensemble_get_sizes().
 * Collective. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_ensemble_whole_sizes(const struct gpumc_ensemble *ensemble,
                                                              uint32_t *size,
                                                              struct gpumc_error *error);
/* The operation `get` for data that the root writes: of several processes only the root gets the
 * replicas, and `portable` is undefined in the others. Collective if the ensemble is divided. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_ensemble_get_to_root(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                           uint8_t *portable, struct gpumc_error *error);
/* Legal on a zeroed object; leaves it zeroed. */
void gpumc_ensemble_free(struct gpumc_ensemble *ensemble);

/* Returns the host memory for replicas in transit, for runs of at most `capacity` replicas each. */
double gpumc_ensemble_checkpoint_bytes(const struct gpumc_model *model, size_t capacity);

/* Saves all runs of the batch; nothing if there is none. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_ensemble_save(struct gpumc_ensemble *ensemble,
                                                       struct gpumc_checkpoint_writer *writer,
                                                       struct gpumc_error *error);
/* Loads into an ensemble whose `runs` is already that of the checkpoint. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_ensemble_load(struct gpumc_ensemble *ensemble,
                                                       struct gpumc_checkpoint_reader *reader,
                                                       struct gpumc_error *error);

#endif
