/* Counting bits lane by lane without unpacking: plane p of a vertical counter holds bit p of the
 * count of every lane (carry-save adders, Warren, Hacker's Delight, 5-1). Included by *_isa.c
 * sources. */
#ifndef GPUMC_LATTICE_VERTICAL_COUNTER_H
#define GPUMC_LATTICE_VERTICAL_COUNTER_H

#include <stddef.h>

#include "core/numerics/simd.h"

/* GPUMC_COUNTER_ROOM: additional planes for the sum over a vector. */
enum { GPUMC_COUNTER_PLANES = 27, GPUMC_COUNTER_ROOM = 4 };

/* Counts up to 2^27 - 1 in each lane. */
struct gpumc_vertical_counter {
  gpumc_v32 plane[GPUMC_COUNTER_PLANES + GPUMC_COUNTER_ROOM];
};

GPUMC_INLINE void gpumc_counter_clear(struct gpumc_vertical_counter *counter, size_t planes)
{
  for (size_t p = 0; p < planes; p++)
    counter->plane[p] = gpumc_broadcast(0);
}

/* a + b + c = sum + 2 carry. */
GPUMC_INLINE gpumc_v32 gpumc_full_add(gpumc_v32 *sum, gpumc_v32 b, gpumc_v32 c)
{
  gpumc_v32 carry = gpumc_majority(*sum, b, c);
  *sum = gpumc_xor3(*sum, b, c);
  return carry;
}

/* Adds `bits`, each worth 2^first. `planes`: how many are in use. */
GPUMC_INLINE void gpumc_counter_add(struct gpumc_vertical_counter *counter, size_t first,
                                    size_t planes, gpumc_v32 bits)
{
  for (size_t p = first; p < planes; p++) {
    gpumc_v32 carry = counter->plane[p] & bits;
    counter->plane[p] ^= bits;
    bits = carry;
  }
}

/* Adds four bits per lane, each worth 1; the low two planes are in *ones and *twos meanwhile.
 * Returns the carry, worth 4. */
GPUMC_INLINE gpumc_v32 gpumc_counter_add4(gpumc_v32 *ones, gpumc_v32 *twos, gpumc_v32 a,
                                          gpumc_v32 b, gpumc_v32 c, gpumc_v32 d)
{
  gpumc_v32 carry1 = gpumc_full_add(ones, a, b);
  gpumc_v32 carry2 = gpumc_full_add(ones, c, d);
  return gpumc_full_add(twos, carry1, carry2);
}

/* Returns how many planes hold counts up to `most`. */
static inline size_t gpumc_counter_planes(size_t most)
{
  size_t planes = 1;
  while (planes < GPUMC_COUNTER_PLANES && most >> planes != 0)
    planes++;
  return planes;
}

/* Returns the words of v with words i and i XOR width exchanged. */
GPUMC_INLINE gpumc_v32 gpumc_exchange_words(gpumc_v32 v, uint32_t width)
{
  return __builtin_shuffle(v, gpumc_lane_numbers() ^ width);
}

/* Sets count[]: lane by lane the number whose bit p is in word[p * stride]. */
GPUMC_INLINE void gpumc_counter_lanes(const uint32_t *word, size_t stride, size_t planes,
                                      gpumc_v32 count[32 / GPUMC_VECTOR_WORDS])
{
  for (size_t v = 0; v < 32 / GPUMC_VECTOR_WORDS; v++)
    count[v] = gpumc_broadcast(0);
  for (size_t p = 0; p < planes; p++)
    for (size_t v = 0; v < 32 / GPUMC_VECTOR_WORDS; v++)
      count[v] =
          gpumc_add_where(word[p * stride] >> v * GPUMC_VECTOR_WORDS, count[v], (uint32_t)1 << p);
}

/* Adds to count[lane] the counts of that lane over all words of the vectors. Words are added
 * pairwise, bit-sliced, until each holds the sum of all, where the counts were. */
static inline void
gpumc_counter_flush(struct gpumc_vertical_counter *counter, size_t planes, int64_t count[32])
{
  gpumc_v32 *plane = counter->plane;
#pragma GCC unroll 4
  for (uint32_t width = GPUMC_VECTOR_WORDS / 2; width != 0; width /= 2, planes++) {
    gpumc_v32 carry = gpumc_broadcast(0);
    for (size_t p = 0; p < planes; p++) {
      gpumc_v32 other = gpumc_exchange_words(plane[p], width);
      gpumc_v32 next = gpumc_majority(plane[p], other, carry);
      plane[p] = gpumc_xor3(plane[p], other, carry);
      carry = next;
    }
    plane[planes] = carry;
  }
  gpumc_v32 total[32 / GPUMC_VECTOR_WORDS];
  gpumc_counter_lanes((const uint32_t *)(const void *)plane, GPUMC_VECTOR_WORDS, planes, total);
  for (size_t v = 0; v < 32 / GPUMC_VECTOR_WORDS; v++)
    for (size_t i = 0; i < GPUMC_VECTOR_WORDS; i++)
      count[v * GPUMC_VECTOR_WORDS + i] += total[v][i];
}

#endif
