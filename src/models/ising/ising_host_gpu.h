/* Host code that the CUDA kernels share: arguments of their drivers, and the operations that are
 * the same for all. */
#ifndef GPUMC_ISING_HOST_GPU_H
#define GPUMC_ISING_HOST_GPU_H

#include "models/ising/ising.h"
#include "models/ising/ising_channels.h"

/* `channel` may be NULL. */
struct ising_channels ising_channels_of(const struct gpumc_model *model, int64_t *const *channel);

/* Returns whether all runs have the temperature and the field of the first. */
bool ising_one_temperature(const struct gpumc_ensemble *ensemble, const double *control);
/* Of which controls and move the rules on the device are: known[plan.runs][ISING_CONTROLS], then
 * the number of the move; at first of none, which is equal to no other. `refresh` forgets the
 * controls unless the move is the plan's. */
size_t ising_known_bytes(const struct gpumc_ensemble_plan *plan);
void ising_known_forget(const struct gpumc_ensemble_plan *plan, double *known);
void ising_known_refresh(const struct gpumc_ensemble_plan *plan, double *known);
/* Copies the tables of the smallest waves to device memory, cosine[length] and sine[length]. sum:
 * of the cosines and of the sines, NULL if not wanted. */
GPUMC_MUST_CHECK enum gpumc_status ising_bring_waves(const struct gpumc_ensemble *ensemble,
                                                     int32_t *cosine, int32_t *sine, int64_t sum[2],
                                                     struct gpumc_error *error);

/* gpumc_kernel_ops.measure: a call of `sweep` without sweeps. */
GPUMC_MUST_CHECK enum gpumc_status ising_host_measure(struct gpumc_ensemble *ensemble,
                                                      int64_t *const *channel,
                                                      struct gpumc_error *error);

#endif
