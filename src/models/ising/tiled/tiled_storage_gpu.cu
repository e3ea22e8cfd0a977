/* Replicas of the tiled kernel on a GPU: drawing them and their generators, and their portable
 * form; measurements, in which a block for each tile adds its integers to the sums of its replica,
 * in any order. */
#include "models/ising/tiled/tiled_block.cuh"

enum { THREADS = 256 };

static __device__ inline size_t thread_number(void)
{
  return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static uint32_t blocks_for(size_t n)
{
  return (uint32_t)lattice_parts(n, THREADS);
}

static __host__ __device__ inline size_t sites_of(const struct ising_tiled_replicas *replicas)
{
  return (size_t)ising_tiled_sites(&replicas->geometry);
}

static __device__ inline uint8_t *
bytes_of(const struct ising_tiled_replicas *replicas, size_t element)
{
  return (uint8_t *)(replicas->words + element * ising_tiled_replica_words(&replicas->geometry));
}

/* One thread for each site, for all replicas of the run. */
static __global__ void
randomize_spins(const __grid_constant__ struct ising_tiled_replicas arguments)
{
  const struct lattice_batch *batch = &arguments.batch;
  const struct gpumc_random random = lattice_batch_random(batch, blockIdx.y);
  const size_t number = thread_number(), first = blockIdx.y * batch->capacity;
  if (number >= sites_of(&arguments))
    return;
  const struct ising_tiled_site site = ising_tiled_site(&arguments.geometry, number);
  for (uint32_t replica = 0; replica < batch->size[blockIdx.y]; replica++)
    bytes_of(&arguments, first + replica)[ising_tiled_byte(&arguments.geometry, site)] =
        (uint8_t)ising_tiled_initial(&arguments.geometry, random,
                                     lattice_batch_replica(batch, replica), site.colour, number);
}

/* One thread for each element of the state. */
static __global__ void
randomize_states(const __grid_constant__ struct ising_tiled_replicas arguments)
{
  const struct lattice_batch *batch = &arguments.batch;
  const struct ising_tiled_generator *generator = &arguments.generator;
  const struct gpumc_random random = lattice_batch_random(batch, blockIdx.y);
  const size_t number = thread_number(), first = blockIdx.y * batch->capacity;
  const uint32_t elements = ising_tiled_elements(generator);
  const uint32_t b = (uint32_t)(number / elements), i = (uint32_t)(number % elements);
  if (b >= generator->blocks)
    return;
  for (uint32_t replica = 0; replica < batch->size[blockIdx.y]; replica++) {
    uint32_t *state =
        arguments.state + ((first + replica) * generator->blocks + b) * generator->block_words;
    ising_tiled_set_state(generator, state, i,
                          ising_tiled_first_state(generator, random,
                                                  lattice_batch_replica(batch, replica), b, i,
                                                  elements));
  }
}

/* One thread for each site, for all replicas in transit. */
static __global__ void from_portable(const __grid_constant__ struct ising_tiled_transfer arguments)
{
  const struct lattice_portable *portable = &arguments.portable;
  const struct ising_tiled_replicas *replicas = &arguments.replicas;
  const size_t number = thread_number();
  const size_t run = portable->run * replicas->batch.capacity;
  if (number >= sites_of(replicas))
    return;
  const struct ising_tiled_site site = ising_tiled_site(&replicas->geometry, number);
  for (size_t i = 0; i < portable->count; i++)
    bytes_of(replicas, run + lattice_portable_replica(
                                 portable, portable->first +
                                               i))[ising_tiled_byte(&replicas->geometry, site)] =
        portable->replica[i * portable->replica_bytes + number / 8] >> number % 8 & 1;
}

/* One thread for each byte. */
static __global__ void to_portable(const __grid_constant__ struct ising_tiled_transfer arguments)
{
  const struct lattice_portable *portable = &arguments.portable;
  const struct ising_tiled_replicas *replicas = &arguments.replicas;
  const size_t number = thread_number(), i = number / portable->replica_bytes;
  if (i >= portable->count)
    return;
  const uint8_t *bytes =
      bytes_of(replicas, portable->run * replicas->batch.capacity +
                             lattice_portable_replica(portable, portable->first + i));
  const size_t first = (number - i * portable->replica_bytes) * 8;
  uint32_t bits = 0;
  for (size_t j = first; j < first + 8 && j < sites_of(replicas); j++)
    bits |=
        (uint32_t)
            bytes[ising_tiled_byte(&replicas->geometry, ising_tiled_site(&replicas->geometry, j))]
        << j % 8;
  portable->replica[number] = (uint8_t)bits;
}

extern "C" enum gpumc_status
ising_tiled_randomize(const struct ising_tiled_replicas *arguments, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &arguments->batch;
  const struct ising_tiled_generator *generator = &arguments->generator;
  const size_t elements = (size_t)generator->blocks * ising_tiled_elements(generator);
  cudaStream_t stream = (cudaStream_t)batch->stream;
  randomize_spins<<<dim3(blocks_for(sites_of(arguments)), batch->runs), THREADS, 0, stream>>>(
      *arguments);
  GPUMC_TRY(GPUMC_CUDA_LAUNCHED("randomize_spins", error));
  if (elements == 0)
    return GPUMC_OK;
  randomize_states<<<dim3(blocks_for(elements), batch->runs), THREADS, 0, stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("randomize_states", error);
}

extern "C" enum gpumc_status
ising_tiled_from_portable(const struct ising_tiled_transfer *arguments, struct gpumc_error *error)
{
  cudaStream_t stream = (cudaStream_t)arguments->replicas.batch.stream;
  from_portable<<<blocks_for(sites_of(&arguments->replicas)), THREADS, 0, stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("from_portable", error);
}

extern "C" enum gpumc_status
ising_tiled_to_portable(const struct ising_tiled_transfer *arguments, struct gpumc_error *error)
{
  const size_t bytes = arguments->portable.count * arguments->portable.replica_bytes;
  cudaStream_t stream = (cudaStream_t)arguments->replicas.batch.stream;
  to_portable<<<blocks_for(bytes), THREADS, 0, stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("to_portable", error);
}

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
        ising_tiled_add_waves(geometry, &arguments.waves, tile,
                              own[ising_tiled_line(geometry, l) + along], colour, l, along, &sums);
    }
  struct ising_tiled_sums *total = &arguments.sums[element];
  add(&total->up, sums.up);
  add(&total->unlike, sums.unlike);
  for (uint32_t axis = 0; axis < ISING_TILED_AXES && arguments.wave != NULL; axis++) {
    add(&total->cosine[axis], sums.cosine[axis]);
    add(&total->sine[axis], sums.sine[axis]);
  }
}

