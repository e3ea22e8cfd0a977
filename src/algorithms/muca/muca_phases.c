/* Multicanonical sampling: the phases of a table, and how each of them begins and ends. */
#include <math.h>

#include "algorithms/muca/muca.h"

enum {
  /* The start is forgotten when walkers have gone from one end to the other once on average: a
   * random walk relaxes in a fifth of that time. */
  PASSAGES_OF_APPROACH = 1,
  APPROACH_MOST = 64, /* chunks of the approach, each twice the mean time of eq. 7 for one walker */
  PRODUCTION_MOST = 400, /* times the approach */
};

static enum gpumc_status
begin_counting(struct muca *muca, struct muca_table *table, struct gpumc_error *error)
{
  table->progress->phase = MUCA_COUNT;
  table->progress->left = muca_rounded((double)muca_updates(
      &muca->settings, muca_weights_width(&table->weights), (size_t)table->progress->quiet));
  table->progress->counted = table->progress->left;
  return muca_clear_visits(muca, table, error);
}

/* Returns the length of a chunk of the approach: the time one walker needs for some passages by eq.
 * 7, not divided among walkers; no longer than a production of given length. */
static uint64_t approach_chunk(const struct muca *muca, const struct muca_table *table)
{
  const double some = 2 * muca_mean_updates(&muca->settings, muca_weights_width(&table->weights));
  const double given = (double)muca->settings.production;
  return muca_rounded(given > 0 ? fmin(some, given) : some);
}

static enum gpumc_status
begin_approach(struct muca *muca, struct muca_table *table, struct gpumc_error *error)
{
  table->progress->phase = MUCA_APPROACH;
  table->progress->rounds = 0;
  table->progress->left = approach_chunk(muca, table);
  return muca_clear_passages(muca, table, true, error);
}

/* Computed from the time between passages during the approach. */
static uint64_t
production_updates(const struct muca *muca, const struct muca_table *table, double passages)
{
  const struct muca_settings *settings = &muca->settings;
  const double tunnelling =
      (double)table->progress->approach * (double)settings->walkers / fmax(passages, 1);
  const bool in_time = settings->parts < settings->blocks;
  const double wanted =
      in_time ? (double)settings->blocks * MUCA_PASSAGES_OF_A_BLOCK : MUCA_PASSAGES_OF_PRODUCTION;
  /* If walkers hardly passed at all, the time between passages is unknown. */
  const double most = PRODUCTION_MOST * (double)table->progress->approach;
  const double updates =
      settings->production > 0 ? (double)settings->production : fmin(wanted * tunnelling, most);
  const double measurements = (double)settings->measurements;
  return muca_rounded(updates / measurements) * settings->measurements;
}

static enum gpumc_status begin_production(struct muca *muca, struct muca_table *table,
                                          double passages, struct gpumc_error *error)
{
  table->progress->production = production_updates(muca, table, passages);
  table->progress->phase = MUCA_PRODUCTION;
  table->progress->left = table->progress->production / muca->settings.measurements;
  GPUMC_TRY(muca_clear_passages(muca, table, false, error));
  return muca_clear_visits(muca, table, error);
}

/* The windows of a sample start production when all open ones are ready: before that they would
 * only take time from those that iterate. */
static enum gpumc_status
produce_if_ready(struct muca *muca, size_t sample, struct gpumc_error *error)
{
  const size_t windows = muca->settings.windows, first = sample * windows;
  for (size_t i = first; i < first + windows; i++)
    if (muca->progress[i].phase != MUCA_READY && muca->progress[i].phase != MUCA_CLOSED)
      return GPUMC_OK;
  for (size_t i = first; i < first + windows; i++)
    if (muca->progress[i].phase == MUCA_READY)
      GPUMC_TRY(begin_approach(muca, &muca->table[i], error));
  return GPUMC_OK;
}

