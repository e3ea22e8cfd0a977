/* Chains: the measured quantities of a replica, the sums that they are added to, and their memory.
 *
 * All arithmetic is in a fixed order, replica by replica and chain by chain, on the host: the same
 * bits on every device and for any number of threads. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/chains/chains_internal.h"
#include "core/base/memory.h"
#include "core/numerics/elementary.h"
#include "core/numerics/power.h"

/* ---- measured quantities ---- */

void chains_quantities_make(const struct gpumc_model *model,
                            const struct gpumc_observables *observables,
                            struct chains_quantities *quantities)
{
  memset(quantities, 0, sizeof *quantities);
  quantities->model = model;
  quantities->observables = gpumc_observables_that_apply(observables, model);
  quantities->count = observables->n_means;
  for (size_t k = 0; k < observables->n_means; k++) {
    const size_t result = gpumc_observables_reported(&quantities->observables, k);
    quantities->unit[k] = gpumc_mean_unit(observables->mean[k], model);
    if (result == quantities->observables.n_quantities)
      continue;
    quantities->series_mean[quantities->n_series] = k;
    quantities->series_result[quantities->n_series++] = result;
  }
}

/* With a power known to the compiler. */
static inline void fill(double unit, const int64_t *channel, size_t count, unsigned power,
                        bool absolute, double *values)
{
  for (size_t i = 0; i < count; i++)
    values[i] = gpumc_power((double)channel[i] * unit, power, absolute);
}

void chains_moments_of(const struct gpumc_mean *mean, double unit, const int64_t *channel,
                       size_t count, double *values)
{
  if (mean->power == 1 && mean->absolute)
    fill(unit, channel, count, 1, true, values);
  else if (mean->power == 1)
    fill(unit, channel, count, 1, false, values);
  else if (mean->power == 2)
    fill(unit, channel, count, 2, false, values);
  else
    fill(unit, channel, count, 4, false, values);
}

void chains_add_means(const struct chains_settings *settings, const struct gpumc_mean *mean,
                      double unit, const int64_t *channel, double *scratch,
                      struct gpumc_series *series, size_t stride)
{
  chains_moments_of(mean, unit, channel, settings->replicas, scratch);
  for (size_t b = 0; b < settings->chains; b++) {
    const size_t first = chains_first(settings, b), end = chains_first(settings, b + 1);
    double sum = 0;
    for (size_t r = first; r < end; r++)
      sum += scratch[r];
    gpumc_series_add(&series[b * stride], sum / (double)(end - first));
  }
}

/* ---- memory of the sums ---- */

size_t chains_threads(const struct gpumc_device *device)
{
  return device->threads > 1 ? (size_t)device->threads : 1;
}

/* For means, or for a profile. */
static size_t widest_vector(const struct chains *chains)
{
  size_t width = (size_t)chains_profile_width(chains);
  for (size_t m = 0; m < chains->runs; m++)
    if (chains_vector_width(chains, m) > width)
      width = chains_vector_width(chains, m);
  return width;
}

/* Room for the quantities of all replicas, weights, weighted quantities, and a vector. */
size_t chains_scratch_width(const struct chains *chains)
{
  return (chains->quantities.count + 2) * chains->settings.replicas + widest_vector(chains);
}

size_t chains_values(const struct chains *chains, size_t channel)
{
  const struct gpumc_model *model = chains->quantities.model;
  const bool many = gpumc_channel_is_profile(&model->ops->channels[channel]);
  return chains->runs * chains->settings.replicas * (many ? model->profile[channel].width : 1);
}

enum gpumc_status chains_channels_make(const struct chains *chains,
                                       const bool asked[static GPUMC_CHANNELS_MAXIMUM],
                                       struct chains_channels *channels, struct gpumc_error *error)
{
  const struct gpumc_channel *channel = chains->quantities.model->ops->channels;
  size_t first[GPUMC_CHANNELS_MAXIMUM];
  for (int profiles = 0; profiles < 2; profiles++)
    for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM; c++) {
      if (!asked[c] || gpumc_channel_is_profile(&channel[c]) != (profiles == 1))
        continue;
      const size_t values = chains_values(chains, c);
      first[c] = channels->values;
      channels->values += values;
      channels->profiled += profiles == 1 ? values : 0;
    }
  if (channels->values == 0)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_device_array(chains->context.device, &channels->all_on_device, channels->values,
                               "measured quantities", error));
  GPUMC_TRY(
      gpumc_allocate_array(&channels->all_on_host, channels->values, "measured quantities", error));
  for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM; c++)
    if (asked[c]) {
      channels->device[c] = channels->all_on_device + first[c];
      channels->host[c] = channels->all_on_host + first[c];
    }
  return GPUMC_OK;
}

