/* Probabilities of deviations by chance: the incomplete beta and gamma functions. */
#include "core/statistics/significance.h"

#include <math.h>
#include <stdint.h>

enum { TERMS_MAXIMUM = 10000 };

/* Evaluates Lentz's continued fraction of I_x(a, b) (Press et al., Numerical Recipes, section 6.4),
 * fast for x < (a + 1)/(a + b + 2). */
static double continued_fraction(double a, double b, double x)
{
  const double smallest = 1e-300, enough = 1e-14;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (fabs(d) < smallest ? smallest : d);
  double fraction = d;
  for (int m = 1; m <= TERMS_MAXIMUM; m++) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double factor = 1;
    const double terms[2] = {even, odd};
    for (int i = 0; i < 2; i++) {
      d = 1 + terms[i] * d;
      d = 1 / (fabs(d) < smallest ? smallest : d);
      c = 1 + terms[i] / c;
      c = fabs(c) < smallest ? smallest : c;
      factor = c * d;
      fraction *= factor;
    }
    if (fabs(factor - 1) < enough)
      break;
  }
  return fraction;
}

/* I_x(a, b), with y = 1 - x. */
static double incomplete_beta(double a, double b, double x, double y)
{
  if (x <= 0 || y <= 0)
    return x <= 0 ? 0 : 1;
  const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));
  return x < (a + 1) / (a + b + 2) ? front * continued_fraction(a, b, x) / a
                                   : 1 - front * continued_fraction(b, a, y) / b;
}

double gpumc_student_tail(double t, double freedom)
{
  if (isnan(t) || !(freedom > 0))
    return 1;
  if (isinf(t))
    return 0;
  const double whole = freedom + t * t;
  return incomplete_beta(freedom / 2, 0.5, freedom / whole, t * t / whole);
}

double gpumc_fisher_tail(double ratio, double numerator, double denominator)
{
  if (isnan(ratio) || !(numerator > 0) || !(denominator > 0))
    return 1;
  if (isinf(ratio))
    return 0;
  const double whole = denominator + numerator * ratio;
  return incomplete_beta(denominator / 2, numerator / 2, denominator / whole,
                         numerator * ratio / whole);
}

/* Q(a, x) = 1 - P(a, x) by the series of P for small x, else by Lentz's continued fraction (Press
 * et al., Numerical Recipes, section 6.2). */
static double upper_gamma(double a, double x)
{
  const double smallest = 1e-300, enough = 1e-15;
  const double front = exp(a * log(x) - x - lgamma(a));
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (int n = 1; n <= TERMS_MAXIMUM * 10 && fabs(term) > enough * fabs(sum); n++) {
      term *= x / (a + n);
      sum += term;
    }
    return 1 - front * sum;
  }
  double b = x + 1 - a, c = 1 / smallest, d = 1 / b, fraction = d;
  for (int n = 1; n <= TERMS_MAXIMUM * 10; n++) {
    const double an = -n * (n - a);
    b += 2;
    d = an * d + b;
    d = 1 / (fabs(d) < smallest ? smallest : d);
    c = b + an / c;
    c = fabs(c) < smallest ? smallest : c;
    fraction *= c * d;
    if (fabs(c * d - 1) < enough)
      break;
  }
  return front * fraction;
}

double gpumc_chi_square_tail(double chi_square, double freedom)
{
  if (isnan(chi_square) || !(freedom > 0) || chi_square <= 0)
    return 1;
  return isinf(chi_square) ? 0 : upper_gamma(freedom / 2, chi_square / 2);
}

/* ---- a test of differences whose mean should be zero, by the signs that they might as well have
 * ---- */

enum { GROUPS = GPUMC_FLIPS_GROUPS };
/* Sums closer than this, in standard deviations, are equal up to rounding. */
static const double equal = 1e-9;

/* One pool: the sum of products of different groups, with their signs, the part that each group
 * contributes, and its standard deviation over all signs. */
struct sum {
  double value, part[GROUPS], deviation;
};

static struct sum sum_of(const struct gpumc_flips *flips, size_t p)
{
  struct sum sum = {0, {0}, 0};
  double squares = 0;
  for (size_t a = 0; a < flips->groups; a++)
    for (size_t b = 0; b < flips->groups; b++)
      if (b != a) {
        sum.part[a] += flips->pool[p][a][b];
        squares += flips->pool[p][a][b] * flips->pool[p][a][b];
      }
  for (size_t a = 0; a < flips->groups; a++)
    sum.value += sum.part[a];
  sum.deviation = sqrt(2 * squares);
  return sum;
}

static void
flip(const struct gpumc_flips *flips, size_t p, size_t a, const double *sign, struct sum *sum)
{
  sum->value -= 4 * sign[a] * sum->part[a];
  for (size_t b = 0; b < flips->groups; b++)
    if (b != a)
      sum->part[b] -= 2 * sign[a] * flips->pool[p][b][a];
}

static double largest_of(const struct sum *sums, size_t pools, size_t *strongest)
{
  double largest = -INFINITY;
  for (size_t p = 0; p < pools; p++) {
    const double value = sums[p].deviation > 0 ? sums[p].value / sums[p].deviation : -INFINITY;
    if (value > largest) {
      largest = value;
      *strongest = p;
    }
  }
  return largest;
}

double gpumc_flips_chance(const struct gpumc_flips *flips, size_t *strongest)
{
  struct sum sums[GPUMC_FLIPS_POOLS];
  double sign[GROUPS];
  size_t pool;
  for (size_t a = 0; a < GROUPS; a++)
    sign[a] = 1;
  for (size_t p = 0; p < flips->pools; p++)
    sums[p] = sum_of(flips, p);
  *strongest = 0;
  const double found = largest_of(sums, flips->pools, strongest);
  if (isinf(found))
    return 1;
  const uint32_t ways = (uint32_t)1 << (flips->groups - 1);
  uint32_t as_many = 1;
  for (uint32_t way = 1; way < ways; way++) {
    size_t a = 0;
    while ((way >> a & 1) == 0)
      a++;
    for (size_t p = 0; p < flips->pools; p++)
      flip(flips, p, a, sign, &sums[p]);
    sign[a] = -sign[a];
    as_many += largest_of(sums, flips->pools, &pool) >= found - equal;
  }
  return (double)as_many / ways;
}
