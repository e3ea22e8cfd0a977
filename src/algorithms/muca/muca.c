/* Multicanonical sampling: the phases of a run, its checkpoints, its vtable. */
#include "algorithms/muca/muca.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
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
  PASSAGES_OF_PRODUCTION = 2,
  PASSAGES_OF_A_BLOCK = 2,
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

/* ---- what a run will need ---- */

static double mean_updates(const struct muca_settings *settings, double width)
{
  return gpumc_exp(settings->exponent * gpumc_log(width));
}

/* Iterations to converge grow slowly with the range where weights are extrapolated; the plain
 * scheme adds some levels with each. What tunnelling takes is known afterwards. */
static double estimated_updates(const struct muca_settings *settings)
{
  const double width = (double)(settings->last - settings->first + 1);
  const double iterations = settings->extrapolate ? 40 + 4 * log2(width) : 40 + 2 * sqrt(width);
  const double production = settings->production > 0
                                ? (double)settings->production
                                : 3 * PASSAGES_OF_PRODUCTION * mean_updates(settings, width);
  return (double)settings->walkers * (iterations * (settings->thermalization * width +
                                                    (double)muca_updates(settings, width, 10)) +
                                      production);
}

static enum gpumc_status demand(const struct gpumc_params *params, const struct gpumc_model *model,
                                const struct gpumc_device *device, struct gpumc_demand *demanded,
                                struct gpumc_error *error)
{
  struct muca_settings settings;
  (void)device, (void)error;
  muca_settings_read(params, model, &settings);
  const double levels = (double)settings.levels, blocks = (double)settings.blocks;
  const double means = (double)settings.observables.n_means;
  const double channels = (double)settings.observables.n_channels;
  const double walkers = (double)settings.walkers;
  memset(demanded, 0, sizeof *demanded);
  demanded->replicas = settings.walkers;
  demanded->plan = (struct gpumc_ensemble_plan){.runs = 1,
                                                .capacity = settings.walkers,
                                                .samples = 1,
                                                .moved = settings.moved.control,
                                                .fixes = true};
  memcpy(demanded->plan.fixed, settings.moved.fixed, sizeof demanded->plan.fixed);
  const double sums = blocks * levels * (2 + means);
  /* The summary has the sums without each block, and a curve of each. */
  demanded->host_bytes =
      gpumc_demand_bytes((2 * sums + walkers * (channels + 1) + 17 * levels) * sizeof(double));
  demanded->device_bytes =
      gpumc_demand_bytes((double)settings.parts * levels * sizeof(uint64_t) +
                         walkers * (sizeof(uint32_t) + channels * sizeof(int64_t)));
  const double rows = (double)settings.iterations * (settings.write_weights ? levels + 9 : 9);
  demanded->result_bytes = (rows + 6 * levels) * sizeof(double);
  demanded->state_bytes = (sums + rows) * sizeof(double);
  demanded->updates = estimated_updates(&settings);
  demanded->estimated = true;
  demanded->work.values = walkers * (double)settings.measurements;
  demanded->work.measured = demanded->work.values * (double)model->sites;
  demanded->work.n_channels = settings.observables.n_channels;
  return GPUMC_OK;
}

/* ---- creation ---- */

enum {
  ITERATION,
  LOWEST,
  HIGHEST,
  LEVELS,
  DIVERGENCE,
  CHEBYSHEV,
  SETTLING,
  COUNTED,
  WALKERS,
  LOG_WEIGHT,
  COLUMNS
};

static enum gpumc_status declare_iterations(struct muca *muca, struct gpumc_error *error)
{
  const struct gpumc_model *model = muca->context.model;
  const struct gpumc_label *channel = &model->ops->channels[muca->settings.channel].label;
  struct gpumc_column columns[COLUMNS] = {
      [ITERATION] = {.label = {"iteration", "iterations of the weights, from 0", "1", "n"},
                     .width = 1,
                     .integer = true},
      [LOWEST] = {.label = {"lowest", "lowest value seen so far, of the whole system",
                            channel->units, channel->symbol},
                  .width = 1},
      [HIGHEST] = {.label = {"highest", "highest value seen so far, of the whole system",
                             channel->units, channel->symbol},
                   .width = 1},
      [LEVELS] = {.label = {"levels", "levels seen so far", "1", "w"}, .width = 1, .integer = true},
      [DIVERGENCE] = {.label = {"kullback_leibler",
                                "divergence of the histogram from the uniform one (eq. 6)", "1",
                                "d_k"},
                      .width = 1},
      [CHEBYSHEV] = {.label = {"chebyshev", "largest relative deviation of the histogram (eq. A.1)",
                               "1", "d_c"},
                     .width = 1},
      [SETTLING] = {.label = {"thermalization", "updates of each walker before counting", "updates",
                              ""},
                    .width = 1,
                    .integer = true},
      [COUNTED] = {.label = {"updates", "updates of each walker that were counted", "updates", ""},
                   .width = 1,
                   .integer = true},
      [WALKERS] = {.label = {"walkers", "parallel walkers", "1", "W"}, .width = 1, .integer = true},
      [LOG_WEIGHT] = {.label = {"log_weight",
                                "logarithm of the weight during the iteration, NaN where there is "
                                "none",
                                "1", "ln W"},
                      .width = muca->settings.levels,
                      .across = "level"},
  };
  return gpumc_curve_add_table(muca->context.recorder, model, "runs/0000/iterations", columns,
                               muca->settings.write_weights ? COLUMNS : LOG_WEIGHT, &muca->table,
                               error);
}

