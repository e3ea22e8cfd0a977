/* The resources that this process may take from the machine: host threads, with one bound for every
 * way to ask for them, and memory. Also a clock that nobody sets. */
#ifndef GPUMC_CORE_MACHINE_H
#define GPUMC_CORE_MACHINE_H

#include <stdbool.h>

#include "core/base/error.h"

/* libgomp keeps the threads of a region on the stack: gpumc stays far below its limit. */
enum { GPUMC_THREADS_MAXIMUM = 4096 };

/* Chooses `asked` threads or, if that is 0, the first number in OMP_NUM_THREADS or, if that is
 * unset or blank, as many as `processors` (0: all of the machine). GPUMC_INVALID for more than
 * GPUMC_THREADS_MAXIMUM or 32 per processor, and if OMP_NUM_THREADS is needed but is not a list of
 * numbers. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_threads_choose(int asked, int processors, int *threads, struct gpumc_error *error);

/* Checks whether the process can have that many threads now: starts the missing ones and ends them.
 * GPUMC_FAILURE if it cannot; libgomp would end the program without a message from gpumc and leave
 * all its files as they are. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_threads_try(int threads, struct gpumc_error *error);

/* Returns whether OMP_NUM_THREADS is unset, blank, or a list of usable numbers. */
bool gpumc_threads_environment_is_good(void);

/* ---- memory ---- */

/* Returns bytes: the least of the memory that the kernel calls available, that the control group
 * leaves and that the limit on the address space allows. Infinity if the system does not say. */
double gpumc_available_memory(void);

/* ---- time ---- */

/* Returns the seconds since some fixed instant. */
double gpumc_clock(void);

/* Stages by which time is counted: numbers from 1 that an algorithm gives to the parts of its work.
 * Their names are in gpumc_algorithm_ops.stages. */
enum {
  GPUMC_STAGE_OTHER, /* nothing in particular, and waiting for the host */
  GPUMC_STAGES_MAXIMUM = 8
};

#endif
