/* The number of Wolff's clusters in a sweep: the step of that move, and the kernel's key for it. */
#ifndef GPUMC_LATTICE_CLUSTERS_STEP_H
#define GPUMC_LATTICE_CLUSTERS_STEP_H

#include "core/simulation/steps.h"
#include "models/lattice/clusters/clusters_rules.h"

/* gpumc_step.adapt: returns how many clusters flip as many spins as there are sites, if `clusters`
 * flip `updated` spins a site. */
double lattice_wolff_adapted(double clusters, double updated);

/* Returns how many spins a sweep flips at least before it ends early, with the cluster by which it
 * has done so; UINT64_MAX: it never does. While the number of clusters is tuned, few steps are
 * enough for random spins with very many small clusters to have large ones. */
uint64_t lattice_wolff_limit(const struct gpumc_ensemble *ensemble);

/* Initialiser of a gpumc_step; given_: its `given`. A whole number. Clusters are largest at low
 * temperatures, so that tuning begins with one. */
#define LATTICE_WOLFF_STEP(given_)                                                                 \
  {                                                                                                \
    .label = {"clusters", "clusters of a sweep", "1", ""}, .key = "clusters", .least = 1,          \
    .largest = LATTICE_WOLFF_CLUSTERS_MAXIMUM, .first = 1, .often = 32, .given = (given_),         \
    .adapt = lattice_wolff_adapted,                                                                \
    .share = {"updated", "spins flipped per site and sweep", "1", ""},                             \
  }

/* Initialiser of a gpumc_key. */
#define LATTICE_WOLFF_KEY                                                                          \
  {                                                                                                \
    .name = "clusters", .type = GPUMC_KEY_INTEGER,                                                 \
    .doc = "Number of clusters that a sweep of `update: wolff` flips, one after the other; by "    \
           "default it is tuned at each temperature during the thermalization, or in `pa` by the " \
           "temperature before, so that a sweep flips as many spins as there are sites. Kernels "  \
           "with that move only.",                                                                 \
    .unit = "clusters", .minimum = 1, .maximum = LATTICE_WOLFF_CLUSTERS_MAXIMUM,                   \
    .sweepable = true,                                                                             \
  }

#endif
