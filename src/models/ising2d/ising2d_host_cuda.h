/* Host code that the CUDA kernels of trajectory "ising2d.spin.1" share: what they tell their
 * drivers, and replicas in portable form on their way through a buffer on the device. */
#ifndef GPUMC_ISING2D_HOST_CUDA_H
#define GPUMC_ISING2D_HOST_CUDA_H

#include "models/ising2d/ising2d.h"
#include "models/ising2d/ising2d_batch_cuda.h"

struct ising2d_batch ising2d_batch_of(const struct gpumc_ensemble *ensemble);
struct ising2d_rule ising2d_rule_of(const struct gpumc_ensemble *ensemble, double beta);
/* `channel` may be NULL. */
struct ising2d_channels
ising2d_channels_of(const struct gpumc_model *model, int64_t *const *channel);

/* buffer[replicas][model->portable_bytes], device memory. */
struct ising2d_staging {
  uint8_t *buffer;
  size_t replicas;
};

/* Converts the replicas first .. first+count-1 of run m from or to the buffer. */
typedef enum gpumc_status ising2d_convert(struct gpumc_ensemble *ensemble, size_t m, size_t first,
                                          size_t count, struct gpumc_error *error);

/* Replicas that a buffer holds: 16 MiB of them, at least one, at most `capacity`. */
size_t ising2d_staging_replicas(const struct gpumc_model *model, size_t capacity);
GPUMC_MUST_CHECK enum gpumc_status ising2d_staging_create(const struct gpumc_ensemble *ensemble,
                                                          struct ising2d_staging *staging,
                                                          struct gpumc_error *error);
/* gpumc_kernel_ops.set and get, by way of `staging`. */
GPUMC_MUST_CHECK enum gpumc_status
ising2d_staging_set(struct gpumc_ensemble *ensemble, const struct ising2d_staging *staging,
                    ising2d_convert *convert, size_t m, size_t first, size_t count,
                    const uint8_t *portable, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising2d_staging_get(struct gpumc_ensemble *ensemble, const struct ising2d_staging *staging,
                    ising2d_convert *convert, size_t m, size_t first, size_t count,
                    uint8_t *portable, struct gpumc_error *error);

#endif
