/* Sweeps and measurement of the spin kernel in shared memory: some replicas to a warp where a
 * replica is small, else one to a block of threads. */
#include "models/ising2d/ising2d_spin_block_cuda.cuh"

enum {
  WARP = 32,
  WARPS = 4,         /* of a block of threads, by default, where a warp has whole replicas */
  WARP_BYTES = 6144, /* shared memory of a warp at most, so that enough of them run together */
  WARPS_BUSY = 16,   /* that keep a multiprocessor busy */
  THREADS_MAXIMUM = 1024,
  DEFAULT_SHARED_BYTES = 48 << 10 /* that a kernel may have without asking */
};

/* How replicas are laid over threads. Decides no result. `lanes` = 0: a whole block of threads to a
 * replica. */
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

static uint32_t clamp(uint32_t value, uint32_t low, uint32_t high)
{
  const uint32_t below = value < high ? value : high;
  return below > low ? below : low;
}

/* The largest number of lanes to a replica that leaves at most 1/16 more of a warp idle than the
 * best one does; 0: no replica fits into a warp's share of memory. */
static uint32_t choose_lanes(const struct ising2d_spin_lattice *lattice)
{
  double share[WARP + 1] = {0.0}, best = 0.0;
  for (uint32_t lanes = 1; lanes <= WARP; lanes++) {
    const uint32_t replicas = WARP / lanes, steps = (lattice->blocks + lanes - 1) / lanes;
    if (replicas * replica_bytes(lattice) <= WARP_BYTES)
      share[lanes] = (double)(replicas * lattice->blocks) / (WARP * steps);
    best = share[lanes] > best ? share[lanes] : best;
  }
  uint32_t lanes = WARP;
  while (lanes > 0 && (share[lanes] == 0.0 || share[lanes] < best * 15.0 / 16.0))
    lanes--;
  return lanes;
}

/* Warps for one replica, a power of two: for its memory, and so that few replicas keep the device
 * busy. */
static uint32_t choose_warps(const struct ising2d_spin_replicas *replicas)
{
  const size_t population = replicas->batch.runs * replicas->batch.capacity;
  const size_t bytes = replica_bytes(&replicas->lattice);
  const size_t busy = (size_t)replicas->multiprocessors * WARPS_BUSY;
  uint32_t warps = 1;
  while (warps < THREADS_MAXIMUM / WARP && warps * WARP < replicas->lattice.blocks &&
         (warps * WARP_BYTES < bytes || warps * population < busy))
    warps *= 2;
  return warps;
}

static struct shape choose_shape(const struct ising2d_spin_replicas *replicas)
{
  const size_t bytes = replica_bytes(&replicas->lattice);
  const uint32_t wanted = replicas->block_threads / WARP;
  const uint32_t most = THREADS_MAXIMUM / WARP, warps = choose_warps(replicas);
  struct shape shape;
  shape.lanes = warps > 1 ? 0 : choose_lanes(&replicas->lattice);
  if (shape.lanes == 0) {
    shape.replicas = 1;
    shape.threads = WARP * (replicas->block_threads > 0 ? clamp(wanted, 1, most) : warps);
  } else {
    const uint32_t per_warp = WARP / shape.lanes;
    const size_t fitting = replicas->shared_bytes / (per_warp * bytes);
    const uint32_t block = replicas->block_threads > 0 ? wanted : WARPS;
    const uint32_t block_warps = clamp(block, 1, fitting < most ? (uint32_t)fitting : most);
    shape.replicas = block_warps * per_warp;
    shape.threads = block_warps * WARP;
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
