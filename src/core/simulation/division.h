/* Which part of an ensemble each process has: rules on numbers alone.
 *
 *   replicas ->            by runs, 2 processes    by parts, 4 processes    by replicas, 2
 * processes run 0  * * * * * * *   0 0 0 0 0 0 0           0 0 0 0 1 1 1            0 0 0 0 1 1 1
 *   run 1  * * * * * * *   1 1 1 1 1 1 1           2 2 2 2 3 3 3            0 0 0 0 1 1 1
 *
 * In the first two, shares follow each other in an array [runs][replicas]. */
#ifndef GPUMC_CORE_DIVISION_H
#define GPUMC_CORE_DIVISION_H

#include "core/processes/processes.h"
#include "core/simulation/model.h"

/* The runs first_run .. first_run + runs - 1 of the batch, and of each as many replicas. */
struct gpumc_share {
  size_t first_run, runs, first_replica, replicas;
};

/* Processes that can have a share of what `plan` holds if it is so divided, at most; 0: it is not
 * divided. `granule`: gpumc_plan_group. */
size_t gpumc_division_most(enum gpumc_division division, const struct gpumc_ensemble_plan *plan,
                           size_t granule, size_t even);
/* The first of `divides` that has a share for each of `processes`, entered into `plan` together
 * with all that belongs to it; GPUMC_UNDIVIDED where none divides such a plan. `even`: replicas of
 * a run, about, out of the room for them. GPUMC_INVALID: there are too many processes. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_division_choose(const enum gpumc_division *divides, const struct gpumc_kernel_ops *kernel,
                      size_t even, const struct gpumc_processes *processes,
                      struct gpumc_ensemble_plan *plan, struct gpumc_error *error);

/* That of process `rank`, of a batch with `runs` runs. `plan`: of the whole, or that of a process
 * (gpumc_share_plan). */
struct gpumc_share gpumc_share_of(const struct gpumc_ensemble_plan *plan, size_t runs, int rank);
/* What a kernel is to hold in process `rank` of a divided plan: of every batch the share. */
struct gpumc_ensemble_plan gpumc_share_plan(const struct gpumc_ensemble_plan *plan, int rank);
/* The same of the process that has the most; of an undivided plan that itself. */
struct gpumc_ensemble_plan gpumc_share_largest(const struct gpumc_ensemble_plan *plan);

/* Replicas of a run in the whole; of a process's own plan, too. */
static inline size_t gpumc_plan_whole(const struct gpumc_ensemble_plan *plan)
{
  return plan->all_replicas > 0 ? plan->all_replicas : plan->capacity;
}

#endif
