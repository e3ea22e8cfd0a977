/* Error of a binned series, and whether it is stationary. */
#include "core/statistics/series.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#include "core/numerics/elementary.h"
#include "core/statistics/significance.h"

/* Stationarity of a time series: do its first values differ from the rest?
 *
 * After too short a thermalization all replicas are off in the same direction, and their scatter
 * does not show it. A transient of length t and size a shifts the mean of n values by only a t/n,
 * but that of the first t by a. So the means of the first 1, 2, 4 ... values of all merged series
 * are compared with those of all later values. docs/statistics.md, "Time series". */

/* The normal deviate beyond which a series drifts, and the number of its windows, somewhat fewer of
 * which are independent: of 15,807 stationary series, two exceeded it. That is one result in a
 * hundred with 75 series; with more series the deviate must be larger. */
static const double drift_deviate = 4.5, windows = 20;
/* Independent numbers in the smallest window considered, so that its mean is somewhat Gaussian
 * whatever they are. */
static const double fewest_numbers = 8;
/* Fewest bins, in all, whose kurtosis is considered. */
static const double fewest_bins = 64;
/* Standard errors of a kurtosis that are attributed to chance. */
static const double kurtosis_deviations = 2;

/* Returns the length of a bin. */
static double length_of(size_t level)
{
  return (double)((uint64_t)1 << level);
}

/* Returns the variance of one bin of level l. If there are few bins, it is that of independent
 * values with the product. */
static double bin_variance(const struct gpumc_series *series, size_t l, double product,
                           const struct gpumc_series_estimate *estimate)
{
  const struct gpumc_series_level *level = &series->level[l];
  if (length_of(l) >= (double)estimate->bin_length)
    return product / length_of(l);
  return level->squares / (double)level->bins +
         product * (double)series->merged / (double)series->level[0].bins;
}

/* Returns by how much the fourth cumulant of a bin of level l exceeds that of a Gaussian, in units
 * of the squared variance, less what chance explains. The early bins, which may contain a
 * transient, do not count. */
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

/* Returns the largest excess of a bin of level l over every level from l on: the excess of
 * independent parts falls with their number, as their variance does. Slow non-Gaussian fluctuations
 * show only on a higher level. */
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

/* Returns the degrees of freedom of the Student's t that has the tails of the window's mean: few if
 * it may consist of few events. Tails of skewed sums of events are heavier than their kurtosis
 * says, hence 3 for 6, and the t of 2 has no fourth moment at all. */
static double freedom_of_window(const struct gpumc_series *series, double excess, double freedom)
{
  const double of_events = excess > 0 ? 2 + 3 * (double)series->merged / excess : freedom;
  return fmin(freedom, of_events);
}

/* Returns the normal deviate that is as rare as t (Wallace, Ann. Math. Stat. 30, 1121 (1959)). */
static double deviate_of(double t, double freedom)
{
  const double size =
      (8 * freedom + 1) / (8 * freedom + 3) * sqrt(freedom * gpumc_log(1 + t * t / freedom));
  return copysign(size, t);
}

/* Returns the variance of the first bin of level l, from the other bins if there are many. The
 * offset common to all first bins, `shift`, is left out; otherwise a drift would hide in the
 * variance it makes. */
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

/* Returns the deviate of the window of the first bins of level l. */
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

/* Returns whether chance does not explain a deviate in any window of any of the result's series. */
static bool is_beyond_chance(double deviate, double series)
{
  const double many = 1e9; /* Student's t is Gaussian */
  return fabs(deviate) > drift_deviate &&
         gpumc_student_tail(deviate, many) * windows * series < GPUMC_FALSE_ALARMS;
}

