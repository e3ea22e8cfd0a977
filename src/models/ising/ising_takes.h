/* The requirements of kernels on a lattice and its couplings, in words (gpumc_kernel_ops.takes), if
 * several kernels share them. gpumc_kernel_ops.refuses decides what is refused. */
#ifndef GPUMC_ISING_TAKES_H
#define GPUMC_ISING_TAKES_H

#define ISING_TAKES_SPIN "any lattice, couplings and fields"
#define ISING_TAKES_ON_CPUS ". Up to 2^32 sites"
#define ISING_TAKES_ON_GPUS ". Fewer than 2^31 sites"

#endif
