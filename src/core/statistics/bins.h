/* Bins of a time series of several observables, kept for jackknife errors of what is no plain mean
 * (Binder parameters, heat capacities, correlation lengths).
 *
 * At most GPUMC_BINS_MOST bins, all of the same number of consecutive values; when they are full,
 * neighbours are joined and the length doubles. So there are between half and all of them, for a
 * series of any length, and memory is fixed. */
#ifndef GPUMC_CORE_BINS_H
#define GPUMC_CORE_BINS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

enum { GPUMC_BINS_MOST = 128, GPUMC_BINS_FEWEST = 8 };

enum gpumc_bins_state {
  GPUMC_BINS_LENGTH, /* measurements a bin, a power of two */
  GPUMC_BINS_COUNT,  /* complete bins, less than GPUMC_BINS_MOST */
  GPUMC_BINS_FILLED, /* measurements in the one that is being filled */
  GPUMC_BINS_STATE
};

/* Zero-initialise. For a checkpoint: `state` and `sums` are all there is. */
struct gpumc_bins {
  size_t width;                     /* observables */
  uint64_t state[GPUMC_BINS_STATE]; /* by enum gpumc_bins_state */
  double *sums; /* [GPUMC_BINS_MOST][width] over the values of a bin; the one after the
                   complete ones is being filled */
};

GPUMC_MUST_CHECK enum gpumc_status
gpumc_bins_init(struct gpumc_bins *bins, size_t width, struct gpumc_error *error);
/* Legal on a zeroed object; leaves it zeroed. */
void gpumc_bins_free(struct gpumc_bins *bins);
/* `values`[width] of one measurement. */
void gpumc_bins_add(struct gpumc_bins *bins, const double *values);
/* Whether a state that came from a file is a possible one. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_bins_check(const struct gpumc_bins *bins, struct gpumc_error *error);
/* `means`[width] over the values of complete bin `bin`. */
void gpumc_bins_mean(const struct gpumc_bins *bins, size_t bin, double *means);

/* Means of all values into `means`[width]; returns how many values there are. */
double gpumc_bins_mean_of_all(const struct gpumc_bins *bins, double *means);
/* Blocks of whole bins with `shortest` measurements at least (ten autocorrelation times, say: the
 * variance is then low by a tenth), but not fewer than GPUMC_BINS_FEWEST of them, unless there are
 * fewer bins. */
size_t gpumc_bins_blocks(const struct gpumc_bins *bins, double shortest);
/* Means without one block after the other, without[blocks][width], for the estimator (estimate.h).
 * What comes after the last block takes no part. blocks >= 2. */
void gpumc_bins_leave_out(const struct gpumc_bins *bins, size_t blocks, double *without);

#endif
