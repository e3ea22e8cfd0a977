/* Multicanonical sampling: what a run will need, memory and time. */
#include <math.h>
#include <string.h>

#include "algorithms/muca/muca.h"

/* In units of w^z, as seen for square lattices of 16, 32 and 64 in one window, from 1024 to 67,584
 * walkers: of a passage; in all iterations of each walker, however many there are; and of all of
 * them together, times the divergence, what shows one as small with the growth by default. */
static const double of_a_passage = 2.75, of_each = 1.7, of_all = 3.2;

/* Updates for each level that a passage takes longer where continuous values come up to their
 * bounds with next to no states: the last bins there are hardly ever entered and left. As seen for
 * Heisenberg and XY spins in 64 bins, rings of 8 and 16 and a square of 4 x 4, within a factor
 * of 1.5; larger lattices have not been run to the end. Rings with very few degrees of freedom have
 * more states there, which is not known here. */
static const double of_a_bound = 5.4e4;
/* That all iterations of a walker take longer, in units of what a passage does. */
static const double of_iterations_at_bounds = 0.4;

static double at_bounds(const struct muca_settings *settings, const struct gpumc_model *model)
{
  const bool continuous = model->reaches_bounds && model->grid[settings->channel].levels == 0;
  const bool reaches = settings->first == 0 || settings->last + 1 == settings->levels;
  return continuous && reaches ? of_a_bound * (double)settings->window : 0;
}

/* The sum of iterations until the last is long enough, over what it has to be. */
static double cost_of_growth(double growth)
{
  const double least = 1.01, factor = growth > least ? growth : least;
  return (1 + factor) * factor / (factor - 1);
}

/* Of each walker until its weights have converged. */
static double
estimated_iterations(const struct muca_settings *settings, const struct gpumc_model *model)
{
  enum { COVERING = 15 };
  const double default_growth = 1.1, width = (double)settings->window;
  const double relative = cost_of_growth(settings->growth) / cost_of_growth(default_growth);
  const double enough =
      muca_mean_updates(settings, width) *
          (of_each + of_all * relative / (settings->divergence * (double)settings->walkers)) +
      of_iterations_at_bounds * at_bounds(settings, model);
  /* While the range grows; the plain scheme adds some levels with each. */
  const double covering = COVERING + (settings->extrapolate ? 0 : 2 * sqrt(width));
  double iterations = fmin(covering, (double)settings->iterations);
  double updates = (double)muca_updates(settings, width, 0), sum = iterations * updates;
  while (sum < enough && iterations < (double)settings->iterations) {
    updates *= settings->growth;
    sum += updates;
    iterations++;
  }
  return sum + iterations * (double)muca_thermalization(settings, width);
}

/* Of all walkers of a table. */
static double
estimated_updates(const struct muca_settings *settings, const struct gpumc_model *model)
{
  const double passage = of_a_passage * muca_mean_updates(settings, (double)settings->window) +
                         at_bounds(settings, model);
  const double passages =
      settings->parts > 1 ? MUCA_PASSAGES_OF_PRODUCTION : MUCA_PASSAGES_OF_A_BLOCK * MUCA_BLOCKS;
  const double given = (double)settings->production;
  const double production = given > 0 ? given + fmin(given, passage) : (1 + passages) * passage;
  return (double)settings->walkers * (estimated_iterations(settings, model) + production);
}

/* Of weights of levels that are summed up for the curves; those of bins are formed anew for each
 * block, which takes as long as so many others. */
static double estimated_terms(const struct muca_settings *settings, double points)
{
  enum { TIME_OF_A_BIN = 10 };
  const double levels = (double)(settings->last + 1 - settings->first);
  return (double)settings->samples * points * (double)(settings->blocks + 1) * levels *
         (settings->binned ? TIME_OF_A_BIN : 1);
}

static double grid_points(const struct gpumc_params *params)
{
  return (double)gpumc_ladder_count(params, gpumc_ladder_block(params));
}

