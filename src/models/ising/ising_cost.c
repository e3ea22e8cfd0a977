/* What a sweep costs with each kernel, as far as the configuration determines it: for the choice of
 * `kernel.variant: auto`, which must be the same on every device. Rates are those of one core with
 * AVX-512 (docs/performance.md); on GPUs their ratios are similar. */
#include "models/ising/ising.h"

enum {
  LANES = 32 /* replicas that share a word */
};
/* Spin flips per nanosecond. A replica that has a word for itself costs as much as 32. */
static const double multispin_rate = 16.0, spin_rate = 4.8;
/* Of `packed`, for each site of a row: short rows leave vectors empty; and its highest. */
static const double packed_rate_of_site = 0.01, packed_rate_maximum = 10.0;

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
  const double rate = packed_rate_of_site * (double)ising_parameters(model)->lattice.length_x;
  return (double)model->sites * (double)replicas /
         (rate < packed_rate_maximum ? rate : packed_rate_maximum);
}
