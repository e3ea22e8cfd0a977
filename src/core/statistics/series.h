/* Time series of one observable: its mean with an honest error, while the values come.
 *
 * Logarithmic binning (Flyvbjerg and Petersen, J. Chem. Phys. 91, 461 (1989); Ambegaokar and
 * Troyer, Am. J. Phys. 78, 150 (2010)): level l holds bins of 2^l values, of which only their mean,
 * their squares and the squares of their successive differences are kept. Constant time a value,
 * fixed memory. Errors are from the bins; the autocorrelation time is from the products of bins
 * with those up to 15 before them (multiple-tau correlator: Ramirez, Sukumaran, Vorselaars and
 * Likhtman, J. Chem. Phys. 133, 154103 (2010)). Formulas: docs/statistics.md, "Time series". */
#ifndef GPUMC_CORE_SERIES_H
#define GPUMC_CORE_SERIES_H

#include <stdbool.h>
#include <stdint.h>

enum { GPUMC_SERIES_LEVELS = 40 }; /* bins of up to 2^39 values */
/* Pairs of bins at the beginning of a level whose fourth powers are kept apart: a transient is in
 * them and not in the others, where its length is that of a few bins. */
enum { GPUMC_SERIES_EARLY = 4 };
/* Levels whose bins are correlated, up to lags of 2^23 values, and lags of one level: 8 to 15 bins.
 * Shorter ones are those of the level below; of values, lags up to 7 are kept, too. */
enum { GPUMC_SERIES_CORRELATED = 20, GPUMC_SERIES_LAGS = 8 };
enum { GPUMC_SERIES_BLOCK = 16 }; /* bins that are multiplied at a time; beyond every lag */

/* The bins of a level that are complete; `pairs`: how many of them have a predecessor. Of merged
 * series, squares, differences and fourth powers are those within each, added up. */
struct gpumc_series_level {
  uint64_t bins, pairs;
  double mean;
  double squares;     /* sum of (bin - mean of its series)^2 */
  double differences; /* sum of (bin - predecessor)^2 */
  double early;       /* sum of (bin - predecessor)^4 over the first GPUMC_SERIES_EARLY pairs */
  double fourths;     /* the same over all later ones */
  double first;       /* the first bin; of merged series their mean, NaN where one has none */
  double last;        /* the latest bin */
};

/* Products of bins with earlier ones, less the reference, at GPUMC_SERIES_LAGS successive lags.
 * `ends`: of one series the sum of its first bins, as many as the lag; of merged ones the sum of
 * both factors over all products. */
struct gpumc_series_lags {
  double product[GPUMC_SERIES_LAGS];
  double ends[GPUMC_SERIES_LAGS];
};

/* Zero-initialise. Plain data of 8-byte numbers, GPUMC_SERIES_WORDS in all, so that a checkpoint
 * holds it as an array of uint64 and gives back the same bits. */
struct gpumc_series {
  struct gpumc_series_level level[GPUMC_SERIES_LEVELS];
  uint64_t merged; /* independent series in it, 0 while it is empty */
  double between;  /* sum over the values of (mean of its series - mean of all)^2 */
  /* Independent numbers (replicas) that each value is the mean of; 0 counts as 1. Nothing but
   * gpumc_series_estimate() looks at it: rounding grows with it, and so does how Gaussian a value
   * is. */
  uint64_t members;
  /* [0]: values at lags 0 to 7; [l + 1]: bins of level l at lags 8 to 15. */
  struct gpumc_series_lags lags[GPUMC_SERIES_CORRELATED + 1];
  /* Latest bins of each level, less the reference, the last first: from GPUMC_SERIES_BLOCK less
   * (their number modulo it) on. Those before GPUMC_SERIES_BLOCK are not in the products yet. */
  double recent[GPUMC_SERIES_CORRELATED][2 * GPUMC_SERIES_BLOCK];
  double reference;  /* the first value; of merged series that of the first of them */
  uint64_t shortest; /* values in the shortest of the merged series; 0 of one alone */
};
enum { GPUMC_SERIES_WORDS = sizeof(struct gpumc_series) / 8 };

void gpumc_series_add(struct gpumc_series *series, double value);
/* Put an independent series of the same observable (another replica) to this one; afterwards it
 * can be merged and estimated, but takes no more values. */
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

/* What could not be determined is NaN: everything of an empty series, the variance of one value,
 * error and time of fewer than four (unless the scatter of merged series gives them), and of
 * values that differ by no more than their rounding. */
struct gpumc_series_estimate {
  uint64_t count;
  double mean;
  double variance;         /* of one value; unbiased for correlated ones too */
  double error;            /* of the mean: error^2 = 2 bin_time variance / count */
  double freedom;          /* approximate degrees of freedom of error^2, by the number of bins */
  double observed_freedom; /* as their kurtosis limits them: two for each rare event */
  double bin_time;         /* tau by the bins, which the error is formed with */
  double autocorrelation_time; /* tau: 1/2 + sum of rho(t) over t >= 1, in measurements */
  double time_error;        /* standard error of tau; NaN where values are taken for independent */
  double effective_samples; /* count / (2 tau) */
  uint64_t bin_length;      /* of the level that was chosen */
  uint64_t
      bins; /* that give the error; 0: no level is long enough, or the merged series disagree */
  /* How much the beginning is higher than the rest, as a normal deviate: that of the most
   * significant of the windows of the first 1, 2, 4 ... values of every merged series. NaN where
   * no window is long enough. */
  double drift;
  uint64_t drift_length; /* of that window */
  bool drifts; /* beyond 4.5, and what chance explains in one of 100 results with as many series */
  uint64_t companions; /* series that the result has, this one included */
  /* 32 such bins, 500 tau in all by their level and by those below, enough observed freedom, and
   * no drift. */
  bool converged;
  enum gpumc_series_doubt doubt; /* the last of them that holds; of a converged series none */
};
/* Whether all values are alike but for their rounding. */
bool gpumc_series_is_constant(const struct gpumc_series *series);
void gpumc_series_estimate(const struct gpumc_series *series,
                           struct gpumc_series_estimate *estimate);
/* The same for one of so many series of a result, which together raise one false alarm of a drift
 * in 100 results at most. */
void gpumc_series_estimate_among(const struct gpumc_series *series, uint64_t companions,
                                 struct gpumc_series_estimate *estimate);

/* Sets autocorrelation_time and time_error, where a window can be found; else they stay: a part of
 * gpumc_series_estimate. */
void gpumc_series_find_time(const struct gpumc_series *series,
                            struct gpumc_series_estimate *estimate);

#endif
