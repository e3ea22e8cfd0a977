/* Sweeps in shared memory: square lattices, and the choice between these and cubic ones. */
#include "models/ising/multispin/multispin_shared.cuh"

size_t ising_multispin_shared_bytes(const struct ising_multispin_replicas *replicas, uint32_t slots,
                                    uint32_t groups, uint32_t threads)
{
  const size_t group = sizeof(struct ising_multispin_group_sums) +
                       ising_multispin_group_words(replicas) * sizeof(uint32_t);
  return sizeof(mask_rows) +
         slots * (ising_multispin_queue_bytes(replicas, threads) + groups * group);
}

enum gpumc_status
ising_multispin_sweep_shared(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  return sweep->replicas.dimension == 3 ? ising_multispin_sweep_shared_cubic(sweep, error)
                                        : ising_multispin_dispatch<shared_launch, 2>(sweep, error);
}

void ising_multispin_load_shared(const struct ising_multispin_sweep *sweep)
{
  struct ising_multispin_sweep other = *sweep;
  if (sweep->replicas.dimension == 3) {
    ising_multispin_load_shared_cubic(sweep);
    return;
  }
  for (other.rule.zeros = 0; other.rule.zeros <= 4; other.rule.zeros += 2)
    (void)ising_multispin_dispatch<shared_code, 2>(&other, NULL);
}
