/* What the processes of one host share: its processors, by the sets that each of them may run on.
 *
 * Where a launcher binds processes to processors of their own, each takes its set; where several
 * may run on the same ones, as without binding, they divide them. */
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

/* Those that this process may run on; empty where the system does not tell, has more of them than a
 * set can hold, or where OpenMP has bound the calling thread to some of them. */
struct gpumc_processor_set gpumc_processors_here(void);
/* How many processors process number `i` of the `count` processes of a host takes: 1 or more. Each
 * processor is taken by one of those that may run on it, and the one with the fewest so far has it;
 * of sets that are alike parts are even, and the first ones have what is left over. Of sets among
 * which one is unknown: a part of `processors`. */
int gpumc_processors_share(const struct gpumc_processor_set *sets, size_t count, size_t i,
                           int processors);

/* Part number `i` of `parts` of so many processors, 1 at least; the first parts are the larger
 * ones. */
int gpumc_processors_part(int processors, size_t parts, size_t i);

/* Of all processes together: the share of this one. */
int gpumc_processes_find_processors(const struct gpumc_processes *processes);

/* The first of `size` processes that are not there, `local_size` of them on its host: for plans.
 * Its operations are those of a single process. */
struct gpumc_processes gpumc_processes_planned(int size, int local_size);

#endif
