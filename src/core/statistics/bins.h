/* Bins of a time series of several observables, kept for jackknife errors of quantities that are
 * not plain means (Binder parameters, heat capacities, correlation lengths).
 *
 * At most GPUMC_BINS_MOST bins, all of the same number of consecutive values; when they are full,
 * neighbours are joined and the length doubles. So between half and all of them are in use for a
 * series of any length, and memory is fixed. */
#ifndef GPUMC_CORE_BINS_H
#define GPUMC_CORE_BINS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

enum { GPUMC_BINS_MOST = 128, GPUMC_BINS_FEWEST = 8 };

enum gpumc_bins_state {
  GPUMC_BINS_LENGTH, /* measurements per bin, a power of two */
  GPUMC_BINS_COUNT,  /* complete bins, less than GPUMC_BINS_MOST */
  GPUMC_BINS_FILLED, /* measurements in the bin that is being filled */
  GPUMC_BINS_STATE
};

/* Zero-initialise. A checkpoint needs only `state` and `sums`. */
struct gpumc_bins {
  size_t width;                     /* observables */
  uint64_t state[GPUMC_BINS_STATE]; /* by enum gpumc_bins_state */
  double *sums; /* [GPUMC_BINS_MOST][width] sums over the values of a bin; the one after the
                 * complete ones is being filled */
};

GPUMC_MUST_CHECK enum gpumc_status
gpumc_bins_init(struct gpumc_bins *bins, size_t width, struct gpumc_error *error);
/* Legal on a zeroed object; leaves it zeroed. */
void gpumc_bins_free(struct gpumc_bins *bins);
/* Adds the `values`[width] of one measurement. */
void gpumc_bins_add(struct gpumc_bins *bins, const double *values);
/* Checks that a state read from a file is possible. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_bins_check(const struct gpumc_bins *bins, struct gpumc_error *error);
/* Computes `means`[width] over the values of complete bin `bin`. */
void gpumc_bins_mean(const struct gpumc_bins *bins, size_t bin, double *means);

/* Computes the means of all values, `means`[width]; returns the number of values. */
double gpumc_bins_mean_of_all(const struct gpumc_bins *bins, double *means);
/* Returns the number of blocks of whole bins with at least `shortest` measurements each (ten
 * autocorrelation times, say: the variance is then low by a tenth), but no fewer than
 * GPUMC_BINS_FEWEST blocks, unless there are fewer bins. */
size_t gpumc_bins_blocks(const struct gpumc_bins *bins, double shortest);
/* Computes the means without each block in turn, without[blocks][width], for the estimator
 * (estimate.h). Values after the last block take no part. blocks >= 2. */
void gpumc_bins_leave_out(const struct gpumc_bins *bins, size_t blocks, double *without);

#endif