static void find_drift(const struct gpumc_series *series, double product,
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

/* ---- errors: which level to believe ---- */

/* A bin must be this many autocorrelation times long, Sokal's window in units of bins: the part of
 * an exponential decay beyond it is at most 0.5 % of tau. */
static const double window = 4;
/* The energy of a lattice at criticality, which decays with many time scales, loses at most this
 * share of tau, times tau over the bin length (measured: docs/statistics.md, "Time series"). */
static const double truncation = 0.6;
/* 2 tau below this is taken for noise. */
static const double least_correlation = 0.25;
/* A plateau ends where a higher level exceeds it by this many standard deviations. */
static const double plateau_deviations = 4;
/* Merged series disagree when their scatter has this normal deviate (one in 30,000 by chance). */
static const double scatter_deviate = 4;
/* Autocorrelation times of a converged series. Series that pass near any such limit are selected;
 * the strength of this bias is measured in docs/statistics.md, "Time series". */
static const double fewest_times = 500;
/* Fewest bins of a level that is considered, of one that can end a plateau or is trusted, and of
 * one longer than necessary, in each of the merged series. */
enum { FEWEST_BINS = 16, FEWEST_TRUSTED = 32, FEWEST_EACH = 32, FEWEST_VALUES = 4 };
/* The estimate of a level has the relative variance 6/bins, so the degrees of freedom are a third
 * of the bins. */
static const double bins_per_freedom = 3;
/* Degrees of freedom of a converged series: five rare events. Series that pass near this limit are
 * selected, too: docs/statistics.md, "Time series". */
static const double fewest_freedom = 10;
/* Additions and multiplications per value beside those of its members. */
static const double roundings = 8;

/* `product`[l]: 2 tau times the variance of a value, from level l. `levels`: those considered. */
struct products {
  double product[GPUMC_SERIES_LEVELS];
  double bins[GPUMC_SERIES_LEVELS]; /* effective number of bins, from their pairs */
  size_t levels;
};

/* Returns the values in each of the merged series, on average. */
static double values_each(const struct gpumc_series *series)
{
  return (double)series->level[0].bins / (double)series->merged;
}

/* Returns gamma(0) + 2 gamma(1) of the bins, times their length: the covariances of the values
 * weighted by 1 up to the bin length and falling to 0 at twice that. gamma(0) from the squares
 * about the mean of a series lacks the variance of that mean, product/values, and is solved for. */
static double level_product(const struct gpumc_series *series, size_t l)
{
  const struct gpumc_series_level *level = &series->level[l];
  double length = length_of(l);
  double covariance =
      3 * level->squares / (double)level->bins - level->differences / (double)level->pairs;
  return length * covariance / (1 - 3 * length / values_each(series));
}

static void form_products(const struct gpumc_series *series, struct products *products)
{
  products->levels = 0;
  for (size_t l = 0; l < GPUMC_SERIES_LEVELS; l++) {
    uint64_t bins = series->level[l].pairs + 1;
    uint64_t fewest = l == 0 ? FEWEST_VALUES : FEWEST_BINS;
    if (bins < fewest || values_each(series) < FEWEST_VALUES * length_of(l))
      return;
    products->bins[l] = (double)bins;
    products->product[l] = level_product(series, l);
    products->levels++;
  }
}

static double variance_of(const struct gpumc_series *series, double product)
{
  const struct gpumc_series_level *values = &series->level[0];
  return (values->squares + series->between + product) / (double)values->bins;
}

static bool is_plateau(const struct products *products, size_t l)
{
  for (size_t above = l + 1; above < products->levels; above++) {
    double deviation = sqrt(2 * bins_per_freedom / products->bins[above]);
    if (products->bins[above] >= FEWEST_TRUSTED &&
        products->product[above] > products->product[l] * (1 + plateau_deviations * deviation))
      return false;
  }
  return true;
}

/* Returns 2 tau, from level l. */
static double
correlation_of(const struct gpumc_series *series, const struct products *products, size_t l)
{
  return products->product[l] / variance_of(series, products->product[l]);
}

static bool
fits_window(const struct gpumc_series *series, const struct products *products, size_t l)
{
  double correlation = correlation_of(series, products, l);
  return correlation >= least_correlation && length_of(l) >= window * correlation / 2;
}

/* Chooses the lowest level whose bins are long enough and whose estimate is confirmed by those
 * above it. If there is none, chooses the highest estimate and returns false. */
static bool
choose_level(const struct gpumc_series *series, const struct products *products, size_t *chosen)
{
  *chosen = 0;
  for (size_t l = 0; l < products->levels; l++) {
    if (fits_window(series, products, l) && is_plateau(products, l)) {
      *chosen = l;
      return true;
    }
    if (products->product[l] > products->product[*chosen])
      *chosen = l;
  }
  return false;
}

/* Returns whether bins are at least as long as those for which the sum of (truncation
 * tau/length)^2, the square of what is cut off, and the relative variance, 2 bins_per_freedom
 * length/values, is smallest. */
static bool
is_balanced(const struct gpumc_series *series, const struct products *products, size_t l)
{
  double values = (double)series->level[0].bins;
  double length = length_of(l);
  double lost = truncation * correlation_of(series, products, l) / 2;
  return bins_per_freedom * length * length * length >= lost * lost * values;
}

/* Returns the first level from l on whose bins have the balanced length, or the last admissible
 * one. */
static size_t
raise_level(const struct gpumc_series *series, const struct products *products, size_t l)
{
  while (!is_balanced(series, products, l) && l + 1 < products->levels &&
         values_each(series) >= FEWEST_EACH * length_of(l + 1) &&
         correlation_of(series, products, l + 1) >= least_correlation)
    l++;
  return l;
}

static bool has_fewest_times(uint64_t values, double correlation)
{
  return (double)values >= fewest_times * correlation / 2;
}

/* Judged by every level up to l: the lower ones miss some of tau but scatter less, so it is not
 * enough that l is too small by chance. */
static bool is_long(const struct gpumc_series *series, const struct products *products, size_t l)
{
  for (size_t below = 0; below <= l; below++)
    if (!has_fewest_times(series->level[0].bins, correlation_of(series, products, below)))
      return false;
  return true;
}

/* Bins with the fourth cumulant of a Gaussian plus c, in units of the squared variance, give 2 tau
 * variance the relative variance (6 + c)/bins. Differences of independent bins have the kurtosis 3
 * + c/2, so bins over this kurtosis is the freedom: a third of the bins, or twice the number of
 * rare events that the fluctuations consist of. It decides convergence; the factor of Student's t
 * uses the number of bins, since a kurtosis scatters too much for it. */
static double freedom_of(const struct gpumc_series_level *level, double bins)
{
  const double fourths = level->early + level->fourths;
  const double gaussian = bins / bins_per_freedom;
  return fourths > 0 ? fmin(gaussian, level->differences * level->differences / fourths) : gaussian;
}

/* Returns 2 tau variance of independent values. */
static double independent_product(const struct gpumc_series *series)
{
  const struct gpumc_series_level *values = &series->level[0];
  const double freedom = (double)(values->bins - series->merged);
  return freedom > 0 ? values->squares / freedom : 0;
}

/* Returns 2 tau variance from the levels. If they show only noise or there are too few values for
 * any of them (freedom 0), the values count as independent. */
static double
correlated_product(const struct gpumc_series *series, struct gpumc_series_estimate *estimate)
{
  const double independent = independent_product(series);
  struct products products;
  size_t chosen;
  form_products(series, &products);
  if (products.levels == 0)
    return independent;
  bool fits = choose_level(series, &products, &chosen);
  if (fits)
    chosen = raise_level(series, &products, chosen);
  estimate->bin_length = (uint64_t)1 << chosen;
  estimate->freedom = products.bins[chosen] / bins_per_freedom;
  estimate->bins = fits ? (uint64_t)products.bins[chosen] : 0;
  estimate->observed_freedom = freedom_of(&series->level[chosen], products.bins[chosen]);
  if (estimate->bins >= FEWEST_TRUSTED && estimate->observed_freedom < fewest_freedom)
    estimate->doubt = GPUMC_SERIES_STILL;
  else if (estimate->bins >= FEWEST_TRUSTED && is_long(series, &products, chosen))
    estimate->doubt = GPUMC_SERIES_NO_DOUBT;
  return fits ? products.product[chosen] : fmax(products.product[chosen], independent);
}

/* Cube root of a positive number. */
static double cube_root(double x)
{
  return gpumc_exp(gpumc_log(x) / 3);
}

/* Compares two estimates of one variance by Paulson's normal deviate of their ratio (Ann. Math.
 * Stat. 13, 233 (1942)). */
static bool is_larger(double variance, double freedom, double other, double other_freedom)
{
  if (!(variance > other))
    return false;
  if (other == 0)
    return true;
  double above = 2 / (9 * freedom);
  double below = 2 / (9 * other_freedom);
  double root = cube_root(variance / other);
  double deviate = ((1 - below) * root - (1 - above)) / sqrt(below * root * root + above);
  return deviate > scatter_deviate;
}

/* For merged series that contradict each other or are too short by themselves: the scatter of their
 * means gives the same product, with merged - 1 degrees of freedom. */
static void regard_scatter(const struct gpumc_series *series, double *product,
                           struct gpumc_series_estimate *estimate)
{
  double freedom = (double)series->merged - 1;
  double scatter = series->between / freedom;
  bool contradiction = is_larger(scatter, freedom, *product, estimate->freedom);
  if (contradiction || (estimate->bins < FEWEST_TRUSTED && freedom >= estimate->freedom)) {
    *product = scatter;
    estimate->freedom = freedom;
  }
  if (contradiction) {
    estimate->bins = 0;
    estimate->doubt = GPUMC_SERIES_CONTRADICTS;
  }
}

static void
set_correlated(const struct gpumc_series *series, struct gpumc_series_estimate *estimate)
{
  double count = (double)series->level[0].bins;
  double product = correlated_product(series, estimate);
  if (series->merged > 1)
    regard_scatter(series, &product, estimate);
  estimate->variance = variance_of(series, product);
  if (!(estimate->freedom > 0))
    return;
  estimate->error = sqrt(product / count);
  estimate->bin_time = 0.5 * product / estimate->variance;
  estimate->autocorrelation_time = estimate->bin_time;
  if (product != independent_product(series))
    estimate->time_error = estimate->bin_time * sqrt(2 / estimate->freedom);
  if (estimate->bins > 0) {
    find_drift(series, product, estimate);
    gpumc_series_find_time(series, estimate);
  }
  estimate->effective_samples = count / (2 * estimate->autocorrelation_time);
  if (estimate->drifts)
    estimate->doubt = GPUMC_SERIES_DRIFTS;
  estimate->converged = estimate->doubt == GPUMC_SERIES_NO_DOUBT;
}

/* The relative error of a sum of h numbers is at most h epsilon, and so is that of the mean. */
bool gpumc_series_is_constant(const struct gpumc_series *series)
{
  const struct gpumc_series_level *values = &series->level[0];
  const double rounding = ((double)series->members + roundings) * DBL_EPSILON * fabs(values->mean);
  return values->squares + series->between <= rounding * rounding * (double)values->bins;
}

/* Nothing has fluctuated: either it never does, or too rarely to be seen. */
static void set_undetermined(struct gpumc_series_estimate *estimate)
{
  estimate->variance = 0;
  estimate->doubt = GPUMC_SERIES_STILL;
}

void gpumc_series_estimate_among(const struct gpumc_series *series, uint64_t companions,
                                 struct gpumc_series_estimate *estimate)
{
  const struct gpumc_series_level *values = &series->level[0];
  *estimate = (struct gpumc_series_estimate){.count = values->bins,
                                             .mean = values->bins > 0 ? values->mean : NAN,
                                             .variance = NAN,
                                             .error = NAN,
                                             .bin_time = NAN,
                                             .autocorrelation_time = NAN,
                                             .time_error = NAN,
                                             .drift = NAN,
                                             .effective_samples = NAN,
                                             .doubt = GPUMC_SERIES_SHORT,
                                             .companions = companions};
  if (values->bins > 1 && gpumc_series_is_constant(series))
    set_undetermined(estimate);
  else if (values->bins > 1)
    set_correlated(series, estimate);
}

void gpumc_series_estimate(const struct gpumc_series *series,
                           struct gpumc_series_estimate *estimate)
{
  gpumc_series_estimate_among(series, 1, estimate);
}
