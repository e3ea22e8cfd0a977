/* Runs that processes divide (GPUMC_BY_RUNS): each anneals its own runs of a batch by itself, and
 * tells the others nothing but the outcomes of a step, while the device works on the next one; so
 * all record the rows of all runs, and decide the same.
 *
 * All functions are collective. Where runs are not divided they do nothing. */
#ifndef GPUMC_ALGORITHMS_PA_RUNS_H
#define GPUMC_ALGORITHMS_PA_RUNS_H

#include "algorithms/pa/pa_state.h"

/* Before the population is created, for its plan; and after it. */
void pa_runs_plan(const struct gpumc_ensemble *ensemble, struct pa_population_plan *plan);
GPUMC_MUST_CHECK enum gpumc_status pa_runs_create(struct pa *pa, struct gpumc_error *error);
void pa_runs_free(struct pa *pa);
/* Once the ensemble has a batch: which of its runs the population has. */
void pa_runs_take(struct pa *pa);
/* The number among all runs of the first of these. */
uint32_t pa_runs_first(const struct pa *pa);

/* Of the batch's first run, which one process has: what it knows, to all. */
void pa_runs_tell_overlap(const struct pa *pa, double *overlap);
/* Of a step that was collected: outcomes of the own runs, to all. */
void pa_runs_share_outcomes(struct pa *pa);
/* family[replicas] of all runs one after the other, those of the own ones filled in: to the root.
 * `size`: [runs of the batch]. */
void pa_runs_gather_families(const struct pa *pa, const uint32_t *size, uint32_t *family);

#endif
