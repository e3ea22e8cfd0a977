/* Parallel tempering on the CPU: what its files share. */
#ifndef GPUMC_CORE_TEMPERING_CPU_H
#define GPUMC_CORE_TEMPERING_CPU_H

#include "core/device.h"
#include "core/tempering.h"

extern const struct gpumc_tempering_ops gpumc_tempering_cpu;

/* The entry of the table that has a file of its own. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_tempering_cpu_exchange(struct gpumc_tempering *tempering, struct gpumc_random random,
                             uint32_t round, struct gpumc_error *error);

#endif