/* With few walkers none may be in the next window; after another iteration one may be. */
static enum gpumc_status
end_iterations(struct muca *muca, struct muca_table *table, struct gpumc_error *error)
{
  bool went;
  GPUMC_TRY(muca_go_on(muca, table, table->progress->iteration == muca->settings.iterations, &went,
                       error));
  if (!went) {
    muca_begin_iteration(muca, table);
    return GPUMC_OK;
  }
  table->progress->phase = MUCA_READY;
  return produce_if_ready(muca, table->sample, error);
}

/* Applies eq. 4, writes a row of the result, and starts what comes next. */
static enum gpumc_status
end_iteration(struct muca *muca, struct muca_table *table, struct gpumc_error *error)
{
  struct muca_progress *progress = table->progress;
  const struct muca_settings *settings = &muca->settings;
  const uint64_t settled = muca_settling(muca, table);
  GPUMC_TRY(muca_fetch_visits(muca, table, error));
  muca_rows_weights(muca, table);
  const struct muca_flatness flatness =
      muca_weights_iterate(&table->weights, settings, muca->host_visits);
  GPUMC_TRY(muca_rows_iteration(muca, table, settled, &flatness, error));
  progress->iteration++;
  *table->divergence = flatness.divergence;
  progress->quiet = flatness.grew ? 0 : progress->quiet + 1;
  if (table->weights.guess != NULL) {
    const uint64_t growths =
        muca_growths_for(settings, fmax(flatness.divergence, settings->divergence));
    progress->quiet = growths > progress->quiet ? growths : progress->quiet;
  }
  progress->converged = !flatness.grew && flatness.divergence < settings->divergence;
  if (progress->converged || progress->iteration == settings->iterations)
    return end_iterations(muca, table, error);
  muca_begin_iteration(muca, table);
  return GPUMC_OK;
}

/* ---- production ---- */

static enum gpumc_status
end_approach_chunk(struct muca *muca, struct muca_table *table, struct gpumc_error *error)
{
  struct muca_progress *progress = table->progress;
  struct muca_passages passages;
  progress->approach += approach_chunk(muca, table);
  progress->rounds++;
  GPUMC_TRY(muca_count_passages(muca, table, &passages, error));
  const bool as_long =
      muca->settings.production > 0 && progress->approach >= muca->settings.production;
  if (passages.all >= PASSAGES_OF_APPROACH * (double)muca->settings.walkers || as_long ||
      progress->rounds == APPROACH_MOST)
    return begin_production(muca, table, passages.all, error);
  progress->left = approach_chunk(muca, table);
  return GPUMC_OK;
}

static enum gpumc_status
end_measurement(struct muca *muca, struct muca_table *table, struct gpumc_error *error)
{
  struct muca_progress *progress = table->progress;
  muca_add_measured(muca, table);
  progress->measured++;
  progress->left = progress->production / muca->settings.measurements;
  GPUMC_TRY(muca_take_visits(muca, table, error));
  if (progress->measured < muca->settings.measurements)
    return GPUMC_OK;
  progress->phase = MUCA_DONE;
  return muca_make_sums_whole(muca, table, error);
}

enum gpumc_status
muca_end_phase(struct muca *muca, struct muca_table *table, struct gpumc_error *error)
{
  switch ((enum muca_phase)table->progress->phase) {
  case MUCA_ENTER:
    GPUMC_TRY(muca_end_entering(muca, table, error));
    return muca_is_closed(table) ? produce_if_ready(muca, table->sample, error) : GPUMC_OK;
  case MUCA_START:
    return muca_end_piece(muca, table, error);
  case MUCA_SETTLE:
    return begin_counting(muca, table, error);
  case MUCA_COUNT:
    return end_iteration(muca, table, error);
  case MUCA_APPROACH:
    return end_approach_chunk(muca, table, error);
  case MUCA_PRODUCTION:
    return end_measurement(muca, table, error);
  case MUCA_DONE:
  case MUCA_WAIT:
  case MUCA_READY:
  case MUCA_CLOSED:
    break;
  }
  return GPUMC_OK;
}
