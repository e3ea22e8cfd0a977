/* For kernels over the replicas of the runs of a batch: the replicas that a block of threads works
 * on, and sums that do not depend on the order of the threads.
 *
 *   const struct gpumc_launch launch = gpumc_launch_make(device, runs, capacity);
 *   kernel<<<gpumc_launch_blocks(&launch), launch.threads, 0, stream>>>(launch, ..);
 */
#ifndef GPUMC_CORE_SUMS_GPU_CUH
#define GPUMC_CORE_SUMS_GPU_CUH

#include "core/device/device.h"
#include "core/device/tally.h"

#define GPUMC_WARP_ALL 0xffffffffu

enum {
  GPUMC_WARP_THREADS = 32,
  GPUMC_BLOCK_THREADS_MAXIMUM = 1024,
  GPUMC_LAUNCH_THREADS = 512,    /* per block, unless the device says otherwise */
  GPUMC_RESIDENT_THREADS = 2048, /* per multiprocessor; more would only add to the work of
                                  * summing */
  /* Shared memory for sums: what a block gets without asking, less what the reductions use. */
  GPUMC_SUMS_BYTES_MAXIMUM = 47 * 1024
};

/* As many blocks of threads for each run as are useful. */
struct gpumc_launch {
  size_t runs;
  uint32_t threads, blocks_per_run;
};

static inline struct gpumc_launch
gpumc_launch_make(const struct gpumc_device *device, size_t runs, size_t capacity)
{
  size_t threads = device->block_threads > 0 ? device->block_threads : GPUMC_LAUNCH_THREADS;
  threads = threads < capacity ? threads : capacity;
  threads = (threads + GPUMC_WARP_THREADS - 1) / GPUMC_WARP_THREADS * GPUMC_WARP_THREADS;
  threads = threads < GPUMC_BLOCK_THREADS_MAXIMUM ? threads : GPUMC_BLOCK_THREADS_MAXIMUM;
  const size_t blocks = (capacity + threads - 1) / threads;
  size_t useful =
      (size_t)device->multiprocessors * GPUMC_RESIDENT_THREADS / threads / (runs > 0 ? runs : 1);
  useful = useful > 0 ? useful : 1;
  struct gpumc_launch launch;
  launch.runs = runs;
  launch.threads = (uint32_t)threads;
  launch.blocks_per_run = (uint32_t)(blocks < useful ? blocks : useful);
  return launch;
}

static inline uint32_t gpumc_launch_blocks(const struct gpumc_launch *launch)
{
  return launch->blocks_per_run * (uint32_t)launch->runs;
}

/* Replicas first + threadIdx.x, and every `stride` after that, of run m. */
struct gpumc_stretch {
  size_t m, first, stride;
};

__device__ static inline struct gpumc_stretch
gpumc_stretch_of_block(const struct gpumc_launch *launch)
{
  struct gpumc_stretch stretch;
  stretch.m = blockIdx.x / launch->blocks_per_run;
  stretch.first = (size_t)(blockIdx.x % launch->blocks_per_run) * blockDim.x;
  stretch.stride = (size_t)launch->blocks_per_run * blockDim.x;
  return stretch;
}

__device__ static inline void gpumc_atomic_add(uint64_t *into, uint64_t value)
{
  atomicAdd((unsigned long long *)into, (unsigned long long)value);
}

/* Returns the sum of a thread's value and those of the lanes before it. Every thread of the warp
 * calls it. */
__device__ static inline uint64_t gpumc_scan_over_warp(uint64_t value)
{
  for (int distance = 1; distance < GPUMC_WARP_THREADS; distance *= 2) {
    const uint64_t before = __shfl_up_sync(GPUMC_WARP_ALL, value, distance);
    value += (int)(threadIdx.x % GPUMC_WARP_THREADS) >= distance ? before : 0;
  }
  return value;
}

/* Returns the sum of the warp's values, in its first lane. Every thread of the warp calls it. */
__device__ static inline uint64_t gpumc_sum_over_warp(uint64_t value)
{
  for (int distance = GPUMC_WARP_THREADS / 2; distance > 0; distance /= 2)
    value += __shfl_down_sync(GPUMC_WARP_ALL, value, distance);
  return value;
}

