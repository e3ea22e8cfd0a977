/* What this process may take of the machine: host threads, one bound for every way to ask for them,
 * and memory; and a clock that nobody sets. */
#ifndef GPUMC_CORE_MACHINE_H
#define GPUMC_CORE_MACHINE_H

#include <stdbool.h>

#include "core/base/error.h"

/* libgomp takes the threads of a region on the stack: gpumc stays far below. */
enum { GPUMC_THREADS_MAXIMUM = 4096 };

/* `asked` threads, or where that is 0 the first of OMP_NUM_THREADS, or as many as `processors`, 0:
 * all that there are, where that is unset or blank. GPUMC_INVALID for more than
 * GPUMC_THREADS_MAXIMUM or 32 for each processor, and for an OMP_NUM_THREADS that is needed and is
 * no list of numbers. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_threads_choose(int asked, int processors, int *threads, struct gpumc_error *error);

/* Whether the process can have that many threads now: starts those that it has not, and ends them.
 * GPUMC_FAILURE where it cannot; libgomp would end the program, without a word of ours and with all
 * its files as they are. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_threads_try(int threads, struct gpumc_error *error);

/* Whether OMP_NUM_THREADS is unset, blank, or a list of numbers that can be taken. */
bool gpumc_threads_environment_is_good(void);

/* ---- memory ---- */

/* Bytes: the least of what the kernel calls available, what the control group leaves and the limit
 * on the address space. Infinity where the system does not tell. */
double gpumc_available_memory(void);

/* ---- time ---- */

/* Seconds since some fixed instant. */
double gpumc_clock(void);

/* Stages, by which time is counted: numbers that an algorithm gives to the parts of its work, from
 * 1 on; their names are gpumc_algorithm_ops.stages. */
enum {
  GPUMC_STAGE_OTHER, /* nothing in particular, and waiting for the host */
  GPUMC_STAGES_MAXIMUM = 8
};

#endif
