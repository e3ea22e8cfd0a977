/* Families, sums over blocks of families, histogram and lowest energy on CUDA. */
#include <assert.h>

#include "algorithms/pa/population_rules.h"
#include "algorithms/pa/population_sums.cuh"
#include "core/device/cuda_error.h"

__global__ void __launch_bounds__(GPUMC_BLOCK_THREADS_MAXIMUM)
    found(const struct gpumc_population_work work)
{
  const struct gpumc_stretch stretch = gpumc_stretch_of_block(&work);
  struct gpumc_resampled *resampled = gpumc_resampled_of(&work, stretch.m);
  if (stretch.first == 0 && threadIdx.x == 0) {
    resampled->before = work.founders;
    resampled->size = work.founders;
  }
  for (size_t r = stretch.first + threadIdx.x; r < work.founders; r += stretch.stride)
    work.family[stretch.m * work.capacity + r] = (uint32_t)r;
}

extern "C" enum gpumc_status
gpumc_found_cuda(const struct gpumc_population_work *work, struct gpumc_error *error)
{
  uint32_t grid = work->blocks_per_run * (uint32_t)work->runs;
  found<<<grid, work->threads, 0, (cudaStream_t)work->stream>>>(*work);
  return GPUMC_CUDA_LAUNCHED("found", error);
}

/* x to the power of a sum. */
__device__ static inline gpumc_wide power_of(int64_t x, uint32_t power)
{
  gpumc_wide square = (gpumc_wide)x * x;
  switch (power) {
  case GPUMC_SUM_FIRST:
    return x;
  case GPUMC_SUM_ABSOLUTE:
    return x < 0 ? -(gpumc_wide)x : x;
  case GPUMC_SUM_SECOND:
    return square;
  case GPUMC_SUM_FOURTH:
    return square * square;
  default:
    return 1;
  }
}

/* Whether this thread is the first of those in `mask` with the same key; *count: how many there
 * are. Every thread of the mask calls it. */
__device__ static inline bool first_with_key(uint32_t mask, unsigned long long key, uint32_t *count)
{
  uint32_t same = __match_any_sync(mask, key);
  *count = (uint32_t)__popc(same);
  return (uint32_t)__ffs((int)same) - 1 == threadIdx.x % GPUMC_WARP_THREADS;
}

__device__ static inline void count_energy(const struct gpumc_tally_work *work, size_t m,
                                           uint32_t block, int64_t energy, uint32_t mask)
{
  size_t stratum = (work->first_run + m) % work->strata;
  size_t level = (size_t)((energy - work->lowest) / work->spacing);
  size_t bin = (stratum * work->population.blocks + block) * work->levels + level;
  uint32_t count;
  assert(energy >= work->lowest && level < work->levels);
  if (first_with_key(mask, bin, &count))
    gpumc_atomic_add(&work->bins[bin], count);
}

/* *into becomes the largest of it and the warp's values. Every thread of the warp calls it. */
__device__ static inline void raise_over_warp(uint64_t *into, uint64_t value)
{
  for (int distance = GPUMC_WARP_THREADS / 2; distance > 0; distance /= 2) {
    uint64_t other = __shfl_down_sync(GPUMC_WARP_ALL, value, distance);
    value = other > value ? other : value;
  }
  if (threadIdx.x % GPUMC_WARP_THREADS == 0 && value > *into)
    atomicMax((unsigned long long *)into, (unsigned long long)value);
}

