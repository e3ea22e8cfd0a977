/* Where the sums of one run stand in its record, and how many words each needs. */
#include <math.h>
#include <string.h>

#include "algorithms/pa/population_cuda.h"

enum { WORD_BITS = 32, WORDS_MAXIMUM = 4 };

static const struct {
  uint32_t power;
  int exponent;
} powers[] = {
    {GPUMC_SUM_FIRST, 1},
    {GPUMC_SUM_ABSOLUTE, 1},
    {GPUMC_SUM_SECOND, 2},
    {GPUMC_SUM_FOURTH, 4},
};

/* For every sum of at most `capacity` terms of at most `term`, and its sign. */
static uint32_t words_for(double capacity, double term)
{
  /* The product may have been rounded down. */
  double largest = fmax(capacity * term, 1.0) * (1.0 + 0x1p-40);
  int bits = ilogb(largest) + 2;
  int words = (bits + WORD_BITS - 1) / WORD_BITS;
  return (uint32_t)(words < WORDS_MAXIMUM ? words : WORDS_MAXIMUM);
}

static void
add_sum(struct gpumc_population_layout *layout, size_t channel, uint32_t power, uint32_t words)
{
  layout->sum[layout->n_sums++] = (struct gpumc_exact_sum){
      .channel = (uint32_t)channel, .power = power, .first = layout->words, .words = words};
  layout->words += words;
}

static size_t aligned(size_t bytes)
{
  return (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
}

void gpumc_population_layout_make(const struct gpumc_population_plan *plan,
                                  struct gpumc_population_layout *layout)
{
  double capacity = (double)plan->capacity;
  memset(layout, 0, sizeof *layout);
  add_sum(layout, 0, 0, words_for(capacity, 1.0));
  for (size_t c = 0; c < plan->n_channels; c++)
    for (size_t k = 0; k < sizeof powers / sizeof *powers; k++)
      if (plan->sums[c] & powers[k].power)
        add_sum(layout, c, powers[k].power,
                words_for(capacity, pow(plan->bound[c], powers[k].exponent)));
  layout->block_weight = sizeof(struct gpumc_resampled);
  layout->tallied = layout->block_weight + GPUMC_WEIGHT_WORDS * plan->blocks * sizeof(uint32_t);
  layout->sums = layout->tallied + sizeof(struct gpumc_tallied);
  layout->stride = aligned(layout->sums + layout->words * plan->blocks * sizeof(uint32_t));
}
