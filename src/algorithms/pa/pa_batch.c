/* Population annealing: which runs go together, and what their populations need to know. */
#include <math.h>

#include "algorithms/pa/pa_state.h"

/* What a batch may take: memory enough to fill a large GPU several times over (8000 groups of 32
 * replicas at L = 64), little enough for any laptop; and updates in one temperature step that take
 * a large GPU 10 milliseconds and two processors a second or two, since a run answers signals
 * between steps. A run by itself may exceed both. */
static const double bytes_maximum = 0x1p28, updates_maximum = 0x1p35;

/* About, and the same for every device: replicas twice in portable form, their bookkeeping, and the
 * sums by block in the three outcomes that a device keeps. */
static double bytes_of_run(const struct pa_settings *settings, const struct gpumc_model *model)
{
  const double channels = (double)settings->observables.n_channels;
  const double replica = 2.0 * (double)model->portable_bytes + 8.0 * channels + 24.0;
  const double block = 8.0 + channels * sizeof(struct gpumc_moment_sums);
  return (double)pa_capacity(settings->population) * replica +
         (1 + GPUMC_SLOTS) * (double)settings->blocks * block;
}

size_t pa_batch_runs(const struct pa_settings *settings, const struct gpumc_model *model)
{
  const double updates =
      (double)settings->population * (double)model->sites * (double)settings->sweeps;
  double most = fmin(bytes_maximum / bytes_of_run(settings, model), updates_maximum / updates);
  most = most < 1 ? 1 : most;
  return most < (double)settings->runs ? (size_t)most : settings->runs;
}

struct pa_batch
pa_batch_from(const struct pa_settings *settings, const struct gpumc_model *model, size_t first)
{
  size_t left = settings->runs - first;
  size_t most = settings->adaptive && first == 0 ? 1 : pa_batch_runs(settings, model);
  return (struct pa_batch){first, left < most ? left : most};
}

struct pa_population_plan
pa_population_plan(const struct pa_settings *settings, const struct gpumc_model *model)
{
  struct pa_population_plan plan = {
      .runs = pa_batch_runs(settings, model),
      .capacity = pa_capacity(settings->population),
      .founders = settings->population,
      .blocks = settings->blocks,
      .n_channels = settings->observables.n_channels,
  };
  for (size_t k = 0; k < settings->observables.n_means; k++) {
    const struct gpumc_mean *mean = settings->observables.mean[k];
    plan.sums[mean->index] |= (unsigned)gpumc_mean_sum(mean);
  }
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