static void destroy(void *state)
{
  struct muca *muca = state;
  if (muca == NULL)
    return;
  struct gpumc_device *device = muca->context.device;
  muca_weights_free(&muca->weights);
  device->ops->release(device, muca->visits);
  device->ops->release(device, muca->passages);
  for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM; c++) {
    device->ops->release(device, muca->device_channel[c]);
    free(muca->channel[c]);
  }
  free(muca->row);
  free(muca->control);
  free(muca->host_visits);
  free(muca->host_passages);
  free(muca->counted);
  free(muca->samples);
  free(muca->sums);
  free(muca);
}

static enum gpumc_status allocate(struct muca *muca, struct gpumc_error *error)
{
  const struct muca_settings *settings = &muca->settings;
  struct gpumc_device *device = muca->context.device;
  const size_t levels = settings->levels, blocks = settings->blocks;
  GPUMC_TRY(muca_weights_create(settings, &muca->weights, error));
  GPUMC_TRY(gpumc_allocate_array(&muca->row, COLUMNS + levels, "a row", error));
  GPUMC_TRY(gpumc_allocate_array(&muca->control, GPUMC_CONTROLS_MAXIMUM, "controls", error));
  GPUMC_TRY(gpumc_device_array(device, &muca->visits, settings->parts * levels, "visits", error));
  GPUMC_TRY(gpumc_allocate_array(&muca->host_visits, levels, "visits", error));
  GPUMC_TRY(gpumc_device_array(device, &muca->passages, settings->walkers, "passages", error));
  GPUMC_TRY(gpumc_allocate_array(&muca->host_passages, settings->walkers, "passages", error));
  GPUMC_TRY(gpumc_allocate_array(&muca->counted, blocks * levels, "visits of blocks", error));
  GPUMC_TRY(gpumc_allocate_array(&muca->samples, blocks * levels, "samples of blocks", error));
  GPUMC_TRY(gpumc_allocate_array(&muca->sums, blocks * levels * settings->observables.n_means,
                                 "sums of blocks", error));
  for (size_t c = 0; c < settings->observables.n_channels; c++) {
    GPUMC_TRY(
        gpumc_device_array(device, &muca->device_channel[c], settings->walkers, "channels", error));
    GPUMC_TRY(gpumc_allocate_array(&muca->channel[c], settings->walkers, "channels", error));
  }
  return GPUMC_OK;
}

/* The moved control is 0 in the weight on top of which the table's is: the table has its part. */
static enum gpumc_status
create(struct gpumc_context *context, void **state, struct gpumc_error *error)
{
  struct muca *muca;
  GPUMC_TRY(gpumc_allocate_array(&muca, 1, "a multicanonical run", error));
  *state = muca;
  muca->context = *context;
  muca_settings_read(&context->params, context->model, &muca->settings);
  GPUMC_TRY(allocate(muca, error));
  memcpy(muca->control, muca->settings.moved.fixed, sizeof muca->settings.moved.fixed);
  muca->control[muca->settings.moved.control] = 0;
  muca->divergence = 1;
  muca_weights_fence(&muca->weights, &muca->settings, 0.25);
  return declare_iterations(muca, error);
}

/* ---- walking ---- */

/* Under the present weights; `visits`: whether they are counted; `produces`: in production or on
 * the approach, visits by part of the walkers, and passages. */
