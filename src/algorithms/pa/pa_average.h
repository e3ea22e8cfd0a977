/* Population annealing: averages over runs at one temperature, whole and with parts left out. */
#ifndef GPUMC_ALGORITHMS_PA_AVERAGE_H
#define GPUMC_ALGORITHMS_PA_AVERAGE_H

#include "algorithms/pa/pa_state.h"

/* Walks the temperatures in order. Estimates are numbered 0 .. blocks: 0 is the whole, b + 1 is
 * without block b of every run. */
struct pa_average {
  const struct pa *pa;
  size_t row;
  size_t n_means;        /* e, e^2, observables */
  double *log_partition; /* [runs][blocks + 1]: ln Z at the row */
  double *mean;          /* [runs][blocks + 1][n_means] at the row */
  double *weight;        /* [runs] scratch */
};

/* The quantities of the summary, in this order; the model's observables stand between. */
static inline size_t pa_quantities(const struct gpumc_model_ops *model)
{
  return 2 + model->n_observables + 2;
}

GPUMC_MUST_CHECK enum gpumc_status
pa_average_init(const struct pa *pa, struct pa_average *average, struct gpumc_error *error);
/* Go to the next temperature (the first call: to the first). */
void pa_average_next(struct pa_average *average);
/* Estimate `which` over all runs but `left_out` (runs: none), eqs. 6 and 7: quantity[] of
 * pa_quantities and ln Z of the mean partition function. Returns ln Z. */
double
pa_average_estimate(struct pa_average *average, size_t which, size_t left_out, double *quantity);
/* Replicas of block b over all runs at the row. */
double pa_average_block_population(const struct pa_average *average, size_t block);
/* Legal on a zeroed object; leaves it zeroed. */
void pa_average_free(struct pa_average *average);

/* The reweighted part of the summary. block_log_partition[blocks + 1][temperatures]: estimates of
 * ln Z; block_population[blocks][temperatures]. */
GPUMC_MUST_CHECK enum gpumc_status pa_reweight(struct pa *pa, const double *block_log_partition,
                                               const double *block_population,
                                               struct gpumc_error *error);

#endif
