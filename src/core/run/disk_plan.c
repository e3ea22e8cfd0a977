/* The disk that a task needs. */
#include "core/run/disk_plan.h"

#include <math.h>

/* What HDF5 has of its own: in a file of some hundred datasets at most, in a checkpoint, and for
 * each row of a dataset that is stored row by row. */
static const double result_overhead = 0x1p19, checkpoint_overhead = 0x1p14, row_overhead = 64;

void gpumc_disk_plan_make(const struct gpumc_preparation *preparation, struct gpumc_disk_plan *plan)
{
  const struct gpumc_demand *demand = &preparation->demand;
  const double replicas = (double)demand->plan.runs * (double)demand->replicas;
  plan->recorded = (double)demand->plan.samples * (double)preparation->model.recorded_bytes;
  plan->result =
      result_overhead + demand->result_bytes + demand->configuration_bytes + plan->recorded;
  if (plan->recorded > 0)
    plan->result += 2 * row_overhead * (double)demand->plan.samples; /* couplings and fields */
  plan->log = demand->series_bytes + demand->configuration_bytes;
  plan->checkpoint = checkpoint_overhead + demand->state_bytes +
                     replicas * (double)preparation->model.portable_bytes;
  plan->running = plan->result + plan->log + 2 * plan->checkpoint;
  plan->resuming = fmax(plan->running, 2 * plan->result + plan->log + plan->checkpoint);
}
