/* Cluster moves of the slow, simple model of O(n) spins: all bonds, then breadth-first searches,
 * written from the text of models/lattice/clusters/clusters_rules.h and
 * models/heisenberg/cluster/cluster_physics.h. */
#ifndef TESTS_SUPPORT_HEISENBERG_CLUSTERS_H
#define TESTS_SUPPORT_HEISENBERG_CLUSTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/numerics/random.h"

/* What is wrong with it, for controls. */
enum heisenberg_clusters_fault {
  HEISENBERG_CLUSTERS_RIGHT,
  HEISENBERG_CLUSTERS_BONDS, /* at a beta that is 2 % larger */
  /* Reflections that turn a cluster's first spin towards x are preferred. A preference for r would
   * be no fault of Wolff's clusters: r and -r are the same plane. */
  HEISENBERG_CLUSTERS_BIAS,
  HEISENBERG_CLUSTERS_GHOST, /* there is none */
  HEISENBERG_CLUSTERS_SPLIT  /* measured are clusters that are joined to it one by one */
};

/* A replica, spin[sites][n]. relative[sites][dimension]: c_ij of each site's own bonds, NULL: all
 * are 1. single: numbers are rounded to float. limit: on sites that Wolff's
 * clusters reflect before the sweep ends early; 0: none. */
struct heisenberg_clusters {
  size_t dimension, shape[3], components;
  double beta, coupling, field;
  const double *relative;
  bool single;
  struct gpumc_random random;
  uint32_t replica;
  uint64_t limit;
  enum heisenberg_clusters_fault fault;
  double *spin;
};

/* Returns the sites whose spins were reflected. clusters: Wolff's; 0: a sweep of Swendsen-Wang. */
uint64_t
heisenberg_clusters_sweep(const struct heisenberg_clusters *of, uint32_t time, uint32_t clusters);

/* Computes the improved estimators from the bonds of a sweep with that time: the sum over clusters
 * of the square along r, in units of quantum[0], and of their waves, in units of quantum[1]. */
void heisenberg_clusters_measure(const struct heisenberg_clusters *of, uint32_t time,
                                 const double quantum[2], int64_t *square, int64_t *wave);

#endif
