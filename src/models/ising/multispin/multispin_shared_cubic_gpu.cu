/* Sweeps in shared memory: cubic lattices. nvcc: --compress-mode=size */
#include "models/ising/multispin/multispin_shared.cuh"

/* Several groups at once, pairs of words of any rows, or words of one row (multispin_gpu.c). */
template <class LAUNCH>
static enum gpumc_status
dispatch(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  constexpr int GROUPS = ISING_MULTISPIN_GROUPS;
  const bool signs = sweep->disorder.signs != NULL;
  if (sweep->spread.groups > 1)
    return signs
               ? ising_multispin_by_rounds<LAUNCH, 1, 3, true, true, false, GROUPS>(sweep, error)
               : ising_multispin_by_rounds<LAUNCH, 1, 3, false, true, false, GROUPS>(sweep, error);
  return sweep->spread.pairs ? ising_multispin_by_signs<LAUNCH, 2, 3, true>(sweep, error)
                             : ising_multispin_dispatch<LAUNCH, 3>(sweep, error);
}

enum gpumc_status ising_multispin_sweep_shared_cubic(const struct ising_multispin_sweep *sweep,
                                                     struct gpumc_error *error)
{
  return dispatch<shared_launch>(sweep, error);
}

void ising_multispin_load_shared_cubic(const struct ising_multispin_sweep *sweep)
{
  (void)dispatch<shared_code>(sweep, NULL);
}
