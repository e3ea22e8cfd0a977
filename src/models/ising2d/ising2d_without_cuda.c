/* A build without CUDA: the names of the kernels that it lacks. */
#include "models/ising2d/ising2d.h"

enum {
  CAPABILITIES = GPUMC_CAN_RANDOMIZE | GPUMC_CAN_TRANSFER | GPUMC_CAN_SWEEP | GPUMC_CAN_MEASURE |
                 GPUMC_CAN_GATHER,
};

const struct gpumc_kernel_ops ising2d_multispin_cuda = {
    .device = "cuda",
    .variant = "multispin",
    .summary = "one bit a spin, 32 replicas a word, bit-serial Metropolis in shared memory",
    .trajectory = "ising2d.multispin.1",
    .capabilities = CAPABILITIES,
    .absent = true,
};

const struct gpumc_kernel_ops ising2d_spin_cuda = {
    .device = "cuda",
    .variant = "spin",
    .summary = "one bit and one 32-bit random number a spin",
    .trajectory = "ising2d.spin.1",
    .capabilities = CAPABILITIES,
    .absent = true,
};

const struct gpumc_kernel_ops ising2d_replica_cuda = {
    .device = "cuda",
    .variant = "replica",
    .summary = "one thread a replica, one byte and one 32-bit random number a spin",
    .trajectory = "ising2d.spin.1",
    .capabilities = CAPABILITIES,
    .absent = true,
};
