/* Population annealing: the quantities of the summary at a value of the control, with errors; and
 * their curves on a grid of temperatures with the density of states, from the energy histograms of
 * all temperatures and runs (section 2.4 of the paper). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pa/pa_summary.h"
#include "core/base/memory.h"
#include "core/simulation/ladder.h"
#include "core/statistics/multi_histogram.h"

/* ---- the quantities at a point, from an average ---- */

static struct gpumc_controls controls_of(const struct pa_point *point)
{
  const struct gpumc_moved *moved = &point->pa->settings.moved;
  return gpumc_controls_at(moved->fixed, moved->control, point->value);
}

/* The inverse temperature times the energy, or what it stands before, per site. */
static double beta_energy_of(const struct pa_point *point, const double *mean)
{
  return point->value * pa_conjugate_mean(&point->pa->settings, mean);
}

/* From an average: the quantities of the model, F and S. */
static void results_of_average(const void *state, const double *mean, double *result)
{
  const struct pa_point *point = state;
  const struct gpumc_observables *observables = &point->pa->settings.observables;
  const struct gpumc_controls controls = controls_of(point);
  const double sites = (double)point->pa->context.model->sites;
  const double log_partition = mean[observables->n_means];
  double *further = result + observables->n_quantities;
  for (size_t q = 0; q < observables->n_quantities; q++)
    result[q] = gpumc_quantity_value(observables, q, point->pa->context.model, &controls, mean);
  further[PA_Q_BETA_FREE_ENERGY] = -log_partition / sites;
  if (pa_knows_partition(&point->pa->settings))
    further[PA_Q_ENTROPY] = beta_energy_of(point, mean) + log_partition / sites;
}

/* By how large the numbers are that a quantity is formed of. */
static void roundings_of_average(const void *state, const double *mean, double *rounding)
{
  const struct pa_point *point = state;
  const struct pa *pa = point->pa;
  const struct gpumc_observables *observables = &pa->settings.observables;
  const struct gpumc_controls controls = controls_of(point);
  const double free_energy = fabs(mean[observables->n_means]) / (double)pa->context.model->sites;
  double *further = rounding + observables->n_quantities;
  for (size_t q = 0; q < observables->n_quantities; q++)
    rounding[q] = gpumc_rounding(
        point->terms, gpumc_quantity_scale(observables, q, pa->context.model, &controls, mean));
  further[PA_Q_BETA_FREE_ENERGY] = gpumc_rounding(point->terms, free_energy);
  if (pa_knows_partition(&pa->settings))
    further[PA_Q_ENTROPY] =
        gpumc_rounding(point->terms, fabs(beta_energy_of(point, mean)) + free_energy);
}

bool pa_quantity_is_known(const struct pa_point *point, size_t q)
{
  const struct gpumc_observables *observables = &point->pa->settings.observables;
  const struct gpumc_controls controls = controls_of(point);
  return q < observables->n_quantities
             ? gpumc_quantity_is_known(observables, q, point->pa->context.model, &controls)
             : point->is_first;
}

static bool is_known(const void *state, size_t q)
{
  return pa_quantity_is_known(state, q);
}

enum gpumc_status pa_estimate(const struct pa_point *point, const double *mean,
                              const struct gpumc_replicates *of, size_t n_of, double *value,
                              double *error_of, struct gpumc_variance *variance,
                              struct gpumc_error *error)
{
  const struct gpumc_estimator estimator = {.width = pa_average_width(&point->pa->settings),
                                            .n_results = pa_quantities(&point->pa->settings),
                                            .state = point,
                                            .results = results_of_average,
                                            .roundings = roundings_of_average,
                                            .is_known = is_known};
  return gpumc_estimate(&estimator, mean, of, n_of, value, error_of, variance, error);
}

struct gpumc_label pa_quantity_label(const struct pa_settings *settings, size_t q)
{
  static const struct gpumc_label difference = PA_LABEL_BETA_FREE_ENERGY_DIFFERENCE;
  static const struct gpumc_label further[] = {
      [PA_Q_BETA_FREE_ENERGY] = PA_LABEL_BETA_FREE_ENERGY, [PA_Q_ENTROPY] = PA_LABEL_ENTROPY};
  const size_t own = settings->observables.n_quantities;
  if (q < own)
    return gpumc_quantity_label(&settings->observables, q);
  return pa_knows_partition(settings) ? further[q - own] : difference;
}

/* ---- reweighting ---- */

/* The grid and its curves, [quantities][2][points]: value, error. freedom[points]: the most degrees
 * of freedom of an error, from the temperatures of the run on both sides. */
struct grid {
  size_t points;
  double *beta, *curve, *freedom;
};

/* Arrays of one point. */
struct work {
  double *scratch;                         /* [levels] */
  struct gpumc_reweighted whole, *without; /* [blocks] */
  double *mean, *means;                    /* [width], [blocks][width] */
  double *value, *error_of;                /* [quantities] */
};

