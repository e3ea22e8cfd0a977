/* exp, log, cos and sin with the same bits on every host and device: explicit fma, no library, no
 * tables.
 *
 * They decide weights, temperatures, thresholds and waves, so that they must not depend on the C
 * library or its choice of instructions. Error bounds, tested against long double: exp below 1 ulp
 * for -700 <= x <= 700, log below 1 ulp for positive normal numbers, cos and sin below 2^-52. */
#ifndef GPUMC_CORE_ELEMENTARY_H
#define GPUMC_CORE_ELEMENTARY_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/numerics/host_device.h"

/* ln 2 in two parts; the first has 16 trailing zero bits, so that k * GPUMC_LN2_HIGH is exact. */
#define GPUMC_LN2_HIGH 0x1.62e42fefap-1
#define GPUMC_LN2_LOW 0x1.cf79abc9e3b3ap-40
#define GPUMC_LN2 0x1.62e42fefa39efp-1
#define GPUMC_PI 0x1.921fb54442d18p+1
#define GPUMC_INVERSE_LN2 0x1.71547652b82fep0

/* 2^exponent for -1022 <= exponent <= 1023. */
GPUMC_HOST_DEVICE static inline double gpumc_power_of_two(int exponent)
{
  uint64_t bits = (uint64_t)(exponent + 1023) << 52;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* The range in which gpumc_exp_within is e^x. */
#define GPUMC_EXP_LOWEST (-708.0)
#define GPUMC_EXP_HIGHEST 709.0

/* Returns e^r - 1, |r| <= ln(2)/2, including what r lost by rounding: the Taylor series of degree
 * 13 by Horner's rule (truncation below 2^-58), small parts summed first. */
GPUMC_HOST_DEVICE static inline double gpumc_exp_series(double r, double r_low)
{
  double p = 1.0 / 6227020800.0;
  p = fma(p, r, 1.0 / 479001600.0);
  p = fma(p, r, 1.0 / 39916800.0);
  p = fma(p, r, 1.0 / 3628800.0);
  p = fma(p, r, 1.0 / 362880.0);
  p = fma(p, r, 1.0 / 40320.0);
  p = fma(p, r, 1.0 / 5040.0);
  p = fma(p, r, 1.0 / 720.0);
  p = fma(p, r, 1.0 / 120.0);
  p = fma(p, r, 1.0 / 24.0);
  p = fma(p, r, 1.0 / 6.0);
  p = fma(p, r, 0.5);
  return fma(p * r, r, r_low) + r;
}

/* e^x without a branch, by argument reduction to |r| <= ln(2)/2. */
GPUMC_HOST_DEVICE static inline double gpumc_exp_within(double x)
{
  double k = rint(x * GPUMC_INVERSE_LN2);
  double r_high = fma(-k, GPUMC_LN2_HIGH, x);
  double r = fma(-k, GPUMC_LN2_LOW, r_high);
  double r_low = fma(-k, GPUMC_LN2_LOW, r_high - r); /* what r lost by rounding */
  double p = gpumc_exp_series(r, r_low);
  int exponent = (int)k;
  /* 2^1024 is out of range for one factor. */
  int half = exponent / 2;
  return (1.0 + p) * gpumc_power_of_two(half) * gpumc_power_of_two(exponent - half);
}

/* e^x; 0 below GPUMC_EXP_LOWEST, +infinity above GPUMC_EXP_HIGHEST. */
GPUMC_HOST_DEVICE static inline double gpumc_exp(double x)
{
  if (!(x >= GPUMC_EXP_LOWEST))
    return x != x ? x : 0.0;
  return x > GPUMC_EXP_HIGHEST ? (double)INFINITY : gpumc_exp_within(x);
}

/* k ln 2 + ln(1 + f) for whole k and sqrt(1/2) <= 1 + f <= sqrt(2): ln(1 + f) = 2 atanh(s), s = f /
 * (2 + f), by its series up to s^25 (truncation below 2^-62). */
GPUMC_HOST_DEVICE static inline double gpumc_log_series(double k, double f)
{
  double s = f / (2.0 + f);
  double z = s * s;
  double p = 2.0 / 25.0;
  p = fma(p, z, 2.0 / 23.0);
  p = fma(p, z, 2.0 / 21.0);
  p = fma(p, z, 2.0 / 19.0);
  p = fma(p, z, 2.0 / 17.0);
  p = fma(p, z, 2.0 / 15.0);
  p = fma(p, z, 2.0 / 13.0);
  p = fma(p, z, 2.0 / 11.0);
  p = fma(p, z, 2.0 / 9.0);
  p = fma(p, z, 2.0 / 7.0);
  p = fma(p, z, 2.0 / 5.0);
  p = fma(p, z, 2.0 / 3.0);
  /* ln(1 + f) = f - s (f - z p), which keeps the leading term exact (f = 2s + sf). */
  double tail = fma(k, GPUMC_LN2_LOW, -s * fma(-z, p, f));
  return fma(k, GPUMC_LN2_HIGH, f + tail);
}

/* ln x for positive normal x; -infinity at 0, NaN below. x = 2^k m, m in [sqrt(1/2), sqrt(2)). */
GPUMC_HOST_DEVICE static inline double gpumc_log(double x)
{
  if (x == 0.0)
    return -(double)INFINITY;
  if (!(x > 0.0) || x > 1.7976931348623157e308)
    return x > 0.0 ? x : (double)NAN;
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int exponent = (int)(bits >> 52) - 1023;
  bits = (bits & 0xfffffffffffffu) | 0x3ff0000000000000u;
  double m;
  memcpy(&m, &bits, sizeof m);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    exponent++;
  }
  return gpumc_log_series((double)exponent, m - 1.0);
}

