/* Canonical runs: what is measured of a replica, the sums that it goes into, and their memory.
 *
 * All arithmetic is in a fixed order, replica by replica and chain by chain, on the host: the same
 * bits on every device and for any number of threads. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/canonical/canonical.h"
#include "core/base/memory.h"
#include "core/numerics/elementary.h"
#include "core/numerics/power.h"
#include "core/simulation/curves.h"

/* ---- what is measured ---- */

void canonical_quantities_make(const struct gpumc_model *model,
                               const struct gpumc_observables *observables,
                               struct canonical_quantities *quantities)
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

/* With a power that the compiler knows. */
static inline void fill(double unit, const int64_t *channel, size_t count, unsigned power,
                        bool absolute, double *values)
{
  for (size_t i = 0; i < count; i++)
    values[i] = gpumc_power((double)channel[i] * unit, power, absolute);
}

void canonical_moments_of(const struct gpumc_mean *mean, double unit, const int64_t *channel,
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

/* ---- memory of the sums ---- */

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
  GPUMC_TRY(gpumc_device_array(canonical->context.device, &canonical->device_channel[channel],
                               values, "measured quantities", error));
  return gpumc_allocate_array(&canonical->channel[channel], values, "measured quantities", error);
}

static enum gpumc_status make_sums(struct canonical *canonical, size_t m, struct gpumc_error *error)
{
  struct canonical_sums *sums = &canonical->sums[m];
  const size_t width = canonical_vector_width(canonical, m);
  const size_t series = canonical->settings.chains * canonical->quantities.n_series;
  GPUMC_TRY(gpumc_allocate_array(&sums->chain, series, "time series", error));
  GPUMC_TRY(gpumc_bins_init(&sums->bins, width, error));
  GPUMC_TRY(gpumc_allocate_array(&sums->replica, width * canonical->settings.replicas,
                                 "sums of the replicas", error));
  if (canonical->settings.each_sample)
    GPUMC_TRY(gpumc_allocate_array(&sums->half, width * canonical->settings.replicas,
                                   "sums of the samples", error));
  return GPUMC_OK;
}

enum gpumc_status canonical_sums_make(struct canonical *canonical, struct gpumc_error *error)
{
  const size_t threads = canonical_threads(canonical->context.device);
  GPUMC_TRY(gpumc_allocate_array(&canonical->sums, canonical->betas.count, "sums", error));
  for (size_t m = 0; m < canonical->betas.count; m++)
    GPUMC_TRY(make_sums(canonical, m, error));
  for (size_t c = 0; c < canonical->quantities.observables.n_channels; c++)
    GPUMC_TRY(make_channels(canonical, c, error));
  return gpumc_allocate_array(&canonical->scratch, threads * canonical_scratch_width(canonical),
                              "work space of the threads", error);
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

/* ---- time series ---- */

enum { LONGEST_GROUP = 32 };

static bool is_recorded(const struct canonical *canonical, size_t channel)
{
  return canonical->channel[channel] != NULL;
}

static struct gpumc_column column_of(const struct canonical *canonical, size_t channel)
{
  const struct gpumc_model_ops *model = canonical->context.model->ops;
  const size_t replicas = canonical->settings.replicas;
  return (struct gpumc_column){
      .label = model->channels[channel].label, .width = replicas, .across = "replica"};
}

static enum gpumc_status
declare_series(struct canonical *canonical, size_t m, const char *group, struct gpumc_error *error)
{
  struct gpumc_column column[1 + GPUMC_CHANNELS_MAXIMUM] = {
      {.label = {"sweep", "sweeps since the end of the thermalization", "sweeps", "t"},
       .width = 1,
       .integer = true}};
  size_t columns = 1;
  for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM; c++)
    if (is_recorded(canonical, c)) {
      column[columns] = column_of(canonical, c);
      columns++;
    }
  return gpumc_curve_add_series(canonical->context.recorder, canonical->context.model, group,
                                column, columns, &canonical->table[m], error);
}

