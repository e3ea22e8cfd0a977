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

/* Of one sweep call: threshold and compared of struct ising2d_spin_rule (ising2d_spin.h), by the
 * number of neighbours up. `plain`: there is no field, so that the classes 0 and 4, 1 and 3 have
 * the same threshold and class 2 needs none. */
struct ising2d_rule {
  uint32_t threshold[ISING2D_CLASSES];
  uint32_t compared[ISING2D_CLASSES];
  uint32_t plain;
};

/* Arrays [runs][capacity] in device memory, NULL where not wanted; J and h in quanta. */
struct ising2d_channels {
  int64_t *energy, *magnetization;
  double coupling, field;
};

#endif
