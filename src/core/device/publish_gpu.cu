/* Publishing a few numbers from CUDA to the host (gpumc_device_ops.publish). */
#include "core/device/cuda_error.h"
#include "core/device/sums_gpu.h"

/* Between two kernels a copy by the driver costs 10 to 14 us on an H200, most of them waiting of
 * one engine for the other; a kernel that writes to the host's memory costs 4. Above this size the
 * driver's copies are faster. */
enum { BYTES_MOST = 1 << 16, THREADS = 256 };

/* Host memory of a slot has an address of its own on the device that is the same number. */
__global__ void __launch_bounds__(THREADS)
    write_to_host(uint32_t *to, const uint32_t *from, uint32_t words, uint32_t bytes)
{
  for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < words; i += gridDim.x * THREADS)
    to[i] = from[i];
  const uint32_t rest = words * (uint32_t)sizeof *to + threadIdx.x;
  if (blockIdx.x == 0 && rest < bytes)
    ((uint8_t *)to)[rest] = ((const uint8_t *)from)[rest];
}

extern "C" enum gpumc_status gpumc_publish_gpu(struct gpumc_device *device, struct gpumc_slot *slot,
                                               const void *from, size_t bytes,
                                               struct gpumc_error *error)
{
  cudaStream_t stream = (cudaStream_t)device->stream;
  cudaEvent_t arrived = (cudaEvent_t)slot->arrived;
  if (bytes > BYTES_MOST || (uintptr_t)from % sizeof(uint32_t) != 0) {
    GPUMC_TRY(GPUMC_CUDA(cudaMemcpyAsync(slot->memory, from, bytes, cudaMemcpyDeviceToHost, stream),
                         error));
    return GPUMC_CUDA(cudaEventRecord(arrived, stream), error);
  }
  const uint32_t words = (uint32_t)(bytes / sizeof(uint32_t));
  write_to_host<<<words / THREADS + 1, THREADS, 0, stream>>>(
      (uint32_t *)slot->memory, (const uint32_t *)from, words, (uint32_t)bytes);
  GPUMC_TRY(GPUMC_CUDA_LAUNCHED("write_to_host", error));
  return GPUMC_CUDA(cudaEventRecord(arrived, stream), error);
}
