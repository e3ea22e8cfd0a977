/* The run itself, with a model and an algorithm that only count: starting, stopping, failing, going
 * on from a checkpoint, refusing what does not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/run.h"
#include "core/task_files.h"
#include "support/work_directory.h"

/* The model: a replica is one byte, how often it was swept. */

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

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
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

/* Run m counts m + 1 for every sweep. */
static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, uint32_t sweeps, const double *beta,
                               int64_t *const *channel, struct gpumc_error *error)
{
  (void)beta;
  (void)channel;
  (void)error;
  for (size_t m = 0; m < ensemble->runs; m++)
    for (size_t r = 0; r < ensemble->size[m]; r++)
      replicas_of(ensemble, m)[r] += (uint8_t)(sweeps * (m + 1));
  return GPUMC_OK;
}

/* Not constant: a later version of the program may have another trajectory. */
static struct gpumc_kernel_ops kernel = {
    .device = "cpu",
    .variant = "count",
    .summary = "counts sweeps",
    .trajectory = "count.1",
    .capabilities = GPUMC_CAN_RANDOMIZE | GPUMC_CAN_TRANSFER | GPUMC_CAN_SWEEP,
    .bytes = replica_bytes,
    .create = create_storage,
    .destroy = destroy_storage,
    .randomize = randomize,
    .set = set,
    .get = get,
    .sweep = sweep,
};
static const struct gpumc_kernel_ops *const kernels[] = {&kernel, NULL};
static const struct gpumc_key no_keys[] = {{0}};
static const struct gpumc_model_ops model_ops = {
    .name = "counter",
    .summary = "counts sweeps",
    .keys = no_keys,
    .kernels = kernels,
    .create = create_model,
    .destroy = destroy_model,
};

/* The algorithm: `units` units of one sweep of RUNS runs of different sizes; unit `fail_at` fails,
 * the summary being the last; the sum of all runs' last replicas is recorded, one unit late, in an
 * ordinary table and in a series. */

enum { RUNS = 3 };

struct counting {
  struct gpumc_context context;
  size_t table, series;
  int64_t unit, units, fail_at;
  bool pending; /* the row of the unit before */
  double row[2];
};

static const struct gpumc_key counting_keys[] = {
    {.name = "population", .type = GPUMC_KEY_INTEGER, .population = true, .multiple_of = 64},
    {.name = "units", .type = GPUMC_KEY_INTEGER},
    {.name = "fail_at", .type = GPUMC_KEY_INTEGER, .incidental = true},
    {0}};

