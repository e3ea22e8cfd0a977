/* Sweeps in device memory: square lattices; cubic ones have a file of their own. */
#include "models/ising/multispin/multispin_device.cuh"

enum gpumc_status
ising_multispin_sweep_global(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  if (sweep->replicas.dimension == 3)
    return ising_multispin_sweep_global_cubic(sweep, error);
  return ising_multispin_dispatch<device_launch, 2>(sweep, error);
}
