/* A build without CUDA: no device is opened that would need these. */
#include "algorithms/pa/pa_device.h"

const struct pa_steps pa_steps_gpu = {.found = NULL};
