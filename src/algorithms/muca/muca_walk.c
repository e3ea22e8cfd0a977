/* Multicanonical sampling: the phases of a run, one unit of work after the other. */
#include "algorithms/muca/muca.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "core/numerics/elementary.h"

enum {
  ROUNDS_OF_ENTERING = 8, /* slopes are twice as steep in each */
  SWEEPS_OF_ENTERING = 64,
  /* The start is forgotten when walkers have gone from one end to the other once in the mean: a
   * random walk relaxes in a fifth of that time. */
  PASSAGES_OF_APPROACH = 1,
  APPROACH_MOST = 64, /* chunks of the approach, each twice the mean time of eq. 7 for one walker */
  /* Production has so many passages a walker, and if blocks are pieces of the time, so many each.
   */
  PASSAGES_OF_A_BLOCK = 2,
  GROWTHS_MOST = 100000,
  PRODUCTION_MOST = 400, /* times the approach */
};

/* Of a walker in a unit between which a run answers signals: at most a tenth of a second, and long
 * against what a call takes for itself. Few walkers on a GPU take 0.1 us for an update, however
 * few. */
static double unit_updates(const struct muca *muca)
{
  const bool on_cpu = muca->context.device->ops->kind == GPUMC_KIND_CPU;
  const double walkers = (double)muca->settings.walkers;
  const double updates = on_cpu ? 0x1p26 / walkers : fmin(0x1p36 / walkers, 0x1p18);
  return fmax(updates, 4 * (double)muca->context.model->sites);
}

/* ---- walking ---- */

/* Under the present weights, what the phase counts. */
static enum gpumc_status walk(struct muca *muca, uint64_t updates, struct gpumc_error *error)
{
  const struct muca_settings *settings = &muca->settings;
  const enum muca_phase phase = (enum muca_phase)muca->progress.phase;
  const bool produces = phase >= MUCA_APPROACH;
  const bool visits = phase == MUCA_START || phase == MUCA_COUNT || phase == MUCA_PRODUCTION;
  const size_t seen[2] = {muca->weights.lowest, muca->weights.highest};
  const uint64_t time = muca->progress.updates / GPUMC_WALK_UPDATES,
                 all = gpumc_walk_steps(updates);
  const uint32_t steps = (uint32_t)all;
  assert(all <= UINT32_MAX);
  const struct gpumc_weight_table table = {
      .channel = settings->channel,
      .lowest = settings->lowest,
      .spacing = settings->spacing,
      .levels = settings->levels,
      .log_weight = muca->weights.log_weight,
      .time = &time,
      .steps = &steps,
      .visits = visits ? muca->visits : NULL,
      .parts = produces ? settings->parts : 1,
      .passages = produces ? muca->passages : NULL,
      .end = seen,
  };
  const struct gpumc_target target = {.kind = GPUMC_TABULATED,
                                      .control =
                                          gpumc_moves_beta(&settings->moved) ? NULL : muca->control,
                                      .table = &table};
  struct gpumc_ensemble *ensemble = muca->context.ensemble;
  GPUMC_TRY(ensemble->ops->walk(ensemble, &target, error));
  muca->progress.updates += all * GPUMC_WALK_UPDATES;
  return GPUMC_OK;
}

static enum gpumc_status clear_visits(struct muca *muca, struct gpumc_error *error)
{
  struct gpumc_device *device = muca->context.device;
  const struct muca_settings *settings = &muca->settings;
  return device->ops->fill(device, muca->visits, 0,
                           settings->parts * settings->levels * sizeof *muca->visits, error);
}

/* Passages count from 0 again; at which end a walker was last stays. */
static enum gpumc_status clear_passages(struct muca *muca, struct gpumc_error *error)
{
  struct gpumc_device *device = muca->context.device;
  const size_t walkers = muca->settings.walkers, bytes = walkers * sizeof *muca->passages;
  GPUMC_TRY(device->ops->copy_to_host(device, muca->host_passages, muca->passages, bytes, error));
  for (size_t r = 0; r < walkers; r++)
    muca->host_passages[r] &= 3;
  return device->ops->copy_to_device(device, muca->passages, muca->host_passages, bytes, error);
}

/* ---- phases ---- */

/* Of Wang and Landau's scheme. */
enum {
  HALVINGS = 10,          /* of the factor, from 1 */
  PIECES_OF_A_FACTOR = 64 /* at most: what is not flat by then is left to the iterations */
};
static const double flat_enough = 0.8; /* the least visits over the mean */

static uint64_t rounded(double updates)
{
  return gpumc_walk_steps((uint64_t)fmin(fmax(updates, 1), 0x1p60)) * GPUMC_WALK_UPDATES;
}

/* Of each walker before an iteration counts. Good weights of a file stay good only where walkers
 * have first forgotten the states from which they began: they need as long as one walker does by
 * eq. 7, which is about two relaxation times. */
