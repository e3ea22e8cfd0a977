/* Replicas of the spin kernel on a GPU: drawing them, and their portable form; and passing the
 * rules of the runs to the device as arguments, which need no copy and no wait. */
#include "models/ising/spin/spin_block.cuh"
#include "models/ising/spin/spin_tables_gpu.h"

enum { THREADS = 256 };

static __device__ inline size_t thread_number(void)
{
  return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

/* Returns the blocks of THREADS threads for n threads in total. */
static uint32_t blocks_for(size_t n)
{
  return (uint32_t)lattice_parts(n, THREADS);
}

static __device__ inline uint32_t
initial_word(struct gpumc_random random, uint32_t replica, uint32_t v)
{
  uint32_t word[4];
  gpumc_random_draw(random, v / 4, replica, 0, gpumc_random_label(GPUMC_RANDOM_LATTICE_INITIAL, 0),
                    word);
  return v % 4 < 2 ? (v % 4 == 0 ? word[0] : word[1]) : (v % 4 == 2 ? word[2] : word[3]);
}

/* One thread for each word of the run. */
static __global__ void randomize(const __grid_constant__ struct ising_spin_replicas arguments)
{
  const struct lattice_batch *batch = &arguments.batch;
  const struct ising_spin_gpu_lattice *lattice = &arguments.lattice;
  const uint32_t n_words = ising_spin_words(lattice), replica_words = 2 * n_words;
  const size_t number = thread_number(), replica = number / replica_words;
  if (replica >= batch->size[blockIdx.y])
    return;
  const uint32_t place = (uint32_t)(number - replica * replica_words);
  const uint32_t colour = place / n_words, w = place - colour * n_words;
  const struct gpumc_random random = lattice_batch_random(batch, blockIdx.y);
  const size_t first = (size_t)colour * lattice->colour + (size_t)w * ISING_SPIN_WORD_BITS;
  const uint32_t v = (uint32_t)(first / ISING_SPIN_WORD_BITS);
  const uint32_t replica_number = lattice_batch_replica(batch, (uint32_t)replica);
  const uint32_t low = initial_word(random, replica_number, v);
  const uint32_t high = initial_word(random, replica_number, v + 1);
  const uint32_t bits = __funnelshift_r(low, high, (uint32_t)(first % ISING_SPIN_WORD_BITS));
  arguments.words[blockIdx.y * batch->capacity * replica_words + number] =
      bits & ising_spin_valid(lattice, w);
}

static __device__ inline uint32_t *
replica_words(const struct ising_spin_transfer *arguments, size_t i)
{
  const struct ising_spin_replicas *replicas = &arguments->replicas;
  const struct lattice_portable *portable = &arguments->portable;
  const size_t element = portable->run * replicas->batch.capacity +
                         lattice_portable_replica(portable, portable->first + i);
  return replicas->words + element * 2 * ising_spin_words(&replicas->lattice);
}

/* Returns whether spin k of colour 0 is at an odd x: site number 2 k + this. */
static __device__ inline uint32_t odd_row(const struct ising_spin_gpu_lattice *lattice, uint32_t k)
{
  const uint32_t line = k / lattice->row;
  return (line + line / lattice->height) & 1;
}

/* One thread for each word. */
static __global__ void from_portable(const __grid_constant__ struct ising_spin_transfer arguments)
{
  const struct ising_spin_gpu_lattice *lattice = &arguments.replicas.lattice;
  const uint32_t n_words = ising_spin_words(lattice);
  const size_t number = thread_number(), i = number / (2 * n_words);
  if (i >= arguments.portable.count)
    return;
  const uint32_t place = (uint32_t)(number - i * 2 * n_words);
  const uint32_t colour = place / n_words, w = place - colour * n_words;
  const uint8_t *portable = arguments.portable.replica + i * arguments.portable.replica_bytes;
  uint32_t bits = 0;
  for (uint32_t j = 0; j < ISING_SPIN_WORD_BITS; j++) {
    const uint32_t k = w * ISING_SPIN_WORD_BITS + j;
    if (k >= lattice->colour)
      break;
    const size_t site = 2 * (size_t)k + (odd_row(lattice, k) ^ colour);
    bits |= (uint32_t)(portable[site / 8] >> site % 8 & 1) << j;
  }
  replica_words(&arguments, i)[place] = bits;
}

/* One thread for each byte. */
static __global__ void to_portable(const __grid_constant__ struct ising_spin_transfer arguments)
{
  const struct ising_spin_gpu_lattice *lattice = &arguments.replicas.lattice;
  const uint32_t n_words = ising_spin_words(lattice);
  const size_t number = thread_number(), i = number / arguments.portable.replica_bytes;
  if (i >= arguments.portable.count)
    return;
  const size_t first = (number - i * arguments.portable.replica_bytes) * 8;
  const uint32_t *words = replica_words(&arguments, i);
  uint32_t bits = 0;
  for (uint32_t j = 0; j < 8 && first + j < 2 * (size_t)lattice->colour; j++) {
    const uint32_t k = (uint32_t)((first + j) / 2), colour = (odd_row(lattice, k) + j) & 1;
    bits |= (words[colour * n_words + k / ISING_SPIN_WORD_BITS] >> k % ISING_SPIN_WORD_BITS & 1)
            << j;
  }
  arguments.portable.replica[number] = (uint8_t)bits;
}

extern "C" enum gpumc_status
ising_spin_randomize(const struct ising_spin_replicas *arguments, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &arguments->batch;
  const size_t words = batch->capacity * 2 * ISING_SPIN_WORDS * arguments->lattice.blocks;
  randomize<<<dim3(blocks_for(words), batch->runs), THREADS, 0, (cudaStream_t)batch->stream>>>(
      *arguments);
  return GPUMC_CUDA_LAUNCHED("randomize", error);
}

extern "C" enum gpumc_status
ising_spin_from_portable(const struct ising_spin_transfer *arguments, struct gpumc_error *error)
{
  const size_t words =
      arguments->portable.count * 2 * ISING_SPIN_WORDS * arguments->replicas.lattice.blocks;
  cudaStream_t stream = (cudaStream_t)arguments->replicas.batch.stream;
  from_portable<<<blocks_for(words), THREADS, 0, stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("from_portable", error);
}

extern "C" enum gpumc_status
ising_spin_to_portable(const struct ising_spin_transfer *arguments, struct gpumc_error *error)
{
  const size_t bytes = arguments->portable.count * arguments->portable.replica_bytes;
  cudaStream_t stream = (cudaStream_t)arguments->replicas.batch.stream;
  to_portable<<<blocks_for(bytes), THREADS, 0, stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("to_portable", error);
}

static __global__ void store_rules(const __grid_constant__ struct ising_rules_part arguments)
{
  if (threadIdx.x < arguments.count)
    arguments.rules[arguments.first + threadIdx.x] = arguments.rule[threadIdx.x];
}

extern "C" enum gpumc_status
ising_rules_store(const struct ising_rules_part *arguments, struct gpumc_error *error)
{
  store_rules<<<1, ISING_RULES_AT_ONCE, 0, (cudaStream_t)arguments->stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("store_rules", error);
}
