/* A build without CUDA: the names of the missing kernels. */
#include "models/heisenberg/heisenberg.h"

enum {
  FAST = GPUMC_OPERATION_START | GPUMC_OPERATION_TRANSFER | GPUMC_OPERATION_SWEEP |
         GPUMC_OPERATION_MEASURE | GPUMC_OPERATION_GATHER | GPUMC_OPERATION_EXCHANGE |
         GPUMC_OPERATION_COMPARE,
  ALL = FAST | GPUMC_OPERATION_WALK
};

const struct gpumc_kernel_ops heisenberg_double_cuda = {HEISENBERG_DOUBLE_NAMES, .device = "cuda",
                                                        .absent = ALL};
const struct gpumc_kernel_ops heisenberg_float_cuda = {HEISENBERG_FLOAT_NAMES, .device = "cuda",
                                                       .absent = ALL};
const struct gpumc_kernel_ops heisenberg_fast_cuda = {HEISENBERG_FAST_NAMES, .device = "cuda",
                                                      .absent = FAST};
