/* Binning of time series: adding values, merging independent series, and autocorrelation times. */
#include "core/statistics/series.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/numerics/elementary.h"

/* Autocorrelation times from lagged products (Wolff, Comput. Phys. Commun. 156, 143 (2004)).
 *
 * The mean product of bins of m values at a lag of k bins is that of the values at lags around k m,
 * with weights that fall from 1/m at k m to 0 at (k +- 1) m. So m times the sum over successive k
 * is the plain sum over the lags between, whatever the values' correlations, and falls to 0 at
 * either end within m. If the last lag of a level has half its weight, its end falls within 2 m,
 * and the next level has there what it lacks of 1. docs/statistics.md, "Time series". */

enum {
  LAGS = GPUMC_SERIES_LAGS,
  BLOCK = GPUMC_SERIES_BLOCK,
  SETS = GPUMC_SERIES_CORRELATED + 1,
  POINTS = SETS * LAGS
};
_Static_assert(BLOCK >= 2 * LAGS, "a block before the present one holds every lag");

/* Wolff's S: the assumed decay time over that of a single exponential. */
static const double decay_times = 1.5;
/* Largest contribution of a window's last half, in standard deviations: more means several
 * decays. */
static const double half_deviations = 1.5;
/* Largest contribution of lags beyond the window, likewise: more means a slow mode of little
 * weight. */
static const double longer_deviations = 4;
/* Correlations this many standard deviations below zero are not noise. */
static const double negative_deviations = 4;
/* The lags considered, as shares of a series and of all values. */
static const double longest_of_each = 1.0 / 8, longest_of_all = 1.0 / 32;

static size_t level_of(size_t set)
{
  return set > 0 ? set - 1 : 0;
}

static size_t first_lag(size_t set)
{
  return set > 0 ? LAGS : 0;
}

/* Multiplies the first `bins` of a block that are not in the products yet. */
static void
multiply(const double *restrict recent, size_t bins, size_t lag, double *restrict product)
{
  double sum[LAGS];
  memcpy(sum, product, sizeof sum);
  for (size_t i = 0; i < bins; i++) {
    const double *now = recent + BLOCK - 1 - i;
    for (size_t k = 0; k < LAGS; k++)
      sum[k] += now[0] * now[lag + k];
  }
  memcpy(product, sum, sizeof sum);
}

/* The very first bins have none before them. */
static void add_end(struct gpumc_series *series, size_t l, double bin)
{
  for (size_t lag = series->level[l].bins; lag < 2 * LAGS; lag++)
    if (lag >= LAGS)
      series->lags[l + 1].ends[lag - LAGS] += bin;
    else if (l == 0)
      series->lags[0].ends[lag] += bin;
}

static void correlate(struct gpumc_series *series, size_t l, double bin)
{
  double *recent = series->recent[l];
  const uint64_t bins = series->level[l].bins;
  const size_t waiting = (size_t)((bins - 1) % BLOCK) + 1;
  recent[BLOCK - waiting] = bin;
  if (bins < 2 * LAGS)
    add_end(series, l, bin);
  if (waiting < BLOCK)
    return;
  multiply(recent, BLOCK, LAGS, series->lags[l + 1].product);
  if (l == 0)
    multiply(recent, BLOCK, 0, series->lags[0].product);
  memcpy(recent + BLOCK, recent, BLOCK * sizeof *recent);
}

static uint64_t shortest_of(const struct gpumc_series *series)
{
  return series->merged > 1 ? series->shortest : series->level[0].bins;
}

/* Returns the number of pairs of bins at a lag. */
static double pairs_of(const struct gpumc_series *series, size_t l, size_t lag)
{
  return (double)series->level[l].bins - (double)series->merged * (double)lag;
}

/* Completes the products of one set of a series, with the sums of both factors. */
static void complete(const struct gpumc_series *series, size_t set, struct gpumc_series_lags *lags)
{
  const size_t l = level_of(set), lag = first_lag(set);
  const struct gpumc_series_level *level = &series->level[l];
  const size_t waiting = (size_t)(level->bins % BLOCK);
  const double *latest = series->recent[l] + BLOCK - waiting;
  const double total = (double)level->bins * (level->mean - series->reference);
  double last = 0;
  multiply(series->recent[l], waiting, lag, lags->product);
  for (size_t k = 0; k < lag + LAGS; k++) {
    if (k >= lag)
      lags->ends[k - lag] = 2 * total - lags->ends[k - lag] - last;
    last += latest[k];
  }
}

