/* Counting bits lane by lane like vertical_counter.h, but by words, for sources that are compiled
 * once and not for each instruction set. */
#ifndef GPUMC_LATTICE_WORD_COUNTER_H
#define GPUMC_LATTICE_WORD_COUNTER_H

#include <stddef.h>
#include <stdint.h>

enum { GPUMC_WORD_COUNTER_PLANES = 40 };

/* How often each lane was set in the words that were added: plane[p] has bit p of all counts. */
struct gpumc_word_counter {
  uint32_t plane[GPUMC_WORD_COUNTER_PLANES];
};

static inline void gpumc_word_counter_add(struct gpumc_word_counter *counter, uint32_t word)
{
  for (size_t p = 0; word != 0; p++) {
    const uint32_t carry = counter->plane[p] & word;
    counter->plane[p] ^= word;
    word = carry;
  }
}

static inline int64_t
gpumc_word_counter_lane(const struct gpumc_word_counter *counter, uint32_t lane)
{
  int64_t count = 0;
  for (size_t p = 0; p < GPUMC_WORD_COUNTER_PLANES; p++)
    count |= (int64_t)(counter->plane[p] >> lane & 1) << p;
  return count;
}

#endif
