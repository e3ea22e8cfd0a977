/* Runs divided among processes. */
#include "algorithms/pa/pa_runs.h"

#include <stdlib.h>

#include "core/base/memory.h"

static const struct gpumc_module *module_of(const struct pa *pa)
{
  return &gpumc_ensemble_processes(pa->context.ensemble)->module;
}

/* ---- the runs of each process ---- */

void pa_runs_plan(const struct gpumc_ensemble *ensemble, struct pa_population_plan *plan)
{
  if (!gpumc_ensemble_has_own_runs(ensemble))
    return;
  const size_t size = (size_t)ensemble->plan.processes->module.size;
  plan->batch = plan->runs;
  plan->runs = plan->batch / size + (plan->batch % size > 0);
}

enum gpumc_status pa_runs_create(struct pa *pa, struct gpumc_error *error)
{
  return gpumc_ensemble_has_own_runs(pa->context.ensemble)
             ? gpumc_allocate_array(&pa->counts, (size_t)module_of(pa)->size, "outcomes", error)
             : GPUMC_OK;
}

void pa_runs_free(struct pa *pa)
{
  free(pa->counts);
}

void pa_runs_take(struct pa *pa)
{
  const struct gpumc_ensemble *ensemble = pa->context.ensemble;
  const struct gpumc_slice own = gpumc_ensemble_runs_of(ensemble, module_of(pa)->rank);
  pa->population.first = own.first;
  pa->population.runs = own.count;
  pa->population.size = ensemble->size + own.first;
}

uint32_t pa_runs_first(const struct pa *pa)
{
  return (uint32_t)(pa->batch.first + pa->population.first);
}

/* ---- messages ---- */

void pa_runs_tell_overlap(const struct pa *pa, double *overlap)
{
  const struct gpumc_ensemble *ensemble = pa->context.ensemble;
  int owner = 0;
  if (!gpumc_ensemble_has_own_runs(ensemble))
    return;
  while (gpumc_ensemble_runs_of(ensemble, owner).count == 0)
    owner++;
  gpumc_processes_broadcast(ensemble->plan.processes, overlap, sizeof *overlap, owner);
}

/* Gathers rows[runs of the batch], of `bytes` bytes each, into all processes; each has those of its
 * own runs. */
static void join_rows(struct pa *pa, void *rows, size_t bytes)
{
  const struct gpumc_ensemble *ensemble = pa->context.ensemble;
  for (int p = 0; p < module_of(pa)->size; p++)
    pa->counts[p] = gpumc_ensemble_runs_of(ensemble, p).count * bytes;
  gpumc_processes_gather(ensemble->plan.processes,
                         (const uint8_t *)rows + pa->population.first * bytes, rows, pa->counts,
                         GPUMC_TO_ALL);
}

void pa_runs_share_outcomes(struct pa *pa)
{
  struct pa_population *population = &pa->population;
  const struct pa_population_plan *plan = &population->plan;
  if (!gpumc_ensemble_has_own_runs(pa->context.ensemble))
    return;
  join_rows(pa, pa->outcome, sizeof *pa->outcome);
  join_rows(pa, population->block_weight, plan->blocks * sizeof *population->block_weight);
  join_rows(pa, population->moments, plan->n_channels * plan->blocks * sizeof *population->moments);
  for (size_t m = 0; m < pa->batch.count; m++)
    pa_population_point(population, m, &pa->outcome[m]);
}

void pa_runs_gather_families(const struct pa *pa, const uint32_t *size, uint32_t *family)
{
  const struct gpumc_ensemble *ensemble = pa->context.ensemble;
  size_t own = 0;
  if (!gpumc_ensemble_has_own_runs(ensemble))
    return;
  for (size_t m = 0; m < pa->population.first; m++)
    own += size[m];
  for (int p = 0; p < module_of(pa)->size; p++) {
    const struct gpumc_slice runs = gpumc_ensemble_runs_of(ensemble, p);
    pa->counts[p] = 0;
    for (size_t m = runs.first; m < runs.first + runs.count; m++)
      pa->counts[p] += size[m] * sizeof *family;
  }
  gpumc_processes_gather(ensemble->plan.processes, family + own, family, pa->counts, GPUMC_TO_ROOT);
}
