/* Sums of waves over planes of spins that are counted bit by bit. Included by *_isa.c sources. */
#ifndef GPUMC_ISING_MULTISPIN_PLANES_H
#define GPUMC_ISING_MULTISPIN_PLANES_H

#include "models/ising/multispin/multispin_count.h"

enum { TAKEN = 8, LANE_VECTORS = ISING_LANES / GPUMC_VECTOR_WORDS };

/* The low planes of a counter, which stay in registers while it grows. */
struct low_planes {
  gpumc_v32 ones, twos, fours;
};

/* Eight vectors, each worth 1; returns the carry, worth 8. */
GPUMC_INLINE gpumc_v32 add_eight(struct low_planes *low, const gpumc_v32 bits[TAKEN])
{
  const gpumc_v32 first =
      gpumc_counter_add4(&low->ones, &low->twos, bits[0], bits[1], bits[2], bits[3]);
  const gpumc_v32 second =
      gpumc_counter_add4(&low->ones, &low->twos, bits[4], bits[5], bits[6], bits[7]);
  return gpumc_full_add(&low->fours, first, second);
}

/* Planes of a counter of so many vectors, at least those that stay in registers. */
static inline size_t counter_planes(size_t vectors)
{
  const size_t planes = gpumc_counter_planes(vectors);
  return planes < 3 ? 3 : planes;
}

GPUMC_INLINE void
set_low_planes(struct gpumc_vertical_counter *counter, const struct low_planes *low)
{
  counter->plane[0] = low->ones;
  counter->plane[1] = low->twos;
  counter->plane[2] = low->fours;
}

/* Sums along one axis of count times cosine and sine, modulo 2^64, of even and odd lanes apart;
 * `cosines` and `sines`: of the sites that are counted, up or down. */
struct axis_sums {
  const struct ising_multispin_waves *waves;
  gpumc_v64 cosine[LANE_VECTORS][2], sine[LANE_VECTORS][2];
  int64_t cosines, sines;
};

GPUMC_INLINE void
add_products(int32_t factor, const gpumc_v32 count[LANE_VECTORS], gpumc_v64 sum[LANE_VECTORS][2])
{
  const uint64_t size = factor < 0 ? -(uint64_t)factor : (uint64_t)factor;
  const gpumc_v64 wide = size - (gpumc_v64){0};
  for (size_t v = 0; v < LANE_VECTORS; v++) {
    const gpumc_v64 even = gpumc_multiply_low(wide, (gpumc_v64)count[v]);
    const gpumc_v64 odd = gpumc_multiply_low(wide, (gpumc_v64)count[v] >> 32);
    sum[v][0] = factor < 0 ? sum[v][0] - even : sum[v][0] + even;
    sum[v][1] = factor < 0 ? sum[v][1] - odd : sum[v][1] + odd;
  }
}

/* Add plane x, whose counts, of `sites` sites, stand in word w of the planes counts[]. */
static inline void add_plane(struct axis_sums *sums, size_t x, size_t sites,
                             const gpumc_v32 *counts, size_t planes, size_t w)
{
  const int32_t cosine = sums->waves->cosine[x], sine = sums->waves->sine[x];
  const uint32_t *word = (const uint32_t *)(const void *)counts + w;
  gpumc_v32 count[LANE_VECTORS];
  gpumc_counter_lanes(word, GPUMC_VECTOR_WORDS, planes, count);
  add_products(cosine, count, sums->cosine);
  add_products(sine, count, sums->sine);
  sums->cosines += (int64_t)cosine * (int64_t)sites;
  sums->sines += (int64_t)sine * (int64_t)sites;
}

static inline void clear_sums(struct axis_sums *sums, const struct ising_multispin_waves *waves)
{
  sums->waves = waves;
  sums->cosines = sums->sines = 0;
  for (size_t v = 0; v < LANE_VECTORS; v++)
    for (size_t odd = 0; odd < 2; odd++)
      sums->cosine[v][odd] = sums->sine[v][odd] = (gpumc_v64){0};
}

/* A spin is twice its bit, less 1. */
static inline void
set_lanes(gpumc_v64 sum[LANE_VECTORS][2], int64_t constant, int64_t lanes[ISING_LANES])
{
  enum { HALF = GPUMC_VECTOR_WORDS / 2 };
  gpumc_v64 number;
  for (uint64_t i = 0; i < HALF; i++)
    number[i] = i / 2 + i % 2 * HALF;
  for (size_t v = 0; v < LANE_VECTORS; v++) {
    const gpumc_v64 even = 2 * sum[v][0] - (uint64_t)constant;
    const gpumc_v64 odd = 2 * sum[v][1] - (uint64_t)constant;
    const gpumc_v64 first = __builtin_shuffle(even, odd, number);
    const gpumc_v64 second = __builtin_shuffle(even, odd, number + HALF / 2);
    memcpy(lanes + v * GPUMC_VECTOR_WORDS, &first, sizeof first);
    memcpy(lanes + v * GPUMC_VECTOR_WORDS + HALF, &second, sizeof second);
  }
}

static inline void set_sums(struct axis_sums of[ISING_AXES], struct ising_multispin_sums *sums)
{
  for (size_t axis = 0; axis < ISING_AXES; axis++) {
    set_lanes(of[axis].cosine, of[axis].cosines, sums->cosine[axis]);
    set_lanes(of[axis].sine, of[axis].sines, sums->sine[axis]);
  }
}

/* Adds counter `other` to `one`: word i of the sum is that of the words i and i XOR width of `one`
 * where bit `width` of i is clear, of `other` where it is set. */
GPUMC_INLINE void fold_pair(gpumc_v32 *one, const gpumc_v32 *other, size_t planes, uint32_t width)
{
  const gpumc_v32 upper = (gpumc_v32)((gpumc_lane_numbers() & width) != 0);
  gpumc_v32 carry = gpumc_broadcast(0);
  for (size_t p = 0; p < planes; p++) {
    const gpumc_v32 here = gpumc_select(upper, other[p], one[p]);
    const gpumc_v32 there = pt_exchange_words(gpumc_select(upper, one[p], other[p]), width);
    one[p] = gpumc_xor3(here, there, carry);
    carry = gpumc_majority(here, there, carry);
  }
  one[planes] = carry;
}

/* Folds `counters` counters, a power of two, into counter[0]: words are added whose numbers differ
 * in the bits `from`, `from` / 2, .. `to`. Of these bits the leading ones become those of the
 * counter's number. Returns the planes of the sum. */
static inline size_t fold(struct gpumc_vertical_counter *counter, size_t counters, size_t planes,
                          uint32_t from, uint32_t to)
{
  for (uint32_t width = from; width >= to && width != 0; width /= 2, planes++) {
    const size_t half = counters / 2;
    for (size_t i = 0; i < half; i++)
      fold_pair(counter[i].plane, counter[i + half].plane, planes, width);
    if (half == 0)
      fold_pair(counter[0].plane, counter[0].plane, planes, width);
    counters = half > 0 ? half : 1;
  }
  return planes;
}

#endif
