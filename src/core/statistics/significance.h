/* Probabilities of deviations by chance, for flags with a stated rate of false alarms. */
#ifndef GPUMC_CORE_SIGNIFICANCE_H
#define GPUMC_CORE_SIGNIFICANCE_H

#include <stddef.h>

/* Bound on false alarms: all comparisons of one kind in a result raise one by chance in at most
 * this share of correct results. */
#define GPUMC_FALSE_ALARMS 0.01

/* Returns the probability that Student's t with `freedom` degrees of freedom is farther from 0 than
 * t; 0 for an infinite t, 1 for NaN, which is no evidence. */
double gpumc_student_tail(double t, double freedom);
/* Returns the probability that the ratio of two independent estimates of one variance exceeds
 * `ratio`, given the degrees of freedom of its numerator and its denominator. Infinity and NaN are
 * treated likewise. */
double gpumc_fisher_tail(double ratio, double numerator, double denominator);

/* Probability that the sum of squares of `freedom` independent Gaussians exceeds `chi_square`: the
 * upper incomplete gamma function, Q(freedom/2, chi_square/2). The same for infinity and NaN. */
double gpumc_chi_square_tail(double chi_square, double freedom);

/* ---- signs ---- */

/* Groups of samples whose signs are flipped together, so that there are at most 2^15
 * combinations. */
enum { GPUMC_FLIPS_GROUPS = 16, GPUMC_FLIPS_POOLS = 16 };

/* Products of the groups' differences, summed over the comparisons of a pool: pool[a][b]. */
struct gpumc_flips {
  size_t groups, pools;
  double pool[GPUMC_FLIPS_POOLS][GPUMC_FLIPS_GROUPS][GPUMC_FLIPS_GROUPS];
};

/* Returns the share of all sign flips, no flip included, under which the products of different
 * groups add up to at least as much, over their standard deviation and in the pool where this is
 * largest. If groups are independent and symmetric about zero, it is below p with probability at
 * most p, however the comparisons depend on each other. *strongest: the pool with the largest
 * sum. */
double gpumc_flips_chance(const struct gpumc_flips *flips, size_t *strongest);

#endif
