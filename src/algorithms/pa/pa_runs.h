/* Runs divided among processes (GPUMC_BY_RUNS): each anneals its own runs of a batch by itself and
 * sends the others only the outcomes of a step, while the device works on the next one. So all
 * processes record the rows of all runs and make the same decisions.
 *
 * All functions are collective. If runs are not divided they do nothing. */
#ifndef GPUMC_ALGORITHMS_PA_RUNS_H
#define GPUMC_ALGORITHMS_PA_RUNS_H

#include "algorithms/pa/pa_state.h"

/* The first belongs before the population is created, to complete its plan, the second after it. */
void pa_runs_plan(const struct gpumc_ensemble *ensemble, struct pa_population_plan *plan);
GPUMC_MUST_CHECK enum gpumc_status pa_runs_create(struct pa *pa, struct gpumc_error *error);
void pa_runs_free(struct pa *pa);
/* Gives the population its runs of the batch, once the ensemble has one. */
void pa_runs_take(struct pa *pa);
/* Returns the number of the first of them among all runs. */
uint32_t pa_runs_first(const struct pa *pa);

/* Sends the overlap, which only the process with the batch's first run knows, to all. */
void pa_runs_tell_overlap(const struct pa *pa, double *overlap);
/* Sends the outcomes of a process's own runs to all, once the step is collected. */
void pa_runs_share_outcomes(struct pa *pa);
/* Gathers family[replicas], of all runs one after the other, into the root; each process has filled
 * in those of its own runs. `size`: [runs of the batch]. */
void pa_runs_gather_families(const struct pa *pa, const uint32_t *size, uint32_t *family);

#endif
