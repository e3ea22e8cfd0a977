/* Rows of sites on a checkerboard: 64 sites in their order, and the 32 of each colour. */
#ifndef GPUMC_LATTICE_BIT_INTERLEAVE_H
#define GPUMC_LATTICE_BIT_INTERLEAVE_H

#include <stdint.h>

#include "core/numerics/host_device.h"

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
