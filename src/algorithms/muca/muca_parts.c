/* Multicanonical sampling: measurements of the walkers, and the sums of them that a process forms
 * if there are several processes and blocks of the jackknife are parts of the walkers.
 *
 *   walkers     0 .. 31   32 .. 63   64 .. 95   96 .. 127
 *   process     0         1          2          2
 *   part        0         0          1          2            process 0 has the sums of part 0
 *
 * A part belongs to the process that has its first walker. This process adds up the measurements of
 * all walkers of the part, in order, and receives the channels of those that are elsewhere. The
 * other processes' sums of the part are out of date until they are made whole. */
#include <stdlib.h>
#include <string.h>

#include "algorithms/muca/muca.h"
#include "core/base/memory.h"

/* Returns the first walker of a part of the visits (gpumc_walk_part). */
static size_t first_of(const struct muca_settings *settings, size_t part)
{
  const size_t groups = (settings->walkers + GPUMC_WALK_GROUP - 1) / GPUMC_WALK_GROUP;
  const size_t first = (part * groups + settings->parts - 1) / settings->parts * GPUMC_WALK_GROUP;
  return first < settings->walkers ? first : settings->walkers;
}

struct gpumc_slice muca_part_walkers(const struct muca_settings *settings, size_t part)
{
  const size_t first = first_of(settings, part);
  return (struct gpumc_slice){first, first_of(settings, part + 1) - first};
}

/* Returns whether processes add up parts of their own: a single part is added up by all of them. */
static bool are_divided(const struct muca *muca)
{
  return muca->own_channels != NULL && muca->settings.parts > 1;
}

/* Returns the walkers of each table that a process has. */
static struct gpumc_slice walkers_of(const struct muca *muca, int process)
{
  const struct gpumc_ensemble_plan *plan = &muca->context.ensemble->plan;
  const struct gpumc_share share = gpumc_share_of(plan, plan->runs, process);
  return (struct gpumc_slice){share.first_replica, share.replicas};
}

/* Returns the parts that begin among them. */
static struct gpumc_slice parts_of(const struct muca *muca, int process)
{
  const struct gpumc_slice walkers = walkers_of(muca, process);
  struct gpumc_slice parts = {0, 0};
  for (size_t part = 0; part < muca->settings.parts; part++) {
    const size_t first = first_of(&muca->settings, part);
    parts.first += first < walkers.first;
    parts.count += first >= walkers.first && first < walkers.first + walkers.count;
  }
  return parts;
}

static int own_rank(const struct muca *muca)
{
  return gpumc_columns_processes(muca->context.ensemble)->module.rank;
}

struct gpumc_slice muca_own_parts(const struct muca *muca)
{
  return are_divided(muca) ? parts_of(muca, own_rank(muca))
                           : (struct gpumc_slice){0, muca->settings.parts};
}

/* ---- channels ---- */

/* Measures the process's own walkers, into own_channels unless these are all. */
static enum gpumc_status measure_own(struct muca *muca, struct gpumc_error *error)
{
  struct gpumc_device *device = muca->context.device;
  struct gpumc_ensemble *ensemble = muca->context.ensemble;
  const size_t channels = muca->settings.observables.n_channels, count = muca->tables * muca->own;
  int64_t *own = muca->own_channels != NULL ? muca->own_channels : muca->channels;
  GPUMC_TRY(ensemble->ops->measure(ensemble, muca->device_channel, error));
  for (size_t c = 0; c < channels; c++)
    GPUMC_TRY(device->ops->copy_to_host(device, own + c * count, muca->device_channel[c],
                                        count * sizeof *own, error));
  return GPUMC_OK;
}

enum gpumc_status muca_measure(struct muca *muca, struct gpumc_error *error)
{
  GPUMC_TRY(measure_own(muca, error));
  if (muca->own_channels == NULL)
    return GPUMC_OK;
  return gpumc_columns_gather(muca->context.ensemble, muca->own_channels,
                              muca->settings.observables.n_channels * muca->tables,
                              sizeof *muca->own_channels, muca->channels, error);
}

/* Returns the walkers of the parts that belong to a process. */
static struct gpumc_slice wanted_by(const struct muca *muca, int process)
{
  const struct gpumc_slice parts = parts_of(muca, process);
  const size_t first = first_of(&muca->settings, parts.first);
  return (struct gpumc_slice){first, first_of(&muca->settings, parts.first + parts.count) - first};
}

/* Returns which walkers one process has that another wants. */
static struct gpumc_slice passed_on(const struct muca *muca, int from, int to)
{
  const struct gpumc_slice has = walkers_of(muca, from), wanted = wanted_by(muca, to);
  const size_t has_end = has.first + has.count, wanted_end = wanted.first + wanted.count;
  const size_t first = has.first > wanted.first ? has.first : wanted.first;
  const size_t end = has_end < wanted_end ? has_end : wanted_end;
  return first < end ? (struct gpumc_slice){first, end - first}
                     : (struct gpumc_slice){has.first, 0};
}

