/* Sweeps of replicas whose couplings or fields have any size, in shared memory, a lane of a warp
 * for each (spin_lane.cuh). Lanes count the runs first, then the replicas of a run: those with the
 * same sample are neighbours. Several warps share the work on 32 replicas if their columns are
 * large, or if there are few of them. */
#include "models/ising/spin/spin_lane.cuh"

enum {
  WARP = 32,
  WARPS = 4,          /* of a block of threads, by default */
  PARTS_MAXIMUM = 16, /* warps of a group of replicas */
  PART_BYTES = 10240, /* of its columns for each warp, at most, so that enough run together */
  WARPS_BUSY = 16,    /* that keep a multiprocessor busy */
  THREADS_MAXIMUM = WARP * PARTS_MAXIMUM,
  DEFAULT_SHARED_BYTES = 48 << 10
};

/* `groups` of 32 replicas for a block of threads, `parts` warps for each. Decides no result. */
struct spread {
  uint32_t groups, parts;
  size_t group_bytes;
};

static struct spread choose_spread(const struct ising_spin_replicas *replicas)
{
  const size_t busy = (size_t)replicas->multiprocessors * WARPS_BUSY;
  const size_t groups = lattice_parts(replicas->batch.runs * replicas->batch.expected, WARP);
  const uint32_t blocks = replicas->lattice.blocks;
  struct spread spread = {1, 1, ising_spin_columns_bytes(&replicas->lattice)};
  while (spread.parts < PARTS_MAXIMUM && spread.parts < blocks &&
         (spread.parts * (size_t)PART_BYTES < spread.group_bytes || spread.parts * groups < busy))
    spread.parts *= 2;
  const uint32_t asked = replicas->block_threads / WARP;
  const uint32_t warps = asked == 0 ? WARPS : asked < PARTS_MAXIMUM ? asked : PARTS_MAXIMUM;
  while ((spread.groups + 1) * spread.parts <= warps &&
         (spread.groups + 1) * spread.group_bytes <= replicas->shared_bytes)
    spread.groups++;
  return spread;
}

/* What a lane works with. */
struct lane {
  uint32_t run, replica, part;
  struct ising_lane_rule rule;
  const uint8_t *sample;
  uint32_t *column;
};

/* Copies between a replica and its column. */
__device__ static inline void
load(const struct spread *spread, const struct lane *lane, uint32_t blocks, const uint32_t *stored)
{
  for (uint32_t b = lane->part; b < 2 * blocks; b += spread->parts) {
    const uint2 words = ((const uint2 *)stored)[b];
    lane->column[2 * b * ISING_LANE_COLUMNS] = words.x;
    lane->column[(2 * b + 1) * ISING_LANE_COLUMNS] = words.y;
  }
}

__device__ static inline void
store(const struct spread *spread, const struct lane *lane, uint32_t blocks, uint32_t *stored)
{
  for (uint32_t b = lane->part; b < 2 * blocks; b += spread->parts)
    ((uint2 *)stored)[b] = make_uint2(lane->column[2 * b * ISING_LANE_COLUMNS],
                                      lane->column[(2 * b + 1) * ISING_LANE_COLUMNS]);
}

/* Waits for the other warps of the group: a lane alone uses its column. */
__device__ static inline void wait(const struct spread *spread)
{
  if (spread->parts > 1)
    __syncthreads();
}

template <uint32_t ROUNDS, int DIMENSION, bool FIELD>
__device__ static inline void
sweep(const struct ising_spin_gpu_sweep *arguments, const struct spread *spread,
      const struct lane *lane, bool present)
{
  const struct ising_spin_gpu_lattice *lattice = &arguments->replicas.lattice;
  const struct lattice_batch *batch = &arguments->replicas.batch;
  const size_t colour_words = (size_t)ising_spin_words(lattice) * ISING_LANE_COLUMNS;
  const struct gpumc_random random = lattice_batch_random(batch, lane->run);
  for (uint32_t s = 0; s < arguments->sweeps; s++) {
    const struct gpumc_philox_group at_time =
        gpumc_philox_group(random, lattice_batch_replica(batch, lane->replica), batch->time + s);
#pragma unroll 1
    for (uint32_t colour = 0; colour < 2; colour++) {
      if (present)
        for (uint32_t b = lane->part; b < lattice->blocks; b += spread->parts)
          ising_lane_update<ROUNDS, DIMENSION, FIELD>(
              lattice, &lane->rule, &arguments->tables.rules[lane->run], lane->sample, &at_time,
              colour, b, lane->column + colour * colour_words,
              lane->column + (1 - colour) * colour_words);
      wait(spread);
    }
  }
}

