/* Sweeps and measurement of the spin kernel in shared memory: some replicas to a warp where a
 * replica is small, else one to a block of threads. */
#include "models/ising2d/ising2d_spin_block_cuda.cuh"

enum {
  WARP = 32,
  WARPS = 4,         /* of a block, by default, where replicas have a warp or less */
  WARP_BYTES = 4096, /* shared memory of a warp at most, so that enough of them run together */
  THREADS_MAXIMUM = 1024,
  DEFAULT_SHARED_BYTES = 48 << 10 /* that a kernel may have without asking */
};

/* How replicas are laid over threads. `lanes` = 0: a whole block of threads to a replica. */
struct shape {
  uint32_t lanes;    /* of a warp that work on one replica */
  uint32_t replicas; /* of a block of threads */
  uint32_t threads;
  size_t shared_bytes;
};

static size_t replica_bytes(const struct ising2d_spin_lattice *lattice)
{
  return sizeof(uint32_t) * 2 * ISING2D_WORDS * lattice->blocks;
}

/* The number of lanes of which fewest are idle. */
static uint32_t choose_lanes(uint32_t blocks)
{
  uint32_t best = 1, best_replicas = 0, best_steps = 1;
  for (uint32_t lanes = 1; lanes <= WARP; lanes++) {
    const uint32_t replicas = WARP / lanes, steps = (blocks + lanes - 1) / lanes;
    if ((uint64_t)replicas * best_steps >= (uint64_t)best_replicas * steps) {
      best = lanes;
      best_replicas = replicas;
      best_steps = steps;
    }
  }
  return best;
}

static uint32_t clamp(uint32_t value, uint32_t low, uint32_t high)
{
  return value < low ? low : value > high ? high : value;
}

static struct shape choose_shape(const struct ising2d_spin_replicas *replicas)
{
  const size_t bytes = replica_bytes(&replicas->lattice);
  const uint32_t warps_wanted = replicas->block_threads / WARP;
  struct shape shape;
  shape.lanes = choose_lanes(replicas->lattice.blocks);
  const uint32_t per_warp = WARP / shape.lanes;
  if (per_warp * bytes <= WARP_BYTES && per_warp * bytes <= replicas->shared_bytes) {
    const size_t most = replicas->shared_bytes / (per_warp * bytes);
    uint32_t warps = replicas->block_threads > 0 ? warps_wanted : WARPS;
    warps =
        clamp(warps, 1, most < THREADS_MAXIMUM / WARP ? (uint32_t)most : THREADS_MAXIMUM / WARP);
    shape.replicas = warps * per_warp;
    shape.threads = warps * WARP;
  } else {
    const uint32_t warps = (uint32_t)((bytes + WARP_BYTES - 1) / WARP_BYTES);
    shape.lanes = 0;
    shape.replicas = 1;
    shape.threads =
        WARP * clamp(replicas->block_threads > 0 ? warps_wanted : warps, 1, THREADS_MAXIMUM / WARP);
  }
  shape.shared_bytes = shape.replicas * bytes;
  return shape;
}

/* Where a thread works: the number of its replica among those of its block of threads, and the
 * share. */
__device__ static inline uint32_t assign(const struct shape *shape, struct ising2d_share *share)
{
  if (shape->lanes == 0) {
    *share = {threadIdx.x, blockDim.x, UINT32_MAX, 1};
    return 0;
  }
  const uint32_t lane = threadIdx.x % WARP, per_warp = WARP / shape->lanes;
  const uint32_t part = lane / shape->lanes, first = lane - part * shape->lanes;
  const uint32_t lanes = (uint32_t)(((uint64_t)1 << shape->lanes) - 1);
  *share = {part < per_warp ? first : UINT32_MAX, shape->lanes, lanes << (lane - first), 0};
  return threadIdx.x / WARP * per_warp + part;
}

/* Threads of one replica wait for each other. */
__device__ static inline void wait(const struct shape *shape)
{
  if (shape->lanes == 0)
    __syncthreads();
  else
    __syncwarp();
}

