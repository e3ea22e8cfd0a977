/* The replica kernel: every thread goes through the lattice of its replica, spin by spin. The
 * scheme of Barash et al., Comput. Phys. Commun. 220, 341 (2017), section 3, which does for any
 * model. */
#include "models/ising/replica/replica_cuda.cuh"

enum {
  SWEEP_THREADS = 128,
  THREADS = 256,
  THREADS_MAXIMUM = 1024,
  BLOCK = 64, /* spins of a colour that COUNTERS Philox counters make numbers for */
  COUNTERS = 16,
  OUTPUTS = 4
};

/* What a thread needs for a sweep. */
struct walk {
  const struct ising_run_rule *rule; /* in shared memory: threads look up different classes */
  struct lane lane;
  struct sample sample;
  struct gpumc_random random;
  uint32_t replica;
};

template <int DIMENSION, int KIND>
static __device__ inline bool
flips(const struct walk *walk, uint32_t colour, uint32_t k, uint32_t start, uint32_t number)
{
  const struct ising_run_rule *rule = walk->rule;
  uint32_t near[2 * DIMENSION];
  find_neighbours<DIMENSION>(walk->lane, colour, k, near);
#pragma unroll
  for (int n = 0; n < 2 * DIMENSION; n++)
    near[n] = *spin_at(walk->lane, 1 - colour, near[n]);
  const size_t position = (size_t)colour * walk->lane.colour + k;
  if (KIND != ISING_SPIN_TERMS) {
    const uint32_t of_spin = class_of<DIMENSION, KIND>(walk->sample, position, near);
    return number < rule->threshold[of_spin] || ising_rule_compared(rule, of_spin) != start;
  }
  const uint32_t estimate = ising_spin_estimate(
      &rule->estimate, field_of<DIMENSION, float>(walk->sample, position, near), start, number);
  if (estimate != ISING_OPEN)
    return estimate == ISING_FLIPS;
  return ising_spin_flips(&rule->exact, rule->start == 0,
                          field_of<DIMENSION, int64_t>(walk->sample, position, near), start,
                          number);
}

template <int DIMENSION, int KIND>
static __device__ inline void update_colour(const struct walk *walk, uint32_t time, uint32_t colour)
{
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, colour);
  const uint32_t n_counters = (walk->lane.colour + BLOCK - 1) / BLOCK * COUNTERS;
  for (uint32_t counter = 0; counter < n_counters; counter++) {
    uint32_t number[OUTPUTS];
    gpumc_random_draw(walk->random, counter, walk->replica, time, label, number);
#pragma unroll
    for (uint32_t j = 0; j < OUTPUTS; j++) {
      const uint32_t k = counter / COUNTERS * BLOCK + j * COUNTERS + counter % COUNTERS;
      if (k >= walk->lane.colour)
        break;
      uint8_t *spin = spin_at(walk->lane, colour, k);
      const uint32_t start = *spin & walk->rule->start;
      *spin =
          (uint8_t)(start ^ (uint32_t)flips<DIMENSION, KIND>(walk, colour, k, start, number[j]));
    }
  }
}

template <int DIMENSION, int KIND>
__global__ void __launch_bounds__(THREADS_MAXIMUM)
    sweep_replicas(const __grid_constant__ struct ising_replica_sweep arguments)
{
  __shared__ struct ising_run_rule rule;
  const struct lattice_batch *batch = &arguments.replicas.batch;
  const uint32_t replica = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0)
    rule = arguments.tables.rules[blockIdx.y];
  __syncthreads();
  if (replica >= batch->size[blockIdx.y])
    return;
  const struct walk walk = {&rule, lane_of(&arguments.replicas, blockIdx.y, replica),
                            sample_of(&arguments.replicas, &arguments.tables, replica),
                            lattice_batch_random(batch, blockIdx.y), replica};
  for (uint32_t s = 0; s < arguments.sweeps; s++)
    for (uint32_t colour = 0; colour < 2; colour++)
      update_colour<DIMENSION, KIND>(&walk, batch->time + s, colour);
}

static __global__ void randomize(const __grid_constant__ struct ising_replica_replicas arguments)
{
  const struct lattice_batch *batch = &arguments.batch;
  const uint32_t replica = blockIdx.x * blockDim.x + threadIdx.x;
  if (replica >= batch->size[blockIdx.y])
    return;
  const struct gpumc_random random = lattice_batch_random(batch, blockIdx.y);
  const struct lane lane = lane_of(&arguments, blockIdx.y, replica);
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_INITIAL, 0);
  const size_t sites = 2 * (size_t)lane.colour;
  for (size_t first = 0; first < sites; first += 32 * OUTPUTS) {
    uint32_t word[OUTPUTS];
    gpumc_random_draw(random, (uint32_t)(first / (32 * OUTPUTS)), replica, 0, label, word);
#pragma unroll
    for (uint32_t i = 0; i < 32 * OUTPUTS; i++)
      if (first + i < sites)
        lane.spins[(first + i) * ISING_REPLICA_GROUP] = word[i / 32] >> i % 32 & 1;
  }
}

