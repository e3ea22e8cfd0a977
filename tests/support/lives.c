#include "support/lives.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/status.h"
#include "support/test_device.h"

enum {
  FIRST_RUN = 3,
  SWEEPS = 4,
  STEPS = 12,
  PARTS = 2,
  BINS = 50 /* for a channel without levels */
};

/* ---- rows ---- */

/* Stores values[runs][replicas][bytes] in the rows. */
static void put(struct life_rows *rows, const void *values, size_t bytes)
{
  assert_true(rows->used + bytes <= rows->bytes);
  for (size_t i = 0; i < rows->runs * rows->replicas; i++)
    memcpy(rows->row + i * rows->bytes + rows->used, (const uint8_t *)values + i * bytes, bytes);
  rows->used += bytes;
}

static void put_replicas(struct life_rows *rows, struct gpumc_ensemble *ensemble)
{
  const size_t bytes = ensemble->model->portable_bytes;
  struct gpumc_error error = {0};
  uint8_t *portable = calloc(rows->runs * rows->replicas, bytes);
  assert_non_null(portable);
  for (size_t m = 0; m < rows->runs; m++)
    assert_ok(ensemble->ops->get(ensemble, m, 0, rows->replicas,
                                 portable + m * rows->replicas * bytes, &error),
              &error);
  put(rows, portable, bytes);
  free(portable);
}

static size_t state_bytes(const struct gpumc_ensemble *ensemble)
{
  return ensemble->ops->state_bytes != NULL ? ensemble->ops->state_bytes(ensemble) : 0;
}

static void put_states(struct life_rows *rows, struct gpumc_ensemble *ensemble)
{
  const size_t bytes = state_bytes(ensemble);
  struct gpumc_error error = {0};
  if (bytes == 0)
    return;
  uint8_t *state = calloc(rows->runs, bytes);
  assert_non_null(state);
  for (size_t m = 0; m < rows->runs; m++)
    assert_ok(ensemble->ops->get_state(ensemble, m, state + m * bytes, &error), &error);
  put(rows, state, bytes / rows->replicas);
  free(state);
}

/* Stores device memory, [runs][replicas][bytes]. */
static void
put_memory(struct life_rows *rows, struct gpumc_device *device, const void *memory, size_t bytes)
{
  struct gpumc_error error = {0};
  void *values = calloc(rows->runs * rows->replicas, bytes);
  assert_non_null(values);
  assert_ok(device->ops->copy_to_host(device, values, memory, rows->runs * rows->replicas * bytes,
                                      &error),
            &error);
  put(rows, values, bytes);
  free(values);
}

static void open_rows(struct life_rows *rows, const struct gpumc_ensemble *ensemble)
{
  const struct gpumc_model *model = ensemble->model;
  const size_t numbers = 2 * model->ops->n_channels + GPUMC_PAIRS_MAXIMUM + 1;
  *rows = (struct life_rows){.runs = ensemble->runs,
                             .replicas = ensemble->plan.capacity,
                             .bytes = 3 * model->portable_bytes + numbers * sizeof(int64_t) +
                                      state_bytes(ensemble) / ensemble->plan.capacity};
  rows->row = calloc(rows->runs * rows->replicas, rows->bytes);
  assert_non_null(rows->row);
}

void life_free(struct life_rows *rows)
{
  free(rows->row);
  free(rows->visits);
}

/* ---- a life ---- */

static void
open_channels(const struct gpumc_ensemble *ensemble, int64_t *channel[GPUMC_CHANNELS_MAXIMUM])
{
  struct gpumc_error error = {0};
  for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM; c++) {
    channel[c] = NULL;
    if (c < ensemble->model->ops->n_channels && ensemble->model->profile[c].width == 0)
      assert_ok(gpumc_device_array(ensemble->device, &channel[c],
                                   LIFE_RUNS * ensemble->plan.capacity, "channel", &error),
                &error);
  }
}

static void
put_channels(struct life_rows *rows, const struct gpumc_ensemble *ensemble, int64_t *const *channel)
{
  for (size_t c = 0; c < ensemble->model->ops->n_channels; c++)
    if (channel[c] != NULL)
      put_memory(rows, ensemble->device, channel[c], sizeof **channel);
}

