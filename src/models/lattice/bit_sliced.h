/* Bit-sliced arithmetic, 32 lanes per word: thresholds that random numbers are compared with bit by
 * bit, and orders of bits. */
#ifndef GPUMC_LATTICE_BIT_SLICED_H
#define GPUMC_LATTICE_BIT_SLICED_H

#include <stdbool.h>
#include <stdint.h>

#include "core/numerics/host_device.h"
#include "core/numerics/threshold.h"

/* ---- comparison ---- */

/* The comparison u < T for 32 replicas per word, bit by bit from the most significant.
 *
 * u is a uniform 32-bit number per lane: plane p (p = 0 the most significant bit) of a word is
 * output p mod 4 of the word's Philox counter with draw p / 4. T depends on the lane's class. A
 * lane is decided at the first bit where u and T differ; later bits cannot change it, so it does
 * not matter where an implementation stops: this is what makes CPU and GPU agree. After 32 equal
 * bits u = T, which is not less.
 *
 * Bits of one block are taken from the least significant up: then the last difference seen is the
 * deciding one, and `less` and `equal` are one three-operand function each. */

enum { GPUMC_BIT_PLANES = 32, GPUMC_PLANES_A_DRAW = 4, GPUMC_BIT_CLASSES = 7 };

/* The bits of the thresholds of up to seven classes as masks (0 or all ones), plane 0 the most
 * significant bit. need[c]: 0 if class c is always accepted. */
struct gpumc_bit_thresholds {
  uint32_t bit[GPUMC_BIT_PLANES][GPUMC_BIT_CLASSES];
  uint32_t need[GPUMC_BIT_CLASSES];
};

static inline void
gpumc_bit_thresholds_set(struct gpumc_bit_thresholds *table, uint32_t kind, uint64_t threshold)
{
  const bool always = threshold >= GPUMC_THRESHOLD_ALWAYS;
  table->need[kind] = always ? 0 : UINT32_MAX;
  for (uint32_t p = 0; p < GPUMC_BIT_PLANES; p++)
    table->bit[p][kind] = !always && (threshold >> (31 - p) & 1) != 0 ? UINT32_MAX : 0;
}

/* ---- orders of bits ---- */

/* Orders of bits: words of 32 replicas to words of 32 sites and back; 64 sites of a row on a
 * checkerboard, and the 32 of each colour. */

/* Makes bit j of word i bit i of word j, in place (Warren, Hacker's Delight, 7-3: blocks of 16, 8,
 * 4, 2, 1). */
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

/* Returns bits 0, 2, 4, ... of `bits` (Warren, Hacker's Delight, 7-2). */
GPUMC_HOST_DEVICE static inline uint32_t gpumc_bits_even(uint64_t bits)
{
  bits &= 0x5555555555555555u;
  bits = (bits | bits >> 1) & 0x3333333333333333u;
  bits = (bits | bits >> 2) & 0x0f0f0f0f0f0f0f0fu;
  bits = (bits | bits >> 4) & 0x00ff00ff00ff00ffu;
  bits = (bits | bits >> 8) & 0x0000ffff0000ffffu;
  return (uint32_t)(bits | bits >> 16);
}

/* Returns the bits of `word` as bits 0, 2, 4, ... */
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
