/* The replica kernel: every thread goes through the lattice of its replica, spin by spin. The
 * scheme of Barash et al., Comput. Phys. Commun. 220, 341 (2017), section 3, which does for any
 * model. */
#include "models/ising/ising_batch.cuh"
#include "models/ising/ising_replica_cuda.h"

enum {
  SWEEP_THREADS = 128,
  THREADS = 256,
  THREADS_MAXIMUM = 1024,
  BLOCK = 64, /* spins of a colour that COUNTERS Philox counters make numbers for */
  COUNTERS = 16,
  OUTPUTS = 4,
  PARTS = 64 /* that a replica is copied in */
};

/* One replica: its spins are ISING_REPLICA_GROUP bytes apart. */
struct lane {
  uint8_t *spins;
  uint32_t row, colour;
};

static __device__ inline struct lane
lane_of(const struct ising_replica_replicas *replicas, size_t run, size_t replica)
{
  const size_t group = run * replicas->groups + replica / ISING_REPLICA_GROUP;
  const size_t sites = 2 * (size_t)replicas->colour;
  return {replicas->spins + group * sites * ISING_REPLICA_GROUP + replica % ISING_REPLICA_GROUP,
          replicas->row, replicas->colour};
}

static __device__ inline uint8_t *spin_at(struct lane lane, uint32_t colour, uint32_t k)
{
  return lane.spins + ((size_t)colour * lane.colour + k) * ISING_REPLICA_GROUP;
}

/* The neighbours of spin k of `colour`, as indices of the other colour. */
static __device__ inline void
find_neighbours(struct lane lane, uint32_t colour, uint32_t k, uint32_t neighbour[4])
{
  const uint32_t row = lane.row, y = k / row, x = k - y * row;
  neighbour[0] = k < row ? k + lane.colour - row : k - row;
  neighbour[1] = k >= lane.colour - row ? k + row - lane.colour : k + row;
  neighbour[2] = k;
  if (((y ^ colour) & 1) != 0)
    neighbour[3] = x == row - 1 ? k + 1 - row : k + 1;
  else
    neighbour[3] = x == 0 ? k + row - 1 : k - 1;
}

static __device__ inline uint32_t count_up(struct lane lane, uint32_t colour, uint32_t k)
{
  uint32_t neighbour[4], up = 0;
  find_neighbours(lane, colour, k, neighbour);
  for (int i = 0; i < 4; i++)
    up += *spin_at(lane, 1 - colour, neighbour[i]);
  return up;
}

static __device__ inline void update_colour(const struct ising_rule *rule,
                                            struct gpumc_random random, struct lane lane,
                                            uint32_t replica, uint32_t time, uint32_t colour)
{
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, colour);
  const uint32_t n_counters = (lane.colour + BLOCK - 1) / BLOCK * COUNTERS;
  for (uint32_t counter = 0; counter < n_counters; counter++) {
    uint32_t number[OUTPUTS];
    gpumc_random_draw(random, counter, replica, time, label, number);
#pragma unroll
    for (uint32_t j = 0; j < OUTPUTS; j++) {
      const uint32_t k = counter / COUNTERS * BLOCK + j * COUNTERS + counter % COUNTERS;
      if (k >= lane.colour)
        break;
      uint8_t *spin = spin_at(lane, colour, k);
      const uint32_t up = count_up(lane, colour, k);
      const uint32_t compared = (*spin ^ rule->flip[up]) & rule->needed[up] & 1;
      if (compared == 0 || number[j] < rule->threshold[up])
        *spin ^= 1;
    }
  }
}

static __device__ inline void
measure(const struct ising_channels *channels, struct lane lane, size_t element)
{
  int64_t up = 0, unsatisfied = 0;
  for (uint32_t k = 0; k < lane.colour; k++) {
    const uint32_t neighbours_up = count_up(lane, 0, k);
    const uint32_t spin = *spin_at(lane, 0, k);
    up += spin + *spin_at(lane, 1, k);
    unsatisfied += spin != 0 ? 4 - neighbours_up : neighbours_up;
  }
  ising_record(channels, element, 2 * (int64_t)lane.colour, up, unsatisfied);
}

static __global__ void __launch_bounds__(THREADS_MAXIMUM)
    sweep_replicas(const __grid_constant__ struct ising_replica_sweep arguments)
{
  const struct ising_batch *batch = &arguments.replicas.batch;
  const uint32_t replica = blockIdx.x * blockDim.x + threadIdx.x;
  if (replica >= batch->size[blockIdx.y])
    return;
  const struct gpumc_random random = ising_batch_random(batch, blockIdx.y);
  const struct lane lane = lane_of(&arguments.replicas, blockIdx.y, replica);
  for (uint32_t s = 0; s < arguments.sweeps; s++)
    for (uint32_t colour = 0; colour < 2; colour++)
      update_colour(&arguments.rule, random, lane, replica, batch->time + s, colour);
  if (ising_wanted(&arguments.channels))
    measure(&arguments.channels, lane, blockIdx.y * batch->capacity + replica);
}

