/* A build without CUDA: no device is opened that would need these. */
#include "algorithms/pt/pt_device.h"

const struct pt_steps pt_steps_gpu = {.accumulate = NULL};
