/* Counting bits lane by lane without unpacking, on a GPU: every thread has a vertical counter,
 * plane p of which holds bit p of the count of each of 32 lanes (carry-save adders, Warren,
 * Hacker's Delight, 5-1); a warp adds its threads' counters. */
#ifndef GPUMC_LATTICE_VERTICAL_COUNTER_CUH
#define GPUMC_LATTICE_VERTICAL_COUNTER_CUH

#include "models/lattice/bit_tile.cuh"
#include "models/lattice/lop3.cuh"

enum { GPUMC_COUNTER_PLANES = 16 };

/* Counts up to 2^16 - 1 in each lane. */
struct gpumc_vertical_counter {
  uint32_t plane[GPUMC_COUNTER_PLANES];
};

/* a + b + c = sum + 2 carry. */
__device__ static inline uint32_t gpumc_full_add(uint32_t *sum, uint32_t b, uint32_t c)
{
  const uint32_t carry = (*sum & b) | (*sum & c) | (b & c);
  *sum ^= b ^ c;
  return carry;
}

/* Add four bits a lane; the carry, worth 4. */
__device__ static inline uint32_t
gpumc_counter_add4(struct gpumc_vertical_counter *counter, const uint32_t bits[4])
{
  const uint32_t carry0 = gpumc_full_add(&counter->plane[0], bits[0], bits[1]);
  const uint32_t carry1 = gpumc_full_add(&counter->plane[0], bits[2], bits[3]);
  return gpumc_full_add(&counter->plane[1], carry0, carry1);
}

/* Add `bits`, each worth 2^first. */
__device__ static inline void
gpumc_counter_carry(struct gpumc_vertical_counter *counter, const int first, uint32_t bits)
{
#pragma unroll
  for (int p = first; p < GPUMC_COUNTER_PLANES; p++) {
    const uint32_t carry = counter->plane[p] & bits;
    counter->plane[p] ^= bits;
    bits = carry;
  }
}

/* Bit `lane` of every thread's word, as one word: what a 32 x 32 transposition leaves there. */
__device__ static inline uint32_t gpumc_warp_column(uint32_t word)
{
  uint32_t mask = 0x0000ffff;
#pragma unroll
  for (uint32_t width = 16; width != 0; width >>= 1, mask ^= mask << width) {
    const bool upper = (threadIdx.x & width) != 0;
    const uint32_t other = __shfl_xor_sync(UINT32_MAX, word, width);
    const uint32_t kept = upper ? ~mask : mask;
    word = (word & kept) | (__funnelshift_l(other, other, upper ? 32 - width : width) & ~kept);
  }
  return word;
}

/* The count of lane number `threadIdx.x mod 32`, over all threads of the warp. */
__device__ static inline uint32_t
gpumc_counter_warp_sum(const struct gpumc_vertical_counter *counter)
{
  uint32_t sum = 0;
#pragma unroll
  for (int p = 0; p < GPUMC_COUNTER_PLANES; p++)
    if (__any_sync(UINT32_MAX, counter->plane[p] != 0))
      sum += (uint32_t)__popc(gpumc_warp_column(counter->plane[p])) << p;
  return sum;
}

#endif
