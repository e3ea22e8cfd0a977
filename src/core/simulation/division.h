/* The part of an ensemble that each process has: rules on numbers alone.
 *
 *   replicas ->            by runs, 2 processes    by parts, 4 processes    by replicas, 2
 * processes run 0  * * * * * * *   0 0 0 0 0 0 0           0 0 0 0 1 1 1            0 0 0 0 1 1 1
 *   run 1  * * * * * * *   1 1 1 1 1 1 1           2 2 2 2 3 3 3            0 0 0 0 1 1 1
 *
 * In the first two, the shares are contiguous in an array [runs][replicas]. */
#ifndef GPUMC_CORE_DIVISION_H
#define GPUMC_CORE_DIVISION_H

#include "core/processes/processes.h"
#include "core/simulation/model.h"

/* The runs first_run .. first_run + runs - 1 of the batch, and the same replicas of each. */
struct gpumc_share {
  size_t first_run, runs, first_replica, replicas;
};

/* Returns the largest number of processes that can have a share of `plan` if it is divided in this
 * way; 0: it is not divided. `granule`: gpumc_plan_group. */
size_t gpumc_division_most(enum gpumc_division division, const struct gpumc_ensemble_plan *plan,
                           size_t granule, size_t even);
/* Enters into `plan` the first of `divides` that has a share for each of `processes`, together with
 * everything that belongs to it; GPUMC_UNDIVIDED if none divides such a plan. `even`: replicas of a
 * run, about, out of the room for them. GPUMC_INVALID: there are too many processes. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_division_choose(const enum gpumc_division *divides, const struct gpumc_kernel_ops *kernel,
                      size_t even, const struct gpumc_processes *processes,
                      struct gpumc_ensemble_plan *plan, struct gpumc_error *error);

/* Returns the share of process `rank` in a batch with `runs` runs. `plan`: of the whole, or that of
 * a process (gpumc_share_plan). */
struct gpumc_share gpumc_share_of(const struct gpumc_ensemble_plan *plan, size_t runs, int rank);
/* Returns what a kernel must hold in process `rank` of a divided plan: its share of every batch. */
struct gpumc_ensemble_plan gpumc_share_plan(const struct gpumc_ensemble_plan *plan, int rank);
/* The same for the process that has the most; the plan itself if it is not divided. */
struct gpumc_ensemble_plan gpumc_share_largest(const struct gpumc_ensemble_plan *plan);

/* Returns the replicas of a run in the whole, even for the plan of a single process. */
static inline size_t gpumc_plan_whole(const struct gpumc_ensemble_plan *plan)
{
  return plan->all_replicas > 0 ? plan->all_replicas : plan->capacity;
}

#endif