static uint64_t settling(const struct muca *muca)
{
  const double width = muca_weights_width(&muca->weights);
  const uint64_t updates = muca_thermalization(&muca->settings, width);
  if (updates == 0)
    return 0;
  if (muca->settings.start == MUCA_START_FILE && muca->progress.iteration == 0)
    return rounded(fmax((double)updates, muca_mean_updates(&muca->settings, width)));
  return rounded((double)updates);
}

static void begin_iteration(struct muca *muca)
{
  muca->progress.phase = MUCA_SETTLE;
  muca->progress.left = settling(muca);
}

/* How often the updates of eq. 7 have grown when they are w^z / divergence: as many show such a
 * divergence, while fewer would spoil weights that are as good. */
static uint64_t growths_for(const struct muca_settings *settings, double divergence)
{
  double updates = settings->updates;
  uint64_t growths = 0;
  while (settings->growth > 1 && updates * divergence < 1 && growths < GROWTHS_MOST) {
    updates *= settings->growth;
    growths++;
  }
  return growths;
}

static enum gpumc_status begin_counting(struct muca *muca, struct gpumc_error *error)
{
  muca->progress.phase = MUCA_COUNT;
  muca->progress.left = rounded((double)muca_updates(
      &muca->settings, muca_weights_width(&muca->weights), (size_t)muca->progress.quiet));
  muca->progress.counted = muca->progress.left;
  return clear_visits(muca, error);
}

/* Of the approach: what one walker needs for some passages by eq. 7, shared by none; no longer than
 * a production of given length. */
static uint64_t approach_chunk(const struct muca *muca)
{
  const double some = 2 * muca_mean_updates(&muca->settings, muca_weights_width(&muca->weights));
  const double given = (double)muca->settings.production;
  return rounded(given > 0 ? fmin(some, given) : some);
}

static enum gpumc_status begin_approach(struct muca *muca, struct gpumc_error *error)
{
  muca->progress.phase = MUCA_APPROACH;
  muca->progress.rounds = 0;
  muca->progress.left = approach_chunk(muca);
  return clear_visits(muca, error);
}

/* From the time between passages during the approach. */
static uint64_t production_updates(const struct muca *muca, double passages)
{
  const struct muca_settings *settings = &muca->settings;
  const double tunnelling =
      (double)muca->progress.approach * (double)settings->walkers / fmax(passages, 1);
  const bool in_time = settings->parts < settings->blocks;
  const double wanted =
      in_time ? (double)settings->blocks * PASSAGES_OF_A_BLOCK : MUCA_PASSAGES_OF_PRODUCTION;
  /* Where walkers hardly passed at all, the time that it takes is not known. */
  const double most = PRODUCTION_MOST * (double)muca->progress.approach;
  const double updates =
      settings->production > 0 ? (double)settings->production : fmin(wanted * tunnelling, most);
  const double measurements = (double)settings->measurements;
  return rounded(updates / measurements) * settings->measurements;
}

static enum gpumc_status
begin_production(struct muca *muca, double passages, struct gpumc_error *error)
{
  muca->progress.production = production_updates(muca, passages);
  muca->progress.phase = MUCA_PRODUCTION;
  muca->progress.left = muca->progress.production / muca->settings.measurements;
  GPUMC_TRY(clear_passages(muca, error));
  return clear_visits(muca, error);
}

static enum gpumc_status fetch_visits(struct muca *muca, struct gpumc_error *error)
{
  struct gpumc_device *device = muca->context.device;
  return device->ops->copy_to_host(device, muca->host_visits, muca->visits,
                                   muca->settings.levels * sizeof *muca->visits, error);
}

static double level_or_nan(const struct muca *muca, size_t level)
{
  return muca->weights.count == 0 ? NAN
                                  : muca_level_value(&muca->settings, muca->context.model, level);
}

static void fill_weights(struct muca *muca)
{
  for (size_t l = 0; l < muca->settings.levels; l++) {
    const int64_t weight = muca->weights.log_weight[l];
    muca->row[MUCA_LOG_WEIGHT + l] =
        weight == GPUMC_WEIGHT_NONE ? NAN : (double)weight / MUCA_WEIGHT_UNIT;
  }
}

