/* Cluster moves on the CPU: working memory, and threads over replicas, or over the layers of one
 * lattice after the other if there are few and large ones. The model's kernel has the sweeps of a
 * replica.
 *
 *   lattice_clusters_cpu_create(...);
 *   lattice_clusters_cpu_sweep(ensemble, &clusters, sweep_replica, sweeps);
 */
#ifndef GPUMC_LATTICE_CLUSTERS_CPU_H
#define GPUMC_LATTICE_CLUSTERS_CPU_H

#include "models/lattice/clusters/clusters_graph.h"
#include "models/lattice/replicas_cpu.h"

/* The working memory of threads. `shared`: a lattice is the work of all threads, not of one. */
struct lattice_clusters_cpu {
  struct lattice_cluster_shape shape;
  size_t own_bytes; /* of an area, for the model */
  bool shared;
  uint8_t *area; /* [areas][area_bytes] */
  size_t areas, area_bytes;
  int threads;
};

/* Returns a description without memory. own_bytes: what the model needs of an area, which is on
 * cache lines of its own; `layered`, `alone`: whether the plan has moves whose sweeps are the work
 * of several threads, and moves whose sweeps are not. */
struct lattice_clusters_cpu lattice_clusters_cpu_of(const struct gpumc_checkerboard *lattice,
                                                    const struct gpumc_device *device,
                                                    const struct gpumc_ensemble_plan *plan,
                                                    size_t own_bytes, bool layered, bool alone);

/* Free is legal on a zeroed object. */
GPUMC_MUST_CHECK enum gpumc_status
lattice_clusters_cpu_create(struct lattice_clusters_cpu *clusters, struct gpumc_error *error);
void lattice_clusters_cpu_free(struct lattice_clusters_cpu *clusters);

static inline size_t lattice_clusters_cpu_bytes(const struct lattice_clusters_cpu *clusters)
{
  return clusters->areas * clusters->area_bytes;
}

/* Returns `bytes`, and what vectors reach beyond an array, in whole cache lines. */
size_t lattice_clusters_lines(size_t bytes);

/* What a thread works on: the layers first .. end - 1 of a replica, alone or in a team. `own`: the
 * model's memory of the area; `with`: what it passed to lattice_clusters_cpu_sweep(). */
struct lattice_cluster_part {
  const struct lattice_clusters_cpu *clusters;
  const void *with;
  struct lattice_cluster_graph graph;
  const struct lattice_cpu_place *place;
  size_t first, end;
  uint8_t *own;
};

/* Waits for the other threads of a team that share a lattice. */
static inline void lattice_cluster_wait(const struct lattice_cluster_part *part)
{
  if (part->clusters->shared) {
#pragma omp barrier
  }
}

/* Makes `sweeps` sweeps of a replica, from part->graph.time on. */
typedef void lattice_cluster_sweeps(const struct gpumc_ensemble *ensemble,
                                    const struct lattice_cluster_part *part, uint32_t sweeps);

/* Calls `sweep` for all replicas, a team of threads for one after the other if they share it. */
void lattice_clusters_cpu_sweep(const struct gpumc_ensemble *ensemble,
                                const struct lattice_clusters_cpu *clusters, const void *with,
                                lattice_cluster_sweeps *sweep, uint32_t sweeps);

#endif
