/* What the kernels ask of a lattice and its couplings, in words (gpumc_kernel_ops.takes): the same
 * on every device where it says no more. What they refuse is decided by gpumc_kernel_ops.refuses.
 */
#ifndef GPUMC_ISING_TAKES_H
#define GPUMC_ISING_TAKES_H

#define ISING_TAKES_MULTISPIN                                                                      \
  "couplings that are all J, or +J and -J; random fields of one size. Replicas go in words of "    \
  "32, and each word takes the time of 32 however few there are"
#define ISING_TAKES_SPIN "any lattice, couplings and fields"
#define ISING_TAKES_WALKER                                                                         \
  ISING_TAKES_SPIN ". One thread sweeps a replica, so that thousands of replicas are needed"
#define ISING_TAKES_PACKED "Lx a multiple of 64; no disorder"
#define ISING_TAKES_TILED                                                                          \
  "sides that are multiples of 4, and of twice `kernel.tile` where that is given; no disorder"
#define ISING_TAKES_ON_CPUS ". Up to 2^32 sites"
#define ISING_TAKES_ON_GPUS ". Fewer than 2^31 sites"

/* What kernels on GPUs say of themselves, the same in builds with and without CUDA: designated
 * initialisers of a struct gpumc_kernel_ops. */
#define ISING_MULTISPIN_CUDA_NAMES                                                                 \
  .device = "cuda", .variant = "multispin", .cost = ising_multispin_cost,                          \
  .refuses = ising_multispin_gpu_refuses,                                                          \
  .summary = "one bit a spin, 32 replicas a word, bit-serial comparison in shared memory",         \
  .takes = ISING_TAKES_MULTISPIN ISING_TAKES_ON_GPUS, .trajectory = "ising.multispin.1",           \
  .moves = ising_moves, .n_moves = ISING_MOVES

#define ISING_SPIN_CUDA_NAMES                                                                      \
  .device = "cuda", .variant = "spin", .cost = ising_spin_cost, .refuses = ising_gpu_refuses,      \
  .summary = "one bit and one 32-bit random number a spin",                                        \
  .takes = ISING_TAKES_SPIN ISING_TAKES_ON_GPUS, .trajectory = "ising.spin.1",                     \
  .moves = ising_moves, .n_moves = ISING_MOVES

#define ISING_WALKER_CUDA_NAMES                                                                    \
  .device = "cuda", .variant = "walker", .former = "replica", .refuses = ising_gpu_refuses,        \
  .summary = "one thread a replica, for weights by a table; one byte and one 32-bit random "       \
             "number a spin",                                                                      \
  .takes = ISING_TAKES_WALKER ISING_TAKES_ON_GPUS, .trajectory = "ising.spin.1",                   \
  .moves = ising_moves, .n_moves = ISING_MOVES

#define ISING_PACKED_CUDA_NAMES                                                                    \
  .device = "cuda", .variant = "packed", .cost = ising_packed_cost,                                \
  .refuses = ising_packed_refuses,                                                                 \
  .summary = "one bit a spin, 32 sites of a row a word, for few large lattices without disorder",  \
  .takes = ISING_TAKES_PACKED, .trajectory = "ising.packed.1", .moves = ising_moves,               \
  .n_moves = ISING_MOVES

#endif
