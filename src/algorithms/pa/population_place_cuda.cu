/* Where the copies go, on CUDA: one scan numbers the children that need a place and the places that
 * are free; child i takes free place i. */
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "algorithms/pa/population_sums.cuh"
#include "core/device/cuda_error.h"

/* The new size, or 0 where it has no room. */
__device__ static inline size_t size_after(const struct gpumc_population_work *work, size_t m)
{
  uint64_t size = gpumc_resampled_of(work, m)->size;
  return size <= work->capacity ? size : 0;
}

/* Element m * capacity + r of the scan's input: children of r that need a place in the high word,
 * whether place r is free in the low one. Their sums over all runs stay below 2^32. */
struct demand_and_supply {
  struct gpumc_population_work work;

  __device__ uint64_t operator()(uint64_t element) const
  {
    uint32_t m = (uint32_t)element / (uint32_t)work.capacity;
    uint32_t r = (uint32_t)element % (uint32_t)work.capacity;
    size_t size = size_after(&work, m);
    if (size == 0)
      return 0;
    uint32_t copies = r < gpumc_resampled_of(&work, m)->before ? work.copies[element] : 0;
    bool place = r < size;
    uint64_t children = copies - (place && copies > 0);
    return children << 32 | (place && copies == 0);
  }
};

__device__ static inline uint32_t children_before(const uint64_t *scanned, size_t r)
{
  return (uint32_t)((scanned[r] - scanned[0]) >> 32);
}

/* The replica of which child number `child` is: the last one with no more children before it. */
__device__ static inline uint32_t parent_of_child(const uint64_t *scanned, size_t n, uint32_t child)
{
  size_t low = 0;
  size_t high = n;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (children_before(scanned, middle) <= child)
      low = middle;
    else
      high = middle;
  }
  return (uint32_t)low;
}

/* A free place has no children and the parent of another is not free, so no thread reads a family
 * that another writes. */
__global__ void __launch_bounds__(GPUMC_BLOCK_THREADS_MAXIMUM)
    find_places(const struct gpumc_population_work work)
{
  const struct gpumc_stretch stretch = gpumc_stretch_of_block(&work);
  const size_t start = stretch.m * work.capacity;
  const size_t n = gpumc_resampled_of(&work, stretch.m)->before;
  const size_t size = size_after(&work, stretch.m);
  const uint64_t *scanned = work.weight + start;
  if (stretch.first == 0 && threadIdx.x == 0)
    work.size[stretch.m] = (uint32_t)size;
  for (size_t p = stretch.first + threadIdx.x; p < size; p += stretch.stride) {
    uint32_t parent = (uint32_t)p;
    if (p >= n || work.copies[start + p] == 0) {
      parent = parent_of_child(scanned, n, (uint32_t)(scanned[p] - scanned[0]));
      work.family[start + p] = work.family[start + parent];
    }
    work.parent[start + p] = parent;
  }
}

typedef thrust::transform_iterator<struct demand_and_supply, thrust::counting_iterator<uint64_t>>
    scan_input;

static scan_input input_of(const struct gpumc_population_work *work)
{
  struct demand_and_supply demand_and_supply = {*work};
  return scan_input(thrust::counting_iterator<uint64_t>(0), demand_and_supply);
}

extern "C" enum gpumc_status
gpumc_cumulate_cuda(const struct gpumc_population_work *work, struct gpumc_error *error)
{
  size_t bytes = work->scan_bytes;
  return GPUMC_CUDA(cub::DeviceScan::InclusiveSum(
                        work->scan_memory, bytes, work->weight, work->weight,
                        (uint64_t)work->runs * work->capacity, (cudaStream_t)work->stream),
                    error);
}

extern "C" enum gpumc_status
gpumc_places_cuda(const struct gpumc_population_work *work, struct gpumc_error *error)
{
  size_t bytes = work->scan_bytes;
  cudaStream_t stream = (cudaStream_t)work->stream;
  enum gpumc_status status = GPUMC_CUDA(
      cub::DeviceScan::ExclusiveSum(work->scan_memory, bytes, input_of(work), work->weight,
                                    (uint64_t)work->runs * work->capacity, stream),
      error);
  if (status != GPUMC_OK)
    return status;
  find_places<<<work->blocks_per_run *(uint32_t)work->runs, work->threads, 0, stream>>>(*work);
  return GPUMC_CUDA_LAUNCHED("find_places", error);
}

extern "C" enum gpumc_status
gpumc_scan_bytes_cuda(size_t count, size_t *bytes, struct gpumc_error *error)
{
  struct gpumc_population_work none = {};
  uint64_t *weight = NULL;
  size_t places = 0;
  enum gpumc_status status = GPUMC_CUDA(
      cub::DeviceScan::InclusiveSum(NULL, *bytes, weight, weight, (uint64_t)count), error);
  if (status == GPUMC_OK)
    status = GPUMC_CUDA(
        cub::DeviceScan::ExclusiveSum(NULL, places, input_of(&none), weight, (uint64_t)count),
        error);
  *bytes = places > *bytes ? places : *bytes;
  return status;
}
