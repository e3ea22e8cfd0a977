/* The steps of population annealing on CUDA. A block of threads works on replicas of one run
 * (core/device/sums_gpu.cuh); all sums are of integers, so the order of the threads does not
 * matter. */
#include "algorithms/pa/pa_device.h"
#include "core/device/cuda_error.h"
#include "core/device/sums_gpu.cuh"

static struct gpumc_launch grid_of(const struct gpumc_device *device, const struct pa_work *work)
{
  return gpumc_launch_make(device, work->runs, work->capacity);
}

/* ---- founding ---- */

__global__ void __launch_bounds__(GPUMC_BLOCK_THREADS_MAXIMUM)
    found_families(const struct gpumc_launch grid, const struct pa_work work)
{
  const struct gpumc_stretch stretch = gpumc_stretch_of_block(&grid);
  if (stretch.first == 0 && threadIdx.x == 0) {
    work.weighed[stretch.m].own = work.founders;
    work.copied[stretch.m].size = work.founders;
  }
  const size_t founders = pa_own_of(&work, work.founders);
  for (size_t r = stretch.first + threadIdx.x; r < founders; r += stretch.stride)
    work.family[stretch.m * work.capacity + r] = (uint32_t)(work.first + r);
}

static enum gpumc_status
found(struct gpumc_device *device, const struct pa_work *work, struct gpumc_error *error)
{
  const struct gpumc_launch grid = grid_of(device, work);
  found_families<<<gpumc_launch_blocks(&grid), grid.threads, 0, (cudaStream_t)device->stream>>>(
      grid, *work);
  return GPUMC_CUDA_LAUNCHED("found_families", error);
}

/* ---- weights and copies ---- */

/* Where the weights of blocks are added up. */
enum weights_place { PA_WEIGHTS_NOWHERE, PA_WEIGHTS_SHARED, PA_WEIGHTS_GLOBAL };

template <enum weights_place PLACE>
__global__ void __launch_bounds__(GPUMC_BLOCK_THREADS_MAXIMUM)
    weigh_replicas(const struct gpumc_launch grid, const struct pa_resample_work work)
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

