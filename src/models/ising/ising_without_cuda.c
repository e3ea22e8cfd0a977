/* A build without CUDA: the names of the kernels that it lacks. */
#include "models/ising/ising.h"
#include "models/ising/ising_takes.h"
#include "models/ising/tiled/tiled_names.h"

const struct gpumc_kernel_ops ising_multispin_cuda = {ISING_MULTISPIN_CUDA_NAMES, .absent = true};
const struct gpumc_kernel_ops ising_spin_cuda = {ISING_SPIN_CUDA_NAMES, .absent = true};
const struct gpumc_kernel_ops ising_replica_cuda = {ISING_REPLICA_CUDA_NAMES, .absent = true};
const struct gpumc_kernel_ops ising_packed_cuda = {ISING_PACKED_CUDA_NAMES, .absent = true};
const struct gpumc_kernel_ops ising_tiled_cuda = {ISING_TILED_NAMES, .device = "cuda",
                                                  .absent = true};
