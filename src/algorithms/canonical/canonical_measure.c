/* Canonical runs: from the channels of a measurement into the sums.
 *
 * All arithmetic is in a fixed order, replica by replica and chain by chain, on the host: the same
 * bits on every device and for any number of threads. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "algorithms/canonical/canonical_state.h"
#include "core/numerics/elementary.h"

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

/* exp(-(beta' - beta)(E - E0)), E0 the temperature's reference. */
static void find_weights(struct work *work, double distance)
{
  const int64_t *energy = channel_of(work, 0);
  const double scale = -distance * work->canonical->context.model->quantum[0];
  for (size_t r = 0; r < work->replicas; r++)
    work->weight[r] = gpumc_exp(scale * (double)(energy[r] - work->sums->reference));
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

/* About the mean energy, so that no weight is far from one. */
static int64_t mean_energy(const struct work *work)
{
  const int64_t *energy = channel_of(work, 0);
  double sum = 0;
  for (size_t r = 0; r < work->replicas; r++)
    sum += (double)energy[r];
  return (int64_t)rint(sum / (double)work->replicas);
}

static void add_temperature(const struct canonical *canonical, size_t m, double *scratch)
{
  struct work work = work_of(canonical, m, scratch);
  const struct canonical_settings *settings = &canonical->settings;
  const size_t points = canonical_grid_count(&canonical->grid, m);
  size_t component = canonical->quantities.count;
  if (canonical->measured == 0)
    work.sums->reference = mean_energy(&work);
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
  enum gpumc_status status = GPUMC_OK;
  for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM && status == GPUMC_OK; c++)
    if (canonical->channel[c] != NULL)
      status =
          device->ops->copy_to_host(device, canonical->channel[c], canonical->device_channel[c],
                                    values * sizeof(int64_t), error);
  return status;
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
  return canonical->settings.series ? canonical_record(canonical, error) : GPUMC_OK;
}
