/* Sweeps of groups too large for shared memory: they stand by site in the place of their tiles, and
 * one launch updates one colour of all groups. */
#include "models/ising/ising_multispin_group.cuh"

enum { STEPS = 4 }; /* updates a thread makes in one launch */

__global__ void __launch_bounds__(ISING_MULTISPIN_THREADS)
    load_device(const __grid_constant__ struct ising_multispin_sweep sweep)
{
  struct ising_multispin_group group;
  if (ising_multispin_group_find(&sweep.replicas, blockIdx.y, blockIdx.x, threadIdx.x, blockDim.x,
                                 &group))
    ising_multispin_group_load(&sweep.replicas, &group, sweep.rule.stagger, group.tiles);
}

template <int WIDTH, bool PLAIN, int ROUNDS>
__global__ void __launch_bounds__(ISING_MULTISPIN_THREADS, 1)
    sweep_device(const __grid_constant__ struct ising_multispin_sweep sweep, uint32_t s,
                 uint32_t number)
{
  extern __shared__ uint4 shared[];
  struct gpumc_open_words *queue = (struct gpumc_open_words *)shared + threadIdx.x / 32;
  const uint32_t n = sweep.replicas.colour, part = blockDim.x * WIDTH * STEPS;
  const uint32_t parts = (n + part - 1) / part, number_of_group = blockIdx.x / parts;
  const uint32_t begin = (blockIdx.x - number_of_group * parts) * part;
  struct ising_multispin_group group;
  if (!ising_multispin_group_find(&sweep.replicas, blockIdx.y, number_of_group, threadIdx.x,
                                  blockDim.x, &group))
    return;
  if (threadIdx.x % 32 == 0)
    queue->count = 0;
  const struct gpumc_philox_group random =
      gpumc_philox_group(ising_batch_random(&sweep.replicas.batch, blockIdx.y), group.number,
                         sweep.replicas.batch.time + s);
  const struct ising_multispin_colour colour = {group.tiles + (size_t)number * n,
                                                group.tiles + (size_t)(1 - number) * n,
                                                number,
                                                number * n,
                                                begin,
                                                n - begin < part ? n : begin + part};
  ising_multispin_update_colour<WIDTH, PLAIN, ROUNDS, 0>(&sweep, &random, &colour, threadIdx.x,
                                                         blockDim.x, queue);
}

template <int WIDTH>
__global__ void __launch_bounds__(ISING_MULTISPIN_THREADS)
    store_device(const __grid_constant__ struct ising_multispin_sweep sweep)
{
  __shared__ struct ising_multispin_group_sums sums;
  struct ising_multispin_group group;
  if (!ising_multispin_group_find(&sweep.replicas, blockIdx.y, blockIdx.x, threadIdx.x, blockDim.x,
                                  &group))
    return;
  const bool measured = ising_wanted(&sweep.channels);
  if (threadIdx.x < ISING_MULTISPIN_LANES)
    sums.unlike[threadIdx.x] = sums.up[threadIdx.x] = 0;
  __syncthreads();
  if (measured)
    ising_multispin_group_count<WIDTH>(&sweep.replicas, &group, group.tiles, &sums);
  __syncthreads();
  ising_multispin_group_store(&sweep.replicas, &group, sweep.rule.stagger, group.tiles, true,
                              measured, &sums);
  __syncthreads();
  if (measured)
    ising_multispin_group_record(&sweep, &group, &sums);
}

template <int WIDTH, bool PLAIN, int ROUNDS>
static enum gpumc_status
launch_sweeps(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  const uint32_t threads = sweep->spread.threads, part = threads * WIDTH * STEPS;
  const uint32_t parts = (uint32_t)ising_parts(sweep->replicas.colour, part);
  const size_t queues = threads / 32 * sizeof(struct gpumc_open_words);
  for (uint32_t s = 0; s < sweep->sweeps; s++)
    for (uint32_t number = 0; number < 2; number++) {
      sweep_device<WIDTH, PLAIN, ROUNDS>
          <<<dim3(sweep->replicas.groups * parts, sweep->replicas.batch.runs), threads, queues,
             (cudaStream_t)sweep->replicas.batch.stream>>>(*sweep, s, number);
      enum gpumc_status status = GPUMC_CUDA_LAUNCHED("sweep_device", error);
      if (status != GPUMC_OK)
        return status;
    }
  return GPUMC_OK;
}

template <int WIDTH, bool PLAIN>
static enum gpumc_status
launch_rounds(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  return sweep->replicas.batch.rounds == 7 ? launch_sweeps<WIDTH, PLAIN, 7>(sweep, error)
                                           : launch_sweeps<WIDTH, PLAIN, 10>(sweep, error);
}

template <int WIDTH>
static enum gpumc_status
launch(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  const dim3 groups(sweep->replicas.groups, sweep->replicas.batch.runs);
  cudaStream_t stream = (cudaStream_t)sweep->replicas.batch.stream;
  load_device<<<groups, ISING_MULTISPIN_THREADS, 0, stream>>>(*sweep);
  enum gpumc_status status = GPUMC_CUDA_LAUNCHED("load_device", error);
  if (status == GPUMC_OK)
    status = sweep->rule.plain ? launch_rounds<WIDTH, true>(sweep, error)
                               : launch_rounds<WIDTH, false>(sweep, error);
  if (status != GPUMC_OK)
    return status;
  store_device<WIDTH><<<groups, ISING_MULTISPIN_THREADS, 0, stream>>>(*sweep);
  return GPUMC_CUDA_LAUNCHED("store_device", error);
}

enum gpumc_status
ising_multispin_sweep_global(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  return sweep->spread.by_fours ? launch<ISING_MULTISPIN_VECTOR>(sweep, error)
                                : launch<1>(sweep, error);
}
