/* Binning of time series: values in, and independent series put together. */
#include "core/statistics/series.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

#include "core/statistics/series_time.h"

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
      gpumc_series_correlate(series, l, bin - series->reference);
    if (level->bins % 2 != 0)
      return;
    bin = 0.5 * (before + bin);
  }
}

/* `share`: of the merged series, those of the other. */
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
  gpumc_series_merge_lags(series, other);
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
