/* A model and an algorithm that only count. */
#include "support/counting_plugins.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

/* The model. A replica is one byte: the number of sweeps it has had. */

static enum gpumc_status create_model(const struct gpumc_params *params, struct gpumc_model *model,
                                      struct gpumc_error *error)
{
  (void)params;
  (void)error;
  model->sites = 1;
  model->quantum[0] = 1;
  model->portable_bytes = 1;
  return GPUMC_OK;
}

static void destroy_model(struct gpumc_model *model)
{
  (void)model;
}

static size_t replica_bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                            const struct gpumc_ensemble_plan *plan)
{
  (void)model;
  (void)device;
  return plan->runs * plan->capacity;
}

static enum gpumc_status create_storage(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  return gpumc_allocate(ensemble->plan.runs * ensemble->plan.capacity, 1, "replicas",
                        &ensemble->storage, error);
}

static void destroy_storage(struct gpumc_ensemble *ensemble)
{
  free(ensemble->storage);
}

static uint8_t *replicas_of(const struct gpumc_ensemble *ensemble, size_t m)
{
  return (uint8_t *)ensemble->storage + m * ensemble->plan.capacity;
}

static enum gpumc_status start(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  (void)error;
  for (size_t m = 0; m < ensemble->runs; m++)
    memset(replicas_of(ensemble, m), 0, ensemble->size[m]);
  return GPUMC_OK;
}

static enum gpumc_status set(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                             const uint8_t *portable, struct gpumc_error *error)
{
  (void)error;
  memcpy(replicas_of(ensemble, m) + first, portable, count);
  return GPUMC_OK;
}

static enum gpumc_status get(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                             uint8_t *portable, struct gpumc_error *error)
{
  (void)error;
  memcpy(portable, replicas_of(ensemble, m) + first, count);
  return GPUMC_OK;
}

/* Adds m + 1 to every replica of run m for each sweep. */
static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, const struct gpumc_target *target,
                               uint32_t sweeps, int64_t *const *channel, struct gpumc_error *error)
{
  (void)target;
  (void)channel;
  (void)error;
  for (size_t m = 0; m < ensemble->runs; m++)
    for (size_t r = 0; r < ensemble->size[m]; r++)
      replicas_of(ensemble, m)[r] += (uint8_t)(sweeps * (m + 1));
  return GPUMC_OK;
}

struct gpumc_kernel_ops counting_kernel = {
    .device = "cpu",
    .variant = "count",
    .summary = "counts sweeps",
    .trajectory = "count.1",
    .bytes = replica_bytes,
    .create = create_storage,
    .destroy = destroy_storage,
    .start = start,
    .set = set,
    .get = get,
    .sweep = sweep,
};
static const struct gpumc_kernel_ops *const kernels[] = {&counting_kernel, NULL};
static const struct gpumc_key no_keys[] = {{0}};
static const struct gpumc_control controls[] = {
    {{"beta", "inverse temperature", "1", "β"}, .inverse_temperature = true}};
const struct gpumc_model_ops counting_model = {
    .name = "counter",
    .summary = "counts sweeps",
    .keys = no_keys,
    .controls = controls,
    .n_controls = 1,
    .kernels = kernels,
    .create = create_model,
    .destroy = destroy_model,
};

/* The algorithm: `units` units, each with one sweep of RUNS runs of different sizes. Unit `fail_at`
 * fails; the summary counts as the last unit. The sum of the last replicas of all runs is recorded,
 * one unit late, in an ordinary table and in a series. */

enum { RUNS = 3 };

struct counting {
  struct gpumc_context context;
  size_t table, series;
  int64_t unit, units, fail_at;
  bool pending; /* the previous unit's row */
  double row[2];
};

static const struct gpumc_key counting_keys[] = {
    {.name = "population", .type = GPUMC_KEY_INTEGER, .proportional = true, .multiple_of = 64},
    {.name = "units", .type = GPUMC_KEY_INTEGER},
    {.name = "fail_at", .type = GPUMC_KEY_INTEGER, .incidental = true},
    {0}};

static enum gpumc_status demand(const struct gpumc_params *params, const struct gpumc_model *model,
                                const struct gpumc_device *device,
                                const struct gpumc_spread *spread, struct gpumc_demand *wanted,
                                struct gpumc_error *error)
{
  (void)model;
  (void)device;
  (void)spread;
  (void)error;
  wanted->replicas = wanted->plan.capacity = (size_t)gpumc_params_integer(params, "population");
  wanted->plan.runs = RUNS;
  wanted->plan.samples = 1;
  return GPUMC_OK;
}

