/* A build without CUDA: no device opens that would ask for these. */
#include "algorithms/pt/pt_device.h"

const struct pt_steps pt_steps_gpu = {.accumulate = NULL};
