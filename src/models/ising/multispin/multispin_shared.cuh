/* Sweeps of groups that fit into shared memory and stay there for all sweeps and the measurement.
 * Each dimension has a source file of its own, so that a run loads the code of one of them only. */
#ifndef GPUMC_ISING_MULTISPIN_SHARED_CUH
#define GPUMC_ISING_MULTISPIN_SHARED_CUH

#include "core/device/early.cuh"
#include "models/ising/multispin/multispin_group.cuh"
#include "models/ising/multispin/multispin_update.cuh"

/* Masks of a rule that a block computes itself. */
typedef uint32_t mask_rows[ISING_MULTISPIN_ROWS][ISING_MULTISPIN_COLUMNS];

/* Waits until all threads that work on a group have arrived. */
__device__ static inline void group_barrier(uint32_t threads)
{
  if (threads == 32)
    __syncwarp();
  else
    __syncthreads();
}

template <class KIND>
__device__ static inline void
sweep_group(const struct ising_multispin_sweep *sweep,
            const uint32_t (*rows)[ISING_MULTISPIN_COLUMNS],
            const struct ising_multispin_gpu_group *group, uint32_t groups, uint32_t *sites,
            ising_multispin_queue<KIND> *queue)
{
  const uint32_t n = sweep->replicas.colour;
  const struct lattice_batch *batch = &sweep->replicas.batch;
  const struct gpumc_random generator = lattice_batch_random(batch, blockIdx.y);
  const uint32_t *signs = ising_multispin_signs(&sweep->disorder, group->number);
  const uint32_t keep = sweep->rule.physics.heat_bath ? 0 : UINT32_MAX;
  const uint32_t stride = (uint32_t)ising_multispin_group_words(&sweep->replicas);
#pragma unroll 1
  for (uint32_t s = 0; s < sweep->sweeps; s++) {
    struct gpumc_philox_group random[KIND::GROUPS];
#pragma unroll
    for (uint32_t g = 0; g < KIND::GROUPS; g++)
      random[g] = gpumc_philox_group(
          generator, lattice_batch_group(batch, group->number + g, ISING_MULTISPIN_LANES),
          batch->time + s);
#pragma unroll 1
    for (uint32_t number = 0; number < 2; number++) {
      const struct ising_multispin_colour colour = {sites + number * n,
                                                    sites + (1 - number) * n,
                                                    signs,
                                                    rows,
                                                    keep,
                                                    number,
                                                    number * n,
                                                    0,
                                                    n,
                                                    groups,
                                                    stride,
                                                    sweep->disorder.signs_stride};
      if (groups > 0)
        ising_multispin_update_colour<KIND>(&sweep->replicas, random, &colour, group->thread,
                                            group->threads, sweep->spread.regular, queue);
      group_barrier(group->threads);
    }
  }
}

