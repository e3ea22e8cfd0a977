/* Sweeps and measurement of the spin kernel in shared memory: several replicas per warp if a
 * replica is small, otherwise one per block of threads. */
#include "models/ising/spin/spin_general.cuh"

enum {
  WARP = 32,
  WARP_BYTES = 6144, /* shared memory of a warp at most, so that enough warps run together */
  WARPS_BUSY = 16,   /* that keep a multiprocessor busy */
  WARPS = 4,         /* of a block of threads, by default, if a warp has whole replicas; */
  WARPS_TABLE = 8,   /* if they share a table of more than TABLE_BYTES */
  TABLE_BYTES = 8192,
  TABLE_BYTES_MAXIMUM = 32768, /* larger tables are not made, */
  TABLE_SWEEPS = 4,            /* nor any for fewer sweeps */
  THREADS_MAXIMUM = 1024,
  /* Shared memory of ising_spin_measure, and the rule of a run. */
  STATIC_BYTES = 2 * sizeof(unsigned long long) + sizeof(struct ising_run_rule),
  DEFAULT_SHARED_BYTES = 48 << 10 /* available to a kernel without asking */
};

/* How replicas are assigned to threads. Decides no result. `lanes` = 0: a whole block of threads
 * per replica. */
struct shape {
  uint32_t lanes;    /* of a warp that work on one replica */
  uint32_t replicas; /* of a block of threads */
  uint32_t threads;
  bool table; /* of results of gpumc_philox_word_label, for all replicas of a block of threads */
  size_t shared_bytes;
};

static size_t replica_bytes(const struct ising_spin_gpu_lattice *lattice)
{
  return sizeof(uint32_t) * 2 * ISING_SPIN_WORDS * lattice->blocks;
}

static uint32_t clamp(uint32_t value, uint32_t low, uint32_t high)
{
  const uint32_t below = value < high ? value : high;
  return below > low ? below : low;
}

/* Returns the largest number of lanes per replica that leaves at most 1/16 more of a warp idle than
 * the best one does; 0: no replica fits into a warp's share of memory. */
static uint32_t choose_lanes(const struct ising_spin_gpu_lattice *lattice)
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

/* Returns the warps for one replica, a power of two: for its memory, and so that few replicas keep
 * the device busy. */
static uint32_t choose_warps(const struct ising_spin_replicas *replicas)
{
  const size_t population = replicas->batch.runs * replicas->batch.expected;
  const size_t bytes = replica_bytes(&replicas->lattice);
  const size_t busy = (size_t)replicas->multiprocessors * WARPS_BUSY;
  uint32_t warps = 1;
  while (warps < THREADS_MAXIMUM / WARP && warps * WARP < replicas->lattice.blocks &&
         (warps * WARP_BYTES < bytes || warps * population < busy))
    warps *= 2;
  return warps;
}

/* Returns the shared memory available for replicas and table. */
static size_t room_for(const struct ising_spin_replicas *replicas)
{
  return replicas->shared_bytes > STATIC_BYTES ? replicas->shared_bytes - STATIC_BYTES : 0;
}

/* Assigns several replicas to a warp, several warps to a block of threads. */
static struct shape
shape_of_warps(const struct ising_spin_replicas *replicas, uint32_t table_sweeps, uint32_t lanes)
{
  const size_t bytes = WARP / lanes * replica_bytes(&replicas->lattice);
  const size_t all = 2 * ISING_SPIN_COUNTERS * sizeof(uint2) * replicas->lattice.blocks;
  struct shape shape;
  shape.lanes = lanes;
  shape.table = table_sweeps >= TABLE_SWEEPS && all <= TABLE_BYTES_MAXIMUM &&
                bytes + all <= room_for(replicas);
  const size_t table = shape.table ? all : 0, fitting = (room_for(replicas) - table) / bytes;
  uint32_t warps = table > TABLE_BYTES ? WARPS_TABLE : WARPS;
  if (replicas->block_threads > 0)
    warps = clamp(replicas->block_threads / WARP, 1, THREADS_MAXIMUM / WARP);
  if (fitting < warps)
    warps = fitting > 0 ? (uint32_t)fitting : 1;
  shape.replicas = warps * (WARP / lanes);
  shape.threads = warps * WARP;
  shape.shared_bytes = warps * bytes + table;
  return shape;
}

