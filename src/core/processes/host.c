/* Processors of a host, divided among the processes that may run on them. */
#include "core/processes/host.h"

#include <omp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static bool has(const struct gpumc_processor_set *set, size_t processor)
{
  return (set->word[processor / 64] >> processor % 64 & 1) != 0;
}

static bool is_empty(const struct gpumc_processor_set *set)
{
  static const struct gpumc_processor_set none;
  return memcmp(set, &none, sizeof none) == 0;
}

struct gpumc_processor_set gpumc_processors_here(void)
{
  struct gpumc_processor_set set = {0};
  cpu_set_t found;
  CPU_ZERO(&found);
  if (sched_getaffinity(0, sizeof found, &found) != 0 || CPU_COUNT(&found) != omp_get_num_procs())
    return set;
  for (size_t p = 0; p < GPUMC_PROCESSORS_MAXIMUM; p++)
    if (CPU_ISSET(p, &found))
      set.word[p / 64] |= UINT64_C(1) << p % 64;
  return set;
}

static int at_least_one(size_t count)
{
  return count > 1 ? (int)count : 1;
}

int gpumc_processors_part(int processors, size_t parts, size_t i)
{
  return at_least_one((size_t)processors / parts + ((size_t)processors % parts > i));
}

/* Returns the process that takes a processor: the first one with the fewest so far among those that
 * may; `count` if there is none. */
static size_t
taker(const struct gpumc_processor_set *sets, size_t count, const size_t *taken, size_t processor)
{
  size_t least = count;
  for (size_t i = 0; i < count; i++)
    if (has(&sets[i], processor) && (least == count || taken[i] < taken[least]))
      least = i;
  return least;
}

int gpumc_processors_share(const struct gpumc_processor_set *sets, size_t count, size_t i,
                           int processors)
{
  bool known = true;
  for (size_t k = 0; k < count; k++)
    known = known && !is_empty(&sets[k]);
  size_t *taken = known ? calloc(count, sizeof *taken) : NULL;
  if (taken == NULL)
    return gpumc_processors_part(processors, count, i);
  for (size_t p = 0; p < GPUMC_PROCESSORS_MAXIMUM; p++) {
    const size_t k = taker(sets, count, taken, p);
    if (k < count)
      taken[k]++;
  }
  const int share = at_least_one(taken[i]);
  free(taken);
  return share;
}

/* What each process sends to the others. */
struct notice {
  int64_t host; /* rank of the first process there */
  struct gpumc_processor_set set;
};

/* Returns the share of this process, from all processes' notices; 0: out of memory. */
static int share_of(const struct gpumc_processes *processes, const struct notice *notices)
{
  const struct gpumc_module *module = &processes->module;
  struct gpumc_processor_set *sets = calloc((size_t)module->local_size, sizeof *sets);
  if (sets == NULL)
    return 0;
  size_t count = 0, own = 0;
  for (int p = 0; p < module->size && count < (size_t)module->local_size; p++) {
    if (notices[p].host != module->host)
      continue;
    if (p == module->rank)
      own = count;
    sets[count++] = notices[p].set;
  }
  const int share =
      gpumc_processors_share(sets, (size_t)module->local_size, own, omp_get_num_procs());
  free(sets);
  return share;
}

int gpumc_processes_find_processors(const struct gpumc_processes *processes)
{
  const struct gpumc_module *module = &processes->module;
  const size_t size = (size_t)module->size;
  const struct notice own = {.host = module->host, .set = gpumc_processors_here()};
  struct notice *notices = calloc(size, sizeof *notices);
  size_t *counts = calloc(size, sizeof *counts);
  uint64_t lacks = notices == NULL || counts == NULL;
  int share = 0;
  gpumc_processes_largest(processes, &lacks, 1);
  if (lacks == 0) {
    for (size_t p = 0; p < size; p++)
      counts[p] = sizeof own;
    gpumc_processes_gather(processes, &own, notices, counts, GPUMC_TO_ALL);
    share = share_of(processes, notices);
  }
  free(notices);
  free(counts);
  return share > 0 ? share
                   : gpumc_processors_part(omp_get_num_procs(), (size_t)module->local_size,
                                           (size_t)module->local_rank);
}

struct gpumc_processes gpumc_processes_planned(int size, int local_size)
{
  struct gpumc_processes planned = *gpumc_processes_alone();
  planned.module.size = size;
  planned.module.local_size = local_size;
  planned.processors = gpumc_processors_part(omp_get_num_procs(), (size_t)local_size, 0);
  return planned;
}
