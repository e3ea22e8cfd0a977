/* Exact sums by group of integers that many replicas have: the device's, for whatever algorithm.
 *
 * Replicas stand run by run, replica r of run m in element m * capacity + r; run m has the first
 * size[m] of them. The group of a replica is its label modulo `rows`. Sums are integers of as many
 * 32-bit words as they need, so that they depend neither on threads nor on their order nor on the
 * device. The words of all sums stand in a record that the caller owns, in device memory, clears
 * (gpumc_device_ops.fill), and brings to the host beside what else it has there (`publish`):
 *
 *   gpumc_tally_make(&plan, &tally);
 *   ops->tally(device, &tally, &values, error);             adds to values.sums, tally.stride a run
 *   gpumc_tally_read(&tally, sums_of_a_run, moments);       on the host */
#ifndef GPUMC_CORE_TALLY_H
#define GPUMC_CORE_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/numerics/host_device.h"

enum { GPUMC_CHANNELS_MAXIMUM = 16 };

typedef __int128 gpumc_wide;

/* Which sums a channel needs; the others stay 0. */
enum gpumc_moment_choice {
  GPUMC_SUM_FIRST = 1,
  GPUMC_SUM_ABSOLUTE = 2,
  GPUMC_SUM_SECOND = 4,
  GPUMC_SUM_FOURTH = 8
};

/* x to the power of one of these sums, exactly; of 0, which counts, 1. */
GPUMC_HOST_DEVICE static inline gpumc_wide gpumc_exact_power(int64_t x, uint32_t sum)
{
  const gpumc_wide square = (gpumc_wide)x * x;
  switch (sum) {
  case GPUMC_SUM_FIRST:
    return x;
  case GPUMC_SUM_ABSOLUTE:
    return x < 0 ? -(gpumc_wide)x : x;
  case GPUMC_SUM_SECOND:
    return square;
  case GPUMC_SUM_FOURTH:
    return square * square;
  default:
    return 1;
  }
}

/* Sums over the replicas of one group; x in quanta of the channel. */
struct gpumc_moment_sums {
  gpumc_wide first, absolute, second, fourth;
  int64_t count;
};

struct gpumc_tally_plan {
  size_t capacity; /* replicas of a run, at most */
  size_t rows;     /* groups of a run */
  bool count;      /* replicas are counted, too */
  size_t n_channels;
  unsigned sums[GPUMC_CHANNELS_MAXIMUM]; /* of enum gpumc_moment_choice */
  /* Largest |x| of each channel: capacity times the largest power summed stays below 2^127. */
  double bound[GPUMC_CHANNELS_MAXIMUM];
};

/* The sum of a power of a channel; power: of enum gpumc_moment_choice, 0 counts. Its words are the
 * lowest first, in two's complement; word i of row b is element i * rows + b. */
struct gpumc_exact_sum {
  uint32_t channel, power;
  uint32_t first, words; /* of the words of all sums */
};

enum { GPUMC_EXACT_SUMS_MAXIMUM = 1 + 4 * GPUMC_CHANNELS_MAXIMUM };

/* Plain data: where the sums of a run stand. */
struct gpumc_tally {
  size_t capacity, rows, n_channels;
  struct gpumc_exact_sum sum[GPUMC_EXACT_SUMS_MAXIMUM];
  uint32_t n_sums, words; /* words of all sums of one row */
  size_t stride;          /* bytes that the sums of a run take, a multiple of 8 */
};

/* What is added up. Pointers are to device memory. */
struct gpumc_tally_values {
  size_t runs;
  const uint32_t *size;                           /* [runs] */
  const uint32_t *label;                          /* [runs][capacity] */
  const int64_t *channel[GPUMC_CHANNELS_MAXIMUM]; /* [runs][capacity] each */
  void *sums;                                     /* [runs] of `stride` bytes, aligned to 8 */
};

void gpumc_tally_make(const struct gpumc_tally_plan *plan, struct gpumc_tally *tally);

/* moments[n_channels][rows] from the sums of one run. Where replicas were not counted, `count` is
 * 0. */
void gpumc_tally_read(const struct gpumc_tally *tally, const void *sums,
                      struct gpumc_moment_sums *moments);

/* The same sums of several processes: wide[i] is the sum over them of word i of a run, `words` x
 * `rows` of them, modulo 2^64. Writes them as one process has them. */
void gpumc_tally_carry(const struct gpumc_tally *tally, const uint64_t *wide, void *sums);

/* The words of an exact sum, `stride` apart, as a number without sign. */
GPUMC_HOST_DEVICE static inline unsigned __int128
gpumc_words_value(const uint32_t *word, size_t stride, uint32_t words)
{
  unsigned __int128 value = 0;
  for (uint32_t i = 0; i < words; i++)
    value |= (unsigned __int128)word[i * stride] << 32 * i;
  return value;
}

#endif
