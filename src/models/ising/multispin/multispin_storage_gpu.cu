/* Replicas drawn at beta = 0 and copied in and out; thresholds of every run's temperature and
 * field. */
#include "models/ising/multispin/multispin_gpu.h"
#include "models/ising/multispin/multispin_group.cuh"

enum { THREADS = 256 };

/* A warp draws a tile by site. */
__global__ void __launch_bounds__(THREADS)
    randomize(const __grid_constant__ struct ising_multispin_replicas replicas)
{
  const uint32_t lane = threadIdx.x % 32;
  const size_t index = ((size_t)blockIdx.x * THREADS + threadIdx.x) / 32;
  const uint32_t number = (uint32_t)(index / replicas.tiles),
                 tile = (uint32_t)(index % replicas.tiles);
  struct ising_multispin_gpu_group group;
  if (!ising_multispin_group_find(&replicas, blockIdx.y, number, threadIdx.x, THREADS, &group))
    return;
  const struct gpumc_random generator = lattice_batch_random(&replicas.batch, blockIdx.y);
  const size_t w = (size_t)tile * GPUMC_TILE_WORDS + lane * GPUMC_TILE_LANE_WORDS;
  const uint32_t group_number = lattice_batch_group(&replicas.batch, number, ISING_MULTISPIN_LANES);
  uint32_t word[GPUMC_TILE_LANE_WORDS];
  for (uint32_t half = 0; half < 2; half++)
    gpumc_random_draw(generator, (uint32_t)(w / 4) + half, group_number, 0,
                      gpumc_random_label(GPUMC_RANDOM_LATTICE_INITIAL, 0), word + 4 * half);
#pragma unroll
  for (int i = 0; i < GPUMC_TILE_LANE_WORDS; i++)
    word[i] = w + i < 2 * (size_t)replicas.colour ? word[i] : 0;
  gpumc_tile_transpose(word);
  uint32_t *to = group.tiles + (size_t)tile * GPUMC_TILE_WORDS + gpumc_tile_place(lane);
#pragma unroll
  for (int i = 0; i < GPUMC_TILE_LANE_WORDS; i++)
    to[i * GPUMC_TILE_LANE_WORDS] = word[i];
}

/* Returns word v of a replica of run m: its sites 32 v .. 32 v + 31. */
__device__ static inline uint32_t *
word_of(const struct ising_multispin_replicas *replicas, uint32_t m, uint32_t replica, size_t v)
{
  const size_t group = (size_t)m * replicas->groups + replica / ISING_MULTISPIN_LANES;
  const size_t tile = group * replicas->tiles + v / GPUMC_TILE_LANE_WORDS;
  return replicas->words + tile * GPUMC_TILE_WORDS +
         replica % ISING_MULTISPIN_LANES * GPUMC_TILE_LANE_WORDS + v % GPUMC_TILE_LANE_WORDS;
}

/* Returns whether y + z is odd in the row `line` = z Ly + y; Ly is even. */
__device__ static inline uint32_t
parity_of(const struct ising_multispin_replicas *replicas, uint32_t line)
{
  return (line + gpumc_divide(line, replicas->height)) & 1;
}

/* Converts 32 bits of a replica's portable form to one word. */
__global__ void __launch_bounds__(THREADS)
    from_portable(const __grid_constant__ struct ising_multispin_transfer arguments)
{
  const struct ising_multispin_replicas *replicas = &arguments.replicas;
  const struct lattice_portable *portable = &arguments.portable;
  const size_t words = (size_t)replicas->tiles * GPUMC_TILE_LANE_WORDS;
  const size_t index = (size_t)blockIdx.x * THREADS + threadIdx.x;
  const uint32_t replica = (uint32_t)(index / words);
  const size_t v = index % words;
  if (replica >= portable->count)
    return;
  const uint8_t *bytes = portable->replica + replica * portable->replica_bytes;
  uint32_t word = 0;
  for (uint32_t i = 0; i < 32; i++) {
    const size_t w = 32 * v + i;
    if (w >= 2 * (size_t)replicas->colour)
      break;
    const uint32_t colour = w >= replicas->colour, k = (uint32_t)(w - colour * replicas->colour);
    const uint32_t line = gpumc_divide(k, replicas->row), half_x = k - line * replicas->row.value;
    const size_t site =
        (size_t)line * replicas->length_x + 2 * half_x + ((parity_of(replicas, line) + colour) & 1);
    word |= (uint32_t)(bytes[site / 8] >> site % 8 & 1) << i;
  }
  const size_t to = lattice_portable_replica(portable, portable->first + replica);
  *word_of(replicas, portable->run, (uint32_t)to, v) = word;
}