static enum gpumc_status
create(struct gpumc_context *context, void **state, struct gpumc_error *error)
{
  static const struct gpumc_column columns[] = {
      {.label = {"unit", "unit", "1", "u"}, .width = 1},
      {.label = {"sweeps", "sum over the last replicas", "1", "s"}, .width = 1},
  };
  struct counting *counting;
  enum gpumc_status status = gpumc_allocate_array(&counting, 1, "counting", error);
  if (status != GPUMC_OK)
    return status;
  counting->context = *context;
  counting->units = gpumc_params_integer(&context->params, "units");
  counting->fail_at = gpumc_params_integer(&context->params, "fail_at");
  *state = counting;
  status =
      gpumc_recorder_add_table(context->recorder, "runs/0000", columns, 2, &counting->table, error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_add_series(context->recorder, "series/0000", columns, 2,
                                       &counting->series, error);
  return status;
}

/* Starts runs that are full, one short of full, and half full. */
static enum gpumc_status begin_runs(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const uint32_t capacity = (uint32_t)ensemble->plan.capacity;
  const uint32_t sizes[RUNS] = {capacity, capacity > 1 ? capacity - 1 : 1, (capacity + 1) / 2};
  enum gpumc_status status =
      gpumc_ensemble_start(ensemble, 0, RUNS, ensemble->plan.capacity, error);
  return status == GPUMC_OK ? gpumc_ensemble_set_sizes(ensemble, sizes, error) : status;
}

static enum gpumc_status settle(void *state, struct gpumc_error *error)
{
  struct counting *counting = state;
  if (!counting->pending)
    return GPUMC_OK;
  struct gpumc_recorder *recorder = counting->context.recorder;
  counting->pending = false;
  enum gpumc_status status = gpumc_recorder_append(recorder, counting->table, counting->row, error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_append(recorder, counting->series, counting->row, error);
  return status;
}

static void observe(struct counting *counting)
{
  const struct gpumc_ensemble *ensemble = counting->context.ensemble;
  counting->row[0] = (double)counting->unit;
  counting->row[1] = 0;
  for (size_t m = 0; m < ensemble->runs; m++)
    counting->row[1] += replicas_of(ensemble, m)[ensemble->size[m] - 1];
  counting->pending = true;
}

static enum gpumc_status advance(void *state, bool *finished, struct gpumc_error *error)
{
  struct counting *counting = state;
  struct gpumc_ensemble *ensemble = counting->context.ensemble;
  enum gpumc_status status = settle(state, error);
  if (status == GPUMC_OK && counting->unit == counting->fail_at)
    return gpumc_error_set(error, GPUMC_FAILURE, "unit %lld fails", (long long)counting->unit);
  if (status == GPUMC_OK && counting->unit == 0)
    status = begin_runs(ensemble, error);
  if (status == GPUMC_OK)
    status = gpumc_ensemble_sweep(ensemble, 1, 0.0, NULL, error);
  if (status != GPUMC_OK)
    return status;
  counting->unit++;
  observe(counting);
  *finished = counting->unit == counting->units;
  return *finished ? settle(state, error) : GPUMC_OK;
}

static void position(const void *state, struct gpumc_position *where)
{
  const struct counting *counting = state;
  where->fraction = (double)counting->unit / (double)counting->units;
  where->coordinate = "unit";
  where->value = (double)counting->unit;
}

static enum gpumc_status
save(const void *state, struct gpumc_checkpoint_writer *writer, struct gpumc_error *error)
{
  const struct counting *counting = state;
  size_t n_rows;
  gpumc_recorder_rows(counting->context.recorder, counting->table, &n_rows);
  assert_int_equal(n_rows, counting->unit);
  assert_int_equal(gpumc_recorder_count(counting->context.recorder, counting->series), n_rows);
  return gpumc_checkpoint_put(writer, "unit", GPUMC_INT64, 1, 1, &counting->unit, error);
}

static enum gpumc_status
load(void *state, struct gpumc_checkpoint_reader *reader, bool *finished, struct gpumc_error *error)
{
  struct counting *counting = state;
  enum gpumc_status status =
      gpumc_checkpoint_get_rows(reader, "unit", GPUMC_INT64, 0, 1, 1, &counting->unit, error);
  *finished = counting->unit == counting->units;
  return status;
}

/* Checks that every unit has left its row and every sweep its count, however often the run was
 * stopped. */
static enum gpumc_status summarize(void *state, struct gpumc_error *error)
{
  struct counting *counting = state;
  size_t n_rows;
  const double *rows = gpumc_recorder_rows(counting->context.recorder, counting->table, &n_rows);
  assert_int_equal(n_rows, counting->units);
  assert_int_equal(gpumc_recorder_count(counting->context.recorder, counting->series), n_rows);
  for (size_t i = 0; i < n_rows; i++) {
    assert_int_equal((int)rows[2 * i], i + 1);
    assert_int_equal((int)rows[2 * i + 1], (1 + 2 + 3) * (i + 1));
  }
  if (counting->fail_at == counting->units)
    return gpumc_error_set(error, GPUMC_FAILURE, "the summary fails");
  return GPUMC_OK;
}

const struct gpumc_algorithm_ops counting_algorithm = {
    .name = "counting",
    .summary = "counts units",
    .keys = counting_keys,
    .required = GPUMC_OPERATION_SWEEP,
    .demand = demand,
    .create = create,
    .advance = advance,
    .settle = settle,
    .position = position,
    .save = save,
    .load = load,
    .summarize = summarize,
    .destroy = free,
};
