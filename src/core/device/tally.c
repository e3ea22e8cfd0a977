/* Exact sums by group: their layout, how the host reads them, and summing on the CPU. */
#include "core/device/tally.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/device/device_cpu.h"

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

/* Returns the words of any sum of at most `capacity` terms of at most `term`, with its sign. */
static uint32_t words_for(double capacity, double term)
{
  /* The product may have been rounded down. */
  double largest = fmax(capacity * term, 1.0) * (1.0 + 0x1p-40);
  int bits = ilogb(largest) + 2;
  int words = (bits + WORD_BITS - 1) / WORD_BITS;
  return (uint32_t)(words < WORDS_MAXIMUM ? words : WORDS_MAXIMUM);
}

static void add_sum(struct gpumc_tally *tally, size_t channel, uint32_t power, uint32_t words)
{
  tally->sum[tally->n_sums++] = (struct gpumc_exact_sum){
      .channel = (uint32_t)channel, .power = power, .first = tally->words, .words = words};
  tally->words += words;
}

void gpumc_tally_make(const struct gpumc_tally_plan *plan, struct gpumc_tally *tally)
{
  const double capacity = (double)plan->capacity;
  memset(tally, 0, sizeof *tally);
  tally->capacity = plan->capacity;
  tally->rows = plan->rows;
  tally->n_channels = plan->n_channels;
  if (plan->count)
    add_sum(tally, 0, 0, words_for(capacity, 1.0));
  for (size_t c = 0; c < plan->n_channels; c++)
    for (size_t k = 0; k < sizeof powers / sizeof *powers; k++)
      if (plan->sums[c] & powers[k].power)
        add_sum(tally, c, powers[k].power,
                words_for(capacity, pow(plan->bound[c], powers[k].exponent)));
  const size_t bytes = tally->words * plan->rows * sizeof(uint32_t);
  tally->stride = (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
}

/* Returns a sum of the record, with its sign extended. */
static gpumc_wide value_of(const uint32_t *word, size_t stride, uint32_t words)
{
  const int unused = 128 - WORD_BITS * (int)words;
  return (gpumc_wide)(gpumc_words_value(word, stride, words) << unused) >> unused;
}

/* Reads one sum of all rows into the moments of its channel; counts go to all channels. */
static void read_sum(const struct gpumc_tally *tally, const struct gpumc_exact_sum *sum,
                     const uint32_t *words, struct gpumc_moment_sums *moments)
{
  for (size_t b = 0; b < tally->rows; b++) {
    const gpumc_wide value =
        value_of(words + sum->first * tally->rows + b, tally->rows, sum->words);
    struct gpumc_moment_sums *row = &moments[sum->channel * tally->rows + b];
    switch (sum->power) {
    case GPUMC_SUM_FIRST:
      row->first = value;
      break;
    case GPUMC_SUM_ABSOLUTE:
      row->absolute = value;
      break;
    case GPUMC_SUM_SECOND:
      row->second = value;
      break;
    case GPUMC_SUM_FOURTH:
      row->fourth = value;
      break;
    default:
      for (size_t c = 0; c < tally->n_channels; c++)
        moments[c * tally->rows + b].count = (int64_t)value;
    }
  }
}

void gpumc_tally_read(const struct gpumc_tally *tally, const void *sums,
                      struct gpumc_moment_sums *moments)
{
  memset(moments, 0, tally->n_channels * tally->rows * sizeof *moments);
  for (uint32_t s = 0; s < tally->n_sums; s++)
    read_sum(tally, &tally->sum[s], sums, moments);
}

void gpumc_tally_carry(const struct gpumc_tally *tally, const uint64_t *wide, void *sums)
{
  uint32_t *words = sums;
  for (uint32_t s = 0; s < tally->n_sums; s++)
    for (size_t b = 0; b < tally->rows; b++) {
      const size_t first = tally->sum[s].first * tally->rows + b;
      uint64_t carry = 0;
      for (uint32_t i = 0; i < tally->sum[s].words; i++) {
        carry += wide[first + i * tally->rows]; /* fewer than 2^31 processes: no overflow */
        words[first + i * tally->rows] = (uint32_t)carry;
        carry >>= WORD_BITS;
      }
    }
}

/* ---- the CPU ---- */

static inline void add_moments(struct gpumc_moment_sums *sums, int64_t x, const unsigned which)
{
  sums->count++;
  if (which & GPUMC_SUM_FIRST)
    sums->first += gpumc_exact_power(x, GPUMC_SUM_FIRST);
  if (which & GPUMC_SUM_ABSOLUTE)
    sums->absolute += gpumc_exact_power(x, GPUMC_SUM_ABSOLUTE);
  if (which & GPUMC_SUM_SECOND)
    sums->second += gpumc_exact_power(x, GPUMC_SUM_SECOND);
  if (which & GPUMC_SUM_FOURTH)
    sums->fourth += gpumc_exact_power(x, GPUMC_SUM_FOURTH);
}

/* `which`: a constant at each call. */
static inline void sum_replicas(const int64_t *value, const uint32_t *label, size_t n,
                                uint32_t rows, const unsigned which, struct gpumc_moment_sums *sums)
{
  memset(sums, 0, rows * sizeof *sums);
  for (size_t r = 0; r < n; r++)
    add_moments(&sums[label[r] % rows], value[r], which);
}

/* Computes sums[rows] over n replicas. */
static void sum_of_choice(const int64_t *value, const uint32_t *label, size_t n, uint32_t rows,
                          unsigned which, struct gpumc_moment_sums *sums)
{
  if (which == GPUMC_SUM_FIRST)
    sum_replicas(value, label, n, rows, GPUMC_SUM_FIRST, sums);
  else if (which == (GPUMC_SUM_FIRST | GPUMC_SUM_SECOND))
    sum_replicas(value, label, n, rows, GPUMC_SUM_FIRST | GPUMC_SUM_SECOND, sums);
  else
    sum_replicas(value, label, n, rows, which, sums);
}

static void merge_moments(struct gpumc_moment_sums *into, const struct gpumc_moment_sums *from)
{
  into->count += from->count;
  into->first += from->first;
  into->absolute += from->absolute;
  into->second += from->second;
  into->fourth += from->fourth;
}

static gpumc_wide moment_of(const struct gpumc_moment_sums *sums, uint32_t power)
{
  switch (power) {
  case GPUMC_SUM_FIRST:
    return sums->first;
  case GPUMC_SUM_ABSOLUTE:
    return sums->absolute;
  case GPUMC_SUM_SECOND:
    return sums->second;
  case GPUMC_SUM_FOURTH:
    return sums->fourth;
  default:
    return sums->count;
  }
}

/* Adds the sums of one channel to those in the record. */
static void add_to_record(const struct gpumc_tally *tally, size_t channel,
                          const struct gpumc_moment_sums *moments, uint32_t *words)
{
  for (uint32_t s = 0; s < tally->n_sums; s++) {
    const struct gpumc_exact_sum *sum = &tally->sum[s];
    if (sum->channel != channel)
      continue;
    for (size_t b = 0; b < tally->rows; b++) {
      uint32_t *word = words + sum->first * tally->rows + b;
      unsigned __int128 value = gpumc_words_value(word, tally->rows, sum->words);
      value += (unsigned __int128)moment_of(&moments[b], sum->power);
      for (uint32_t i = 0; i < sum->words; i++)
        word[i * tally->rows] = (uint32_t)(value >> WORD_BITS * (int)i);
    }
  }
}

static unsigned choice_of(const struct gpumc_tally *tally, size_t channel)
{
  unsigned which = 0;
  for (uint32_t s = 0; s < tally->n_sums; s++)
    if (tally->sum[s].channel == channel)
      which |= tally->sum[s].power;
  return which;
}

/* Sums all channels of run m with `threads` threads; partial[threads][rows]. */
static void tally_run(const struct gpumc_tally *tally, const struct gpumc_tally_values *values,
                      size_t m, size_t threads, struct gpumc_moment_sums *partial)
{
  const size_t first = m * tally->capacity, n = values->size[m], rows = tally->rows;
  const uint32_t *label = values->label + first;
  uint32_t *words = (uint32_t *)(void *)((uint8_t *)values->sums + m * tally->stride);
  for (size_t c = 0; c < tally->n_channels; c++) {
    const int64_t *value = values->channel[c] + first;
    const unsigned which = choice_of(tally, c);
#pragma omp parallel for num_threads((int)threads) schedule(static, 1) if (threads > 1)
    for (size_t t = 0; t < threads; t++) {
      const size_t begin = n * t / threads, end = n * (t + 1) / threads;
      sum_of_choice(value + begin, label + begin, end - begin, (uint32_t)rows, which,
                    partial + t * rows);
    }
    for (size_t t = 1; t < threads; t++)
      for (size_t b = 0; b < rows; b++)
        merge_moments(&partial[b], &partial[t * rows + b]);
    add_to_record(tally, c, partial, words);
  }
}

enum gpumc_status gpumc_tally_cpu(struct gpumc_device *device, const struct gpumc_tally *tally,
                                  const struct gpumc_tally_values *values,
                                  struct gpumc_error *error)
{
  const int outside = gpumc_threads_outside(device, values->runs);
  const size_t inside = (size_t)(device->threads / outside);
  struct gpumc_moment_sums *partial = NULL;
  GPUMC_TRY(gpumc_allocate_array(&partial, (size_t)device->threads * tally->rows, "sums by group",
                                 error));
#pragma omp parallel for num_threads(outside)
  for (size_t m = 0; m < values->runs; m++)
    tally_run(tally, values, m, inside,
              partial + (size_t)omp_get_thread_num() * inside * tally->rows);
  free(partial);
  return GPUMC_OK;
}
