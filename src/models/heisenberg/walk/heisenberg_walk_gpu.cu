/* Walks of O(n) spins on a GPU: copying replicas to lanes and back, steps, and bonds as walks use
 * them. */
#include <cuda_runtime.h>

#include "models/heisenberg/walk/heisenberg_walk.cuh"

enum {
  LANES = GPUMC_WALK_GROUP,
  ROWS = 8, /* of threads that copy a tile of 32 sites of 32 replicas */
  THREADS = 128,
};

/* ---- replicas and lanes ---- */

/* A block copies a component of 32 sites of a group. */
template <class REAL, bool BACK>
static __global__ void __launch_bounds__(LANES *ROWS)
    copy_lanes(const __grid_constant__ struct heisenberg_gpu_walk walk)
{
  __shared__ REAL tile[LANES][LANES + 1];
  const struct heisenberg_replicas *replicas = &walk.replicas;
  const uint32_t sites = 2 * replicas->lattice.colour, n = replicas->components;
  const uint32_t tiles = (sites + LANES - 1) / LANES, line = blockIdx.x / tiles;
  const uint32_t position = (blockIdx.x - line * tiles) * LANES, group = line / n;
  const uint32_t a = line - group * n, run = walk.run[blockIdx.y].number;
  const uint32_t size = replicas->batch.size[run], first = group * LANES;
  REAL *lanes = (REAL *)walk.lanes +
                ((size_t)blockIdx.y * walk.groups + group) * sites * n * LANES + (size_t)a * LANES;
  for (uint32_t i = threadIdx.y; i < LANES; i += ROWS) {
    const uint32_t r = BACK ? threadIdx.x : i, p = position + (BACK ? i : threadIdx.x);
    if (first + r >= size || p >= sites)
      continue;
    const REAL *replica = (const REAL *)heisenberg_replica(replicas, run, first + r);
    tile[r][p - position] =
        BACK ? lanes[(size_t)p * n * LANES + r] : replica[(size_t)a * sites + p];
  }
  __syncthreads();
  for (uint32_t i = threadIdx.y; i < LANES; i += ROWS) {
    const uint32_t r = BACK ? i : threadIdx.x, p = position + (BACK ? threadIdx.x : i);
    if (first + r >= size || p >= sites)
      continue;
    REAL *replica = (REAL *)heisenberg_replica(replicas, run, first + r);
    *(BACK ? &replica[(size_t)a * sites + p] : &lanes[(size_t)p * n * LANES + r]) =
        tile[r][p - position];
  }
}

template <bool BACK>
static enum gpumc_status
launch_copy(const struct heisenberg_gpu_walk *walk, struct gpumc_error *error)
{
  const struct heisenberg_replicas *replicas = &walk->replicas;
  cudaStream_t stream = (cudaStream_t)replicas->batch.stream;
  const size_t tiles = lattice_parts(2 * (size_t)replicas->lattice.colour, LANES);
  const dim3 grid((uint32_t)(walk->groups * replicas->components * tiles), walk->active);
  const dim3 block(LANES, ROWS);
  if (replicas->single)
    copy_lanes<float, BACK><<<grid, block, 0, stream>>>(*walk);
  else
    copy_lanes<double, BACK><<<grid, block, 0, stream>>>(*walk);
  return GPUMC_CUDA_LAUNCHED("copy_lanes", error);
}

enum gpumc_status
heisenberg_walk_load(const struct heisenberg_gpu_walk *arguments, struct gpumc_error *error)
{
  return launch_copy<false>(arguments, error);
}

enum gpumc_status
heisenberg_walk_store(const struct heisenberg_gpu_walk *arguments, struct gpumc_error *error)
{
  return launch_copy<true>(arguments, error);
}

/* ---- steps ---- */

template <class RULES, int N>
static __global__ void __launch_bounds__(THREADS)
    walk_lanes(const __grid_constant__ struct heisenberg_gpu_walk walk)
{
  const struct lattice_batch *batch = &walk.replicas.batch;
  const struct lattice_walk_run run = walk.run[blockIdx.y];
  const uint32_t replica = blockIdx.x * THREADS + threadIdx.x, size = batch->size[run.number];
  const uint32_t left = run.steps > walk.done ? run.steps - walk.done : 0;
  const uint32_t steps = left < walk.steps ? left : walk.steps;
  const size_t group = blockIdx.y * walk.groups + replica / LANES;
  if (replica >= size || steps == 0)
    return;
  struct heisenberg_walker<RULES, N> walker;
  walker.rule = &walk.rule;
  walker.lattice = &walk.replicas.lattice;
  walker.weight = walk.weight + run.number * (walk.levels + 2);
  walker.canonical = run.canonical;
  walker.lowest = (double)run.lowest;
  walker.random = lattice_batch_random(batch, run.number);
  walker.replica = lattice_batch_replica(batch, replica);
  walker.spins = (typename RULES::real *)walk.lanes +
                 group * (2 * (size_t)walk.replicas.lattice.colour) * (N * LANES) + replica % LANES;
  heisenberg_walk_begin<RULES, N>(&walker);
  unsigned long long *visits = (unsigned long long *)walk.visits;
  if (visits != NULL)
    visits += (run.number * walk.parts + lattice_walk_part(batch, replica, size, run.parts)) *
              walk.levels;
  uint32_t *passages =
      walk.passages != NULL ? walk.passages + run.number * batch->capacity + replica : NULL;
  for (uint32_t step = 0; step < steps; step++) {
    heisenberg_walk_step<RULES, N>(&walker, run.time + walk.done + step);
    const uint32_t level = walker.level();
    if (visits != NULL)
      atomicAdd(&visits[level], 1);
    for (uint32_t side = 0; passages != NULL && side < 2; side++)
      if (level == run.end[side])
        *passages = gpumc_walk_arrive(*passages, side);
  }
}

