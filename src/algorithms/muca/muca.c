/* Multicanonical sampling: the tables of a run, checkpoints, the vtable. */
#include "algorithms/muca/muca.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/numerics/elementary.h"

/* ---- creation ---- */

static void destroy(void *state)
{
  struct muca *muca = state;
  if (muca == NULL)
    return;
  struct gpumc_device *device = muca->context.device;
  for (size_t i = 0; i < muca->tables && muca->table != NULL; i++)
    free(muca->table[i].weights.guess);
  free(muca->table);
  free(muca->progress);
  free(muca->divergence);
  free(muca->log_weight);
  free(muca->seen);
  free(muca->histogram);
  free(muca->counted);
  free(muca->measurements);
  free(muca->sums);
  free(muca->control);
  free(muca->lowest);
  free(muca->time);
  free(muca->steps);
  free(muca->parts);
  free(muca->ends);
  free(muca->entering);
  free(muca->row);
  device->ops->release(device, muca->visits);
  device->ops->release(device, muca->passages);
  for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM; c++)
    device->ops->release(device, muca->device_channel[c]);
  free(muca->own_channels);
  free(muca->channels);
  free(muca->host_visits);
  free(muca->host_passages);
  free(muca->travels);
  muca_curves_free(&muca->curves);
  muca_density_free(&muca->density);
  free(muca);
}

static enum gpumc_status allocate_tables(struct muca *muca, struct gpumc_error *error)
{
  const struct muca_settings *settings = &muca->settings;
  const size_t tables = muca->tables, levels = tables * settings->window;
  const size_t of_blocks = settings->blocks * levels;
  GPUMC_TRY(gpumc_allocate_array(&muca->table, tables, "tables", error));
  GPUMC_TRY(gpumc_allocate_array(&muca->progress, tables, "counters", error));
  GPUMC_TRY(gpumc_allocate_array(&muca->divergence, tables, "divergences", error));
  GPUMC_TRY(gpumc_allocate_array(&muca->log_weight, levels, "multicanonical weights", error));
  GPUMC_TRY(gpumc_allocate_array(&muca->seen, levels, "levels", error));
  GPUMC_TRY(gpumc_allocate_array(&muca->counted, of_blocks, "visits of blocks", error));
  GPUMC_TRY(gpumc_allocate_array(&muca->measurements, of_blocks, "measurements of blocks", error));
  GPUMC_TRY(
      gpumc_allocate_array(&muca->sums, of_blocks * settings->width, "sums of blocks", error));
  if (settings->start == MUCA_START_WANG_LANDAU)
    GPUMC_TRY(gpumc_allocate_array(&muca->histogram, levels, "visits", error));
  return GPUMC_OK;
}

/* Allocates what calls for walks and measurements need. */
static enum gpumc_status allocate_calls(struct muca *muca, struct gpumc_error *error)
{
  const struct muca_settings *settings = &muca->settings;
  struct gpumc_device *device = muca->context.device;
  const size_t tables = muca->tables, visits = settings->parts * settings->window;
  GPUMC_TRY(gpumc_allocate_array(&muca->control, tables * muca->context.model->ops->n_controls,
                                 "controls", error));
  GPUMC_TRY(gpumc_allocate_array(&muca->lowest, tables, "windows", error));
  GPUMC_TRY(gpumc_allocate_array(&muca->time, tables, "clocks", error));
  GPUMC_TRY(gpumc_allocate_array(&muca->steps, tables, "steps", error));
  GPUMC_TRY(gpumc_allocate_array(&muca->parts, tables, "parts", error));
  GPUMC_TRY(gpumc_allocate_array(&muca->ends, 2 * tables, "ends", error));
  if (settings->window < settings->levels)
    GPUMC_TRY(gpumc_allocate_array(&muca->entering, tables * settings->levels,
                                   "weights on the way into the range", error));
  GPUMC_TRY(gpumc_device_array(device, &muca->visits, tables * visits, "visits", error));
  GPUMC_TRY(gpumc_allocate_array(&muca->host_visits, settings->window, "visits", error));
  GPUMC_TRY(gpumc_device_array(device, &muca->passages, tables * muca->own, "passages", error));
  return gpumc_allocate_array(&muca->host_passages, muca->own, "passages", error);
}

static enum gpumc_status allocate_channels(struct muca *muca, struct gpumc_error *error)
{
  const struct muca_settings *settings = &muca->settings;
  const size_t channels = settings->observables.n_channels, own = muca->tables * muca->own;
  for (size_t c = 0; c < channels; c++)
    GPUMC_TRY(
        gpumc_device_array(muca->context.device, &muca->device_channel[c], own, "channels", error));
  if (muca->own < settings->walkers)
    GPUMC_TRY(gpumc_allocate_array(&muca->own_channels, channels * own, "channels", error));
  return gpumc_allocate_array(&muca->channels, channels * muca->tables * settings->walkers,
                              "channels", error);
}