static void sweep(const struct life_work *work, struct gpumc_ensemble *ensemble, size_t first_run,
                  struct life_rows *rows)
{
  const struct gpumc_target target = {.kind = work->target, .control = ensemble->control};
  int64_t *channel[GPUMC_CHANNELS_MAXIMUM];
  struct gpumc_error error = {0};
  for (size_t m = 0; m < rows->runs && work->plan.moved < GPUMC_CONTROL_NONE; m++)
    ensemble->control[m * work->model->ops->n_controls + work->plan.moved] =
        work->value * (1.0 + 0.1 * (double)(first_run + m));
  open_channels(ensemble, channel);
  assert_ok(gpumc_ensemble_sweep_target(ensemble, &target, SWEEPS, channel, &error), &error);
  put_channels(rows, ensemble, channel);
  assert_ok(gpumc_ensemble_sweep_target(ensemble, &target, SWEEPS, NULL, &error), &error);
  assert_ok(ensemble->ops->measure(ensemble, channel, &error), &error);
  put_channels(rows, ensemble, channel);
  for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM; c++)
    ensemble->device->ops->release(ensemble->device, channel[c]);
}

/* Compares run 0 with run 1; the results of run 1 are 0. */
static void compare(struct gpumc_ensemble *ensemble, struct life_rows *rows)
{
  int64_t *pair[GPUMC_PAIRS_MAXIMUM] = {NULL};
  struct gpumc_error error = {0};
  for (size_t kind = 0; kind < ensemble->model->ops->n_pairs; kind++)
    if (ensemble->model->pair[kind].unit != 0.0)
      assert_ok(gpumc_device_array(ensemble->device, &pair[kind],
                                   LIFE_RUNS * ensemble->plan.capacity, "pairs", &error),
                &error);
  assert_ok(ensemble->ops->compare(ensemble, 0, 1, 1, pair, &error), &error);
  for (size_t kind = 0; kind < GPUMC_PAIRS_MAXIMUM; kind++) {
    if (pair[kind] != NULL)
      put_memory(rows, ensemble->device, pair[kind], sizeof **pair);
    ensemble->device->ops->release(ensemble->device, pair[kind]);
  }
}

struct gpumc_grid life_bins(const struct gpumc_model *model, size_t channel)
{
  const int64_t width = (int64_t)(2.0 * model->bound[channel] / BINS);
  return gpumc_model_bins(model, channel, model->grid[channel].levels > 0 ? 0 : width);
}

static void
walk(const struct life_work *work, struct gpumc_ensemble *ensemble, struct life_rows *rows)
{
  struct walk_tables tables;
  struct gpumc_error error = {0};
  walk_tables_open(&tables, ensemble, work->plan.moved, life_bins(work->model, work->plan.moved),
                   PARTS, STEPS, work->plan.moved == 0 ? 0.0 : work->value, false);
  for (uint32_t i = 0; i < 2; i++)
    walk_tables_walk(&tables, i);
  put_memory(rows, ensemble->device, tables.table.passages, sizeof *tables.table.passages);
  rows->counts = tables.counts;
  rows->visits = calloc(tables.counts, sizeof *rows->visits);
  assert_non_null(rows->visits);
  assert_ok(ensemble->device->ops->copy_to_host(ensemble->device, rows->visits, tables.table.visits,
                                                tables.counts * sizeof *rows->visits, &error),
            &error);
  walk_tables_close(&tables);
}

void life_record(const struct life_work *work, const struct life_share *share,
                 struct life_rows *rows)
{
  struct gpumc_device device = test_device(test_setting());
  struct gpumc_ensemble_plan plan = work->plan;
  struct gpumc_ensemble ensemble;
  struct gpumc_error error = {0};
  const size_t first_run = share != NULL ? share->first_run : 0;
  if (share != NULL) {
    plan.runs = LIFE_RUNS - first_run;
    plan.capacity = share->count;
    plan.first_replica = share->number;
    plan.all_replicas = share->all;
    if (work->model->disorder) {
      plan.samples = plan.sample_by_run ? plan.runs : share->count;
      plan.first_sample = share->sample;
    }
  }
  assert_ok(gpumc_ensemble_create(work->kernel, work->model, &device, &plan, 20261125, 10,
                                  &ensemble, &error),
            &error);
  assert_ok(gpumc_ensemble_start(&ensemble, (uint32_t)(FIRST_RUN + first_run), plan.runs,
                                 plan.capacity, &error),
            &error);
  open_rows(rows, &ensemble);
  put_replicas(rows, &ensemble);
  put_states(rows, &ensemble);
  if (work->target == GPUMC_TABULATED)
    walk(work, &ensemble, rows);
  else
    sweep(work, &ensemble, first_run, rows);
  put_replicas(rows, &ensemble);
  if (work->plan.compared > 0)
    compare(&ensemble, rows);
  gpumc_ensemble_free(&ensemble);
}