/* Eq. 4, a row of the table, and what comes next. */
static enum gpumc_status end_iteration(struct muca *muca, struct gpumc_error *error)
{
  struct muca_progress *progress = &muca->progress;
  const struct muca_settings *settings = &muca->settings;
  GPUMC_TRY(fetch_visits(muca, error));
  muca->row[MUCA_SETTLING] = (double)settling(muca);
  muca->row[MUCA_COUNTED] = (double)progress->counted;
  fill_weights(muca);
  const struct muca_flatness flatness =
      muca_weights_iterate(&muca->weights, settings, muca->host_visits);
  muca->row[MUCA_ITERATION] = (double)progress->iteration++;
  muca->row[MUCA_LOWEST] = level_or_nan(muca, muca->weights.lowest);
  muca->row[MUCA_HIGHEST] = level_or_nan(muca, muca->weights.highest);
  muca->row[MUCA_LEVELS] = (double)muca->weights.count;
  muca->row[MUCA_DIVERGENCE] = flatness.divergence;
  muca->row[MUCA_CHEBYSHEV] = flatness.chebyshev;
  muca->row[MUCA_WALKERS] = (double)settings->walkers;
  muca->divergence = flatness.divergence;
  progress->quiet = flatness.grew ? 0 : progress->quiet + 1;
  if (settings->start == MUCA_START_FILE) {
    const uint64_t growths = growths_for(settings, fmax(flatness.divergence, settings->divergence));
    progress->quiet = growths > progress->quiet ? growths : progress->quiet;
  }
  progress->converged = !flatness.grew && flatness.divergence < settings->divergence;
  GPUMC_TRY(gpumc_recorder_append(muca->context.recorder, muca->table, muca->row, error));
  if (progress->converged || progress->iteration == settings->iterations)
    return begin_approach(muca, error);
  begin_iteration(muca);
  return GPUMC_OK;
}

/* ---- the start ---- */

/* Of a piece: walkers settle under the weights that the piece before has left. */
static void begin_piece(struct muca *muca)
{
  const double width = muca_weights_width(&muca->weights);
  const double settling = (double)muca_thermalization(&muca->settings, width);
  muca->progress.phase = MUCA_START;
  muca->progress.left = rounded(fmax(settling, width));
  muca->progress.started += muca->progress.left;
}

static void begin_start(struct muca *muca)
{
  if (muca->settings.start == MUCA_START_FILE) {
    muca_weights_begin(&muca->weights, &muca->settings);
    muca->progress.quiet = growths_for(&muca->settings, muca->settings.divergence);
  }
  if (muca->settings.start == MUCA_START_WANG_LANDAU)
    begin_piece(muca);
  else
    begin_iteration(muca);
}

static bool is_flat(const struct muca *muca)
{
  double least = INFINITY, total = 0;
  for (size_t l = 0; l < muca->settings.levels; l++)
    if (muca->weights.seen[l]) {
      least = fmin(least, (double)muca->histogram[l]);
      total += (double)muca->histogram[l];
    }
  return least >= flat_enough * total / (double)muca->weights.count;
}

/* The histogram of a piece changes the weights, and where all since the last halving are flat the
 * factor is halved. */
static enum gpumc_status end_piece(struct muca *muca, struct gpumc_error *error)
{
  struct muca_progress *progress = &muca->progress;
  const double factor = ldexp(1, -(int)progress->halvings);
  GPUMC_TRY(fetch_visits(muca, error));
  GPUMC_TRY(clear_visits(muca, error));
  progress->pieces++;
  progress->unhalved++;
  const bool grew = muca_weights_see(&muca->weights, muca->host_visits);
  for (size_t l = 0; l < muca->settings.levels; l++)
    muca->histogram[l] += muca->host_visits[l];
  muca_weights_wang_landau(&muca->weights, &muca->settings, muca->host_visits, factor);
  if ((!grew && is_flat(muca)) || progress->unhalved >= PIECES_OF_A_FACTOR) {
    progress->halvings++;
    progress->unhalved = 0;
    memset(muca->histogram, 0, muca->settings.levels * sizeof *muca->histogram);
  }
  const double row[MUCA_PIECE_COLUMNS] = {
      [MUCA_PIECE_UPDATES] = (double)progress->started,
      [MUCA_PIECE_LOWEST] = level_or_nan(muca, muca->weights.lowest),
      [MUCA_PIECE_HIGHEST] = level_or_nan(muca, muca->weights.highest),
      [MUCA_PIECE_LEVELS] = (double)muca->weights.count,
      [MUCA_PIECE_FACTOR] = factor};
  GPUMC_TRY(gpumc_recorder_append(muca->context.recorder, muca->pieces, row, error));
  if (progress->halvings > HALVINGS)
    begin_iteration(muca);
  else
    begin_piece(muca);
  return GPUMC_OK;
}

