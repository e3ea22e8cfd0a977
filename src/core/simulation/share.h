/* Ensembles whose runs are divided among processes.
 *
 * Every process has the same schedule and the same arrays of channels, of all runs; replicas it has
 * of its share of the runs alone. Operations of such an ensemble work on the share and make whole
 * what they measured, so that whoever uses it sees all runs, decides on them, and decides the same
 * everywhere. A kernel sees an ensemble of the runs of the share, whose random numbers are those
 * that the runs have anywhere.
 *
 * Operations are collective: all processes call them in the same order. Of one that fails in a
 * process alone, the others learn by gpumc_processes_abandon; starts, transfers and inspections
 * fail in all. */
#ifndef GPUMC_CORE_SHARE_H
#define GPUMC_CORE_SHARE_H

#include "core/processes/processes.h"
#include "core/simulation/model.h"

/* Whether the runs of a plan can be divided: there are several, and no sample of the disorder goes
 * by runs. */
bool gpumc_share_divides(const struct gpumc_ensemble_plan *plan);
/* Runs that one process holds at most, of the plan's. */
size_t gpumc_share_runs(const struct gpumc_ensemble_plan *plan);

/* In the place of the kernel's `create`, of an ensemble whose plan names processes: it gets
 * operations that divide their work. `destroy` is legal after a failure. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_share_create(struct gpumc_ensemble *ensemble, struct gpumc_error *error);

#endif