/* Computes one byte of the portable form. */
__global__ void __launch_bounds__(THREADS)
    to_portable(const __grid_constant__ struct ising_multispin_transfer arguments)
{
  const struct ising_multispin_replicas *replicas = &arguments.replicas;
  const struct lattice_portable *portable = &arguments.portable;
  const size_t index = (size_t)blockIdx.x * THREADS + threadIdx.x;
  const uint32_t replica = (uint32_t)(index / portable->replica_bytes);
  const size_t byte = index % portable->replica_bytes;
  if (replica >= portable->count)
    return;
  const size_t from = lattice_portable_replica(portable, portable->first + replica);
  uint32_t bits = 0;
  for (uint32_t i = 0; i < 8 && 8 * byte + i < 2 * (size_t)replicas->colour; i++) {
    const size_t site = 8 * byte + i;
    const uint32_t line = (uint32_t)(site / replicas->length_x),
                   x = (uint32_t)(site % replicas->length_x);
    const size_t w = (size_t)((x + parity_of(replicas, line)) & 1) * replicas->colour +
                     (size_t)line * replicas->row.value + x / 2;
    bits |= (*word_of(replicas, portable->run, (uint32_t)from, w / 32) >> w % 32 & 1) << i;
  }
  portable->replica[index] = (uint8_t)bits;
}

static uint32_t blocks_for(size_t threads)
{
  return (uint32_t)lattice_parts(threads, THREADS);
}

enum gpumc_status ising_multispin_randomize(const struct ising_multispin_replicas *arguments,
                                            struct gpumc_error *error)
{
  const dim3 grid(blocks_for((size_t)arguments->groups * arguments->tiles * 32),
                  arguments->batch.runs);
  randomize<<<grid, THREADS, 0, (cudaStream_t)arguments->batch.stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("randomize", error);
}

void ising_multispin_load_start(void)
{
  struct cudaFuncAttributes attributes;
  (void)cudaFuncGetAttributes(&attributes, (const void *)randomize);
}

enum gpumc_status ising_multispin_from_portable(const struct ising_multispin_transfer *arguments,
                                                struct gpumc_error *error)
{
  const struct ising_multispin_replicas *replicas = &arguments->replicas;
  const size_t words = arguments->portable.count * replicas->tiles * GPUMC_TILE_LANE_WORDS;
  from_portable<<<blocks_for(words), THREADS, 0, (cudaStream_t)replicas->batch.stream>>>(
      *arguments);
  return GPUMC_CUDA_LAUNCHED("from_portable", error);
}

enum gpumc_status ising_multispin_to_portable(const struct ising_multispin_transfer *arguments,
                                              struct gpumc_error *error)
{
  const size_t bytes = arguments->portable.count * arguments->portable.replica_bytes;
  cudaStream_t stream = (cudaStream_t)arguments->replicas.batch.stream;
  to_portable<<<blocks_for(bytes), THREADS, 0, stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("to_portable", error);
}

enum { RULE_THREADS = 64 };

__global__ void __launch_bounds__(RULE_THREADS)
    work_out(const __grid_constant__ struct ising_multispin_temperatures arguments)
{
  const uint32_t i = blockIdx.x * RULE_THREADS + threadIdx.x;
  if (i < arguments.count)
    arguments.thresholds[arguments.first + i] =
        ising_multispin_thresholds(&arguments.physics, arguments.at[i].beta, arguments.at[i].field);
}

enum gpumc_status ising_multispin_work_out(const struct ising_multispin_temperatures *arguments,
                                           struct gpumc_error *error)
{
  const uint32_t blocks = (uint32_t)lattice_parts(arguments->count, RULE_THREADS);
  work_out<<<blocks, RULE_THREADS, 0, (cudaStream_t)arguments->stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("work_out", error);
}
