/* The kernel `fast` on a GPU. nvcc: --compress-mode=size */
#include "models/heisenberg/heisenberg_sweep.cuh"

enum gpumc_status
heisenberg_sweep_fast(const struct heisenberg_gpu_sweep *arguments, struct gpumc_error *error)
{
  return sweep_precision<struct heisenberg_in_fast, false>(arguments, error);
}
