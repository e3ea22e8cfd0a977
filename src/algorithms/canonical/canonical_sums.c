/* Canonical runs: memory of the sums and of measurements, and what a run will need. */
#include <stdlib.h>
#include <string.h>

#include "algorithms/canonical/canonical_state.h"
#include "core/base/memory.h"

size_t canonical_threads(const struct gpumc_device *device)
{
  return device->threads > 1 ? (size_t)device->threads : 1;
}

static size_t widest_vector(const struct canonical *canonical)
{
  size_t width = 0;
  for (size_t m = 0; m < canonical->betas.count; m++)
    if (canonical_vector_width(canonical, m) > width)
      width = canonical_vector_width(canonical, m);
  return width;
}

/* The quantities of all replicas, weights, weighted quantities, and a vector. */
size_t canonical_scratch_width(const struct canonical *canonical)
{
  return (canonical->quantities.count + 2) * canonical->settings.replicas +
         widest_vector(canonical);
}

static enum gpumc_status
make_channels(struct canonical *canonical, size_t channel, struct gpumc_error *error)
{
  size_t values = canonical->betas.count * canonical->settings.replicas;
  enum gpumc_status status =
      gpumc_device_array(canonical->context.device, &canonical->device_channel[channel], values,
                         "measured quantities", error);
  return status == GPUMC_OK ? gpumc_allocate_array(&canonical->channel[channel], values,
                                                   "measured quantities", error)
                            : status;
}

static enum gpumc_status make_sums(struct canonical *canonical, size_t m, struct gpumc_error *error)
{
  struct canonical_sums *sums = &canonical->sums[m];
  const size_t width = canonical_vector_width(canonical, m);
  const size_t series = canonical->settings.chains * canonical->quantities.n_series;
  enum gpumc_status status = gpumc_allocate_array(&sums->chain, series, "time series", error);
  if (status == GPUMC_OK)
    status = gpumc_bins_init(&sums->bins, width, error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&sums->replica, width * canonical->settings.replicas,
                                  "sums of the replicas", error);
  if (status == GPUMC_OK && canonical->settings.each_sample)
    status = gpumc_allocate_array(&sums->half, width * canonical->settings.replicas,
                                  "sums of the samples", error);
  return status;
}

enum gpumc_status canonical_sums_make(struct canonical *canonical, struct gpumc_error *error)
{
  const size_t threads = canonical_threads(canonical->context.device);
  enum gpumc_status status =
      gpumc_allocate_array(&canonical->sums, canonical->betas.count, "sums", error);
  for (size_t m = 0; m < canonical->betas.count && status == GPUMC_OK; m++)
    status = make_sums(canonical, m, error);
  for (size_t c = 0; c < canonical->quantities.observables.n_channels && status == GPUMC_OK; c++)
    status = make_channels(canonical, c, error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&canonical->scratch, threads * canonical_scratch_width(canonical),
                                  "work space of the threads", error);
  return status;
}

void canonical_sums_free(struct canonical *canonical)
{
  for (size_t m = 0; canonical->sums != NULL && m < canonical->betas.count; m++) {
    free(canonical->sums[m].chain);
    gpumc_bins_free(&canonical->sums[m].bins);
    free(canonical->sums[m].replica);
    free(canonical->sums[m].half);
  }
  free(canonical->sums);
  for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM; c++) {
    canonical->context.device->ops->release(canonical->context.device,
                                            canonical->device_channel[c]);
    free(canonical->channel[c]);
  }
  free(canonical->scratch);
}

/* Bytes on the host; in doubles, since a mistyped number of replicas may exceed any size_t. */
static double host_bytes(const struct canonical *canonical, const struct gpumc_device *device)
{
  const double channels = (double)canonical->quantities.observables.n_channels;
  const struct canonical_settings *settings = &canonical->settings;
  const double temperatures = (double)canonical->betas.count;
  const double replicas = (double)settings->replicas;
  double series = temperatures * (double)settings->chains * (double)canonical->quantities.n_series *
                  sizeof(struct gpumc_series);
  double numbers = (double)canonical_threads(device) * (double)canonical_scratch_width(canonical);
  numbers += temperatures * replicas * channels;
  const double sums = (settings->each_sample ? 2 : 1) * replicas + GPUMC_BINS_MOST;
  for (size_t m = 0; m < canonical->betas.count; m++)
    numbers += (double)canonical_vector_width(canonical, m) * sums;
  if (settings->series) {
    const double row = (1 + replicas * channels) * sizeof(double);
    series += gpumc_recorder_series_bytes(
        row,
        row * temperatures * (double)canonical_measurements(settings, canonical_end(settings)));
  }
  return series + numbers * sizeof(double);
}

