/* Philox4x32 for the inner loop: gpumc_random_draw with the multiplications written as the one
 * instruction that they are, which nvcc does not always find in Random123's. */
#ifndef GPUMC_ISING2D_PHILOX_CUDA_CUH
#define GPUMC_ISING2D_PHILOX_CUDA_CUH

#include "core/random.h"

__device__ static inline uint32_t ising2d_multiply(uint32_t factor, uint32_t value, uint32_t *high)
{
  uint32_t low;
  asm("{\n\t.reg .b64 product;\n\t"
      "mul.wide.u32 product, %2, %3;\n\t"
      "mov.b64 {%0, %1}, product;\n\t}"
      : "=r"(low), "=r"(*high)
      : "r"(value), "r"(factor));
  return low;
}

template <uint32_t ROUNDS>
__device__ static inline void
ising2d_draw(struct gpumc_random random, uint32_t site, uint32_t group, uint32_t time,
             uint32_t label, uint32_t word[4])
{
  uint32_t key0 = random.key[0], key1 = random.key[1];
  uint32_t x0 = site, x1 = group, x2 = time, x3 = label;
#pragma unroll
  for (uint32_t round = 0; round < ROUNDS; round++) {
    uint32_t high0, high1;
    const uint32_t low0 = ising2d_multiply(PHILOX_M4x32_0, x0, &high0);
    const uint32_t low1 = ising2d_multiply(PHILOX_M4x32_1, x2, &high1);
    x0 = high1 ^ x1 ^ key0;
    x1 = low1;
    x2 = high0 ^ x3 ^ key1;
    x3 = low0;
    key0 += PHILOX_W32_0;
    key1 += PHILOX_W32_1;
  }
  word[0] = x0;
  word[1] = x1;
  word[2] = x2;
  word[3] = x3;
}

#endif