__device__ static inline void copy(const struct shape *shape, struct ising2d_share share,
                                   uint32_t blocks, uint32_t *to, const uint32_t *from)
{
  for (uint32_t b = share.first; b < 2 * blocks; b += share.step)
    ((uint2 *)to)[b] = ((const uint2 *)from)[b];
  wait(shape);
}

template <uint32_t ROUNDS, int COMPARISONS>
__device__ static inline void
sweep(const struct ising2d_spin_sweep *arguments, const struct shape *shape,
      struct ising2d_share share, uint32_t replica, uint32_t *words)
{
  const struct ising2d_spin_lattice *lattice = &arguments->replicas.lattice;
  const struct ising2d_batch *batch = &arguments->replicas.batch;
  const struct gpumc_random random = ising2d_batch_random(batch, blockIdx.y);
  const uint32_t n_words = ising2d_spin_words(lattice);
  for (uint32_t s = 0; s < arguments->sweeps; s++)
#pragma unroll 1
    for (uint32_t colour = 0; colour < 2; colour++) {
      for (uint32_t b = share.first; b < lattice->blocks; b += share.step)
        ising2d_update_block<ROUNDS, COMPARISONS>(
            lattice, &arguments->rule, random, replica, batch->time + s, colour, b,
            words + colour * n_words, words + (1 - colour) * n_words);
      wait(shape);
    }
}

template <uint32_t ROUNDS, int COMPARISONS>
__global__ void __launch_bounds__(THREADS_MAXIMUM)
    sweep_shared(const __grid_constant__ struct ising2d_spin_sweep arguments,
                 const __grid_constant__ struct shape shape)
{
  extern __shared__ uint4 shared[];
  const struct ising2d_batch *batch = &arguments.replicas.batch;
  const uint32_t blocks = arguments.replicas.lattice.blocks;
  const uint32_t size = batch->size[blockIdx.y];
  if (blockIdx.x * shape.replicas >= size)
    return;
  struct ising2d_share share;
  const uint32_t place = assign(&shape, &share);
  const uint32_t replica = blockIdx.x * shape.replicas + place;
  if (replica >= size)
    share.first = UINT32_MAX;
  const size_t element = blockIdx.y * batch->capacity + replica;
  const size_t replica_words = (size_t)2 * ISING2D_WORDS * blocks;
  uint32_t *words = (uint32_t *)shared + place * replica_words;
  uint32_t *stored = arguments.replicas.words + element * replica_words;
  copy(&shape, share, blocks, words, stored);
  sweep<ROUNDS, COMPARISONS>(&arguments, &shape, share, replica, words);
  if (arguments.channels.energy != NULL || arguments.channels.magnetization != NULL)
    ising2d_measure(&arguments.replicas.lattice, &arguments.channels, share, words, element);
  if (arguments.sweeps > 0)
    copy(&shape, share, blocks, stored, words);
}

extern "C" int ising2d_spin_fits(const struct ising2d_spin_replicas *replicas)
{
  return choose_shape(replicas).shared_bytes <= replicas->shared_bytes;
}

extern "C" enum gpumc_status
ising2d_spin_sweep_shared(const struct ising2d_spin_sweep *arguments, struct gpumc_error *error)
{
  const struct ising2d_batch *batch = &arguments->replicas.batch;
  const struct shape shape = choose_shape(&arguments->replicas);
  void (*kernel)(struct ising2d_spin_sweep, struct shape);
  if (batch->rounds == 7)
    kernel = arguments->rule.plain ? sweep_shared<7, 2> : sweep_shared<7, ISING2D_CLASSES>;
  else
    kernel = arguments->rule.plain ? sweep_shared<10, 2> : sweep_shared<10, ISING2D_CLASSES>;
  if (shape.shared_bytes > DEFAULT_SHARED_BYTES) {
    enum gpumc_status status =
        GPUMC_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        (int)shape.shared_bytes),
                   error);
    if (status != GPUMC_OK)
      return status;
  }
  const dim3 grid((uint32_t)((batch->capacity + shape.replicas - 1) / shape.replicas), batch->runs);
  kernel<<<grid, shape.threads, shape.shared_bytes, (cudaStream_t)batch->stream>>>(*arguments,
                                                                                   shape);
  return GPUMC_CUDA_LAUNCHED("sweep_shared", error);
}