typedef void walk_kernel(struct heisenberg_gpu_walk);

static walk_kernel *kernel_of(uint32_t components, uint32_t single)
{
  if (single)
    return components == 3 ? walk_lanes<struct heisenberg_in_float, 3>
                           : walk_lanes<struct heisenberg_in_float, 2>;
  return components == 3 ? walk_lanes<struct heisenberg_in_double, 3>
                         : walk_lanes<struct heisenberg_in_double, 2>;
}

enum gpumc_status
heisenberg_walk_launch(const struct heisenberg_gpu_walk *arguments, struct gpumc_error *error)
{
  const struct heisenberg_replicas *replicas = &arguments->replicas;
  const dim3 grid((uint32_t)lattice_parts(replicas->batch.capacity, THREADS), arguments->active);
  kernel_of(replicas->components,
            replicas->single)<<<grid, THREADS, 0, (cudaStream_t)replicas->batch.stream>>>(
      *arguments);
  return GPUMC_CUDA_LAUNCHED("walk_lanes", error);
}

size_t heisenberg_walk_occupy(uint32_t components, uint32_t single, uint32_t multiprocessors)
{
  int blocks = 0;
  if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel_of(components, single), THREADS,
                                                    0) != cudaSuccess) {
    (void)cudaGetLastError(); /* so that no later call is blamed for it */
    return 0;
  }
  return (size_t)blocks * THREADS * multiprocessors;
}

/* ---- measurement ---- */

/* One block per replica. */
template <class RULES, int N>
static __global__ void __launch_bounds__(THREADS)
    sum_bonds(const __grid_constant__ struct heisenberg_gpu_measurement measurement)
{
  typedef typename RULES::real real;
  const struct heisenberg_replicas *replicas = &measurement.replicas;
  const struct lattice_batch *batch = &replicas->batch;
  const uint32_t replica = blockIdx.x, n = replicas->lattice.colour;
  const size_t sites = 2 * (size_t)n;
  __shared__ unsigned long long sum;
  if (replica >= batch->size[blockIdx.y])
    return;
  if (threadIdx.x == 0)
    sum = 0;
  __syncthreads();
  const real *spins = (const real *)heisenberg_replica(replicas, blockIdx.y, replica);
  int64_t bonds = 0;
  for (uint32_t k = threadIdx.x; k < n; k += THREADS) {
    const typename RULES::vector spin = {spins[k], spins[sites + k],
                                         N == 3 ? spins[2 * sites + k] : 0};
    uint32_t around[6];
    const uint32_t neighbours = heisenberg_walk_around(&replicas->lattice, k, around);
    for (uint32_t i = 0; i < neighbours; i++) {
      const real *other = spins + around[i];
      const typename RULES::vector near = {other[0], other[sites], N == 3 ? other[2 * sites] : 0};
      bonds += RULES::quanta(RULES::dot(N, spin, near));
    }
  }
  atomicAdd(&sum, (unsigned long long)bonds);
  __syncthreads();
  if (threadIdx.x == 0)
    measurement.sums[blockIdx.y * batch->capacity + replica].bonds = (int64_t)sum;
}

template <class RULES> static void launch_sum(const struct heisenberg_gpu_measurement *measurement)
{
  const struct lattice_batch *batch = &measurement->replicas.batch;
  const dim3 grid((uint32_t)batch->capacity, batch->runs);
  cudaStream_t stream = (cudaStream_t)batch->stream;
  if (measurement->replicas.components == 3)
    sum_bonds<RULES, 3><<<grid, THREADS, 0, stream>>>(*measurement);
  else
    sum_bonds<RULES, 2><<<grid, THREADS, 0, stream>>>(*measurement);
}

enum gpumc_status
heisenberg_walk_bonds(const struct heisenberg_gpu_measurement *arguments, struct gpumc_error *error)
{
  if (arguments->replicas.single)
    launch_sum<struct heisenberg_in_float>(arguments);
  else
    launch_sum<struct heisenberg_in_double>(arguments);
  return GPUMC_CUDA_LAUNCHED("sum_bonds", error);
}
