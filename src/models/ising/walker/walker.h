/* The walker kernel of Ising spins: many replicas under one tabulated weight, single updates at
 * sites that a group of 32 replicas shares. This is the preparation of a call of
 * gpumc_kernel_ops.walk for both devices; the trajectory is defined in
 * models/ising/ising_physics.h.
 *
 * A group is words of 32 replicas, one word per site, bit i replica i, in checkerboard order:
 *
 *   site    0        1        2              N - 1
 *         |10..01| |00..11| |01..10|  ...  |11..00|     update of site p: its word and those of the
 *          ^    ^                                        neighbours, from which follows for all 32
 *          |    replica 0 of the group                   how many neighbours are like the spin
 *          replica 31
 *
 * If a flip moves a replica by a number of levels that follows from its class (like spins around
 * it, and the spin), thresholds by level and class are tabulated on the host; otherwise each is
 * computed from the weights when it is needed. */
#ifndef GPUMC_ISING_WALKER_H
#define GPUMC_ISING_WALKER_H

#include "core/numerics/isa.h"
#include "core/numerics/random.h"
#include "core/simulation/kernel.h"
#include "models/ising/ising_physics.h"
#include "models/ising/ising_takes.h"
#include "models/lattice/walk.h"

enum {
  ISING_WALKER_LIKE = 8,     /* classes by the number of neighbours like the spin */
  ISING_WALKER_CLASSES = 16, /* and by the spin: 8 more for those that are up */
  /* The draw of the counter's label that numbers come from; sites: lattice/walk.h. */
  ISING_WALKER_ACCEPTANCE = 0
};

/* Certain moves are refused once in 2^32, so that a threshold fits into 32 bits. */
#define ISING_WALKER_SURE 0xffffffffu

/* Returns the threshold of a flip from weight `from` to weight `to`, given its changes of the
 * energy and the magnetization. */
GPUMC_HOST_DEVICE static inline uint32_t
ising_walker_threshold(const struct lattice_walk_canonical *canonical, int64_t from, int64_t to,
                       int64_t energy, int64_t magnetization)
{
  if (to == GPUMC_WEIGHT_NONE)
    return 0;
  const double x =
      fma(canonical->energy, (double)energy, canonical->magnetization * (double)magnetization);
  const uint64_t threshold = gpumc_threshold_exponential(fma((double)(from - to), 0x1p-32, x));
  return threshold < ISING_WALKER_SURE ? (uint32_t)threshold : ISING_WALKER_SURE;
}

/* A call; runs share everything that is not indexed by them. A flip moves a replica in class `like`
 * + 8 `up` by the levels step_base + step_like like + step_up up. */
struct ising_walk {
  bool tabled;
  uint32_t stride; /* classes of a level: 8 if the spin does not matter, or 16 */
  size_t levels;
  size_t channel;        /* ISING_ENERGY or ISING_MAGNETIZATION */
  const int64_t *lowest; /* [runs] */
  int64_t spacing;
  int32_t step_base, step_like, step_up;
  uint32_t *threshold;                      /* [runs][levels][stride]; NULL unless tabled */
  const int64_t *log_weight;                /* [runs][levels] */
  struct lattice_walk_canonical *canonical; /* [runs] */
};

/* Returns GPUMC_INVALID for a channel or an ensemble that the kernel does not walk with. The caller
 * frees it, also after a failure. */
GPUMC_MUST_CHECK enum gpumc_status
ising_walk_make(const struct gpumc_ensemble *ensemble, const struct gpumc_target *target,
                struct ising_walk *walk, struct gpumc_error *error);
void ising_walk_free(struct ising_walk *walk);

/* ---- the CPU, compiled once for each instruction-set level ---- */

/* Positions of the neighbours of a position, and bits n that are set if the coupling with neighbour
 * n is opposite to that of the rule. */
struct ising_walker_site {
  uint32_t neighbour[6];
  uint32_t against;
};

/* One group of a run in the tabled form. base[i]: the level of replica i times the stride. */
struct ising_walker_group {
  const struct ising_walk *walk;
  const uint32_t *threshold; /* of the run */
  const struct ising_walker_site *site;
  uint32_t sites, neighbours;
  struct gpumc_random random;
  uint32_t number, steps;
  uint64_t time;
  uint32_t lanes;     /* replicas that exist, a bit each */
  uint32_t *words;    /* [sites] */
  uint32_t *base;     /* [32] */
  uint32_t *visits;   /* [levels] of this thread; NULL: not counted */
  uint32_t *passages; /* [32]; NULL: not counted */
  uint32_t end[2];    /* levels times the stride */
};

struct ising_walker_ops {
  void (*walk)(const struct ising_walker_group *group);
};

#ifdef GPUMC_ISA_X86_64
extern const struct ising_walker_ops ising_walker_v2, ising_walker_v3, ising_walker_v4;
#else
extern const struct ising_walker_ops ising_walker_portable;
#endif

#define ISING_TAKES_WALKER                                                                         \
  ISING_TAKES_SPIN ". One thread sweeps a replica, so thousands of replicas are needed"

/* Designated initialisers of a struct gpumc_kernel_ops for `walker` on GPUs, in builds with and
 * without CUDA. */
#define ISING_WALKER_CUDA_NAMES                                                                    \
  .device = "cuda", .variant = "walker", .former = "replica", .refuses = ising_gpu_refuses,        \
  .summary = "one thread per replica, for tabulated weights; one byte and one 32-bit random "      \
             "number per spin",                                                                    \
  .takes = ISING_TAKES_WALKER ISING_TAKES_ON_GPUS, .trajectory = "ising.spin.1",                   \
  .moves = ising_moves, .n_moves = ISING_LOCAL_MOVES, .group = 1

#endif