/* `table_sweeps`: sweeps that may use a table. */
static struct shape choose_shape(const struct ising_spin_replicas *replicas, uint32_t table_sweeps)
{
  const uint32_t warps = choose_warps(replicas);
  const uint32_t lanes = warps > 1 ? 0 : choose_lanes(&replicas->lattice);
  if (lanes > 0)
    return shape_of_warps(replicas, table_sweeps, lanes);
  struct shape shape;
  shape.lanes = 0;
  shape.replicas = 1;
  shape.table = false;
  shape.threads = warps * WARP;
  if (replicas->block_threads > 0)
    shape.threads = WARP * clamp(replicas->block_threads / WARP, 1, THREADS_MAXIMUM / WARP);
  shape.shared_bytes = replica_bytes(&replicas->lattice);
  return shape;
}

/* Returns where a thread works: the number of its replica among those of its block of threads, and
 * the share. */
__device__ static inline uint32_t assign(const struct shape *shape, struct ising_spin_share *share)
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

/* Waits for the other threads of the replica. */
__device__ static inline void wait(const struct shape *shape)
{
  if (shape->lanes == 0)
    __syncthreads();
  else
    __syncwarp();
}

__device__ static inline void copy(const struct shape *shape, struct ising_spin_share share,
                                   uint32_t blocks, uint32_t *to, const uint32_t *from)
{
  for (uint32_t b = share.first; b < 2 * blocks; b += share.step)
    ((uint2 *)to)[b] = ((const uint2 *)from)[b];
  wait(shape);
}

/* Lanes run over the blocks, warps over the rest. */
__device__ static inline void
fill_table(const struct ising_spin_gpu_lattice *lattice, struct gpumc_random random, uint2 *table)
{
  for (uint32_t j = threadIdx.x / WARP; j < 2 * ISING_SPIN_COUNTERS; j += blockDim.x / WARP) {
    const uint32_t colour = j / ISING_SPIN_COUNTERS, i = j % ISING_SPIN_COUNTERS;
    const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, colour);
    for (uint32_t b = threadIdx.x % WARP; b < lattice->blocks; b += WARP)
      table[ising_spin_table_place(lattice, colour, b, i)] =
          gpumc_philox_word_label(random.key, b * ISING_SPIN_COUNTERS + i, label);
  }
  __syncthreads();
}

/* Data shared by the threads of a replica. The rule of PLAIN and FIELD is `rule`, of the other
 * modes `run_rule`, in shared memory. */
struct common {
  struct ising_spin_share share;
  struct gpumc_random random;
  uint32_t replica;
  const struct ising_rule *rule;
  const struct ising_run_rule *run_rule;
  const uint8_t *sample;
  const uint2 *table;
  uint32_t *words;
};

template <uint32_t ROUNDS, int MODE, bool TABLE>
__device__ static inline void sweep(const struct ising_spin_gpu_sweep *arguments,
                                    const struct shape *shape, const struct common *common)
{
  const struct ising_spin_gpu_lattice *lattice = &arguments->replicas.lattice;
  const uint32_t n_words = ising_spin_words(lattice);
  for (uint32_t s = 0; s < arguments->sweeps; s++) {
    const struct gpumc_philox_group at_time =
        gpumc_philox_group(common->random, common->replica, arguments->replicas.batch.time + s);
#pragma unroll 1
    for (uint32_t colour = 0; colour < 2; colour++) {
      uint32_t *words = common->words + colour * n_words;
      const uint32_t *other = common->words + (1 - colour) * n_words;
      for (uint32_t b = common->share.first; b < lattice->blocks; b += common->share.step)
        if constexpr (MODE <= ISING_SPIN_FIELD)
          ising_spin_update_block<ROUNDS, MODE, TABLE>(lattice, common->rule, &at_time, colour, b,
                                                       common->table, words, other);
        else
          ising_spin_update_general<ROUNDS, MODE == ISING_SPIN_BY_TERMS>(
              lattice, &arguments->tables, common->run_rule, common->sample, &at_time, colour, b,
              words, other);
      wait(shape);
    }
  }
}

