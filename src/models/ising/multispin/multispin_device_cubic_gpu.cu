/* Sweeps in device memory: cubic lattices. nvcc: --compress-mode=size */
#include "models/ising/multispin/multispin_device.cuh"

enum gpumc_status ising_multispin_sweep_global_cubic(const struct ising_multispin_sweep *sweep,
                                                     struct gpumc_error *error)
{
  return ising_multispin_dispatch<device_launch, 3>(sweep, error);
}
