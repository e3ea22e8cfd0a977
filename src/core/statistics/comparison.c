/* Whether two estimates of one curve agree. */
#include "core/statistics/comparison.h"

#include <math.h>
#include <string.h>

#include "core/statistics/significance.h"

/* Below it the bound on sums of squares of correlated Gaussians holds (Szekely and Bakirov 2003).
 */
static const double bound_holds = 0.215;

double gpumc_difference_in_errors(double a, double a_error, double b, double b_error)
{
  const double error = hypot(a_error, b_error);
  if (error == 0)
    return a == b ? 0 : isnan(a - b) ? NAN : copysign(INFINITY, a - b);
  return (a - b) / error;
}

/* Bits that differ; one NaN is as good as another. */
static bool is_same(const double *one, const double *other, size_t n)
{
  bool same = true;
  for (size_t i = 0; i < n && same; i++)
    same = (isnan(one[i]) && isnan(other[i])) || memcmp(&one[i], &other[i], sizeof *one) == 0;
  return same;
}

static double chance_of(const struct gpumc_comparison *found, bool independent)
{
  const double points = (double)found->points;
  if (found->points == 0)
    return 1;
  if (independent || found->points == 1)
    return gpumc_chi_square_tail(found->chi_square, points);
  const double shift = gpumc_chi_square_tail(found->chi_square / points, 1);
  const double single = points * gpumc_chi_square_tail(found->largest * found->largest, 1);
  return fmin(1, 2 * fmin(shift < bound_holds ? shift : 1, single));
}

struct gpumc_comparison gpumc_compare_curves(const struct gpumc_curve_pair *pair)
{
  struct gpumc_comparison found = {.identical = is_same(pair->a, pair->b, pair->n) &&
                                                is_same(pair->a_error, pair->b_error, pair->n)};
  for (size_t i = 0; i < pair->n; i++) {
    const double difference =
        gpumc_difference_in_errors(pair->a[i], pair->a_error[i], pair->b[i], pair->b_error[i]);
    const bool exact = pair->a_error[i] == 0 && pair->b_error[i] == 0 && difference == 0;
    if (isnan(difference))
      found.unknown++;
    if (isnan(difference) || exact)
      continue;
    found.chi_square += difference * difference;
    if (found.points == 0 || fabs(difference) > found.largest) {
      found.largest = fabs(difference);
      found.worst = i;
    }
    found.points++;
  }
  found.chance = found.identical ? 1 : chance_of(&found, pair->independent);
  return found;
}
