/* Tiles: 32 replicas x 256 sites of one bit, and the way between their two forms.
 *
 * By replica, as replicas are stored: [32 lanes][8 words], bit i of word j of a lane is site
 * 32 j + i, so that a replica's part of a tile is one sector of 32 bytes and copies of replicas
 * move nothing else. By site, as sweeps need them: [256 words], bit = lane.
 *
 * A warp holds a tile as eight words a thread. Thread 4 a + b has the words a of the lanes
 * 8 b .. 8 b + 7, or the sites 32 a + 8 b .. 32 a + 8 b + 7: these are the same places of eight
 * 32 x 32 bit matrices, of which three of five exchanges stay within the thread. */
#ifndef GPUMC_LATTICE_BIT_TILE_CUH
#define GPUMC_LATTICE_BIT_TILE_CUH

#include <stdint.h>

enum {
  GPUMC_TILE_LANE_WORDS = 8, /* of a lane, and of a thread */
  GPUMC_TILE_WORDS = 256,
};

/* Bits i of word j and j of word i exchanged, for blocks of `width` bits. */
__device__ static inline void gpumc_tile_exchange_within(uint32_t word[GPUMC_TILE_LANE_WORDS],
                                                         const int width, const uint32_t mask)
{
#pragma unroll
  for (int i = 0; i < GPUMC_TILE_LANE_WORDS; i++) {
    if ((i & width) != 0)
      continue;
    const uint32_t low = word[i], high = word[i + width];
    word[i] = (low & mask) | ((high << width) & ~mask);
    word[i + width] = ((low >> width) & mask) | (high & ~mask);
  }
}

/* From either form to the other. Called by a whole warp. */
__device__ static inline void gpumc_tile_transpose(uint32_t word[GPUMC_TILE_LANE_WORDS])
{
  const uint32_t thread = threadIdx.x;
  const uint32_t bytes = (thread & 1) != 0 ? 0x3715 : 0x6240;
  const uint32_t halves = (thread & 2) != 0 ? 0x3276 : 0x5410;
  gpumc_tile_exchange_within(word, 1, 0x55555555);
  gpumc_tile_exchange_within(word, 2, 0x33333333);
  gpumc_tile_exchange_within(word, 4, 0x0f0f0f0f);
#pragma unroll
  for (int i = 0; i < GPUMC_TILE_LANE_WORDS; i++)
    word[i] = __byte_perm(word[i], __shfl_xor_sync(UINT32_MAX, word[i], 1), bytes);
#pragma unroll
  for (int i = 0; i < GPUMC_TILE_LANE_WORDS; i++)
    word[i] = __byte_perm(word[i], __shfl_xor_sync(UINT32_MAX, word[i], 2), halves);
}

/* Where the calling thread's words stand in a tile by replica: word i at this place plus
 * i GPUMC_TILE_LANE_WORDS. In a tile by site: 8 words from 8 times the thread's lane on. */
__device__ static inline uint32_t gpumc_tile_place(uint32_t lane)
{
  return (lane & 3) * GPUMC_TILE_LANE_WORDS * 8 + (lane >> 2);
}

#endif
