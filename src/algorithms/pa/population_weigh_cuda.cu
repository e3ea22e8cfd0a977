/* Weights and numbers of copies on CUDA; the formulas are those of population_rules.h. */
#include "algorithms/pa/population_rules.h"
#include "algorithms/pa/population_sums.cuh"
#include "core/device/cuda_error.h"

/* The kernel's work beyond the two methods of resampling: the overlap alone. */
enum { OVERLAP_ONLY = -1 };

/* Every block of threads adds up the block weights in shared memory where these fit. */
template <bool SHARED>
__global__ void __launch_bounds__(GPUMC_BLOCK_THREADS_MAXIMUM)
    weigh(const struct gpumc_resample_work work)
{
  extern __shared__ uint32_t shared_sums[];
  const struct gpumc_population_work *population = &work.population;
  const struct gpumc_stretch stretch = gpumc_stretch_of_block(population);
  const size_t n = population->size[stretch.m];
  const size_t start = stretch.m * population->capacity;
  const size_t blocks = population->blocks;
  const int64_t reference = gpumc_lowest_of(gpumc_tallied_of(population, stretch.m));
  struct gpumc_resampled *resampled = gpumc_resampled_of(population, stretch.m);
  uint32_t *sums = (uint32_t *)((uint8_t *)resampled + population->layout.block_weight);
  if (stretch.first == 0 && threadIdx.x == 0) {
    resampled->before = n;
    resampled->reference = reference;
  }
  if (stretch.first >= n)
    return;
  if (SHARED)
    gpumc_clear_words(shared_sums, GPUMC_WEIGHT_WORDS * blocks);
  uint64_t total = 0;
  for (size_t r = stretch.first + threadIdx.x; r < n; r += stretch.stride) {
    uint64_t weight = gpumc_weight(work.request.step, population->channel[0][start + r], reference,
                                   work.weight_shift);
    uint32_t block = population->family[start + r] % (uint32_t)blocks;
    population->weight[start + r] = weight;
    total += weight;
    gpumc_add_exactly((SHARED ? shared_sums : sums) + block, blocks, GPUMC_WEIGHT_WORDS,
                      (gpumc_wide)weight);
  }
  gpumc_add_over_block(&resampled->total, total);
  for (size_t b = threadIdx.x; SHARED && b < blocks; b += blockDim.x)
    gpumc_add_words(sums + b, shared_sums + b, blocks, GPUMC_WEIGHT_WORDS);
}

extern "C" enum gpumc_status
gpumc_weigh_cuda(const struct gpumc_resample_work *work, struct gpumc_error *error)
{
  const struct gpumc_population_work *population = &work->population;
  cudaStream_t stream = (cudaStream_t)population->stream;
  uint32_t grid = population->blocks_per_run * (uint32_t)population->runs;
  size_t bytes = GPUMC_WEIGHT_WORDS * population->blocks * sizeof(uint32_t);
  if (bytes <= GPUMC_SUMS_BYTES_MAXIMUM)
    weigh<true><<<grid, population->threads, bytes, stream>>>(*work);
  else
    weigh<false><<<grid, population->threads, 0, stream>>>(*work);
  return GPUMC_CUDA_LAUNCHED("weigh", error);
}

/* Copies of replica r under systematic resampling, and its weight, from the cumulated weights. */
__device__ static inline uint64_t
systematic_copies(const struct gpumc_resample_work *work, const uint64_t *cumulated, uint64_t base,
                  size_t r, uint64_t offset, uint64_t total, uint64_t *weight)
{
  uint64_t after = cumulated[r] - base;
  uint64_t before = r > 0 ? cumulated[r - 1] - base : 0;
  *weight = after - before;
  return gpumc_points_below(after, offset, work->request.target, total) -
         gpumc_points_below(before, offset, work->request.target, total);
}

template <int METHOD>
__global__ void __launch_bounds__(GPUMC_BLOCK_THREADS_MAXIMUM)
    find_copies(const struct gpumc_resample_work work)
{
  const struct gpumc_population_work *population = &work.population;
  const struct gpumc_stretch stretch = gpumc_stretch_of_block(population);
  const size_t start = stretch.m * population->capacity;
  struct gpumc_resampled *resampled = gpumc_resampled_of(population, stretch.m);
  const uint64_t n = resampled->before;
  const uint64_t total = resampled->total;
  if (stretch.first >= n)
    return;
  const uint32_t run = work.request.first_run + (uint32_t)stretch.m;
  const struct gpumc_random random = gpumc_random_make(work.request.seed, run, work.request.rounds);
  uint64_t base = 0;
  uint64_t offset = 0;
  if (METHOD == GPUMC_RESAMPLING_SYSTEMATIC) {
    base = start > 0 ? population->weight[start - 1] : 0;
    offset = gpumc_resampling_uniform(random, 0, work.request.time, total);
  }
  uint64_t high = 0;
  uint64_t low = 0;
  uint64_t size = 0;
  for (size_t r = stretch.first + threadIdx.x; r < n; r += stretch.stride) {
    uint64_t weight = population->weight[start + r];
    uint64_t copies = 0;
    if (METHOD == GPUMC_RESAMPLING_SYSTEMATIC)
      copies =
          systematic_copies(&work, population->weight + start, base, r, offset, total, &weight);
    if (METHOD == GPUMC_RESAMPLING_NEAREST_INTEGER)
      copies = gpumc_copies_nearest_integer(random, (uint32_t)r, work.request.time, weight,
                                            work.request.target, total);
    if (METHOD != OVERLAP_ONLY)
      population->copies[start + r] = (uint32_t)copies;
    uint64_t share = gpumc_overlap_share(weight, n, total);
    high += share >> GPUMC_OVERLAP_LOW_BITS;
    low += share & (((uint64_t)1 << GPUMC_OVERLAP_LOW_BITS) - 1);
    size += copies;
  }
  gpumc_add_over_block(&resampled->overlap_high, high);
  gpumc_add_over_block(&resampled->overlap_low, low);
  if (METHOD != OVERLAP_ONLY)
    gpumc_add_over_block(&resampled->size, size);
}

template <int METHOD>
static enum gpumc_status
launch_copies(const struct gpumc_resample_work *work, struct gpumc_error *error)
{
  const struct gpumc_population_work *population = &work->population;
  uint32_t grid = population->blocks_per_run * (uint32_t)population->runs;
  find_copies<METHOD><<<grid, population->threads, 0, (cudaStream_t)population->stream>>>(*work);
  return GPUMC_CUDA_LAUNCHED("find_copies", error);
}

extern "C" enum gpumc_status
gpumc_overlap_cuda(const struct gpumc_resample_work *work, struct gpumc_error *error)
{
  return launch_copies<OVERLAP_ONLY>(work, error);
}

extern "C" enum gpumc_status
gpumc_copies_cuda(const struct gpumc_resample_work *work, struct gpumc_error *error)
{
  if (work->request.method == GPUMC_RESAMPLING_SYSTEMATIC)
    return launch_copies<GPUMC_RESAMPLING_SYSTEMATIC>(work, error);
  return launch_copies<GPUMC_RESAMPLING_NEAREST_INTEGER>(work, error);
}
