/* Counting bits lane by lane without unpacking: plane p of a vertical counter holds bit p of the count of
 * every lane (carry-save adders, Warren, Hacker's Delight, 5-1). Included by *_isa.c sources. */
#ifndef GPUMC_LATTICE_VERTICAL_COUNTER_H
#define GPUMC_LATTICE_VERTICAL_COUNTER_H

#include "core/simd.h"
#include "models/lattice/bit_matrix.h"

enum { GPUMC_COUNTER_PLANES = 27 };

/* Counts up to 2^27 - 1 in each lane. */
struct gpumc_vertical_counter {
  gpumc_v32 plane[GPUMC_COUNTER_PLANES];
};

/* a + b + c = sum + 2 carry. */
GPUMC_INLINE gpumc_v32 gpumc_full_add(gpumc_v32 *sum, gpumc_v32 b, gpumc_v32 c)
{
  gpumc_v32 carry = gpumc_majority(*sum, b, c);
  *sum = gpumc_xor3(*sum, b, c);
  return carry;
}

/* Add `bits`, each worth 2^first. `planes`: how many are in use. */
GPUMC_INLINE void gpumc_counter_add(struct gpumc_vertical_counter *counter, size_t first,
                                    size_t planes, gpumc_v32 bits)
{
  for (size_t p = first; p < planes; p++) {
    gpumc_v32 carry = counter->plane[p] & bits;
    counter->plane[p] ^= bits;
    bits = carry;
  }
}

/* Add four bits a lane, each worth 1; the low two planes stand in *ones and *twos meanwhile. Returns
 * the carry, worth 4. */
GPUMC_INLINE gpumc_v32 gpumc_counter_add4(gpumc_v32 *ones, gpumc_v32 *twos, gpumc_v32 a, gpumc_v32 b,
                                          gpumc_v32 c, gpumc_v32 d)
{
  gpumc_v32 carry1 = gpumc_full_add(ones, a, b);
  gpumc_v32 carry2 = gpumc_full_add(ones, c, d);
  return gpumc_full_add(twos, carry1, carry2);
}

/* How many planes hold counts up to `most`. */
static inline size_t gpumc_counter_planes(size_t most)
{
  size_t planes = 1;
  while (planes < GPUMC_COUNTER_PLANES && most >> planes != 0)
    planes++;
  return planes;
}

/* count[lane] += the counts of that lane over all words of the vectors. Halves are added bit-sliced
 * until one word is left, whose planes are then transposed. */
static inline void gpumc_counter_flush(const struct gpumc_vertical_counter *counter, size_t planes,
                                       int64_t count[32])
{
  uint32_t plane[32][GPUMC_VECTOR_WORDS];
  memset(plane, 0, sizeof plane);
  memcpy(plane, counter->plane, planes * sizeof *plane);
  for (size_t width = GPUMC_VECTOR_WORDS / 2; width != 0; width /= 2, planes++) {
    uint32_t carry[GPUMC_VECTOR_WORDS] = {0};
    for (size_t p = 0; p <= planes; p++)
      for (size_t i = 0; i < width; i++) {
        uint32_t a = plane[p][i], b = plane[p][i + width], c = carry[i];
        plane[p][i] = a ^ b ^ c;
        carry[i] = (a & b) | (c & (a | b));
      }
  }
  uint32_t row[32];
  for (size_t p = 0; p < 32; p++)
    row[p] = plane[p][0];
  gpumc_bit_transpose(row);
  for (size_t lane = 0; lane < 32; lane++)
    count[lane] += row[lane];
}

#endif
