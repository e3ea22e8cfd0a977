/* Sweeps of groups too large for shared memory: they are stored by site in place of their tiles,
 * and one launch updates one colour of all groups. Each dimension has a source file of its own, as
 * in multispin_shared.cuh. */
#ifndef GPUMC_ISING_MULTISPIN_DEVICE_CUH
#define GPUMC_ISING_MULTISPIN_DEVICE_CUH

#include "models/ising/multispin/multispin_group.cuh"
#include "models/ising/multispin/multispin_update.cuh"

enum { STEPS = 4 }; /* updates a thread makes in one launch */

static __global__ void __launch_bounds__(ISING_MULTISPIN_THREADS)
    load_device(const __grid_constant__ struct ising_multispin_sweep sweep)
{
  struct ising_multispin_gpu_group group;
  if (ising_multispin_group_find(&sweep.replicas, blockIdx.y, blockIdx.x, threadIdx.x, blockDim.x,
                                 &group))
    ising_multispin_group_load(&sweep.replicas, &sweep.disorder, &sweep.moves, &group, group.tiles);
}

template <class KIND>
__global__ void __launch_bounds__(ISING_MULTISPIN_THREADS, 1)
    sweep_device(const __grid_constant__ struct ising_multispin_sweep sweep, uint32_t s,
                 uint32_t number)
{
  extern __shared__ uint4 shared[];
  ising_multispin_queue<KIND> *queue = (ising_multispin_queue<KIND> *)shared + threadIdx.x / 32;
  const uint32_t n = sweep.replicas.colour, part = blockDim.x * KIND::WIDTH * STEPS;
  const uint32_t parts = (n + part - 1) / part, number_of_group = blockIdx.x / parts;
  const uint32_t begin = (blockIdx.x - number_of_group * parts) * part;
  struct ising_multispin_gpu_group group;
  if (!ising_multispin_group_find(&sweep.replicas, blockIdx.y, number_of_group, threadIdx.x,
                                  blockDim.x, &group))
    return;
  if (threadIdx.x % 32 == 0)
    queue->count = 0;
  const uint32_t(*rows)[ISING_MULTISPIN_COLUMNS] =
      ising_multispin_rows<KIND>(&sweep.rule, blockIdx.y);
  if constexpr (KIND::EACH)
    __syncthreads();
  const struct lattice_batch *batch = &sweep.replicas.batch;
  const struct gpumc_philox_group random = gpumc_philox_group(
      lattice_batch_random(batch, blockIdx.y),
      lattice_batch_group(batch, group.number, ISING_MULTISPIN_LANES), batch->time + s);
  const struct ising_multispin_colour colour = {
      group.tiles + (size_t)number * n,
      group.tiles + (size_t)(1 - number) * n,
      ising_multispin_signs(&sweep.disorder, group.number),
      rows,
      sweep.rule.physics.heat_bath ? 0 : UINT32_MAX,
      number,
      number * n,
      begin,
      n - begin < part ? n : begin + part};
  ising_multispin_update_colour<KIND>(&sweep.replicas, &random, &colour, threadIdx.x, blockDim.x,
                                      sweep.spread.regular, queue);
}

template <class KIND>
__global__ void __launch_bounds__(ISING_MULTISPIN_THREADS)
    store_device(const __grid_constant__ struct ising_multispin_sweep sweep)
{
  __shared__ struct ising_multispin_group_sums sums;
  struct ising_multispin_gpu_group group;
  if (!ising_multispin_group_find(&sweep.replicas, blockIdx.y, blockIdx.x, threadIdx.x, blockDim.x,
                                  &group))
    return;
  const bool measured = ising_wanted(&sweep.channels);
  if (threadIdx.x < ISING_MULTISPIN_LANES)
    ising_multispin_sums_clear(&sums, threadIdx.x);
  __syncthreads();
  if (measured)
    ising_multispin_group_count<KIND>(&sweep.replicas,
                                      ising_multispin_signs(&sweep.disorder, group.number), &group,
                                      group.tiles, sums.unlike);
  __syncthreads();
  ising_multispin_group_store(&sweep.replicas, &sweep.disorder, &group, group.tiles, true,
                              measured && ising_wants_spins(&sweep.channels), &sums);
  __syncthreads();
  if (measured)
    ising_multispin_group_record(&sweep, &group, &sums);
}

template <class KIND>
static enum gpumc_status
launch_sweeps(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  const uint32_t threads = sweep->spread.threads, part = threads * KIND::WIDTH * STEPS;
  const uint32_t parts = (uint32_t)lattice_parts(sweep->replicas.colour, part);
  const size_t queues = ising_multispin_queue_bytes(&sweep->replicas, threads);
  GPUMC_TRY(
      GPUMC_CUDA(cudaFuncSetAttribute((const void *)sweep_device<KIND>,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize, (int)queues),
                 error));
  for (uint32_t s = 0; s < sweep->sweeps; s++)
    for (uint32_t number = 0; number < 2; number++) {
      sweep_device<KIND>
          <<<dim3(sweep->replicas.groups * parts, sweep->replicas.batch.runs), threads, queues,
             (cudaStream_t)sweep->replicas.batch.stream>>>(*sweep, s, number);
      GPUMC_TRY(GPUMC_CUDA_LAUNCHED("sweep_device", error));
    }
  return GPUMC_OK;
}

struct device_launch {
  static constexpr bool EITHER = false;
  template <class KIND>
  static enum gpumc_status
  launch(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
  {
    const dim3 groups(sweep->replicas.groups, sweep->replicas.batch.runs);
    cudaStream_t stream = (cudaStream_t)sweep->replicas.batch.stream;
    load_device<<<groups, ISING_MULTISPIN_THREADS, 0, stream>>>(*sweep);
    GPUMC_TRY(GPUMC_CUDA_LAUNCHED("load_device", error));
    GPUMC_TRY(launch_sweeps<KIND>(sweep, error));
    store_device<
        struct ising_multispin_kind<KIND::WIDTH, KIND::DIMENSION, KIND::SIGNS, true, true, 10, 0>>
        <<<groups, ISING_MULTISPIN_THREADS, 0, stream>>>(*sweep);
    return GPUMC_CUDA_LAUNCHED("store_device", error);
  }
};

#endif
