/* Assigns places after resampling, for both compilers, by one prefix sum: child k of those that
 * need a place takes free place k, both counted through the whole population in ascending order of
 * parents and of places. A replica with copies that has a place of its own keeps it; all its other
 * children, and all children of other replicas, need one.
 *
 * In a population divided among processes each process scans its own replicas. Its first child and
 * its first free place have different numbers in the whole; the difference is its shift. */
#ifndef GPUMC_ALGORITHMS_PA_PLACES_H
#define GPUMC_ALGORITHMS_PA_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/numerics/host_device.h"

/* Returns what is scanned, for each element of a run: in the high word the children of r that need
 * a place, in the low word whether place r is free. `is_place`: r is below the new size. */
GPUMC_HOST_DEVICE static inline uint64_t pa_demand_and_supply(uint32_t copies, bool is_place)
{
  const uint64_t children = copies - (is_place && copies > 0);
  return children << 32 | (is_place && copies == 0);
}

/* Both are read from the sums over the elements before each, in a run. */
GPUMC_HOST_DEVICE static inline uint32_t pa_children_before(const uint64_t *scanned, size_t r)
{
  return (uint32_t)((scanned[r] - scanned[0]) >> 32);
}

GPUMC_HOST_DEVICE static inline uint32_t pa_places_before(const uint64_t *scanned, size_t r)
{
  return (uint32_t)(scanned[r] - scanned[0]);
}

enum pa_count { PA_PLACES_BEFORE, PA_CHILDREN_BEFORE };

/* Returns the last of n replicas with no more than `number` of the counted before it. */
GPUMC_HOST_DEVICE static inline uint32_t
pa_last_before(const uint64_t *scanned, size_t n, enum pa_count counted, uint32_t number)
{
  size_t low = 0, high = n;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    const uint32_t before = counted == PA_CHILDREN_BEFORE ? pa_children_before(scanned, middle)
                                                          : pa_places_before(scanned, middle);
    if (before <= number)
      low = middle;
    else
      high = middle;
  }
  return (uint32_t)low;
}

/* Returns the parent, out of n replicas, of child number `child`. */
GPUMC_HOST_DEVICE static inline uint32_t
pa_parent_of_child(const uint64_t *scanned, size_t n, uint32_t child)
{
  return pa_last_before(scanned, n, PA_CHILDREN_BEFORE, child);
}

/* Returns free place number `number`, of `size` places. */
GPUMC_HOST_DEVICE static inline uint32_t
pa_place_of_number(const uint64_t *scanned, size_t size, uint32_t number)
{
  return pa_last_before(scanned, size, PA_PLACES_BEFORE, number);
}

#endif
