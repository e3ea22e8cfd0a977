/* The kernel `float` on a GPU. nvcc: --compress-mode=size */
#include "models/heisenberg/heisenberg_sweep.cuh"

enum gpumc_status
heisenberg_sweep_float(const struct heisenberg_gpu_sweep *arguments, struct gpumc_error *error)
{
  return sweep_precision<struct heisenberg_in_float, false>(arguments, error);
}
