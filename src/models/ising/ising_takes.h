/* What kernels ask of a lattice and its couplings, in words (gpumc_kernel_ops.takes), where more
 * than one of them does. What they refuse is decided by gpumc_kernel_ops.refuses. */
#ifndef GPUMC_ISING_TAKES_H
#define GPUMC_ISING_TAKES_H

#define ISING_TAKES_SPIN "any lattice, couplings and fields"
#define ISING_TAKES_WALKER                                                                         \
  ISING_TAKES_SPIN ". One thread sweeps a replica, so that thousands of replicas are needed"
#define ISING_TAKES_ON_CPUS ". Up to 2^32 sites"
#define ISING_TAKES_ON_GPUS ". Fewer than 2^31 sites"

/* What `walker` on GPUs says of itself, in builds with and without CUDA: designated initialisers of
 * a struct gpumc_kernel_ops. */
#define ISING_WALKER_CUDA_NAMES                                                                    \
  .device = "cuda", .variant = "walker", .former = "replica", .refuses = ising_gpu_refuses,        \
  .summary = "one thread a replica, for weights by a table; one byte and one 32-bit random "       \
             "number a spin",                                                                      \
  .takes = ISING_TAKES_WALKER ISING_TAKES_ON_GPUS, .trajectory = "ising.spin.1",                   \
  .moves = ising_moves, .n_moves = ISING_MOVES

#endif