/* Bins and averages of the replicas, the curves of the summary and, if requested, all measurements;
 * a checkpoint has the sums. */
static void demand_disk(const struct canonical *canonical, struct gpumc_demand *demanded)
{
  const struct canonical_settings *settings = &canonical->settings;
  const double temperatures = (double)canonical->betas.count;
  const double replicas = (double)settings->replicas;
  const double quantities = (double)canonical->quantities.count;
  const double row = 1 + replicas * (double)canonical->quantities.observables.n_channels;
  double points = 0, sums = 0;
  for (size_t m = 0; m < canonical->betas.count; m++) {
    points += (double)canonical_grid_count(&canonical->grid, m);
    sums += (double)canonical_vector_width(canonical, m) *
            ((settings->each_sample ? 2 : 1) * replicas + GPUMC_BINS_MOST);
  }
  sums += temperatures * (double)settings->chains * (double)canonical->quantities.n_series *
          GPUMC_SERIES_WORDS;
  if (settings->series)
    demanded->series_bytes = row * temperatures *
                             (double)canonical_measurements(settings, canonical_end(settings)) *
                             sizeof(double);
  demanded->result_bytes =
      demanded->series_bytes + (temperatures * (quantities + 1) * (replicas + GPUMC_BINS_MOST) +
                                4 * (quantities + 4) * (temperatures + points)) *
                                   sizeof(double);
  demanded->state_bytes = sums * sizeof(double);
}

/* The mean over replicas goes into series and bins as well. */
static void demand_work(const struct canonical *canonical, const struct gpumc_model *model,
                        struct gpumc_work *work)
{
  enum { VALUES_OF_A_MEAN = 16 };
  const struct canonical_settings *settings = &canonical->settings;
  const double replicas = (double)settings->replicas;
  const double means =
      (double)canonical->betas.count * (double)(settings->sweeps / settings->interval);
  work->sweeps = settings->interval;
  work->measured = means * replicas * (double)model->sites;
  work->values = means * (replicas + VALUES_OF_A_MEAN);
  work->n_channels = canonical->quantities.observables.n_channels;
}

enum gpumc_status canonical_demand(const struct gpumc_params *params,
                                   const struct gpumc_model *model,
                                   const struct gpumc_device *device, struct gpumc_demand *demanded,
                                   struct gpumc_error *error)
{
  struct canonical canonical = {0};
  const struct canonical_settings *settings = &canonical.settings;
  canonical_settings_read(params, &canonical.settings);
  const struct gpumc_observables observables = gpumc_observables_of(params, model->ops, NULL);
  canonical_quantities_make(model, &observables, &canonical.quantities);
  enum gpumc_status status = canonical_betas_make(params, &canonical.betas, error);
  if (status == GPUMC_OK)
    status = canonical_grid_make(params, &canonical.betas, &canonical.grid, error);
  if (status == GPUMC_OK)
    status = gpumc_configurations_request_read(params, GPUMC_CONFIGURATIONS_TIMES,
                                               canonical.betas.count, &canonical.request, error);
  if (status == GPUMC_OK) {
    const double channels = (double)observables.n_channels;
    const double replicas = (double)canonical.betas.count * (double)settings->replicas;
    memset(demanded, 0, sizeof *demanded);
    demanded->replicas = settings->replicas;
    demanded->plan =
        (struct gpumc_ensemble_plan){.runs = canonical.betas.count,
                                     .capacity = settings->replicas,
                                     .samples = settings->each_sample ? settings->replicas : 1,
                                     .update = settings->update};
    demanded->host_bytes = gpumc_demand_bytes(host_bytes(&canonical, device));
    demanded->device_bytes = gpumc_demand_bytes(replicas * channels * sizeof(int64_t));
    demand_disk(&canonical, demanded);
    canonical_configurations_demand(&canonical, model, demanded);
    demanded->updates = replicas * (double)model->sites * (double)canonical_end(settings);
    demand_work(&canonical, model, &demanded->work);
  }
  gpumc_configurations_request_free(&canonical.request);
  canonical_grid_free(&canonical.grid);
  canonical_betas_free(&canonical.betas);
  return status;
}
