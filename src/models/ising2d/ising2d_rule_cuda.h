/* The rule of a sweep of trajectory "ising2d.spin.1", as its CUDA kernels are told. */
#ifndef GPUMC_ISING2D_RULE_CUDA_H
#define GPUMC_ISING2D_RULE_CUDA_H

#include <stdint.h>

#include "models/ising2d/ising2d_physics.h"

/* Of one sweep call, by the number of neighbours up; for 32 spins at a time, bit 1 is up. A spin s
 * needs a comparison iff (s ^ flip[up]) & needed[up], and then stays unless its number is below
 * threshold[up]; all others flip. `plain`: there is no field, so that the classes 0 and 4, 1 and 3
 * are alike, the spins to be compared opposite, and class 2 needs no comparison. */
struct ising2d_rule {
  uint32_t threshold[ISING2D_CLASSES];
  uint32_t flip[ISING2D_CLASSES], needed[ISING2D_CLASSES];
  uint32_t plain;
};

#endif
