/* A lattice model with three states that computes next to nothing, and its replicas in several
 * layouts: what models/lattice stores for any model. Portable form: two bits per site, the first
 * site lowest. */
#ifndef TESTS_SUPPORT_TOY_REPLICAS_H
#define TESTS_SUPPORT_TOY_REPLICAS_H

#include "core/simulation/model.h"

enum { TOY_SITES = 70, TOY_STATES = 3, TOY_PORTABLE_BYTES = (2 * TOY_SITES + 7) / 8 };
enum { TOY_LIST = 200 }; /* most replicas in a list */

extern const struct gpumc_model toy_model;

/* NULL-terminated: replicas one by one and side by side, in memory of the device under test. */
extern const struct gpumc_kernel_ops *const toy_cpu_kernels[], *const toy_cuda_kernels[];

/* Returns site i of a replica in portable form. */
static inline uint8_t toy_portable_state(const uint8_t *portable, size_t i)
{
  return portable[i / 4] >> i % 4 * 2 & 3;
}

static inline void toy_set_portable_state(uint8_t *portable, size_t i, uint8_t state)
{
  const unsigned others = portable[i / 4] & ~(3u << i % 4 * 2);
  portable[i / 4] = (uint8_t)(others | (unsigned)state << i % 4 * 2);
}

#endif
