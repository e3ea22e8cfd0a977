/* The names of the kernels on GPUs: the same in builds with and without CUDA. */
#ifndef GPUMC_ISING_GPU_H
#define GPUMC_ISING_GPU_H

#include "models/ising/ising_takes.h"

#define ISING_CUDA_CAPABILITIES                                                                    \
  (GPUMC_CAN_RANDOMIZE | GPUMC_CAN_TRANSFER | GPUMC_CAN_SWEEP | GPUMC_CAN_HEAT_BATH |              \
   GPUMC_CAN_MEASURE | GPUMC_CAN_GATHER | GPUMC_CAN_EXCHANGE | GPUMC_CAN_OVERLAP)

/* Designated initialisers of a struct gpumc_kernel_ops. */
#define ISING_MULTISPIN_CUDA_NAMES                                                                 \
  .device = "cuda", .variant = "multispin", .cost = ising_multispin_cost,                          \
  .refuses = ising_multispin_gpu_refuses,                                                          \
  .summary = "one bit a spin, 32 replicas a word, bit-serial comparison in shared memory",         \
  .takes = ISING_TAKES_MULTISPIN ISING_TAKES_ON_GPUS, .trajectory = "ising.multispin.1",           \
  .capabilities = ISING_CUDA_CAPABILITIES

#define ISING_SPIN_CUDA_NAMES                                                                      \
  .device = "cuda", .variant = "spin", .cost = ising_spin_cost, .refuses = ising_gpu_refuses,      \
  .summary = "one bit and one 32-bit random number a spin",                                        \
  .takes = ISING_TAKES_SPIN ISING_TAKES_ON_GPUS, .trajectory = "ising.spin.1",                     \
  .capabilities = ISING_CUDA_CAPABILITIES

#define ISING_REPLICA_CUDA_NAMES                                                                   \
  .device = "cuda", .variant = "replica", .refuses = ising_gpu_refuses,                            \
  .summary = "one thread a replica, one byte and one 32-bit random number a spin",                 \
  .takes = ISING_TAKES_REPLICA ISING_TAKES_ON_GPUS, .trajectory = "ising.spin.1",                  \
  .capabilities = ISING_CUDA_CAPABILITIES

#define ISING_PACKED_CUDA_NAMES                                                                    \
  .device = "cuda", .variant = "packed", .cost = ising_packed_cost,                                \
  .refuses = ising_packed_refuses,                                                                 \
  .summary = "one bit a spin, 32 sites of a row a word, for few large lattices without disorder",  \
  .takes = ISING_TAKES_PACKED, .trajectory = "ising.packed.1",                                     \
  .capabilities = ISING_CUDA_CAPABILITIES

#endif
