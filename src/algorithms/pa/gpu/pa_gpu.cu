/* Launches of the steps of population annealing on CUDA: of each by itself, and of those of a whole
 * resampling or tally at once, whose blocks wait for each other between steps. With 100000 replicas
 * the steps are so short that separate launches take twice as long. */
#include <cooperative_groups.h>

#include "algorithms/pa/gpu/pa_resample_gpu.cuh"
#include "algorithms/pa/gpu/pa_survey_gpu.cuh"
#include "core/device/beside_gpu.h"
#include "core/device/cuda_error.h"

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

template <enum weights_place PLACE>
__global__ void __launch_bounds__(GPUMC_BLOCK_THREADS_MAXIMUM)
    weigh_alone(const struct gpumc_launch grid, const struct pa_resample_work work)
{
  weigh_replicas<PLACE>(grid, work);
}

static enum gpumc_status
weigh(struct gpumc_device *device, const struct pa_resample_work *work, struct gpumc_error *error)
{
  const struct gpumc_launch grid = grid_of(device, &work->population);
  const uint32_t blocks = gpumc_launch_blocks(&grid);
  const size_t bytes = work->tally.words * work->tally.rows * sizeof(uint32_t);
  cudaStream_t stream = (cudaStream_t)device->stream;
  if (work->block_weights == NULL)
    weigh_alone<PA_WEIGHTS_NOWHERE><<<blocks, grid.threads, 0, stream>>>(grid, *work);
  else if (bytes <= GPUMC_SUMS_BYTES_MAXIMUM)
    weigh_alone<PA_WEIGHTS_SHARED><<<blocks, grid.threads, bytes, stream>>>(grid, *work);
  else
    weigh_alone<PA_WEIGHTS_GLOBAL><<<blocks, grid.threads, 0, stream>>>(grid, *work);
  return GPUMC_CUDA_LAUNCHED("weigh_alone", error);
}

template <int METHOD>
__global__ void __launch_bounds__(GPUMC_BLOCK_THREADS_MAXIMUM)
    copies_alone(const struct gpumc_launch grid, const struct pa_resample_work work)
{
  find_copies<METHOD>(grid, work);
}

static enum gpumc_status copies(struct gpumc_device *device, const struct pa_resample_work *work,
                                int method, struct gpumc_error *error)
{
  const struct gpumc_launch grid = grid_of(device, &work->population);
  const uint32_t blocks = gpumc_launch_blocks(&grid);
  cudaStream_t stream = (cudaStream_t)device->stream;
  if (method == PA_RESAMPLING_SYSTEMATIC)
    copies_alone<PA_RESAMPLING_SYSTEMATIC><<<blocks, grid.threads, 0, stream>>>(grid, *work);
  else if (method == PA_RESAMPLING_NEAREST_INTEGER)
    copies_alone<PA_RESAMPLING_NEAREST_INTEGER><<<blocks, grid.threads, 0, stream>>>(grid, *work);
  else
    copies_alone<PA_OVERLAP_ONLY><<<blocks, grid.threads, 0, stream>>>(grid, *work);
  return GPUMC_CUDA_LAUNCHED("copies_alone", error);
}

/* ---- places (pa_places.h) ---- */

template <bool DIVIDED>
__global__ void __launch_bounds__(GPUMC_BLOCK_THREADS_MAXIMUM)
    demand_alone(const struct gpumc_launch grid, const struct pa_work work)
{
  demand_and_supply<DIVIDED>(grid, work);
}

static enum gpumc_status
needs(struct gpumc_device *device, const struct pa_work *work, struct gpumc_error *error)
{
  const struct gpumc_launch grid = grid_of(device, work);
  const uint32_t blocks = gpumc_launch_blocks(&grid);
  cudaStream_t stream = (cudaStream_t)device->stream;
  if (work->divided)
    demand_alone<true><<<blocks, grid.threads, 0, stream>>>(grid, *work);
  else
    demand_alone<false><<<blocks, grid.threads, 0, stream>>>(grid, *work);
  GPUMC_TRY(GPUMC_CUDA_LAUNCHED("demand_alone", error));
  return device->ops->scan(device, work->weight, work->runs * work->capacity, false, work->scan,
                           error);
}

