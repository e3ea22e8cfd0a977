/* Walks of O(n) spins: the parts compiled once for each instruction-set level. */
#ifndef GPUMC_HEISENBERG_WALK_ISA_H
#define GPUMC_HEISENBERG_WALK_ISA_H

#include "core/numerics/isa.h"
#include "models/heisenberg/walk/heisenberg_walk.h"
#include "models/lattice/checkerboard.h"

enum { HEISENBERG_WALK_LANES = GPUMC_WALK_GROUP };

/* A walking group of `count` replicas; replica[i] is spins[n][2][N/2] in the kernel's precision. */
struct heisenberg_walk_group {
  const struct heisenberg_walk_rule *rule;
  struct lattice_walk_canonical canonical;
  double lowest;
  const double *weight; /* [levels + 2] */
  int components;
  uint32_t sites, neighbours;
  /* [sites] positions of the neighbours; `neighbours` of them exist, from `first` on. */
  const uint32_t (*around)[GPUMC_NEIGHBOURS_MAXIMUM];
  uint32_t first;
  struct gpumc_random random;
  uint32_t number, count, steps;
  uint64_t time;
  void *replica[HEISENBERG_WALK_LANES];
  void *spins;        /* [sites][n][32], scratch */
  uint32_t *visits;   /* [levels] of this thread; NULL: not counted */
  uint32_t *passages; /* [count]; NULL: not counted */
  uint32_t end[2];
};

struct heisenberg_walk_ops {
  /* Returns the sum of all bonds of a replica spins[n][2][N/2], as in a walk. */
  int64_t (*bonds)(const struct gpumc_checkerboard *lattice, int components, const void *spins);
  void (*walk)(const struct heisenberg_walk_group *group);
};

#ifdef GPUMC_ISA_X86_64
extern const struct heisenberg_walk_ops heisenberg_walk_double_v2, heisenberg_walk_double_v3,
    heisenberg_walk_double_v4;
extern const struct heisenberg_walk_ops heisenberg_walk_float_v2, heisenberg_walk_float_v3,
    heisenberg_walk_float_v4;
#else
extern const struct heisenberg_walk_ops heisenberg_walk_double_portable,
    heisenberg_walk_float_portable;
#endif

#endif