static void set_table(struct muca *muca, size_t i)
{
  const struct muca_settings *settings = &muca->settings;
  const size_t levels = i * settings->window, of_blocks = settings->blocks * levels;
  struct muca_table *table = &muca->table[i];
  *table = (struct muca_table){
      .index = i,
      .sample = i / settings->windows,
      .first = muca_window_first(settings, i % settings->windows),
      .progress = &muca->progress[i],
      .divergence = &muca->divergence[i],
      .histogram = muca->histogram == NULL ? NULL : muca->histogram + levels,
      .counted = muca->counted + of_blocks,
      .measurements = muca->measurements + of_blocks,
      .sums = muca->sums + of_blocks * settings->width,
      .weights = {.levels = settings->window,
                  .lowest = settings->window,
                  .log_weight = muca->log_weight + levels,
                  .seen = muca->seen + levels},
  };
  *table->divergence = 1;
}

/* The moved control is 0 in the weight that the tables' weights are added to: these include its
 * part. */
static void set_controls(struct muca *muca)
{
  const size_t n = muca->context.model->ops->n_controls;
  for (size_t i = 0; i < muca->tables * n; i++)
    muca->control[i] =
        i % n == muca->settings.moved.control ? 0 : muca->settings.moved.fixed[i % n];
}

/* Takes the part of a file's weights that lies in the window of a table. */
static enum gpumc_status take_start(struct muca *muca, struct muca_table *table,
                                    const int64_t *log_weight, struct gpumc_error *error)
{
  const size_t levels = table->weights.levels;
  size_t known = 0;
  int64_t *guess;
  for (size_t l = 0; l < levels; l++)
    known += log_weight[table->first + l] != GPUMC_WEIGHT_NONE;
  if (known == 0)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_allocate_array(&guess, levels, "weights of a file", error));
  memcpy(guess, log_weight + table->first, levels * sizeof *guess);
  muca_weights_take(&table->weights, &muca->settings, guess);
  return GPUMC_OK;
}

/* Reads the weights of a start from a file; its checksum is for the run to compare. */
static enum gpumc_status
read_start(struct muca *muca, struct gpumc_context *context, struct gpumc_error *error)
{
  int64_t *log_weight;
  GPUMC_TRY(gpumc_allocate_array(&log_weight, muca->settings.levels, "weights of a file", error));
  enum gpumc_status status = muca_start_read(&context->params, context->model, &muca->settings,
                                             log_weight, &context->file_checksum, error);
  for (size_t i = 0; i < muca->tables && status == GPUMC_OK; i++)
    status = take_start(muca, &muca->table[i], log_weight, error);
  free(log_weight);
  return status;
}

static enum gpumc_status
create(struct gpumc_context *context, void **state, struct gpumc_error *error)
{
  struct muca *muca;
  GPUMC_TRY(gpumc_allocate_array(&muca, 1, "a multicanonical run", error));
  *state = muca;
  muca->context = *context;
  muca_settings_read(&context->params, context->model, &muca->settings);
  muca->tables = muca_tables(&muca->settings);
  muca->own = context->ensemble->plan.capacity;
  GPUMC_TRY(allocate_tables(muca, error));
  GPUMC_TRY(allocate_calls(muca, error));
  GPUMC_TRY(allocate_channels(muca, error));
  for (size_t i = 0; i < muca->tables; i++)
    set_table(muca, i);
  set_controls(muca);
  muca->share = muca_share_of_curves(muca);
  if (muca->settings.start == MUCA_START_FILE)
    GPUMC_TRY(read_start(muca, context, error));
  return muca_rows_declare(muca, error);
}

/* ---- checkpoints ---- */

enum { HOST_PARTS = 8 };

struct parts {
  struct gpumc_part host[HOST_PARTS];
  size_t n_host;
  /* On the device: visits, of which each process has those of its own walkers, and the walkers'
   * passages. */
  struct gpumc_part visits, passages;
};

static struct parts parts_of(struct muca *muca)
{
  const struct muca_settings *settings = &muca->settings;
  const size_t tables = muca->tables, levels = settings->window;
  const size_t of_blocks = tables * settings->blocks;
  struct parts parts = {
      .host = {{"progress", GPUMC_UINT64, tables, MUCA_COUNTERS, muca->progress},
               {"divergence", GPUMC_FLOAT64, tables, 1, muca->divergence},
               {"log_weight", GPUMC_INT64, tables, levels, muca->log_weight},
               {"seen", GPUMC_UINT8, tables, levels, muca->seen},
               {"counted", GPUMC_UINT64, of_blocks, levels, muca->counted},
               {"measurements", GPUMC_UINT64, of_blocks, levels, muca->measurements},
               {"sums", GPUMC_FLOAT64, of_blocks, levels * settings->width, muca->sums}},
      .n_host = HOST_PARTS - 1,
      .visits = {"visits", GPUMC_UINT64, tables * settings->parts, levels, muca->visits},
      .passages = {"passages", GPUMC_UINT32, tables, muca->own, muca->passages}};
  if (settings->start == MUCA_START_WANG_LANDAU)
    parts.host[parts.n_host++] =
        (struct gpumc_part){"histogram", GPUMC_UINT64, tables, levels, muca->histogram};
  return parts;
}

