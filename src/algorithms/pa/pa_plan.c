/* Population annealing: which runs go together, what their populations need to know, and what a run
 * will take, known before anything is allocated. */
#include "algorithms/pa/pa_parts.h"
#include "algorithms/pa/pa_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- batches ---- */

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

struct pa_population_plan pa_population_plan(const struct pa_settings *settings,
                                             const struct gpumc_model *model, double first)
{
  struct pa_population_plan plan = {
      .runs = pa_batch_runs(settings, model),
      .capacity = pa_capacity(settings->population),
      .founders = settings->population,
      .blocks = settings->blocks,
      .n_channels = settings->observables.n_channels,
      .tracked = model->ops->tracked,
      .conjugate = settings->moved.conjugate,
      .falls = gpumc_moved_coefficient(model, &settings->moved, settings->end) <
               gpumc_moved_coefficient(model, &settings->moved, first),
  };
  for (size_t k = 0; k < settings->observables.n_means; k++) {
    const struct gpumc_mean *mean = settings->observables.mean[k];
    plan.sums[mean->index] |= (unsigned)gpumc_mean_sum(mean);
  }
  for (size_t c = 0; c < plan.n_channels; c++)
    plan.bound[c] = model->bound[c];
  if (settings->reweight) {
    plan.strata = settings->strata;
    plan.levels = pa_spectrum(model)->levels;
    plan.lowest = pa_spectrum(model)->lowest;
    plan.spacing = pa_spectrum(model)->spacing;
  }
  return plan;
}

/* ---- configurations ---- */

bool pa_has_configurations(const struct gpumc_configurations_request *request, const double *value,
                           size_t row, double last)
{
  const size_t passed = gpumc_configurations_request_passed(request, (uint32_t)row, value[row]);
  if (row == 0)
    return passed > 0;
  if (request->every > 0 && value[row] >= last)
    return true;
  return passed > gpumc_configurations_request_passed(request, (uint32_t)row - 1, value[row - 1]);
}

/* Of a run, in a schedule of so many steps that is known unless it is adaptive. */
static double populations(const struct gpumc_configurations_request *request,
                          const struct pa_settings *settings, const struct pa_schedule *schedule,
                          double steps)
{
  double count = 0;
  if (settings->adaptive)
    return request->every > 0 ? ceil(steps / (double)request->every) : (double)request->n_values;
  for (size_t row = 0; row < schedule->count; row++)
    count += pa_has_configurations(request, schedule->value, row, settings->end);
  return count;
}

/* Adds what configurations need of memory and of the result, in so many steps. */
static enum gpumc_status
configurations_demand(const struct gpumc_params *params, const struct gpumc_model *model,
                      const struct pa_settings *settings, const struct pa_schedule *schedule,
                      double steps, struct gpumc_demand *demanded, struct gpumc_error *error)
{
  struct gpumc_configurations_request request;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, gpumc_configurations_request_read(params, GPUMC_CONFIGURATIONS_BETAS, 0,
                                                          &request, error));
  if (gpumc_configurations_request_any(&request)) {
    const double rows = populations(&request, settings, schedule, steps) *
                        (double)settings->population * (double)settings->runs;
    gpumc_configurations_demand(model, PA_CONFIGURATIONS_LABELS, rows,
                                (double)demanded->plan.capacity, demanded);
  }
out:
  gpumc_configurations_request_free(&request);
  return status;
}

/* ---- demand ---- */

/* Adaptive steps: values of the conjugate channel, Gaussian with the variance s^2 that states of
 * equal weight have, shifted by dc s^2 overlap by erfc(dc s/sqrt 8), c the coefficient, which is
 * beta of the energy; later steps differ, so this only sets the scale. */
static double
adaptive_steps(const struct pa_settings *settings, const struct gpumc_model *model, double first)
{
  const double way = fabs(gpumc_moved_coefficient(model, &settings->moved, settings->end) -
                          gpumc_moved_coefficient(model, &settings->moved, first));
  double low = 0;
  double high = 10;
  for (int i = 0; i < 60; i++) {
    double middle = 0.5 * (low + high);
    if (erfc(middle / sqrt(8.0)) > settings->overlap)
      low = middle;
    else
      high = middle;
  }
  double steps = ceil(way * sqrt(model->variance[settings->moved.conjugate]) / low);
  return fmin(fmax(steps, 1), PA_ROWS_MAXIMUM);
}

