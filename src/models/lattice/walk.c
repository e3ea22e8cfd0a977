/* Walks under a tabulated weight: what runs do in a call. */
#include "models/lattice/walk.h"

#include "core/simulation/model.h"

struct lattice_walk_canonical lattice_walk_canonical_of(const struct gpumc_model *model,
                                                        const struct gpumc_target *target, size_t m,
                                                        size_t energy, size_t magnetization)
{
  double coefficient[GPUMC_CHANNELS_MAXIMUM];
  if (target->control == NULL)
    return (struct lattice_walk_canonical){0, 0};
  model->ops->coefficients(model, target->control + m * model->ops->n_controls, coefficient);
  return (struct lattice_walk_canonical){coefficient[energy] * model->quantum[energy],
                                         coefficient[magnetization] *
                                             model->quantum[magnetization]};
}

uint32_t
lattice_walk_runs(const struct gpumc_weight_table *table, size_t runs, struct lattice_walk_run *run)
{
  uint32_t active = 0;
  for (uint32_t m = 0; m < runs; m++) {
    if (table->steps[m] == 0)
      continue;
    run[active] = (struct lattice_walk_run){
        .lowest = table->lowest[m],
        .time = table->time[m],
        .number = m,
        .steps = table->steps[m],
        .parts = table->run_parts != NULL ? table->run_parts[m] : (uint32_t)table->parts,
    };
    for (size_t side = 0; side < 2 && table->end != NULL; side++)
      run[active].end[side] = (uint32_t)table->end[2 * m + side];
    active++;
  }
  return active;
}
