/* Work for a GPU in a background thread of the host: loading the code of kernels, for which the
 * first launch of each would have to wait.
 *
 *   gpumc_gpu_beside(device, load, &what, sizeof what);    in `create` of a kernel or an algorithm
 */
#ifndef GPUMC_CORE_BESIDE_GPU_H
#define GPUMC_CORE_BESIDE_GPU_H

#include "core/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Calls work(a copy of the `bytes` bytes at `argument`) in a thread whose GPU is the device's. The
 * device waits for it when it is closed. It may not come about if memory or threads are short, and
 * reports nothing. */
void gpumc_gpu_beside(struct gpumc_device *device, void (*work)(const void *argument),
                      const void *argument, size_t bytes);
/* Waits for everything begun; legal if nothing was. */
void gpumc_gpu_beside_end(struct gpumc_device *device);

#ifdef __cplusplus
}
#endif

#endif
