/* Walks under a tabulated weight (gpumc_kernel_ops.walk) of any lattice model: the sites at which
 * the replicas of a group are updated, and the work of a run in a call. For both compilers. */
#ifndef GPUMC_LATTICE_WALK_H
#define GPUMC_LATTICE_WALK_H

#include "core/numerics/random.h"
#include "core/simulation/kernel.h"
#include "models/lattice/batch.h"

/* The draw of the counter's label that sites come from; all others are for single replicas. */
enum { LATTICE_WALK_SITES = 1 };

/* Finds the sites of one step of a group, as positions in checkerboard order: site j is floor(w N /
 * 2^32), w output j of the counter {group, upper half of the time, lower half, (LATTICE_WALK,
 * 1)}. */
GPUMC_HOST_DEVICE static inline void lattice_walk_sites(struct gpumc_random random, uint32_t group,
                                                        uint64_t time, uint32_t sites,
                                                        uint32_t site[GPUMC_WALK_UPDATES])
{
  uint32_t word[GPUMC_WALK_UPDATES];
  gpumc_random_draw(random, group, (uint32_t)(time >> 32), (uint32_t)time,
                    gpumc_random_label(GPUMC_RANDOM_LATTICE_WALK, LATTICE_WALK_SITES), word);
  for (int j = 0; j < GPUMC_WALK_UPDATES; j++)
    site[j] = (uint32_t)((uint64_t)word[j] * sites >> 32);
}

/* ln of the weight in addition to the table: - energy times E / quantum - magnetization times M /
 * quantum. */
struct lattice_walk_canonical {
  double energy, magnetization;
};

/* Returns the part of the visits that replica r of a run with `size` replicas counts in, on a
 * GPU. */
GPUMC_HOST_DEVICE static inline size_t
lattice_walk_part(const struct lattice_batch *batch, uint32_t r, uint32_t size, uint32_t parts)
{
  return gpumc_walk_part((size_t)lattice_batch_replica(batch, r), (size_t)batch->others + size,
                         parts);
}

/* The work of a run in a call; the levels and the parts as in struct gpumc_weight_table. */
struct lattice_walk_run {
  struct lattice_walk_canonical canonical;
  int64_t lowest;
  uint64_t time;
  uint32_t number, steps, parts, end[2];
};

/* Returns that of run m, whose target has controls or none; `energy` and `magnetization` are the
 * channels that controls couple to. */
struct lattice_walk_canonical lattice_walk_canonical_of(const struct gpumc_model *model,
                                                        const struct gpumc_target *target, size_t m,
                                                        size_t energy, size_t magnetization);

/* Fills in run[] for those of `runs` runs that walk, in order, except for the weight in addition to
 * the table; returns how many. */
uint32_t lattice_walk_runs(const struct gpumc_weight_table *table, size_t runs,
                           struct lattice_walk_run *run);

#endif
