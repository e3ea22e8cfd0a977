/* The population operations on the CPU. */
#ifndef GPUMC_CORE_POPULATION_CPU_H
#define GPUMC_CORE_POPULATION_CPU_H

#include "core/population.h"

extern const struct gpumc_population_ops gpumc_population_cpu;

/* The resampling entry of the table; a file of its own. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_population_cpu_resample(struct gpumc_device *device, const uint64_t *weight, size_t n,
                              const struct gpumc_resampling_request *request, uint32_t *parent,
                              uint32_t *scratch, size_t *size, struct gpumc_error *error);

#endif