/* Which power of the tracked channel a mean is; 0: of something else, which a density of states
 * does not know. */
static unsigned known_power(const struct pa *pa, size_t mean)
{
  const struct gpumc_observables *observables = &pa->settings.observables;
  const size_t tracked = pa->context.model->ops->tracked;
  for (unsigned power = 1; power <= 2; power++)
    if (gpumc_observables_power(observables, tracked, power) == mean)
      return power;
  return 0;
}

/* Whether a quantity follows from what the density of states knows. */
static bool is_reweighted(const struct pa *pa, size_t q)
{
  const struct gpumc_observables *observables = &pa->settings.observables;
  bool known = true;
  if (q >= observables->n_quantities)
    return true;
  const struct gpumc_selected_quantity *quantity = &observables->quantity[q];
  for (size_t i = 0; i < quantity->what->n_uses; i++)
    known = known &&
            (quantity->uses[i] == GPUMC_NOT_MEASURED || known_power(pa, quantity->uses[i]) > 0);
  return known;
}

/* mean[pa_average_width]; NaN what is not known. */
static void means_of(const struct pa *pa, const struct gpumc_reweighted *average, double *mean)
{
  const double sites = (double)pa->context.model->sites;
  const double energy = average->energy / sites;
  const double power[] = {NAN, energy, average->variance / (sites * sites) + energy * energy};
  const size_t n_means = pa->settings.observables.n_means;
  for (size_t k = 0; k < n_means; k++)
    mean[k] = power[known_power(pa, k)];
  mean[n_means] = average->log_partition;
}

static enum gpumc_status fill_point(const struct pa *pa, const struct gpumc_density *density,
                                    struct grid *grid, size_t point, struct work *work,
                                    struct gpumc_error *error)
{
  const size_t width = pa_average_width(&pa->settings);
  const struct pa_point at = {
      .pa = pa, .value = grid->beta[point], .terms = (double)(density->blocks + density->levels)};
  const struct gpumc_replicates blocks = {.strata = density->strata,
                                          .blocks = density->blocks / density->strata,
                                          .without = work->means,
                                          .freedom = grid->freedom[point]};
  gpumc_density_reweight(density, at.value, pa->context.device->threads, work->scratch,
                         &work->whole, work->without);
  means_of(pa, &work->whole, work->mean);
  for (size_t b = 0; b < density->blocks; b++)
    means_of(pa, &work->without[b], work->means + b * width);
  GPUMC_TRY(pa_estimate(&at, work->mean, &blocks, 1, work->value, work->error_of, NULL, error));
  for (size_t q = 0; q < pa_quantities(&pa->settings); q++) {
    grid->curve[2 * q * grid->points + point] = work->value[q];
    grid->curve[(2 * q + 1) * grid->points + point] = work->error_of[q];
  }
  return GPUMC_OK;
}

static enum gpumc_status fill_grid(const struct pa *pa, const struct gpumc_density *density,
                                   struct grid *grid, struct gpumc_error *error)
{
  const size_t blocks = density->blocks, width = pa_average_width(&pa->settings);
  const size_t quantities = pa_quantities(&pa->settings);
  struct work work = {.scratch = NULL};
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&work.scratch, density->levels, "reweighting", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&work.without, blocks, "reweighting", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&work.mean, width, "reweighting", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&work.means, blocks * width, "reweighting", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&work.value, quantities, "reweighting", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&work.error_of, quantities, "reweighting", error));
  for (size_t point = 0; point < grid->points; point++)
    GPUMC_TRY_OUT(status, fill_point(pa, density, grid, point, &work, error));
out:
  free(work.scratch);
  free(work.without);
  free(work.mean);
  free(work.means);
  free(work.value);
  free(work.error_of);
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
  for (size_t q = 0; q < pa_quantities(&pa->settings); q++) {
    const struct gpumc_label label = pa_quantity_label(&pa->settings, q);
    if (!is_reweighted(pa, q))
      continue;
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
  const struct gpumc_params *params = &pa->context.params;
  grid->points = gpumc_ladder_count(params, "reweight");
  GPUMC_TRY(gpumc_allocate_array(&grid->beta, grid->points, "the grid", error));
  GPUMC_TRY(gpumc_allocate_array(&grid->curve, 2 * pa_quantities(&pa->settings) * grid->points,
                                 "the grid", error));
  GPUMC_TRY(gpumc_allocate_array(&grid->freedom, grid->points, "the grid", error));
  gpumc_ladder_read(params, "reweight", grid->beta);
  size_t above = 0;
  for (size_t i = 0; i < grid->points; i++) {
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
      .lowest = gpumc_level_value(model, model->ops->tracked, 0),
      .spacing = gpumc_level_distance(model, model->ops->tracked),
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
