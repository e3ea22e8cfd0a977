/* Multicanonical sampling: the phases of a run, its checkpoints, its vtable. */
#include "algorithms/muca/muca.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/numerics/elementary.h"

/* ---- what a run will need ---- */

/* Iterations to converge grow slowly with the range where weights are extrapolated; the plain
 * scheme adds some levels with each. What tunnelling takes is known afterwards. */
static double estimated_updates(const struct muca_settings *settings)
{
  const double width = (double)(settings->last - settings->first + 1);
  const double iterations = settings->extrapolate ? 40 + 4 * log2(width) : 40 + 2 * sqrt(width);
  const double production = settings->production > 0 ? (double)settings->production
                                                     : 3 * MUCA_PASSAGES_OF_PRODUCTION *
                                                           muca_mean_updates(settings, width);
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
  const double width = (double)settings.width;
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
  const double sums = blocks * levels * (2 + width);
  /* The summary has the sums without each block, and a curve of each. */
  demanded->host_bytes =
      gpumc_demand_bytes((2 * sums + walkers * (channels + 1) + 18 * levels) * sizeof(double));
  demanded->device_bytes =
      gpumc_demand_bytes((double)settings.parts * levels * sizeof(uint64_t) +
                         walkers * (sizeof(uint32_t) + channels * sizeof(int64_t)));
  const double rows = (double)settings.iterations * (settings.write_weights ? levels + 9 : 9);
  demanded->result_bytes = (rows + 7 * levels) * sizeof(double);
  demanded->state_bytes = (sums + rows) * sizeof(double);
  demanded->updates = estimated_updates(&settings);
  demanded->estimated = true;
  demanded->work.values = walkers * (double)settings.measurements;
  demanded->work.measured = demanded->work.values * (double)model->sites;
  demanded->work.n_channels = settings.observables.n_channels;
  return GPUMC_OK;
}

/* ---- creation ---- */

static enum gpumc_status declare_iterations(struct muca *muca, struct gpumc_error *error)
{
  const struct gpumc_model *model = muca->context.model;
  const struct gpumc_label *channel = &model->ops->channels[muca->settings.channel].label;
  struct gpumc_column columns[MUCA_COLUMNS] = {
      [MUCA_ITERATION] = {.label = {"iteration", "iterations of the weights, from 0", "1", "n"},
                          .width = 1,
                          .integer = true},
      [MUCA_LOWEST] = {.label = {"lowest", "lowest value seen so far, of the whole system",
                                 channel->units, channel->symbol},
                       .width = 1},
      [MUCA_HIGHEST] = {.label = {"highest", "highest value seen so far, of the whole system",
                                  channel->units, channel->symbol},
                        .width = 1},
      [MUCA_LEVELS] = {.label = {"levels", "levels seen so far", "1", "w"},
                       .width = 1,
                       .integer = true},
      [MUCA_DIVERGENCE] = {.label = {"kullback_leibler",
                                     "divergence of the histogram from the uniform one (eq. 6)",
                                     "1", "d_k"},
                           .width = 1},
      [MUCA_CHEBYSHEV] = {.label = {"chebyshev",
                                    "largest relative deviation of the histogram (eq. A.1)", "1",
                                    "d_c"},
                          .width = 1},
      [MUCA_SETTLING] = {.label = {"thermalization", "updates of each walker before counting",
                                   "updates", ""},
                         .width = 1,
                         .integer = true},
      [MUCA_COUNTED] = {.label = {"updates", "updates of each walker that were counted", "updates",
                                  ""},
                        .width = 1,
                        .integer = true},
      [MUCA_WALKERS] = {.label = {"walkers", "parallel walkers", "1", "W"},
                        .width = 1,
                        .integer = true},
      [MUCA_LOG_WEIGHT] =
          {.label = {"log_weight",
                     "logarithm of the weight during the iteration, NaN where there is "
                     "none",
                     "1", "ln W"},
           .width = muca->settings.levels,
           .across = "level"},
  };
  return gpumc_curve_add_table(muca->context.recorder, model, "runs/0000/iterations", columns,
                               muca->settings.write_weights ? MUCA_COLUMNS : MUCA_LOG_WEIGHT,
                               &muca->table, error);
}

