/* Philox4x32 for the words of a lattice: counters {word, group, time, label} of one group and time
 * share most of the first rounds, so that these are evaluated once.
 *
 * The first round multiplies the word and the time, the second what came of the time (the same for
 * all words) and what came of word and label; in the third, one product is again the same for all
 * labels of a word. Two of 20 products are left for every word, 16 for every draw. */
#ifndef GPUMC_LATTICE_PHILOX_LATTICE_CUH
#define GPUMC_LATTICE_PHILOX_LATTICE_CUH

#include "core/random.h"

/* The constants of philox4x32. */
#define GPUMC_PHILOX_M0 0xD2511F53u
#define GPUMC_PHILOX_M1 0xCD9E8D57u
#define GPUMC_PHILOX_W0 0x9E3779B9u
#define GPUMC_PHILOX_W1 0xBB67AE85u

/* Of one run, group and time: the key, and what the third counter and the group contribute to the
 * second and third round. */
struct gpumc_philox_group {
  uint32_t key[2];
  uint32_t second0, second2, third2;
};

/* Of one word. */
struct gpumc_philox_word {
  uint32_t first;          /* high half of its product */
  uint32_t third0, third1; /* what the third round gets from it */
};

__device__ static inline uint32_t gpumc_product(uint32_t a, uint32_t b, uint32_t *low)
{
  const uint64_t product = (uint64_t)a * b;
  *low = (uint32_t)product;
  return (uint32_t)(product >> 32);
}

__device__ static inline struct gpumc_philox_group
gpumc_philox_group(const uint32_t key[2], uint32_t group, uint32_t time)
{
  struct gpumc_philox_group at;
  uint32_t time_low, low;
  const uint32_t time_high = gpumc_product(GPUMC_PHILOX_M1, time, &time_low);
  const uint32_t high = gpumc_product(GPUMC_PHILOX_M0, time_high ^ group ^ key[0], &low);
  at.key[0] = key[0];
  at.key[1] = key[1];
  at.second0 = time_low ^ (key[0] + GPUMC_PHILOX_W0);
  at.second2 = high ^ (key[1] + GPUMC_PHILOX_W1);
  at.third2 = low ^ (key[1] + 2 * GPUMC_PHILOX_W1);
  return at;
}

__device__ static inline struct gpumc_philox_word
gpumc_philox_word(const struct gpumc_philox_group *group, uint32_t word)
{
  struct gpumc_philox_word at;
  uint32_t low;
  at.first = gpumc_product(GPUMC_PHILOX_M0, word, &low);
  const uint32_t high = gpumc_product(GPUMC_PHILOX_M1, low ^ group->second2, &at.third1);
  at.third0 = high ^ (group->key[0] + 2 * GPUMC_PHILOX_W0);
  return at;
}

/* Four words; `rounds` is a constant. */
__device__ static inline void gpumc_philox_lattice_draw(const struct gpumc_philox_group *group,
                                                        const struct gpumc_philox_word *word,
                                                        const int rounds, uint32_t label,
                                                        uint32_t drawn[4])
{
  uint32_t low2, low3;
  const uint32_t high2 =
      gpumc_product(GPUMC_PHILOX_M1, word->first ^ (group->key[1] ^ label), &low2);
  const uint32_t high3 = gpumc_product(GPUMC_PHILOX_M0, high2 ^ group->second0, &low3);
  uint32_t counter[4] = {word->third0 ^ low2, word->third1, high3 ^ group->third2, low3};
#pragma unroll
  for (int round = 3; round < rounds; round++) {
    uint32_t low0, low1;
    const uint32_t high0 = gpumc_product(GPUMC_PHILOX_M0, counter[0], &low0);
    const uint32_t high1 = gpumc_product(GPUMC_PHILOX_M1, counter[2], &low1);
    counter[0] = high1 ^ counter[1] ^ (group->key[0] + (uint32_t)round * GPUMC_PHILOX_W0);
    counter[2] = high0 ^ counter[3] ^ (group->key[1] + (uint32_t)round * GPUMC_PHILOX_W1);
    counter[1] = low1;
    counter[3] = low0;
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
    drawn[i] = counter[i];
}

#endif
