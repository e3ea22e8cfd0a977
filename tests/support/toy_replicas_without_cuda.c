/* A build without CUDA has no layouts in GPU memory. */
#include "support/toy_replicas.h"

const struct gpumc_kernel_ops *const toy_cuda_kernels[] = {NULL};
