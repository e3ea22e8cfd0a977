/* Orders of bits: words of 32 replicas to words of 32 sites and back; 64 sites of a row on a
 * checkerboard, and the 32 of each colour. */
#ifndef GPUMC_LATTICE_BIT_MATRIX_H
#define GPUMC_LATTICE_BIT_MATRIX_H

#include <stdint.h>

#include "core/numerics/host_device.h"

/* Bit j of word i becomes bit i of word j, in place (Warren, Hacker's Delight, 7-3: blocks of 16,
 * 8, 4, 2, 1). */
static inline void gpumc_bit_transpose(uint32_t word[32])
{
  uint32_t mask = 0x0000ffffu;
  for (uint32_t width = 16; width != 0; width >>= 1, mask ^= mask << width)
    for (uint32_t i = 0; i < 32; i = (i + width + 1) & ~width) {
      uint32_t exchanged = (word[i] >> width ^ word[i + width]) & mask;
      word[i] ^= exchanged << width;
      word[i + width] ^= exchanged;
    }
}

/* Bits 0, 2, 4, ... of `bits` (Warren, Hacker's Delight, 7-2). */
GPUMC_HOST_DEVICE static inline uint32_t gpumc_bits_even(uint64_t bits)
{
  bits &= 0x5555555555555555u;
  bits = (bits | bits >> 1) & 0x3333333333333333u;
  bits = (bits | bits >> 2) & 0x0f0f0f0f0f0f0f0fu;
  bits = (bits | bits >> 4) & 0x00ff00ff00ff00ffu;
  bits = (bits | bits >> 8) & 0x0000ffff0000ffffu;
  return (uint32_t)(bits | bits >> 16);
}

/* The bits of `word` as bits 0, 2, 4, ... */
GPUMC_HOST_DEVICE static inline uint64_t gpumc_bits_spread(uint32_t word)
{
  uint64_t bits = word;
  bits = (bits | bits << 16) & 0x0000ffff0000ffffu;
  bits = (bits | bits << 8) & 0x00ff00ff00ff00ffu;
  bits = (bits | bits << 4) & 0x0f0f0f0f0f0f0f0fu;
  bits = (bits | bits << 2) & 0x3333333333333333u;
  return (bits | bits << 1) & 0x5555555555555555u;
}

#endif