/* One thread for each replica of a run. */
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
    arguments.wave[element] = lattice_wave_square(&arguments.waves.wave, sums->cosine, sums->sine);
}

extern "C" enum gpumc_status
ising_tiled_measure_all(const struct ising_tiled_measurement *arguments, struct gpumc_error *error)
{
  const struct ising_tiled_replicas *replicas = &arguments->replicas;
  const struct lattice_batch *batch = &replicas->batch;
  const size_t sums = batch->runs * batch->capacity * sizeof *arguments->sums;
  cudaStream_t stream = (cudaStream_t)batch->stream;
  GPUMC_TRY(GPUMC_CUDA(cudaMemsetAsync(arguments->sums, 0, sums, stream), error));
  const dim3 tiles((uint32_t)batch->capacity * replicas->geometry.n_tiles, batch->runs);
  measure_tiles<<<tiles, ising_tiled_threads(replicas),
                  2 * replicas->geometry.copy_words * sizeof(uint32_t), stream>>>(*arguments);
  GPUMC_TRY(GPUMC_CUDA_LAUNCHED("measure_tiles", error));
  const dim3 grid((uint32_t)lattice_parts(batch->capacity, FINISH_THREADS), batch->runs);
  finish<<<grid, FINISH_THREADS, 0, stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("finish", error);
}
