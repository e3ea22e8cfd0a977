/* The rules of the CUDA multispin kernel: thresholds of one temperature, and the masks that words
 * of 32 replicas are compared with. For both compilers: a temperature that all runs share is
 * brought along with the launch, those of each run are worked out on the GPU. */
#ifndef GPUMC_ISING_MULTISPIN_RULE_CUDA_H
#define GPUMC_ISING_MULTISPIN_RULE_CUDA_H

#include "models/ising/ising_physics.h"

enum {
  ISING_MULTISPIN_PLANES = 32,
  ISING_MULTISPIN_ALWAYS = ISING_MULTISPIN_PLANES, /* row of the classes that need no comparison */
  ISING_MULTISPIN_SPIN_UP,                         /* row of the spin that needs it */
  ISING_MULTISPIN_ROWS,
  ISING_MULTISPIN_COLUMNS = 8,
};

/* What all runs have in common. `plain`: Metropolis without a field. `width`: of random fields. */
struct ising_multispin_physics {
  double coupling, width;
  uint32_t neighbours, plain, heat_bath, random_fields;
};

/* By the number n of neighbours that pull up: the threshold, all ones where nothing needs to be
 * compared, which is bit n of `always`; Metropolis: bit n of `spin_up` tells which spin does. */
struct ising_multispin_thresholds {
  uint32_t threshold[ISING_CLASSES_MAXIMUM];
  uint32_t always, spin_up;
};

GPUMC_HOST_DEVICE static inline struct ising_multispin_thresholds
ising_multispin_thresholds(const struct ising_multispin_physics *physics, double beta,
                           double uniform_field)
{
  const double field = physics->random_fields ? physics->width : uniform_field;
  struct ising_multispin_thresholds rule = {{0}, 0, 0};
  struct ising_acceptance acceptance =
      ising_acceptance(beta, physics->coupling, field, physics->neighbours);
  if (physics->heat_bath)
    ising_heat_bath(beta, physics->coupling, field, physics->neighbours, acceptance.threshold);
  for (uint32_t up = 0; up <= physics->neighbours; up++) {
    const uint64_t threshold = acceptance.threshold[up];
    const uint32_t always = threshold >= GPUMC_THRESHOLD_ALWAYS;
    rule.threshold[up] = always ? UINT32_MAX : (uint32_t)threshold;
    rule.always |= always << up;
    rule.spin_up |= acceptance.spin_up[up] << up;
  }
  return rule;
}

GPUMC_HOST_DEVICE static inline uint32_t
ising_multispin_rule_bit(const struct ising_multispin_thresholds *rule, uint32_t row, uint32_t up)
{
  if (row == ISING_MULTISPIN_ALWAYS)
    return rule->always >> up & 1;
  if (row == ISING_MULTISPIN_SPIN_UP)
    return rule->spin_up >> up & 1;
  return rule->threshold[up] >> (ISING_MULTISPIN_PLANES - 1 - row) & 1;
}

/* All ones or none. In general column c is the number of neighbours that pull up. Plain: only spins
 * with most bonds satisfied are compared; column 0 is the class with the fewest of these, column c
 * what is different where c more are satisfied. */
GPUMC_HOST_DEVICE static inline uint32_t
ising_multispin_mask(const struct ising_multispin_physics *physics,
                     const struct ising_multispin_thresholds *rule, uint32_t row, uint32_t column)
{
  const uint32_t least = physics->plain ? physics->neighbours / 2 + 1 : 0;
  uint32_t bit = 0;
  if (least + column <= physics->neighbours)
    bit = ising_multispin_rule_bit(rule, row, least + column);
  if (physics->plain && column > 0)
    bit ^= least + column <= physics->neighbours ? ising_multispin_rule_bit(rule, row, least) : 0;
  return 0 - bit;
}

#endif
