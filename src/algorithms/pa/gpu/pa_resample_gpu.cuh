/* Steps of the resampling of a population on CUDA: what the threads of a launch do, for launches of
 * one step and for those of all steps (pa_gpu.cu). A block of threads works on replicas of one run
 * (core/device/sums_gpu.cuh); all sums are of integers, so the order of the threads does not
 * matter. */
#ifndef GPUMC_ALGORITHMS_PA_RESAMPLE_GPU_CUH
#define GPUMC_ALGORITHMS_PA_RESAMPLE_GPU_CUH

#include "algorithms/pa/pa_device.h"
#include "core/device/sums_gpu.cuh"

/* ---- weights and copies ---- */

/* Where the weights of blocks are added up. */
enum weights_place { PA_WEIGHTS_NOWHERE, PA_WEIGHTS_SHARED, PA_WEIGHTS_GLOBAL };

template <enum weights_place PLACE>
__device__ static inline void
weigh_replicas(const struct gpumc_launch &grid, const struct pa_resample_work &work)
{
  extern __shared__ uint32_t shared_sums[];
  const struct pa_work *population = &work.population;
  const struct gpumc_stretch stretch = gpumc_stretch_of_block(&grid);
  const size_t n = population->size[stretch.m];
  const size_t start = stretch.m * population->capacity;
  const int64_t reference = pa_reference_of(population, &population->reached[stretch.m]);
  struct pa_weighed *weighed = &population->weighed[pa_own_row(population, stretch.m)];
  if (stretch.first == 0 && threadIdx.x == 0) {
    weighed->own = n;
    population->reference[stretch.m] = reference;
  }
  if (stretch.first >= n)
    return;
  const struct gpumc_tally *tally = &work.tally;
  const size_t rows = tally->rows;
  uint32_t *sums = (uint32_t *)((uint8_t *)work.block_weights + stretch.m * tally->stride);
  if (PLACE == PA_WEIGHTS_SHARED)
    gpumc_clear_over_block(shared_sums, tally->words * rows);
  uint64_t total = 0;
  for (size_t r = stretch.first + threadIdx.x; r < n; r += stretch.stride) {
    uint64_t weight = pa_weight(work.request.step, population->conjugate[start + r], reference,
                                work.weight_shift);
    population->weight[start + r] = weight;
    total += weight;
    if (PLACE != PA_WEIGHTS_NOWHERE)
      gpumc_add_exactly((PLACE == PA_WEIGHTS_SHARED ? shared_sums : sums) +
                            population->family[start + r] % (uint32_t)rows,
                        rows, tally->words, (gpumc_wide)weight);
  }
  gpumc_add_over_block(&weighed->total, total);
  if (PLACE == PA_WEIGHTS_SHARED)
    gpumc_add_tally_of_block(tally, sums, shared_sums);
}

/* Returns the copies of replica r under systematic resampling, and its weight, from the cumulated
 * weights. The run's begin after `base`; `below`: those of the run that other processes have before
 * them. */
__device__ static inline uint64_t
systematic_copies(const struct pa_resample_work *work, const uint64_t *cumulated, uint64_t base,
                  uint64_t below, size_t r, uint64_t offset, uint64_t total, uint64_t *weight)
{
  uint64_t after = cumulated[r] - base + below;
  uint64_t before = r > 0 ? cumulated[r - 1] - base + below : below;
  *weight = after - before;
  return pa_points_below(after, offset, work->request.target, total) -
         pa_points_below(before, offset, work->request.target, total);
}

template <int METHOD>
__device__ static inline void
find_copies(const struct gpumc_launch &grid, const struct pa_resample_work &work)
{
  const struct pa_work *population = &work.population;
  const struct gpumc_stretch stretch = gpumc_stretch_of_block(&grid);
  const size_t start = stretch.m * population->capacity, row = pa_own_row(population, stretch.m);
  const size_t own = population->weighed[row].own;
  if (stretch.first >= own)
    return;
  const struct pa_weights weights = pa_weights_of(population, stretch.m);
  const uint64_t n = weights.before, total = weights.total;
  const uint32_t run = work.request.first_run + (uint32_t)stretch.m;
  const struct gpumc_random random = gpumc_random_make(work.request.seed, run, work.request.rounds);
  uint64_t base = 0;
  uint64_t offset = 0;
  if (METHOD == PA_RESAMPLING_SYSTEMATIC) {
    base = start > 0 ? population->weight[start - 1] : 0;
    offset = pa_resampling_uniform(random, 0, work.request.time, total);
  }
  struct pa_copied copied = {0, 0, 0, 0};
  for (size_t r = stretch.first + threadIdx.x; r < own; r += stretch.stride) {
    uint64_t weight = population->weight[start + r];
    uint64_t copies = 0;
    if (METHOD == PA_RESAMPLING_SYSTEMATIC)
      copies = systematic_copies(&work, population->weight + start, base, weights.below, r, offset,
                                 total, &weight);
    if (METHOD == PA_RESAMPLING_NEAREST_INTEGER)
      copies = pa_copies_nearest_integer(random, work.request.first_replica + (uint32_t)r,
                                         work.request.time, weight, work.request.target, total);
    if (METHOD != PA_OVERLAP_ONLY)
      population->copies[start + r] = (uint32_t)copies;
    pa_add_share(&copied, weight, n, total);
    copied.size += copies;
    copied.living += copies > 0;
  }
  gpumc_add_over_block(&population->copied[row].high, copied.high);
  gpumc_add_over_block(&population->copied[row].low, copied.low);
  if (METHOD != PA_OVERLAP_ONLY)
    gpumc_add_over_block(&population->copied[row].size, copied.size);
  if (METHOD != PA_OVERLAP_ONLY && population->divided)
    gpumc_add_over_block(&population->copied[row].living, copied.living);
}

