/* The CPU as a device. */
#ifndef GPUMC_CORE_DEVICE_CPU_H
#define GPUMC_CORE_DEVICE_CPU_H

#include <stddef.h>

#include "core/device/device.h"

/* Fills all but `isa`; `threads` > 0. */
void gpumc_device_cpu_open(int threads, struct gpumc_device *device);

/* "AMD EPYC 9654 96-Core Processor"; "processor" where the system does not tell. */
void gpumc_processor_name(char *name, size_t size);

#endif
