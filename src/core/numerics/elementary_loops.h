/* Elementary functions without branches, in double and in float, for loops that compilers turn into
 * vectors: the same bits in every lane, on every host and device, as in elementary.h.
 *
 * Their arguments are those needed for drawing random numbers, so no cases have to be
 * distinguished: angles as a part of a turn, decaying exponentials, logarithms of probabilities.
 *
 * Errors, tested against long double, in units in the last place of the result: `decay` and
 * `log_of` below 2, for x from GPUMC_DECAY_LOWEST to 1; cosine and sine of `turn` below one unit of
 * 1, 2^-52 or 2^-23. Names end in the precision, for headers that are written once for both. */
#ifndef GPUMC_CORE_ELEMENTARY_LOOPS_H
#define GPUMC_CORE_ELEMENTARY_LOOPS_H

#include "core/numerics/elementary.h"

/* Below this e^x is too small to matter, and a float can still hold it. */
#define GPUMC_DECAY_LOWEST (-80.0)

/* The bits of sqrt(1/2), where the range of a mantissa begins. */
#define GPUMC_ROOT_HALF_DOUBLE 0x3fe6a09e667f3bcdu
#define GPUMC_ROOT_HALF_FLOAT 0x3f3504f3u
/* ln 2 in two parts for float; the first has 9 trailing zero bits. */
#define GPUMC_LN2_HIGH_FLOAT 0x1.62e4p-1f
#define GPUMC_LN2_LOW_FLOAT 0x1.7f7d1cp-20f
/* 1.5 * 2^23, and the bits of 1. */
#define GPUMC_WHOLE_FLOAT 0x1.8p23f
#define GPUMC_ONE_FLOAT 0x3f800000u

/* ---- quotients and roots of float ---- */

/* The IEEE 754 results for arguments like these: x is 0 or 2^-90 <= |x| <= 2^120, likewise |y| and
 * |x / y| without the 0, and y > 0 if x is 0. CUDA's own division and root branch for all other
 * arguments. They end with the nearest number by these same steps, which start from the GPU's
 * approximation. */
#ifdef __CUDA_ARCH__
GPUMC_HOST_DEVICE static inline float gpumc_reciprocal_float(float x)
{
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return fmaf(r, fmaf(-x, r, 1.0f), r);
}
GPUMC_HOST_DEVICE static inline float gpumc_quotient_float(float x, float y)
{
  const float r = gpumc_reciprocal_float(y);
  /* With these signs a zero keeps its own, over a positive y. */
  float q = x * r;
  q = fmaf(-r, fmaf(y, q, -x), q);
  return fmaf(-r, fmaf(y, q, -x), q);
}
GPUMC_HOST_DEVICE static inline float gpumc_positive_root_float(float x)
{
  float r;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  const float root = x * r;
  return fmaf(fmaf(-root, root, x), 0.5f * r, root);
}
#else
GPUMC_HOST_DEVICE static inline float gpumc_reciprocal_float(float x)
{
  return 1.0f / x;
}
GPUMC_HOST_DEVICE static inline float gpumc_quotient_float(float x, float y)
{
  return x / y;
}
GPUMC_HOST_DEVICE static inline float gpumc_positive_root_float(float x)
{
  return sqrtf(x);
}
#endif

GPUMC_HOST_DEVICE static inline float gpumc_root_float(float x)
{
#ifdef __CUDA_ARCH__
  if (x == 0.0f)
    return x; /* its inverse root is infinite */
#endif
  return gpumc_positive_root_float(x);
}

/* ---- cos and sin of a part of a turn ---- */

/* Finds the nearest quarter of turn / 2^32 of the circle, and the rest of the angle, in units of 2
 * pi / 2^34 between -2^31 and 2^31. */
GPUMC_HOST_DEVICE static inline uint32_t gpumc_turn_quarter(uint32_t turn, int32_t *rest)
{
  *rest = (int32_t)(turn << 2);
  return (turn + (UINT32_C(1) << 29)) >> 30;
}

/* cos and sin of 2 pi turn / 2^32. */
GPUMC_HOST_DEVICE static inline void gpumc_turn_double(uint32_t turn, double *cosine, double *sine)
{
  int32_t rest;
  double c, s;
  const uint32_t quarter = gpumc_turn_quarter(turn, &rest);
  gpumc_circle_series((double)rest * (GPUMC_PI * 0x1p-33), &c, &s);
  const double x = (quarter & 1) != 0 ? s : c, y = (quarter & 1) != 0 ? c : s;
  *cosine = ((quarter + 1) & 2) != 0 ? -x : x;
  *sine = (quarter & 2) != 0 ? -y : y;
}

