/* Multicanonical sampling: units of work, in which the tables walk in parallel. */
#include "algorithms/muca/muca.h"

#include <math.h>

/* Maximum number of calls for walks in a unit if tables have phases of different lengths: on a GPU,
 * which a table that stands still leaves idle. */
enum { CALLS_OF_A_UNIT = 16 };

/* Returns the updates of a walker in a unit, between which a run handles signals: at most a tenth
 * of a second, and long compared to the overhead of a call. Few walkers on a GPU take 0.1 us for an
 * update, however few; on a CPU a call begins with the energies of all walkers, which takes as long
 * as some sweeps, and units of very many walkers may last a second. If there are several processes,
 * the approximate number of walkers of one counts, so that units are the same in all. */
static double unit_updates(const struct muca *muca)
{
  enum { SWEEPS = 64 };
  const bool on_cpu = muca->context.device->ops->kind == GPUMC_KIND_CPU;
  const int processes = gpumc_columns_processes(muca->context.ensemble)->module.size;
  const double walkers = ceil((double)muca->settings.walkers / processes) * (double)muca->tables;
  const double sites = (double)muca->context.model->sites;
  const double updates = on_cpu ? fmax(0x1p26 / walkers, fmin(SWEEPS * sites, 0x1p30 / walkers))
                                : fmin(0x1p36 / walkers, 0x1p18);
  return fmax(updates, 4 * sites);
}

/* ---- walking ---- */

static bool counts_visits(const struct muca_table *table)
{
  const uint64_t phase = table->progress->phase;
  return phase == MUCA_START || phase == MUCA_COUNT || phase == MUCA_PRODUCTION;
}

static bool is_producing(const struct muca_progress *progress)
{
  return progress->phase == MUCA_APPROACH || progress->phase == MUCA_PRODUCTION;
}

static bool counts_passages(const struct muca_table *table)
{
  return is_producing(table->progress);
}

/* Sets weights that lead into the window of a table, twice as steep in each round. */
static void lead_inside(const struct muca *muca, const struct muca_table *table)
{
  const size_t levels = muca->settings.levels, last = table->first + muca->settings.window - 1;
  const double slope = ldexp(0.25, (int)table->progress->rounds) * MUCA_WEIGHT_UNIT;
  int64_t *log_weight = muca->entering + table->index * levels;
  for (size_t l = 0; l < levels; l++) {
    const size_t distance = l < table->first ? table->first - l : l > last ? l - last : 0;
    log_weight[l] = -(int64_t)(slope * (double)distance);
  }
}

/* Moves all tables under their current weights, steps[tables] of each walker; a table that counts
 * something unnecessarily clears it before it is needed. While any is entering its window, only
 * these walk, and their weights are those of all levels. */
static enum gpumc_status walk(struct muca *muca, bool enters, struct gpumc_error *error)
{
  const struct muca_settings *settings = &muca->settings;
  bool visits = false, passages = false;
  for (size_t i = 0; i < muca->tables; i++) {
    const struct muca_table *table = &muca->table[i];
    visits = visits || counts_visits(table);
    passages = passages || counts_passages(table);
    muca->time[i] = table->progress->updates / GPUMC_WALK_UPDATES;
    muca->parts[i] = table->progress->phase == MUCA_PRODUCTION ? (uint32_t)settings->parts : 1;
    muca->ends[2 * i] = table->weights.lowest;
    muca->ends[2 * i + 1] = table->weights.highest;
    if (enters)
      lead_inside(muca, table);
    muca->lowest[i] = settings->lowest + (enters ? 0 : (int64_t)table->first * settings->spacing);
  }
  const struct gpumc_weight_table weights = {
      .channel = settings->channel,
      .lowest = muca->lowest,
      .spacing = settings->spacing,
      .levels = enters ? settings->levels : settings->window,
      .log_weight = enters ? muca->entering : muca->log_weight,
      .time = muca->time,
      .steps = muca->steps,
      .visits = visits && !enters ? muca->visits : NULL,
      .parts = settings->parts,
      .run_parts = muca->parts,
      .passages = passages && !enters ? muca->passages : NULL,
      .end = muca->ends,
  };
  const struct gpumc_target target = {.kind = GPUMC_TABULATED,
                                      .control = settings->moved.beta ? NULL : muca->control,
                                      .table = &weights};
  return muca->context.ensemble->ops->walk(muca->context.ensemble, &target, error);
}

/* The stages of the device's time. */
enum stage { STAGE_OTHER = GPUMC_STAGE_OTHER, STAGE_ITERATE, STAGE_PRODUCE };
const char *const muca_stages[] = {"iteration", "production", NULL};

static enum gpumc_status start(struct muca *muca, struct gpumc_error *error)
{
  const struct muca_settings *settings = &muca->settings;
  GPUMC_TRY(
      gpumc_ensemble_start(muca->context.ensemble, 0, muca->tables, settings->walkers, error));
  for (size_t i = 0; i < muca->tables; i++)
    if (settings->window == settings->levels)
      GPUMC_TRY(muca_begin(muca, &muca->table[i], error));
  return GPUMC_OK;
}

/* The work of the tables in a call. */
struct call {
  bool enters, produces, measures;
  uint64_t longest; /* updates */
};

