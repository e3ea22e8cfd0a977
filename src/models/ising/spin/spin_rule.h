/* The data of a run used by the kernels with one number per spin, on CPUs and GPUs: how a spin is
 * updated, and samples of the disorder.
 *
 * Metropolis: spin s flips iff u < T(s, f). Heat bath, in the same terms: the spin is treated as
 * down and flips iff u < T(f). So `start` is the spin itself, or down.
 *
 * By table: one threshold for each class of a spin, the number of neighbours that pull up and, with
 * two kinds of fields, which of them it has (bit 3). By terms: f is summed and its threshold found
 * in single precision with a bound on the error, and exactly if that does not decide. */
#ifndef GPUMC_ISING_SPIN_RULE_H
#define GPUMC_ISING_SPIN_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/simulation/kernel.h"
#include "models/ising/ising_physics.h"
#include "models/ising/ising_takes.h"

struct gpumc_model;

/* The data of a sample that a kernel needs. */
enum ising_spin_kind {
  ISING_SPIN_UNIFORM, /* nothing */
  ISING_SPIN_SIGNS,   /* signs of couplings, and which of two fields */
  ISING_SPIN_TERMS    /* all couplings and fields */
};

/* ISING_TABLE: classes, as many as instructions look up at once. */
enum { ISING_TABLE = 16, ISING_TABLE_FIELD = 8, ISING_EITHER_SPIN = 2 };

struct ising_spin_table {
  uint32_t threshold[ISING_TABLE];
  uint8_t byte[sizeof(uint32_t)][ISING_TABLE]; /* of the thresholds, the lowest first */
  /* A spin whose start differs from this flips without a comparison; ISING_EITHER_SPIN: any
   * does. */
  uint8_t compared[ISING_TABLE];
};

/* p is 1 / (one + exp(x)), x = slope s f but not below `least`, s the start's spin +-1, f the sum
 * of the terms. `narrow` and `wide`: the possible error of p, as factors below and above 1. */
struct ising_spin_estimate {
  float slope, least, one, narrow, wide;
};

/* The rule at this temperature, with terms in this unit. */
struct ising_spin_exact {
  double beta, quantum;
};

struct ising_spin_rule {
  double field; /* uniform, for which it was made */
  enum ising_spin_kind kind;
  uint32_t start; /* the part kept of a spin: 1 for Metropolis, 0 for the heat bath */
  struct ising_spin_table table;
  struct ising_spin_estimate estimate;
  struct ising_spin_exact exact;
};

enum ising_spin_kind ising_spin_kind(const struct gpumc_model *model);
/* Returns the unit of the couplings as samples have them: J, its size if they are signs, or the
 * quantum of terms. */
double ising_spin_coupling(const struct gpumc_model *model);
struct ising_spin_rule ising_spin_rule(const struct gpumc_model *model, enum ising_move update,
                                       const double control[ISING_CONTROLS]);

/* Returns whether the number u makes a spin flip in the sum f of its terms: the spin 1 or 0 of
 * Metropolis, or one of the heat bath. */
GPUMC_HOST_DEVICE static inline bool ising_spin_flips(const struct ising_spin_exact *exact,
                                                      bool heat_bath, int64_t f, uint32_t spin,
                                                      uint32_t u)
{
  const double x = exact->beta * (2.0 * ((double)f * exact->quantum));
  if (heat_bath)
    return u < gpumc_threshold_logistic(x);
  return u < gpumc_threshold_exponential(spin != 0 ? x : -x);
}

/* Returns whether a spin flips, from its local field in single precision: decided, or open if the
 * error might matter. Simple enough for loops over it to become vectors. */
enum { ISING_STAYS, ISING_FLIPS, ISING_OPEN };

#define ISING_EXPONENT_MAXIMUM 60.0f
#define ISING_ROUNDING                                                                             \
  12582912.0f /* 1.5 2^23: adding it leaves a whole number in the last bits                        \
               */

