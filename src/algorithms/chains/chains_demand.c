/* Chains: the demands of a run. */
#include <string.h>

#include "algorithms/chains/chains_internal.h"

/* Returns bytes on the host; in doubles, since a mistyped number of replicas may exceed any
 * size_t. */
static double host_bytes(const struct chains *chains, const struct gpumc_device *device)
{
  const double channels = (double)chains->quantities.observables.n_channels;
  const struct chains_settings *settings = &chains->settings;
  const double temperatures = (double)chains->runs;
  const double replicas = (double)settings->replicas;
  double series = temperatures * (double)settings->chains *
                  (double)(chains->quantities.n_series + chains->watch.count) *
                  sizeof(struct gpumc_series);
  double numbers = (double)chains_threads(device) * (double)chains_scratch_width(chains);
  numbers += temperatures * replicas *
             (channels + (double)chains->watch.count + chains_profile_width(chains));
  numbers += chains_profile_sums(chains);
  const double sums = (settings->each_sample ? 2 : 1) * replicas + GPUMC_BINS_MOST;
  for (size_t m = 0; m < chains->runs; m++)
    numbers += (double)chains_vector_width(chains, m) * sums;
  if (settings->series) {
    const double row = (1 + replicas * channels) * sizeof(double);
    series += gpumc_recorder_series_bytes(
        row, row * temperatures * (double)chains_measurements(settings, chains_end(settings)));
  }
  return series + numbers * sizeof(double);
}

/* Bins and averages of the replicas, the curves of the summary and, if requested, all measurements;
 * a checkpoint has the sums. */
static void demand_disk(const struct chains *chains, struct gpumc_demand *demanded)
{
  const struct chains_settings *settings = &chains->settings;
  const double temperatures = (double)chains->runs;
  const double replicas = (double)settings->replicas;
  const double quantities = (double)chains->quantities.count;
  const double row = 1 + replicas * (double)chains->quantities.observables.n_channels;
  double points = 0, sums = 0;
  for (size_t m = 0; m < chains->runs; m++) {
    points += (double)chains_grid_served(&chains->grid, m);
    sums += (double)chains_vector_width(chains, m) *
            ((settings->each_sample ? 2 : 1) * replicas + GPUMC_BINS_MOST);
  }
  sums += chains_profile_sums(chains);
  sums += temperatures * (double)settings->chains *
          (double)(chains->quantities.n_series + chains->watch.count) * GPUMC_SERIES_WORDS;
  if (settings->series)
    demanded->series_bytes = row * temperatures *
                             (double)chains_measurements(settings, chains_end(settings)) *
                             sizeof(double);
  demanded->result_bytes =
      demanded->series_bytes +
      (temperatures * (quantities + 1) * (replicas + GPUMC_BINS_MOST) +
       4 * (quantities + 4) * (temperatures + points) +
       ((3 + GPUMC_BINS_MOST) * temperatures + 1) * chains_profile_width(chains)) *
          sizeof(double);
  demanded->state_bytes = sums * sizeof(double);
}

static void demand_configurations(const struct chains *chains, const struct gpumc_model *model,
                                  struct gpumc_demand *demanded)
{
  if (gpumc_configurations_request_any(&chains->request))
    gpumc_configurations_demand(model, CHAINS_LABELS,
                                chains_configurations_rows(chains, chains->settings.sweeps),
                                (double)chains->settings.replicas, demanded);
}

/* The mean over replicas is added to series and bins as well. */
static void
demand_work(const struct chains *chains, const struct gpumc_model *model, struct gpumc_work *work)
{
  enum { VALUES_OF_A_MEAN = 16 };
  const struct chains_settings *settings = &chains->settings;
  const double replicas = (double)settings->replicas;
  const double means = (double)chains->runs * (double)(settings->sweeps / settings->interval);
  work->sweeps = settings->interval;
  work->measured = means * replicas * (double)model->sites;
  work->values = means * (replicas + VALUES_OF_A_MEAN);
  work->summed = means * replicas * chains_profile_width(chains);
  work->seconds = settings->tune;
  if (chains->watch.count > 0)
    work->looked =
        (double)chains->runs * replicas * chains_least_looks(settings) * (double)model->sites;
  for (size_t w = 0; w < chains->watch.count; w++)
    work->watched |= 1u << chains->watch.mean[w]->index;
  work->n_channels = chains->quantities.observables.n_channels;
  for (size_t p = 0; p < chains->quantities.observables.n_profiles; p++)
    work->profiles |= 1u << chains->quantities.observables.profile[p];
}

enum gpumc_status chains_demand(chains_read *read, const struct gpumc_params *params,
                                const struct gpumc_model *model, const struct gpumc_device *device,
                                struct gpumc_demand *demanded, struct gpumc_error *error)
{
  struct chains chains = {0};
  const struct chains_settings *settings = &chains.settings;
  enum gpumc_status status = chains_settings_make(read, params, model, &chains, error);
  memset(demanded, 0, sizeof *demanded);
  if (status == GPUMC_OK) {
    const double channels = (double)chains.quantities.observables.n_channels;
    const double replicas = (double)chains.runs * (double)settings->replicas;
    demanded->replicas = settings->replicas;
    demanded->plan =
        (struct gpumc_ensemble_plan){.runs = chains.runs,
                                     .capacity = settings->replicas,
                                     .samples = settings->each_sample ? settings->replicas : 1,
                                     .moved = chains.moved.control,
                                     .fixes = true,
                                     .warm_up = settings->thermalization};
    memcpy(demanded->plan.fixed, chains.moved.fixed, sizeof chains.moved.fixed);
    demanded->host_bytes = gpumc_demand_bytes(host_bytes(&chains, device));
    demanded->device_bytes = gpumc_demand_bytes(
        replicas * (channels + (double)chains.watch.count + chains_profile_width(&chains)) *
        sizeof(int64_t));
    demand_disk(&chains, demanded);
    demand_configurations(&chains, model, demanded);
    demanded->updates = replicas * (double)model->sites * (double)chains_end(settings);
    demand_work(&chains, model, &demanded->work);
  }
  chains_settings_free(&chains);
  return status;
}
