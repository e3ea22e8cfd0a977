/* Sweeps in shared memory: cubic lattices. */
#include "models/ising/multispin/multispin_shared.cuh"

enum gpumc_status ising_multispin_sweep_shared_cubic(const struct ising_multispin_sweep *sweep,
                                                     struct gpumc_error *error)
{
  return ising_multispin_dispatch<shared_launch, 3>(sweep, error);
}

void ising_multispin_load_shared_cubic(const struct ising_multispin_sweep *sweep)
{
  struct gpumc_error error;
  (void)ising_multispin_dispatch<shared_code, 3>(sweep, &error);
}