template <class KIND>
__global__ void __launch_bounds__(ISING_MULTISPIN_THREADS, 1)
    sweep_shared(const __grid_constant__ struct ising_multispin_sweep sweep)
{
  extern __shared__ uint4 shared[];
  const struct ising_multispin_replicas *replicas = &sweep.replicas;
  const uint32_t slots = sweep.spread.slots, threads = sweep.spread.threads;
  const uint32_t m = blockIdx.y, first = blockIdx.x * slots * KIND::GROUPS;
  const uint32_t slot = threadIdx.x / threads, thread = threadIdx.x - slot * threads;
  gpumc_let_next_begin();
  mask_rows *own_rows = (mask_rows *)shared;
  struct ising_multispin_group_sums *all_sums = (struct ising_multispin_group_sums *)(own_rows + 1);
  ising_multispin_queue<KIND> *all_queues =
      (ising_multispin_queue<KIND> *)(all_sums + slots * KIND::GROUPS);
  uint32_t *all_sites = (uint32_t *)(all_queues + blockDim.x / 32);
  struct ising_multispin_group_sums *sums = all_sums + slot * KIND::GROUPS;
  ising_multispin_queue<KIND> *queue = all_queues + threadIdx.x / 32;
  const size_t words = ising_multispin_group_words(replicas);
  uint32_t *sites = all_sites + slot * KIND::GROUPS * words;
  struct ising_multispin_gpu_group group;
  uint32_t groups = 0;
  if (threadIdx.x % 32 == 0)
    queue->count = 0;
  if constexpr (KIND::EACH)
    ising_multispin_expand(&sweep.rule, m, *own_rows);
  gpumc_wait_for_before();
  if (first * ISING_MULTISPIN_LANES >= replicas->batch.size[m])
    return;
  const uint32_t number = first + slot * KIND::GROUPS;
  for (uint32_t g = 0; g < KIND::GROUPS; g++) {
    if (thread < ISING_MULTISPIN_LANES)
      ising_multispin_sums_clear(sums + g, thread);
    if (ising_multispin_group_find(replicas, m, number + g, thread, threads, &group)) {
      ising_multispin_group_load(replicas, &sweep.disorder, &sweep.moves, &group,
                                 sites + g * words);
      groups++;
    }
  }
  ising_multispin_group_find(replicas, m, number, thread, threads, &group);
  __syncthreads();
  if constexpr (KIND::EACH)
    sweep_group<KIND>(&sweep, *own_rows, &group, groups, sites, queue);
  else
    sweep_group<KIND>(&sweep, sweep.rule.rows, &group, groups, sites, queue);
  const bool measured = ising_wanted(&sweep.channels);
  for (uint32_t g = 0; g < KIND::GROUPS && g < groups; g++) {
    ising_multispin_group_find(replicas, m, number + g, thread, threads, &group);
    if (measured)
      ising_multispin_group_count<KIND>(replicas,
                                        ising_multispin_signs(&sweep.disorder, group.number),
                                        &group, sites + g * words, sums[g].unlike);
    ising_multispin_group_store(replicas, &sweep.disorder, &group, sites + g * words,
                                sweep.sweeps > 0, measured && ising_wants_spins(&sweep.channels),
                                sums + g);
  }
  __syncthreads();
  for (uint32_t g = 0; g < KIND::GROUPS && measured && g < groups; g++) {
    ising_multispin_group_find(replicas, m, number + g, thread, threads, &group);
    ising_multispin_group_record(&sweep, &group, sums + g);
  }
}

struct shared_launch {
  static constexpr bool EITHER = false;
  template <class KIND>
  static enum gpumc_status
  launch(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
  {
    const struct ising_multispin_spread *spread = &sweep->spread;
    const size_t of_block = (size_t)spread->slots * KIND::GROUPS;
    const uint32_t blocks = (uint32_t)lattice_parts(sweep->replicas.groups, of_block);
    GPUMC_TRY(GPUMC_CUDA(cudaFuncSetAttribute((const void *)sweep_shared<KIND>,
                                              cudaFuncAttributeMaxDynamicSharedMemorySize,
                                              (int)spread->shared_bytes),
                         error));
    struct gpumc_early_launch launch = {dim3(blocks, sweep->replicas.batch.runs),
                                        spread->slots * spread->threads, spread->shared_bytes,
                                        sweep->replicas.batch.stream, false};
    if (sweep->rule.ready)
      GPUMC_TRY(gpumc_may_begin_early(sweep_shared<KIND>, &launch.early, error));
    return gpumc_launch_early(sweep_shared<KIND>, launch, error, *sweep);
  }
};

/* Loads the code instead of launching it; a launch will report what fails. */
struct shared_code {
  static constexpr bool EITHER = false;
  template <class KIND>
  static enum gpumc_status
  launch(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
  {
    struct cudaFuncAttributes attributes;
    (void)sweep;
    (void)error;
    (void)cudaFuncGetAttributes(&attributes, (const void *)sweep_shared<KIND>);
    return GPUMC_OK;
  }
};

#endif
