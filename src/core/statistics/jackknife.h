/* Jackknife errors, and one error from two estimates of the same variance. */
#ifndef GPUMC_CORE_JACKKNIFE_H
#define GPUMC_CORE_JACKKNIFE_H

#include <stddef.h>

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

#endif