double muca_share_of_curves(const struct muca *muca)
{
  /* Seconds of a thread, and of an update of a GPU. */
  static const double of_a_term = 3e-9, of_an_update = 1e-9, of_an_update_there = 4e-12;
  const struct gpumc_device *device = muca->context.device;
  const double terms = estimated_terms(&muca->settings, grid_points(&muca->context.params));
  const double updates =
      (double)muca->tables * estimated_updates(&muca->settings, muca->context.model);
  const double summing = terms * of_a_term / device->threads;
  const double walking =
      updates *
      (device->ops->kind == GPUMC_KIND_CPU ? of_an_update / device->threads : of_an_update_there);
  return summing / (summing + walking);
}

enum gpumc_status muca_demand(const struct gpumc_params *params, const struct gpumc_model *model,
                              const struct gpumc_device *device, const struct gpumc_spread *spread,
                              struct gpumc_demand *demanded, struct gpumc_error *error)
{
  struct muca_settings settings;
  (void)device, (void)spread, (void)error;
  muca_settings_read(params, model, &settings);
  const double tables = (double)muca_tables(&settings), samples = (double)settings.samples;
  const double window = (double)settings.window, blocks = (double)settings.blocks;
  const double levels = (double)settings.levels, width = (double)settings.width;
  const double channels = (double)settings.observables.n_channels;
  const double walkers = tables * (double)settings.walkers;
  memset(demanded, 0, sizeof *demanded);
  demanded->replicas = settings.walkers;
  demanded->plan = (struct gpumc_ensemble_plan){.runs = muca_tables(&settings),
                                                .capacity = settings.walkers,
                                                .samples = settings.samples,
                                                .sample_by_run = settings.samples > 1,
                                                .walks = true,
                                                .levels = settings.levels,
                                                .moved = settings.moved.control,
                                                .fixes = true};
  memcpy(demanded->plan.fixed, settings.moved.fixed, sizeof demanded->plan.fixed);
  const double sums = tables * blocks * window * (2 + width);
  const double rows =
      tables * (double)settings.iterations * (settings.write_weights ? window + 9 : 9);
  const double points = grid_points(params);
  const double averages = (double)gpumc_averages(&settings.observables) + 1;
  /* With errors; those of each sample, too, where there are several. */
  const double curves = 2 * points * ((double)settings.observables.n_quantities + 2) *
                        (samples > 1 ? samples + 1 : 1);
  /* The summary has the sums of one sample without each block, and a curve of each. */
  demanded->host_bytes =
      gpumc_demand_bytes((sums + blocks * levels * (3 + width) + walkers * (channels + 1) +
                          18 * tables * levels + samples * points * averages + 2 * curves + rows) *
                         sizeof(double));
  /* What is measured the host has of all walkers, in every process. */
  const double of_walkers = walkers * (sizeof(uint32_t) + channels * sizeof(int64_t));
  demanded->device_bytes =
      gpumc_demand_bytes(tables * (double)settings.parts * window * sizeof(uint64_t) + of_walkers);
  demanded->device_bytes_by_replicas = gpumc_demand_bytes(of_walkers);
  demanded->divided_host_bytes = gpumc_demand_bytes(walkers * channels * sizeof(int64_t));
  const double of_levels = settings.binned ? 10 : 7, of_samples = settings.binned ? 4 : 2;
  demanded->result_bytes = (rows + of_levels * samples * levels + curves) * sizeof(double);
  demanded->state_bytes =
      (sums + rows + tables * window * ((double)settings.parts + 3) + walkers / 2 + curves +
       samples * (points * averages + of_samples * levels)) *
      sizeof(double);
  demanded->updates = tables * estimated_updates(&settings, model);
  demanded->estimated = true;
  demanded->work.values = walkers * (double)settings.measurements;
  demanded->work.measured = demanded->work.values * (double)model->sites;
  demanded->work.n_channels = settings.observables.n_channels;
  demanded->work.summed = estimated_terms(&settings, points);
  return GPUMC_OK;
}