static enum gpumc_status
walk(struct muca *muca, uint64_t updates, bool visits, bool produces, struct gpumc_error *error)
{
  const struct muca_settings *settings = &muca->settings;
  const size_t seen[2] = {muca->weights.lowest, muca->weights.highest};
  const struct gpumc_weight_table table = {
      .channel = settings->channel,
      .lowest = settings->lowest,
      .spacing = settings->spacing,
      .levels = settings->levels,
      .log_weight = muca->weights.log_weight,
      .visits = visits ? muca->visits : NULL,
      .parts = produces ? settings->parts : 1,
      .passages = produces ? muca->passages : NULL,
      .end = seen,
  };
  const struct gpumc_target target = {.kind = GPUMC_TABULATED,
                                      .control =
                                          gpumc_moves_beta(&settings->moved) ? NULL : muca->control,
                                      .table = &table};
  GPUMC_TRY(gpumc_ensemble_walk(muca->context.ensemble, &target, updates, error));
  muca->progress.updates += gpumc_walk_steps(updates) * GPUMC_WALK_UPDATES;
  return GPUMC_OK;
}

static enum gpumc_status clear(struct muca *muca, bool passages, struct gpumc_error *error)
{
  struct gpumc_device *device = muca->context.device;
  const struct muca_settings *settings = &muca->settings;
  GPUMC_TRY(device->ops->fill(device, muca->visits, 0,
                              settings->parts * settings->levels * sizeof *muca->visits, error));
  if (passages)
    GPUMC_TRY(device->ops->fill(device, muca->passages, 0,
                                settings->walkers * sizeof *muca->passages, error));
  return GPUMC_OK;
}

/* ---- phases ---- */

static uint64_t rounded(double updates)
{
  return gpumc_walk_steps((uint64_t)fmin(fmax(updates, 1), 0x1p60)) * GPUMC_WALK_UPDATES;
}

static void begin_iteration(struct muca *muca)
{
  const double width = muca_weights_width(&muca->weights);
  muca->progress.phase = MUCA_SETTLE;
  muca->progress.left = rounded((double)muca_thermalization(&muca->settings, width));
  if (muca_thermalization(&muca->settings, width) == 0)
    muca->progress.left = 0;
}

static uint64_t counted_updates(const struct muca *muca)
{
  return rounded((double)muca_updates(&muca->settings, muca_weights_width(&muca->weights),
                                      (size_t)muca->progress.quiet));
}

static enum gpumc_status begin_counting(struct muca *muca, struct gpumc_error *error)
{
  muca->progress.phase = MUCA_COUNT;
  muca->progress.left = counted_updates(muca);
  return clear(muca, false, error);
}

/* Of the approach: what one walker needs for some passages by eq. 7, shared by none; no longer than
 * a production of given length. */
static uint64_t approach_chunk(const struct muca *muca)
{
  const double some = 2 * mean_updates(&muca->settings, muca_weights_width(&muca->weights));
  const double given = (double)muca->settings.production;
  return rounded(given > 0 ? fmin(some, given) : some);
}

static enum gpumc_status begin_approach(struct muca *muca, struct gpumc_error *error)
{
  muca->progress.phase = MUCA_APPROACH;
  muca->progress.rounds = 0;
  muca->progress.left = approach_chunk(muca);
  return clear(muca, true, error);
}

/* From the time between passages during the approach. */
static uint64_t production_updates(const struct muca *muca, double passages)
{
  const struct muca_settings *settings = &muca->settings;
  const double tunnelling =
      (double)muca->progress.approach * (double)settings->walkers / fmax(passages, 1);
  const bool in_time = settings->parts < settings->blocks;
  const double wanted =
      in_time ? (double)settings->blocks * PASSAGES_OF_A_BLOCK : PASSAGES_OF_PRODUCTION;
  const double updates =
      settings->production > 0 ? (double)settings->production : wanted * tunnelling;
  const double measurements = (double)settings->measurements;
  return rounded(updates / measurements) * settings->measurements;
}

static enum gpumc_status
begin_production(struct muca *muca, double passages, struct gpumc_error *error)
{
  muca->progress.production = production_updates(muca, passages);
  muca->progress.phase = MUCA_PRODUCTION;
  muca->progress.left = muca->progress.production / muca->settings.measurements;
  return clear(muca, true, error);
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
    muca->row[LOG_WEIGHT + l] = weight == GPUMC_WEIGHT_NONE ? NAN : (double)weight * 0x1p-32;
  }
}

