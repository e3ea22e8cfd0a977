/* Steps of the tally of a population on CUDA, as in pa_resample_gpu.cuh: families, lowest energies,
 * histogram. */
#ifndef GPUMC_ALGORITHMS_PA_SURVEY_GPU_CUH
#define GPUMC_ALGORITHMS_PA_SURVEY_GPU_CUH

#include "algorithms/pa/pa_device.h"
#include "core/device/sums_gpu.cuh"

/* Returns whether this thread is the first of those in `mask` with the same key; *count: how many
 * there are. Every thread of the mask calls it. */
__device__ static inline bool first_with_key(uint32_t mask, unsigned long long key, uint32_t *count)
{
  uint32_t same = __match_any_sync(mask, key);
  *count = (uint32_t)__popc(same);
  return (uint32_t)__ffs((int)same) - 1 == threadIdx.x % GPUMC_WARP_THREADS;
}

/* Raises *into to the largest of it and the warp's values. Every thread of the warp calls it. */
__device__ static inline void raise_over_warp(uint64_t *into, uint64_t value)
{
  for (int distance = GPUMC_WARP_THREADS / 2; distance > 0; distance /= 2) {
    uint64_t other = __shfl_down_sync(GPUMC_WARP_ALL, value, distance);
    value = other > value ? other : value;
  }
  if (threadIdx.x % GPUMC_WARP_THREADS == 0 && value > *into)
    atomicMax((unsigned long long *)into, (unsigned long long)value);
}

/* Performs everything that needs to visit every replica once. The threads of a warp go through the
 * loop together. */
__device__ static inline void
survey_replicas(const struct gpumc_launch &grid, const struct pa_survey_work &work)
{
  const struct pa_work *population = &work.population;
  const struct gpumc_stretch stretch = gpumc_stretch_of_block(&grid);
  const size_t n = population->size[stretch.m];
  const size_t start = stretch.m * population->capacity;
  const size_t families = pa_own_families(population);
  const bool apart = pa_is_apart(population);
  uint64_t depth = 0, extent = 0;
  if (stretch.first >= n)
    return;
  for (size_t group = stretch.first; group < n; group += stretch.stride) {
    size_t r = group + threadIdx.x;
    uint32_t mask = __ballot_sync(GPUMC_WARP_ALL, r < n);
    if (r >= n)
      continue;
    uint32_t family = population->family[start + r];
    int64_t value = population->tracked[start + r];
    uint64_t mine = pa_reach(value, false);
    uint32_t count;
    depth = mine > depth ? mine : depth;
    if (apart) {
      mine = pa_reach(population->conjugate[start + r], population->falls);
      extent = mine > extent ? mine : extent;
    }
    const size_t number = family - population->first; /* of an earlier process: a large number */
    if (first_with_key(mask, family, &count) && number < families)
      atomicAdd(&work.members[start + number], count);
    if (work.bins == NULL)
      continue;
    const size_t bin = pa_bin_of(&work, work.first_run + stretch.m, family, value);
    if (first_with_key(mask, bin, &count))
      gpumc_atomic_add(&work.bins[bin], count);
  }
  raise_over_warp(&population->reached[stretch.m].depth, depth);
  if (apart)
    raise_over_warp(&population->reached[stretch.m].extent, extent);
}

/* Returns whether the family had no mark before. */
template <bool DIVIDED>
__device__ static inline bool mark_family(const struct pa_survey_work *work, size_t at)
{
  const uint32_t mark = (uint32_t)1 << PA_MEMBERS_MARK;
  return DIVIDED ? (atomicOr(&work->members[at], mark) & mark) == 0
                 : atomicExch(&work->mark[at], 1) == 0;
}

/* The threads of `mask`, which all call it, list one replica each. */
__device__ static inline void
list_stranger(const struct pa_work *population, uint32_t mask, const struct pa_stranger *stranger)
{
  const uint32_t lane = threadIdx.x % GPUMC_WARP_THREADS;
  const int leader = __ffs((int)mask) - 1;
  uint64_t first = 0;
  if ((int)lane == leader)
    first =
        atomicAdd((unsigned long long *)population->n_strangers, (unsigned long long)__popc(mask));
  first = __shfl_sync(mask, first, leader);
  population->stranger[first + __popc(mask & ((1u << lane) - 1))] = *stranger;
}

/* Performs what needs the lowest value and the families' sizes: every thread handles replica r and,
 * if it is owned, family r. */
template <bool DIVIDED>
__device__ static inline void
survey_families(const struct gpumc_launch &grid, const struct pa_survey_work &work)
{
  const struct pa_work *population = &work.population;
  const struct gpumc_stretch stretch = gpumc_stretch_of_block(&grid);
  const size_t n = population->size[stretch.m];
  const size_t start = stretch.m * population->capacity;
  const size_t families = pa_own_families(population);
  const size_t end = n > families ? n : families;
  const uint64_t whole = DIVIDED ? pa_copied_of(population, stretch.m).size : n;
  const uint32_t members_mask = DIVIDED ? ((uint32_t)1 << PA_MEMBERS_MARK) - 1 : UINT32_MAX;
  struct pa_tallied *tallied = &population->tallied[stretch.m];
  const int64_t lowest = pa_lowest_of(&population->reached[stretch.m]);
  struct pa_tallied mine = {0, 0, 0, 0, 0};
  if (DIVIDED && whole == 0)
    return;
  for (size_t group = stretch.first; group < end; group += stretch.stride) {
    size_t r = group + threadIdx.x;
    bool holds = r < n && population->tracked[start + r] == lowest;
    if (r < families)
      pa_add_family(&mine, work.members[start + r] & members_mask, whole);
    const uint32_t family = r < n ? population->family[start + r] : 0;
    const size_t number = family - population->first;
    if (DIVIDED) {
      const bool strange = r < n && number >= families;
      const uint32_t mask = __ballot_sync(GPUMC_WARP_ALL, strange);
      const struct pa_stranger stranger = {family, (uint32_t)stretch.m << 1 | holds};
      if (strange)
        list_stranger(population, mask, &stranger);
      mine.lowest_replicas += holds;
      holds = holds && !strange;
    }
    uint32_t mask = __ballot_sync(GPUMC_WARP_ALL, holds);
    if (!holds)
      continue;
    uint32_t count;
    if (!DIVIDED)
      mine.lowest_replicas++;
    if (first_with_key(mask, family, &count))
      mine.lowest_families += mark_family<DIVIDED>(&work, start + number);
  }
  gpumc_add_over_block(&tallied->lowest_replicas, mine.lowest_replicas);
  gpumc_add_over_block(&tallied->lowest_families, mine.lowest_families);
  gpumc_add_over_block(&tallied->families, mine.families);
  gpumc_add_over_block(&tallied->square_sum, mine.square_sum);
  gpumc_add_over_block((uint64_t *)&tallied->entropy, (uint64_t)mine.entropy);
}

#endif
