/* Launches that begin before the one ahead in the stream has ended (programmatic dependent launch):
 * blocks of the next one start on the multiprocessors once every block of this one has permitted
 * it, or has ended, and wait there until everything that this one wrote can be read.
 *
 *   __global__ void step(const struct work work)
 *   {
 *     gpumc_let_next_begin();
 *     ..      reads nothing that a kernel ahead may write, in this row of early launches
 *     gpumc_wait_for_before();
 *     ..
 *   }
 *
 *   GPUMC_TRY(gpumc_may_begin_early(step, &launch.early, error));
 *   GPUMC_TRY(gpumc_launch_early(step, launch, error, work));
 *
 * All threads wait, even those without work: then a launch ends after all before it. */
#ifndef GPUMC_CORE_EARLY_CUH
#define GPUMC_CORE_EARLY_CUH

#include <cuda_runtime.h>
#include <stdint.h>

#include "core/device/cuda_error.h"

enum { GPUMC_EARLY_VERSION = 90 }; /* of code that lets the next launch begin, and waits */

static __device__ inline void gpumc_let_next_begin(void)
{
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* Call before reading anything that the previous launch may write, and before writing anything. */
static __device__ inline void gpumc_wait_for_before(void)
{
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/* Finds whether a kernel was compiled to wait: only then may its launches be early. */
template <class KERNEL>
static enum gpumc_status
gpumc_may_begin_early(KERNEL kernel, bool *may_begin_early, struct gpumc_error *error)
{
  struct cudaFuncAttributes compiled;
  GPUMC_TRY(GPUMC_CUDA(cudaFuncGetAttributes(&compiled, kernel), error));
  *may_begin_early = compiled.ptxVersion >= GPUMC_EARLY_VERSION;
  return GPUMC_OK;
}

/* `early`: whether it may begin before the previous launch has ended. That must be one that
 * waits, too, or was launched as usual: after everything before it. */
struct gpumc_early_launch {
  dim3 grid;
  uint32_t threads;
  size_t shared_bytes;
  void *stream; /* cudaStream_t */
  bool early;
};

template <class... TAKEN, class... GIVEN>
static enum gpumc_status
gpumc_launch_early(void (*kernel)(TAKEN...), const struct gpumc_early_launch &launch,
                   struct gpumc_error *error, GIVEN... given)
{
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = launch.grid;
  config.blockDim = dim3(launch.threads);
  config.dynamicSmemBytes = launch.shared_bytes;
  config.stream = (cudaStream_t)launch.stream;
  config.attrs = &attribute;
  config.numAttrs = launch.early ? 1 : 0;
  return GPUMC_CUDA(cudaLaunchKernelEx(&config, kernel, given...), error);
}

#endif
