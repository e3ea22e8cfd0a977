/* Values and standard errors of what follows from means: the one estimator of all algorithms.
 *
 * The data come in replicates, blocks that are independent of each other: groups of copies,
 * runs, samples of the disorder, bins of the time, chains. Leaving one block out after the other is
 * a jackknife of any function of the means (Efron 1982). Where the same data fall into replicates
 * in two ways that are independent, as bins of the time and chains, two variances are pooled. */
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

/* Variance of an estimate from its leave-one-out values (Efron 1982), the data in strata of n
 * blocks each, one block left out at a time: leave_one_out[strata][n]. With d the deviations from
 * the mean of their stratum it is (n-1)/n sum d^2. Degrees of freedom strata (n - 1), or fewer when
 * few of the d dominate: 3 (sum d^2)^2 / sum d^4, which is their number for Gaussian d and about 3
 * k where k of many blocks saw a rare event. Both 0, undetermined, for n < 2 and where the d are
 * rounding: of numbers whose arithmetic has the absolute error `rounding` (gpumc_rounding). */
struct gpumc_variance
gpumc_jackknife_of(const double *leave_one_out, size_t strata, size_t n, double rounding);
/* The same, the numbers being sums of as many terms as there are blocks, of one sign. */
struct gpumc_variance gpumc_jackknife(const double *leave_one_out, size_t strata, size_t n);

/* Largest rounding error of a sum of `terms` terms whose absolute values add up to `scale`, and of
 * a few further operations. */
double gpumc_rounding(double terms, double scale);

/* Standard error from two independent estimates of the same variance, weighted by their degrees of
 * freedom, nu in all, times sqrt(nu/(nu - 2)): a deviation over an error from nu degrees of freedom
 * follows Student's t, whose variance that is, so that over the reported error it is 1. NaN,
 * unknown, for nu <= 2. */
double gpumc_pooled_error(struct gpumc_variance a, struct gpumc_variance b);

/* Number of equal blocks that scatter as n blocks of these sizes do: (sum)^2 / sum of squares. */
double gpumc_effective_blocks(const double *sizes, size_t n);

/* ---- the estimator ---- */

enum { GPUMC_REPLICATES_MAXIMUM = 2 };

/* One way in which data fall into strata of as many blocks each, one block left out at a time. */
struct gpumc_replicates {
  size_t strata, blocks;
  const double *without; /* [strata][blocks][width] the means without each block */
  /* [strata][blocks] how much further than it did a result moves without a block (gpumc_stretch),
   * from that of all blocks, mean[width]; NULL: as it did. */
  const double *stretch, *mean;
  double freedom; /* at most, of an error; INFINITY: as many as the blocks allow */
};

/* How results follow from means. Functions get `state`. */
struct gpumc_estimator {
  size_t width, n_results; /* of the means, of the results */
  const void *state;
  /* NULL: the results are the means. */
  void (*results)(const void *state, const double *mean, double *result);
  /* rounding[n_results]: of the arithmetic of the results (gpumc_rounding). NULL: results are sums
   * of as many terms as there are blocks. */
  void (*roundings)(const void *state, const double *mean, double *rounding);
  /* Whether a result is known without any data, so that it has no error. NULL: none is. */
  bool (*is_known)(const void *state, size_t result);
};

/* From `mean`[width] of all data value[n_results] and error_of[n_results], NaN where it is unknown;
 * unless NULL, variance[n_of][n_results] that went into it. n_of <= GPUMC_REPLICATES_MAXIMUM. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_estimate(const struct gpumc_estimator *estimator, const double *mean,
               const struct gpumc_replicates *of, size_t n_of, double *value, double *error_of,
               struct gpumc_variance *variance, struct gpumc_error *error);

/* without[blocks][width]: the means without each block, from sums[blocks][width] over the blocks
 * that are to be divided by the sum of weight[blocks]; NULL: each counts as 1. mean[width]: of all
 * blocks. */
void gpumc_leave_one_out(const double *sums, const double *weight, size_t blocks, size_t width,
                         double *mean, double *without);
/* Leaving out one of h equal parts moves a mean by 1/(h - 1) of its deviation. A block that is no
 * such part, but weight[b] of all, is left out with its own h: scaled by stretch[blocks], the
 * jackknife of equal blocks holds (Busing, Meijer and van der Leeden, Stat. Comput. 9, 3 (1999)).
 */
void gpumc_stretch(const double *weight, size_t blocks, double *stretch);

#endif
