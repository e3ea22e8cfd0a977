/* What the kernels of one number a spin, on CPUs and GPUs, know of a run: how a spin is updated.
 *
 * Metropolis: spin s flips iff u < T(s, f). Heat bath, in the same words: a spin that is thought of
 * as down flips iff u < T(f). So `start` is the spin itself, or down.
 *
 * By table: one threshold for each class of a spin, the number of neighbours that pull up and, with
 * two kinds of fields, which of them it has (bit 3). By terms: f is summed up and its threshold
 * found in single precision with a bound on the error, and exactly where that does not decide. */
#ifndef GPUMC_ISING_SPIN_RULE_H
#define GPUMC_ISING_SPIN_RULE_H

#include <stdbool.h>

#include "core/simulation/kernel.h"
#include "models/ising/ising_physics.h"

struct gpumc_model;

/* What a kernel must know of a sample. */
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
  /* A spin whose start is another one flips without a comparison; ISING_EITHER_SPIN: any does. */
  uint8_t compared[ISING_TABLE];
};

/* p is 1 / (one + exp(x)), x = slope s f but not below `least`, s the start's spin +-1, f the sum
 * of the terms. `narrow` and `wide`: what p may be wrong by, as factors below and above 1. */
struct ising_spin_estimate {
  float slope, least, one, narrow, wide;
};

/* At this temperature, with terms in this unit. */
struct ising_spin_exact {
  double beta, quantum;
};

struct ising_spin_rule {
  double field; /* uniform, that it was made for */
  enum ising_spin_kind kind;
  uint32_t start; /* what is left of a spin: 1 for Metropolis, 0 for the heat bath */
  struct ising_spin_table table;
  struct ising_spin_estimate estimate;
  struct ising_spin_exact exact;
};

enum ising_spin_kind ising_spin_kind(const struct gpumc_model *model);
struct ising_spin_rule ising_spin_rule(const struct gpumc_model *model, enum gpumc_update update,
                                       const double control[ISING_CONTROLS]);

/* Whether the number u makes a spin flip in the sum f of its terms: the spin 1 or 0 of Metropolis,
 * or one of the heat bath. */
GPUMC_HOST_DEVICE static inline bool ising_spin_flips(const struct ising_spin_exact *exact,
                                                      bool heat_bath, int64_t f, uint32_t spin,
                                                      uint32_t u)
{
  const double x = exact->beta * (2.0 * ((double)f * exact->quantum));
  if (heat_bath)
    return u < gpumc_heat_bath_threshold(x);
  return u < gpumc_metropolis_threshold(spin != 0 ? x : -x);
}

#endif
