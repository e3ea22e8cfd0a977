/* Quotients and roots of core/numerics/elementary_loops.h on a GPU against those of IEEE 754. */
#ifndef TESTS_SUPPORT_ELEMENTARY_ON_GPU_H
#define TESTS_SUPPORT_ELEMENTARY_ON_GPU_H

#include <stdint.h>

#include "core/base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum elementary_function {
  ELEMENTARY_ROOT,
  ELEMENTARY_RECIPROCAL,
  ELEMENTARY_QUOTIENT,
  ELEMENTARY_WRONG
};

/* Counts how many of `count` arguments give a different result. Roots and reciprocals use
 * consecutive floats starting at the bits `first`; quotients use pairs made from Philox counters
 * starting at `first`. ELEMENTARY_WRONG: roots without their last step. */
GPUMC_MUST_CHECK enum gpumc_status
elementary_on_gpu(enum elementary_function function, uint32_t first, uint32_t count,
                  uint32_t *different, struct gpumc_error *error);

#ifdef __cplusplus
}
#endif

#endif
