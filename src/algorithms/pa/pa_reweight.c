/* Population annealing: the density of states and averages on a grid of temperatures, from the
 * energy histograms of all temperatures and runs (section 2.4 of the paper). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pa/pa_average.h"
#include "algorithms/pa/pa_state.h"
#include "core/base/memory.h"
#include "core/simulation/ladder.h"
#include "core/statistics/estimate.h"
#include "core/statistics/multi_histogram.h"

enum { ENERGY, SPECIFIC_HEAT, BETA_FREE_ENERGY, ENTROPY, QUANTITIES };

/* The specific heat is what fluctuates in each run by itself. */
static struct gpumc_label label_of(const struct pa *pa, size_t quantity)
{
  static const struct gpumc_label own[QUANTITIES] = {
      [BETA_FREE_ENERGY] = PA_LABEL_BETA_FREE_ENERGY, [ENTROPY] = PA_LABEL_ENTROPY};
  const struct gpumc_observables *observables = &pa->settings.observables;
  if (quantity == ENERGY)
    return observables->mean[gpumc_observables_power(observables, pa->settings.moved.conjugate, 1)]
        ->label;
  for (size_t q = 0; q < observables->n_quantities && quantity == SPECIFIC_HEAT; q++)
    if (observables->quantity[q].what->of_each)
      return gpumc_quantity_label(observables, q);
  return own[quantity];
}

/* The grid and its curves, [QUANTITIES][2][points]: value, error. freedom[points]: the most degrees
 * of freedom of an error, from the temperatures of the run on both sides. */
struct grid {
  size_t points;
  double *beta, *curve, *freedom;
};

static void
quantities(const struct gpumc_reweighted *average, double beta, double sites, double *quantity)
{
  quantity[ENERGY] = average->energy / sites;
  quantity[SPECIFIC_HEAT] = beta * beta * average->variance / sites;
  quantity[BETA_FREE_ENERGY] = -average->log_partition / sites;
  quantity[ENTROPY] = (beta * average->energy + average->log_partition) / sites;
}

/* As large as the numbers that a quantity is formed of. */
static double
scale_of(const struct gpumc_reweighted *average, double beta, double sites, size_t quantity)
{
  const double energy = beta * fabs(average->energy);
  const double scale[QUANTITIES] = {
      [ENERGY] = fabs(average->energy),
      [SPECIFIC_HEAT] = energy * energy + beta * beta * average->variance,
      [BETA_FREE_ENERGY] = fabs(average->log_partition),
      [ENTROPY] = energy + fabs(average->log_partition),
  };
  return scale[quantity] / sites;
}

/* The specific heat at beta = 0 is exactly 0. */
static bool is_exact(size_t quantity, double beta)
{
  return quantity == SPECIFIC_HEAT && beta == 0;
}

static void fill_point(const struct gpumc_density *density, struct grid *grid, size_t point,
                       double sites, double *scratch, struct gpumc_reweighted *without,
                       double *column)
{
  struct gpumc_reweighted whole;
  double quantity[QUANTITIES];
  double beta = grid->beta[point];
  gpumc_density_reweight(density, beta, scratch, &whole, without);
  for (size_t q = 0; q < QUANTITIES; q++) {
    for (size_t b = 0; b < density->blocks; b++) {
      quantities(&without[b], beta, sites, quantity);
      column[b] = quantity[q];
    }
    quantities(&whole, beta, sites, quantity);
    const double rounding = gpumc_rounding((double)(density->blocks + density->levels),
                                           scale_of(&whole, beta, sites, q));
    struct gpumc_variance variance =
        gpumc_jackknife_of(column, density->strata, density->blocks / density->strata, rounding);
    variance.freedom = fmin(variance.freedom, grid->freedom[point]);
    grid->curve[(2 * q) * grid->points + point] = quantity[q];
    grid->curve[(2 * q + 1) * grid->points + point] =
        is_exact(q, beta) ? 0 : gpumc_pooled_error(variance, (struct gpumc_variance){0, 0});
  }
}

static enum gpumc_status fill_grid(const struct pa *pa, const struct gpumc_density *density,
                                   struct grid *grid, struct gpumc_error *error)
{
  int threads = pa->context.device->threads;
  size_t blocks = density->blocks;
  double sites = (double)pa->context.model->sites;
  double *scratch = NULL;
  struct gpumc_reweighted *without = NULL;
  double *column = NULL;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&scratch, (size_t)threads * density->levels,
                                             "reweighting", error));
  GPUMC_TRY_OUT(status,
                gpumc_allocate_array(&without, (size_t)threads * blocks, "reweighting", error));
  GPUMC_TRY_OUT(status,
                gpumc_allocate_array(&column, (size_t)threads * blocks, "reweighting", error));
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int t = 0; t < threads; t++)
    for (size_t point = (size_t)t; point < grid->points; point += (size_t)threads)
      fill_point(density, grid, point, sites, scratch + (size_t)t * density->levels,
                 without + (size_t)t * blocks, column + (size_t)t * blocks);
out:
  free(scratch);
  free(without);
  free(column);
  return status;
}

static struct gpumc_curve_place place_of(const struct pa *pa, const char *axis, size_t count)
{
  return (struct gpumc_curve_place){.recorder = pa->context.recorder,
                                    .model = pa->context.model,
                                    .group = "summary/reweighted",
                                    .axis = {axis},
                                    .count = {count}};
}

