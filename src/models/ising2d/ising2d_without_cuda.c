/* A build without CUDA: the names of the kernels that it lacks. */
#include "models/ising2d/ising2d.h"
#include "models/ising2d/ising2d_cuda.h"

const struct gpumc_kernel_ops ising2d_multispin_cuda = {ISING2D_MULTISPIN_CUDA_NAMES,
                                                        .absent = true};
const struct gpumc_kernel_ops ising2d_spin_cuda = {ISING2D_SPIN_CUDA_NAMES, .absent = true};
const struct gpumc_kernel_ops ising2d_replica_cuda = {ISING2D_REPLICA_CUDA_NAMES, .absent = true};
