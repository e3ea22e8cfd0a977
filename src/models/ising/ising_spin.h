/* The spin kernel below its ops: what is compiled once for each instruction-set level. */
#ifndef GPUMC_ISING_SPIN_H
#define GPUMC_ISING_SPIN_H

#include "core/isa.h"
#include "core/random.h"
#include "models/ising/ising_physics.h"
#include "models/lattice/checkerboard.h"

/* Lookup tables are as wide as the instructions that read them. */
enum { ISING_TABLE = 16, ISING_EITHER_SPIN = 2 };

/* Of one sweep call, for all replicas; tables by the number of neighbours up. A spin other than
 * compared[up] flips without a comparison; compared[up] = ISING_EITHER_SPIN: both do. */
struct ising_spin_rule {
  struct gpumc_checkerboard lattice;
  struct gpumc_random random;
  uint32_t threshold[ISING_TABLE];
  uint8_t compared[ISING_TABLE];
};

/* Sums over one replica. */
struct ising_spin_sums {
  int64_t unsatisfied; /* bonds between unlike spins */
  int64_t up;          /* spins up */
};

/* A spin is a byte, 1 up and 0 down. `scratch`: ising_spin_scratch() bytes of the calling thread,
 * zeroed once. */
struct ising_spin_ops {
  void (*sweep)(const struct ising_spin_rule *rule, uint8_t *spins, uint32_t replica, uint32_t time,
                uint32_t sweeps, uint8_t *scratch);
  void (*measure)(const struct gpumc_checkerboard *lattice, const uint8_t *spins, uint8_t *scratch,
                  struct ising_spin_sums *sums);
};

#ifdef GPUMC_ISA_X86_64
extern const struct ising_spin_ops ising_spin_v2, ising_spin_v3, ising_spin_v4;
#else
extern const struct ising_spin_ops ising_spin_portable;
#endif

static inline size_t ising_spin_scratch(const struct gpumc_checkerboard *lattice)
{
  return 2 * gpumc_checkerboard_extent(lattice) + gpumc_checkerboard_part(lattice);
}

static inline struct ising_spin_rule ising_spin_rule(const struct gpumc_checkerboard *lattice,
                                                     struct gpumc_random random, double beta,
                                                     double coupling, double field)
{
  struct ising_spin_rule rule = {.lattice = *lattice, .random = random};
  struct ising_acceptance acceptance = ising_acceptance(beta, coupling, field, ISING_CLASSES - 1);
  for (uint32_t up = 0; up < ISING_CLASSES; up++) {
    const int always = acceptance.threshold[up] >= GPUMC_THRESHOLD_ALWAYS;
    rule.threshold[up] = always ? 0 : (uint32_t)acceptance.threshold[up];
    rule.compared[up] = always ? ISING_EITHER_SPIN : (uint8_t)acceptance.spin_up[up];
  }
  return rule;
}

#endif