/* The same about another reference, for one series or merged ones. */
static struct gpumc_series_lags
lags_about(const struct gpumc_series *series, size_t set, double reference)
{
  struct gpumc_series_lags lags = series->lags[set];
  const double shift = series->reference - reference;
  if (series->merged == 1)
    complete(series, set, &lags);
  for (size_t k = 0; k < LAGS; k++) {
    const double pairs = pairs_of(series, level_of(set), first_lag(set) + k);
    lags.product[k] += shift * lags.ends[k] + shift * shift * pairs;
    lags.ends[k] += 2 * shift * pairs;
  }
  return lags;
}

static void merge_lags(struct gpumc_series *series, const struct gpumc_series *other)
{
  const uint64_t one = shortest_of(series), two = shortest_of(other);
  for (size_t set = 0; set < SETS; set++) {
    const struct gpumc_series_lags mine = lags_about(series, set, series->reference);
    const struct gpumc_series_lags others = lags_about(other, set, series->reference);
    for (size_t k = 0; k < LAGS; k++) {
      series->lags[set].product[k] = mine.product[k] + others.product[k];
      series->lags[set].ends[k] = mine.ends[k] + others.ends[k];
    }
  }
  series->shortest = one < two ? one : two;
}

/* Sums of covariances, gamma(0) + 2 sum of gamma(t), over windows of growing length. */
struct windows {
  double values;
  double length[POINTS], sum[POINTS];
  double variance; /* gamma(0) */
  size_t count;
};

/* The last lag of a level counts half where the next level continues from it. */
static void form_windows(const struct gpumc_series *series, struct windows *windows)
{
  const struct gpumc_series_level *values = &series->level[0];
  const double longest =
      fmin(longest_of_each * (double)shortest_of(series), longest_of_all * (double)values->bins);
  windows->values = (double)values->bins;
  windows->variance = (values->squares + series->between) / windows->values;
  windows->count = 0;
  double sum = windows->variance;
  for (size_t set = 0; set < SETS; set++) {
    const size_t l = level_of(set);
    const double bin = (double)((uint64_t)1 << l);
    const struct gpumc_series_lags about = lags_about(series, set, values->mean);
    for (size_t k = 0; k < LAGS; k++) {
      const size_t lag = first_lag(set) + k;
      const double length = bin * (double)lag + (bin - 1) / 2;
      if (length > longest)
        return;
      const double term = lag > 0 ? 2 * bin * about.product[k] / pairs_of(series, l, lag) : 0;
      windows->length[windows->count] = length;
      windows->sum[windows->count++] = sum + term;
      sum += lag == 2 * LAGS - 1 ? term / 2 : term;
    }
  }
}

/* Returns 2 tau variance. Covariances about the mean of all lack its variance, product/values,
 * each. */
static double product_of(const struct windows *windows, size_t w)
{
  return windows->sum[w] / (1 - (2 * windows->length[w] + 1) / windows->values);
}

static double time_of(const struct windows *windows, size_t w)
{
  const double product = product_of(windows, w);
  return product / (2 * (windows->variance + product / windows->values));
}

/* Checks Wolff's equations 51 and 52: the part cut off is less than the noise of the rest. */
static bool is_long_enough(const struct windows *windows, size_t w)
{
  const double time = time_of(windows, w), length = windows->length[w];
  if (time <= 0.5)
    return time > 0;
  const double decay = decay_times / gpumc_log((2 * time + 1) / (2 * time - 1));
  return gpumc_exp(-length / decay) < decay / sqrt(length * windows->values);
}

/* Returns the standard deviation of the sum between two windows, in units of the product. */
static double deviation_between(const struct windows *windows, size_t w, size_t longer)
{
  return sqrt(4 * (windows->length[longer] - windows->length[w]) / windows->values);
}

static bool is_flat(const struct windows *windows, size_t w)
{
  const double product = product_of(windows, w);
  size_t half = w;
  while (windows->length[half] > windows->length[w] / 2)
    half--;
  if (product - product_of(windows, half) >
      half_deviations * product * deviation_between(windows, half, w))
    return false;
  for (size_t longer = w + 1; longer < windows->count; longer++)
    if (windows->length[longer] >= 2 * windows->length[w] &&
        product_of(windows, longer) - product >
            longer_deviations * product * deviation_between(windows, w, longer))
      return false;
  return true;
}

