/* Population annealing: which runs go together, the plan of their populations, and the demands of a
 * run, known before anything is allocated. */
#include "algorithms/pa/pa_parts.h"
#include "algorithms/pa/pa_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- batches ---- */

/* Limits on a process's part of a batch: memory enough to fill a large GPU several times over (8000
 * groups of 32 replicas at L = 64), little enough for any laptop; and updates in one temperature
 * step that take a large GPU 10 milliseconds and two processors a second or two, since a run
 * handles signals between steps. A run by itself may exceed both. */
static const double bytes_maximum = 0x1p28, updates_maximum = 0x1p35;

/* Returns the host memory of a block of a run: its weights, and the sums of its channels. */
static double bytes_of_block(const struct pa_settings *settings)
{
  return 8.0 + (double)settings->observables.n_channels * sizeof(struct gpumc_moment_sums);
}

/* Returns an approximation, the same for every device: replicas twice in portable form, their
 * bookkeeping, and the sums by block in the three outcomes that a device keeps. */
static double bytes_of_run(const struct pa_settings *settings, const struct gpumc_model *model)
{
  const double channels = (double)settings->observables.n_channels;
  const double replica = 2.0 * (double)model->portable_bytes + 8.0 * channels + 24.0;
  return (double)pa_capacity(settings->population) * replica +
         (1 + GPUMC_SLOTS) * (double)settings->blocks * bytes_of_block(settings);
}

size_t
pa_batch_runs(const struct pa_settings *settings, const struct gpumc_model *model, size_t processes)
{
  const double updates =
      (double)settings->population * (double)model->sites * (double)settings->sweeps;
  const double of_one =
      fmin(bytes_maximum / bytes_of_run(settings, model), updates_maximum / updates);
  const double most = (of_one < 1 ? 1 : floor(of_one)) * (double)processes;
  return most < (double)settings->runs ? (size_t)most : settings->runs;
}

/* All processes but one wait while the first run of an adaptive schedule finds the temperatures:
 * for at most a fifth of the time, or dividing the runs is not worth it. */
static bool is_worth_waiting(const struct pa_settings *settings, const struct gpumc_spread *spread)
{
  enum { ROUNDS = 4 };
  const bool waits = settings->adaptive && spread->begun.first == 0;
  return !waits || (settings->runs - 1) / ROUNDS >= spread->processes;
}

size_t pa_batch_room(const struct pa_settings *settings, const struct gpumc_model *model,
                     const struct gpumc_spread *spread)
{
  const size_t runs = settings->runs, begun = spread->begun.count;
  const size_t processes = is_worth_waiting(settings, spread) ? spread->processes : 1;
  const size_t most = pa_batch_runs(settings, model, processes);
  const size_t left = spread->begun.first < runs ? runs - spread->begun.first : runs;
  const size_t room = left < most ? left : most;
  return room >= begun ? room : begun < runs ? begun : runs;
}

struct pa_batch pa_batch_from(const struct pa_settings *settings, size_t most, size_t first)
{
  const size_t left = settings->runs - first;
  const size_t runs = settings->adaptive && first == 0 ? 1 : most;
  return (struct pa_batch){first, left < runs ? left : runs};
}

