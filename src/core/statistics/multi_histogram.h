/* Density of states from energy histograms at many temperatures, and averages at any temperature
 * (Ferrenberg and Swendsen 1989; eq. 9 of Barash et al. 2017, with the free energies given).
 *
 * Errors by jackknife over blocks: the input carries both the totals and the contents of each
 * block. */
#ifndef GPUMC_CORE_MULTI_HISTOGRAM_H
#define GPUMC_CORE_MULTI_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

/* All energies are of the whole system. */
struct gpumc_histograms {
  size_t temperatures, levels, blocks;
  size_t strata;               /* for the jackknife: blocks / strata blocks each (estimate.h) */
  double lowest, spacing;      /* energy of level k: lowest + k spacing */
  const double *beta;          /* [temperatures] */
  const double *samples;       /* [temperatures]: samples taken there, in all blocks */
  const double *log_partition; /* [temperatures]: ln Z */
  const double *freedom;       /* [temperatures]: upper limit of an error's degrees of freedom
                                * there */
  const double *block_samples; /* [blocks][temperatures] */
  const double *block_log_partition; /* [blocks][temperatures]: ln Z without the block */
  const uint64_t *bins;              /* [blocks][levels]: summed over the temperatures */
};

/* ln Omega(E), -infinity at levels never seen, and for each block the ratio of Omega without the
 * block to the total. Made by gpumc_density_make. */
struct gpumc_density {
  size_t levels, blocks, strata;
  double lowest, spacing;
  double *log_dos;       /* [levels] */
  double *log_dos_error; /* [levels], NaN where unknown */
  double *ratio;         /* [blocks][levels] */
};

/* Averages at one temperature: ln Z, <E>, variance of E, each with its leave-one-out values. */
struct gpumc_reweighted {
  double log_partition, energy, variance;
};

GPUMC_MUST_CHECK enum gpumc_status gpumc_density_make(const struct gpumc_histograms *histograms,
                                                      int threads, struct gpumc_density *density,
                                                      struct gpumc_error *error);
/* Computes `whole` from the density, `without[blocks]` from the leave-one-out densities.
 * scratch[levels]. */
void gpumc_density_reweight(const struct gpumc_density *density, double beta, int threads,
                            double *scratch, struct gpumc_reweighted *whole,
                            struct gpumc_reweighted *without);
/* Legal on a zeroed object; leaves it zeroed. */
void gpumc_density_free(struct gpumc_density *density);

#endif
