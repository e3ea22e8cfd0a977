/* Multicanonical sampling, production: sums of measurements, and visits, by block and level.
 *
 * Blocks of the jackknife are groups of walkers, which are independent, if there are enough of
 * them; otherwise pieces of time, each several passages long. Sums are formed in the order of the
 * walkers, so they do not depend on the device. */
#include <stdlib.h>

#include "algorithms/muca/muca.h"
#include "core/base/memory.h"
#include "core/numerics/power.h"

/* Returns a walker's channel, as measured. */
static int64_t
measured(const struct muca *muca, const struct muca_table *table, size_t channel, size_t walker)
{
  return muca->channels[(channel * muca->tables + table->index) * muca->settings.walkers + walker];
}

/* Returns the coordinate of a walker, in quanta. */
static int64_t value_of(const struct muca *muca, const struct muca_table *table, size_t walker)
{
  return measured(muca, table, muca->settings.channel, walker);
}

int64_t muca_level_of(const struct muca *muca, const struct muca_table *table, size_t walker)
{
  const struct muca_settings *settings = &muca->settings;
  return (value_of(muca, table, walker) - settings->lowest) / settings->spacing;
}

bool muca_is_inside(const struct muca *muca, const struct muca_table *table, size_t walker,
                    const struct muca_table *window)
{
  const int64_t level = muca_level_of(muca, table, walker) - (int64_t)window->first;
  return level >= 0 && level < (int64_t)window->weights.levels;
}

static void
add_walker(const struct muca *muca, struct muca_table *table, size_t block, size_t walker)
{
  const struct muca_settings *settings = &muca->settings;
  const struct gpumc_observables *observables = &settings->observables;
  const size_t level = (size_t)muca_level_of(muca, table, walker) - table->first;
  const size_t place = block * settings->window + level, n = observables->n_means;
  const double value = (double)value_of(muca, table, walker);
  double *sums = table->sums + place * settings->width;
  table->measurements[place]++;
  for (size_t k = 0; k < n; k++) {
    const struct gpumc_mean *mean = observables->mean[k];
    const double x = gpumc_power((double)measured(muca, table, mean->index, walker), mean->power,
                                 mean->absolute);
    sums[k] += x;
    if (settings->binned)
      sums[n + k] += x * value;
  }
}

/* One thread adds the walkers of one block. */
void muca_add_measured(struct muca *muca, struct muca_table *table)
{
  const struct muca_settings *settings = &muca->settings;
  const size_t of_time =
      (size_t)table->progress->measured * settings->blocks / settings->measurements;
  const int threads = muca->context.device->threads;
  const struct gpumc_slice parts = muca_own_parts(muca);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (size_t part = parts.first; part < parts.first + parts.count; part++) {
    const struct gpumc_slice walkers = muca_part_walkers(settings, part);
    for (size_t r = walkers.first; r < walkers.first + walkers.count; r++)
      add_walker(muca, table, settings->parts > 1 ? part : of_time, r);
  }
}

/* ---- visits ---- */

static size_t visits_count(const struct muca *muca)
{
  return muca->settings.parts * muca->settings.window;
}

/* Returns those of a table on the device. */
static uint64_t *visits_of(const struct muca *muca, const struct muca_table *table)
{
  return muca->visits + table->index * visits_count(muca);
}

/* Fetches those of the process's own walkers. */
static enum gpumc_status fetch_own(struct muca *muca, const struct muca_table *table,
                                   uint64_t *visits, size_t count, struct gpumc_error *error)
{
  struct gpumc_device *device = muca->context.device;
  return device->ops->copy_to_host(device, visits, visits_of(muca, table), count * sizeof *visits,
                                   error);
}

static enum gpumc_status fetch(struct muca *muca, const struct muca_table *table, uint64_t *visits,
                               size_t count, struct gpumc_error *error)
{
  GPUMC_TRY(fetch_own(muca, table, visits, count, error));
  gpumc_processes_sum(gpumc_columns_processes(muca->context.ensemble), visits, count);
  return GPUMC_OK;
}

