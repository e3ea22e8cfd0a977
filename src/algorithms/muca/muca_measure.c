/* Multicanonical sampling, production: sums of what is measured, and visits, by block and level.
 *
 * Blocks of the jackknife are groups of walkers, which are independent, where there are enough of
 * them; else pieces of the time, each several passages long. Sums are formed in the order of the
 * walkers, so that they depend on no device. */
#include <math.h>
#include <string.h>

#include "algorithms/muca/muca.h"
#include "core/numerics/power.h"

/* Into the host's arrays. */
static enum gpumc_status fetch_channels(struct muca *muca, struct gpumc_error *error)
{
  struct gpumc_device *device = muca->context.device;
  const size_t n = muca->settings.observables.n_channels;
  GPUMC_TRY(
      muca->context.ensemble->ops->measure(muca->context.ensemble, muca->device_channel, error));
  for (size_t c = 0; c < n; c++)
    GPUMC_TRY(device->ops->copy_to_host(device, muca->channel[c], muca->device_channel[c],
                                        muca->settings.walkers * sizeof *muca->channel[c], error));
  return GPUMC_OK;
}

static size_t level_of(const struct muca_settings *settings, int64_t value)
{
  return (size_t)((value - settings->lowest) / settings->spacing);
}

enum gpumc_status muca_is_inside(struct muca *muca, bool *inside, struct gpumc_error *error)
{
  const struct muca_settings *settings = &muca->settings;
  GPUMC_TRY(fetch_channels(muca, error));
  *inside = true;
  for (size_t r = 0; r < settings->walkers; r++) {
    const size_t level = level_of(settings, muca->channel[settings->channel][r]);
    *inside = *inside && level >= settings->first && level <= settings->last;
  }
  return GPUMC_OK;
}

static void add_walker(struct muca *muca, size_t block, size_t walker)
{
  const struct muca_settings *settings = &muca->settings;
  const struct gpumc_observables *observables = &settings->observables;
  const size_t level = level_of(settings, muca->channel[settings->channel][walker]);
  const size_t place = block * settings->levels + level, n = observables->n_means;
  const double value = (double)muca->channel[settings->channel][walker];
  double *sums = muca->sums + place * settings->width;
  muca->samples[place]++;
  for (size_t k = 0; k < n; k++) {
    const struct gpumc_mean *mean = observables->mean[k];
    const double x =
        gpumc_power((double)muca->channel[mean->index][walker], mean->power, mean->absolute);
    sums[k] += x;
    if (settings->binned)
      sums[n + k] += x * value;
  }
}

/* The first walker of a part of the visits (gpumc_walk_part). */
static size_t first_of(const struct muca_settings *settings, size_t part)
{
  const size_t groups = (settings->walkers + GPUMC_WALK_GROUP - 1) / GPUMC_WALK_GROUP;
  const size_t first = (part * groups + settings->parts - 1) / settings->parts * GPUMC_WALK_GROUP;
  return first < settings->walkers ? first : settings->walkers;
}

/* Walkers of one block are added by one thread. */
enum gpumc_status muca_measure(struct muca *muca, struct gpumc_error *error)
{
  const struct muca_settings *settings = &muca->settings;
  const size_t of_time =
      (size_t)muca->progress.measured * settings->blocks / settings->measurements;
  const int threads = muca->context.device->threads;
  GPUMC_TRY(fetch_channels(muca, error));
#pragma omp parallel for num_threads(threads) schedule(static)
  for (size_t part = 0; part < settings->parts; part++)
    for (size_t r = first_of(settings, part); r < first_of(settings, part + 1); r++)
      add_walker(muca, settings->parts > 1 ? part : of_time, r);
  return GPUMC_OK;
}

/* Blocks of walkers are counted apart; a block of the time has what came since the one before. */
enum gpumc_status muca_take_visits(struct muca *muca, struct gpumc_error *error)
{
  const struct muca_settings *settings = &muca->settings;
  struct gpumc_device *device = muca->context.device;
  const size_t measured = (size_t)muca->progress.measured, levels = settings->levels;
  const size_t block = (measured - 1) * settings->blocks / settings->measurements;
  const bool ends = measured == settings->measurements ||
                    measured * settings->blocks / settings->measurements != block;
  if (!ends || (settings->parts > 1 && measured < settings->measurements))
    return GPUMC_OK;
  const size_t bytes = settings->parts * levels * sizeof *muca->visits;
  uint64_t *to = settings->parts > 1 ? muca->counted : muca->counted + block * levels;
  GPUMC_TRY(device->ops->copy_to_host(device, to, muca->visits, bytes, error));
  return device->ops->fill(device, muca->visits, 0, bytes, error);
}

enum gpumc_status
muca_count_passages(struct muca *muca, struct muca_passages *passages, struct gpumc_error *error)
{
  struct gpumc_device *device = muca->context.device;
  const size_t walkers = muca->settings.walkers;
  *passages = (struct muca_passages){0};
  GPUMC_TRY(device->ops->copy_to_host(device, muca->host_passages, muca->passages,
                                      walkers * sizeof *muca->passages, error));
  for (size_t r = 0; r < walkers; r++) {
    const uint32_t of_walker = muca->host_passages[r] >> 2;
    passages->all += of_walker;
    passages->round_trips += of_walker / 2;
  }
  return GPUMC_OK;
}