/* Host memory of T temperatures: rows (twice, since they grow by doubling), the summary and the
 * averages, reweighting; and the families of all replicas of a batch, for a checkpoint. Rows of
 * adaptive runs are not counted: how many there will be is a guess. */
static double host_bytes(const struct pa_settings *settings, const struct gpumc_model *model,
                         double temperatures, double replicas)
{
  double groups = (double)(settings->strata * settings->blocks);
  double row = (double)(pa_curve_width(settings) + pa_block_width(settings));
  double means = (double)(settings->blocks + 1) * (double)(settings->observables.n_means + 1);
  double numbers = (double)settings->runs * means;
  if (!settings->adaptive)
    numbers += temperatures * (2 * row * (double)settings->runs + 2 * (groups + 1));
  if (settings->reweight)
    numbers += groups * (2 * (double)pa_spectrum(model)->levels + temperatures);
  return numbers * sizeof(double) + replicas * sizeof(uint32_t);
}

/* Rows of the runs and curves of the summary; a checkpoint has the rows of all runs, the family of
 * every replica of a batch, and the histograms of a reweighting. */
static void demand_disk(const struct pa_settings *settings, const struct gpumc_model *model,
                        double temperatures, double replicas, struct gpumc_demand *demanded)
{
  const double rows = temperatures * (double)settings->runs *
                      (double)(pa_curve_width(settings) + pa_block_width(settings));
  const double curves = 2 * (double)(settings->observables.n_means + 6);
  const double levels = settings->reweight ? (double)pa_spectrum(model)->levels : 0;
  demanded->result_bytes = (rows + curves * temperatures + 2 * levels) * sizeof(double);
  demanded->state_bytes =
      (rows + (double)(settings->strata * settings->blocks) * levels) * sizeof(double) +
      replicas * sizeof(uint32_t);
}

enum gpumc_status pa_demand(const struct gpumc_params *params, const struct gpumc_model *model,
                            const struct gpumc_device *device, struct gpumc_demand *demanded,
                            struct gpumc_error *error)
{
  struct pa_settings settings;
  struct pa_schedule schedule = {0};
  pa_settings_read(params, model, &settings);
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, pa_schedule_make(params, &schedule, error));
  const double first = schedule.value[0];
  const struct pa_population_plan plan = pa_population_plan(&settings, model, first);
  const double replicas = (double)plan.runs * (double)plan.capacity;
  const double steps =
      settings.adaptive ? adaptive_steps(&settings, model, first) : (double)schedule.count - 1;
  const double sweeps = settings.sweeps * steps + settings.thermalization;
  memset(demanded, 0, sizeof *demanded);
  demanded->replicas = settings.population;
  demanded->plan = (struct gpumc_ensemble_plan){.runs = plan.runs,
                                                .capacity = plan.capacity,
                                                .samples = 1,
                                                .own_runs = true,
                                                .moved = settings.moved.control,
                                                .fixes = true};
  memcpy(demanded->plan.fixed, settings.moved.fixed, sizeof settings.moved.fixed);
  demanded->host_bytes = gpumc_demand_bytes(host_bytes(&settings, model, steps + 1, replicas)) +
                         pa_population_host_bytes(device, &plan);
  demanded->device_bytes = pa_population_bytes(device, &plan);
  demanded->device_bytes_by_replicas = pa_population_replica_bytes(device, &plan);
  const struct pa_parts_bytes parts = pa_parts_bytes(device, &plan, model->portable_bytes);
  demanded->divided_host_bytes = parts.host;
  demanded->divided_device_bytes = parts.device;
  demanded->each_host_bytes = parts.each_host;
  demanded->each_device_bytes = parts.each_device;
  demanded->transfers = true;
  demanded->updates =
      (double)settings.population * (double)model->sites * sweeps * (double)settings.runs;
  demanded->work.values = (double)settings.population * steps * (double)settings.runs;
  demanded->work.measured = demanded->work.values * (double)model->sites;
  demanded->work.sweeps = (uint32_t)settings.sweeps;
  demanded->work.n_channels = settings.observables.n_channels;
  demanded->estimated = settings.adaptive;
  demand_disk(&settings, model, steps + 1, replicas, demanded);
  status = configurations_demand(params, model, &settings, &schedule, steps, demanded, error);
out:
  free(schedule.value);
  return status;
}