/* Returns the sum of a thread's value and those of the threads before it in the block, and that of
 * all of them. Every thread of the block calls it. */
__device__ static inline uint64_t gpumc_scan_over_block(uint64_t value, uint64_t *all)
{
  __shared__ uint64_t of_warp[GPUMC_BLOCK_THREADS_MAXIMUM / GPUMC_WARP_THREADS];
  const uint32_t lane = threadIdx.x % GPUMC_WARP_THREADS, warp = threadIdx.x / GPUMC_WARP_THREADS;
  value = gpumc_scan_over_warp(value);
  if (lane == GPUMC_WARP_THREADS - 1)
    of_warp[warp] = value;
  __syncthreads();
  const uint32_t warps = blockDim.x / GPUMC_WARP_THREADS;
  const uint64_t warps_to = gpumc_scan_over_warp(lane < warps ? of_warp[lane] : 0);
  *all = __shfl_sync(GPUMC_WARP_ALL, warps_to, GPUMC_WARP_THREADS - 1);
  const uint64_t before = __shfl_sync(GPUMC_WARP_ALL, warps_to, warp > 0 ? (int)warp - 1 : 0);
  __syncthreads();
  return warp > 0 ? before + value : value;
}

/* Adds the sum of the block's values to *into. Every thread of the block calls it. */
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

/* ---- exact sums by group within a block of threads (core/device/tally.h), in shared memory where
 * they fit into GPUMC_SUMS_BYTES_MAXIMUM ---- */

/* Adds to a number of `words` words, `stride` apart, that other threads add to as well. Each word
 * wraps around as often as necessary, and the thread that makes it wrap carries one to the next; so
 * the number is right, modulo its size, once all have added. */
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

/* Clears the words. Every thread of the block calls it. */
__device__ static inline void gpumc_clear_over_block(uint32_t *word, size_t count)
{
  for (size_t i = threadIdx.x; i < count; i += blockDim.x)
    word[i] = 0;
  __syncthreads();
}

/* Adds the sums of a block to those of the run. Every thread of the block calls it. */
__device__ static inline void
gpumc_add_tally_of_block(const struct gpumc_tally *tally, uint32_t *sums, const uint32_t *of_block)
{
  const size_t rows = tally->rows;
  __syncthreads();
  for (size_t i = threadIdx.x; i < tally->n_sums * rows; i += blockDim.x) {
    const struct gpumc_exact_sum sum = tally->sum[i / rows];
    const size_t at = sum.first * rows + i % rows;
    gpumc_add_exactly(sums + at, rows, sum.words,
                      (gpumc_wide)gpumc_words_value(of_block + at, rows, sum.words));
  }
}

/* Adds the values of all replicas, each of which is looked at once (gpumc_device_ops.tally). With
 * SHARED a block adds in shared memory, with tally.words * tally.rows words of it. */
template <bool SHARED>
__device__ static inline void
gpumc_tally_over_launch(const struct gpumc_launch &launch, const struct gpumc_tally &what,
                        const struct gpumc_tally_values &values)
{
  extern __shared__ uint32_t shared_sums[];
  const struct gpumc_stretch stretch = gpumc_stretch_of_block(&launch);
  const size_t n = values.size[stretch.m];
  const size_t start = stretch.m * what.capacity;
  const size_t rows = what.rows;
  uint32_t *sums = (uint32_t *)((uint8_t *)values.sums + stretch.m * what.stride);
  if (stretch.first >= n)
    return;
  if (SHARED)
    gpumc_clear_over_block(shared_sums, what.words * rows);
  for (size_t r = stretch.first + threadIdx.x; r < n; r += stretch.stride) {
    uint32_t row = values.label[start + r] % (uint32_t)rows;
    for (uint32_t s = 0; s < what.n_sums; s++) {
      const struct gpumc_exact_sum sum = what.sum[s];
      int64_t x = values.channel[sum.channel][start + r];
      gpumc_add_exactly((SHARED ? shared_sums : sums) + sum.first * rows + row, rows, sum.words,
                        gpumc_exact_power(x, sum.power));
    }
  }
  if (SHARED)
    gpumc_add_tally_of_block(&what, sums, shared_sums);
}

#endif