void chains_channels_free(const struct chains *chains, struct chains_channels *channels)
{
  chains->context.device->ops->release(chains->context.device, channels->all_on_device);
  free(channels->all_on_host);
}

enum gpumc_status chains_channels_fetch(const struct chains *chains,
                                        const struct chains_channels *channels, bool profiles,
                                        struct gpumc_error *error)
{
  struct gpumc_device *device = chains->context.device;
  const size_t values = channels->values - (profiles ? 0 : channels->profiled);
  return device->ops->copy_to_host(device, channels->all_on_host, channels->all_on_device,
                                   values * sizeof *channels->all_on_host, error);
}

static enum gpumc_status make_sums(struct chains *chains, size_t m, struct gpumc_error *error)
{
  struct chains_sums *sums = &chains->sums[m];
  const size_t width = chains_vector_width(chains, m);
  const size_t series = chains->settings.chains * chains->quantities.n_series;
  GPUMC_TRY(gpumc_allocate_array(&sums->chain, series, "time series", error));
  GPUMC_TRY(gpumc_bins_init(&sums->bins, width, error));
  GPUMC_TRY(gpumc_allocate_array(&sums->replica, width * chains->settings.replicas,
                                 "sums of the replicas", error));
  if (chains->settings.each_sample)
    GPUMC_TRY(gpumc_allocate_array(&sums->half, width * chains->settings.replicas,
                                   "sums of the samples", error));
  return chains_profiles_make(chains, m, error);
}

enum gpumc_status chains_sums_make(struct chains *chains, struct gpumc_error *error)
{
  const struct gpumc_observables *observables = &chains->quantities.observables;
  const size_t threads = chains_threads(chains->context.device);
  bool asked[GPUMC_CHANNELS_MAXIMUM] = {false};
  GPUMC_TRY(gpumc_allocate_array(&chains->sums, chains->runs, "sums", error));
  for (size_t m = 0; m < chains->runs; m++)
    GPUMC_TRY(make_sums(chains, m, error));
  for (size_t c = 0; c < observables->n_channels; c++)
    asked[c] = true;
  for (size_t p = 0; p < observables->n_profiles; p++)
    asked[observables->profile[p]] = true;
  GPUMC_TRY(chains_channels_make(chains, asked, &chains->channels, error));
  return gpumc_allocate_array(&chains->scratch, threads * chains_scratch_width(chains),
                              "work space of the threads", error);
}

void chains_sums_free(struct chains *chains)
{
  for (size_t m = 0; chains->sums != NULL && m < chains->runs; m++) {
    free(chains->sums[m].chain);
    gpumc_bins_free(&chains->sums[m].bins);
    free(chains->sums[m].replica);
    free(chains->sums[m].half);
    chains_profiles_free(&chains->sums[m]);
  }
  free(chains->sums);
  chains_channels_free(chains, &chains->channels);
  free(chains->scratch);
}

/* ---- from the channels of a measurement into the sums ---- */

/* Numbers of a measurement, a nanosecond or two each, below which a second thread does not pay
 * off. */
static const double least_parallel = 0x1p17;

/* Scratch for the measurement of one temperature. */
struct work {
  const struct chains *chains;
  struct chains_sums *sums;
  size_t m, replicas;
  double *quantity; /* [quantities][replicas] */
  double *weight;   /* [replicas] */
  double *weighted; /* [replicas] */
  double *vector;   /* averages over the replicas */
};

static struct work work_of(const struct chains *chains, size_t m, double *scratch)
{
  const size_t replicas = chains->settings.replicas;
  struct work work = {.chains = chains, .sums = &chains->sums[m], .m = m, .replicas = replicas};
  work.quantity = scratch;
  work.weight = work.quantity + chains->quantities.count * replicas;
  work.weighted = work.weight + replicas;
  work.vector = work.weighted + replicas;
  return work;
}

static const int64_t *channel_of(const struct work *work, size_t channel)
{
  return work->chains->channels.host[channel] + work->m * work->replicas;
}

/* Adds component v of the vector to the sums of the replicas, and averages it;
 * chain_mean[chains]. */
static void
accumulate(struct work *work, size_t v, const double *value, double chain_mean[CHAINS_MAXIMUM])
{
  const struct chains_settings *settings = &work->chains->settings;
  double *sum = work->sums->replica + v * work->replicas;
  double total = 0;
  for (size_t b = 0; b < settings->chains; b++) {
    const size_t first = chains_first(settings, b);
    const size_t end = chains_first(settings, b + 1);
    double of_chain = 0;
    for (size_t r = first; r < end; r++) {
      sum[r] += value[r];
      of_chain += value[r];
    }
    chain_mean[b] = of_chain / (double)(end - first);
    total += of_chain;
  }
  work->vector[v] = total / (double)work->replicas;
}

