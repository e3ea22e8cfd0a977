/* Measurements of the tiled kernel on a GPU: a block for each tile adds its integers to the sums of
 * its replica, in any order. */
#include "models/ising/tiled/tiled_block.cuh"

enum { FINISH_THREADS = 128 };

static __device__ void add(int64_t *sum, int64_t value)
{
  for (uint32_t step = ISING_TILED_WARP / 2; step > 0; step /= 2)
    value += __shfl_down_sync(UINT32_MAX, value, step);
  if (threadIdx.x % ISING_TILED_WARP == 0 && value != 0)
    atomicAdd((unsigned long long *)sum, (unsigned long long)value);
}

/* blockIdx.x: tile, of each replica, those of half A first; blockIdx.y: run. */
static __global__ void __launch_bounds__(ISING_TILED_THREADS_MAXIMUM)
    measure_tiles(const __grid_constant__ struct ising_tiled_measurement arguments)
{
  extern __shared__ uint32_t copy[];
  const struct lattice_batch *batch = &arguments.replicas.batch;
  const struct ising_tiled_geometry *geometry = &arguments.replicas.geometry;
  const uint32_t replica = blockIdx.x / geometry->n_tiles, i = blockIdx.x % geometry->n_tiles;
  const uint32_t blocks = geometry->n_tiles / 2, half = i >= blocks;
  if (replica >= batch->size[blockIdx.y])
    return;
  const size_t element = blockIdx.y * batch->capacity + replica;
  const struct ising_tiled_tile tile = ising_tiled_tile(geometry, half, i - half * blocks);
  struct ising_tiled_sums sums = {0, 0, {0, 0, 0}, {0, 0, 0}};
  ising_tiled_load(geometry,
                   arguments.replicas.words + element * ising_tiled_replica_words(geometry), tile,
                   copy);
  for (uint32_t colour = 0; colour < 2; colour++)
    for (uint32_t w = threadIdx.x; w < geometry->words; w += blockDim.x) {
      const uint32_t *own = copy + colour * geometry->copy_words;
      const uint32_t *other = copy + (1 - colour) * geometry->copy_words;
      const uint32_t l = w / geometry->row_words, along = w % geometry->row_words;
      ising_tiled_count(geometry, own, other, colour, l, along, &sums);
      if (arguments.wave != NULL)
        ising_tiled_add_waves(geometry, &arguments.waves, tile, own, colour, l, along, &sums);
    }
  struct ising_tiled_sums *total = &arguments.sums[element];
  add(&total->up, sums.up);
  add(&total->unlike, sums.unlike);
  for (uint32_t axis = 0; axis < ISING_TILED_AXES && arguments.wave != NULL; axis++) {
    add(&total->cosine[axis], sums.cosine[axis]);
    add(&total->sine[axis], sums.sine[axis]);
  }
}

/* A thread for each replica of a run. */
static __global__ void finish(const __grid_constant__ struct ising_tiled_measurement arguments)
{
  const struct lattice_batch *batch = &arguments.replicas.batch;
  const struct ising_tiled_geometry *geometry = &arguments.replicas.geometry;
  const uint32_t replica = blockIdx.x * blockDim.x + threadIdx.x;
  if (replica >= batch->size[blockIdx.y])
    return;
  const size_t element = blockIdx.y * batch->capacity + replica;
  const struct ising_tiled_sums *sums = &arguments.sums[element];
  if (arguments.energy != NULL)
    arguments.energy[element] =
        ising_tiled_energy(geometry, arguments.coupling, arguments.field, sums);
  if (arguments.magnetization != NULL)
    arguments.magnetization[element] = ising_tiled_spins(geometry, sums);
  if (arguments.wave != NULL)
    arguments.wave[element] = ising_wave_square(&arguments.waves.wave, sums->cosine, sums->sine);
}

extern "C" enum gpumc_status
ising_tiled_measure_all(const struct ising_tiled_measurement *arguments, struct gpumc_error *error)
{
  const struct ising_tiled_replicas *replicas = &arguments->replicas;
  const struct lattice_batch *batch = &replicas->batch;
  const size_t sums = batch->runs * batch->capacity * sizeof *arguments->sums;
  cudaStream_t stream = (cudaStream_t)batch->stream;
  enum gpumc_status status = GPUMC_CUDA(cudaMemsetAsync(arguments->sums, 0, sums, stream), error);
  if (status != GPUMC_OK)
    return status;
  const dim3 tiles((uint32_t)batch->capacity * replicas->geometry.n_tiles, batch->runs);
  measure_tiles<<<tiles, ising_tiled_threads(replicas),
                  2 * replicas->geometry.copy_words * sizeof(uint32_t), stream>>>(*arguments);
  status = GPUMC_CUDA_LAUNCHED("measure_tiles", error);
  if (status != GPUMC_OK)
    return status;
  const dim3 grid((uint32_t)lattice_parts(batch->capacity, FINISH_THREADS), batch->runs);
  finish<<<grid, FINISH_THREADS, 0, stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("finish", error);
}
