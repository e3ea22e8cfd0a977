/* Sweeps in device memory: square lattices, and the choice between these and cubic ones. */
#include "models/ising/multispin/multispin_device.cuh"

enum gpumc_status
ising_multispin_sweep_global(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  return sweep->replicas.dimension == 3 ? ising_multispin_sweep_global_cubic(sweep, error)
                                        : ising_multispin_dispatch<device_launch, 2>(sweep, error);
}
