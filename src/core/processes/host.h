/* Divides the processors of a host among its processes, by the sets of processors that each may run
 * on.
 *
 * If a launcher binds processes to processors of their own, each takes its set; those that may run
 * on the same processors, as without binding, divide them. */
#ifndef GPUMC_CORE_HOST_H
#define GPUMC_CORE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/processes/processes.h"

/* Logical processors by their numbers; empty: unknown. */
enum { GPUMC_PROCESSORS_MAXIMUM = 1024 };
struct gpumc_processor_set {
  uint64_t word[GPUMC_PROCESSORS_MAXIMUM / 64];
};

/* Returns those that this process may run on; empty if the system does not say, if it has more than
 * a set can hold, or if OpenMP has bound the calling thread to some of them. */
struct gpumc_processor_set gpumc_processors_here(void);
/* Returns how many processors process number `i` of the `count` processes of a host takes: 1 or
 * more. Each processor goes to the process with the fewest so far among those that may run on it.
 * Processes with equal sets get equal parts, the first ones one more if there is a remainder. If
 * one of the sets is unknown, the result is a part of `processors`. */
int gpumc_processors_share(const struct gpumc_processor_set *sets, size_t count, size_t i,
                           int processors);

/* Returns the size of part number `i` of `parts` parts of the processors, at least 1; the first
 * parts are the larger ones. */
int gpumc_processors_part(int processors, size_t parts, size_t i);

/* Returns the share of this process; collective. */
int gpumc_processes_find_processors(const struct gpumc_processes *processes);

/* Returns the first of `size` processes that do not exist, `local_size` of them on its host: for
 * plans. Its operations are those of a single process. */
struct gpumc_processes gpumc_processes_planned(int size, int local_size);

#endif
