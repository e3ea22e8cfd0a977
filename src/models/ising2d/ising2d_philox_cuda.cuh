/* Philox4x32 for the inner loop: gpumc_random_draw in parts, of which some are the same for many
 * counters {site, replica, time, label}. After two rounds, what depends on site and label has not
 * met what depends on replica and time but by exclusive or. */
#ifndef GPUMC_ISING2D_PHILOX_CUDA_CUH
#define GPUMC_ISING2D_PHILOX_CUDA_CUH

#include "core/random.h"

/* The lower half of the product; nvcc does not find this one instruction in Random123's text. */
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

/* Of site and label: both halves of a product of the second round. */
__device__ static inline uint2
ising2d_draw_site(struct gpumc_random random, uint32_t site, uint32_t label)
{
  uint2 drawn;
  uint32_t high;
  ising2d_multiply(PHILOX_M4x32_0, site, &high);
  drawn.x = ising2d_multiply(PHILOX_M4x32_1, high ^ label ^ random.key[1], &drawn.y);
  return drawn;
}

/* Of replica and time: what is still to be combined with the site's, and the fourth word. */
struct ising2d_drawn_time {
  uint32_t x0, x2, x3;
};

__device__ static inline struct ising2d_drawn_time
ising2d_draw_time(struct gpumc_random random, uint32_t replica, uint32_t time)
{
  struct ising2d_drawn_time drawn;
  uint32_t high;
  const uint32_t low = ising2d_multiply(PHILOX_M4x32_1, time, &high);
  drawn.x3 = ising2d_multiply(PHILOX_M4x32_0, high ^ replica ^ random.key[0], &high);
  drawn.x0 = low ^ (random.key[0] + PHILOX_W32_0);
  drawn.x2 = high ^ (random.key[1] + PHILOX_W32_1);
  return drawn;
}

/* The rounds that are left. */
template <uint32_t ROUNDS>
__device__ static inline void ising2d_draw(struct gpumc_random random, uint32_t site, uint2 of_site,
                                           struct ising2d_drawn_time of_time, uint32_t word[4])
{
  uint32_t key0 = random.key[0] + 2 * PHILOX_W32_0, key1 = random.key[1] + 2 * PHILOX_W32_1;
  uint32_t x0 = of_site.y ^ of_time.x0, x1 = of_site.x;
  uint32_t x2 = PHILOX_M4x32_0 * site ^ of_time.x2, x3 = of_time.x3;
#pragma unroll
  for (uint32_t round = 2; round < ROUNDS; round++) {
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
