/* The kernels of all models of Ising spins, in order of preference. */
#include "models/ising/ising.h"

const struct gpumc_kernel_ops *const ising_kernels[] = {&ising_multispin_cpu,  &ising_spin_cpu,
                                                        &ising_multispin_cuda, &ising_spin_cuda,
                                                        &ising_replica_cuda,   &ising_tiled_cpu,
                                                        &ising_tiled_cuda,     NULL};
