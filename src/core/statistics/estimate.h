/* Values and standard errors of what follows from means: the one estimator of all algorithms.
 *
 * The data come in replicates, blocks that are independent of each other: families of a population,
 * runs, samples of the disorder, bins of the time, chains. Leaving one block out after the other is
 * a jackknife of any function of the means (Efron 1982). Where the same data fall into replicates
 * in two ways that are independent, as bins of the time and chains, two variances are pooled. */
#ifndef GPUMC_CORE_ESTIMATE_H
#define GPUMC_CORE_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"
#include "core/statistics/jackknife.h"

enum { GPUMC_REPLICATES_MAXIMUM = 2 };

/* One way in which data fall into strata of as many blocks each, one block left out at a time. */
struct gpumc_replicates {
  size_t strata, blocks;
  const double *without; /* [strata][blocks][width] the means without each block */
  /* [strata][blocks] how much further than it did a result moves without a block (gpumc_stretch),
   * from that of all blocks, mean[width]; NULL: as it did. */
  const double *stretch, *mean;
  double freedom; /* at most, of an error; INFINITY: as many as the blocks allow */
};

/* How results follow from means. Functions get `state`. */
struct gpumc_estimator {
  size_t width, n_results; /* of the means, of the results */
  const void *state;
  void (*results)(const void *state, const double *mean, double *result);
  /* rounding[n_results]: of the arithmetic of the results (gpumc_rounding). NULL: results are sums
   * of as many terms as there are blocks. */
  void (*roundings)(const void *state, const double *mean, double *rounding);
  /* Whether a result is known without any data, so that it has no error. NULL: none is. */
  bool (*is_known)(const void *state, size_t result);
};

/* From `mean`[width] of all data value[n_results] and error_of[n_results], NaN where it is unknown;
 * unless NULL, variance[n_of][n_results] that went into it. n_of <= GPUMC_REPLICATES_MAXIMUM. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_estimate(const struct gpumc_estimator *estimator, const double *mean,
               const struct gpumc_replicates *of, size_t n_of, double *value, double *error_of,
               struct gpumc_variance *variance, struct gpumc_error *error);

/* without[blocks][width]: the means without each block, from sums[blocks][width] over the blocks
 * that are to be divided by the sum of weight[blocks]; NULL: each counts as 1. mean[width]: of all
 * blocks. */
void gpumc_leave_one_out(const double *sums, const double *weight, size_t blocks, size_t width,
                         double *mean, double *without);
/* Leaving out one of h equal parts moves a mean by 1/(h - 1) of its deviation. A block that is no
 * such part, but weight[b] of all, is left out with its own h: scaled by stretch[blocks], the
 * jackknife of equal blocks holds (Busing, Meijer and van der Leeden, Stat. Comput. 9, 3 (1999)).
 */
void gpumc_stretch(const double *weight, size_t blocks, double *stretch);

#endif
