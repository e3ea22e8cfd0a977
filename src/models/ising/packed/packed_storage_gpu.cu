/* Packed replicas drawn at beta = 0 and copied in and out. Four words are drawn at a time: sides
 * are even, so a replica has a multiple of four. */
#include "models/ising/ising_channels.h"
#include "models/ising/packed/packed_gpu.h"
#include "models/lattice/bit_sliced.h"

enum { THREADS = 256, VECTOR = 4 };

/* Four words of a replica: which ones, and whether they exist. */
struct four {
  uint32_t m, replica;
  size_t first;
  bool valid;
};

__device__ static inline struct four four_of(const struct ising_multispin_replicas *replicas)
{
  const size_t fours = ising_packed_words(replicas) / VECTOR;
  const size_t index = (size_t)blockIdx.x * THREADS + threadIdx.x;
  struct four four = {blockIdx.y, (uint32_t)(index / fours), index % fours * VECTOR, false};
  four.valid = four.replica < replicas->groups && four.replica < replicas->batch.size[four.m];
  return four;
}

__device__ static inline uint4 *place_of(const struct ising_multispin_replicas *replicas,
                                         uint32_t m, uint32_t replica, size_t first)
{
  return (uint4 *)(ising_packed_replica(replicas, m, replica) + first);
}

__global__ void __launch_bounds__(THREADS)
    randomize(const __grid_constant__ struct ising_packed_start arguments)
{
  const struct ising_multispin_replicas *replicas = &arguments.replicas;
  const struct four four = four_of(replicas);
  uint32_t word[VECTOR];
  if (!four.valid)
    return;
  gpumc_random_draw(lattice_batch_random(&replicas->batch, four.m), (uint32_t)(four.first / VECTOR),
                    lattice_batch_replica(&replicas->batch, four.replica), 0,
                    gpumc_random_label(GPUMC_RANDOM_LATTICE_INITIAL, 0), word);
#pragma unroll
  for (uint32_t i = 0; i < VECTOR; i++)
    word[i] ^= four.first + i >= replicas->colour ? arguments.stagger : 0;
  *place_of(replicas, four.m, four.replica, four.first) =
      make_uint4(word[0], word[1], word[2], word[3]);
}

/* The pair of words with 64 sites of a row: at even x those of the colour (y + z) & 1. */
struct pair {
  uint32_t *even, *odd, turn_even, turn_odd;
};

__device__ static inline struct pair
pair_of(const struct ising_packed_transfer *transfer, uint32_t i)
{
  const struct ising_multispin_replicas *replicas = &transfer->replicas;
  const size_t at = (transfer->portable.first + i) / replicas->colour;
  const uint32_t replica = (uint32_t)lattice_portable_replica(&transfer->portable, at);
  const uint32_t number = (uint32_t)((transfer->portable.first + i) % replicas->colour);
  const uint32_t line = gpumc_divide(number, replicas->row);
  const uint32_t z = gpumc_divide(line, replicas->height);
  const uint32_t y = line - z * replicas->height.value, even = (y + z) & 1;
  uint32_t *words = ising_packed_replica(replicas, transfer->portable.run, replica) + number;
  return {words + (size_t)even * replicas->colour, words + (size_t)(1 - even) * replicas->colour,
          even ? transfer->stagger : 0, even ? 0 : transfer->stagger};
}

__device__ static inline uint64_t *sites_of(const struct ising_packed_transfer *transfer)
{
  return (uint64_t *)transfer->portable.replica;
}

__global__ void __launch_bounds__(THREADS)
    from_portable(const __grid_constant__ struct ising_packed_transfer transfer)
{
  const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= transfer.portable.count)
    return;
  const struct pair pair = pair_of(&transfer, i);
  const uint64_t sites = sites_of(&transfer)[i];
  *pair.even = gpumc_bits_even(sites) ^ pair.turn_even;
  *pair.odd = gpumc_bits_even(sites >> 1) ^ pair.turn_odd;
}

__global__ void __launch_bounds__(THREADS)
    to_portable(const __grid_constant__ struct ising_packed_transfer transfer)
{
  const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= transfer.portable.count)
    return;
  const struct pair pair = pair_of(&transfer, i);
  sites_of(&transfer)[i] = gpumc_bits_spread(*pair.even ^ pair.turn_even) |
                           gpumc_bits_spread(*pair.odd ^ pair.turn_odd) << 1;
}

static dim3 grid_of(const struct ising_multispin_replicas *replicas)
{
  const size_t fours = replicas->groups * (ising_packed_words(replicas) / VECTOR);
  return dim3((uint32_t)lattice_parts(fours, THREADS), replicas->batch.runs);
}

enum gpumc_status
ising_packed_randomize(const struct ising_packed_start *arguments, struct gpumc_error *error)
{
  const struct ising_multispin_replicas *replicas = &arguments->replicas;
  randomize<<<grid_of(replicas), THREADS, 0, (cudaStream_t)replicas->batch.stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("randomize", error);
}

enum gpumc_status
ising_packed_from_portable(const struct ising_packed_transfer *arguments, struct gpumc_error *error)
{
  from_portable<<<(uint32_t)lattice_parts(arguments->portable.count, THREADS), THREADS, 0,
                  (cudaStream_t)arguments->replicas.batch.stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("from_portable", error);
}

enum gpumc_status
ising_packed_to_portable(const struct ising_packed_transfer *arguments, struct gpumc_error *error)
{
  to_portable<<<(uint32_t)lattice_parts(arguments->portable.count, THREADS), THREADS, 0,
                (cudaStream_t)arguments->replicas.batch.stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("to_portable", error);
}