static enum gpumc_status end_entering(struct muca *muca, struct gpumc_error *error)
{
  bool inside = false;
  GPUMC_TRY(muca_is_inside(muca, &inside, error));
  muca->progress.rounds++;
  if (inside) {
    muca_weights_fence(&muca->weights, &muca->settings, INFINITY);
    begin_start(muca);
    return GPUMC_OK;
  }
  if (muca->progress.rounds == ROUNDS_OF_ENTERING)
    return gpumc_error_set(
        error, GPUMC_FAILURE,
        "not all walkers came into algorithm.range within %d sweeps, from states "
        "drawn at random: widen it, towards the values at infinite temperature",
        (ROUNDS_OF_ENTERING - 1) * SWEEPS_OF_ENTERING);
  muca_weights_fence(&muca->weights, &muca->settings, ldexp(0.25, (int)muca->progress.rounds));
  muca->progress.left = rounded((double)SWEEPS_OF_ENTERING * (double)muca->context.model->sites);
  return GPUMC_OK;
}

static enum gpumc_status end_approach_chunk(struct muca *muca, struct gpumc_error *error)
{
  struct muca_progress *progress = &muca->progress;
  struct muca_passages passages;
  progress->approach += approach_chunk(muca);
  progress->rounds++;
  GPUMC_TRY(muca_count_passages(muca, &passages, error));
  const bool as_long =
      muca->settings.production > 0 && progress->approach >= muca->settings.production;
  if (passages.all >= PASSAGES_OF_APPROACH * (double)muca->settings.walkers || as_long ||
      progress->rounds == APPROACH_MOST)
    return begin_production(muca, passages.all, error);
  progress->left = approach_chunk(muca);
  return GPUMC_OK;
}

static enum gpumc_status end_measurement(struct muca *muca, struct gpumc_error *error)
{
  struct muca_progress *progress = &muca->progress;
  GPUMC_TRY(muca_measure(muca, error));
  progress->measured++;
  progress->left = progress->production / muca->settings.measurements;
  GPUMC_TRY(muca_take_visits(muca, error));
  if (progress->measured == muca->settings.measurements)
    progress->phase = MUCA_DONE;
  return GPUMC_OK;
}

static enum gpumc_status end_phase(struct muca *muca, struct gpumc_error *error)
{
  switch ((enum muca_phase)muca->progress.phase) {
  case MUCA_ENTER:
    return end_entering(muca, error);
  case MUCA_START:
    return end_piece(muca, error);
  case MUCA_SETTLE:
    return begin_counting(muca, error);
  case MUCA_COUNT:
    return end_iteration(muca, error);
  case MUCA_APPROACH:
    return end_approach_chunk(muca, error);
  case MUCA_PRODUCTION:
    return end_measurement(muca, error);
  case MUCA_DONE:
    break;
  }
  return GPUMC_OK;
}

static enum gpumc_status start(struct muca *muca, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_ensemble_start(muca->context.ensemble, 0, 1, muca->settings.walkers, error));
  if (muca->settings.first == 0 && muca->settings.last + 1 == muca->settings.levels)
    begin_start(muca);
  return GPUMC_OK;
}

/* What the device's time goes to. */
enum stage { STAGE_OTHER = GPUMC_STAGE_OTHER, STAGE_ITERATE, STAGE_PRODUCE };
const char *const muca_stages[] = {"iteration", "production", NULL};

enum gpumc_status muca_advance(void *state, bool *finished, struct gpumc_error *error)
{
  struct muca *muca = state;
  struct muca_progress *progress = &muca->progress;
  struct gpumc_device *device = muca->context.device;
  double budget = unit_updates(muca);
  if (muca->context.ensemble->runs == 0)
    GPUMC_TRY(start(muca, error));
  while (budget > 0 && progress->phase != MUCA_DONE) {
    const bool produces = progress->phase >= MUCA_APPROACH;
    const uint64_t most = rounded(budget);
    const uint64_t part = progress->left < most ? progress->left : most;
    device->ops->enter(device, produces ? STAGE_PRODUCE : STAGE_ITERATE);
    if (part > 0)
      GPUMC_TRY(walk(muca, part, error));
    budget -= (double)part + 1;
    progress->left -= part;
    if (progress->phase == MUCA_PRODUCTION)
      progress->walked += part;
    if (progress->left == 0)
      GPUMC_TRY(end_phase(muca, error));
    device->ops->enter(device, STAGE_OTHER);
  }
  *finished = progress->phase == MUCA_DONE;
  return GPUMC_OK;
}

/* Iterations count as half of the work, their share by how far the divergence has come down. */
void muca_position(const void *state, struct gpumc_position *where)
{
  const struct muca *muca = state;
  const struct muca_progress *progress = &muca->progress;
  const double range = log(1 / muca->settings.divergence);
  const double share = 1 - log(fmax(muca->divergence / muca->settings.divergence, 1)) / range;
  where->fraction = 0.5 * fmin(fmax(share, 0), 1);
  if (progress->phase >= MUCA_PRODUCTION)
    where->fraction = 0.5 + 0.5 * (double)progress->walked / (double)progress->production;
  where->updates = (double)progress->updates * (double)muca->settings.walkers;
  where->coordinate = "iteration";
  where->value = (double)progress->iteration;
}
