/* Cluster moves on the CPU: the parts compiled once for each instruction-set level, and what the
 * kernel `spin` calls. */
#ifndef GPUMC_ISING_CLUSTER_H
#define GPUMC_ISING_CLUSTER_H

#include "core/numerics/isa.h"
#include "core/simulation/model.h"
#include "models/ising/cluster/cluster_rules.h"
#include "models/ising/ising_physics.h"
#include "models/lattice/clusters/clusters_squares_cpu.h"

/* ---- one replica, compiled once for each instruction-set level ---- */

/* 64 sites of a row (cluster_rows.h), or of a tile of Wolff's clusters. */
struct ising_cluster_word;
enum { ISING_ROW_WORD = 64, ISING_ROW_WORD_BYTES = 64 };

/* Returns the sites of a tile along each axis of a square or cubic lattice. */
static inline uint32_t ising_wolff_extent(uint32_t dimension)
{
  return dimension == 3 ? 4 : 8;
}

/* A sweep or a measurement of a replica. terms[dimension][sites]: couplings of a sample, and after
 * them its fields if there are random ones, in quanta; NULL: all are uniform.
 * Sweeps: words of all rows, or tiles; of the graph, label[sites] has runs, or lists of tiles;
 * turns[sites], in place of the graph's bonds: whether runs turn over.
 * Measurements: spins[sites], 1 up, 0 down, with room for some more vectors; the graph's flips are
 * those of names that are not joined to the ghost. */
struct ising_cluster_work {
  struct lattice_cluster_graph graph;
  struct ising_cluster_rule rule;
  const int32_t *terms;
  bool random_fields;
  struct ising_cluster_word *words;
  uint8_t *turns, *spins;
};

/* Swendsen-Wang, on the layers first .. end - 1, each of which belongs to one thread. */
struct ising_runs_ops {
  /* Copies spins from those of the kernel, by colour, or back to them. */
  void (*load)(const struct ising_cluster_work *work, const uint8_t *coloured, size_t first,
               size_t end);
  void (*store)(const struct ising_cluster_work *work, uint8_t *coloured, size_t first, size_t end);
  /* Draws the flips of their names and the bonds of their sites, and labels runs by the bonds
   * within them. */
  void (*bind)(const struct ising_cluster_work *work, size_t first, size_t end);
  /* After all have done so: joins clusters by the bonds from the last of them to the next layer. */
  void (*join)(const struct ising_cluster_work *work, size_t end);
  /* After that, in a field: clusters joined to the ghost stay. */
  void (*hold)(const struct ising_cluster_work *work, size_t first, size_t end);
  /* After that: flips clusters. */
  void (*flip)(const struct ising_cluster_work *work, size_t first, size_t end);
};

/* Wolff's clusters: copies of spins as above, and a sweep that flips this number of clusters, or
 * fewer that have `limit` sites; it returns the sites that it flipped. */
struct ising_wolff_ops {
  void (*load)(const struct ising_cluster_work *work, const uint8_t *coloured);
  void (*store)(const struct ising_cluster_work *work, uint8_t *coloured);
  uint64_t (*sweep)(const struct ising_cluster_work *work, uint32_t clusters, uint64_t limit);
};

/* Measurements: the names of all sites. */
struct ising_cluster_ops {
  void (*load)(const struct ising_cluster_work *work, const uint8_t *coloured, size_t first,
               size_t end);
  /* Draws the bonds of their sites, and labels clusters by the bonds within them. */
  void (*bind)(const struct ising_cluster_work *work, size_t first, size_t end);
  /* After all have done so: joins clusters by the bonds from the last of them to the next layer. */
  void (*join)(const struct ising_cluster_work *work, size_t end);
  /* After that: finds the names of clusters, and which are joined to the ghost. */
  void (*name)(const struct ising_cluster_work *work, size_t first, size_t end);
};

#ifdef GPUMC_ISA_X86_64
extern const struct ising_runs_ops ising_runs_v2, ising_runs_v3, ising_runs_v4;
extern const struct ising_wolff_ops ising_wolff_v2, ising_wolff_v3, ising_wolff_v4;
extern const struct ising_cluster_ops ising_cluster_v2, ising_cluster_v3, ising_cluster_v4;
#else
extern const struct ising_runs_ops ising_runs_portable;
extern const struct ising_wolff_ops ising_wolff_portable;
extern const struct ising_cluster_ops ising_cluster_portable;
#endif

/* lattice_cluster_sum, of an ising_cluster_work. */
void ising_cluster_sum(const void *of, const struct lattice_cluster_squares *squares, size_t first,
                       size_t end);

/* ---- ensembles ---- */

/* The working memory of threads, rules of the runs and samples by site. */
struct ising_cluster_cpu {
  struct lattice_clusters_cpu memory;
  struct ising_cluster_rule *rule; /* [plan.runs] */
  int32_t *terms;                  /* [samples][terms of a sample]; NULL: none */
  size_t sample_terms;
  bool random_fields;
};

/* Whether the move of the sweeps being made is one of clusters, and whether any of the plan is. */
static inline bool ising_cluster_moves(const struct gpumc_ensemble_plan *plan)
{
  return plan->move >= ISING_LOCAL_MOVES;
}
static inline bool ising_cluster_is_planned(const struct gpumc_ensemble_plan *plan)
{
  return gpumc_plan_makes(plan, ISING_MOVE_SWENDSEN_WANG) ||
         gpumc_plan_makes(plan, ISING_MOVE_WOLFF);
}

/* For plans with such a move; the first is 0 for others. Free is legal on a zeroed object. */
size_t ising_cluster_cpu_bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                               const struct gpumc_ensemble_plan *plan);
GPUMC_MUST_CHECK enum gpumc_status ising_cluster_cpu_create(const struct gpumc_ensemble *ensemble,
                                                            struct ising_cluster_cpu *clusters,
                                                            struct gpumc_error *error);
void ising_cluster_cpu_free(struct ising_cluster_cpu *clusters);

/* gpumc_kernel_ops.sweep without channels, for replicas of lattice_cpu_storage, one a block. */
void ising_cluster_cpu_sweep(const struct gpumc_ensemble *ensemble,
                             const struct ising_cluster_cpu *clusters, const double *control,
                             uint32_t sweeps);
/* Measures the wanted ones of the channels ISING_CLUSTER_SQUARE and ISING_CLUSTER_WAVE, with the
 * bonds of a sweep with that time. */
void ising_cluster_cpu_measure(const struct gpumc_ensemble *ensemble,
                               const struct ising_cluster_cpu *clusters, const double *control,
                               uint32_t time, const struct lattice_cluster_scale *scale,
                               int64_t *const *channel);

#endif