static enum gpumc_status declare_start(struct muca *muca, struct gpumc_error *error)
{
  const struct gpumc_model *model = muca->context.model;
  const struct gpumc_label *channel = &model->ops->channels[muca->settings.channel].label;
  struct gpumc_column columns[MUCA_PIECE_COLUMNS] = {
      [MUCA_PIECE_UPDATES] = {.label = {"updates", "updates of each walker so far", "updates", ""},
                              .width = 1,
                              .integer = true},
      [MUCA_PIECE_LOWEST] = {.label = {"lowest", "lowest value seen so far, of the whole system",
                                       channel->units, channel->symbol},
                             .width = 1},
      [MUCA_PIECE_HIGHEST] = {.label = {"highest", "highest value seen so far, of the whole system",
                                        channel->units, channel->symbol},
                              .width = 1},
      [MUCA_PIECE_LEVELS] = {.label = {"levels", "levels seen so far", "1", "w"},
                             .width = 1,
                             .integer = true},
      [MUCA_PIECE_FACTOR] = {.label = {"factor", "of the logarithm of the weights' changes", "1",
                                       "ln f"},
                             .width = 1},
  };
  return gpumc_curve_add_table(muca->context.recorder, model, "runs/0000/start", columns,
                               MUCA_PIECE_COLUMNS, &muca->pieces, error);
}

static void destroy(void *state)
{
  struct muca *muca = state;
  if (muca == NULL)
    return;
  struct gpumc_device *device = muca->context.device;
  muca_weights_free(&muca->weights);
  free(muca->histogram);
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
  GPUMC_TRY(gpumc_allocate_array(&muca->row, MUCA_COLUMNS + levels, "a row", error));
  GPUMC_TRY(gpumc_allocate_array(&muca->control, GPUMC_CONTROLS_MAXIMUM, "controls", error));
  GPUMC_TRY(gpumc_device_array(device, &muca->visits, settings->parts * levels, "visits", error));
  GPUMC_TRY(gpumc_allocate_array(&muca->host_visits, levels, "visits", error));
  GPUMC_TRY(gpumc_device_array(device, &muca->passages, settings->walkers, "passages", error));
  GPUMC_TRY(gpumc_allocate_array(&muca->host_passages, settings->walkers, "passages", error));
  GPUMC_TRY(gpumc_allocate_array(&muca->counted, blocks * levels, "visits of blocks", error));
  GPUMC_TRY(gpumc_allocate_array(&muca->samples, blocks * levels, "samples of blocks", error));
  GPUMC_TRY(gpumc_allocate_array(&muca->sums, blocks * levels * settings->width, "sums of blocks",
                                 error));
  if (settings->start == MUCA_START_WANG_LANDAU)
    GPUMC_TRY(gpumc_allocate_array(&muca->histogram, levels, "visits", error));
  for (size_t c = 0; c < settings->observables.n_channels; c++) {
    GPUMC_TRY(
        gpumc_device_array(device, &muca->device_channel[c], settings->walkers, "channels", error));
    GPUMC_TRY(gpumc_allocate_array(&muca->channel[c], settings->walkers, "channels", error));
  }
  return GPUMC_OK;
}

