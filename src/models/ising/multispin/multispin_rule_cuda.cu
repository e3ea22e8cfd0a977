/* Thresholds of every run's temperature and field. */
#include "models/ising/multispin/multispin_cuda.h"

enum { THREADS = 64 };

__global__ void __launch_bounds__(THREADS)
    work_out(const __grid_constant__ struct ising_multispin_temperatures arguments)
{
  const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
  if (i < arguments.count)
    arguments.thresholds[arguments.first + i] =
        ising_multispin_thresholds(&arguments.physics, arguments.at[i].beta, arguments.at[i].field);
}

enum gpumc_status ising_multispin_work_out(const struct ising_multispin_temperatures *arguments,
                                           struct gpumc_error *error)
{
  const uint32_t blocks = (uint32_t)lattice_parts(arguments->count, THREADS);
  work_out<<<blocks, THREADS, 0, (cudaStream_t)arguments->stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("work_out", error);
}
