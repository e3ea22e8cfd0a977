/* What a device spends its time on. An algorithm says which stage begins; the device keeps the
 * time, on a GPU by events on the stream, so that nothing waits. */
#ifndef GPUMC_CORE_STAGES_H
#define GPUMC_CORE_STAGES_H

#include <stddef.h>

#include "core/base/error.h"

/* Stages are numbers that an algorithm gives to the parts of its work, from 1 on; their names are
 * gpumc_algorithm_ops.stages. */
enum {
  GPUMC_STAGE_OTHER, /* nothing in particular, and waiting for the host */
  GPUMC_STAGES_MAXIMUM = 8
};

struct gpumc_device;

/* Of a device that works while the caller waits. */
struct gpumc_stopwatch {
  size_t stage;
  double begun; /* on the monotonic clock; 0: not yet */
  double seconds[GPUMC_STAGES_MAXIMUM];
};

/* Entries of gpumc_device_ops for the CPU, and for CUDA: the latter's memory is device->events. */
void gpumc_host_enter(struct gpumc_device *device, size_t stage);
GPUMC_MUST_CHECK enum gpumc_status gpumc_host_stage_seconds(struct gpumc_device *device,
                                                            double seconds[GPUMC_STAGES_MAXIMUM],
                                                            struct gpumc_error *error);
void gpumc_cuda_enter(struct gpumc_device *device, size_t stage);
GPUMC_MUST_CHECK enum gpumc_status gpumc_cuda_stage_seconds(struct gpumc_device *device,
                                                            double seconds[GPUMC_STAGES_MAXIMUM],
                                                            struct gpumc_error *error);
/* device->events; NULL is legal. */
void gpumc_cuda_stages_free(struct gpumc_device *device);

#endif
