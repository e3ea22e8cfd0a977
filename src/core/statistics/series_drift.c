/* Stationarity of a time series: do its first values differ from the rest?
 *
 * After too short a thermalization all replicas are off in the same direction, and their scatter
 * says nothing of it. A transient of length t and size a shifts the mean of n values by a t/n only,
 * but that of the first t by a. So the means of the first 1, 2, 4 ... values of all merged series
 * are compared with those of all that follow. docs/statistics.md, "Time series". */
#include "core/statistics/series_drift.h"

#include <math.h>
#include <stddef.h>

#include "core/numerics/elementary.h"
#include "core/statistics/significance.h"

/* The normal deviate beyond which a series drifts, and the windows that it has, somewhat fewer of
 * which are independent: of 15,807 stationary series two did. That is one result in a hundred with
 * 75 series; with more of them a deviate must be beyond more. */
static const double drift_deviate = 4.5, windows = 20;
/* Independent numbers in a window that is looked at, so that its mean is somewhat Gaussian whatever
 * they are. */
static const double fewest_numbers = 8;
/* Bins whose kurtosis is looked at, in all. */
static const double fewest_bins = 64;
/* Standard errors of a kurtosis that are put down to chance. */
static const double kurtosis_deviations = 2;

static double length_of(size_t level)
{
  return (double)((uint64_t)1 << level);
}

/* Variance of one bin of level l. Of few bins it is that of independent values with the product. */
static double bin_variance(const struct gpumc_series *series, size_t l, double product,
                           const struct gpumc_series_estimate *estimate)
{
  const struct gpumc_series_level *level = &series->level[l];
  if (length_of(l) >= (double)estimate->bin_length)
    return product / length_of(l);
  return level->squares / (double)level->bins +
         product * (double)series->merged / (double)series->level[0].bins;
}

/* By how much the fourth cumulant of a bin of level l exceeds that of a Gaussian, in units of the
 * squared variance; what is chance left out. The early bins, which a transient would be in, do
 * not count. */
static double excess_of(const struct gpumc_series *series, size_t l)
{
  const struct gpumc_series_level *level = &series->level[l];
  const double pairs = (double)level->pairs - GPUMC_SERIES_EARLY * (double)series->merged;
  if (!(pairs >= fewest_bins) || !(level->differences > 0))
    return 0;
  const double kurtosis = (double)level->pairs * (double)level->pairs / pairs * level->fourths /
                          (level->differences * level->differences);
  return 2 * (kurtosis - 3 - kurtosis_deviations * sqrt(36 / pairs));
}

/* Excess of a bin of level l, by every level from l on: that of independent parts falls with their
 * number, as their variance does. What is slow and not Gaussian shows on a higher level only. */
static double largest_excess(const struct gpumc_series *series, size_t l, double product,
                             const struct gpumc_series_estimate *estimate)
{
  const double variance = bin_variance(series, l, product, estimate);
  double largest = 0;
  for (size_t above = l; above < GPUMC_SERIES_LEVELS && series->level[above].bins > 0; above++)
    largest = fmax(largest, excess_of(series, above) * variance /
                                bin_variance(series, above, product, estimate));
  return largest;
}

/* Freedom of Student's t that has the tails of the window's mean: few degrees where it may be made
 * of few events. Tails of skewed sums of events are heavier than their kurtosis says, hence 3 for
 * 6, and the t of 2 has no fourth moment at all. */
static double freedom_of_window(const struct gpumc_series *series, double excess, double freedom)
{
  const double of_events = excess > 0 ? 2 + 3 * (double)series->merged / excess : freedom;
  return fmin(freedom, of_events);
}

/* The normal deviate that is as rare as t (Wallace, Ann. Math. Stat. 30, 1121 (1959)). */
static double deviate_of(double t, double freedom)
{
  const double size =
      (8 * freedom + 1) / (8 * freedom + 3) * sqrt(freedom * gpumc_log(1 + t * t / freedom));
  return copysign(size, t);
}

/* Variance of the first bin of level l, from the others where they are many: what all first bins
 * are off by together, `shift`, is left out, or a drift would hide in the variance it makes. */
static double first_variance(const struct gpumc_series *series, size_t l, double product,
                             double shift, const struct gpumc_series_estimate *estimate)
{
  const struct gpumc_series_level *level = &series->level[l];
  const double merged = (double)series->merged;
  const double others = (double)level->bins - merged;
  if (others < fewest_bins)
    return bin_variance(series, l, product, estimate);
  return fmax(0, level->squares - merged * shift * shift) / others +
         product * merged / (double)series->level[0].bins;
}

/* The window of the first bins of level l. */
static double window_deviate(const struct gpumc_series *series, size_t l, double product,
                             const struct gpumc_series_estimate *estimate)
{
  const double merged = (double)series->merged, length = length_of(l);
  const double values = (double)series->level[0].bins / merged;
  const double first = series->level[l].first, mean = series->level[0].mean;
  const double rest = (values * mean - length * first) / (values - length);
  const double variance = first_variance(series, l, product, first - mean, estimate);
  const double excess = largest_excess(series, l, product, estimate);
  const double error2 = (variance + product / (values - length)) / merged;
  const double freedom =
      freedom_of_window(series, excess, fmin(estimate->freedom, estimate->observed_freedom));
  return deviate_of((first - rest) / sqrt(error2), freedom);
}

/* Whether chance does not explain a deviate in any window of any of the result's series. */
static bool is_beyond_chance(double deviate, double series)
{
  const double many = 1e9; /* Student's t is Gaussian */
  return fabs(deviate) > drift_deviate &&
         gpumc_student_tail(deviate, many) * windows * series < GPUMC_FALSE_ALARMS;
}

void gpumc_series_find_drift(const struct gpumc_series *series, double product,
                             struct gpumc_series_estimate *estimate)
{
  const double values = (double)series->level[0].bins / (double)series->merged;
  const double members = series->members > 0 ? (double)series->members : 1;
  const double time = estimate->bin_time;
  for (size_t l = 0; l < GPUMC_SERIES_LEVELS && 2 * length_of(l) <= values; l++) {
    const double numbers = members * (double)series->merged * fmax(1, length_of(l) / (2 * time));
    if (numbers < fewest_numbers || isnan(series->level[l].first))
      continue;
    const double deviate = window_deviate(series, l, product, estimate);
    if (isnan(estimate->drift) || fabs(deviate) > fabs(estimate->drift)) {
      estimate->drift = deviate;
      estimate->drift_length = (uint64_t)1 << l;
    }
  }
  estimate->drifts = is_beyond_chance(estimate->drift, (double)estimate->companions);
}
