/* What the CUDA kernels of one number a spin measure, and where it goes. */
#ifndef GPUMC_ISING_SPIN_MEASURED_CUDA_H
#define GPUMC_ISING_SPIN_MEASURED_CUDA_H

#include "core/simulation/kernel.h"

/* Of the replicas of the runs first .. first + runs - 1, or of their products with those of the
 * runs from `second` on. Arrays [runs][capacity], NULL: not wanted; energies only of replicas,
 * links (the sum of s_i s_j over the bonds) only of products. */
struct ising_measured {
  uint32_t first, second, runs, product;
  int64_t *energy, *spins, *links, *wave;
};

/* For gpumc_kernel_ops.measure and overlap. */
struct ising_measured ising_measured_channels(size_t runs, int64_t *const *channel);
struct ising_measured ising_measured_overlaps(size_t first, size_t second, size_t runs,
                                              int64_t *const overlap[GPUMC_OVERLAPS]);

#endif