static enum gpumc_status
save(const void *state, struct gpumc_checkpoint_writer *writer, struct gpumc_error *error)
{
  struct muca *muca = (struct muca *)state;
  const struct parts parts = parts_of(muca);
  for (size_t i = 0; i < muca->tables; i++)
    if (muca->progress[i].phase == MUCA_PRODUCTION)
      GPUMC_TRY(muca_make_sums_whole(muca, &muca->table[i], error));
  GPUMC_TRY(gpumc_parts_save(parts.host, parts.n_host, NULL, writer, "muca", error));
  GPUMC_TRY(gpumc_columns_save_counts(muca->context.device,
                                      gpumc_columns_processes(muca->context.ensemble),
                                      &parts.visits, writer, "muca", error));
  GPUMC_TRY(gpumc_columns_save(muca->context.ensemble, &parts.passages, 1, muca->context.device,
                               writer, "muca", error));
  return muca_curves_save(muca, writer, error);
}

/* A complete checkpoint may still be wrong. */
static bool fits(const struct muca *muca, const struct muca_table *table)
{
  const struct muca_progress *progress = table->progress;
  const struct gpumc_recorder *recorder = muca->context.recorder;
  return progress->phase <= MUCA_CLOSED &&
         progress->iteration == gpumc_recorder_count(recorder, table->rows) &&
         progress->iteration <= muca->settings.iterations &&
         (muca->settings.start != MUCA_START_WANG_LANDAU ||
          progress->pieces == gpumc_recorder_count(recorder, table->pieces)) &&
         progress->measured <= muca->settings.measurements && progress->converged <= 1 &&
         ((progress->phase != MUCA_PRODUCTION && progress->phase != MUCA_DONE) ||
          progress->production > 0) &&
         (progress->phase == MUCA_DONE) == (progress->measured == muca->settings.measurements) &&
         isfinite(*table->divergence);
}

/* Earlier programs counted iterations in several parts; these are joined. */
static enum gpumc_status
join_former_visits(struct muca *muca, const struct muca_table *table, struct gpumc_error *error)
{
  const uint64_t phase = table->progress->phase;
  return phase == MUCA_START || phase == MUCA_COUNT ? muca_join_visits(muca, table, error)
                                                    : GPUMC_OK;
}

static enum gpumc_status
load(void *state, struct gpumc_checkpoint_reader *reader, bool *finished, struct gpumc_error *error)
{
  struct muca *muca = state;
  const struct parts parts = parts_of(muca);
  GPUMC_TRY(gpumc_parts_load(parts.host, parts.n_host, NULL, reader, "muca", error));
  GPUMC_TRY(gpumc_columns_load_counts(muca->context.device,
                                      gpumc_columns_processes(muca->context.ensemble),
                                      &parts.visits, reader, "muca", error));
  GPUMC_TRY(gpumc_columns_load(muca->context.ensemble, &parts.passages, 1, muca->context.device,
                               reader, "muca", error));
  *finished = true;
  for (size_t i = 0; i < muca->tables; i++) {
    if (!fits(muca, &muca->table[i]))
      return gpumc_error_set(error, GPUMC_FAILURE,
                             "is damaged: its counters and rows are inconsistent");
    muca_weights_recount(&muca->table[i].weights);
    GPUMC_TRY(join_former_visits(muca, &muca->table[i], error));
    *finished = *finished && muca_has_ended(&muca->progress[i]);
  }
  GPUMC_TRY(muca_curves_load(muca, reader, error));
  *finished = *finished && muca_reweighted(muca) == 1;
  return *finished ? muca_travels_count(muca, error) : GPUMC_OK;
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

static const enum gpumc_division divides[] = {GPUMC_BY_REPLICAS, GPUMC_UNDIVIDED};

const struct gpumc_algorithm_ops gpumc_algorithm_muca = {
    .name = "muca",
    .summary = "multicanonical sampling on many walkers: the density of states",
    .citation = citation,
    .keys = muca_keys,
    .stages = muca_stages,
    .required = GPUMC_OPERATION_START | GPUMC_OPERATION_TRANSFER | GPUMC_OPERATION_MEASURE |
                GPUMC_OPERATION_GATHER | GPUMC_OPERATION_WALK,
    .divides = divides,
    .merger = &muca_merger,
    .checks = muca_checks,
    .defaults = muca_defaults,
    .file_key = "iteration.file",
    .read_file = muca_read_file,
    .replicas = muca_replicas,
    .demand = muca_demand,
    .create = create,
    .advance = muca_advance,
    .position = muca_position,
    .save = save,
    .load = load,
    .summarize = muca_summarize,
    .destroy = destroy,
};
