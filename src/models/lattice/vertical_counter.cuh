/* Counting bits lane by lane without unpacking, on a GPU: every thread has a vertical counter,
 * plane p of which holds bit p of the count of each of 32 lanes (carry-save adders, Warren,
 * Hacker's Delight, 5-1); a warp adds its threads' counters. */
#ifndef GPUMC_LATTICE_VERTICAL_COUNTER_CUH
#define GPUMC_LATTICE_VERTICAL_COUNTER_CUH

#include "models/lattice/bit_tile.cuh"
#include "models/lattice/lop3.cuh"

/* Counts up to 2^PLANES - 1 in each lane. */
template <int PLANES> struct gpumc_vertical_counter {
  uint32_t plane[PLANES];
};

/* a + b + c = sum + 2 carry. */
__device__ static inline uint32_t gpumc_full_add(uint32_t *sum, uint32_t b, uint32_t c)
{
  const uint32_t carry = (*sum & b) | (*sum & c) | (b & c);
  *sum ^= b ^ c;
  return carry;
}

/* Add N bits a lane, each worth 2^FIRST: pairs to one plane, their carries to the next. */
template <int FIRST, int N, int PLANES>
__device__ static inline void
gpumc_counter_add(struct gpumc_vertical_counter<PLANES> *counter, const uint32_t bits[N])
{
  static_assert(FIRST < PLANES, "the counter has room");
  constexpr int CARRIES = (N + 1) / 2;
  uint32_t carry[CARRIES];
#pragma unroll
  for (int i = 0; i < CARRIES; i++)
    carry[i] =
        gpumc_full_add(&counter->plane[FIRST], bits[2 * i], 2 * i + 1 < N ? bits[2 * i + 1] : 0);
  if constexpr (N > 1) {
    gpumc_counter_add<FIRST + 1, CARRIES, PLANES>(counter, carry);
  } else {
#pragma unroll
    for (int p = FIRST + 1; p < PLANES; p++) {
      const uint32_t next = counter->plane[p] & carry[0];
      counter->plane[p] ^= carry[0];
      carry[0] = next;
    }
  }
}

/* The counts of the threads whose numbers differ in the bit `width`, added for both. */
template <int PLANES>
__device__ static inline void
gpumc_counter_share(struct gpumc_vertical_counter<PLANES> *counter, uint32_t width)
{
  uint32_t carry = 0;
#pragma unroll
  for (int p = 0; p < PLANES; p++)
    carry = gpumc_full_add(&counter->plane[p],
                           __shfl_xor_sync(UINT32_MAX, counter->plane[p], width), carry);
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
template <int PLANES>
__device__ static inline uint32_t
gpumc_counter_warp_sum(const struct gpumc_vertical_counter<PLANES> *counter)
{
  uint32_t sum = 0;
#pragma unroll
  for (int p = 0; p < PLANES; p++)
    if (__any_sync(UINT32_MAX, counter->plane[p] != 0))
      sum += (uint32_t)__popc(gpumc_warp_column(counter->plane[p])) << p;
  return sum;
}

#endif
