/* Host code that the CUDA kernels share: what they tell their drivers, and the operations that are
 * the same for all. */
#ifndef GPUMC_ISING2D_HOST_CUDA_H
#define GPUMC_ISING2D_HOST_CUDA_H

#include "models/ising2d/ising2d.h"
#include "models/ising2d/ising2d_batch_cuda.h"
#include "models/ising2d/ising2d_rule_cuda.h"

struct ising2d_batch ising2d_batch_of(const struct gpumc_ensemble *ensemble);
struct ising2d_rule ising2d_rule_of(const struct gpumc_ensemble *ensemble, double beta);
/* `channel` may be NULL. */
struct ising2d_channels
ising2d_channels_of(const struct gpumc_model *model, int64_t *const *channel);

/* gpumc_kernel_ops.measure: a call of `sweep` without sweeps. */
GPUMC_MUST_CHECK enum gpumc_status ising2d_host_measure(struct gpumc_ensemble *ensemble,
                                                        int64_t *const *channel,
                                                        struct gpumc_error *error);

#endif
