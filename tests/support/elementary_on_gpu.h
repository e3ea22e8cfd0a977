/* Quotients and roots of core/numerics/elementary_loops.h against those of IEEE 754 on a GPU. */
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

/* How many of `count` arguments have another result: of roots and reciprocals consecutive floats
 * from the bits `first` on, of quotients pairs made of counters of Philox from `first` on.
 * ELEMENTARY_WRONG: roots without their last step. */
GPUMC_MUST_CHECK enum gpumc_status
elementary_on_gpu(enum elementary_function function, uint32_t first, uint32_t count,
                  uint32_t *different, struct gpumc_error *error);

#ifdef __cplusplus
}
#endif

#endif
