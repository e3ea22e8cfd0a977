/* Cluster moves of O(n) spins on the CPU: the parts compiled once for each instruction-set level,
 * and what the kernels `double` and `float` call. */
#ifndef GPUMC_HEISENBERG_CLUSTER_H
#define GPUMC_HEISENBERG_CLUSTER_H

#include "core/numerics/isa.h"
#include "models/heisenberg/cluster/cluster_physics.h"
#include "models/heisenberg/heisenberg.h"
#include "models/lattice/clusters/clusters_squares_cpu.h"

/* ---- one replica, compiled once for each instruction-set level ---- */

/* Sites of a block, whose bonds are drawn when one of Wolff's clusters first comes there. */
enum { HEISENBERG_CLUSTER_BLOCK = 32 };

/* A sweep of a replica, or a measurement, in which nothing is reflected. coupling, field: J (J w
 * with `couplings`) and h; couplings and spins as in heisenberg_isa.h. In the order of sites, with
 * room for some more vectors: along[sites], the components along r, in the kernel's precision. For
 * Wolff's clusters marks[sites], and used and state[blocks of sites]. */
struct heisenberg_cluster_work {
  struct lattice_cluster_graph graph;
  bool measures;
  int components;
  double beta, coupling, field;
  const void *couplings;
  void *spins, *along;
  uint8_t *marks, *state;
  uint32_t *used;
};

/* All but `wolff` work on the layers first .. end - 1, each of which belongs to one thread. */
struct heisenberg_cluster_ops {
  /* Computes the components along r. */
  void (*project)(const struct heisenberg_cluster_work *work, size_t first, size_t end);
  /* After all have done so: draws the flips of their names, of which a measurement sets all, and
   * the bonds of their sites, and labels clusters by the bonds within them. */
  void (*bind)(const struct heisenberg_cluster_work *work, size_t first, size_t end);
  /* After that: joins clusters by the bonds from the last of them to the next layer. */
  void (*join)(const struct heisenberg_cluster_work *work, size_t end);
  /* After that: finds the names of clusters, and without a field reflects those that are flipped.
   */
  void (*name)(const struct heisenberg_cluster_work *work, size_t first, size_t end);
  /* After that, in a field: reflects clusters, those joined to the ghost left out. */
  void (*flip)(const struct heisenberg_cluster_work *work, size_t first, size_t end);
  /* lattice_cluster_sum, of a heisenberg_cluster_work: components along r. */
  lattice_cluster_sum *sum;
  /* Reflects that many of Wolff's clusters, or fewer that have `limit` sites; returns theirs. */
  uint64_t (*wolff)(const struct heisenberg_cluster_work *work, uint32_t clusters, uint64_t limit);
};

#ifdef GPUMC_ISA_X86_64
extern const struct heisenberg_cluster_ops heisenberg_cluster_double_v2,
    heisenberg_cluster_double_v3, heisenberg_cluster_double_v4;
extern const struct heisenberg_cluster_ops heisenberg_cluster_float_v2, heisenberg_cluster_float_v3,
    heisenberg_cluster_float_v4;
#else
extern const struct heisenberg_cluster_ops heisenberg_cluster_double_portable,
    heisenberg_cluster_float_portable;
#endif

/* ---- ensembles ---- */

/* Whether the move of the sweeps being made is one of clusters, and whether any of the plan is. */
static inline bool heisenberg_cluster_moves(const struct gpumc_ensemble_plan *plan)
{
  return plan->move >= HEISENBERG_LOCAL_MOVES;
}
static inline bool heisenberg_cluster_is_planned(const struct gpumc_ensemble_plan *plan)
{
  return gpumc_plan_makes(plan, HEISENBERG_SWENDSEN_WANG) ||
         gpumc_plan_makes(plan, HEISENBERG_WOLFF);
}

/* For plans with such a move; the first is 0 for others. number_bytes: of a component of a spin. */
size_t heisenberg_cluster_cpu_bytes(const struct gpumc_model *model,
                                    const struct gpumc_device *device,
                                    const struct gpumc_ensemble_plan *plan, size_t number_bytes);
GPUMC_MUST_CHECK enum gpumc_status
heisenberg_cluster_cpu_create(const struct gpumc_ensemble *ensemble, size_t number_bytes,
                              struct lattice_clusters_cpu *clusters, struct gpumc_error *error);

/* gpumc_kernel_ops.sweep without channels. couplings: of all samples, NULL without any,
 * sample_bytes each. */
struct heisenberg_cluster_sweep {
  const struct lattice_clusters_cpu *clusters;
  const double *control;
  const unsigned char *couplings;
  size_t sample_bytes;
  bool single; /* precision */
};
void heisenberg_cluster_cpu_sweep(const struct gpumc_ensemble *ensemble,
                                  const struct heisenberg_cluster_sweep *with, uint32_t sweeps);
/* Measures the wanted ones of the channels HEISENBERG_CLUSTER_SQUARE and HEISENBERG_CLUSTER_WAVE,
 * with the bonds of a sweep with that time. */
void heisenberg_cluster_cpu_measure(const struct gpumc_ensemble *ensemble,
                                    const struct heisenberg_cluster_sweep *with, uint32_t time,
                                    const struct lattice_cluster_scale *scale,
                                    int64_t *const *channel);

#endif
