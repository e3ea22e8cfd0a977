/* Entries of gpumc_device_ops for CUDA that have files of their own. */
#ifndef GPUMC_CORE_SUMS_GPU_H
#define GPUMC_CORE_SUMS_GPU_H

#include "core/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

GPUMC_MUST_CHECK enum gpumc_status
gpumc_tally_gpu(struct gpumc_device *device, const struct gpumc_tally *tally,
                const struct gpumc_tally_values *values, struct gpumc_error *error);
/* Returns 0 if there is no device to ask. */
size_t gpumc_scan_gpu_bytes(size_t count);
GPUMC_MUST_CHECK enum gpumc_status gpumc_scan_gpu(struct gpumc_device *device, uint64_t *value,
                                                  size_t count, bool inclusive, void *memory,
                                                  struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status gpumc_publish_gpu(struct gpumc_device *device,
                                                     struct gpumc_slot *slot, const void *from,
                                                     size_t bytes, struct gpumc_error *error);

#ifdef __cplusplus
}
#endif

#endif
