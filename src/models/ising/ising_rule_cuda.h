/* The rule of a sweep of trajectory "ising.spin.1", as its CUDA kernels are told. */
#ifndef GPUMC_ISING_RULE_CUDA_H
#define GPUMC_ISING_RULE_CUDA_H

#include <stdint.h>

#include "models/ising/ising_physics.h"

/* Of one sweep call, by the number of neighbours up; for 32 spins at a time, bit 1 is up. A spin s
 * needs a comparison iff (s ^ flip[up]) & needed[up], and then stays unless its number is below
 * threshold[up]; all others flip. `plain`: there is no field, so that the classes 0 and 4, 1 and 3
 * are alike, the spins to be compared opposite, and class 2 needs no comparison. */
struct ising_rule {
  uint32_t threshold[ISING_CLASSES];
  uint32_t flip[ISING_CLASSES], needed[ISING_CLASSES];
  uint32_t plain;
};

#endif
