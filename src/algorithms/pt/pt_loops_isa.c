/* The inner loops of parallel tempering at one level, written so that compilers vectorise them: no
 * branch in a loop over samples. */
#include "algorithms/pt/pt_loops.h"

#include "algorithms/pt/pt_rules.h"
#include "core/numerics/simd_philox.h"

/* `moment`: a constant. */
GPUMC_INLINE void add_values_as(double *restrict sums, const int64_t *restrict values, size_t n,
                                double scale, const enum gpumc_moment_choice moment)
{
  for (size_t i = 0; i < n; i++)
    sums[i] += pt_term_value(values[i], scale, moment);
}

static void add_values(double *sums, const int64_t *values, size_t n, double scale,
                       enum gpumc_moment_choice moment)
{
  switch (moment) {
  case GPUMC_SUM_FIRST:
    add_values_as(sums, values, n, scale, GPUMC_SUM_FIRST);
    break;
  case GPUMC_SUM_ABSOLUTE:
    add_values_as(sums, values, n, scale, GPUMC_SUM_ABSOLUTE);
    break;
  case GPUMC_SUM_SECOND:
    add_values_as(sums, values, n, scale, GPUMC_SUM_SECOND);
    break;
  default:
    add_values_as(sums, values, n, scale, GPUMC_SUM_FOURTH);
  }
}

static void add_products(double *restrict sums, const int64_t *restrict one,
                         const int64_t *restrict other, size_t n, double scale)
{
  for (size_t i = 0; i < n; i++)
    sums[i] += pt_term_product(one[i], other[i], scale);
}

static void find_lowest(int64_t *restrict lowest, const int64_t *restrict value, size_t n)
{
  for (size_t i = 0; i < n; i++)
    lowest[i] = value[i] < lowest[i] ? value[i] : lowest[i];
}

/* Computes thresholds of pt_exchange_accepted. An exponent that needs no comparison becomes 0,
 * whose threshold is above all numbers, and one below -708 becomes that: both thresholds are then
 * 0. */
static void find_thresholds(double step, size_t n, const int64_t *restrict hotter,
                            const int64_t *restrict colder, int64_t threshold[restrict PT_LANES])
{
  for (size_t i = 0; i < n; i++) {
    double x = -(step * (double)(hotter[i] - colder[i]));
    x = x < 0.0 ? x : 0.0;
    x = x > GPUMC_EXP_LOWEST ? x : GPUMC_EXP_LOWEST;
    threshold[i] = (int64_t)fma(gpumc_exp_within(x), 4294967296.0, 0.5);
  }
}

static uint32_t decide(const struct pt_exchange_pair *pair, uint32_t first, size_t n,
                       const int64_t *hotter, const int64_t *colder)
{
  const struct gpumc_philox_stream stream =
      gpumc_philox_stream_make(pair->random, pair->run, pair->round);
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_EXCHANGE, 0);
  int64_t threshold[PT_LANES];
  uint32_t number[PT_LANES], swap = 0;
  for (size_t i = 0; i < PT_LANES; i += GPUMC_VECTOR_WORDS) {
    const gpumc_v32 sample = gpumc_lane_numbers() + (first + (uint32_t)i);
    gpumc_v32 word[4];
    if (pair->random.rounds == 7)
      gpumc_philox_draw(&stream, 7, sample, label, word);
    else
      gpumc_philox_draw(&stream, 10, sample, label, word);
    gpumc_store(number + i, word[0]);
  }
  find_thresholds(pair->step, n, hotter, colder, threshold);
  for (size_t i = 0; i < n; i++)
    swap |= (uint32_t)(number[i] < threshold[i]) << i;
  return swap;
}

static void exchange(int64_t *restrict a, int64_t *restrict b, size_t n, uint32_t swap)
{
  for (size_t i = 0; i < n; i++) {
    const int64_t exchanged = (a[i] ^ b[i]) & -(int64_t)(swap >> i & 1);
    a[i] ^= exchanged;
    b[i] ^= exchanged;
  }
}

static void exchange_walkers(uint32_t *restrict a, uint32_t *restrict b, size_t n, uint32_t swap)
{
  for (size_t i = 0; i < n; i++) {
    const uint32_t exchanged = (a[i] ^ b[i]) & -(swap >> i & 1);
    a[i] ^= exchanged;
    b[i] ^= exchanged;
  }
}

static void
count_labels(const uint32_t *walker, size_t n, uint64_t *labelled, uint64_t *from_hottest)
{
  uint32_t with_label = 0, hot = 0; /* walkers are fewer than 2^32 */
  for (size_t i = 0; i < n; i++) {
    const uint32_t label = pt_walker_label(walker[i]);
    with_label += label != PT_WALKER_FRESH;
    hot += label == PT_WALKER_HOT;
  }
  *labelled = with_label;
  *from_hottest = hot;
}

extern const struct pt_loops GPUMC_ISA_NAME(pt_loops);
const struct pt_loops GPUMC_ISA_NAME(pt_loops) = {
    .add_values = add_values,
    .add_products = add_products,
    .find_lowest = find_lowest,
    .decide = decide,
    .exchange = exchange,
    .exchange_walkers = exchange_walkers,
    .count_labels = count_labels,
};
