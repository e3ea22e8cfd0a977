/* A build without CUDA: no device opens that would ask for these. */
#include "algorithms/pa/pa_device.h"

const struct pa_steps pa_steps_gpu = {.found = NULL};
