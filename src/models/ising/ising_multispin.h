/* The multispin kernel below its ops: what is compiled once for each instruction-set level. */
#ifndef GPUMC_ISING_MULTISPIN_H
#define GPUMC_ISING_MULTISPIN_H

#include <stdbool.h>

#include "core/isa.h"
#include "core/random.h"
#include "models/ising/ising_physics.h"
#include "models/lattice/bit_serial.h"
#include "models/lattice/checkerboard.h"

enum { ISING_LANES = 32 };

/* Of one sweep call, for all groups.
 * plain (no field): a spin needs a comparison when at most one of its bonds is unsatisfied; class 0
 * is one, class 1 none. `like`: all ones if a bond of equal spins is the satisfied one, else 0.
 * Otherwise the class is the number of neighbours up, and spin_up[class] (a mask) the spin that
 * needs a comparison. */
struct ising_multispin_rule {
  struct gpumc_checkerboard lattice;
  struct gpumc_random random;
  bool plain;
  uint32_t like;
  uint32_t spin_up[ISING_CLASSES];
  struct gpumc_bit_thresholds thresholds;
};

/* One replica that is copied: bit `lane` of the new words is bit `lane - rotation` of the source.
 */
struct ising_multispin_copy {
  const uint32_t *source;
  uint32_t rotation, lane;
};

/* Sums over one group, by lane. */
struct ising_multispin_sums {
  int64_t unsatisfied[ISING_LANES]; /* bonds between unlike spins */
  int64_t up[ISING_LANES];          /* spins up */
};

/* `scratch`: ising_multispin_scratch() words of the calling thread, zeroed once. */
struct ising_multispin_ops {
  void (*sweep)(const struct ising_multispin_rule *rule, uint32_t *words, uint32_t group,
                uint32_t time, uint32_t sweeps, uint32_t *scratch);
  void (*measure)(const struct gpumc_checkerboard *lattice, const uint32_t *words,
                  uint32_t *scratch, struct ising_multispin_sums *sums);
  /* words[n] = the old words with the copied lanes replaced. */
  void (*gather)(uint32_t *words, const uint32_t *old, size_t n,
                 const struct ising_multispin_copy *copies, size_t n_copies);
};

#ifdef GPUMC_ISA_X86_64
extern const struct ising_multispin_ops ising_multispin_v2, ising_multispin_v3, ising_multispin_v4;
#else
extern const struct ising_multispin_ops ising_multispin_portable;
#endif

/* Words of scratch: two colours, the side array, and five arrays of undecided words. */
enum { ISING_UNDECIDED_ARRAYS = 5 };

static inline size_t ising_multispin_scratch(const struct gpumc_checkerboard *lattice)
{
  return 2 * gpumc_checkerboard_extent(lattice) +
         (1 + ISING_UNDECIDED_ARRAYS) * gpumc_checkerboard_part(lattice);
}

static inline struct ising_multispin_rule
ising_multispin_rule(const struct gpumc_checkerboard *lattice, struct gpumc_random random,
                     double beta, double coupling, double field)
{
  struct ising_multispin_rule rule = {.lattice = *lattice, .random = random};
  struct ising_acceptance acceptance = ising_acceptance(beta, coupling, field, ISING_CLASSES - 1);
  rule.plain = field == 0.0;
  rule.like = acceptance.spin_up[4] ? UINT32_MAX : 0;
  for (uint32_t up = 0; up < ISING_CLASSES; up++) {
    rule.spin_up[up] = acceptance.spin_up[up] ? UINT32_MAX : 0;
    if (!rule.plain)
      gpumc_bit_thresholds_set(&rule.thresholds, up, acceptance.threshold[up]);
  }
  if (rule.plain) {
    gpumc_bit_thresholds_set(&rule.thresholds, 0, acceptance.threshold[3]);
    gpumc_bit_thresholds_set(&rule.thresholds, 1, acceptance.threshold[4]);
  }
  return rule;
}

#endif
