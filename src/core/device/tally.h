/* Exact sums, by group, of integers that replicas have; done by the device for any algorithm.
 *
 * Replicas are stored run by run, replica r of run m in element m * capacity + r; run m has the
 * first size[m] of them. The group of a replica is its label modulo `rows`. Sums are integers of as
 * many 32-bit words as they need, so that they depend neither on threads nor on their order nor on
 * the device. The caller owns the record with the words of all sums, in device memory, clears it
 * (gpumc_device_ops.fill) and brings it to the host together with its other data (`publish`):
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

enum { GPUMC_CHANNELS_MAXIMUM = 32 };

typedef __int128 gpumc_wide;

/* The sums that a channel needs; the others stay 0. */
enum gpumc_moment_choice {
  GPUMC_SUM_FIRST = 1,
  GPUMC_SUM_ABSOLUTE = 2,
  GPUMC_SUM_SECOND = 4,
  GPUMC_SUM_FOURTH = 8
};

/* Returns x to the power of one of these sums, exactly; 1 for sum 0, which counts. */
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
  size_t capacity; /* replicas of a run at most */
  size_t rows;     /* groups of a run */
  bool count;      /* count replicas, too */
  size_t n_channels;
  unsigned sums[GPUMC_CHANNELS_MAXIMUM]; /* of enum gpumc_moment_choice */
  /* Largest |x| of each channel: capacity times the largest power summed must stay below 2^127. */
  double bound[GPUMC_CHANNELS_MAXIMUM];
};

/* The sum of a power of a channel; power: see enum gpumc_moment_choice, 0 counts. Its words are
 * stored lowest first, in two's complement; word i of row b is element i * rows + b. */
struct gpumc_exact_sum {
  uint32_t channel, power;
  uint32_t first, words; /* of the words of all sums */
};

enum { GPUMC_EXACT_SUMS_MAXIMUM = 1 + 4 * GPUMC_CHANNELS_MAXIMUM };

/* Layout of the sums of a run. Plain data. */
struct gpumc_tally {
  size_t capacity, rows, n_channels;
  struct gpumc_exact_sum sum[GPUMC_EXACT_SUMS_MAXIMUM];
  uint32_t n_sums, words; /* words of all sums of one row */
  size_t stride;          /* bytes of the sums of a run, a multiple of 8 */
};

/* The values to be summed. Pointers are to device memory. */
struct gpumc_tally_values {
  size_t runs;
  const uint32_t *size;                           /* [runs] */
  const uint32_t *label;                          /* [runs][capacity] */
  const int64_t *channel[GPUMC_CHANNELS_MAXIMUM]; /* [runs][capacity] each */
  void *sums;                                     /* [runs] of `stride` bytes, aligned to 8 */
};

void gpumc_tally_make(const struct gpumc_tally_plan *plan, struct gpumc_tally *tally);

/* Computes moments[n_channels][rows] from the sums of one run. `count` is 0 if replicas were not
 * counted. */
void gpumc_tally_read(const struct gpumc_tally *tally, const void *sums,
                      struct gpumc_moment_sums *moments);

/* Combines the sums of several processes: wide[i] is the sum over them of word i of a run, `words`
 * x `rows` of them, modulo 2^64. Writes them in the form that one process has. */
void gpumc_tally_carry(const struct gpumc_tally *tally, const uint64_t *wide, void *sums);

/* Returns the words of an exact sum, `stride` apart, as an unsigned number. */
GPUMC_HOST_DEVICE static inline unsigned __int128
gpumc_words_value(const uint32_t *word, size_t stride, uint32_t words)
{
  unsigned __int128 value = 0;
  for (uint32_t i = 0; i < words; i++)
    value |= (unsigned __int128)word[i * stride] << 32 * i;
  return value;
}

#endif
