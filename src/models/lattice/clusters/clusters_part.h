/* The numbers of Wolff's clusters of some runs, as they travel with launches on a GPU. */
#ifndef GPUMC_LATTICE_CLUSTERS_PART_H
#define GPUMC_LATTICE_CLUSTERS_PART_H

#include <stddef.h>
#include <stdint.h>

/* Runs first .. first + count - 1, and the clusters of a sweep of each; limit: see
 * lattice_wolff_limit(). */
enum { LATTICE_WOLFF_RUNS_AT_ONCE = 256 };
struct lattice_wolff_part {
  uint64_t limit;
  uint32_t first, count;
  uint32_t clusters[LATTICE_WOLFF_RUNS_AT_ONCE];
};

/* Returns the part that begins with run m of `runs`, whose steps these are. */
static inline struct lattice_wolff_part
lattice_wolff_part_of(const double *step, size_t runs, size_t m, uint64_t limit)
{
  struct lattice_wolff_part part;
  part.limit = limit;
  part.first = (uint32_t)m;
  part.count =
      (uint32_t)(runs - m < LATTICE_WOLFF_RUNS_AT_ONCE ? runs - m : LATTICE_WOLFF_RUNS_AT_ONCE);
  for (uint32_t i = 0; i < part.count; i++)
    part.clusters[i] = (uint32_t)step[m + i];
  return part;
}

#endif
