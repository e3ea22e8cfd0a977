/* Turns CUDA's status codes into errors of gpumc. */
#include "core/device/cuda_error.h"

#include <stdbool.h>
#include <string.h>

enum gpumc_status gpumc_cuda_status(cudaError_t code, const char *call, const char *file, int line,
                                    struct gpumc_error *error)
{
  if (code == cudaSuccess)
    return GPUMC_OK;
  const char *slash = strrchr(file, '/');
  bool memory = code == cudaErrorMemoryAllocation;
  /* Otherwise the next check of a launch would find it again. */
  (void)cudaGetLastError();
  return gpumc_error_set(error, memory ? GPUMC_FAILURE : GPUMC_DEVICE, "CUDA: %s (%s) at %s:%d, %s",
                         cudaGetErrorString(code), cudaGetErrorName(code),
                         slash != NULL ? slash + 1 : file, line, call);
}
