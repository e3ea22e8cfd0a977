#include "support/elementary_on_gpu.h"

#include <cuda_runtime.h>
#include <stdint.h>

#include "core/device/cuda_error.h"
#include "core/numerics/elementary_loops.h"
#include "core/numerics/random.h"

enum { THREADS = 256 };

/* Returns 1 to 2 times 2^exponent, -40 to 39, of either sign. */
static __device__ float number_of(uint32_t word, uint32_t exponent)
{
  return __uint_as_float((word & 0x807fffffu) | (127 - 40 + exponent % 80) << 23);
}

static __device__ bool differs(enum elementary_function function, uint32_t bits)
{
  const float x = __uint_as_float(bits);
  if (function == ELEMENTARY_ROOT)
    return __float_as_uint(gpumc_root_float(x)) != __float_as_uint(__fsqrt_rn(x));
  if (function == ELEMENTARY_RECIPROCAL)
    return __float_as_uint(gpumc_reciprocal_float(x)) != __float_as_uint(__frcp_rn(x));
  if (function == ELEMENTARY_WRONG)
    return __float_as_uint(x * rsqrtf(x)) != __float_as_uint(__fsqrt_rn(x));
  uint32_t word[4];
  gpumc_random_draw(gpumc_random_make(5, 0, 10), bits, 0, 0, 0, word);
  const bool zero = bits % 1024 == 0;
  const float a = zero ? 0.0f * number_of(word[0], 40) : number_of(word[0], word[2]);
  const float b = number_of(zero ? word[1] & INT32_MAX : word[1], word[3]);
  return __float_as_uint(gpumc_quotient_float(a, b)) != __float_as_uint(__fdiv_rn(a, b));
}

static __global__ void
compare(enum elementary_function function, uint32_t first, uint32_t count, uint32_t *different)
{
  const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
  if (i < count && differs(function, first + i))
    atomicAdd(different, 1);
}

enum gpumc_status elementary_on_gpu(enum elementary_function function, uint32_t first,
                                    uint32_t count, uint32_t *different, struct gpumc_error *error)
{
  uint32_t *found;
  enum gpumc_status status;
  GPUMC_TRY(GPUMC_CUDA(cudaMalloc(&found, sizeof *found), error));
  GPUMC_TRY_OUT(status, GPUMC_CUDA(cudaMemset(found, 0, sizeof *found), error));
  compare<<<(count + THREADS - 1) / THREADS, THREADS>>>(function, first, count, found);
  GPUMC_TRY_OUT(status, GPUMC_CUDA_LAUNCHED("compare", error));
  status = GPUMC_CUDA(cudaMemcpy(different, found, sizeof *found, cudaMemcpyDeviceToHost), error);
out:
  cudaFree(found);
  return status;
}
