/* Population annealing: the quantities of the summary, and whether they can be trusted. */
#ifndef GPUMC_ALGORITHMS_PA_SUMMARY_H
#define GPUMC_ALGORITHMS_PA_SUMMARY_H

#include "algorithms/pa/pa_state.h"
#include "core/statistics/estimate.h"

/* The quantities of the summary: those of the model, then these; the last only if it is known. */
enum pa_further_quantity { PA_Q_BETA_FREE_ENERGY, PA_Q_ENTROPY, PA_Q_FURTHER_COUNT };

static inline size_t
pa_quantity_index(const struct pa_settings *settings, enum pa_further_quantity quantity)
{
  return settings->observables.n_quantities + (size_t)quantity;
}

static inline size_t pa_quantities(const struct pa_settings *settings)
{
  return pa_quantity_index(settings, PA_Q_FURTHER_COUNT) - !pa_knows_partition(settings);
}
struct gpumc_label pa_quantity_label(const struct pa_settings *settings, size_t q);
/* Returns the numbers of an average: the means, and ln of the mean partition function. */
static inline size_t pa_average_width(const struct pa_settings *settings)
{
  return settings->observables.n_means + 1;
}

/* Where averages are evaluated: a row, or a value between the rows. */
struct pa_point {
  const struct pa *pa;
  double value;  /* of the moved control */
  double terms;  /* number of terms in the sums of an average, for its rounding */
  bool is_first; /* where the partition function is known, or 1 by definition */
};
/* Computes value[pa_quantities] and their errors, from mean[pa_average_width] and the means of the
 * replicates; as gpumc_estimate. */
GPUMC_MUST_CHECK enum gpumc_status
pa_estimate(const struct pa_point *point, const double *mean, const struct gpumc_replicates *of,
            size_t n_of, double *value, double *error_of, struct gpumc_variance *variance,
            struct gpumc_error *error);
bool pa_quantity_is_known(const struct pa_point *point, size_t q);

/* Data of the summary for the reweighting; G = strata times blocks. log_partition[G + 1][T]: the
 * whole, then without each block of each stratum; population[G][T]; freedom[T]: degrees of freedom
 * of an error that the sizes of the blocks permit. */
struct pa_curves {
  const double *log_partition, *population, *freedom;
};

/* Writes the reweighted part of the summary. */
GPUMC_MUST_CHECK enum gpumc_status
pa_reweight(struct pa *pa, const struct pa_curves *curves, struct gpumc_error *error);

/* ---- trust (pa_trust.c) ---- */

/* The findings, temperature by temperature; arrays belong to the summary. */
struct pa_trust {
  struct pa *pa;
  size_t temperatures;
  size_t watched;     /* quantity whose events are counted */
  double *families;   /* [temperatures] effective number of all runs together */
  double *determined; /* [temperatures] 0 if the error of that quantity has too few events */
  double *chance;     /* [temperatures] least probability of the scatter of the runs */
};

/* Takes the two estimates of the variance of quantity q at a temperature. */
void pa_trust_regard_quantity(struct pa_trust *trust, size_t row, size_t q,
                              struct gpumc_variance by_block, struct gpumc_variance by_run);
/* Takes the families at a temperature; weight[runs]: the shares of the runs in the average. */
void pa_trust_regard_families(struct pa_trust *trust, size_t row, const double *weight);
/* Writes the findings, and warns; value[pa_quantities][temperatures]: the averages. */
GPUMC_MUST_CHECK enum gpumc_status
pa_trust_write(const struct pa_trust *trust, const double *value, struct gpumc_error *error);

#endif
