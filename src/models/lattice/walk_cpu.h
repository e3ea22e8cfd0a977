/* Walks under a tabulated weight on the CPU: threads over groups of replicas, runs with the most
 * steps first, and adding visits of threads to the table. */
#ifndef GPUMC_LATTICE_WALK_CPU_H
#define GPUMC_LATTICE_WALK_CPU_H

#include "models/lattice/replicas_cpu.h"

/* A group of a run, its replicas first .. first + count - 1, and the steps that it makes now;
 * `number`: of the group in the whole, for counters. */
struct lattice_walk_group {
  size_t run, number, first, count;
  uint64_t time;
  uint32_t steps;
};

/* Lets a group walk; `thread`: the number of the calling one. The visits of a group in one call
 * stay below 2^32 at every level. */
typedef void
lattice_walk_body(const void *call, size_t thread, const struct lattice_walk_group *group);

/* Calls `body` for all groups of the runs that walk, until each has made the steps that the table
 * says. */
GPUMC_MUST_CHECK enum gpumc_status
lattice_walk_cpu(const struct gpumc_ensemble *ensemble, const struct gpumc_weight_table *table,
                 lattice_walk_body *body, const void *call, struct gpumc_error *error);

/* Returns the bytes that it allocates for this many runs. */
size_t lattice_walk_cpu_bytes(size_t runs);

/* Adds visits[levels] of a group to those of the table, and clears them. */
void lattice_walk_flush(const struct gpumc_ensemble *ensemble,
                        const struct gpumc_weight_table *table,
                        const struct lattice_walk_group *group, uint32_t *visits);

#endif