/* Eq. 4, a row of the table, and what comes next. */
static enum gpumc_status end_iteration(struct muca *muca, struct gpumc_error *error)
{
  struct muca_progress *progress = &muca->progress;
  const struct muca_settings *settings = &muca->settings;
  const double width = muca_weights_width(&muca->weights);
  muca->row[SETTLING] = (double)rounded((double)muca_thermalization(settings, width));
  if (settings->thermalization <= 0)
    muca->row[SETTLING] = 0;
  muca->row[COUNTED] = (double)counted_updates(muca);
  GPUMC_TRY(fetch_visits(muca, error));
  fill_weights(muca);
  const struct muca_flatness flatness =
      muca_weights_iterate(&muca->weights, settings, muca->host_visits);
  muca->row[ITERATION] = (double)progress->iteration++;
  muca->row[LOWEST] = level_or_nan(muca, muca->weights.lowest);
  muca->row[HIGHEST] = level_or_nan(muca, muca->weights.highest);
  muca->row[LEVELS] = (double)muca->weights.count;
  muca->row[DIVERGENCE] = flatness.divergence;
  muca->row[CHEBYSHEV] = flatness.chebyshev;
  muca->row[WALKERS] = (double)settings->walkers;
  muca->divergence = flatness.divergence;
  progress->quiet = flatness.grew ? 0 : progress->quiet + 1;
  progress->converged = !flatness.grew && flatness.divergence < settings->divergence;
  GPUMC_TRY(gpumc_recorder_append(muca->context.recorder, muca->table, muca->row, error));
  if (progress->converged || progress->iteration == settings->iterations)
    return begin_approach(muca, error);
  begin_iteration(muca);
  return GPUMC_OK;
}

static enum gpumc_status end_entering(struct muca *muca, struct gpumc_error *error)
{
  bool inside = false;
  GPUMC_TRY(muca_is_inside(muca, &inside, error));
  muca->progress.rounds++;
  if (inside) {
    muca_weights_fence(&muca->weights, &muca->settings, INFINITY);
    begin_iteration(muca);
    return GPUMC_OK;
  }
  if (muca->progress.rounds == ROUNDS_OF_ENTERING)
    return gpumc_error_set(
        error, GPUMC_FAILURE,
        "not all walkers came into algorithm.range within %d sweeps, from states "
        "drawn at random: widen it, towards the values at infinite temperature",
        ROUNDS_OF_ENTERING * SWEEPS_OF_ENTERING);
  muca_weights_fence(&muca->weights, &muca->settings, ldexp(0.25, (int)muca->progress.rounds));
  muca->progress.left = rounded((double)SWEEPS_OF_ENTERING * (double)muca->context.model->sites);
  return GPUMC_OK;
}

static enum gpumc_status end_approach_chunk(struct muca *muca, struct gpumc_error *error)
{
  struct muca_progress *progress = &muca->progress;
  double passages;
  progress->approach += approach_chunk(muca);
  progress->rounds++;
  GPUMC_TRY(muca_count_passages(muca, &passages, error));
  const bool as_long =
      muca->settings.production > 0 && progress->approach >= muca->settings.production;
  if (passages >= PASSAGES_OF_APPROACH * (double)muca->settings.walkers || as_long ||
      progress->rounds == APPROACH_MOST)
    return begin_production(muca, passages, error);
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
    begin_iteration(muca);
  return GPUMC_OK;
}

/* What the device's time goes to. */
enum stage { STAGE_OTHER = GPUMC_STAGE_OTHER, STAGE_ITERATE, STAGE_PRODUCE };
static const char *const stages[] = {"iteration", "production", NULL};

static enum gpumc_status advance(void *state, bool *finished, struct gpumc_error *error)
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
      GPUMC_TRY(walk(muca, part,
                     progress->phase == MUCA_COUNT || progress->phase == MUCA_PRODUCTION, produces,
                     error));
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
static void position(const void *state, struct gpumc_position *where)
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

/* ---- checkpoints ---- */

enum { HOST_PARTS = 7, DEVICE_PARTS = 2 };

static void list_parts(struct muca *muca, struct gpumc_part host[HOST_PARTS],
                       struct gpumc_part device[DEVICE_PARTS])
{
  const struct muca_settings *settings = &muca->settings;
  const size_t levels = settings->levels, blocks = settings->blocks;
  const struct gpumc_part on_host[HOST_PARTS] = {
      {"progress", GPUMC_UINT64, 1, MUCA_COUNTERS, &muca->progress},
      {"divergence", GPUMC_FLOAT64, 1, 1, &muca->divergence},
      {"log_weight", GPUMC_INT64, 1, levels, muca->weights.log_weight},
      {"seen", GPUMC_UINT8, 1, levels, muca->weights.seen},
      {"counted", GPUMC_UINT64, blocks, levels, muca->counted},
      {"samples", GPUMC_UINT64, blocks, levels, muca->samples},
      {"sums", GPUMC_FLOAT64, blocks, levels * settings->observables.n_means, muca->sums},
  };
  const struct gpumc_part on_device[DEVICE_PARTS] = {
      {"visits", GPUMC_UINT64, settings->parts, levels, muca->visits},
      {"passages", GPUMC_UINT32, 1, settings->walkers, muca->passages},
  };
  memcpy(host, on_host, sizeof on_host);
  memcpy(device, on_device, sizeof on_device);
}

