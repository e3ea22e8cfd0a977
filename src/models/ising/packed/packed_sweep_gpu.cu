/* Sweeps of packed replicas: one launch updates one colour of all of them, in device memory.
 *
 * nvcc: --compress-mode=size */
#include "models/ising/packed/packed_kind.cuh"

/* Updates that a thread makes in one launch: many, so that full warps finish the open words, unless
 * there would be too few blocks. */
enum { STEPS_MOST = 32, BLOCKS = 8192 };

template <class KIND>
__global__ void __launch_bounds__(ISING_MULTISPIN_THREADS, 1)
    sweep_packed(const __grid_constant__ struct ising_multispin_sweep sweep, uint32_t s,
                 uint32_t number, uint32_t part, uint32_t parts)
{
  extern __shared__ uint4 shared[];
  const struct ising_multispin_replicas *replicas = &sweep.replicas;
  ising_multispin_queue<KIND> *queue = (ising_multispin_queue<KIND> *)shared + threadIdx.x / 32;
  const uint32_t n = replicas->colour, m = blockIdx.y, replica = blockIdx.x / parts;
  const uint32_t begin = (blockIdx.x - replica * parts) * part;
  if (replica >= replicas->batch.size[m])
    return;
  if (threadIdx.x % 32 == 0)
    queue->count = 0;
  const uint32_t(*rows)[ISING_MULTISPIN_COLUMNS] = ising_multispin_rows<KIND>(&sweep.rule, m);
  __syncthreads();
  const struct gpumc_philox_group random = gpumc_philox_group(
      lattice_batch_random(&replicas->batch, m), lattice_batch_replica(&replicas->batch, replica),
      replicas->batch.time + s);
  uint32_t *words = ising_packed_replica(replicas, m, replica);
  const struct ising_multispin_colour colour = {words + (size_t)number * n,
                                                words + (size_t)(1 - number) * n,
                                                NULL,
                                                rows,
                                                sweep.rule.physics.heat_bath ? 0 : UINT32_MAX,
                                                number,
                                                number * n,
                                                begin,
                                                n - begin < part ? n : begin + part};
  ising_multispin_update_colour<KIND>(replicas, &random, &colour, threadIdx.x, blockDim.x, false,
                                      queue);
}

static uint32_t steps_of(const struct ising_multispin_replicas *replicas, uint32_t step)
{
  const size_t all = (size_t)replicas->batch.runs * replicas->groups * replicas->colour;
  const size_t steps = all / ((size_t)step * BLOCKS);
  return steps < 1 ? 1 : steps > STEPS_MOST ? STEPS_MOST : (uint32_t)steps;
}

struct packed_launch {
  static constexpr bool EITHER = true;
  template <class KIND>
  static enum gpumc_status
  launch(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
  {
    typedef ising_packed_kind<KIND> packed;
    const struct ising_multispin_replicas *replicas = &sweep->replicas;
    const uint32_t threads = sweep->spread.threads, step = threads * KIND::WIDTH;
    const uint32_t part = step * steps_of(replicas, step);
    const uint32_t parts = (uint32_t)lattice_parts(replicas->colour, part);
    const dim3 grid(replicas->groups * parts, replicas->batch.runs);
    const size_t queues = ising_multispin_queue_bytes(replicas, threads);
    GPUMC_TRY(
        GPUMC_CUDA(cudaFuncSetAttribute((const void *)sweep_packed<packed>,
                                        cudaFuncAttributeMaxDynamicSharedMemorySize, (int)queues),
                   error));
    for (uint32_t s = 0; s < sweep->sweeps; s++)
      for (uint32_t number = 0; number < 2; number++) {
        sweep_packed<packed><<<grid, threads, queues, (cudaStream_t)replicas->batch.stream>>>(
            *sweep, s, number, part, parts);
        GPUMC_TRY(GPUMC_CUDA_LAUNCHED("sweep_packed", error));
      }
    return GPUMC_OK;
  }
};

enum gpumc_status
ising_packed_sweep(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  return ising_packed_dispatch<packed_launch>(sweep, error);
}