/* cos a and sin a, |a| <= pi/4, by the Taylor series of degree 16 and 17 (truncation below 2^-58).
 */
GPUMC_HOST_DEVICE static inline void gpumc_circle_series(double a, double *cosine, double *sine)
{
  double z = a * a;
  double c = 1.0 / 20922789888000.0;
  c = fma(c, z, -1.0 / 87178291200.0);
  c = fma(c, z, 1.0 / 479001600.0);
  c = fma(c, z, -1.0 / 3628800.0);
  c = fma(c, z, 1.0 / 40320.0);
  c = fma(c, z, -1.0 / 720.0);
  c = fma(c, z, 1.0 / 24.0);
  c = fma(c, z, -0.5);
  *cosine = fma(c, z, 1.0);
  double s = 1.0 / 355687428096000.0;
  s = fma(s, z, -1.0 / 1307674368000.0);
  s = fma(s, z, 1.0 / 6227020800.0);
  s = fma(s, z, -1.0 / 39916800.0);
  s = fma(s, z, 1.0 / 362880.0);
  s = fma(s, z, -1.0 / 5040.0);
  s = fma(s, z, 1.0 / 120.0);
  s = fma(s, z, -1.0 / 6.0);
  *sine = fma(s * z, a, a);
}

/* Computes cos and sin of the angle `part` / `steps` of an eighth of the circle after eighth number
 * `eighth`; 0 <= part < steps, whole numbers. */
GPUMC_HOST_DEVICE static inline void
gpumc_circle_in(uint32_t eighth, double part, double steps, double *cosine, double *sine)
{
  if (eighth % 2 == 1)
    part = steps - part;
  double c, s;
  gpumc_circle_series(0.25 * GPUMC_PI * part / steps, &c, &s);
  /* The odd eighths count back from the end of their quarter. */
  uint32_t quarter = eighth / 2;
  double x = eighth % 2 == 1 ? s : c, y = eighth % 2 == 1 ? c : s;
  *cosine = quarter == 0 ? x : quarter == 1 ? -y : quarter == 2 ? -x : y;
  *sine = quarter == 0 ? y : quarter == 1 ? x : quarter == 2 ? -y : -x;
}

/* cos and sin of 2 pi step / steps, step < steps < 2^29. Finds the eighth of the circle and the
 * angle in it, 0 <= a <= pi/4, in whole numbers. */
GPUMC_HOST_DEVICE static inline void
gpumc_circle(uint32_t step, uint32_t steps, double *cosine, double *sine)
{
  const uint32_t eighth = 8 * step / steps;
  gpumc_circle_in(eighth, (double)(8 * step - eighth * steps), (double)steps, cosine, sine);
}

/* The same for 0 <= step < steps < 2^50. */
GPUMC_HOST_DEVICE static inline void
gpumc_fine_circle(int64_t step, int64_t steps, double *cosine, double *sine)
{
  const int64_t eighth = 8 * step / steps;
  gpumc_circle_in((uint32_t)eighth, (double)(8 * step - eighth * steps), (double)steps, cosine,
                  sine);
}

#endif
