/* Exact sums by group, and prefix sums, on CUDA. */
#include <cub/device/device_scan.cuh>

#include "core/device/cuda_error.h"
#include "core/device/sums_gpu.cuh"
#include "core/device/sums_gpu.h"

/* ---- exact sums by group: every replica is looked at once ---- */

struct tally_work {
  struct gpumc_launch launch;
  struct gpumc_tally tally;
  struct gpumc_tally_values values;
};

template <bool SHARED>
__global__ void __launch_bounds__(GPUMC_BLOCK_THREADS_MAXIMUM) tally(const struct tally_work work)
{
  gpumc_tally_over_launch<SHARED>(work.launch, work.tally, work.values);
}

extern "C" enum gpumc_status
gpumc_tally_gpu(struct gpumc_device *device, const struct gpumc_tally *what,
                const struct gpumc_tally_values *values, struct gpumc_error *error)
{
  cudaStream_t stream = (cudaStream_t)device->stream;
  const size_t bytes = what->words * what->rows * sizeof(uint32_t);
  struct tally_work work;
  work.launch = gpumc_launch_make(device, values->runs, what->capacity);
  work.tally = *what;
  work.values = *values;
  if (bytes <= GPUMC_SUMS_BYTES_MAXIMUM)
    tally<true><<<gpumc_launch_blocks(&work.launch), work.launch.threads, bytes, stream>>>(work);
  else
    tally<false><<<gpumc_launch_blocks(&work.launch), work.launch.threads, 0, stream>>>(work);
  return GPUMC_CUDA_LAUNCHED("tally", error);
}

/* ---- prefix sums ---- */

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