/* The same for those that go to another process. */
static struct gpumc_slice sent(const struct muca *muca, int from, int to)
{
  struct gpumc_slice slice = passed_on(muca, from, to);
  if (from == to)
    slice.count = 0;
  return slice;
}

/* The walkers of a slice are sent row by row: of all tables and channels. */
static size_t rows_of(const struct muca *muca)
{
  return muca->settings.observables.n_channels * muca->tables;
}

static enum gpumc_status
make_trade(const struct muca *muca, struct gpumc_trade *trade, struct gpumc_error *error)
{
  const struct gpumc_processes *processes = gpumc_columns_processes(muca->context.ensemble);
  const size_t bytes = rows_of(muca) * sizeof(int64_t);
  size_t out = 0, in = 0;
  for (int p = 0; p < processes->module.size; p++) {
    out += sent(muca, own_rank(muca), p).count * bytes;
    in += sent(muca, p, own_rank(muca)).count * bytes;
  }
  return gpumc_trade_make(processes, out, in, trade, error);
}

static void copy_slice(int64_t *to, const int64_t *from, size_t count)
{
  if (count > 0)
    memcpy(to, from, count * sizeof *to);
}

static void pack(const struct muca *muca, const struct gpumc_trade *trade)
{
  const int size = gpumc_columns_processes(muca->context.ensemble)->module.size;
  const size_t first = muca->context.ensemble->plan.first_replica, rows = rows_of(muca);
  int64_t *out = trade->out;
  for (int p = 0; p < size; p++) {
    const struct gpumc_slice slice = sent(muca, own_rank(muca), p);
    for (size_t row = 0; row < rows; row++, out += slice.count)
      copy_slice(out, muca->own_channels + row * muca->own + slice.first - first, slice.count);
    trade->n_out[p] = rows * slice.count * sizeof *out;
    trade->n_in[p] = rows * sent(muca, p, own_rank(muca)).count * sizeof *out;
  }
}

/* Copies what stays in this process. */
static void keep(const struct muca *muca)
{
  const struct gpumc_slice slice = passed_on(muca, own_rank(muca), own_rank(muca));
  const size_t first = muca->context.ensemble->plan.first_replica;
  for (size_t row = 0; row < rows_of(muca); row++)
    copy_slice(muca->channels + row * muca->settings.walkers + slice.first,
               muca->own_channels + row * muca->own + slice.first - first, slice.count);
}

static void unpack(const struct muca *muca, const struct gpumc_trade *trade)
{
  const int size = gpumc_columns_processes(muca->context.ensemble)->module.size;
  const int64_t *in = trade->in;
  for (int p = 0; p < size; p++) {
    const struct gpumc_slice slice = sent(muca, p, own_rank(muca));
    for (size_t row = 0; row < rows_of(muca); row++, in += slice.count)
      copy_slice(muca->channels + row * muca->settings.walkers + slice.first, in, slice.count);
  }
}

enum gpumc_status muca_measure_parts(struct muca *muca, struct gpumc_error *error)
{
  struct gpumc_trade trade;
  enum gpumc_status status;
  if (!are_divided(muca))
    return muca_measure(muca, error);
  GPUMC_TRY(measure_own(muca, error));
  GPUMC_TRY_OUT(status, make_trade(muca, &trade, error));
  keep(muca);
  pack(muca, &trade);
  gpumc_processes_trade(gpumc_columns_processes(muca->context.ensemble), trade.out, trade.n_out,
                        trade.in, trade.n_in);
  unpack(muca, &trade);
out:
  gpumc_trade_free(&trade);
  return status;
}

/* ---- sums ---- */

/* For an array with `bytes` bytes for each part. */
static void make_whole(const struct muca *muca, void *array, size_t bytes, size_t *counts)
{
  const struct gpumc_processes *processes = gpumc_columns_processes(muca->context.ensemble);
  const size_t first = parts_of(muca, processes->module.rank).first * bytes;
  for (int p = 0; p < processes->module.size; p++)
    counts[p] = parts_of(muca, p).count * bytes;
  gpumc_processes_gather(processes, (uint8_t *)array + first, array, counts, GPUMC_TO_ALL);
}

enum gpumc_status
muca_make_sums_whole(struct muca *muca, const struct muca_table *table, struct gpumc_error *error)
{
  const int size = gpumc_columns_processes(muca->context.ensemble)->module.size;
  const size_t window = muca->settings.window;
  size_t *counts;
  if (!are_divided(muca))
    return GPUMC_OK;
  GPUMC_TRY(gpumc_allocate_array(&counts, (size_t)size, "counts of bytes", error));
  make_whole(muca, table->measurements, window * sizeof *table->measurements, counts);
  make_whole(muca, table->sums, window * muca->settings.width * sizeof *table->sums, counts);
  free(counts);
  return GPUMC_OK;
}