__global__ void __launch_bounds__(GPUMC_BLOCK_THREADS_MAXIMUM)
    places_alone(const struct gpumc_launch grid, const struct pa_work work)
{
  find_places(grid, work);
}

static enum gpumc_status
places(struct gpumc_device *device, const struct pa_work *work, struct gpumc_error *error)
{
  const struct gpumc_launch grid = grid_of(device, work);
  const uint32_t blocks = gpumc_launch_blocks(&grid);
  cudaStream_t stream = (cudaStream_t)device->stream;
  places_alone<<<blocks, grid.threads, 0, stream>>>(grid, *work);
  return GPUMC_CUDA_LAUNCHED("places_alone", error);
}

/* ---- families, lowest energies, histogram ---- */

__global__ void __launch_bounds__(GPUMC_BLOCK_THREADS_MAXIMUM)
    survey_alone(const struct gpumc_launch grid, const struct pa_survey_work work)
{
  survey_replicas(grid, work);
}

static enum gpumc_status
survey(struct gpumc_device *device, const struct pa_survey_work *work, struct gpumc_error *error)
{
  const struct gpumc_launch grid = grid_of(device, &work->population);
  const uint32_t blocks = gpumc_launch_blocks(&grid);
  cudaStream_t stream = (cudaStream_t)device->stream;
  survey_alone<<<blocks, grid.threads, 0, stream>>>(grid, *work);
  return GPUMC_CUDA_LAUNCHED("survey_alone", error);
}

template <bool DIVIDED>
__global__ void __launch_bounds__(GPUMC_BLOCK_THREADS_MAXIMUM)
    families_alone(const struct gpumc_launch grid, const struct pa_survey_work work)
{
  survey_families<DIVIDED>(grid, work);
}

static enum gpumc_status
families(struct gpumc_device *device, const struct pa_survey_work *work, struct gpumc_error *error)
{
  const struct gpumc_launch grid = grid_of(device, &work->population);
  const uint32_t blocks = gpumc_launch_blocks(&grid);
  cudaStream_t stream = (cudaStream_t)device->stream;
  if (work->population.divided)
    families_alone<true><<<blocks, grid.threads, 0, stream>>>(grid, *work);
  else
    families_alone<false><<<blocks, grid.threads, 0, stream>>>(grid, *work);
  return GPUMC_CUDA_LAUNCHED("families_alone", error);
}

/* ---- all steps at once ---- */

enum {
  AT_ONCE_REPLICAS_MOST =
      1 << 20,                /* of all runs: with more, launches cost little beside the work */
  AT_ONCE_CAPACITY_LEAST = 64 /* so that parents have room for sums of blocks (scanned_part) */
};

template <enum weights_place PLACE>
__global__ void __launch_bounds__(GPUMC_BLOCK_THREADS_MAXIMUM)
    resample_at_once(const struct gpumc_launch grid, const struct pa_resample_work work)
{
  const cooperative_groups::grid_group all = cooperative_groups::this_grid();
  weigh_replicas<PLACE>(grid, work);
  all.sync();
  find_copies<PA_RESAMPLING_NEAREST_INTEGER>(grid, work);
  all.sync();
  add_demand(grid, work.population);
  all.sync();
  scan_demand(grid, work.population);
  all.sync();
  find_places(grid, work.population);
}

