/* The rules of O(n) spins in each precision as a type, for templates; and those of `fast`, which
 * are the ones of `float` with the GPU's approximate functions. */
#ifndef GPUMC_HEISENBERG_PRECISION_CUH
#define GPUMC_HEISENBERG_PRECISION_CUH

#include "models/heisenberg/heisenberg_gpu.h"

/* ---- fast ---- */

/* Approximations of the hardware, with errors of a few units of 2^-22; host code, which is never
 * run, has the library's. Numbers below 2^-126 count as 0. */
#ifdef __CUDA_ARCH__
#define HEISENBERG_APPROXIMATE(name, instruction, library)                                         \
  GPUMC_HOST_DEVICE static inline float name(float x)                                              \
  {                                                                                                \
    float y;                                                                                       \
    asm(instruction ".approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));                                 \
    return y;                                                                                      \
  }
#else
#define HEISENBERG_APPROXIMATE(name, instruction, library)                                         \
  GPUMC_HOST_DEVICE static inline float name(float x)                                              \
  {                                                                                                \
    return library;                                                                                \
  }
#endif
HEISENBERG_APPROXIMATE(heisenberg_reciprocal_fast, "rcp", 1.0f / x)
HEISENBERG_APPROXIMATE(heisenberg_root_fast, "sqrt", sqrtf(x))
HEISENBERG_APPROXIMATE(heisenberg_fast_power_of_2, "ex2", exp2f(x))
HEISENBERG_APPROXIMATE(heisenberg_fast_log_2, "lg2", log2f(x))
HEISENBERG_APPROXIMATE(heisenberg_fast_cosine, "cos", cosf(x))
HEISENBERG_APPROXIMATE(heisenberg_fast_sine, "sin", sinf(x))
#undef HEISENBERG_APPROXIMATE

GPUMC_HOST_DEVICE static inline float heisenberg_quotient_fast(float x, float y)
{
  return x * heisenberg_reciprocal_fast(y);
}

GPUMC_HOST_DEVICE static inline void gpumc_turn_fast(uint32_t turn, float *cosine, float *sine)
{
  const float angle = (float)(int32_t)turn * (float)(GPUMC_PI * 0x1p-31);
  *cosine = heisenberg_fast_cosine(angle);
  *sine = heisenberg_fast_sine(angle);
}

/* Below this size, e^x - 1 and ln(1 + f) come from series, since they would cancel. */
#define HEISENBERG_FAST_SMALL 0.125f

GPUMC_HOST_DEVICE static inline void gpumc_decay_fast(float x, float *exponential, float *less_one)
{
  const float power = heisenberg_fast_power_of_2(x * (float)GPUMC_INVERSE_LN2);
  float series = fmaf(x, 1.0f / 24.0f, 1.0f / 6.0f);
  series = fmaf(fmaf(series, x, 0.5f), x * x, x);
  *exponential = power;
  *less_one = x > -HEISENBERG_FAST_SMALL ? series : power - 1.0f;
}

GPUMC_HOST_DEVICE static inline float gpumc_log_of_fast(float a, float less_one)
{
  const float s = heisenberg_quotient_fast(less_one, 2.0f + less_one), z = s * s;
  const float series = 2.0f * s * fmaf(fmaf(z, 0.2f, 1.0f / 3.0f), z, 1.0f);
  return less_one > -HEISENBERG_FAST_SMALL ? series : heisenberg_fast_log_2(a) * (float)GPUMC_LN2;
}

#define heisenberg_fma_fast heisenberg_fma_float
#define heisenberg_positive_root_fast heisenberg_root_fast
#define heisenberg_sign_fast heisenberg_sign_float
#define heisenberg_size_fast heisenberg_size_float
#define heisenberg_whole_fast heisenberg_whole_float
#define heisenberg_uniform_fast heisenberg_uniform_float
#define heisenberg_of_sphere_fast heisenberg_of_sphere_float
#define heisenberg_of_proposal_fast heisenberg_of_proposal_float
#define heisenberg_of_circle_fast heisenberg_of_circle_float
#define heisenberg_words_fast heisenberg_words_float
#define HEISENBERG_PRECISION fast
#define HEISENBERG_REAL float
#include "models/heisenberg/heisenberg_rules.h"
#undef HEISENBERG_REAL
#undef HEISENBERG_PRECISION

/* ---- precisions as types ---- */

/* SHARED: two sites share a counter. THREADS: maximum per block, so that each has enough
 * registers. */
#define HEISENBERG_TYPE(precision, type, shared, threads)                                          \
  struct heisenberg_in_##precision {                                                               \
    typedef type real;                                                                             \
    typedef struct heisenberg_vector_##precision vector;                                           \
    typedef struct heisenberg_uniform_##precision uniform;                                         \
    enum { SHARED = shared, THREADS = threads };                                                   \
    GPUMC_HOST_DEVICE static uniform of_sphere(struct heisenberg_words words)                      \
    {                                                                                              \
      return heisenberg_of_sphere_##precision(words);                                              \
    }                                                                                              \
    GPUMC_HOST_DEVICE static uniform of_proposal(struct heisenberg_words words)                    \
    {                                                                                              \
      return heisenberg_of_proposal_##precision(words);                                            \
    }                                                                                              \
    GPUMC_HOST_DEVICE static uniform of_circle(struct heisenberg_words words)                      \
    {                                                                                              \
      return heisenberg_of_circle_##precision(words);                                              \
    }                                                                                              \
    GPUMC_HOST_DEVICE static struct heisenberg_words                                               \
    words(struct gpumc_random random, uint32_t k, uint32_t replica, uint32_t time, uint32_t label) \
    {                                                                                              \
      return heisenberg_words_##precision(random, k, replica, time, label);                        \
    }                                                                                              \
    GPUMC_HOST_DEVICE static real bias(enum heisenberg_move move, real field)                      \
    {                                                                                              \
      return heisenberg_bias_##precision(move, field);                                             \
    }                                                                                              \
    GPUMC_HOST_DEVICE static vector field(vector sum, real coupling, real along_x)                 \
    {                                                                                              \
      return heisenberg_field_##precision(sum, coupling, along_x);                                 \
    }                                                                                              \
    GPUMC_HOST_DEVICE static vector anywhere(const int components, uniform drawn)                  \
    {                                                                                              \
      return heisenberg_anywhere_##precision(components, drawn);                                   \
    }                                                                                              \
    GPUMC_HOST_DEVICE static vector                                                                \
    near(const int components, vector spin, uniform drawn, real reach)                             \
    {                                                                                              \
      return heisenberg_near_##precision(components, spin, drawn, reach);                          \
    }                                                                                              \
    GPUMC_HOST_DEVICE static bool                                                                  \
    accepts(const int components, vector spin, vector proposal, vector g, real u)                  \
    {                                                                                              \
      return heisenberg_accepts_##precision(components, spin, proposal, g, u);                     \
    }                                                                                              \
    GPUMC_HOST_DEVICE static vector sphere(vector g, uniform drawn)                                \
    {                                                                                              \
      return heisenberg_sphere_##precision(g, drawn);                                              \
    }                                                                                              \
    GPUMC_HOST_DEVICE static bool circle_trial(vector g, uniform drawn, vector *spin)              \
    {                                                                                              \
      return heisenberg_circle_trial_##precision(g, drawn, spin);                                  \
    }                                                                                              \
    GPUMC_HOST_DEVICE static vector                                                                \
    reflected(const int components, vector spin, vector f, bool renormalise)                       \
    {                                                                                              \
      return heisenberg_reflected_##precision(components, spin, f, renormalise);                   \
    }                                                                                              \
    GPUMC_HOST_DEVICE static real dot(const int components, vector a, vector b)                    \
    {                                                                                              \
      return heisenberg_dot_##precision(components, a, b);                                         \
    }                                                                                              \
    GPUMC_HOST_DEVICE static real fused(real x, real y, real z)                                    \
    {                                                                                              \
      return heisenberg_fma_##precision(x, y, z);                                                  \
    }                                                                                              \
    GPUMC_HOST_DEVICE static int32_t quanta(real x)                                                \
    {                                                                                              \
      return heisenberg_quanta_##precision(x);                                                     \
    }                                                                                              \
  };
HEISENBERG_TYPE(double, double, 0, HEISENBERG_THREADS_DOUBLE)
HEISENBERG_TYPE(float, float, 1, HEISENBERG_THREADS_FLOAT)
HEISENBERG_TYPE(fast, float, 1, HEISENBERG_THREADS_FAST)

#endif