static enum gpumc_status
weigh(struct gpumc_device *device, const struct pa_resample_work *work, struct gpumc_error *error)
{
  const struct gpumc_launch grid = grid_of(device, &work->population);
  const uint32_t blocks = gpumc_launch_blocks(&grid);
  const size_t bytes = work->tally.words * work->tally.rows * sizeof(uint32_t);
  cudaStream_t stream = (cudaStream_t)device->stream;
  if (work->block_weights == NULL)
    weigh_replicas<PA_WEIGHTS_NOWHERE><<<blocks, grid.threads, 0, stream>>>(grid, *work);
  else if (bytes <= GPUMC_SUMS_BYTES_MAXIMUM)
    weigh_replicas<PA_WEIGHTS_SHARED><<<blocks, grid.threads, bytes, stream>>>(grid, *work);
  else
    weigh_replicas<PA_WEIGHTS_GLOBAL><<<blocks, grid.threads, 0, stream>>>(grid, *work);
  return GPUMC_CUDA_LAUNCHED("weigh_replicas", error);
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
__global__ void __launch_bounds__(GPUMC_BLOCK_THREADS_MAXIMUM)
    find_copies(const struct gpumc_launch grid, const struct pa_resample_work work)
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

static enum gpumc_status copies(struct gpumc_device *device, const struct pa_resample_work *work,
                                int method, struct gpumc_error *error)
{
  const struct gpumc_launch grid = grid_of(device, &work->population);
  const uint32_t blocks = gpumc_launch_blocks(&grid);
  cudaStream_t stream = (cudaStream_t)device->stream;
  if (method == PA_RESAMPLING_SYSTEMATIC)
    find_copies<PA_RESAMPLING_SYSTEMATIC><<<blocks, grid.threads, 0, stream>>>(grid, *work);
  else if (method == PA_RESAMPLING_NEAREST_INTEGER)
    find_copies<PA_RESAMPLING_NEAREST_INTEGER><<<blocks, grid.threads, 0, stream>>>(grid, *work);
  else
    find_copies<PA_OVERLAP_ONLY><<<blocks, grid.threads, 0, stream>>>(grid, *work);
  return GPUMC_CUDA_LAUNCHED("find_copies", error);
}

/* ---- places (pa_places.h) ---- */

/* Sums of children and of places over all runs stay below 2^32. */
template <bool DIVIDED>
__global__ void __launch_bounds__(GPUMC_BLOCK_THREADS_MAXIMUM)
    demand_and_supply(const struct gpumc_launch grid, const struct pa_work work)
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

static enum gpumc_status
needs(struct gpumc_device *device, const struct pa_work *work, struct gpumc_error *error)
{
  const struct gpumc_launch grid = grid_of(device, work);
  const uint32_t blocks = gpumc_launch_blocks(&grid);
  cudaStream_t stream = (cudaStream_t)device->stream;
  if (work->divided)
    demand_and_supply<true><<<blocks, grid.threads, 0, stream>>>(grid, *work);
  else
    demand_and_supply<false><<<blocks, grid.threads, 0, stream>>>(grid, *work);
  GPUMC_TRY(GPUMC_CUDA_LAUNCHED("demand_and_supply", error));
  return device->ops->scan(device, work->weight, work->runs * work->capacity, false, work->scan,
                           error);
}

/* A free place has no children and the parent of another is not free, so no thread reads a family
 * that another writes. */
__global__ void __launch_bounds__(GPUMC_BLOCK_THREADS_MAXIMUM)
    find_places(const struct gpumc_launch grid, const struct pa_work work)
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

static enum gpumc_status
places(struct gpumc_device *device, const struct pa_work *work, struct gpumc_error *error)
{
  const struct gpumc_launch grid = grid_of(device, work);
  const uint32_t blocks = gpumc_launch_blocks(&grid);
  cudaStream_t stream = (cudaStream_t)device->stream;
  find_places<<<blocks, grid.threads, 0, stream>>>(grid, *work);
  return GPUMC_CUDA_LAUNCHED("find_places", error);
}

/* ---- families, lowest energies, histogram ---- */

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
__global__ void __launch_bounds__(GPUMC_BLOCK_THREADS_MAXIMUM)
    survey_replicas(const struct gpumc_launch grid, const struct pa_survey_work work)
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

static enum gpumc_status
survey(struct gpumc_device *device, const struct pa_survey_work *work, struct gpumc_error *error)
{
  const struct gpumc_launch grid = grid_of(device, &work->population);
  const uint32_t blocks = gpumc_launch_blocks(&grid);
  cudaStream_t stream = (cudaStream_t)device->stream;
  survey_replicas<<<blocks, grid.threads, 0, stream>>>(grid, *work);
  return GPUMC_CUDA_LAUNCHED("survey_replicas", error);
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
__global__ void __launch_bounds__(GPUMC_BLOCK_THREADS_MAXIMUM)
    survey_families(const struct gpumc_launch grid, const struct pa_survey_work work)
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

static enum gpumc_status
families(struct gpumc_device *device, const struct pa_survey_work *work, struct gpumc_error *error)
{
  const struct gpumc_launch grid = grid_of(device, &work->population);
  const uint32_t blocks = gpumc_launch_blocks(&grid);
  cudaStream_t stream = (cudaStream_t)device->stream;
  if (work->population.divided)
    survey_families<true><<<blocks, grid.threads, 0, stream>>>(grid, *work);
  else
    survey_families<false><<<blocks, grid.threads, 0, stream>>>(grid, *work);
  return GPUMC_CUDA_LAUNCHED("survey_families", error);
}

/* ---- replicas that change process ---- */

__global__ void list_movers(const struct pa_work work, const struct pa_movers movers)
{
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  const size_t start = movers.m * work.capacity;
  const uint64_t *scanned = work.weight + start;
  const uint32_t number = (uint32_t)(movers.first + i);
  if (i >= movers.count)
    return;
  if (movers.movement == PA_ARRIVING) {
    movers.slot[i] = pa_place_of_number(scanned, work.size[movers.m], number);
    return;
  }
  const size_t n = work.weighed[pa_own_row(&work, movers.m)].own;
  const uint32_t parent = pa_parent_of_child(scanned, n, number);
  movers.slot[i] = parent;
  movers.family[i] = work.family[start + parent];
}

__global__ void give_families(const struct pa_work work, const struct pa_movers movers)
{
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < movers.count)
    work.family[movers.m * work.capacity + movers.slot[i]] = movers.family[i];
}

static uint32_t blocks_for(size_t count)
{
  return (uint32_t)((count + GPUMC_LAUNCH_THREADS - 1) / GPUMC_LAUNCH_THREADS);
}

static enum gpumc_status find_movers(struct gpumc_device *device, const struct pa_work *work,
                                     const struct pa_movers *movers, struct gpumc_error *error)
{
  cudaStream_t stream = (cudaStream_t)device->stream;
  list_movers<<<blocks_for(movers->count), GPUMC_LAUNCH_THREADS, 0, stream>>>(*work, *movers);
  return GPUMC_CUDA_LAUNCHED("list_movers", error);
}

static enum gpumc_status adopt(struct gpumc_device *device, const struct pa_work *work,
                               const struct pa_movers *movers, struct gpumc_error *error)
{
  cudaStream_t stream = (cudaStream_t)device->stream;
  give_families<<<blocks_for(movers->count), GPUMC_LAUNCH_THREADS, 0, stream>>>(*work, *movers);
  return GPUMC_CUDA_LAUNCHED("give_families", error);
}

/* In the order of the struct: C++17 has no designated initialisers. */
extern const struct pa_steps pa_steps_gpu = {found,  weigh,    copies,      needs, places,
                                             survey, families, find_movers, adopt};