enum gpumc_status canonical_tables_declare(struct canonical *canonical, struct gpumc_error *error)
{
  const size_t width = 1 + GPUMC_CHANNELS_MAXIMUM * canonical->settings.replicas;
  if (canonical->settings.series) {
    GPUMC_TRY(gpumc_allocate_array(&canonical->table, canonical->betas.count, "tables", error));
    GPUMC_TRY(gpumc_allocate_array(&canonical->row, width, "a row", error));
  }
  for (size_t m = 0; m < canonical->betas.count; m++) {
    char group[LONGEST_GROUP];
    snprintf(group, sizeof group, "runs/%04zu", m);
    GPUMC_TRY(gpumc_recorder_number(canonical->context.recorder, group, "beta",
                                    canonical->betas.beta[m], error));
    if (canonical->settings.series)
      GPUMC_TRY(declare_series(canonical, m, group, error));
  }
  return GPUMC_OK;
}

/* The row of the last measurement that went into the sums. */
static enum gpumc_status record_rows(struct canonical *canonical, struct gpumc_error *error)
{
  const struct gpumc_model *model = canonical->context.model;
  const size_t replicas = canonical->settings.replicas;
  for (size_t m = 0; m < canonical->betas.count; m++) {
    double *value = canonical->row;
    *value++ = (double)canonical->measured * canonical->settings.interval;
    for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM; c++) {
      if (!is_recorded(canonical, c))
        continue;
      const double unit = model->quantum[c] / (double)model->sites;
      for (size_t r = 0; r < replicas; r++)
        value[r] = (double)canonical->channel[c][m * replicas + r] * unit;
      value += replicas;
    }
    GPUMC_TRY(gpumc_recorder_append(canonical->context.recorder, canonical->table[m],
                                    canonical->row, error));
  }
  return GPUMC_OK;
}

/* ---- from the channels of a measurement into the sums ---- */

/* Numbers of a measurement, a nanosecond or two each, below which a second thread does not pay. */
static const double least_parallel = 0x1p17;

/* What one temperature's measurement works with. */
struct work {
  const struct canonical *canonical;
  struct canonical_sums *sums;
  size_t m, replicas;
  double *quantity; /* [quantities][replicas] */
  double *weight;   /* [replicas] */
  double *weighted; /* [replicas] */
  double *vector;   /* averages over the replicas */
};

static struct work work_of(const struct canonical *canonical, size_t m, double *scratch)
{
  const size_t replicas = canonical->settings.replicas;
  struct work work = {
      .canonical = canonical, .sums = &canonical->sums[m], .m = m, .replicas = replicas};
  work.quantity = scratch;
  work.weight = work.quantity + canonical->quantities.count * replicas;
  work.weighted = work.weight + replicas;
  work.vector = work.weighted + replicas;
  return work;
}

static const int64_t *channel_of(const struct work *work, size_t channel)
{
  return work->canonical->channel[channel] + work->m * work->replicas;
}