static enum gpumc_status demand(const struct gpumc_params *params, const struct gpumc_model *model,
                                const struct gpumc_device *device, struct gpumc_demand *wanted,
                                struct gpumc_error *error)
{
  (void)model;
  (void)device;
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

/* Full, one less, half. */
static enum gpumc_status begin_runs(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const uint32_t capacity = (uint32_t)ensemble->plan.capacity;
  const uint32_t sizes[RUNS] = {capacity, capacity > 1 ? capacity - 1 : 1, (capacity + 1) / 2};
  enum gpumc_status status =
      gpumc_ensemble_randomize(ensemble, 0, RUNS, ensemble->plan.capacity, error);
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

/* Every unit must have left its row, and every sweep its count, however often the run was stopped.
 */
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

static const struct gpumc_algorithm_ops algorithm_ops = {
    .name = "counting",
    .summary = "counts units",
    .keys = counting_keys,
    .required = GPUMC_CAN_SWEEP,
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

/* A task by hand, and one run of it. */

struct attempt {
  int64_t population, units, fail_at;
  double max_seconds;
  bool fresh;
};

struct heard {
  char notes[1024];
  int units;
  volatile sig_atomic_t stop;
  int stop_after; /* units; 0: never */
};

static void hear(void *state, enum gpumc_message_level level, const char *text)
{
  struct heard *heard = state;
  (void)level;
  strncat(heard->notes, text, sizeof heard->notes - strlen(heard->notes) - 1);
}

static void count(void *state, const struct gpumc_position *where, double seconds)
{
  struct heard *heard = state;
  assert_true(where->fraction > 0 && where->fraction <= 1 && seconds >= 0);
  heard->units++;
  if (heard->units == heard->stop_after)
    heard->stop = 1;
}

static enum gpumc_status
attempt(const struct attempt *wanted, struct heard *heard, struct gpumc_error *error)
{
  char text[1024];
  snprintf(text, sizeof text,
           "{\"seed\": 1, \"rng\": \"philox4x32-10\", \"title\": \"\","
           " \"model\": {\"name\": \"counter\"}, \"algorithm\": {\"name\": \"counting\","
           " \"population\": %lld, \"units\": %lld, \"fail_at\": %lld},"
           " \"kernel\": {\"device\": \"cpu\", \"variant\": \"auto\", \"isa\": \"auto\"},"
           " \"output\": \"run.h5\", \"checkpoint\": {\"every\": 1e-9}}",
           (long long)wanted->population, (long long)wanted->units, (long long)wanted->fail_at);
  struct gpumc_config config = {.n_tasks = 1};
  struct gpumc_task task = {.resolved = cJSON_Parse(text),
                            .model = &model_ops,
                            .algorithm = &algorithm_ops,
                            .output = (char[]){"run.h5"},
                            .label = (char[]){""}};
  struct gpumc_observer observer = {heard, hear, count};
  struct gpumc_run_options options = {.threads = 1,
                                      .max_seconds = wanted->max_seconds,
                                      .fresh = wanted->fresh,
                                      .command_line = "test",
                                      .stop = &heard->stop,
                                      .observer = &observer};
  assert_non_null(task.resolved);
  enum gpumc_status status = gpumc_run_task(&config, &task, &options, error);
  cJSON_Delete(task.resolved);
  return status;
}

static void runs_to_the_end(void **state)
{
  struct gpumc_error error = {0};
  struct heard heard = {0};
  (void)state;
  assert_int_equal(attempt(&(struct attempt){64, 5, -1, 0, false}, &heard, &error), GPUMC_OK);
  assert_int_equal(heard.units, 5);
  assert_non_null(strstr(heard.notes, "run.h5: complete after"));
  assert_true(gpumc_file_exists("run.h5"));
  assert_false(gpumc_file_exists("run.h5.ckpt"));
  assert_false(gpumc_file_exists("run.h5.log"));
  assert_false(gpumc_file_exists("run.h5.partial"));
  assert_false(gpumc_file_exists("run.h5.status"));
  assert_false(gpumc_file_exists("run.h5.lock"));
}

/* More replicas than are copied at once, and sizes beside the multiples of the slice. */
static void goes_on_from_every_stop(void **state)
{
  static const int64_t populations[] = {1, 1023, 1024, 1025, 3000};
  (void)state;
  for (size_t p = 0; p < sizeof populations / sizeof *populations; p++) {
    enum gpumc_status status = GPUMC_STOPPED;
    int invocations = 0;
    while (status == GPUMC_STOPPED) {
      struct gpumc_error error = {0};
      struct heard heard = {.stop_after = 2};
      status = attempt(&(struct attempt){populations[p], 9, -1, 0, false}, &heard, &error);
      gpumc_error_free(&error);
      invocations++;
    }
    assert_int_equal(status, GPUMC_OK);
    assert_int_equal(invocations, 5);
    assert_int_equal(remove("run.h5"), 0);
  }
}

static void stops_before_the_first_unit(void **state)
{
  struct gpumc_error error = {0};
  struct heard heard = {.stop = 1};
  (void)state;
  assert_int_equal(attempt(&(struct attempt){64, 5, -1, 0, false}, &heard, &error), GPUMC_STOPPED);
  assert_int_equal(heard.units, 0);
  gpumc_error_free(&error);
  heard = (struct heard){0};
  assert_int_equal(attempt(&(struct attempt){64, 5, -1, 0, false}, &heard, &error), GPUMC_OK);
  assert_int_equal(heard.units, 5);
}

static void time_limit_leaves_one_unit_at_least(void **state)
{
  struct gpumc_error error = {0};
  struct heard heard = {0};
  (void)state;
  assert_int_equal(attempt(&(struct attempt){64, 5, -1, 1e-9, false}, &heard, &error),
                   GPUMC_STOPPED);
  assert_int_equal(heard.units, 1);
  gpumc_error_free(&error);
}

static void failure_is_told_and_the_checkpoint_stays(void **state)
{
  struct gpumc_error error = {0};
  struct heard heard = {0};
  struct gpumc_task task = {
      .model = &model_ops, .algorithm = &algorithm_ops, .output = (char[]){"run.h5"}};
  struct gpumc_task_report report;
  (void)state;
  assert_int_equal(attempt(&(struct attempt){64, 5, 3, 0, false}, &heard, &error), GPUMC_FAILURE);
  assert_string_equal(gpumc_error_text(&error), "unit 3 fails");
  gpumc_error_free(&error);
  gpumc_task_inspect(&task, &report);
  assert_int_equal(report.state, GPUMC_TASK_FAILED);
  assert_string_equal(report.message, "unit 3 fails");
  /* The checkpoint behind unit 2 is there: two units are left. `fail_at` decides no number. */
  heard = (struct heard){0};
  assert_int_equal(attempt(&(struct attempt){64, 5, -1, 0, false}, &heard, &error), GPUMC_OK);
  assert_int_equal(heard.units, 2);
  assert_non_null(strstr(heard.notes, "resuming at 60 %"));
}

static void failure_of_the_summary_leaves_all_units_done(void **state)
{
  struct gpumc_error error = {0};
  struct heard heard = {0};
  (void)state;
  assert_int_equal(attempt(&(struct attempt){64, 5, 5, 0, false}, &heard, &error), GPUMC_FAILURE);
  assert_string_equal(gpumc_error_text(&error), "the summary fails");
  gpumc_error_free(&error);
  /* Neither a stop nor the time limit keep a run from its end that has no unit left. */
  heard = (struct heard){.stop = 1};
  assert_int_equal(attempt(&(struct attempt){64, 5, -1, 1e-9, false}, &heard, &error), GPUMC_OK);
  assert_int_equal(heard.units, 0);
  assert_non_null(strstr(heard.notes, "resuming at 100 %"));
  assert_true(gpumc_file_exists("run.h5"));
  assert_false(gpumc_file_exists("run.h5.ckpt"));
}

/* Without its log a checkpoint is of no use, and stays; a fresh start needs neither. */
static void lost_log_is_told(void **state)
{
  struct gpumc_error error = {0};
  struct heard heard = {.stop_after = 2};
  (void)state;
  assert_int_equal(attempt(&(struct attempt){64, 5, -1, 0, false}, &heard, &error), GPUMC_STOPPED);
  gpumc_error_free(&error);
  assert_true(gpumc_file_exists("run.h5.log"));
  assert_int_equal(rename("run.h5.log", "elsewhere"), 0);
  heard = (struct heard){0};
  assert_int_equal(attempt(&(struct attempt){64, 5, -1, 0, false}, &heard, &error), GPUMC_FAILURE);
  assert_string_equal(
      gpumc_error_text(&error),
      "checkpoint run.h5.ckpt: run.h5.log: cannot open it: No such file or "
      "directory\nnothing was deleted: put a good copy in its place, choose another "
      "output, or start over with --fresh");
  gpumc_error_free(&error);
  assert_true(gpumc_file_exists("run.h5.ckpt"));
  assert_int_equal(rename("elsewhere", "run.h5.log"), 0);
  assert_int_equal(attempt(&(struct attempt){64, 5, -1, 0, true}, &heard, &error), GPUMC_OK);
  assert_int_equal(heard.units, 5);
  assert_false(gpumc_file_exists("run.h5.log"));
}

/* Somebody redirected the program's messages there, say. */
static void file_in_the_place_of_the_log_is_left_alone(void **state)
{
  struct gpumc_error error = {0};
  struct heard heard = {0};
  (void)state;
  write_file("run.h5.log", "my notes", 8);
  for (int fresh = 0; fresh < 2; fresh++) {
    assert_int_equal(attempt(&(struct attempt){64, 5, -1, 0, fresh}, &heard, &error),
                     GPUMC_FAILURE);
    assert_non_null(strstr(gpumc_error_text(&error), "run.h5.log: not a log of gpumc"));
    gpumc_error_free(&error);
    size_t size;
    unsigned char *bytes = file_bytes("run.h5.log", &size);
    assert_int_equal(size, 8);
    assert_memory_equal(bytes, "my notes", 8);
    free(bytes);
  }
}

static void refuses_another_configuration(void **state)
{
  struct gpumc_error error = {0};
  struct heard heard = {.stop_after = 2};
  (void)state;
  assert_int_equal(attempt(&(struct attempt){64, 5, -1, 0, false}, &heard, &error), GPUMC_STOPPED);
  gpumc_error_free(&error);
  heard = (struct heard){0};
  assert_int_equal(attempt(&(struct attempt){64, 6, -1, 0, false}, &heard, &error), GPUMC_INVALID);
  assert_non_null(strstr(gpumc_error_text(&error), "algorithm.units: 5 -> 6"));
  gpumc_error_free(&error);
}

static void refuses_another_trajectory(void **state)
{
  struct gpumc_error error = {0};
  struct heard heard = {.stop_after = 2};
  (void)state;
  assert_int_equal(attempt(&(struct attempt){64, 5, -1, 0, false}, &heard, &error), GPUMC_STOPPED);
  gpumc_error_free(&error);
  heard = (struct heard){0};
  kernel.trajectory = "count.2";
  enum gpumc_status status = attempt(&(struct attempt){64, 5, -1, 0, false}, &heard, &error);
  kernel.trajectory = "count.1";
  assert_int_equal(status, GPUMC_INVALID);
  assert_non_null(strstr(gpumc_error_text(&error), "the checkpoint was made with trajectory "
                                                   "count.1, this program has count.2: "));
  gpumc_error_free(&error);
  assert_int_equal(attempt(&(struct attempt){64, 5, -1, 0, false}, &heard, &error), GPUMC_OK);
  assert_int_equal(heard.units, 3);
}

static void refuses_what_does_not_fit(void **state)
{
  struct gpumc_error error = {0};
  struct heard heard = {0};
  long long largest;
  (void)state;
  const int64_t population = (int64_t)1 << 50;
  assert_int_equal(attempt(&(struct attempt){population, 1, -1, 0, false}, &heard, &error),
                   GPUMC_FAILURE);
  const char *text = strstr(gpumc_error_text(&error), "algorithm.population that fits is ");
  assert_non_null(text);
  assert_int_equal(sscanf(text, "algorithm.population that fits is %lld", &largest), 1);
  assert_int_equal(largest % 64, 0);
  assert_true(largest > 0 && largest < population);
  assert_false(gpumc_file_exists("run.h5.partial"));
  gpumc_error_free(&error);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(runs_to_the_end, work_directory_enter, work_directory_leave),
      cmocka_unit_test_setup_teardown(goes_on_from_every_stop, work_directory_enter,
                                      work_directory_leave),
      cmocka_unit_test_setup_teardown(stops_before_the_first_unit, work_directory_enter,
                                      work_directory_leave),
      cmocka_unit_test_setup_teardown(time_limit_leaves_one_unit_at_least, work_directory_enter,
                                      work_directory_leave),
      cmocka_unit_test_setup_teardown(failure_is_told_and_the_checkpoint_stays,
                                      work_directory_enter, work_directory_leave),
      cmocka_unit_test_setup_teardown(failure_of_the_summary_leaves_all_units_done,
                                      work_directory_enter, work_directory_leave),
      cmocka_unit_test_setup_teardown(lost_log_is_told, work_directory_enter, work_directory_leave),
      cmocka_unit_test_setup_teardown(file_in_the_place_of_the_log_is_left_alone,
                                      work_directory_enter, work_directory_leave),
      cmocka_unit_test_setup_teardown(refuses_another_configuration, work_directory_enter,
                                      work_directory_leave),
      cmocka_unit_test_setup_teardown(refuses_another_trajectory, work_directory_enter,
                                      work_directory_leave),
      cmocka_unit_test_setup_teardown(refuses_what_does_not_fit, work_directory_enter,
                                      work_directory_leave),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