/* All that needs one look at every replica. The threads of a warp go through the loop together. */
template <bool SHARED>
__global__ void __launch_bounds__(GPUMC_BLOCK_THREADS_MAXIMUM)
    tally_replicas(const struct gpumc_tally_work work)
{
  extern __shared__ uint32_t shared_sums[];
  const struct gpumc_population_work *population = &work.population;
  const struct gpumc_population_layout *layout = &population->layout;
  const struct gpumc_stretch stretch = gpumc_stretch_of_block(population);
  const size_t n = population->size[stretch.m];
  const size_t start = stretch.m * population->capacity;
  const size_t blocks = population->blocks;
  uint32_t *sums = (uint32_t *)(population->records + stretch.m * layout->stride + layout->sums);
  uint64_t depth = 0;
  if (stretch.first >= n)
    return;
  if (SHARED)
    gpumc_clear_words(shared_sums, layout->words * blocks);
  for (size_t group = stretch.first; group < n; group += stretch.stride) {
    size_t r = group + threadIdx.x;
    uint32_t mask = __ballot_sync(GPUMC_WARP_ALL, r < n);
    if (r >= n)
      continue;
    uint32_t family = population->family[start + r];
    uint32_t block = family % (uint32_t)blocks;
    int64_t energy = population->channel[0][start + r];
    uint64_t mine = (uint64_t)INT64_MAX - (uint64_t)energy;
    uint32_t count;
    depth = mine > depth ? mine : depth;
    if (first_with_key(mask, family, &count))
      atomicAdd(&work.members[start + family], count);
    if (work.bins != NULL)
      count_energy(&work, stretch.m, block, energy, mask);
    for (uint32_t s = 0; s < layout->n_sums; s++) {
      const struct gpumc_exact_sum sum = layout->sum[s];
      int64_t x = population->channel[sum.channel][start + r];
      gpumc_add_exactly((SHARED ? shared_sums : sums) + sum.first * blocks + block, blocks,
                        sum.words, power_of(x, sum.power));
    }
  }
  raise_over_warp(&gpumc_tallied_of(population, stretch.m)->depth, depth);
  __syncthreads();
  for (size_t i = threadIdx.x; SHARED && i < layout->n_sums * blocks; i += blockDim.x) {
    const struct gpumc_exact_sum sum = layout->sum[i / blocks];
    size_t at = sum.first * blocks + i % blocks;
    gpumc_add_words(sums + at, shared_sums + at, blocks, sum.words);
  }
}

/* What needs the lowest energy and the families' sizes: every thread sees to replica r and to
 * family r. */
__global__ void __launch_bounds__(GPUMC_BLOCK_THREADS_MAXIMUM)
    tally_families(const struct gpumc_tally_work work)
{
  const struct gpumc_population_work *population = &work.population;
  const struct gpumc_stretch stretch = gpumc_stretch_of_block(population);
  const size_t n = population->size[stretch.m];
  const size_t start = stretch.m * population->capacity;
  const size_t end = n > population->founders ? n : population->founders;
  struct gpumc_tallied *tallied = gpumc_tallied_of(population, stretch.m);
  const int64_t lowest = gpumc_lowest_of(tallied);
  uint64_t lowest_replicas = 0, lowest_families = 0, families = 0, square_sum = 0;
  int64_t entropy = 0;
  for (size_t group = stretch.first; group < end; group += stretch.stride) {
    size_t r = group + threadIdx.x;
    bool holds = r < n && population->channel[0][start + r] == lowest;
    uint32_t mask = __ballot_sync(GPUMC_WARP_ALL, holds);
    uint64_t members = r < population->founders ? work.members[start + r] : 0;
    if (members > 0) {
      families++;
      square_sum += members * members;
      entropy += gpumc_family_entropy(members, n);
    }
    if (!holds)
      continue;
    uint32_t family = population->family[start + r];
    uint32_t count;
    lowest_replicas++;
    if (first_with_key(mask, family, &count))
      lowest_families += atomicExch(&work.mark[start + family], 1) == 0;
  }
  gpumc_add_over_block(&tallied->lowest_replicas, lowest_replicas);
  gpumc_add_over_block(&tallied->lowest_families, lowest_families);
  gpumc_add_over_block(&tallied->families, families);
  gpumc_add_over_block(&tallied->square_sum, square_sum);
  gpumc_add_over_block((uint64_t *)&tallied->entropy, (uint64_t)entropy);
}

extern "C" enum gpumc_status
gpumc_tally_cuda(const struct gpumc_tally_work *work, struct gpumc_error *error)
{
  const struct gpumc_population_work *population = &work->population;
  cudaStream_t stream = (cudaStream_t)population->stream;
  uint32_t grid = population->blocks_per_run * (uint32_t)population->runs;
  size_t bytes = population->layout.words * population->blocks * sizeof(uint32_t);
  if (bytes <= GPUMC_SUMS_BYTES_MAXIMUM)
    tally_replicas<true><<<grid, population->threads, bytes, stream>>>(*work);
  else
    tally_replicas<false><<<grid, population->threads, 0, stream>>>(*work);
  enum gpumc_status status = GPUMC_CUDA_LAUNCHED("tally_replicas", error);
  if (status != GPUMC_OK)
    return status;
  tally_families<<<grid, population->threads, 0, stream>>>(*work);
  return GPUMC_CUDA_LAUNCHED("tally_families", error);
}
