/* What is sampled: the target, an argument of every sweep.
 *
 * A model declares controls, such as an inverse temperature and a field, and says how the weight of
 * a state depends on them (model.h). The algorithm decides which of them it moves, and through
 * which values; the kernel decides how a state is changed. */
#ifndef GPUMC_CORE_TARGET_H
#define GPUMC_CORE_TARGET_H

#include <stddef.h>
#include <stdint.h>

#include "core/numerics/host_device.h"

/* GPUMC_CONTROL_NONE: the moved control if none is moved. */
enum { GPUMC_CONTROLS_MAXIMUM = 4, GPUMC_CONTROL_NONE = GPUMC_CONTROLS_MAXIMUM };

enum gpumc_target_kind {
  GPUMC_BOLTZMANN, /* the weight given by the controls */
  GPUMC_ATHERMAL,  /* every allowed state with the same weight */
  GPUMC_TABULATED  /* a weight by the level of one channel */
};
enum { GPUMC_SWEPT_TARGETS = 2 }; /* sweeps are for the first of these kinds */

/* A weight that no state has: levels with this weight are never entered. */
#define GPUMC_WEIGHT_NONE INT64_MIN

/* Number of replicas that walk through the lattice together (gpumc_kernel_ops.walk), and the single
 * updates that each of them makes in a step, the unit of a walk's clock. */
enum { GPUMC_WALK_GROUP = 32, GPUMC_WALK_UPDATES = 4 };

/* ln of the weight by the level of one channel: level l of run m holds the values lowest[m] + l
 * spacing .. lowest[m] + (l + 1) spacing - 1, in quanta. Every replica is on a level that has a
 * weight, and never moves to a value outside all levels. */
struct gpumc_weight_table {
  size_t channel;
  const int64_t *lowest; /* [runs] host memory */
  int64_t spacing;
  size_t levels;
  const int64_t *log_weight; /* [runs][levels] in units of 2^-32, host memory */
  /* Run m makes steps[m] steps, the first of them at time[m] of its clock, [runs] in host memory.
   * With 0 steps it does not move at all. */
  const uint64_t *time;
  const uint32_t *steps;
  /* [runs][parts][levels] how often a replica of that part is on each level after a step, added up
   * in device memory: between the updates of a step it hardly moves, so counting more often would
   * add nothing. NULL: not counted. */
  uint64_t *visits;
  size_t parts; /* at least 1; see gpumc_walk_part */
  /* [runs] host memory: how many parts a run is counted in, its first ones: fewer parts take less
   * time. NULL: all of them. */
  const uint32_t *run_parts;
  /* [runs][capacity] device memory: four times the number of times that a replica went from one of
   * the two levels end[runs][2] (host memory) to the other, plus the one that it visited last, 1 or
   * 2, or 0 for neither (gpumc_walk_arrive), as seen after each step. NULL: not counted. */
  uint32_t *passages;
  const size_t *end;
};

/* Returns the number of steps with at least `updates` updates. */
static inline uint64_t gpumc_walk_steps(uint64_t updates)
{
  return updates / GPUMC_WALK_UPDATES + (updates % GPUMC_WALK_UPDATES != 0);
}

/* Returns the part of the visits that replica r of a run with `size` replicas counts in. */
GPUMC_HOST_DEVICE static inline size_t gpumc_walk_part(size_t r, size_t size, size_t parts)
{
  return r / GPUMC_WALK_GROUP * parts / ((size + GPUMC_WALK_GROUP - 1) / GPUMC_WALK_GROUP);
}

/* Returns `passages` of a replica after it has been at end[side]. */
GPUMC_HOST_DEVICE static inline uint32_t gpumc_walk_arrive(uint32_t passages, uint32_t side)
{
  const uint32_t last = passages & 3;
  return last == side + 1 ? passages : (passages & ~3u) + (last != 0 ? 4 : 0) + side + 1;
}

struct gpumc_target {
  enum gpumc_target_kind kind;
  /* [runs][n_controls] host memory; with a table, NULL or the weight that the table's weight is
   * added to. */
  const double *control;
  const struct gpumc_weight_table *table; /* tabulated only */
};

#endif