static bool walks_in(const struct call *call, const struct muca_progress *progress)
{
  return progress->phase < MUCA_DONE && (!call->enters || progress->phase == MUCA_ENTER);
}

/* Returns its length, at most `most` updates: that of the shortest phase, so that its table does
 * not stand still while others walk on, but not so short that overhead dominates. On a CPU that
 * table's threads continue with the others. */
static uint64_t length_of(const struct muca *muca, const struct call *call, uint64_t most)
{
  uint64_t shortest = most;
  for (size_t i = 0; i < muca->tables; i++)
    if (walks_in(call, &muca->progress[i]) && muca->progress[i].left < shortest)
      shortest = muca->progress[i].left;
  const bool on_cpu = muca->context.device->ops->kind == GPUMC_KIND_CPU;
  const uint64_t least = muca_rounded((double)most / (on_cpu ? 1 : CALLS_OF_A_UNIT));
  return shortest > least || muca->tables == 1 ? shortest : least < most ? least : most;
}

/* Sets steps[tables], at most `most` updates. */
static struct call make_call(struct muca *muca, uint64_t most)
{
  struct call call = {.produces = true};
  for (size_t i = 0; i < muca->tables; i++)
    call.enters = call.enters || muca->progress[i].phase == MUCA_ENTER;
  most = length_of(muca, &call, most);
  for (size_t i = 0; i < muca->tables; i++) {
    const struct muca_progress *progress = &muca->progress[i];
    const bool walks = walks_in(&call, progress);
    const uint64_t part = !walks ? 0 : progress->left < most ? progress->left : most;
    muca->steps[i] = (uint32_t)gpumc_walk_steps(part);
    call.longest = part > call.longest ? part : call.longest;
    call.produces = call.produces && (!walks || is_producing(progress));
    if (walks && part == progress->left)
      call.measures =
          call.measures || progress->phase == MUCA_ENTER || progress->phase == MUCA_PRODUCTION;
  }
  return call;
}

/* Tables at the end of their phases continue with the next. */
static enum gpumc_status
end_call(struct muca *muca, const struct call *call, struct gpumc_error *error)
{
  if (call->measures)
    GPUMC_TRY(call->enters ? muca_measure(muca, error) : muca_measure_parts(muca, error));
  for (size_t i = 0; i < muca->tables; i++) {
    struct muca_table *table = &muca->table[i];
    struct muca_progress *progress = table->progress;
    const uint64_t part = (uint64_t)muca->steps[i] * GPUMC_WALK_UPDATES;
    if (!walks_in(call, progress))
      continue;
    progress->left -= part;
    progress->updates += part;
    if (progress->phase == MUCA_PRODUCTION)
      progress->walked += part;
    if (progress->left == 0)
      GPUMC_TRY(muca_end_phase(muca, table, error));
  }
  return GPUMC_OK;
}

static bool all_done(const struct muca *muca)
{
  for (size_t i = 0; i < muca->tables; i++)
    if (!muca_has_ended(&muca->progress[i]))
      return false;
  return true;
}

enum gpumc_status muca_advance(void *state, bool *finished, struct gpumc_error *error)
{
  struct muca *muca = state;
  struct gpumc_device *device = muca->context.device;
  double budget = unit_updates(muca);
  if (muca->context.ensemble->runs == 0)
    GPUMC_TRY(start(muca, error));
  if (all_done(muca))
    return muca_reweight_unit(muca, finished, error);
  while (budget > 0 && !all_done(muca)) {
    const struct call call = make_call(muca, muca_rounded(budget));
    device->ops->enter(device, call.produces ? STAGE_PRODUCE : STAGE_ITERATE);
    if (call.longest > 0)
      GPUMC_TRY(walk(muca, call.enters, error));
    budget -= (double)call.longest + 1;
    GPUMC_TRY(end_call(muca, &call, error));
    device->ops->enter(device, STAGE_OTHER);
  }
  *finished = false;
  return GPUMC_OK;
}

/* Iterations count as half of the work, their share by how far the divergence has come down. */
static double fraction_of(const struct muca *muca, const struct muca_table *table)
{
  const struct muca_progress *progress = table->progress;
  const double goal = muca->settings.divergence;
  if (progress->phase == MUCA_CLOSED)
    return 1;
  if (progress->phase == MUCA_PRODUCTION || progress->phase == MUCA_DONE)
    return 0.5 + 0.5 * (double)progress->walked / (double)progress->production;
  const double share = 1 - log(fmax(*table->divergence / goal, 1)) / log(1 / goal);
  return 0.5 * fmin(fmax(share, 0), 1);
}

void muca_position(const void *state, struct gpumc_position *where)
{
  const struct muca *muca = state;
  double fraction = 0, updates = 0, iterations = 0;
  for (size_t i = 0; i < muca->tables; i++) {
    fraction += fraction_of(muca, &muca->table[i]) / (double)muca->tables;
    updates += (double)muca->progress[i].updates;
    iterations = fmax(iterations, (double)muca->progress[i].iteration);
  }
  where->fraction = (1 - muca->share) * fraction + muca->share * muca_reweighted(muca);
  where->updates = updates * (double)muca->settings.walkers;
  where->coordinate = "iteration";
  where->value = iterations;
}
