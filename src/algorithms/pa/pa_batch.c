/* Population annealing: which runs go together, and what their populations need to know. */
#include "algorithms/pa/pa_state.h"

/* Spins, or particles, that fill a large GPU several times over: 8192 groups of 32 replicas at
 * L = 64. */
static const double filling = 0x1p30;

size_t pa_batch_runs(const struct pa_settings *settings, const struct gpumc_model *model)
{
  double wanted = filling / ((double)settings->population * (double)model->sites);
  double least = wanted < 1 ? 1 : wanted;
  return least < (double)settings->runs ? (size_t)least : settings->runs;
}

struct pa_batch
pa_batch_from(const struct pa_settings *settings, const struct gpumc_model *model, size_t first)
{
  size_t left = settings->runs - first;
  size_t most = settings->adaptive && first == 0 ? 1 : pa_batch_runs(settings, model);
  return (struct pa_batch){first, left < most ? left : most};
}

static unsigned sum_of(enum gpumc_moment moment)
{
  static const unsigned sums[] = {
      [GPUMC_MOMENT_MEAN] = GPUMC_SUM_FIRST,
      [GPUMC_MOMENT_ABSOLUTE] = GPUMC_SUM_ABSOLUTE,
      [GPUMC_MOMENT_SECOND] = GPUMC_SUM_SECOND,
      [GPUMC_MOMENT_FOURTH] = GPUMC_SUM_FOURTH,
  };
  return sums[moment];
}

struct gpumc_population_plan
pa_population_plan(const struct pa_settings *settings, const struct gpumc_model *model)
{
  struct gpumc_population_plan plan = {
      .runs = pa_batch_runs(settings, model),
      .capacity = pa_capacity(settings->population),
      .founders = settings->population,
      .blocks = settings->blocks,
      .n_channels = model->ops->n_channels,
  };
  plan.sums[0] = GPUMC_SUM_FIRST | GPUMC_SUM_SECOND;
  for (size_t k = 0; k < model->ops->n_observables; k++)
    plan.sums[model->ops->observables[k].channel] |= sum_of(model->ops->observables[k].moment);
  for (size_t c = 0; c < plan.n_channels; c++)
    plan.bound[c] = model->bound[c];
  if (settings->reweight) {
    plan.strata = settings->strata;
    plan.levels = model->levels;
    plan.lowest = model->lowest;
    plan.spacing = model->spacing;
  }
  return plan;
}
