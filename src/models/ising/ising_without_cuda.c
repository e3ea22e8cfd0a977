/* A build without CUDA: the names of the missing kernels. */
#include "models/ising/ising.h"
#include "models/ising/multispin/multispin_tables.h"
#include "models/ising/packed/packed.h"
#include "models/ising/spin/spin_rule.h"
#include "models/ising/tiled/tiled.h"
#include "models/ising/walker/walker.h"

enum {
  TILED = GPUMC_OPERATION_START | GPUMC_OPERATION_TRANSFER | GPUMC_OPERATION_SWEEP |
          GPUMC_OPERATION_MEASURE,
  ALL = TILED | GPUMC_OPERATION_GATHER | GPUMC_OPERATION_EXCHANGE | GPUMC_OPERATION_COMPARE
};

const struct gpumc_kernel_ops ising_multispin_cuda = {ISING_MULTISPIN_CUDA_NAMES,
                                                      .absent = ALL | GPUMC_OPERATION_CLUSTERS};
const struct gpumc_kernel_ops ising_spin_cuda = {ISING_SPIN_CUDA_NAMES,
                                                 .absent = ALL | GPUMC_OPERATION_CLUSTERS};
const struct gpumc_kernel_ops ising_walker_cuda = {ISING_WALKER_CUDA_NAMES,
                                                   .absent = ALL | GPUMC_OPERATION_WALK};
const struct gpumc_kernel_ops ising_packed_cuda = {ISING_PACKED_NAMES, .device = "cuda",
                                                   .absent = ALL};
const struct gpumc_kernel_ops ising_tiled_cuda = {ISING_TILED_NAMES, .device = "cuda",
                                                  .absent = TILED};
