/* Population annealing: steps of moves, such as the number of Wolff's clusters in a sweep.
 *
 * A step that is not given is tuned from one temperature to the next: that of a temperature follows
 * from the share of proposals that the run's replicas accepted at the temperature before, and stays
 * for all sweeps there. So sweeps preserve the weights of their temperature, and every run has its
 * steps to itself, whichever runs go side by side. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "algorithms/pa/pa_state.h"
#include "core/base/memory.h"
#include "core/simulation/ensemble.h"
#include "core/simulation/steps.h"

bool pa_has_steps(const struct pa *pa)
{
  return pa->settings.tunes && gpumc_step_of(pa->context.ensemble) != NULL;
}

enum gpumc_status pa_steps_create(struct pa *pa, struct gpumc_error *error)
{
  const size_t batch = pa_plan_batch(&pa->population.plan);
  for (size_t slot = 0; slot < GPUMC_SLOTS && pa_has_steps(pa); slot++) {
    GPUMC_TRY(gpumc_allocate_array(&pa->step_size[slot], batch, "steps", error));
    GPUMC_TRY(gpumc_allocate_array(&pa->step_share[slot], batch, "steps", error));
  }
  return GPUMC_OK;
}

void pa_steps_free(struct pa *pa)
{
  for (size_t slot = 0; slot < GPUMC_SLOTS; slot++) {
    free(pa->step_size[slot]);
    free(pa->step_share[slot]);
  }
}

enum gpumc_status pa_steps_declare(struct pa *pa, struct gpumc_error *error)
{
  const struct gpumc_step *step = gpumc_step_of(pa->context.ensemble);
  if (!pa_has_steps(pa))
    return GPUMC_OK;
  struct gpumc_column columns[] = {{.label = pa->axis, .width = 1},
                                   {.label = step->label, .width = 1},
                                   {.label = gpumc_step_share_label(step), .width = 1}};
  for (size_t m = 0; m < pa->settings.runs; m++) {
    char group[64];
    snprintf(group, sizeof group, "runs/%04zu/steps", m);
    GPUMC_TRY(gpumc_curve_add_table(pa->context.recorder, pa->context.model, group, columns,
                                    sizeof columns / sizeof *columns, &pa->tables[m].steps, error));
  }
  return GPUMC_OK;
}

/* At the first value nothing is left to be tuned: no sweeps were made there, or they were those of
 * the thermalization, during which it was. */
enum gpumc_status pa_steps_take(struct pa *pa, struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = pa->context.ensemble;
  const size_t slot = pa->row % GPUMC_SLOTS;
  uint32_t *size = NULL;
  if (!pa_has_steps(pa))
    return GPUMC_OK;
  const uint32_t sweeps = pa->row > 0 ? pa->settings.sweeps : 0;
  for (size_t m = 0; m < pa->batch.count; m++)
    pa->step_size[slot][m] = ensemble->time > 0 ? ensemble->step[m] : NAN;
  GPUMC_TRY(gpumc_allocate_array(&size, ensemble->runs, "numbers of replicas", error));
  enum gpumc_status status = gpumc_ensemble_whole_sizes(ensemble, size, error);
  if (status == GPUMC_OK)
    status = gpumc_steps_follow(ensemble, sweeps, size, pa->step_share[slot], error);
  free(size);
  return status;
}

enum gpumc_status
pa_steps_record(struct pa *pa, double value, size_t row, size_t m, struct gpumc_error *error)
{
  const size_t slot = row % GPUMC_SLOTS;
  if (!pa_has_steps(pa))
    return GPUMC_OK;
  const double values[] = {value, pa->step_size[slot][m], pa->step_share[slot][m]};
  return gpumc_recorder_append(pa->context.recorder, pa->tables[pa->batch.first + m].steps, values,
                               error);
}
