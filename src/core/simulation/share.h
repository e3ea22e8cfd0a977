/* Ensembles that are divided among processes (division.h), at work.
 *
 * By runs or parts: every process has the same schedule and the same arrays of channels, of all
 * runs, but only the replicas of its share. Operations of such an ensemble work on the share and
 * make their measurements whole, so that callers see all runs, decide on them, and decide the same
 * everywhere. A kernel sees an ensemble of the share, with the same random numbers that its
 * replicas have anywhere. By runs, replicas that are exchanged with those of a run of another
 * process are carried there: labels of runs could not move instead, since a run's random numbers
 * and channels go by its number. For comparisons a process has room for one run of another.
 *
 * By replicas: the ensemble is the share (columns.h), and operations are the kernel's; only start,
 * inspection and transfers are those of all processes.
 *
 * Operations that tell others are collective: all processes call them in the same order. If one
 * fails in a single process, the others learn of it by gpumc_processes_abandon; starts, transfers
 * and inspections fail in all. */
#ifndef GPUMC_CORE_SHARE_H
#define GPUMC_CORE_SHARE_H

#include "core/simulation/division.h"

/* Replaces the kernel's `create` for an ensemble whose plan names processes: it gets operations
 * that divide their work. `destroy` is legal after a failure. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_share_create(struct gpumc_ensemble *ensemble, struct gpumc_error *error);
/* Call after the numbers of replicas of all runs have become size[runs]. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_share_resize(struct gpumc_ensemble *ensemble,
                                                      const uint32_t *size,
                                                      struct gpumc_error *error);
/* Computes what this process has of the runs whose numbers of replicas are size[runs]:
 * own_size[runs]. */
void gpumc_share_cut_sizes(const struct gpumc_ensemble *ensemble, const uint32_t *size,
                           uint32_t *own_size);

/* The operations `get` and `get_state`, but only the root gets the replicas of all, as for a
 * checkpoint. Others need as much room, in which they find some of their own. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_share_get_to_root(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                        uint8_t *portable, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status gpumc_share_get_state_to_root(struct gpumc_ensemble *ensemble,
                                                                 size_t m, uint8_t *state,
                                                                 struct gpumc_error *error);

#endif