/* Shared memory: the columns of one group after the other. */
template <uint32_t ROUNDS, int DIMENSION, bool FIELD>
__global__ void __launch_bounds__(THREADS_MAXIMUM, 1)
    sweep_lanes(const __grid_constant__ struct ising_spin_gpu_sweep arguments,
                const __grid_constant__ struct spread spread)
{
  extern __shared__ uint32_t columns[];
  const struct lattice_batch *batch = &arguments.replicas.batch;
  const uint32_t blocks = arguments.replicas.lattice.blocks;
  const uint32_t warp = threadIdx.x / WARP, group = warp / spread.parts;
  const uint32_t number = (blockIdx.x * spread.groups + group) * WARP + threadIdx.x % WARP;
  struct lane lane;
  lane.replica = number / batch->runs;
  lane.run = number - lane.replica * batch->runs;
  lane.part = warp - group * spread.parts;
  lane.rule = ising_lane_rule_of(&arguments.tables.rules[lane.run]);
  lane.sample = ising_spin_sample_of(&arguments.tables, lane.replica);
  lane.column =
      columns + group * (spread.group_bytes / sizeof *columns) + threadIdx.x % ISING_LANE_COLUMNS;
  uint32_t *stored = arguments.replicas.words +
                     (lane.run * batch->capacity + lane.replica) * 2 * ISING_SPIN_WORDS * blocks;
  const bool present = lane.replica < batch->size[lane.run];
  if (present)
    load(&spread, &lane, blocks, stored);
  wait(&spread);
  sweep<ROUNDS, DIMENSION, FIELD>(&arguments, &spread, &lane, present);
  if (present)
    store(&spread, &lane, blocks, stored);
}

typedef void (*sweep_kernel)(struct ising_spin_gpu_sweep, struct spread);

template <bool FIELD>
static sweep_kernel choose_kernel(const struct ising_spin_gpu_sweep *arguments)
{
  const bool seven = arguments->replicas.batch.rounds == 7;
  if (arguments->replicas.lattice.dimension == 3)
    return seven ? sweep_lanes<7, 3, FIELD> : sweep_lanes<10, 3, FIELD>;
  return seven ? sweep_lanes<7, 2, FIELD> : sweep_lanes<10, 2, FIELD>;
}

/* Fewer threads than a block of 64 spins each would give (spin_sweep_gpu.cu) must keep the device
 * busy. */
extern "C" int ising_spin_fits_lanes(const struct ising_spin_replicas *replicas)
{
  const struct spread spread = choose_spread(replicas);
  const size_t population = replicas->batch.runs * replicas->batch.expected;
  return ising_spin_has_lanes(&replicas->lattice) && spread.group_bytes <= replicas->shared_bytes &&
         (spread.parts >= replicas->lattice.blocks ||
          spread.parts * population >= (size_t)replicas->multiprocessors * WARPS_BUSY * WARP / 4);
}

extern "C" enum gpumc_status
ising_spin_sweep_lanes(const struct ising_spin_gpu_sweep *arguments, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &arguments->replicas.batch;
  const struct spread spread = choose_spread(&arguments->replicas);
  const size_t shared_bytes = spread.groups * spread.group_bytes;
  const sweep_kernel kernel =
      arguments->fields ? choose_kernel<true>(arguments) : choose_kernel<false>(arguments);
  if (shared_bytes > DEFAULT_SHARED_BYTES)
    GPUMC_TRY(GPUMC_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                              (int)shared_bytes),
                         error));
  const size_t lanes = batch->runs * batch->capacity;
  kernel<<<(uint32_t)lattice_parts(lanes, spread.groups * WARP),
           spread.groups * spread.parts * WARP, shared_bytes, (cudaStream_t)batch->stream>>>(
      *arguments, spread);
  return GPUMC_CUDA_LAUNCHED("sweep_lanes", error);
}
