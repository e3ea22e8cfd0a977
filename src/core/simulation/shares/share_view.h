/* The part of a divided ensemble that the kernel of one process sees, and arrays of all. */
#ifndef GPUMC_CORE_SHARE_VIEW_H
#define GPUMC_CORE_SHARE_VIEW_H

#include "core/simulation/division.h"
#include "core/simulation/ensemble.h"

struct gpumc_share_state {
  struct gpumc_kernel_ops ops;           /* of the ensemble */
  const struct gpumc_kernel_ops *kernel; /* borrowed */
  size_t *counts;                        /* [processes] bytes that each has of an array */
  uint8_t *memory;                       /* for an array of the device in transit */
  size_t bytes;
  /* Device memory for the runs of the view: their numbers of replicas if the share is a part of a
   * run or, if runs are compared, those of one more; the replicas to be exchanged; and, for moves
   * with steps, the counts of one sweep. */
  uint32_t *size, *swap;
  uint64_t *accepted, *proposed;
};

static inline struct gpumc_share gpumc_share_at(const struct gpumc_ensemble *ensemble, int rank)
{
  return gpumc_share_of(&ensemble->plan, ensemble->runs, rank);
}

static inline struct gpumc_share gpumc_share_own(const struct gpumc_ensemble *ensemble)
{
  return gpumc_share_at(ensemble, ensemble->plan.processes->module.rank);
}

/* Returns whether a share is a part of one run. */
static inline bool
gpumc_share_is_part(const struct gpumc_ensemble *ensemble, const struct gpumc_share *share)
{
  return share->replicas < ensemble->plan.capacity;
}

/* Returns how many replicas a share has of a run with `size` replicas. */
static inline uint32_t gpumc_share_part(const struct gpumc_share *share, uint32_t size)
{
  const size_t rest = size > share->first_replica ? size - share->first_replica : 0;
  return (uint32_t)(rest < share->replicas ? rest : share->replicas);
}

/* Returns what the kernel sees: the ensemble of a share. It has all arrays in common with the whole
 * one except those that the share's state has. */
struct gpumc_ensemble
gpumc_share_view(const struct gpumc_ensemble *ensemble, const struct gpumc_share *share);
/* The same for the process's own share; for an undivided ensemble, the ensemble itself. */
struct gpumc_ensemble gpumc_share_own_view(const struct gpumc_ensemble *ensemble);
/* Gives every process the parts of all others of an array in device memory, of which the processes
 * have counts[p] bytes each, one after the other. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_share_join(const struct gpumc_ensemble *ensemble, void *array, struct gpumc_error *error);

#endif
