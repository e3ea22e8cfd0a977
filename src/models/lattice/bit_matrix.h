/* Transposition of bit matrices: words of 32 replicas to words of 32 sites and back. */
#ifndef GPUMC_LATTICE_BIT_MATRIX_H
#define GPUMC_LATTICE_BIT_MATRIX_H

#include <stdint.h>

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

#endif
