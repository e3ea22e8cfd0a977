/* What a sweep costs with each kernel, as far as the configuration determines it: for the choice of
 * `kernel.variant: auto`, which must be the same on every device. Rates are those of one core with
 * AVX-512; what GPUs do with few replicas is in docs/performance.md, "Few replicas". */
#include "models/ising/ising.h"

enum {
  LANES = 32 /* replicas that share a word */
};
/* Spin flips per nanosecond. A replica that has a word for itself costs as much as 32. */
static const double multispin_rate = 16.0, spin_rate = 4.8;
/* Of `packed` on large lattices. On small ones the two halves of a sweep, in which nobody goes on
 * before all are done, cost as much time as so many sites more. */
static const double packed_rate = 10.0, packed_waiting_sites = 20000;

double ising_multispin_cost(const struct gpumc_model *model, size_t replicas)
{
  const size_t words = (replicas + LANES - 1) / LANES;
  return (double)model->sites * (double)(words * LANES) / multispin_rate;
}

double ising_spin_cost(const struct gpumc_model *model, size_t replicas)
{
  return (double)model->sites * (double)replicas / spin_rate;
}

double ising_packed_cost(const struct gpumc_model *model, size_t replicas)
{
  return ((double)model->sites + packed_waiting_sites) * (double)replicas / packed_rate;
}
