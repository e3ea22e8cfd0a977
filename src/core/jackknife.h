/* Jackknife errors, and one error from two estimates of the same variance. */
#ifndef GPUMC_CORE_JACKKNIFE_H
#define GPUMC_CORE_JACKKNIFE_H

#include <stddef.h>

/* A variance with the number of degrees of freedom that stand behind it. */
struct gpumc_variance {
  double value;
  double freedom;
};

/* Variance of an estimate from its n leave-one-out values (Efron 1982):
 * (n-1)/n sum_i (theta_(i) - mean)^2. Degrees of freedom n - 1; value 0 and freedom 0 for n < 2. */
struct gpumc_variance gpumc_jackknife(const double *leave_one_out, size_t n);

/* Standard error from two independent estimates of the same variance, weighted by their degrees of
 * freedom; NaN when neither has any. */
double gpumc_pooled_error(struct gpumc_variance a, struct gpumc_variance b);

/* Number of equal blocks that scatter as n blocks of these sizes do: (sum)^2 / sum of squares. */
double gpumc_effective_blocks(const double *sizes, size_t n);

#endif