/* Shared memory: the replicas, then the table. EACH: every run has a rule of its own. */
template <uint32_t ROUNDS, int MODE, bool TABLE, bool EACH>
__global__ void __launch_bounds__(THREADS_MAXIMUM)
    sweep_shared(const __grid_constant__ struct ising_spin_gpu_sweep arguments,
                 const __grid_constant__ struct shape shape)
{
  extern __shared__ uint4 shared[];
  const struct lattice_batch *batch = &arguments.replicas.batch;
  const uint32_t blocks = arguments.replicas.lattice.blocks;
  const uint32_t size = batch->size[blockIdx.y];
  if (blockIdx.x * shape.replicas >= size)
    return;
  struct common common = {.random = lattice_batch_random(batch, blockIdx.y),
                          .rule = &arguments.rule};
  struct ising_rule rule;
  if constexpr (MODE > ISING_SPIN_FIELD) {
    __shared__ struct ising_run_rule run_rule;
    if (threadIdx.x == 0)
      run_rule = arguments.tables.rules[blockIdx.y];
    __syncthreads();
    common.run_rule = &run_rule;
  } else if constexpr (EACH) {
    rule = ising_rule_of_words(&arguments.tables.rules[blockIdx.y]);
    common.rule = &rule;
  }
  uint2 *table = (uint2 *)(shared + shape.replicas * blocks);
  if (TABLE)
    fill_table(&arguments.replicas.lattice, common.random, table);
  common.table = table;
  const uint32_t place = assign(&shape, &common.share);
  const uint32_t replica = blockIdx.x * shape.replicas + place;
  common.replica = lattice_batch_replica(batch, replica);
  if (replica >= size)
    common.share.first = UINT32_MAX;
  common.sample = ising_spin_sample_of(&arguments.tables, replica);
  const size_t element = blockIdx.y * batch->capacity + replica;
  common.words = (uint32_t *)(shared + place * blocks);
  uint32_t *stored = (uint32_t *)((uint4 *)arguments.replicas.words + element * blocks);
  copy(&shape, common.share, blocks, common.words, stored);
  sweep<ROUNDS, MODE, TABLE>(&arguments, &shape, &common);
  if (MODE <= ISING_SPIN_FIELD && ising_wanted(&arguments.channels))
    ising_spin_measure(&arguments.replicas.lattice, &arguments.channels, common.share, common.words,
                       element);
  if (arguments.sweeps > 0)
    copy(&shape, common.share, blocks, stored, common.words);
}

/* Only PLAIN and FIELD may have a table. */
struct shared_kernels {
  bool table;

  template <uint32_t ROUNDS, int MODE, bool EACH> auto choose() const
  {
    if constexpr (MODE <= ISING_SPIN_FIELD)
      return table ? sweep_shared<ROUNDS, MODE, true, EACH>
                   : sweep_shared<ROUNDS, MODE, false, EACH>;
    else
      return sweep_shared<ROUNDS, MODE, false, EACH>;
  }
};

extern "C" int ising_spin_fits(const struct ising_spin_replicas *replicas)
{
  return choose_shape(replicas, 0).shared_bytes <= room_for(replicas);
}

extern "C" enum gpumc_status
ising_spin_sweep_shared(const struct ising_spin_gpu_sweep *arguments, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &arguments->replicas.batch;
  const uint32_t table_sweeps = arguments->mode <= ISING_SPIN_FIELD ? arguments->sweeps : 0;
  const struct shape shape = choose_shape(&arguments->replicas, table_sweeps);
  auto *kernel = ising_spin_choose_kernel(arguments, shared_kernels{shape.table});
  if (shape.shared_bytes + STATIC_BYTES > DEFAULT_SHARED_BYTES)
    GPUMC_TRY(GPUMC_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                              (int)shape.shared_bytes),
                         error));
  const dim3 grid((uint32_t)lattice_parts(batch->capacity, shape.replicas), batch->runs);
  kernel<<<grid, shape.threads, shape.shared_bytes, (cudaStream_t)batch->stream>>>(*arguments,
                                                                                   shape);
  return GPUMC_CUDA_LAUNCHED("sweep_shared", error);
}
