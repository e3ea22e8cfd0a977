/* Tests that need a GPU. */
#ifndef TESTS_SUPPORT_GPU_H
#define TESTS_SUPPORT_GPU_H

#include "core/device.h"

/* Open the first GPU. Without one the test is skipped, or fails with GPUMC_REQUIRE_CUDA=1. */
void open_gpu(struct gpumc_device *device);

#endif
