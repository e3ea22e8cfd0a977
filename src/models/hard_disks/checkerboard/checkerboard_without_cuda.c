/* A build without CUDA: the name of the missing kernel. */
#include "models/hard_disks/hard_disks.h"

const struct gpumc_kernel_ops hard_disks_checkerboard_cuda = {
    HARD_DISKS_CHECKERBOARD_NAMES, .device = "cuda",
    .absent = GPUMC_OPERATION_START | GPUMC_OPERATION_TRANSFER | GPUMC_OPERATION_SWEEP |
              GPUMC_OPERATION_MEASURE | GPUMC_OPERATION_GATHER | GPUMC_OPERATION_EXCHANGE};