static __global__ void randomize(const __grid_constant__ struct ising_replica_replicas arguments)
{
  const struct ising_batch *batch = &arguments.batch;
  const uint32_t replica = blockIdx.x * blockDim.x + threadIdx.x;
  if (replica >= batch->size[blockIdx.y])
    return;
  const struct gpumc_random random = ising_batch_random(batch, blockIdx.y);
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

/* A thread for each byte of portable form; site 2 k + ((y + colour) & 1) is spin k in row y. */
static __device__ inline struct lane
portable_lane(const struct ising_replica_transfer *arguments, size_t *number, size_t *first_site)
{
  *number = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  const size_t i = *number / arguments->portable.replica_bytes;
  *first_site = (*number - i * arguments->portable.replica_bytes) * 8;
  if (i >= arguments->portable.count)
    return {NULL, 0, 0};
  return lane_of(&arguments->replicas, arguments->portable.run, arguments->portable.first + i);
}

static __device__ inline uint8_t *spin_of_site(struct lane lane, size_t site)
{
  const uint32_t k = (uint32_t)(site / 2);
  return spin_at(lane, (k / lane.row + site) & 1, k);
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

/* Replicas along x, positions along z. Lanes are bytes of their own, so that a child may be
 * written while its neighbours in the group are read. */
static __global__ void copy_parents(const __grid_constant__ struct ising_replica_gather arguments)
{
  const struct ising_batch *batch = &arguments.replicas.batch;
  const uint32_t replica = blockIdx.x * blockDim.x + threadIdx.x;
  if (replica >= batch->size[blockIdx.y])
    return;
  const uint32_t parent = arguments.parent[blockIdx.y * batch->capacity + replica];
  if (parent == replica)
    return;
  const struct lane to = lane_of(&arguments.replicas, blockIdx.y, replica);
  const struct lane from = lane_of(&arguments.replicas, blockIdx.y, parent);
  const size_t sites = 2 * (size_t)to.colour;
#pragma unroll 4
  for (size_t position = blockIdx.z; position < sites; position += gridDim.z)
    to.spins[position * ISING_REPLICA_GROUP] = from.spins[position * ISING_REPLICA_GROUP];
}

static dim3 replica_grid(const struct ising_batch *batch, uint32_t threads, uint32_t parts)
{
  return dim3((uint32_t)ising_parts(batch->capacity, threads), batch->runs, parts);
}

extern "C" enum gpumc_status
ising_replica_randomize(const struct ising_replica_replicas *arguments, struct gpumc_error *error)
{
  const struct ising_batch *batch = &arguments->batch;
  randomize<<<replica_grid(batch, THREADS, 1), THREADS, 0, (cudaStream_t)batch->stream>>>(
      *arguments);
  return GPUMC_CUDA_LAUNCHED("randomize", error);
}

extern "C" enum gpumc_status
ising_replica_run(const struct ising_replica_sweep *arguments, struct gpumc_error *error)
{
  const struct ising_batch *batch = &arguments->replicas.batch;
  uint32_t threads = arguments->replicas.block_threads;
  if (threads == 0 || threads > THREADS_MAXIMUM)
    threads = (uint32_t)(threads == 0 ? SWEEP_THREADS : THREADS_MAXIMUM);
  sweep_replicas<<<replica_grid(batch, threads, 1), threads, 0, (cudaStream_t)batch->stream>>>(
      *arguments);
  return GPUMC_CUDA_LAUNCHED("sweep_replicas", error);
}

static uint32_t portable_blocks(const struct ising_replica_transfer *arguments)
{
  return (uint32_t)ising_parts(arguments->portable.count * arguments->portable.replica_bytes,
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

extern "C" enum gpumc_status
ising_replica_copy_parents(const struct ising_replica_gather *arguments, struct gpumc_error *error)
{
  const struct ising_batch *batch = &arguments->replicas.batch;
  const uint32_t sites = 2 * arguments->replicas.colour,
                 parts = sites < PARTS ? sites : (uint32_t)PARTS;
  copy_parents<<<replica_grid(batch, THREADS, parts), THREADS, 0, (cudaStream_t)batch->stream>>>(
      *arguments);
  return GPUMC_CUDA_LAUNCHED("copy_parents", error);
}
