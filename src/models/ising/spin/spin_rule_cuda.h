/* Rules of trajectory "ising.spin.1", as its CUDA kernels are told. */
#ifndef GPUMC_ISING_SPIN_RULE_CUDA_H
#define GPUMC_ISING_SPIN_RULE_CUDA_H

#include "core/device/cuda_error.h"
#include "models/ising/spin/spin_rule.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of one run: struct ising_spin_rule packed. compared: two bits a class. */
struct ising_run_rule {
  uint32_t threshold[ISING_TABLE];
  uint32_t compared;
  uint32_t start; /* all ones, or 0 */
  struct ising_spin_estimate estimate;
  struct ising_spin_exact exact;
};

/* The same of a square lattice without disorder, by the number of neighbours up, for 32 spins at a
 * time, bit 1 is up. A spin that starts as s needs a comparison iff (s ^ flip[up]) & needed[up],
 * and then stays unless its number is below threshold[up]; all others flip. */
struct ising_rule {
  uint32_t threshold[ISING_CLASSES];
  uint32_t flip[ISING_CLASSES], needed[ISING_CLASSES];
  uint32_t start;
};

GPUMC_HOST_DEVICE static inline uint32_t
ising_rule_compared(const struct ising_run_rule *rule, uint32_t class_)
{
  return rule->compared >> 2 * class_ & 3;
}

GPUMC_HOST_DEVICE static inline struct ising_rule
ising_rule_of_words(const struct ising_run_rule *of_run)
{
  struct ising_rule rule;
  for (uint32_t up = 0; up < ISING_CLASSES; up++) {
    const uint32_t compared = ising_rule_compared(of_run, up);
    rule.threshold[up] = of_run->threshold[up];
    rule.flip[up] = compared == 0 ? UINT32_MAX : 0;
    rule.needed[up] = compared == ISING_EITHER_SPIN ? 0 : UINT32_MAX;
  }
  rule.start = of_run->start;
  return rule;
}

/* Rules first .. first + count - 1 on their way to rules[runs], device memory. */
enum { ISING_RULES_AT_ONCE = 24 };
struct ising_rules_part {
  struct ising_run_rule *rules;
  uint32_t first, count;
  void *stream; /* cudaStream_t */
  struct ising_run_rule rule[ISING_RULES_AT_ONCE];
};

GPUMC_MUST_CHECK enum gpumc_status
ising_rules_store(const struct ising_rules_part *arguments, struct gpumc_error *error);

#ifdef __cplusplus
}
#endif

#endif
