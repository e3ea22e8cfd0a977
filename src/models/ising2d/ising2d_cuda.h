/* The names of the kernels on GPUs: the same in builds with and without CUDA. */
#ifndef GPUMC_ISING2D_CUDA_H
#define GPUMC_ISING2D_CUDA_H

#define ISING2D_CUDA_CAPABILITIES                                                                  \
  (GPUMC_CAN_RANDOMIZE | GPUMC_CAN_TRANSFER | GPUMC_CAN_SWEEP | GPUMC_CAN_MEASURE |                \
   GPUMC_CAN_GATHER)

/* Designated initialisers of a struct gpumc_kernel_ops. */
#define ISING2D_MULTISPIN_CUDA_NAMES                                                               \
  .device = "cuda", .variant = "multispin",                                                        \
  .summary = "one bit a spin, 32 replicas a word, bit-serial Metropolis in shared memory",         \
  .trajectory = "ising2d.multispin.1", .capabilities = ISING2D_CUDA_CAPABILITIES

#define ISING2D_SPIN_CUDA_NAMES                                                                    \
  .device = "cuda", .variant = "spin", .summary = "one bit and one 32-bit random number a spin",   \
  .trajectory = "ising2d.spin.1", .capabilities = ISING2D_CUDA_CAPABILITIES

#define ISING2D_REPLICA_CUDA_NAMES                                                                 \
  .device = "cuda", .variant = "replica",                                                          \
  .summary = "one thread a replica, one byte and one 32-bit random number a spin",                 \
  .trajectory = "ising2d.spin.1", .capabilities = ISING2D_CUDA_CAPABILITIES

#endif