static void add_quantities(struct work *work)
{
  const struct chains_quantities *quantities = &work->chains->quantities;
  const size_t chains = work->chains->settings.chains, series = quantities->n_series;
  double chain_mean[CHAINS_MAXIMUM];
  size_t k = 0;
  for (size_t q = 0; q < quantities->count; q++) {
    const struct gpumc_mean *mean = quantities->observables.mean[q];
    double *value = work->quantity + q * work->replicas;
    chains_moments_of(mean, quantities->unit[q], channel_of(work, mean->index), work->replicas,
                      value);
    accumulate(work, q, value, chain_mean);
    if (k == series || quantities->series_mean[k] != q)
      continue;
    for (size_t b = 0; b < chains; b++)
      gpumc_series_add(&work->sums->chain[b * series + k], chain_mean[b]);
    k++;
  }
}

static void multiply(const double *a, const double *b, size_t count, double *product)
{
  for (size_t i = 0; i < count; i++)
    product[i] = a[i] * b[i];
}

static double coefficient_at(const struct chains *chains, double value)
{
  return gpumc_moved_coefficient(chains->context.model, &chains->moved, value);
}

/* Computes exp(-(beta' - beta)(E - E0)), E the conjugate channel, E0 the temperature's reference,
 * beta the channel's coefficient. */
static void find_weights(struct work *work, double distance)
{
  const size_t conjugate = work->chains->moved.conjugate;
  const int64_t *value = channel_of(work, conjugate);
  const double scale = -distance * work->chains->context.model->quantum[conjugate];
  for (size_t r = 0; r < work->replicas; r++)
    work->weight[r] = gpumc_exp(scale * (double)(value[r] - work->sums->reference));
}

static void add_point(struct work *work, size_t point, size_t first)
{
  const struct chains *chains = work->chains;
  double unused[CHAINS_MAXIMUM];
  find_weights(work, coefficient_at(chains, chains_grid_value(chains, work->m, point)) -
                         coefficient_at(chains, chains->value[work->m]));
  accumulate(work, first, work->weight, unused);
  multiply(work->weight, work->weight, work->replicas, work->weighted);
  accumulate(work, first + 1, work->weighted, unused);
  for (size_t q = 0; q < chains->quantities.count; q++) {
    multiply(work->weight, work->quantity + q * work->replicas, work->replicas, work->weighted);
    accumulate(work, first + 2 + q, work->weighted, unused);
  }
}

/* Uses the mean of the conjugate channel, so that no weight is far from one. */
static int64_t mean_conjugate(const struct work *work)
{
  const int64_t *value = channel_of(work, work->chains->moved.conjugate);
  double sum = 0;
  for (size_t r = 0; r < work->replicas; r++)
    sum += (double)value[r];
  return (int64_t)rint(sum / (double)work->replicas);
}

static void add_temperature(const struct chains *chains, size_t m, double *scratch)
{
  struct work work = work_of(chains, m, scratch);
  const struct chains_settings *settings = &chains->settings;
  const size_t points = chains_grid_count(chains, m);
  size_t component = chains->quantities.count;
  if (chains->measured == 0)
    work.sums->reference = mean_conjugate(&work);
  add_quantities(&work);
  for (size_t p = 0; p < points; p++) {
    add_point(&work, p, component);
    component += chains_point_width(&chains->quantities);
  }
  gpumc_bins_add(&work.sums->bins, work.vector);
  chains_profiles_add(chains, m, work.vector);
  if (settings->each_sample && chains->measured + 1 == chains_half(settings, UINT64_MAX))
    memcpy(work.sums->half, work.sums->replica,
           component * settings->replicas * sizeof *work.sums->half);
}

enum gpumc_status chains_fetch(struct chains *chains, struct gpumc_error *error)
{
  return chains_channels_fetch(chains, &chains->channels, true, error);
}

static int threads_for(const struct chains *chains)
{
  double numbers = 0;
  for (size_t m = 0; m < chains->runs; m++)
    numbers += (double)chains_vector_width(chains, m) + chains_profile_width(chains);
  numbers *= (double)chains->settings.replicas;
  return numbers >= least_parallel ? (int)chains_threads(chains->context.device) : 1;
}

void chains_digest(struct chains *chains)
{
  const size_t temperatures = chains->runs;
  const size_t width = chains_scratch_width(chains);
  const int threads = threads_for(chains);
  if (threads == 1)
    for (size_t m = 0; m < temperatures; m++)
      add_temperature(chains, m, chains->scratch);
  else
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (size_t m = 0; m < temperatures; m++)
      add_temperature(chains, m, chains->scratch + (size_t)omp_get_thread_num() * width);
  chains->measured++;
}