/* Returns whether values a few measurements apart are anticorrelated by more than the noise of a
 * covariance (Bartlett, Suppl. J. R. Stat. Soc. 8, 27 (1946)). Sums up to a sharp window then
 * oscillate about the total, and the first maximum would pass for a plateau. The bins' windows have
 * slanted ends and do not oscillate. */
static bool is_anticorrelated(const struct windows *windows)
{
  const size_t lags = windows->count < 2 * LAGS ? windows->count : 2 * LAGS;
  double squares = 1, least = 0;
  for (size_t lag = 1; lag < lags; lag++) {
    const double correlation =
        (windows->sum[lag] - windows->sum[lag - 1]) / (2 * windows->variance);
    squares += 2 * correlation * correlation;
    least = fmin(least, correlation);
  }
  return least < -negative_deviations * sqrt(squares / windows->values);
}

/* The error is Wolff's equation 42. */
void gpumc_series_find_time(const struct gpumc_series *series,
                            struct gpumc_series_estimate *estimate)
{
  struct windows windows;
  form_windows(series, &windows);
  if (is_anticorrelated(&windows))
    return;
  for (size_t w = 1; w < windows.count; w++)
    if (is_long_enough(&windows, w) && is_flat(&windows, w)) {
      const double time = time_of(&windows, w);
      estimate->autocorrelation_time = time;
      estimate->time_error =
          2 * time * sqrt(fmax(0, windows.length[w] + 0.5 - time) / windows.values);
      return;
    }
}

/* ---- values in, and independent series put together ---- */

_Static_assert(sizeof(struct gpumc_series) == 8 * (size_t)GPUMC_SERIES_WORDS, "8-byte words only");

/* Welford's update of mean and squares. */
static void add_bin(struct gpumc_series_level *level, double bin)
{
  if (level->bins > 0) {
    double difference = bin - level->last;
    double square = difference * difference;
    level->differences += square;
    *(level->pairs < GPUMC_SERIES_EARLY ? &level->early : &level->fourths) += square * square;
    level->pairs++;
  } else {
    level->first = bin;
  }
  level->bins++;
  double deviation = bin - level->mean;
  level->mean += deviation / (double)level->bins;
  level->squares += deviation * (bin - level->mean);
  level->last = bin;
}

void gpumc_series_add(struct gpumc_series *series, double value)
{
  assert(series->merged <= 1);
  if (series->merged == 0)
    series->reference = value;
  series->merged = 1;
  double bin = value;
  for (size_t l = 0; l < GPUMC_SERIES_LEVELS; l++) {
    struct gpumc_series_level *level = &series->level[l];
    double before = level->last;
    add_bin(level, bin);
    if (l < GPUMC_SERIES_CORRELATED)
      correlate(series, l, bin - series->reference);
    if (level->bins % 2 != 0)
      return;
    bin = 0.5 * (before + bin);
  }
}

/* `share`: of the merged series, that of the other. */
static void
merge_level(struct gpumc_series_level *level, const struct gpumc_series_level *other, double share)
{
  const bool both = level->bins > 0 && other->bins > 0;
  const bool neither = level->bins == 0 && other->bins == 0;
  level->first = both ? level->first + share * (other->first - level->first) : neither ? 0 : NAN;
  level->bins += other->bins;
  level->pairs += other->pairs;
  level->squares += other->squares;
  level->differences += other->differences;
  level->early += other->early;
  level->fourths += other->fourths;
  level->last = 0;
}

/* Mean and squares of two parts (Chan, Golub and LeVeque, Am. Stat. 37, 242 (1983)). */
void gpumc_series_merge(struct gpumc_series *series, const struct gpumc_series *other)
{
  if (other->merged == 0)
    return;
  if (series->merged == 0) {
    *series = *other;
    return;
  }
  merge_lags(series, other);
  double count = (double)series->level[0].bins;
  double share = (double)other->level[0].bins / (count + (double)other->level[0].bins);
  double distance = other->level[0].mean - series->level[0].mean;
  double mean = series->level[0].mean + distance * share;
  series->between += other->between + distance * distance * share * count;
  series->merged += other->merged;
  double of_series = (double)other->merged / (double)series->merged;
  for (size_t l = 0; l < GPUMC_SERIES_LEVELS; l++) {
    merge_level(&series->level[l], &other->level[l], of_series);
    series->level[l].mean = 0;
  }
  series->level[0].mean = mean;
}
