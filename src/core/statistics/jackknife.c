/* Jackknife errors. */
#include "core/statistics/jackknife.h"

#include <float.h>
#include <math.h>

/* Operations on a sum: a difference, a quotient, powers, the elementary functions. */
static const double further_operations = 16;

double gpumc_rounding(double terms, double scale)
{
  return DBL_EPSILON * (terms + further_operations) * fabs(scale);
}

static double largest_of(const double *values, size_t n)
{
  double largest = 0;
  for (size_t i = 0; i < n; i++)
    largest = fmax(largest, fabs(values[i]));
  return largest;
}

struct gpumc_variance gpumc_jackknife(const double *leave_one_out, size_t strata, size_t n)
{
  const size_t count = strata * n;
  return gpumc_jackknife_of(leave_one_out, strata, n,
                            gpumc_rounding((double)count, largest_of(leave_one_out, count)));
}

struct gpumc_variance
gpumc_jackknife_of(const double *leave_one_out, size_t strata, size_t n, double rounding)
{
  struct gpumc_variance variance = {0, 0};
  double squares = 0;
  double fourths = 0;
  if (n < 2)
    return variance;
  for (size_t s = 0; s < strata; s++) {
    const double *theta = leave_one_out + s * n;
    double mean = 0;
    for (size_t i = 0; i < n; i++)
      mean += theta[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
      double square = (theta[i] - mean) * (theta[i] - mean);
      squares += square;
      fourths += square * square;
    }
  }
  if (squares <= (double)(strata * n) * rounding * rounding)
    return variance;
  variance.value = squares * ((double)n - 1) / (double)n;
  variance.freedom = (double)strata * ((double)n - 1);
  if (fourths > 0)
    variance.freedom = fmin(variance.freedom, 3 * squares * squares / fourths);
  return variance;
}

double gpumc_pooled_error(struct gpumc_variance a, struct gpumc_variance b)
{
  double freedom = a.freedom + b.freedom;
  if (!(freedom > 2))
    return NAN;
  return sqrt((a.freedom * a.value + b.freedom * b.value) / (freedom - 2));
}

double gpumc_effective_blocks(const double *sizes, size_t n)
{
  double sum = 0;
  double squares = 0;
  for (size_t i = 0; i < n; i++) {
    sum += sizes[i];
    squares += sizes[i] * sizes[i];
  }
  return squares > 0 ? sum * sum / squares : 0;
}