enum gpumc_status
muca_clear_visits(struct muca *muca, const struct muca_table *table, struct gpumc_error *error)
{
  struct gpumc_device *device = muca->context.device;
  return device->ops->fill(device, visits_of(muca, table), 0,
                           visits_count(muca) * sizeof *muca->visits, error);
}

enum gpumc_status
muca_fetch_visits(struct muca *muca, const struct muca_table *table, struct gpumc_error *error)
{
  return fetch(muca, table, muca->host_visits, muca->settings.window, error);
}

enum gpumc_status
muca_join_visits(struct muca *muca, const struct muca_table *table, struct gpumc_error *error)
{
  const struct muca_settings *settings = &muca->settings;
  struct gpumc_device *device = muca->context.device;
  const size_t window = settings->window, count = visits_count(muca);
  uint64_t *visits;
  enum gpumc_status status;
  GPUMC_TRY(gpumc_allocate_array(&visits, count, "visits", error));
  GPUMC_TRY_OUT(status, fetch_own(muca, table, visits, count, error));
  for (size_t i = window; i < count; i++) {
    visits[i % window] += visits[i];
    visits[i] = 0;
  }
  status = device->ops->copy_to_device(device, visits_of(muca, table), visits,
                                       count * sizeof *visits, error);
out:
  free(visits);
  return status;
}

/* Blocks of walkers are counted separately; a block of time has the visits since the previous
 * one. */
enum gpumc_status
muca_take_visits(struct muca *muca, struct muca_table *table, struct gpumc_error *error)
{
  const struct muca_settings *settings = &muca->settings;
  const size_t measured = (size_t)table->progress->measured;
  const size_t block = (measured - 1) * settings->blocks / settings->measurements;
  const bool ends = measured == settings->measurements ||
                    measured * settings->blocks / settings->measurements != block;
  if (!ends || (settings->parts > 1 && measured < settings->measurements))
    return GPUMC_OK;
  uint64_t *to = settings->parts > 1 ? table->counted : table->counted + block * settings->window;
  GPUMC_TRY(fetch(muca, table, to, visits_count(muca), error));
  return muca_clear_visits(muca, table, error);
}

/* ---- passages ---- */

/* Fetches those of the process's own walkers of a table, or stores them. */
static enum gpumc_status
fetch_passages(struct muca *muca, const struct muca_table *table, struct gpumc_error *error)
{
  struct gpumc_device *device = muca->context.device;
  return device->ops->copy_to_host(device, muca->host_passages,
                                   muca->passages + table->index * muca->own,
                                   muca->own * sizeof *muca->passages, error);
}

enum gpumc_status muca_clear_passages(struct muca *muca, const struct muca_table *table,
                                      bool forgets, struct gpumc_error *error)
{
  struct gpumc_device *device = muca->context.device;
  GPUMC_TRY(fetch_passages(muca, table, error));
  for (size_t r = 0; r < muca->own; r++)
    muca->host_passages[r] = forgets ? 0 : muca->host_passages[r] & 3;
  return device->ops->copy_to_device(device, muca->passages + table->index * muca->own,
                                     muca->host_passages, muca->own * sizeof *muca->passages,
                                     error);
}

enum gpumc_status muca_count_passages(struct muca *muca, const struct muca_table *table,
                                      struct muca_passages *passages, struct gpumc_error *error)
{
  enum { ALL, ROUND_TRIPS, COUNTS };
  uint64_t sum[COUNTS] = {0};
  GPUMC_TRY(fetch_passages(muca, table, error));
  for (size_t r = 0; r < muca->own; r++) {
    const uint32_t of_walker = muca->host_passages[r] >> 2;
    sum[ALL] += of_walker;
    sum[ROUND_TRIPS] += of_walker / 2;
  }
  gpumc_processes_sum(gpumc_columns_processes(muca->context.ensemble), sum, COUNTS);
  *passages = (struct muca_passages){(double)sum[ALL], (double)sum[ROUND_TRIPS]};
  return GPUMC_OK;
}