/* ---- places (pa_places.h) ---- */

/* Sums of children and of places over all runs stay below 2^32. */
template <bool DIVIDED>
__device__ static inline void
demand_and_supply(const struct gpumc_launch &grid, const struct pa_work &work)
{
  const struct gpumc_stretch stretch = gpumc_stretch_of_block(&grid);
  const size_t start = stretch.m * work.capacity;
  const size_t n = work.weighed[pa_own_row(&work, stretch.m)].own;
  const uint64_t whole_size = pa_copied_of(&work, stretch.m).size;
  const size_t size = pa_size_after(&work, whole_size);
  const bool any = whole_size <= work.whole;
  uint64_t children = 0, places = 0;
  for (size_t r = stretch.first + threadIdx.x; r < work.capacity; r += stretch.stride) {
    const uint64_t both = pa_demand_and_supply(any && r < n ? work.copies[start + r] : 0, r < size);
    work.weight[start + r] = both;
    children += both >> 32;
    places += (uint32_t)both;
  }
  if (DIVIDED) {
    gpumc_add_over_block(&work.need[stretch.m].children, children);
    gpumc_add_over_block(&work.need[stretch.m].places, places);
  }
}

/* The same in a launch of all steps of an undivided population: every block adds up the demand and
 * supply of consecutive replicas of its run, and then of those before each of them. The sums of the
 * blocks are where parents will be: copies by those of the step before have been made, since a
 * sweep is at least one call, even of no sweeps. */
struct scanned_part {
  size_t m, first, end; /* run, replicas */
  uint64_t *sums;       /* [blocks of the run] */
};

__device__ static inline struct scanned_part
scanned_part_of(const struct gpumc_launch &grid, const struct pa_work &work)
{
  const size_t m = blockIdx.x / grid.blocks_per_run, block = blockIdx.x % grid.blocks_per_run;
  const size_t length = (work.capacity + grid.blocks_per_run - 1) / grid.blocks_per_run;
  const size_t first = block * length, end = first + length;
  return {m, first < work.capacity ? first : work.capacity,
          end < work.capacity ? end : work.capacity,
          (uint64_t *)work.parent + m * grid.blocks_per_run};
}

__device__ static inline uint64_t
demand_of(const struct pa_work &work, const struct scanned_part &part, uint64_t size, size_t r)
{
  if (r >= part.end)
    return 0;
  const bool any = size <= work.whole && r < work.weighed[part.m].own;
  return pa_demand_and_supply(any ? work.copies[part.m * work.capacity + r] : 0,
                              r < pa_size_after(&work, size));
}

__device__ static inline void
add_demand(const struct gpumc_launch &grid, const struct pa_work &work)
{
  const struct scanned_part part = scanned_part_of(grid, work);
  const uint64_t size = pa_copied_of(&work, part.m).size;
  uint64_t sum = 0;
  for (size_t r = part.first + threadIdx.x; r < part.end; r += blockDim.x)
    sum += demand_of(work, part, size, r);
  uint64_t all;
  (void)gpumc_scan_over_block(sum, &all);
  if (threadIdx.x == 0)
    part.sums[blockIdx.x % grid.blocks_per_run] = all;
}

__device__ static inline void
scan_demand(const struct gpumc_launch &grid, const struct pa_work &work)
{
  const struct scanned_part part = scanned_part_of(grid, work);
  const uint64_t size = pa_copied_of(&work, part.m).size;
  uint64_t mine = 0, before;
  for (size_t b = threadIdx.x; b < blockIdx.x % grid.blocks_per_run; b += blockDim.x)
    mine += part.sums[b];
  (void)gpumc_scan_over_block(mine, &before);
  for (size_t group = part.first; group < part.end; group += blockDim.x) {
    const size_t r = group + threadIdx.x;
    const uint64_t own = demand_of(work, part, size, r);
    uint64_t all;
    const uint64_t with_own = gpumc_scan_over_block(own, &all);
    if (r < part.end)
      work.weight[part.m * work.capacity + r] = before + with_own - own;
    before += all;
  }
}

/* A free place has no children and the parent of another is not free, so no thread reads a family
 * that another writes. */
__device__ static inline void
find_places(const struct gpumc_launch &grid, const struct pa_work &work)
{
  const struct gpumc_stretch stretch = gpumc_stretch_of_block(&grid);
  const size_t start = stretch.m * work.capacity;
  const size_t n = work.weighed[pa_own_row(&work, stretch.m)].own;
  const uint64_t whole_size = pa_copied_of(&work, stretch.m).size;
  const size_t size = pa_size_after(&work, whole_size);
  const uint64_t *scanned = work.weight + start;
  const int64_t shift = work.divided ? pa_shift_of(&work, stretch.m, whole_size) : 0;
  if (stretch.first == 0 && threadIdx.x == 0)
    work.size[stretch.m] = (uint32_t)size;
  for (size_t p = stretch.first + threadIdx.x; p < size; p += stretch.stride) {
    uint32_t parent = (uint32_t)p;
    if (p >= n || work.copies[start + p] == 0) {
      const int64_t child = (int64_t)pa_places_before(scanned, p) + shift;
      if (!work.divided || (child >= 0 && child < (int64_t)work.need[stretch.m].children)) {
        parent = pa_parent_of_child(scanned, n, (uint32_t)child);
        work.family[start + p] = work.family[start + parent];
      }
    }
    work.parent[start + p] = parent;
  }
}

#endif