struct pa_population_plan pa_population_plan(const struct pa_settings *settings,
                                             const struct gpumc_model *model, size_t runs,
                                             double first)
{
  struct pa_population_plan plan = {
      .runs = runs,
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

/* Returns the number of populations of a run, in a schedule of this many steps, which is known
 * unless it is adaptive. */
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

/* Adds what configurations need of memory and of the result, in this many steps. */
static void configurations_demand(const struct gpumc_configurations_request *request,
                                  const struct gpumc_model *model,
                                  const struct pa_settings *settings,
                                  const struct pa_schedule *schedule, double steps,
                                  struct gpumc_demand *demanded)
{
  if (!gpumc_configurations_request_any(request))
    return;
  const double rows = populations(request, settings, schedule, steps) *
                      (double)settings->population * (double)settings->runs;
  gpumc_configurations_demand(model, PA_CONFIGURATIONS_LABELS, rows,
                              (double)demanded->plan.capacity, demanded);
}

/* ---- demand ---- */

/* Adaptive steps: values of the conjugate channel, Gaussian with the variance s^2 of states of
 * equal weight, shifted by dc s^2 overlap by erfc(dc s/sqrt 8), c the coefficient, which is beta
 * for the energy; later steps differ, so this only sets the scale. */
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

/* Returns the host memory of T temperatures: rows (twice, since they grow by doubling), the summary
 * and the averages, reweighting; and the families of all replicas of a batch, for a checkpoint.
 * Rows of adaptive runs are not counted: their number would be a guess. */
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

/* Demands space for rows of the runs and curves of the summary; a checkpoint has the rows of all
 * runs, the family of every replica of a batch, and the histograms of a reweighting. */
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

/* Demands the memory of a batch's populations on the device and, for data copied from there, on the
 * host: everything shrinks if a process has fewer of the runs, except histograms, which are of all
 * runs, and the host's data of the blocks of all. */
static void demand_populations(const struct pa_settings *settings,
                               const struct gpumc_device *device,
                               const struct pa_population_plan *plan, struct gpumc_demand *demanded)
{
  const size_t host = pa_population_host_bytes(device, plan);
  const size_t blocks =
      gpumc_demand_bytes((double)(plan->runs * plan->blocks) * bytes_of_block(settings));
  const size_t bins = plan->strata * plan->blocks * plan->levels * sizeof(uint64_t);
  demanded->host_bytes += host;
  demanded->host_bytes_by_runs = host - blocks;
  demanded->device_bytes = pa_population_bytes(device, plan);
  demanded->device_bytes_by_replicas = pa_population_replica_bytes(device, plan);
  demanded->device_bytes_by_runs =
      demanded->device_bytes - demanded->device_bytes_by_replicas - bins;
}

/* For a batch of `runs`. */
static void demand_memory(const struct pa_settings *settings, const struct gpumc_model *model,
                          const struct gpumc_device *device, size_t runs, double first,
                          double steps, struct gpumc_demand *demanded)
{
  const struct pa_population_plan plan = pa_population_plan(settings, model, runs, first);
  const struct pa_parts_bytes parts = pa_parts_bytes(device, &plan, model->portable_bytes);
  const double replicas = (double)plan.runs * (double)plan.capacity;
  demanded->plan = (struct gpumc_ensemble_plan){.runs = plan.runs,
                                                .capacity = plan.capacity,
                                                .samples = 1,
                                                .copies = true,
                                                .own_runs = true,
                                                .moved = settings->moved.control,
                                                .warm_up =
                                                    settings->tunes ? settings->thermalization : 0,
                                                .fixes = true};
  memcpy(demanded->plan.fixed, settings->moved.fixed, sizeof settings->moved.fixed);
  demanded->host_bytes = gpumc_demand_bytes(host_bytes(settings, model, steps + 1, replicas));
  demand_populations(settings, device, &plan, demanded);
  demanded->divided_host_bytes = parts.host;
  demanded->divided_device_bytes = parts.device;
  demanded->each_host_bytes = parts.each_host;
  demanded->each_device_bytes = parts.each_device;
  demanded->transfers = true;
  demand_disk(settings, model, steps + 1, replicas, demanded);
}

static void demand_work(const struct pa_settings *settings, const struct gpumc_model *model,
                        double steps, struct gpumc_demand *demanded)
{
  const double sweeps = settings->sweeps * steps + settings->thermalization;
  const double replicas = (double)settings->population * (double)settings->runs;
  demanded->updates =
      (double)settings->population * (double)model->sites * sweeps * (double)settings->runs;
  demanded->work.values = replicas * steps;
  demanded->work.measured = demanded->work.values * (double)model->sites;
  demanded->work.sweeps = (uint32_t)settings->sweeps;
  demanded->work.n_channels = settings->observables.n_channels;
  demanded->estimated = settings->adaptive;
}

/* Configurations are written batch by batch, in an order that is part of the result: their batches
 * are those of one process. */
enum gpumc_status pa_demand(const struct gpumc_params *params, const struct gpumc_model *model,
                            const struct gpumc_device *device, const struct gpumc_spread *spread,
                            struct gpumc_demand *demanded, struct gpumc_error *error)
{
  struct pa_settings settings;
  struct pa_schedule schedule = {0};
  struct gpumc_configurations_request request = {0};
  struct gpumc_spread over = *spread;
  enum gpumc_status status = GPUMC_OK;
  memset(demanded, 0, sizeof *demanded);
  pa_settings_read(params, model, &settings);
  GPUMC_TRY_OUT(status, gpumc_configurations_request_read(params, GPUMC_CONFIGURATIONS_BETAS, 0,
                                                          &request, error));
  GPUMC_TRY_OUT(status, pa_schedule_make(params, &schedule, error));
  if (gpumc_configurations_request_any(&request))
    over.processes = 1;
  const double first = schedule.value[0];
  const double steps =
      settings.adaptive ? adaptive_steps(&settings, model, first) : (double)schedule.count - 1;
  demanded->replicas = settings.population;
  demanded->runs = settings.runs;
  demand_memory(&settings, model, device, pa_batch_room(&settings, model, &over), first, steps,
                demanded);
  demand_work(&settings, model, steps, demanded);
  configurations_demand(&request, model, &settings, &schedule, steps, demanded);
out:
  gpumc_configurations_request_free(&request);
  free(schedule.value);
  return status;
}
