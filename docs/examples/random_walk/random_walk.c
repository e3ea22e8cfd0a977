/* A random walk in the inverse temperature, to begin another algorithm with: after each sweep
 * a coin moves beta up or down, and the tracked channel is recorded. Averages mean nothing.
 * docs/adding-a-model.md says how it is built, as a plugin or into a program. */
#include <stdlib.h>

#include "core/base/memory.h"
#include "core/simulation/algorithm.h"
#include "core/simulation/curves.h"
#include "core/simulation/ladder.h"
#include "core/simulation/shared_keys.h"

enum { PURPOSE_COIN = 200, REPLICAS = 32 }; /* of random.h: time = step; they walk together */
enum { STEP, BETA, TRACKED, COLUMNS };

struct walk {
  struct gpumc_context context;
  double steps, step, most;
  double row[COLUMNS]; /* the last one: where the walk is */
  size_t table;
  int64_t *on_device, value[REPLICAS]; /* of the tracked channel: the energy, say */
};

static const struct gpumc_key keys[] = {
    GPUMC_SWEEPS_KEY("steps", 1, .required = true, .example = "1000", .doc = "Number of steps."),
    GPUMC_BETA_STEP_KEY(.required = true, .example = "0.01", .doc = "Length of a step."),
    GPUMC_BETA_KEY("most", .required = true, .example = "0.6", .doc = "Where the walk turns back."),
    {.name = NULL},
};

static enum gpumc_status demand(const struct gpumc_params *params, const struct gpumc_model *model,
                                const struct gpumc_device *device, const struct gpumc_spread *over,
                                struct gpumc_demand *wanted, struct gpumc_error *error)
{
  (void)device, (void)over, (void)error;
  const double steps = (double)gpumc_params_integer(params, "steps");
  wanted->replicas = REPLICAS;
  wanted->plan = (struct gpumc_ensemble_plan){.runs = 1, .capacity = REPLICAS, .samples = 1};
  wanted->device_bytes = REPLICAS * sizeof(int64_t);
  wanted->result_bytes = wanted->state_bytes = steps * COLUMNS * sizeof(double);
  wanted->updates = steps * REPLICAS * (double)model->sites;
  return GPUMC_OK;
}

/* The run destroys what is left here after a failure. */
static enum gpumc_status
create(struct gpumc_context *context, void **state, struct gpumc_error *error)
{
  const struct gpumc_model_ops *model = context->model->ops;
  struct gpumc_column column[COLUMNS] = {
      [STEP] = {.label = {"step", "steps done", "1", ""}, .width = 1, .integer = true},
      [BETA] = {.label = {"beta", "inverse temperature", GPUMC_UNIT_BETA, "β"}, .width = 1},
      [TRACKED] = {.label = model->channels[model->tracked].label, .width = 1}};
  struct walk *walk;
  GPUMC_TRY(gpumc_allocate_array(&walk, 1, "a random walk", error));
  *state = walk;
  walk->context = *context;
  walk->steps = (double)gpumc_params_integer(&context->params, "steps");
  walk->step = gpumc_params_real(&context->params, "step");
  walk->most = gpumc_params_real(&context->params, "most");
  GPUMC_TRY(gpumc_device_array(context->device, &walk->on_device, REPLICAS, "a channel", error));
  return gpumc_curve_add_table(context->recorder, context->model, "runs/0000", column, COLUMNS,
                               &walk->table, error);
}

static void destroy(void *state)
{
  struct walk *walk = state;
  if (walk != NULL)
    walk->context.device->ops->release(walk->context.device, walk->on_device);
  free(walk);
}

static void move(struct walk *walk)
{
  uint32_t word[4];
  gpumc_random_draw(gpumc_random_make(walk->context.seed, 0, walk->context.rounds), 0, 0,
                    (uint32_t)walk->row[STEP], gpumc_random_label(PURPOSE_COIN, 0), word);
  const double to = walk->row[BETA] + (word[0] & 1 ? walk->step : -walk->step);
  if (to >= 0 && to <= walk->most)
    walk->row[BETA] = to;
}

static enum gpumc_status advance(void *state, bool *finished, struct gpumc_error *error)
{
  struct walk *walk = state;
  const struct gpumc_context *context = &walk->context;
  const struct gpumc_model *model = context->model;
  const size_t tracked = model->ops->tracked;
  int64_t *channel[GPUMC_CHANNELS_MAXIMUM] = {NULL};
  double sum = 0;
  channel[tracked] = walk->on_device;
  if (walk->row[STEP] == 0)
    GPUMC_TRY(gpumc_ensemble_start(context->ensemble, 0, 1, REPLICAS, error));
  move(walk);
  GPUMC_TRY(gpumc_ensemble_sweep(context->ensemble, 1, walk->row[BETA], channel, error));
  GPUMC_TRY(context->device->ops->copy_to_host(context->device, walk->value, walk->on_device,
                                               sizeof walk->value, error));
  for (size_t r = 0; r < REPLICAS; r++)
    sum += (double)walk->value[r];
  walk->row[TRACKED] = sum * model->quantum[tracked] / (double)(REPLICAS * model->sites);
  *finished = ++walk->row[STEP] == walk->steps;
  return gpumc_recorder_append(context->recorder, walk->table, walk->row, error);
}

static void position(const void *state, struct gpumc_position *where)
{
  const struct walk *walk = state;
  const double fraction = walk->row[STEP] / walk->steps, beta = walk->row[BETA];
  *where = (struct gpumc_position){.fraction = fraction, .coordinate = "beta", .value = beta};
}

static enum gpumc_status
save(const void *state, struct gpumc_checkpoint_writer *writer, struct gpumc_error *error)
{
  const struct walk *walk = state;
  return gpumc_checkpoint_put(writer, "row", GPUMC_FLOAT64, 1, COLUMNS, walk->row, error);
}

static enum gpumc_status
load(void *state, struct gpumc_checkpoint_reader *reader, bool *finished, struct gpumc_error *error)
{
  struct walk *walk = state;
  GPUMC_TRY(
      gpumc_checkpoint_get_rows(reader, "row", GPUMC_FLOAT64, 0, 1, COLUMNS, walk->row, error));
  *finished = walk->row[STEP] == walk->steps;
  return GPUMC_OK;
}

static enum gpumc_status summarize(void *state, struct gpumc_error *error)
{
  const struct walk *walk = state;
  return gpumc_trust_record(&walk->context, false, error);
}

extern const struct gpumc_algorithm_ops gpumc_algorithm_random_walk;
const struct gpumc_algorithm_ops gpumc_algorithm_random_walk = {
    .name = "random_walk",
    .summary = "a random walk in the inverse temperature, to show what an algorithm is",
    .citation = "",
    .keys = keys,
    .required = GPUMC_OPERATION_START | GPUMC_OPERATION_SWEEP | GPUMC_OPERATION_MEASURE,
    .demand = demand,
    .create = create,
    .advance = advance,
    .position = position,
    .save = save,
    .load = load,
    .summarize = summarize,
    .destroy = destroy,
};