/* A thread for each byte of portable form; see spin_of_site. */
static __device__ inline struct lane
portable_lane(const struct ising_replica_transfer *arguments, size_t *number, size_t *first_site)
{
  *number = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  const size_t i = *number / arguments->portable.replica_bytes;
  *first_site = (*number - i * arguments->portable.replica_bytes) * 8;
  if (i >= arguments->portable.count)
    return {NULL};
  return lane_of(&arguments->replicas, arguments->portable.run, arguments->portable.first + i);
}

static __device__ inline uint8_t *spin_of_site(struct lane lane, size_t site)
{
  const uint32_t k = (uint32_t)(site / 2);
  const uint32_t line = k / lane.row;
  return spin_at(lane, (line + line / lane.height + site) & 1, k);
}

static __global__ void
from_portable(const __grid_constant__ struct ising_replica_transfer arguments)
{
  size_t number, site;
  const struct lane lane = portable_lane(&arguments, &number, &site);
  if (lane.spins == NULL)
    return;
  for (uint32_t j = 0; j < 8 && site + j < 2 * (size_t)lane.colour; j++)
    *spin_of_site(lane, site + j) = arguments.portable.replica[number] >> j & 1;
}

static __global__ void to_portable(const __grid_constant__ struct ising_replica_transfer arguments)
{
  size_t number, site;
  const struct lane lane = portable_lane(&arguments, &number, &site);
  if (lane.spins == NULL)
    return;
  uint32_t bits = 0;
  for (uint32_t j = 0; j < 8 && site + j < 2 * (size_t)lane.colour; j++)
    bits |= (uint32_t)*spin_of_site(lane, site + j) << j;
  arguments.portable.replica[number] = (uint8_t)bits;
}

static dim3 replica_grid(const struct lattice_batch *batch, uint32_t threads)
{
  return dim3((uint32_t)lattice_parts(batch->capacity, threads), batch->runs);
}

extern "C" enum gpumc_status
ising_replica_randomize(const struct ising_replica_replicas *arguments, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &arguments->batch;
  randomize<<<replica_grid(batch, THREADS), THREADS, 0, (cudaStream_t)batch->stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("randomize", error);
}

typedef void sweep_kernel(struct ising_replica_sweep);

template <int DIMENSION> static sweep_kernel *choose_kernel(enum ising_spin_kind kind)
{
  if (kind == ISING_SPIN_UNIFORM)
    return sweep_replicas<DIMENSION, ISING_SPIN_UNIFORM>;
  return kind == ISING_SPIN_SIGNS ? sweep_replicas<DIMENSION, ISING_SPIN_SIGNS>
                                  : sweep_replicas<DIMENSION, ISING_SPIN_TERMS>;
}

extern "C" enum gpumc_status
ising_replica_run(const struct ising_replica_sweep *arguments, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &arguments->replicas.batch;
  uint32_t threads = arguments->replicas.block_threads;
  if (threads == 0 || threads > THREADS_MAXIMUM)
    threads = (uint32_t)(threads == 0 ? SWEEP_THREADS : THREADS_MAXIMUM);
  sweep_kernel *kernel = arguments->tables.dimension == 3
                             ? choose_kernel<3>(arguments->tables.kind)
                             : choose_kernel<2>(arguments->tables.kind);
  kernel<<<replica_grid(batch, threads), threads, 0, (cudaStream_t)batch->stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("sweep_replicas", error);
}

static uint32_t portable_blocks(const struct ising_replica_transfer *arguments)
{
  return (uint32_t)lattice_parts(arguments->portable.count * arguments->portable.replica_bytes,
                                 THREADS);
}

extern "C" enum gpumc_status
ising_replica_from_portable(const struct ising_replica_transfer *arguments,
                            struct gpumc_error *error)
{
  cudaStream_t stream = (cudaStream_t)arguments->replicas.batch.stream;
  from_portable<<<portable_blocks(arguments), THREADS, 0, stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("from_portable", error);
}

extern "C" enum gpumc_status
ising_replica_to_portable(const struct ising_replica_transfer *arguments, struct gpumc_error *error)
{
  cudaStream_t stream = (cudaStream_t)arguments->replicas.batch.stream;
  to_portable<<<portable_blocks(arguments), THREADS, 0, stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("to_portable", error);
}
