/* The kernels of the models of Ising spins, in order of preference. */
#include "models/ising/ising.h"

#define ISING_ALL_INSTANCES                                                                        \
  &ising_multispin_cpu, &ising_spin_cpu, &ising_multispin_cuda, &ising_spin_cuda,                  \
      &ising_walker_cuda, &ising_walker_cpu

const struct gpumc_kernel_ops *const ising_kernels[] = {ISING_ALL_INSTANCES, &ising_packed_cpu,
                                                        &ising_packed_cuda,  &ising_tiled_cpu,
                                                        &ising_tiled_cuda,   NULL};
const struct gpumc_kernel_ops *const ising_disorder_kernels[] = {ISING_ALL_INSTANCES, NULL};