template <bool SHARED>
__global__ void __launch_bounds__(GPUMC_BLOCK_THREADS_MAXIMUM)
    tally_at_once(const struct gpumc_launch grid, const struct pa_tally_work work)
{
  const cooperative_groups::grid_group all = cooperative_groups::this_grid();
  const struct pa_work *population = &work.survey.population;
  const size_t first = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  const size_t stride = (size_t)gridDim.x * blockDim.x;
  for (size_t i = first; i < work.cleared / sizeof(uint32_t); i += stride)
    ((uint32_t *)work.record)[i] = 0;
  for (size_t i = first; i < population->runs * population->capacity; i += stride)
    work.survey.members[i] = work.survey.mark[i] = 0;
  all.sync();
  gpumc_tally_over_launch<SHARED>(grid, work.tally, work.values);
  survey_replicas(grid, work.survey);
  all.sync();
  survey_families<false>(grid, work.survey);
}

/* Launches a kernel with as many blocks as can wait for each other. *done: whether that is worth
 * while. */
template <class WORK>
static enum gpumc_status
launch_at_once(struct gpumc_device *device, void (*kernel)(struct gpumc_launch, WORK),
               const struct pa_work *population, WORK *work, size_t shared, bool *done,
               struct gpumc_error *error)
{
  struct gpumc_launch grid = grid_of(device, population);
  int able = 0, resident = 0;
  *done = false;
  if (population->divided || population->capacity < AT_ONCE_CAPACITY_LEAST ||
      population->runs * population->capacity > AT_ONCE_REPLICAS_MOST)
    return GPUMC_OK;
  GPUMC_TRY(GPUMC_CUDA(cudaDeviceGetAttribute(&able, cudaDevAttrCooperativeLaunch, device->index),
                       error));
  GPUMC_TRY(GPUMC_CUDA(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, (int)grid.threads, shared),
      error));
  const size_t most = (size_t)resident * (size_t)device->multiprocessors / population->runs;
  if (!able || most == 0)
    return GPUMC_OK;
  grid.blocks_per_run = grid.blocks_per_run < most ? grid.blocks_per_run : (uint32_t)most;
  void *arguments[] = {&grid, work};
  *done = true;
  return GPUMC_CUDA(cudaLaunchCooperativeKernel((const void *)kernel, gpumc_launch_blocks(&grid),
                                                grid.threads, arguments, shared,
                                                (cudaStream_t)device->stream),
                    error);
}

static enum gpumc_status resample(struct gpumc_device *device, const struct pa_resample_work *work,
                                  bool *done, struct gpumc_error *error)
{
  struct pa_resample_work copy = *work;
  const size_t bytes = work->tally.words * work->tally.rows * sizeof(uint32_t);
  if (bytes <= GPUMC_SUMS_BYTES_MAXIMUM)
    return launch_at_once(device, resample_at_once<PA_WEIGHTS_SHARED>, &work->population, &copy,
                          bytes, done, error);
  return launch_at_once(device, resample_at_once<PA_WEIGHTS_GLOBAL>, &work->population, &copy, 0,
                        done, error);
}

static enum gpumc_status tally(struct gpumc_device *device, const struct pa_tally_work *work,
                               bool *done, struct gpumc_error *error)
{
  struct pa_tally_work copy = *work;
  const struct pa_work *population = &work->survey.population;
  const size_t bytes = work->tally.words * work->tally.rows * sizeof(uint32_t);
  if (bytes <= GPUMC_SUMS_BYTES_MAXIMUM)
    return launch_at_once(device, tally_at_once<true>, population, &copy, bytes, done, error);
  return launch_at_once(device, tally_at_once<false>, population, &copy, 0, done, error);
}

/* ---- code ---- */

static void load_code(const void *argument)
{
  const void *const kernel[] = {(const void *)found_families, (const void *)tally_at_once<true>,
                                (const void *)resample_at_once<PA_WEIGHTS_SHARED>};
  (void)argument;
  for (const void *one : kernel) {
    struct cudaFuncAttributes attributes;
    (void)cudaFuncGetAttributes(&attributes, one);
  }
}

static void load(struct gpumc_device *device)
{
  gpumc_gpu_beside(device, load_code, NULL, 0);
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
extern const struct pa_steps pa_steps_gpu = {load,  tally,  resample, found,    weigh,       copies,
                                             needs, places, survey,   families, find_movers, adopt};
