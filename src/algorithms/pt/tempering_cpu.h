/* Parallel tempering on the CPU: what its files share. */
#ifndef GPUMC_CORE_TEMPERING_CPU_H
#define GPUMC_CORE_TEMPERING_CPU_H

#include "algorithms/pt/tempering_isa.h"
#include "algorithms/pt/tempering_record.h"
#include "core/device/device.h"

extern const struct gpumc_tempering_ops gpumc_tempering_cpu;

/* Places that are worth a thread: tens of microseconds. */
enum { GPUMC_TEMPERING_PLACES_A_THREAD = 2048 };

static inline int gpumc_tempering_threads(const struct gpumc_tempering *tempering)
{
  const size_t useful =
      gpumc_tempering_places(&tempering->plan) / GPUMC_TEMPERING_PLACES_A_THREAD + 1;
  const size_t threads = (size_t)tempering->device->threads;
  return (int)(useful < threads ? useful : threads);
}

static inline const struct gpumc_tempering_loops *
gpumc_tempering_loops_of(const struct gpumc_tempering *tempering)
{
  return GPUMC_ISA_OBJECT(gpumc_tempering_loops, tempering->device->isa);
}

/* The entry of the table that has a file of its own. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_tempering_cpu_exchange(struct gpumc_tempering *tempering, struct gpumc_random random,
                             uint32_t round, struct gpumc_error *error);

#endif
