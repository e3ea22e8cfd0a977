/* How many host threads a run takes: one bound for every way to ask for them. */
#ifndef GPUMC_CORE_THREADS_H
#define GPUMC_CORE_THREADS_H

#include <stdbool.h>

#include "core/error.h"

/* libgomp takes the threads of a region on the stack, and ends the program without a word of ours
 * where the system has no more of them: gpumc stays far below either. */
enum { GPUMC_THREADS_MAXIMUM = 4096 };

/* `asked` threads, or where that is 0 the first of OMP_NUM_THREADS, or as many as there are
 * processors where that is unset or blank. GPUMC_INVALID for more than GPUMC_THREADS_MAXIMUM, and
 * for an OMP_NUM_THREADS that is needed and is no list of numbers. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_threads_choose(int asked, int *threads, struct gpumc_error *error);

/* Whether OMP_NUM_THREADS is unset, blank, or a list of numbers that can be taken. */
bool gpumc_threads_environment_is_good(void);

#endif
