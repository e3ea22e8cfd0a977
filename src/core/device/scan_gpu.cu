/* Prefix sums on CUDA. */
#include <cub/device/device_scan.cuh>

#include "core/device/cuda_error.h"
#include "core/device/sums_gpu.h"

extern "C" size_t gpumc_scan_gpu_bytes(size_t count)
{
  uint64_t *value = NULL;
  size_t inclusive = 0, exclusive = 0;
  cudaError_t code = cub::DeviceScan::InclusiveSum(NULL, inclusive, value, value, (uint64_t)count);
  if (code == cudaSuccess)
    code = cub::DeviceScan::ExclusiveSum(NULL, exclusive, value, value, (uint64_t)count);
  if (code != cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  return inclusive > exclusive ? inclusive : exclusive;
}

extern "C" enum gpumc_status gpumc_scan_gpu(struct gpumc_device *device, uint64_t *value,
                                            size_t count, bool inclusive, void *memory,
                                            struct gpumc_error *error)
{
  size_t bytes = gpumc_scan_gpu_bytes(count);
  cudaStream_t stream = (cudaStream_t)device->stream;
  return inclusive ? GPUMC_CUDA(cub::DeviceScan::InclusiveSum(memory, bytes, value, value,
                                                              (uint64_t)count, stream),
                                error)
                   : GPUMC_CUDA(cub::DeviceScan::ExclusiveSum(memory, bytes, value, value,
                                                              (uint64_t)count, stream),
                                error);
}