/* Component v of the vector: to the sums of the replicas, and averaged; chain_mean[chains]. */
static void accumulate(struct work *work, size_t v, const double *value,
                       double chain_mean[CANONICAL_CHAINS_MAXIMUM])
{
  const struct canonical_settings *settings = &work->canonical->settings;
  double *sum = work->sums->replica + v * work->replicas;
  double total = 0;
  for (size_t b = 0; b < settings->chains; b++) {
    const size_t first = canonical_chain_first(settings, b);
    const size_t end = canonical_chain_first(settings, b + 1);
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
  const struct canonical_quantities *quantities = &work->canonical->quantities;
  const size_t chains = work->canonical->settings.chains, series = quantities->n_series;
  double chain_mean[CANONICAL_CHAINS_MAXIMUM];
  size_t k = 0;
  for (size_t q = 0; q < quantities->count; q++) {
    const struct gpumc_mean *mean = quantities->observables.mean[q];
    double *value = work->quantity + q * work->replicas;
    canonical_moments_of(mean, quantities->unit[q], channel_of(work, mean->index), work->replicas,
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

/* exp(-(beta' - beta)(E - E0)), E the conjugate channel, E0 the temperature's reference. */
static void find_weights(struct work *work, double distance)
{
  const size_t conjugate = work->canonical->conjugate;
  const int64_t *value = channel_of(work, conjugate);
  const double scale = -distance * work->canonical->context.model->quantum[conjugate];
  for (size_t r = 0; r < work->replicas; r++)
    work->weight[r] = gpumc_exp(scale * (double)(value[r] - work->sums->reference));
}

static void add_point(struct work *work, size_t point, size_t first)
{
  const struct canonical *canonical = work->canonical;
  double unused[CANONICAL_CHAINS_MAXIMUM];
  find_weights(work, canonical->grid.beta[point] - canonical->betas.beta[work->m]);
  accumulate(work, first, work->weight, unused);
  multiply(work->weight, work->weight, work->replicas, work->weighted);
  accumulate(work, first + 1, work->weighted, unused);
  for (size_t q = 0; q < canonical->quantities.count; q++) {
    multiply(work->weight, work->quantity + q * work->replicas, work->replicas, work->weighted);
    accumulate(work, first + 2 + q, work->weighted, unused);
  }
}

/* About the mean of the conjugate channel, so that no weight is far from one. */
static int64_t mean_conjugate(const struct work *work)
{
  const int64_t *value = channel_of(work, work->canonical->conjugate);
  double sum = 0;
  for (size_t r = 0; r < work->replicas; r++)
    sum += (double)value[r];
  return (int64_t)rint(sum / (double)work->replicas);
}

static void add_temperature(const struct canonical *canonical, size_t m, double *scratch)
{
  struct work work = work_of(canonical, m, scratch);
  const struct canonical_settings *settings = &canonical->settings;
  const size_t points = canonical_grid_count(&canonical->grid, m);
  size_t component = canonical->quantities.count;
  if (canonical->measured == 0)
    work.sums->reference = mean_conjugate(&work);
  add_quantities(&work);
  for (size_t p = 0; p < points; p++) {
    add_point(&work, canonical->grid.first[m] + p, component);
    component += canonical_point_width(&canonical->quantities);
  }
  gpumc_bins_add(&work.sums->bins, work.vector);
  if (settings->each_sample && canonical->measured + 1 == canonical_half(settings, UINT64_MAX))
    memcpy(work.sums->half, work.sums->replica,
           component * settings->replicas * sizeof *work.sums->half);
}

enum gpumc_status canonical_fetch(struct canonical *canonical, struct gpumc_error *error)
{
  struct gpumc_device *device = canonical->context.device;
  const size_t values = canonical->betas.count * canonical->settings.replicas;
  for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM; c++)
    if (canonical->channel[c] != NULL)
      GPUMC_TRY(device->ops->copy_to_host(device, canonical->channel[c],
                                          canonical->device_channel[c], values * sizeof(int64_t),
                                          error));
  return GPUMC_OK;
}

static int threads_for(const struct canonical *canonical)
{
  double numbers = 0;
  for (size_t m = 0; m < canonical->betas.count; m++)
    numbers += (double)canonical_vector_width(canonical, m);
  numbers *= (double)canonical->settings.replicas;
  return numbers >= least_parallel ? (int)canonical_threads(canonical->context.device) : 1;
}

enum gpumc_status canonical_digest(struct canonical *canonical, struct gpumc_error *error)
{
  const size_t temperatures = canonical->betas.count;
  const size_t width = canonical_scratch_width(canonical);
  const int threads = threads_for(canonical);
  if (threads == 1)
    for (size_t m = 0; m < temperatures; m++)
      add_temperature(canonical, m, canonical->scratch);
  else
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (size_t m = 0; m < temperatures; m++)
      add_temperature(canonical, m, canonical->scratch + (size_t)omp_get_thread_num() * width);
  canonical->measured++;
  return canonical->settings.series ? record_rows(canonical, error) : GPUMC_OK;
}
