/* Squares of sums over the clusters of a replica on the CPU (clusters_squares.h), after their names
 * are found:
 *
 *   squares = lattice_cluster_squares_of(&part, &scale, memory, channel_of_squares, of_waves);
 *   lattice_cluster_squares_measure(&squares, &part, sum, &work, replica);
 */
#ifndef GPUMC_LATTICE_CLUSTERS_SQUARES_CPU_H
#define GPUMC_LATTICE_CLUSTERS_SQUARES_CPU_H

#include "models/lattice/clusters/clusters_cpu.h"
#include "models/lattice/clusters/clusters_squares.h"

/* The wanted sums of a replica, sum[name][width] of the kinds kind[width]; `shared`: several
 * threads add to them. The graph's flips are set for names of clusters that are not joined to the
 * ghost. */
struct lattice_cluster_squares {
  const struct lattice_cluster_graph *graph;
  const struct lattice_cluster_scale *scale;
  bool shared;
  uint32_t width, kind[LATTICE_CLUSTER_SUMS];
  int64_t *sum, *square, *wave;
  struct lattice_cluster_totals *totals;
};

/* Returns the bytes of sums and totals. */
size_t lattice_cluster_squares_bytes(const struct lattice_wave *wave, size_t sites);

/* square, wave: the channels of all replicas; NULL: not wanted. */
struct lattice_cluster_squares lattice_cluster_squares_of(const struct lattice_cluster_part *part,
                                                          const struct lattice_cluster_scale *scale,
                                                          void *memory, int64_t *square,
                                                          int64_t *wave);

/* Computes for each sum, factor[width], the number of the table that the sites of a row have in
 * common: 1 for spins; waves along x have another one for each site. */
void lattice_cluster_squares_factors(const struct lattice_cluster_squares *squares, size_t line,
                                     int32_t *factor);

/* Adds what a run of sites beside each other has, value[width], to the sums of their name. */
static inline void lattice_cluster_squares_count(const struct lattice_cluster_squares *squares,
                                                 uint32_t name, const int64_t *value)
{
  int64_t *sum = squares->sum + (size_t)name * squares->width;
  for (size_t w = 0; w < squares->width; w++)
    if (squares->shared)
      __atomic_fetch_add(&sum[w], value[w], __ATOMIC_RELAXED);
    else
      sum[w] += value[w];
}

/* The model's, of its `work` on a replica: counts all sites of the layers first .. end - 1. */
typedef void lattice_cluster_sum(const void *work, const struct lattice_cluster_squares *squares,
                                 size_t first, size_t end);

/* Writes the channels of replica number `at`, as one of the threads that share the lattice. */
void lattice_cluster_squares_measure(const struct lattice_cluster_squares *squares,
                                     const struct lattice_cluster_part *part,
                                     lattice_cluster_sum *sum, const void *work, size_t at);

#endif
