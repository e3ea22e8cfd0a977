/* Values and standard errors of functions of means: the one estimator of all algorithms.
 *
 * The data come in replicates, blocks that are independent of each other: groups of copies, runs,
 * samples of the disorder, bins of time, chains. Leaving out each block in turn is a jackknife of
 * any function of the means (Efron 1982). If the same data fall into replicates in two independent
 * ways, such as bins of time and chains, two variances are pooled. */
#ifndef GPUMC_CORE_ESTIMATE_H
#define GPUMC_CORE_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

/* ---- variances and errors ---- */

/* A variance and its degrees of freedom; 0: undetermined. */
struct gpumc_variance {
  double value;
  double freedom;
};

/* Returns the variance of an estimate from its leave-one-out values (Efron 1982), the data in
 * strata of n blocks each, one block left out at a time: leave_one_out[strata][n]. With d the
 * deviations from the mean of their stratum it is (n-1)/n sum d^2. Degrees of freedom strata (n -
 * 1), or fewer when few of the d dominate: 3 (sum d^2)^2 / sum d^4, which is their number for
 * Gaussian d and about 3 k where k of many blocks saw a rare event. Both 0, undetermined, for n < 2
 * and if the d are rounding errors: of numbers whose arithmetic has the absolute error `rounding`
 * (gpumc_rounding). */
struct gpumc_variance
gpumc_jackknife_of(const double *leave_one_out, size_t strata, size_t n, double rounding);
/* The same for numbers that are sums of as many terms as there are blocks, all of one sign. */
struct gpumc_variance gpumc_jackknife(const double *leave_one_out, size_t strata, size_t n);

/* Returns the largest rounding error of a sum of `terms` terms whose absolute values add up to
 * `scale`, and of a few further operations. */
double gpumc_rounding(double terms, double scale);

/* Returns the standard error from two independent estimates of the same variance, weighted by their
 * degrees of freedom, nu in all, times sqrt(nu/(nu - 2)). The deviation over an error with nu
 * degrees of freedom follows Student's t, and this factor is its standard deviation, so over the
 * reported error the variance is 1. NaN, unknown, for nu <= 2. */
double gpumc_pooled_error(struct gpumc_variance a, struct gpumc_variance b);

/* Returns the number of equal blocks that scatter as much as n blocks of these sizes: (sum)^2 / sum
 * of squares. */
double gpumc_effective_blocks(const double *sizes, size_t n);

/* ---- the estimator ---- */

enum { GPUMC_REPLICATES_MAXIMUM = 2 };

/* One way to divide data into strata of equally many blocks, one block left out at a time. */
struct gpumc_replicates {
  size_t strata, blocks;
  const double *without; /* [strata][blocks][width] means without each block */
  /* [strata][blocks] the factor by which a result moves further without a block (gpumc_stretch),
   * from mean[width] of all blocks; NULL: 1 */
  const double *stretch, *mean;
  double freedom; /* degrees of freedom of an error at most; INFINITY: as many as the blocks
                   * allow */
};

/* How results follow from means. Functions receive `state`. */
struct gpumc_estimator {
  size_t width, n_results; /* number of means, number of results */
  const void *state;
  /* NULL: the results are the means. */
  void (*results)(const void *state, const double *mean, double *result);
  /* Computes rounding[n_results], the rounding errors of the results' arithmetic (gpumc_rounding).
   * NULL: results are sums of as many terms as there are blocks. */
  void (*roundings)(const void *state, const double *mean, double *rounding);
  /* Returns whether a result is known without any data and so has no error. NULL: none is. */
  bool (*is_known)(const void *state, size_t result);
};

/* Computes value[n_results] from `mean`[width] of all data, error_of[n_results], NaN if unknown,
 * and, unless NULL, the variance[n_of][n_results] that went into it. n_of <=
 * GPUMC_REPLICATES_MAXIMUM. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_estimate(const struct gpumc_estimator *estimator, const double *mean,
               const struct gpumc_replicates *of, size_t n_of, double *value, double *error_of,
               struct gpumc_variance *variance, struct gpumc_error *error);

/* Computes without[blocks][width], the means without each block, and mean[width] of all blocks,
 * from sums[blocks][width] over the blocks, which are divided by the sum of weight[blocks]; NULL:
 * each counts as 1. */
void gpumc_leave_one_out(const double *sums, const double *weight, size_t blocks, size_t width,
                         double *mean, double *without);
/* Leaving out one of h equal parts moves a mean by 1/(h - 1) of its deviation. A block with the
 * share weight[b] of all is left out with an h of its own: scaled by stretch[blocks], the jackknife
 * of equal blocks holds (Busing, Meijer and van der Leeden, Stat. Comput. 9, 3 (1999)). */
void gpumc_stretch(const double *weight, size_t blocks, double *stretch);

#endif
