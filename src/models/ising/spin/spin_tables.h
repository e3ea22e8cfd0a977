/* What the spin kernel on the CPU keeps beside the replicas: places of sites, samples of the
 * disorder, waves, rules of the runs. */
#ifndef GPUMC_ISING_SPIN_TABLES_H
#define GPUMC_ISING_SPIN_TABLES_H

#include "models/ising/ising_wave.h"
#include "models/ising/spin/spin.h"

struct ising_spin_tables {
  struct ising_spin_lattice lattice;
  uint8_t *place;
  struct ising_spin_samples samples;
  struct ising_spin_rule *rule; /* [plan.runs] */
  struct ising_wave wave;
  int32_t *cosine, *sine; /* [wave.length] */
};

size_t
ising_spin_tables_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan);
/* Free also after a failure. */
GPUMC_MUST_CHECK enum gpumc_status
ising_spin_tables_create(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan,
                         struct ising_spin_tables *tables, struct gpumc_error *error);
/* Legal on zeroed tables. */
void ising_spin_tables_free(struct ising_spin_tables *tables);

#endif
