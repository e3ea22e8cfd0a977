/* CUDA's calls as ours: an error with file, call and CUDA's own text. For files named *_gpu.c and
 * for *.cu.
 *
 *   enum gpumc_status status = GPUMC_CUDA(cudaMemcpyAsync(to, from, n, kind, stream), error);
 *   kernel<<<blocks, threads, shared, stream>>>(...);
 *   status = GPUMC_CUDA_LAUNCHED("kernel", error);
 */
#ifndef GPUMC_CORE_CUDA_ERROR_H
#define GPUMC_CORE_CUDA_ERROR_H

#include <cuda_runtime_api.h>

#include "core/base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns GPUMC_OK, or an error: GPUMC_FAILURE if memory is short, otherwise GPUMC_DEVICE. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_cuda_status(cudaError_t code, const char *call,
                                                     const char *file, int line,
                                                     struct gpumc_error *error);

#ifdef __cplusplus
}
#endif

#define GPUMC_CUDA(call, error) gpumc_cuda_status((call), #call, __FILE__, __LINE__, (error))
#define GPUMC_CUDA_LAUNCHED(kernel, error)                                                         \
  gpumc_cuda_status(cudaGetLastError(), "launch of " kernel, __FILE__, __LINE__, (error))

#endif
