/* Philox4x32 for the inner loop: gpumc_random_draw in parts, some of which are shared by many
 * counters {word, group, time, label}.
 *
 * The first round multiplies the word and the time. The second multiplies the results of group and
 * time, and of word and label. In the third these meet: one product is the same for all labels of a
 * word. Each draw still needs 16 or 17 of the 20 products. */
#ifndef GPUMC_CORE_PHILOX_CUH
#define GPUMC_CORE_PHILOX_CUH

#include "core/numerics/random.h"

/* One run, group and time: the key, and what they contribute to the second and third round. */
struct gpumc_philox_group {
  uint32_t key[2];
  uint32_t second0, second2, third2;
};

/* One word and group. */
struct gpumc_philox_word {
  uint32_t first;          /* high half of the word's product */
  uint32_t third0, third1; /* its contribution to the third round */
};

/* Returns the upper half of the product. */
GPUMC_HOST_DEVICE static inline uint32_t gpumc_philox_product(uint32_t a, uint32_t b, uint32_t *low)
{
  const uint64_t product = (uint64_t)a * b;
  *low = (uint32_t)product;
  return (uint32_t)(product >> 32);
}

GPUMC_HOST_DEVICE static inline struct gpumc_philox_group
gpumc_philox_group(struct gpumc_random random, uint32_t group, uint32_t time)
{
  const uint32_t *key = random.key;
  struct gpumc_philox_group at;
  uint32_t time_low, low;
  const uint32_t time_high = gpumc_philox_product(PHILOX_M4x32_1, time, &time_low);
  const uint32_t high = gpumc_philox_product(PHILOX_M4x32_0, time_high ^ group ^ key[0], &low);
  at.key[0] = key[0];
  at.key[1] = key[1];
  at.second0 = time_low ^ (key[0] + PHILOX_W32_0);
  at.second2 = high ^ (key[1] + PHILOX_W32_1);
  at.third2 = low ^ (key[1] + 2 * PHILOX_W32_1);
  return at;
}

GPUMC_HOST_DEVICE static inline struct gpumc_philox_word
gpumc_philox_word(const struct gpumc_philox_group *group, uint32_t word)
{
  struct gpumc_philox_word at;
  uint32_t low;
  at.first = gpumc_philox_product(PHILOX_M4x32_0, word, &low);
  const uint32_t high = gpumc_philox_product(PHILOX_M4x32_1, low ^ group->second2, &at.third1);
  at.third0 = high ^ (group->key[0] + 2 * PHILOX_W32_0);
  return at;
}

/* Returns, for one word and label and any group, the lower and the upper half of a product of the
 * second round. `first`: see the word. */
GPUMC_HOST_DEVICE static inline uint2
gpumc_philox_label(const uint32_t key[2], uint32_t first, uint32_t label)
{
  uint2 product;
  product.y = gpumc_philox_product(PHILOX_M4x32_1, first ^ (key[1] ^ label), &product.x);
  return product;
}

/* The same from the beginning. */
GPUMC_HOST_DEVICE static inline uint2
gpumc_philox_word_label(const uint32_t key[2], uint32_t word, uint32_t label)
{
  uint32_t low;
  return gpumc_philox_label(key, gpumc_philox_product(PHILOX_M4x32_0, word, &low), label);
}

/* Performs rounds FIRST, .., LAST - 1 of a counter. */
template <uint32_t FIRST, uint32_t LAST>
GPUMC_HOST_DEVICE static inline void gpumc_philox_rounds(const uint32_t key[2], uint32_t counter[4])
{
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (uint32_t round = FIRST; round < LAST; round++) {
    uint32_t low0, low1;
    const uint32_t high0 = gpumc_philox_product(PHILOX_M4x32_0, counter[0], &low0);
    const uint32_t high1 = gpumc_philox_product(PHILOX_M4x32_1, counter[2], &low1);
    counter[0] = high1 ^ counter[1] ^ (key[0] + round * PHILOX_W32_0);
    counter[2] = high0 ^ counter[3] ^ (key[1] + round * PHILOX_W32_1);
    counter[1] = low1;
    counter[3] = low0;
  }
}

/* Computes the counter after the first three rounds. */
GPUMC_HOST_DEVICE static inline void gpumc_philox_begin(const struct gpumc_philox_group *group,
                                                        const struct gpumc_philox_word *word,
                                                        uint2 of_label, uint32_t counter[4])
{
  uint32_t low;
  const uint32_t high = gpumc_philox_product(PHILOX_M4x32_0, of_label.y ^ group->second0, &low);
  counter[0] = word->third0 ^ of_label.x;
  counter[1] = word->third1;
  counter[2] = high ^ group->third2;
  counter[3] = low;
}

/* Draws four words. */
template <uint32_t ROUNDS>
GPUMC_HOST_DEVICE static inline void
gpumc_philox_draw(const struct gpumc_philox_group *group, const struct gpumc_philox_word *word,
                  uint2 of_label, uint32_t drawn[4])
{
  gpumc_philox_begin(group, word, of_label, drawn);
  gpumc_philox_rounds<3, ROUNDS>(group->key, drawn);
}

/* The same with a number of rounds, 7 or 10, known when it runs: half of the code. */
GPUMC_HOST_DEVICE static inline void
gpumc_philox_draw_either(const struct gpumc_philox_group *group,
                         const struct gpumc_philox_word *word, uint2 of_label, uint32_t rounds,
                         uint32_t drawn[4])
{
  gpumc_philox_draw<7>(group, word, of_label, drawn);
  if (rounds != 7)
    gpumc_philox_rounds<7, 10>(group->key, drawn);
}

#endif