GPUMC_HOST_DEVICE static inline void gpumc_turn_float(uint32_t turn, float *cosine, float *sine)
{
  int32_t rest;
  const uint32_t quarter = gpumc_turn_quarter(turn, &rest);
  const float a = (float)rest * (float)(GPUMC_PI * 0x1p-33), z = a * a;
  float c = 1.0f / 40320.0f;
  c = fmaf(c, z, -1.0f / 720.0f);
  c = fmaf(c, z, 1.0f / 24.0f);
  c = fmaf(c, z, -0.5f);
  c = fmaf(c, z, 1.0f);
  float s = 1.0f / 362880.0f;
  s = fmaf(s, z, -1.0f / 5040.0f);
  s = fmaf(s, z, 1.0f / 120.0f);
  s = fmaf(s, z, -1.0f / 6.0f);
  s = fmaf(s * z, a, a);
  const float x = (quarter & 1) != 0 ? s : c, y = (quarter & 1) != 0 ? c : s;
  *cosine = ((quarter + 1) & 2) != 0 ? -x : x;
  *sine = (quarter & 2) != 0 ? -y : y;
}

/* ---- exponentials ---- */

/* e^x and, without cancellation, e^x - 1; x below GPUMC_DECAY_LOWEST counts as that. */
GPUMC_HOST_DEVICE static inline void
gpumc_decay_double(double x, double *exponential, double *less_one)
{
  const double within = x > GPUMC_DECAY_LOWEST ? x : GPUMC_DECAY_LOWEST;
  const double k = rint(within * GPUMC_INVERSE_LN2);
  const double high = fma(-k, GPUMC_LN2_HIGH, within), r = fma(-k, GPUMC_LN2_LOW, high);
  const double p = gpumc_exp_series(r, fma(-k, GPUMC_LN2_LOW, high - r));
  const double power = gpumc_power_of_two((int)k);
  *exponential = fma(power, p, power);
  *less_one = fma(power, p, power - 1.0);
}

/* The Taylor series of degree 7 (truncation below 2^-26). */
GPUMC_HOST_DEVICE static inline void gpumc_decay_float(float x, float *exponential, float *less_one)
{
  const float within = x > (float)GPUMC_DECAY_LOWEST ? x : (float)GPUMC_DECAY_LOWEST;
  /* Rounded to a whole number by a sum that has no bits after the point; its last bits are that
   * number. */
  const float shifted = within * (float)GPUMC_INVERSE_LN2 + GPUMC_WHOLE_FLOAT;
  const float k = shifted - GPUMC_WHOLE_FLOAT;
  const float high = fmaf(-k, GPUMC_LN2_HIGH_FLOAT, within);
  const float r = fmaf(-k, GPUMC_LN2_LOW_FLOAT, high);
  float p = 1.0f / 5040.0f;
  p = fmaf(p, r, 1.0f / 720.0f);
  p = fmaf(p, r, 1.0f / 120.0f);
  p = fmaf(p, r, 1.0f / 24.0f);
  p = fmaf(p, r, 1.0f / 6.0f);
  p = fmaf(p, r, 0.5f);
  p = fmaf(p * r, r, r);
  uint32_t bits;
  float power;
  memcpy(&bits, &shifted, sizeof bits);
  bits = (bits << 23) + GPUMC_ONE_FLOAT;
  memcpy(&power, &bits, sizeof power);
  *exponential = fmaf(power, p, power);
  *less_one = fmaf(power, p, power - 1.0f);
}

/* ---- logarithms ---- */

/* ln a for positive normal a that is given together with a - 1, if the caller knows the latter more
 * accurately than a itself holds it: near 1 it is used instead. */
GPUMC_HOST_DEVICE static inline double gpumc_log_of_double(double a, double less_one)
{
  uint64_t bits;
  double m;
  memcpy(&bits, &a, sizeof bits);
  /* For numbers above 2^-1022 the difference to 2^4 stays positive, so the shift is that of
   * unsigned numbers, which all instruction sets have. */
  const uint64_t above = bits - GPUMC_ROOT_HALF_DOUBLE + ((uint64_t)1024 << 52);
  const int32_t k = (int32_t)(above >> 52) - 1024;
  bits = (above & 0xfffffffffffffu) + GPUMC_ROOT_HALF_DOUBLE;
  memcpy(&m, &bits, sizeof m);
  return gpumc_log_series((double)k, k == 0 ? less_one : m - 1.0);
}

/* The series of atanh up to s^9 (truncation below 2^-28). */
GPUMC_HOST_DEVICE static inline float gpumc_log_of_float(float a, float less_one)
{
  uint32_t bits;
  float m;
  memcpy(&bits, &a, sizeof bits);
  const int32_t above = (int32_t)(bits - GPUMC_ROOT_HALF_FLOAT);
  const int32_t k = above >> 23;
  bits = ((uint32_t)above & 0x7fffffu) + GPUMC_ROOT_HALF_FLOAT;
  memcpy(&m, &bits, sizeof m);
  const float f = k == 0 ? less_one : m - 1.0f, s = gpumc_quotient_float(f, 2.0f + f), z = s * s;
  float p = 2.0f / 9.0f;
  p = fmaf(p, z, 2.0f / 7.0f);
  p = fmaf(p, z, 2.0f / 5.0f);
  p = fmaf(p, z, 2.0f / 3.0f);
  const float tail = fmaf((float)k, GPUMC_LN2_LOW_FLOAT, -s * fmaf(-z, p, f));
  return fmaf((float)k, GPUMC_LN2_HIGH_FLOAT, f + tail);
}

#endif
