/* Walks of O(n) spins: what the host makes of a table of weights. */
#include <math.h>

#include "models/heisenberg/walk/heisenberg_walk_host.h"

enum gpumc_status
heisenberg_walk_rule_make(const struct gpumc_model *model, const struct gpumc_weight_table *table,
                          struct heisenberg_walk_rule *rule, struct gpumc_error *error)
{
  const struct heisenberg_parameters *parameters = heisenberg_parameters(model);
  const double unit = 1.0 / (double)(1 << HEISENBERG_QUANTUM_BITS);
  const double per_quantum = unit / model->quantum[HEISENBERG_ENERGY];
  if (table->channel != HEISENBERG_ENERGY && table->channel != HEISENBERG_MAGNETIZATION_X)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "O(n) spins walk under weights by the energy or the magnetization along "
                           "x, not by the %s",
                           heisenberg_channels[table->channel].label.name);
  *rule = (struct heisenberg_walk_rule){
      .coupling = parameters->coupling * per_quantum,
      .field = parameters->field * per_quantum,
      .magnetization = unit / model->quantum[HEISENBERG_MAGNETIZATION_X],
      .spacing = (double)table->spacing,
      .inverse_spacing = 1.0 / (double)table->spacing,
      .levels = (double)table->levels,
      .by_energy = table->channel == HEISENBERG_ENERGY,
  };
  return GPUMC_OK;
}

void heisenberg_walk_weights(const struct gpumc_weight_table *table, size_t runs, double *weight)
{
  const int64_t *log_weight = table->log_weight;
  for (size_t m = 0; m < runs; m++) {
    *weight++ = -INFINITY;
    for (size_t l = 0; l < table->levels; l++, log_weight++)
      *weight++ = *log_weight != GPUMC_WEIGHT_NONE ? (double)*log_weight * 0x1p-32 : -INFINITY;
    *weight++ = -INFINITY;
  }
}