static enum gpumc_status
write_grid(const struct pa *pa, const struct grid *grid, struct gpumc_error *error)
{
  const struct gpumc_curve_place place = place_of(pa, "summary/reweighted/beta", grid->points);
  GPUMC_TRY(gpumc_curve_write_axis(&place, 0, &gpumc_label_beta, false, grid->beta, error));
  for (size_t q = 0; q < QUANTITIES; q++) {
    const struct gpumc_label label = label_of(pa, q);
    GPUMC_TRY(gpumc_curve_write_with_error(&place, &label, grid->curve + 2 * q * grid->points,
                                           grid->curve + (2 * q + 1) * grid->points, error));
  }
  return GPUMC_OK;
}

/* The density of states where it was seen, over the energy of the whole system. */
static enum gpumc_status
write_density(const struct pa *pa, const struct gpumc_density *density, struct gpumc_error *error)
{
  const struct gpumc_label energy = {"level_energy", "energy of the whole system",
                                     GPUMC_UNIT_ENERGY, "E"};
  const struct gpumc_label log_dos = {"log_dos", "logarithm of the density of states", "1", "ln Ω"};
  double *columns = NULL;
  size_t seen = 0;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(
      status, gpumc_allocate_array(&columns, 3 * density->levels, "the density of states", error));
  for (size_t k = 0; k < density->levels; k++) {
    if (!isfinite(density->log_dos[k]))
      continue;
    columns[seen] = density->lowest + (double)k * density->spacing;
    columns[density->levels + seen] = density->log_dos[k];
    columns[2 * density->levels + seen] = density->log_dos_error[k];
    seen++;
  }
  const struct gpumc_curve_place place = place_of(pa, "summary/reweighted/level_energy", seen);
  GPUMC_TRY_OUT(status, gpumc_curve_write_axis(&place, 0, &energy, false, columns, error));
  GPUMC_TRY_OUT(status, gpumc_curve_write_with_error(&place, &log_dos, columns + density->levels,
                                                     columns + 2 * density->levels, error));
out:
  free(columns);
  return status;
}

static enum gpumc_status
make_grid(const struct pa *pa, const double *freedom, struct grid *grid, struct gpumc_error *error)
{
  const struct gpumc_range range = gpumc_range_read(&pa->context.params, "reweight");
  grid->points = (size_t)gpumc_range_count(&range);
  GPUMC_TRY(gpumc_allocate_array(&grid->beta, grid->points, "the grid", error));
  GPUMC_TRY(gpumc_allocate_array(&grid->curve, 2 * QUANTITIES * grid->points, "the grid", error));
  GPUMC_TRY(gpumc_allocate_array(&grid->freedom, grid->points, "the grid", error));
  size_t above = 0;
  for (size_t i = 0; i < grid->points; i++) {
    grid->beta[i] = gpumc_range_point(&range, i);
    while (above + 1 < pa->schedule.count && pa->schedule.value[above] < grid->beta[i])
      above++;
    grid->freedom[i] = fmin(freedom[above], freedom[above > 0 ? above - 1 : 0]);
  }
  return GPUMC_OK;
}

static enum gpumc_status make_density(const struct pa *pa, const struct pa_curves *curves,
                                      struct gpumc_density *density, struct gpumc_error *error)
{
  const struct gpumc_model *model = pa->context.model;
  const struct gpumc_grid *grid = pa_spectrum(model);
  const double quantum = model->quantum[model->ops->tracked];
  struct gpumc_device *device = pa->context.device;
  size_t blocks = pa->settings.strata * pa->settings.blocks;
  size_t temperatures = pa->schedule.count;
  double *samples = NULL;
  uint64_t *bins = NULL;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&samples, temperatures, "samples", error));
  GPUMC_TRY_OUT(status,
                gpumc_allocate_array(&bins, blocks * grid->levels, "energy histograms", error));
  GPUMC_TRY_OUT(status, device->ops->copy_to_host(device, bins, pa->population.bins,
                                                  blocks * grid->levels * sizeof *bins, error));
  for (size_t t = 0; t < temperatures; t++)
    for (size_t b = 0; b < blocks; b++)
      samples[t] += curves->population[b * temperatures + t];
  struct gpumc_histograms histograms = {
      .temperatures = temperatures,
      .levels = grid->levels,
      .blocks = blocks,
      .strata = pa->settings.strata,
      .lowest = (double)grid->lowest * quantum,
      .spacing = (double)grid->spacing * quantum,
      .beta = pa->schedule.value,
      .samples = samples,
      .log_partition = curves->log_partition,
      .freedom = curves->freedom,
      .block_samples = curves->population,
      .block_log_partition = curves->log_partition + temperatures,
      .bins = bins,
  };
  GPUMC_TRY_OUT(status, gpumc_density_make(&histograms, device->threads, density, error));
out:
  free(samples);
  free(bins);
  return status;
}

enum gpumc_status
pa_reweight(struct pa *pa, const struct pa_curves *curves, struct gpumc_error *error)
{
  struct gpumc_density density = {0};
  struct grid grid = {0};
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, make_density(pa, curves, &density, error));
  GPUMC_TRY_OUT(status, make_grid(pa, curves->freedom, &grid, error));
  GPUMC_TRY_OUT(status, fill_grid(pa, &density, &grid, error));
  GPUMC_TRY_OUT(status, write_grid(pa, &grid, error));
  GPUMC_TRY_OUT(status, write_density(pa, &density, error));
out:
  free(grid.beta);
  free(grid.curve);
  free(grid.freedom);
  gpumc_density_free(&density);
  return status;
}
