/* Sweeps of the spin kernel in global memory, for replicas that do not fit into shared memory: a
 * launch for each colour of each sweep. */
#include "models/ising/spin/spin_general.cuh"

enum { WARP = 32, THREADS = 128, THREADS_MAXIMUM = 1024 };

static __device__ inline uint32_t *
replica_words(const struct ising_spin_replicas *replicas, size_t element)
{
  return replicas->words + element * 2 * ising_spin_words(&replicas->lattice);
}

/* `chunks`: blocks of threads per replica. EACH: every run has a rule of its own. */
template <uint32_t ROUNDS, int MODE, bool EACH>
__global__ void __launch_bounds__(THREADS_MAXIMUM)
    update_colour(const __grid_constant__ struct ising_spin_gpu_sweep arguments, uint32_t chunks,
                  uint32_t colour, uint32_t time)
{
  __shared__ struct ising_run_rule run_rule;
  const struct lattice_batch *batch = &arguments.replicas.batch;
  const struct ising_spin_gpu_lattice *lattice = &arguments.replicas.lattice;
  const uint32_t replica = blockIdx.x / chunks;
  const uint32_t block = blockIdx.x % chunks * blockDim.x + threadIdx.x;
  if (EACH && threadIdx.x == 0)
    run_rule = arguments.tables.rules[blockIdx.y];
  if (EACH)
    __syncthreads();
  if (replica >= batch->size[blockIdx.y] || block >= lattice->blocks)
    return;
  const uint32_t n_words = ising_spin_words(lattice);
  uint32_t *both = replica_words(&arguments.replicas, blockIdx.y * batch->capacity + replica);
  uint32_t *words = both + (size_t)colour * n_words;
  const uint32_t *other = both + (size_t)(1 - colour) * n_words;
  const struct gpumc_philox_group random = gpumc_philox_group(
      lattice_batch_random(batch, blockIdx.y), lattice_batch_replica(batch, replica), time);
  if constexpr (MODE > ISING_SPIN_FIELD) {
    ising_spin_update_general<ROUNDS, MODE == ISING_SPIN_BY_TERMS>(
        lattice, &arguments.tables, &run_rule, ising_spin_sample_of(&arguments.tables, replica),
        &random, colour, block, words, other);
  } else if constexpr (EACH) {
    const struct ising_rule rule = ising_rule_of_words(&run_rule);
    ising_spin_update_block<ROUNDS, MODE, false>(lattice, &rule, &random, colour, block, NULL,
                                                 words, other);
  } else {
    ising_spin_update_block<ROUNDS, MODE, false>(lattice, &arguments.rule, &random, colour, block,
                                                 NULL, words, other);
  }
}

struct global_kernels {
  template <uint32_t ROUNDS, int MODE, bool EACH> auto choose() const
  {
    return update_colour<ROUNDS, MODE, EACH>;
  }
};

static uint32_t choose_threads(const struct ising_spin_replicas *replicas)
{
  const uint32_t wanted = replicas->block_threads > 0 ? replicas->block_threads : THREADS;
  if (wanted >= THREADS_MAXIMUM)
    return THREADS_MAXIMUM;
  return wanted < WARP ? (uint32_t)WARP : wanted / WARP * WARP;
}

extern "C" enum gpumc_status
ising_spin_sweep_global(const struct ising_spin_gpu_sweep *arguments, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &arguments->replicas.batch;
  auto *kernel = ising_spin_choose_kernel(arguments, global_kernels());
  const uint32_t threads = choose_threads(&arguments->replicas);
  const uint32_t chunks = (uint32_t)lattice_parts(arguments->replicas.lattice.blocks, threads);
  const dim3 grid((uint32_t)batch->capacity * chunks, batch->runs);
  cudaStream_t stream = (cudaStream_t)batch->stream;
  for (uint32_t s = 0; s < arguments->sweeps; s++)
    for (uint32_t colour = 0; colour < 2; colour++) {
      kernel<<<grid, threads, 0, stream>>>(*arguments, chunks, colour, batch->time + s);
      GPUMC_TRY(GPUMC_CUDA_LAUNCHED("update_colour", error));
    }
  return GPUMC_OK;
}
