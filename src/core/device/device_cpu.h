/* The CPU as a device. */
#ifndef GPUMC_CORE_DEVICE_CPU_H
#define GPUMC_CORE_DEVICE_CPU_H

#include <stddef.h>

#include "core/device/device.h"

/* Fills in all fields except `isa`; `threads` > 0. */
void gpumc_device_cpu_open(int threads, struct gpumc_device *device);

/* Implements gpumc_device_ops.tally, in a file of its own. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_tally_cpu(struct gpumc_device *device, const struct gpumc_tally *tally,
                const struct gpumc_tally_values *values, struct gpumc_error *error);

/* Writes "AMD EPYC 9654 96-Core Processor", or "processor" if the system does not say. */
void gpumc_processor_name(char *name, size_t size);

#endif