static enum gpumc_status
save(const void *state, struct gpumc_checkpoint_writer *writer, struct gpumc_error *error)
{
  struct muca *muca = (struct muca *)state;
  struct gpumc_part host[HOST_PARTS], device[DEVICE_PARTS];
  list_parts(muca, host, device);
  GPUMC_TRY(gpumc_parts_save(host, HOST_PARTS, NULL, writer, "muca", error));
  return gpumc_parts_save(device, DEVICE_PARTS, muca->context.device, writer, "muca", error);
}

/* A checkpoint that is whole may still be wrong. */
static bool fits(const struct muca *muca)
{
  const struct muca_progress *progress = &muca->progress;
  const size_t rows = gpumc_recorder_count(muca->context.recorder, muca->table);
  return progress->phase <= MUCA_DONE && rows == progress->iteration &&
         progress->iteration <= muca->settings.iterations &&
         progress->measured <= muca->settings.measurements && progress->converged <= 1 &&
         (progress->phase < MUCA_PRODUCTION || progress->production > 0) &&
         (progress->phase == MUCA_DONE) == (progress->measured == muca->settings.measurements) &&
         isfinite(muca->divergence);
}

static enum gpumc_status
load(void *state, struct gpumc_checkpoint_reader *reader, bool *finished, struct gpumc_error *error)
{
  struct muca *muca = state;
  struct muca_weights *weights = &muca->weights;
  struct gpumc_part host[HOST_PARTS], device[DEVICE_PARTS];
  list_parts(muca, host, device);
  GPUMC_TRY(gpumc_parts_load(host, HOST_PARTS, NULL, reader, "muca", error));
  GPUMC_TRY(gpumc_parts_load(device, DEVICE_PARTS, muca->context.device, reader, "muca", error));
  if (!fits(muca))
    return gpumc_error_set(error, GPUMC_FAILURE,
                           "the checkpoint's counters and rows contradict each other");
  weights->count = 0;
  weights->lowest = weights->levels;
  weights->highest = 0;
  for (size_t l = 0; l < weights->levels; l++) {
    if (!weights->seen[l])
      continue;
    weights->count++;
    weights->lowest = l < weights->lowest ? l : weights->lowest;
    weights->highest = l;
  }
  *finished = muca->progress.phase == MUCA_DONE;
  return GPUMC_OK;
}

static const char citation[] =
    "@article{gross2018massively,\n"
    "  author  = {Gross, Jonathan and Zierenberg, Johannes and Weigel, Martin and Janke, "
    "Wolfhard},\n"
    "  title   = {Massively parallel multicanonical simulations},\n"
    "  journal = {Computer Physics Communications},\n"
    "  volume  = {224},\n"
    "  pages   = {387--395},\n"
    "  year    = {2018},\n"
    "  doi     = {10.1016/j.cpc.2017.10.018}\n"
    "}\n"
    "@article{berg1992multicanonical,\n"
    "  author  = {Berg, Bernd A. and Neuhaus, Thomas},\n"
    "  title   = {Multicanonical ensemble: A new approach to simulate first-order phase "
    "transitions},\n"
    "  journal = {Physical Review Letters},\n"
    "  volume  = {68},\n"
    "  pages   = {9--12},\n"
    "  year    = {1992},\n"
    "  doi     = {10.1103/PhysRevLett.68.9}\n"
    "}\n";

const struct gpumc_algorithm_ops gpumc_algorithm_muca = {
    .name = "muca",
    .summary = "multicanonical sampling on many walkers: the density of states",
    .citation = citation,
    .keys = muca_keys,
    .stages = stages,
    .required = GPUMC_OPERATION_START | GPUMC_OPERATION_TRANSFER | GPUMC_OPERATION_MEASURE |
                GPUMC_OPERATION_WALK,
    .checks = muca_checks,
    .defaults = muca_defaults,
    .replicas = muca_replicas,
    .demand = demand,
    .create = create,
    .advance = advance,
    .position = position,
    .save = save,
    .load = load,
    .summarize = muca_summarize,
    .destroy = destroy,
};
