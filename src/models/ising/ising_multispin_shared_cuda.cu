/* Sweeps of groups that fit into shared memory: they are there for all sweeps and the measurement.
 */
#include "models/ising/ising_multispin_group.cuh"

static size_t queues(uint32_t threads)
{
  return threads / 32 * sizeof(struct gpumc_open_words);
}

size_t ising_multispin_shared_bytes(const struct ising_multispin_replicas *replicas, uint32_t slots,
                                    uint32_t threads)
{
  return slots * (queues(threads) + sizeof(struct ising_multispin_group_sums) +
                  ising_multispin_group_words(replicas) * sizeof(uint32_t));
}

template <int WIDTH, bool PLAIN, int ROUNDS, int ZEROS>
__device__ static inline void
sweep_group(const struct ising_multispin_sweep *sweep, const struct ising_multispin_group *group,
            bool active, uint32_t *sites, struct gpumc_open_words *queue)
{
  const uint32_t n = sweep->replicas.colour;
  const struct ising_batch *batch = &sweep->replicas.batch;
  const struct gpumc_random generator = ising_batch_random(batch, blockIdx.y);
#pragma unroll 1
  for (uint32_t s = 0; s < sweep->sweeps; s++) {
    const struct gpumc_philox_group random =
        gpumc_philox_group(generator, group->number, batch->time + s);
#pragma unroll 1
    for (uint32_t number = 0; number < 2; number++) {
      const struct ising_multispin_colour colour = {
          sites + number * n, sites + (1 - number) * n, number, number * n, 0, n};
      if (active)
        ising_multispin_update_colour<WIDTH, PLAIN, ROUNDS, ZEROS>(
            sweep, &random, &colour, group->thread, group->threads, queue);
      __syncthreads();
    }
  }
}

template <int WIDTH, bool PLAIN, int ROUNDS, int ZEROS>
__global__ void __launch_bounds__(ISING_MULTISPIN_THREADS, 1)
    sweep_shared(const __grid_constant__ struct ising_multispin_sweep sweep)
{
  extern __shared__ uint4 shared[];
  const struct ising_multispin_replicas *replicas = &sweep.replicas;
  const uint32_t slots = sweep.spread.slots, threads = sweep.spread.threads;
  const uint32_t m = blockIdx.y, first = blockIdx.x * slots, slot = threadIdx.x / threads;
  if (first * ISING_MULTISPIN_LANES >= replicas->batch.size[m])
    return;
  struct ising_multispin_group_sums *all_sums = (struct ising_multispin_group_sums *)shared;
  struct gpumc_open_words *all_queues = (struct gpumc_open_words *)(all_sums + slots);
  uint32_t *all_sites = (uint32_t *)(all_queues + blockDim.x / 32);
  struct ising_multispin_group_sums *sums = all_sums + slot;
  struct gpumc_open_words *queue = all_queues + threadIdx.x / 32;
  uint32_t *sites = all_sites + slot * ising_multispin_group_words(replicas);
  struct ising_multispin_group group;
  const bool active = ising_multispin_group_find(replicas, m, first + slot,
                                                 threadIdx.x - slot * threads, threads, &group);
  if (group.thread < ISING_MULTISPIN_LANES)
    sums->unlike[group.thread] = sums->up[group.thread] = 0;
  if (threadIdx.x % 32 == 0)
    queue->count = 0;
  if (active)
    ising_multispin_group_load(replicas, &group, sweep.rule.stagger, sites);
  __syncthreads();
  sweep_group<WIDTH, PLAIN, ROUNDS, ZEROS>(&sweep, &group, active, sites, queue);
  const bool measured = ising_wanted(&sweep.channels);
  if (active && measured)
    ising_multispin_group_count<WIDTH>(replicas, &group, sites, sums);
  if (active)
    ising_multispin_group_store(replicas, &group, sweep.rule.stagger, sites, sweep.sweeps > 0,
                                measured, sums);
  __syncthreads();
  if (active && measured)
    ising_multispin_group_record(&sweep, &group, sums);
}

template <int WIDTH, bool PLAIN, int ROUNDS, int ZEROS>
static enum gpumc_status
launch(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  const struct ising_multispin_spread *spread = &sweep->spread;
  const uint32_t blocks = (uint32_t)ising_parts(sweep->replicas.groups, spread->slots);
  enum gpumc_status status = GPUMC_CUDA(
      cudaFuncSetAttribute((const void *)sweep_shared<WIDTH, PLAIN, ROUNDS, ZEROS>,
                           cudaFuncAttributeMaxDynamicSharedMemorySize, (int)spread->shared_bytes),
      error);
  if (status != GPUMC_OK)
    return status;
  sweep_shared<WIDTH, PLAIN, ROUNDS, ZEROS>
      <<<dim3(blocks, sweep->replicas.batch.runs), spread->slots * spread->threads,
         spread->shared_bytes, (cudaStream_t)sweep->replicas.batch.stream>>>(*sweep);
  return GPUMC_CUDA_LAUNCHED("sweep_shared", error);
}

/* Fewer thresholds to be looked at are worth code of their own where speed counts. */
template <int WIDTH, bool PLAIN, int ROUNDS>
static enum gpumc_status
launch_zeros(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  if constexpr (WIDTH == ISING_MULTISPIN_VECTOR && PLAIN) {
    if (sweep->rule.zeros >= 4)
      return launch<WIDTH, PLAIN, ROUNDS, 4>(sweep, error);
    if (sweep->rule.zeros >= 2)
      return launch<WIDTH, PLAIN, ROUNDS, 2>(sweep, error);
  }
  return launch<WIDTH, PLAIN, ROUNDS, 0>(sweep, error);
}

template <int WIDTH, bool PLAIN>
static enum gpumc_status
launch_rounds(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  return sweep->replicas.batch.rounds == 7 ? launch_zeros<WIDTH, PLAIN, 7>(sweep, error)
                                           : launch_zeros<WIDTH, PLAIN, 10>(sweep, error);
}

template <int WIDTH>
static enum gpumc_status
launch_rule(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  return sweep->rule.plain ? launch_rounds<WIDTH, true>(sweep, error)
                           : launch_rounds<WIDTH, false>(sweep, error);
}

enum gpumc_status
ising_multispin_sweep_shared(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  return sweep->spread.by_fours ? launch_rule<ISING_MULTISPIN_VECTOR>(sweep, error)
                                : launch_rule<1>(sweep, error);
}
