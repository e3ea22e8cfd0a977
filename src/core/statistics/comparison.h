/* Whether two estimates of one curve agree, as two results of one system should: differences in
 * error bars, and how probable such ones are by chance. */
#ifndef GPUMC_CORE_COMPARISON_H
#define GPUMC_CORE_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>

/* Points of two curves at the same values of a control, with standard errors; the two curves are
 * independent of each other. `independent`: so are the points of each. */
struct gpumc_curve_pair {
  size_t n;
  const double *a, *a_error, *b, *b_error;
  bool independent;
};

/* `points`: those with a difference, so many of `n`; of the others, `unknown` have an error (or a
 * value) that is not known (NaN), and the rest are known exactly and equal. `chi_square`: the sum
 * of squares of their differences, and `largest` the size of the largest of these, of point
 * `worst`. `identical`: all `n` values and errors are the same. `chance`: the probability that
 * curves which agree differ as much; 1 where nothing can be compared. */
struct gpumc_comparison {
  size_t points, unknown, worst;
  double chi_square, largest, chance;
  bool identical;
};

/* (a - b) over the error of that: infinite where both are exact and differ, 0 where they are exact
 * and equal, NaN where an error is not known. */
double gpumc_difference_in_errors(double a, double a_error, double b, double b_error);

/* Of independent points the chance is that of chi-square with `points` degrees of freedom. Of
 * others it is a bound that holds whatever their correlations are: twice the smaller of
 *   - the probability that the square of one Gaussian exceeds chi_square/points, which no sum of
 *     squares of Gaussians of that mean exceeds (Szekely and Bakirov, Probab. Theory Relat. Fields
 *     126, 184 (2003)), where it is below 0.215, else 1: for shifts of the whole curve;
 *   - `points` times the probability of the largest difference (Bonferroni): for single points. */
struct gpumc_comparison gpumc_compare_curves(const struct gpumc_curve_pair *pair);

#endif
