/* Whether a spin flips, from its local field in single precision: decided, or open where the error
 * might matter. For both compilers; plain enough for loops over it to become vectors. */
#ifndef GPUMC_ISING_SPIN_ESTIMATE_H
#define GPUMC_ISING_SPIN_ESTIMATE_H

#include <string.h>

#include "models/ising/spin/spin_rule.h"

enum { ISING_STAYS, ISING_FLIPS, ISING_OPEN };

#define ISING_EXPONENT_MAXIMUM 60.0f
#define ISING_ROUNDING                                                                             \
  12582912.0f /* 1.5 2^23: adding it leaves a whole number in the last bits                        \
               */

GPUMC_HOST_DEVICE static inline uint32_t ising_float_bits(float x)
{
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

GPUMC_HOST_DEVICE static inline float ising_float_of(uint32_t bits)
{
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* exp(x) for |x| <= 60 to 2^-21. ln 2 in two parts, the first with 9 bits, so that its product with
 * a number of 7 bits is exact; Taylor series of degree 7. */
GPUMC_HOST_DEVICE static inline float ising_estimate_exp(float x)
{
  const float shifted = x * 1.44269504f + ISING_ROUNDING;
  const float n = shifted - ISING_ROUNDING;
  const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  float p = 1.0f / 5040.0f;
  p = p * r + 1.0f / 720.0f;
  p = p * r + 1.0f / 120.0f;
  p = p * r + 1.0f / 24.0f;
  p = p * r + 1.0f / 6.0f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  return ising_float_of(ising_float_bits(p) + (ising_float_bits(shifted) << 23));
}

/* f: the sum of the terms; start: 1 or 0, of the spin (see spin_rule.h). u < T is certain if
 * the next multiple of 2^8 is not above p 2^32, and excluded if the last one is above it by 2^8. No
 * comparison of floating-point numbers, which might trap and so hinder vectors: as integers, bits
 * of negative numbers grow from those of -0 downwards, and differences tell by their sign. */
GPUMC_HOST_DEVICE static inline uint32_t
ising_spin_estimate(const struct ising_spin_estimate *with, float f, uint32_t start, uint32_t u)
{
  const uint32_t most = ising_float_bits(ISING_EXPONENT_MAXIMUM);
  const uint32_t least = ising_float_bits(with->least);
  uint32_t x = ising_float_bits(with->slope * f) ^ (start ^ 1) << 31;
  x = x > least ? least : x;
  x = (int32_t)x > (int32_t)most ? most : x;
  const float p = 16777216.0f / (with->one + ising_estimate_exp(ising_float_of(x)));
  const float v = (float)(int32_t)(u >> 8);
  const uint32_t stays = ising_float_bits(p * with->narrow - (v + 1.0f)) >> 31;
  const uint32_t open = ising_float_bits(v - (p * with->wide + 1.0f)) >> 31;
  return open + (open & stays);
}

#endif
