/* What the CUDA kernels of trajectory "ising2d.spin.1" are told about the replicas of a batch, the
 * rule of a sweep and the channels. */
#ifndef GPUMC_ISING2D_BATCH_CUDA_H
#define GPUMC_ISING2D_BATCH_CUDA_H

#include <stddef.h>
#include <stdint.h>

#include "models/ising2d/ising2d_physics.h"

/* See struct gpumc_ensemble. */
struct ising2d_batch {
  const uint32_t *size; /* [runs] replicas of each run, device memory */
  uint32_t runs;
  size_t capacity; /* replicas of one run that there is room for */
  uint64_t seed;
  uint32_t first_run, rounds, time;
  void *stream; /* cudaStream_t */
};

/* Of one sweep call, by the number of neighbours up; for 32 spins at a time, bit 1 is up. A spin s
 * needs a comparison iff (s ^ flip[up]) & needed[up], and then stays unless its number is below
 * threshold[up]; all others flip. `plain`: there is no field, so that the classes 0 and 4, 1 and 3
 * are alike, the spins to be compared opposite, and class 2 needs no comparison. */
struct ising2d_rule {
  uint32_t threshold[ISING2D_CLASSES];
  uint32_t flip[ISING2D_CLASSES], needed[ISING2D_CLASSES];
  uint32_t plain;
};

/* Arrays [runs][capacity] in device memory, NULL where not wanted; J and h in quanta. */
struct ising2d_channels {
  int64_t *energy, *magnetization;
  double coupling, field;
};

#endif