GPUMC_HOST_DEVICE static inline uint32_t ising_float_bits(float x)
{
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

GPUMC_HOST_DEVICE static inline float ising_float_of(uint32_t bits)
{
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Returns exp(x) for |x| <= 60 to 2^-21. ln 2 in two parts, the first with 9 bits, so that its
 * product with a number of 7 bits is exact; Taylor series of degree 7. */
GPUMC_HOST_DEVICE static inline float ising_estimate_exp(float x)
{
  const float shifted = x * 1.44269504f + ISING_ROUNDING;
  const float n = shifted - ISING_ROUNDING;
  const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  float p = 1.0f / 5040.0f;
  p = p * r + 1.0f / 720.0f;
  p = p * r + 1.0f / 120.0f;
  p = p * r + 1.0f / 24.0f;
  p = p * r + 1.0f / 6.0f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  return ising_float_of(ising_float_bits(p) + (ising_float_bits(shifted) << 23));
}

/* f: the sum of the terms; start: 1 or 0, of the spin. u < T is certain if the next multiple of 2^8
 * is not above p 2^32, and excluded if the last one is above it by 2^8. No comparison of
 * floating-point numbers, which might trap and thus prevent vectorisation: as integers, bits of
 * negative numbers grow from those of -0 downwards, and differences are judged by their sign. */
GPUMC_HOST_DEVICE static inline uint32_t
ising_spin_estimate(const struct ising_spin_estimate *with, float f, uint32_t start, uint32_t u)
{
  const uint32_t most = ising_float_bits(ISING_EXPONENT_MAXIMUM);
  const uint32_t least = ising_float_bits(with->least);
  uint32_t x = ising_float_bits(with->slope * f) ^ (start ^ 1) << 31;
  x = x > least ? least : x;
  x = (int32_t)x > (int32_t)most ? most : x;
  const float p = 16777216.0f / (with->one + ising_estimate_exp(ising_float_of(x)));
  const float v = (float)(int32_t)(u >> 8);
  const uint32_t stays = ising_float_bits(p * with->narrow - (v + 1.0f)) >> 31;
  const uint32_t open = ising_float_bits(v - (p * with->wide + 1.0f)) >> 31;
  return open + (open & stays);
}

/* Samples of the disorder. */
enum { ISING_FIELD_SIGN = 6 }; /* after the bits of the neighbours */

/* One sample, by colour and neighbour (enum gpumc_neighbour); the sites of one colour take `stride`
 * places, those outside of the lattice are 0. ISING_SPIN_SIGNS: signs[colour][stride], bit n: the
 * coupling with neighbour n is negative, bit ISING_FIELD_SIGN: the field is the larger one of two.
 * ISING_SPIN_TERMS: terms[colour][2d + 1][stride], couplings and then the field, in quanta. NULL:
 * not of this kind. */
struct ising_spin_sample {
  const uint8_t *signs;
  const int32_t *terms;
  size_t stride;
};

/* data[count][bytes], samples of one kind, number `first` of the whole and those after it; host
 * memory, or a device's. */
struct ising_spin_samples {
  enum ising_spin_kind kind;
  size_t first, count, bytes, stride;
  void *data;
};

/* Returns a description of them, with data = NULL. */
struct ising_spin_samples
ising_spin_samples_of(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan);
/* Writes samples first .. first + count - 1 of them to data[count][bytes], zeroed, in host
 * memory. */
GPUMC_MUST_CHECK enum gpumc_status
ising_spin_samples_fill(const struct gpumc_model *model, const struct ising_spin_samples *samples,
                        size_t first, size_t count, void *data, struct gpumc_error *error);

/* Returns sample `number` of them; gpumc_ensemble_sample says which one a replica has. */
GPUMC_HOST_DEVICE static inline struct ising_spin_sample
ising_spin_sample(const struct ising_spin_samples *samples, size_t number)
{
  const uint8_t *data = (const uint8_t *)samples->data + number * samples->bytes;
  struct ising_spin_sample sample = {NULL, NULL, samples->stride};
  if (samples->kind == ISING_SPIN_SIGNS)
    sample.signs = data;
  if (samples->kind == ISING_SPIN_TERMS)
    sample.terms = (const int32_t *)data;
  return sample;
}

/* gpumc_kernel_ops.cost */
double ising_spin_cost(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan,
                       size_t replicas);

/* Designated initialisers of a struct gpumc_kernel_ops, shared by the kernels `spin` of all
 * devices, also for builds that lack the one on GPUs. */
#define ISING_SPIN_NAMES                                                                           \
  .variant = "spin", .cost = ising_spin_cost, .trajectory = "ising.spin.1", .moves = ising_moves,  \
  .n_moves = ISING_MOVES, .group = 1, .keys = ising_move_keys, .read = ising_read_move_keys
#define ISING_SPIN_CUDA_NAMES                                                                      \
  ISING_SPIN_NAMES, .device = "cuda", .refuses = ising_gpu_refuses,                                \
                    .summary = "one bit and one 32-bit random number per spin",                    \
                    .takes = ISING_TAKES_SPIN ISING_TAKES_ON_GPUS

#endif
