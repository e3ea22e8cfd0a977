/* Canonical runs: values and errors at one temperature and at the points of the grid it serves. */
#ifndef GPUMC_ALGORITHMS_CANONICAL_ESTIMATE_H
#define GPUMC_ALGORITHMS_CANONICAL_ESTIMATE_H

#include "algorithms/canonical/canonical_state.h"

/* The points of a temperature: the temperature itself first, then those of the grid. Of each point
 * the results (canonical_quantities.h) and the share of the measurements that count there. */
struct canonical_estimates {
  size_t points, results;             /* results of a point, the share not included */
  double *average;                    /* of all points (canonical_evaluation.h) */
  double *value, *error;              /* [points][results + 1]; the share has no error */
  struct gpumc_series_estimate *mean; /* [series] replicas together */
  bool converged;                     /* all of them */
  /* [series] it never changed: of samples, that of none of them. */
  bool still[GPUMC_MEANS_MAXIMUM];
  /* With a sample for each replica: too few of them for errors; so short a time series that what is
   * formed of each sample is still off. */
  bool unknown, biased;
};

GPUMC_MUST_CHECK enum gpumc_status
canonical_estimates_make(const struct canonical *canonical, size_t m,
                         struct canonical_estimates *estimates, struct gpumc_error *error);
/* Legal on a zeroed object. */
void canonical_estimates_free(struct canonical_estimates *estimates);

#endif
