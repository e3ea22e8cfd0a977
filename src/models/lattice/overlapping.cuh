/* Consecutive launches in a stream that overlap (programmatic dependent launch): blocks of the next
 * one start on the multiprocessors once every block of this one has permitted it, or has ended, and
 * wait there until everything that this one wrote can be read. */
#ifndef GPUMC_LATTICE_OVERLAPPING_CUH
#define GPUMC_LATTICE_OVERLAPPING_CUH

#include <cuda_runtime.h>

#include "core/device/cuda_error.h"

enum { LATTICE_OVERLAPPING_VERSION = 90 }; /* of code that lets the next launch begin, and waits */

static __device__ inline void lattice_let_next_begin(void)
{
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* Call before reading anything that the previous launch may write, and before writing anything. */
static __device__ inline void lattice_wait_for_before(void)
{
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/* Finds whether a kernel was compiled to wait: only then may its launches overlap. */
template <class KERNEL>
static enum gpumc_status
lattice_may_overlap(KERNEL kernel, bool *may_overlap, struct gpumc_error *error)
{
  struct cudaFuncAttributes compiled;
  GPUMC_TRY(GPUMC_CUDA(cudaFuncGetAttributes(&compiled, kernel), error));
  *may_overlap = compiled.ptxVersion >= LATTICE_OVERLAPPING_VERSION;
  return GPUMC_OK;
}

/* `overlaps`: whether it may begin before the previous launch has ended. That must be a kernel that
 * waits, too, or nothing that is still running when this one begins. */
struct lattice_launch {
  dim3 grid;
  uint32_t threads;
  size_t shared_bytes;
  void *stream; /* cudaStream_t */
  bool overlaps;
};

template <class... TAKEN, class... GIVEN>
static enum gpumc_status
lattice_launch(void (*kernel)(TAKEN...), const struct lattice_launch &launch,
               struct gpumc_error *error, GIVEN... given)
{
  cudaLaunchAttribute overlaps = {};
  overlaps.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlaps.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = launch.grid;
  config.blockDim = dim3(launch.threads);
  config.dynamicSmemBytes = launch.shared_bytes;
  config.stream = (cudaStream_t)launch.stream;
  config.attrs = &overlaps;
  config.numAttrs = launch.overlaps ? 1 : 0;
  return GPUMC_CUDA(cudaLaunchKernelEx(&config, kernel, given...), error);
}

#endif
