/* Population annealing: whether the averages over the runs can be trusted. */
#ifndef GPUMC_ALGORITHMS_PA_TRUST_H
#define GPUMC_ALGORITHMS_PA_TRUST_H

#include "algorithms/pa/pa_average.h"
#include "core/statistics/estimate.h"

/* What is found, temperature by temperature. */
struct pa_trust {
  struct pa *pa;
  size_t temperatures;
  size_t watched;     /* quantity whose events are counted: the energy */
  double *families;   /* [temperatures] effective number of all runs together */
  double *determined; /* [temperatures] 0 where the error of the energy has too few events */
  double *chance;     /* [temperatures] least probability of the scatter of the runs */
};

GPUMC_MUST_CHECK enum gpumc_status
pa_trust_init(struct pa_trust *trust, struct pa *pa, struct gpumc_error *error);
/* The two estimates of the variance of quantity q at a temperature. */
void pa_trust_regard_quantity(struct pa_trust *trust, size_t row, size_t q,
                              struct gpumc_variance by_block, struct gpumc_variance by_run);
/* The families of the average's temperature. */
void pa_trust_regard_families(struct pa_trust *trust, struct pa_average *average);
/* Curves and attributes of the summary, and a warning if they cannot be trusted. */
GPUMC_MUST_CHECK enum gpumc_status
pa_trust_write(const struct pa_trust *trust, struct gpumc_error *error);
/* Legal on a zeroed object. */
void pa_trust_free(struct pa_trust *trust);

#endif