/* The weights of a start from a file; its checksum is the run's to compare. */
static enum gpumc_status
read_start(struct muca *muca, struct gpumc_context *context, struct gpumc_error *error)
{
  int64_t *guess;
  GPUMC_TRY(gpumc_allocate_array(&guess, muca->settings.levels, "weights of a file", error));
  const enum gpumc_status status = muca_start_read(
      &context->params, context->model, &muca->settings, guess, &context->file_checksum, error);
  if (status == GPUMC_OK)
    muca_weights_take(&muca->weights, &muca->settings, guess);
  else
    free(guess);
  return status;
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
  if (muca->settings.start == MUCA_START_FILE)
    GPUMC_TRY(read_start(muca, context, error));
  if (muca->settings.start == MUCA_START_WANG_LANDAU)
    GPUMC_TRY(declare_start(muca, error));
  return declare_iterations(muca, error);
}

/* ---- checkpoints ---- */

enum { HOST_PARTS = 8, DEVICE_PARTS = 2 };

struct parts {
  struct gpumc_part host[HOST_PARTS], device[DEVICE_PARTS];
  size_t n_host;
};

static struct parts parts_of(struct muca *muca)
{
  const struct muca_settings *settings = &muca->settings;
  const size_t levels = settings->levels, blocks = settings->blocks;
  struct parts parts = {
      .host = {{"progress", GPUMC_UINT64, 1, MUCA_COUNTERS, &muca->progress},
               {"divergence", GPUMC_FLOAT64, 1, 1, &muca->divergence},
               {"log_weight", GPUMC_INT64, 1, levels, muca->weights.log_weight},
               {"seen", GPUMC_UINT8, 1, levels, muca->weights.seen},
               {"counted", GPUMC_UINT64, blocks, levels, muca->counted},
               {"samples", GPUMC_UINT64, blocks, levels, muca->samples},
               {"sums", GPUMC_FLOAT64, blocks, levels * settings->width, muca->sums}},
      .device = {{"visits", GPUMC_UINT64, settings->parts, levels, muca->visits},
                 {"passages", GPUMC_UINT32, 1, settings->walkers, muca->passages}},
      .n_host = HOST_PARTS - 1};
  if (settings->start == MUCA_START_WANG_LANDAU)
    parts.host[parts.n_host++] =
        (struct gpumc_part){"histogram", GPUMC_UINT64, 1, levels, muca->histogram};
  return parts;
}

static enum gpumc_status
save(const void *state, struct gpumc_checkpoint_writer *writer, struct gpumc_error *error)
{
  struct muca *muca = (struct muca *)state;
  const struct parts parts = parts_of(muca);
  GPUMC_TRY(gpumc_parts_save(parts.host, parts.n_host, NULL, writer, "muca", error));
  return gpumc_parts_save(parts.device, DEVICE_PARTS, muca->context.device, writer, "muca", error);
}

/* A checkpoint that is whole may still be wrong. */
static bool fits(const struct muca *muca)
{
  const struct muca_progress *progress = &muca->progress;
  const size_t rows = gpumc_recorder_count(muca->context.recorder, muca->table);
  return progress->phase <= MUCA_DONE && rows == progress->iteration &&
         progress->iteration <= muca->settings.iterations &&
         (muca->settings.start != MUCA_START_WANG_LANDAU ||
          progress->pieces == gpumc_recorder_count(muca->context.recorder, muca->pieces)) &&
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
  const struct parts parts = parts_of(muca);
  GPUMC_TRY(gpumc_parts_load(parts.host, parts.n_host, NULL, reader, "muca", error));
  GPUMC_TRY(
      gpumc_parts_load(parts.device, DEVICE_PARTS, muca->context.device, reader, "muca", error));
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
    .stages = muca_stages,
    .required = GPUMC_OPERATION_START | GPUMC_OPERATION_TRANSFER | GPUMC_OPERATION_MEASURE |
                GPUMC_OPERATION_WALK,
    .checks = muca_checks,
    .defaults = muca_defaults,
    .file_key = "iteration.file",
    .read_file = muca_read_file,
    .replicas = muca_replicas,
    .demand = demand,
    .create = create,
    .advance = muca_advance,
    .position = muca_position,
    .save = save,
    .load = load,
    .summarize = muca_summarize,
    .destroy = destroy,
};
