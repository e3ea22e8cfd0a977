/* Probabilities of deviations by chance: the incomplete beta function. */
#include "core/statistics/significance.h"

#include <math.h>

enum { TERMS_MAXIMUM = 10000 };

/* Lentz's continued fraction of I_x(a, b) (Press et al., Numerical Recipes, section 6.4), fast for
 * x < (a + 1)/(a + b + 2). */
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
