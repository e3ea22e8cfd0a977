/* Time series of one observable: its mean with an honest error, while the values come.
 *
 * Logarithmic binning (Flyvbjerg and Petersen, J. Chem. Phys. 91, 461 (1989); Ambegaokar and
 * Troyer, Am. J. Phys. 78, 150 (2010)): level l holds bins of 2^l values and keeps only their mean,
 * their squares and the squares of their successive differences. Constant time per value, fixed
 * memory. Errors are from the bins; the autocorrelation time is from the products of bins with up
 * to 15 earlier ones (multiple-tau correlator: Ramirez, Sukumaran, Vorselaars and Likhtman, J.
 * Chem. Phys. 133, 154103 (2010)). Formulas: docs/statistics.md, "Time series". */
#ifndef GPUMC_CORE_SERIES_H
#define GPUMC_CORE_SERIES_H

#include <stdbool.h>
#include <stdint.h>

enum { GPUMC_SERIES_LEVELS = 40 }; /* bins of up to 2^39 values */
/* Pairs of bins at the beginning of a level whose fourth powers are kept separately: a transient is
 * confined to them if its length is that of a few bins. */
enum { GPUMC_SERIES_EARLY = 4 };
/* Levels whose bins are correlated, up to lags of 2^23 values, and lags of one level: 8 to 15 bins.
 * Shorter lags are those of the level below; for values, lags up to 7 are kept too. */
enum { GPUMC_SERIES_CORRELATED = 20, GPUMC_SERIES_LAGS = 8 };
enum { GPUMC_SERIES_BLOCK = 16 }; /* bins multiplied at a time; beyond every lag */

/* The complete bins of a level; `pairs`: how many of them have a predecessor. For merged series,
 * squares, differences and fourth powers are those within each, added up. */
struct gpumc_series_level {
  uint64_t bins, pairs;
  double mean;
  double squares;     /* sum of (bin - mean of its series)^2 */
  double differences; /* sum of (bin - predecessor)^2 */
  double early;       /* sum of (bin - predecessor)^4 over the first GPUMC_SERIES_EARLY pairs */
  double fourths;     /* the same over all later ones */
  double first;       /* the first bin; for merged series the mean of their first bins, NaN if one
                       * has none */
  double last;        /* the latest bin */
};

/* Products of bins with earlier ones, less the reference, at GPUMC_SERIES_LAGS successive lags.
 * `ends`: for one series, the sum of its first bins, as many as the lag; for merged ones, the sum
 * of both factors over all products. */
struct gpumc_series_lags {
  double product[GPUMC_SERIES_LAGS];
  double ends[GPUMC_SERIES_LAGS];
};

/* Zero-initialise. Plain data of 8-byte numbers, GPUMC_SERIES_WORDS in all, so a checkpoint stores
 * it as an array of uint64 and restores the same bits. */
struct gpumc_series {
  struct gpumc_series_level level[GPUMC_SERIES_LEVELS];
  uint64_t merged; /* number of independent series merged, 0 while empty */
  double between;  /* sum over the values of (mean of its series - mean of all)^2 */
  /* Independent numbers (replicas) averaged in each value; 0 counts as 1. Only
   * gpumc_series_estimate() uses it: rounding grows with it, and values become more Gaussian. */
  uint64_t members;
  /* [0]: values at lags 0 to 7; [l + 1]: bins of level l at lags 8 to 15. */
  struct gpumc_series_lags lags[GPUMC_SERIES_CORRELATED + 1];
  /* Latest bins of each level, less the reference, newest first: from GPUMC_SERIES_BLOCK less
   * (their number modulo it) on. Those before GPUMC_SERIES_BLOCK are not in the products yet. */
  double recent[GPUMC_SERIES_CORRELATED][2 * GPUMC_SERIES_BLOCK];
  double reference;  /* the first value; for merged series, that of the first of them */
  uint64_t shortest; /* values in the shortest of the merged series; 0 for a single one */
};
enum { GPUMC_SERIES_WORDS = sizeof(struct gpumc_series) / 8 };

void gpumc_series_add(struct gpumc_series *series, double value);
/* Merges an independent series of the same observable (another replica) into this one, which can
 * then be merged and estimated but takes no more values. */
void gpumc_series_merge(struct gpumc_series *series, const struct gpumc_series *other);

/* Why an error may be wrong: the series is too short for its autocorrelation time; nothing, or too
 * little, fluctuated in it; merged series contradict each other; it drifts. */
enum gpumc_series_doubt {
  GPUMC_SERIES_NO_DOUBT,
  GPUMC_SERIES_SHORT,
  GPUMC_SERIES_STILL,
  GPUMC_SERIES_CONTRADICTS,
  GPUMC_SERIES_DRIFTS
};
enum { GPUMC_SERIES_DOUBTS = GPUMC_SERIES_DRIFTS + 1 };

/* Undetermined values are NaN: everything for an empty series, the variance of one value, error and
 * time of fewer than four values (unless the scatter of merged series gives them), and of values
 * that differ by no more than their rounding. */
struct gpumc_series_estimate {
  uint64_t count;
  double mean;
  double variance;         /* of one value; unbiased for correlated ones too */
  double error;            /* of the mean: error^2 = 2 bin_time variance / count */
  double freedom;          /* approximate degrees of freedom of error^2, by the number of bins */
  double observed_freedom; /* as limited by the kurtosis of the bins: two for each rare event */
  double bin_time;         /* tau from the bins, which the error is based on */
  double autocorrelation_time; /* tau: 1/2 + sum of rho(t) over t >= 1, in measurements */
  double time_error;           /* standard error of tau; NaN if values are treated as independent */
  double effective_samples;    /* count / (2 tau) */
  uint64_t bin_length;         /* of the chosen level */
  uint64_t bins; /* bins that give the error; 0: no level is long enough, or the merged series
                  * disagree */
  /* How much higher the beginning is than the rest, as a normal deviate: that of the most
   * significant of the windows of the first 1, 2, 4 ... values of every merged series. NaN if no
   * window is long enough. */
  double drift;
  uint64_t drift_length; /* of that window */
  bool drifts; /* `drift` is beyond 4.5 and beyond what chance explains in one of 100 results with
                * as many series */
  uint64_t companions; /* series in the result, including this one */
  /* 32 such bins, 500 tau in all by their level and by those below, enough observed freedom, and
   * no drift. */
  bool converged;
  enum gpumc_series_doubt doubt; /* the last doubt that holds; none for a converged series */
};
/* Returns whether all values are equal up to rounding. */
bool gpumc_series_is_constant(const struct gpumc_series *series);
void gpumc_series_estimate(const struct gpumc_series *series,
                           struct gpumc_series_estimate *estimate);
/* The same for one of `companions` series of a result, which together raise at most one false alarm
 * of a drift in 100 results. */
void gpumc_series_estimate_among(const struct gpumc_series *series, uint64_t companions,
                                 struct gpumc_series_estimate *estimate);

/* Sets autocorrelation_time and time_error if a window can be found; otherwise leaves them. Part of
 * gpumc_series_estimate. */
void gpumc_series_find_time(const struct gpumc_series *series,
                            struct gpumc_series_estimate *estimate);

#endif
