/* Device functions of the population kernels: which replicas a block works on, where a run's record
 * is, and sums that do not depend on the order of the threads. */
#ifndef GPUMC_CORE_POPULATION_SUMS_CUH
#define GPUMC_CORE_POPULATION_SUMS_CUH

#include "algorithms/pa/population_cuda.h"

#define GPUMC_WARP_ALL 0xffffffffu

/* Of shared memory for sums: what a block gets without asking, less the reductions' own. */
enum { GPUMC_SUMS_BYTES_MAXIMUM = 47 * 1024 };

/* Replicas first + threadIdx.x, and every `stride` after that, of run m. */
struct gpumc_stretch {
  size_t m, first, stride;
};

__device__ static inline struct gpumc_stretch
gpumc_stretch_of_block(const struct gpumc_population_work *work)
{
  struct gpumc_stretch stretch;
  stretch.m = blockIdx.x / work->blocks_per_run;
  stretch.first = (size_t)(blockIdx.x % work->blocks_per_run) * blockDim.x;
  stretch.stride = (size_t)work->blocks_per_run * blockDim.x;
  return stretch;
}

__device__ static inline struct gpumc_resampled *
gpumc_resampled_of(const struct gpumc_population_work *work, size_t m)
{
  return (struct gpumc_resampled *)(work->resampled + m * work->layout.stride);
}

__device__ static inline struct gpumc_tallied *
gpumc_tallied_of(const struct gpumc_population_work *work, size_t m)
{
  return (struct gpumc_tallied *)(work->records + m * work->layout.stride + work->layout.tallied);
}

__device__ static inline void gpumc_atomic_add(uint64_t *into, uint64_t value)
{
  atomicAdd((unsigned long long *)into, (unsigned long long)value);
}

/* The sum of the warp's values, in its first lane. Every thread of the warp calls it. */
__device__ static inline uint64_t gpumc_sum_over_warp(uint64_t value)
{
  for (int distance = GPUMC_WARP_THREADS / 2; distance > 0; distance /= 2)
    value += __shfl_down_sync(GPUMC_WARP_ALL, value, distance);
  return value;
}

/* *into += the sum of the block's values. Every thread of the block calls it. */
__device__ static inline void gpumc_add_over_block(uint64_t *into, uint64_t value)
{
  __shared__ uint64_t of_warp[GPUMC_BLOCK_THREADS_MAXIMUM / GPUMC_WARP_THREADS];
  uint32_t lane = threadIdx.x % GPUMC_WARP_THREADS;
  uint32_t warp = threadIdx.x / GPUMC_WARP_THREADS;
  value = gpumc_sum_over_warp(value);
  if (lane == 0)
    of_warp[warp] = value;
  __syncthreads();
  if (warp == 0) {
    value = gpumc_sum_over_warp(lane < blockDim.x / GPUMC_WARP_THREADS ? of_warp[lane] : 0);
    if (lane == 0 && value != 0)
      gpumc_atomic_add(into, value);
  }
  __syncthreads();
}

/* Add to a number of `words` words, `stride` apart, that other threads add to as well. Each word
 * wraps around as often as it must, and whoever makes it wrap carries one to the next; so the
 * number is right, modulo its size, when all have added. */
__device__ static inline void
gpumc_add_exactly(uint32_t *word, size_t stride, uint32_t words, gpumc_wide value)
{
  uint32_t carry = 0;
  for (uint32_t i = 0; i < words; i++) {
    uint64_t part = (uint64_t)(uint32_t)value + carry;
    uint32_t low = (uint32_t)part;
    carry = (uint32_t)(part >> 32);
    value >>= 32;
    if (low == 0)
      continue;
    uint32_t before = atomicAdd(&word[i * stride], low);
    carry += before + low < low;
  }
}

/* The same number in shared memory: add it to the one in device memory. */
__device__ static inline void
gpumc_add_words(uint32_t *into, const uint32_t *from, size_t stride, uint32_t words)
{
  gpumc_add_exactly(into, stride, words, (gpumc_wide)gpumc_words_value(from, stride, words));
}

/* The words of a block's sums in shared memory. Every thread of the block calls it. */
__device__ static inline void gpumc_clear_words(uint32_t *word, size_t count)
{
  for (size_t i = threadIdx.x; i < count; i += blockDim.x)
    word[i] = 0;
  __syncthreads();
}

#endif
