/* Random numbers for tests, the same in every run. */
#ifndef GPUMC_TESTS_DRAW_H
#define GPUMC_TESTS_DRAW_H

#include "core/numerics/random.h"

/* Returns 64 random bits for three numbers. */
static inline uint64_t test_draw(uint32_t what, uint32_t run, uint32_t i)
{
  uint32_t word[4];
  gpumc_random_draw(gpumc_random_make(17, run, 10), i, what, 0, 1, word);
  return (uint64_t)word[0] << 32 | word[1];
}

#endif
