/* Parallel tempering: averages over the samples at one temperature, with errors. */
#ifndef GPUMC_ALGORITHMS_PT_AVERAGE_H
#define GPUMC_ALGORITHMS_PT_AVERAGE_H

#include "algorithms/pt/pt_state.h"

/* Averages of a bin of time, all of whose blocks are there. What is left out, one at a time, for
 * the jackknife: samples, or blocks of time. */
struct pt_average {
  const struct pt *pt;
  size_t left_outs;
  double *by_sample; /* [samples][averages], averages being the terms and the variance */
  double *total;     /* [averages] sums over the samples */
  double *rest;      /* [averages] scratch */
  double *without;   /* [quantities][left_outs] */
};

GPUMC_MUST_CHECK enum gpumc_status
pt_average_init(const struct pt *pt, struct pt_average *average, struct gpumc_error *error);
/* All quantities and their standard errors at temperature t: value[quantities],
 * error_of[quantities]. */
void pt_average_at(struct pt_average *average, size_t t, double *value, double *error_of);
/* Legal on a zeroed object; leaves it zeroed. */
void pt_average_free(struct pt_average *average);

/* Mean of a term in the present bin at one temperature, in one sample, the block `left_out` left
 * out (SIZE_MAX: none). */
double pt_term_mean(const struct pt *pt, size_t term, size_t t, size_t s, size_t left_out);

#endif
