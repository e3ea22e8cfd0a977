/* Shares of an ensemble: replicas first .. first + count - 1 of each run by themselves are those of
 * the whole, bit for bit, after every start, sweeps by every move and target, walks, measurements
 * and comparisons; with samples of the disorder and generators of their own. Of every kernel that
 * the registry has on the device under test. Controls: a share that believes to stand elsewhere has
 * other replicas; one that takes other samples, too; the last one, should it believe that the whole
 * is larger, counts visits in other parts.
 *
 * A life is recorded replica by replica, in rows: all that is known of one, one after the other. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/simulation/ensemble.h"
#include "core/simulation/registry.h"
#include "support/kernel_cases.h"
#include "support/status.h"
#include "support/test_device.h"
#include "support/walk_tables.h"
#include "support/work_directory.h"

enum {
  RUNS = WALK_RUNS,
  FIRST_RUN = 3,
  REPLICAS = 100, /* three groups, and a part of a fourth */
  SWEEPS = 4,
  STEPS = 12,
  PARTS = 2,
  BINS = 50, /* of a channel without levels */
  SHARES = 3,
  CASES_OF_KERNELS = 64
};

/* ---- what is done, and rows of what is seen ---- */

/* `plan`: of the whole. */
struct work {
  const struct gpumc_kernel_ops *kernel;
  const struct gpumc_model *model;
  struct gpumc_ensemble_plan plan;
  enum gpumc_target_kind target; /* tabulated: it walks, by channel plan.moved */
  double value;                  /* of the moved control */
  char name[256];
};

/* Replicas first .. first + count - 1 of the whole, who take themselves for those from `number` on
 * of `all`, with the samples from number `sample` on; of the runs from first_run on. */
struct share {
  size_t first, count, number, sample, all, first_run;
};

struct rows {
  size_t runs, replicas, bytes, used; /* of each run; of a row */
  uint8_t *row;                       /* [runs][replicas][bytes] */
  size_t counts;
  uint64_t *visits; /* [counts]; NULL: no walk */
};

/* values[runs][replicas][bytes] */
static void put(struct rows *rows, const void *values, size_t bytes)
{
  assert_true(rows->used + bytes <= rows->bytes);
  for (size_t i = 0; i < rows->runs * rows->replicas; i++)
    memcpy(rows->row + i * rows->bytes + rows->used, (const uint8_t *)values + i * bytes, bytes);
  rows->used += bytes;
}

static void put_replicas(struct rows *rows, struct gpumc_ensemble *ensemble)
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

static void put_states(struct rows *rows, struct gpumc_ensemble *ensemble)
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

/* Device memory, [runs][replicas][bytes]. */
static void
put_memory(struct rows *rows, struct gpumc_device *device, const void *memory, size_t bytes)
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

static void open_rows(struct rows *rows, const struct gpumc_ensemble *ensemble)
{
  const struct gpumc_model *model = ensemble->model;
  const size_t numbers = 2 * model->ops->n_channels + GPUMC_PAIRS_MAXIMUM + 1;
  *rows = (struct rows){.runs = ensemble->runs,
                        .replicas = ensemble->plan.capacity,
                        .bytes = 3 * model->portable_bytes + numbers * sizeof(int64_t) +
                                 state_bytes(ensemble) / ensemble->plan.capacity};
  rows->row = calloc(rows->runs * rows->replicas, rows->bytes);
  assert_non_null(rows->row);
}

static void close_rows(struct rows *rows)
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
      assert_ok(gpumc_device_array(ensemble->device, &channel[c], RUNS * ensemble->plan.capacity,
                                   "channel", &error),
                &error);
  }
}

static void
put_channels(struct rows *rows, const struct gpumc_ensemble *ensemble, int64_t *const *channel)
{
  for (size_t c = 0; c < ensemble->model->ops->n_channels; c++)
    if (channel[c] != NULL)
      put_memory(rows, ensemble->device, channel[c], sizeof **channel);
}

static void
sweep(const struct work *work, struct gpumc_ensemble *ensemble, size_t first_run, struct rows *rows)
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

/* Run 0 with run 1; of run 1 the results are 0. */
static void compare(struct gpumc_ensemble *ensemble, struct rows *rows)
{
  int64_t *pair[GPUMC_PAIRS_MAXIMUM] = {NULL};
  struct gpumc_error error = {0};
  for (size_t kind = 0; kind < ensemble->model->ops->n_pairs; kind++)
    if (ensemble->model->pair[kind].unit != 0.0)
      assert_ok(gpumc_device_array(ensemble->device, &pair[kind], RUNS * ensemble->plan.capacity,
                                   "pairs", &error),
                &error);
  assert_ok(ensemble->ops->compare(ensemble, 0, 1, 1, pair, &error), &error);
  for (size_t kind = 0; kind < GPUMC_PAIRS_MAXIMUM; kind++) {
    if (pair[kind] != NULL)
      put_memory(rows, ensemble->device, pair[kind], sizeof **pair);
    ensemble->device->ops->release(ensemble->device, pair[kind]);
  }
}

static struct gpumc_grid bins_of(const struct gpumc_model *model, size_t channel)
{
  const int64_t width = (int64_t)(2.0 * model->bound[channel] / BINS);
  return gpumc_model_bins(model, channel, model->grid[channel].levels > 0 ? 0 : width);
}

static void walk(const struct work *work, struct gpumc_ensemble *ensemble, struct rows *rows)
{
  struct walk_tables tables;
  struct gpumc_error error = {0};
  walk_tables_open(&tables, ensemble, work->plan.moved, bins_of(work->model, work->plan.moved),
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

/* The whole where `share` is NULL. */
static void live(const struct work *work, const struct share *share, struct rows *rows)
{
  struct gpumc_device device = test_device(test_setting());
  struct gpumc_ensemble_plan plan = work->plan;
  struct gpumc_ensemble ensemble;
  struct gpumc_error error = {0};
  const size_t first_run = share != NULL ? share->first_run : 0;
  if (share != NULL) {
    plan.runs = RUNS - first_run;
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

/* ---- comparisons ---- */

/* Shares of a whole, of which each begins at a multiple of the group. */
static size_t divide(const struct work *work, struct share share[SHARES])
{
  const bool each = work->model->disorder && !work->plan.sample_by_run;
  const size_t group = gpumc_plan_group(work->kernel, &work->plan), all = work->plan.capacity;
  const size_t begin[SHARES + 1] = {0, group, group + (all - group) / 2 / group * group, all};
  size_t n = 0;
  if (group == 0)
    fail_msg("%s: the kernel does not declare `group`", work->name);
  for (size_t i = 0; i < SHARES && begin[i] < all; i++) {
    const size_t end = begin[i + 1] < all ? begin[i + 1] : all;
    if (end > begin[i])
      share[n++] = (struct share){begin[i], end - begin[i], begin[i], each ? begin[i] : 0, all, 0};
  }
  return n;
}

/* Rows of a share that are those of the whole. */
static size_t
same_rows(const struct rows *whole, const struct rows *part, const struct share *share)
{
  size_t same = 0;
  assert_int_equal(part->used, whole->used);
  for (size_t m = 0; m < part->runs; m++)
    for (size_t r = 0; r < part->replicas; r++)
      same += memcmp(part->row + (m * part->replicas + r) * part->bytes,
                     whole->row + ((share->first_run + m) * whole->replicas + share->first + r) *
                                      whole->bytes,
                     whole->used) == 0;
  return same;
}

static void expect_shares(const struct work *work, const struct rows *whole,
                          const struct share *share, size_t shares)
{
  uint64_t *visits = calloc(whole->counts + 1, sizeof *visits);
  assert_non_null(visits);
  for (size_t i = 0; i < shares; i++) {
    struct rows part;
    live(work, &share[i], &part);
    const size_t same = same_rows(whole, &part, &share[i]);
    if (same != RUNS * share[i].count)
      fail_msg("%s: of the %zu replicas of the share from %zu on, %zu are those of the whole",
               work->name, RUNS * share[i].count, share[i].first, same);
    for (size_t k = 0; k < part.counts; k++)
      visits[k] += part.visits[k];
    close_rows(&part);
  }
  for (size_t k = 0; k < whole->counts; k++)
    if (visits[k] != whole->visits[k])
      fail_msg("%s: visits differ at %zu: %llu in the shares, %llu in the whole", work->name, k,
               (unsigned long long)visits[k], (unsigned long long)whole->visits[k]);
  free(visits);
}

/* `wrong`: replicas of the whole that a share takes itself for something else. At most `most` of
 * its rows may be those of the whole. */
static void expect_others(const struct work *work, const struct rows *whole,
                          const struct share *wrong, size_t most, const char *what)
{
  struct rows part;
  live(work, wrong, &part);
  const size_t same = same_rows(whole, &part, wrong);
  if (same > most)
    fail_msg("%s: with a wrong %s, %zu of %zu replicas are those of the whole", work->name, what,
             same, part.runs * wrong->count);
  close_rows(&part);
}

static void expect_other_parts(const struct work *work, const struct share *share)
{
  struct share wrong = *share;
  struct rows right, other;
  wrong.all = 2 * share->all;
  live(work, share, &right);
  live(work, &wrong, &other);
  if (memcmp(right.visits, other.visits, right.counts * sizeof *right.visits) == 0)
    fail_msg("%s: visits do not depend on what the whole is", work->name);
  close_rows(&right);
  close_rows(&other);
}

static void examine(const struct work *work)
{
  struct share share[SHARES];
  struct rows whole;
  const size_t shares = divide(work, share);
  if (shares < 2)
    return;
  live(work, NULL, &whole);
  expect_shares(work, &whole, share, shares);
  struct share wrong = share[1];
  wrong.number = 0;
  expect_others(work, &whole, &wrong, 0, "number of its first replica");
  if (work->model->disorder && !work->plan.sample_by_run) {
    wrong = share[1];
    wrong.sample = 0;
    expect_others(work, &whole, &wrong, wrong.count / 2, "number of its first sample");
  }
  if (work->target == GPUMC_TABULATED)
    expect_other_parts(work, &share[shares - 1]);
  close_rows(&whole);
}

/* The last run and its sample by itself, where runs have samples. */
static void examine_runs(const struct work *work)
{
  struct work swept = *work;
  struct share share = {0, work->plan.capacity, 0, 1, work->plan.capacity, RUNS - 1};
  struct rows whole, part;
  swept.target = GPUMC_BOLTZMANN;
  swept.plan.compared = 0;
  live(&swept, NULL, &whole);
  live(&swept, &share, &part);
  const size_t same = same_rows(&whole, &part, &share);
  if (same != share.count)
    fail_msg("%s: of the %zu replicas of the last run, %zu are those of the whole", work->name,
             share.count, same);
  close_rows(&part);
  share.sample = 0;
  expect_others(&swept, &whole, &share, share.count / 2, "number of its first sample");
  close_rows(&whole);
}

/* ---- every kernel ---- */

/* How often a kernel was examined, by sweeps and by walks. */
struct seen {
  const struct gpumc_kernel_ops *kernel;
  size_t sweeps, walks;
};
static struct seen seen[CASES_OF_KERNELS];

static struct seen *seen_of(const struct gpumc_kernel_ops *kernel)
{
  struct seen *of = seen;
  while (of->kernel != NULL && of->kernel != kernel)
    of++;
  assert_true(of < seen + CASES_OF_KERNELS);
  of->kernel = kernel;
  return of;
}

/* By one move: the targets that it serves, and of Boltzmann weights every control. */
static void
examine_move(const struct kernel_instance *instance, struct work *work, const char *with)
{
  const struct gpumc_model *model = work->model;
  const struct gpumc_kernel_ops *kernel = work->kernel;
  const struct gpumc_move *move = &kernel->moves[work->plan.move];
  for (size_t c = 0; c <= model->ops->n_controls; c++) {
    struct gpumc_error error = {0};
    const bool none = c == model->ops->n_controls;
    work->target = none ? GPUMC_ATHERMAL : GPUMC_BOLTZMANN;
    work->plan.moved = none ? GPUMC_CONTROL_NONE : c;
    work->value = none ? 0.0 : instance->value[c];
    if (!gpumc_move_serves(move, work->target) || (!none && model->immovable[c] != NULL))
      continue;
    if (!none && kernel->check_value != NULL &&
        kernel->check_value(model, &work->plan.options, c, work->value, &error) != GPUMC_OK) {
      gpumc_error_free(&error);
      continue;
    }
    snprintf(work->name, sizeof work->name, "%s {%s}, %s {%s}, %s, control %zu", model->ops->name,
             instance->keys, kernel->variant, with, move->name, c);
    examine(work);
    seen_of(kernel)->sweeps++;
  }
}

static void examine_walks(const struct kernel_instance *instance, struct work *work)
{
  const struct gpumc_model *model = work->model;
  work->plan.move = 0;
  work->plan.walks = true;
  work->target = GPUMC_TABULATED;
  if (model->disorder) {
    work->plan.samples = RUNS;
    work->plan.sample_by_run = true;
  }
  for (size_t c = 0; c < WALK_CONTROLS; c++) {
    work->plan.moved = c;
    work->plan.levels = bins_of(model, c).levels + RUNS - 1;
    work->value = instance->value[0];
    snprintf(work->name, sizeof work->name, "%s {%s}, %s, walk by channel %zu", model->ops->name,
             instance->keys, work->kernel->variant, c);
    examine(work);
    if (model->disorder)
      examine_runs(work);
    seen_of(work->kernel)->walks++;
  }
}

static bool has_pairs(const struct gpumc_model *model)
{
  bool has = false;
  for (size_t kind = 0; kind < model->ops->n_pairs; kind++)
    has = has || model->pair[kind].unit != 0.0;
  return has;
}

static void examine_case(const struct kernel_case *at)
{
  const struct gpumc_model *model = at->model;
  const struct gpumc_kernel_ops *kernel = at->kernel;
  const size_t replicas = at->instance->replicas > 0 ? at->instance->replicas : REPLICAS;
  struct work work = {.kernel = kernel,
                      .model = model,
                      .plan = {.runs = RUNS,
                               .capacity = replicas,
                               .samples = model->disorder ? replicas : 1,
                               .channels = model->ops->n_channels,
                               .compared = kernel->compare != NULL && has_pairs(model) ? 1 : 0,
                               .options = at->options}};
  kernel_case_fix_controls(at, &work.plan);
  for (uint32_t move = 0; move < kernel->n_moves; move++) {
    work.plan.move = move;
    examine_move(at->instance, &work, at->with);
  }
  if (kernel->walk != NULL && model->unwalkable == NULL)
    examine_walks(at->instance, &work);
}

static void replicas_of_shares_are_those_of_the_whole(void **state)
{
  (void)state;
  kernel_cases_each(examine_case);
  for (const struct gpumc_model_ops *const *model = gpumc_models(); *model != NULL; model++)
    for (const struct gpumc_kernel_ops *const *kernel = (*model)->kernels; *kernel != NULL;
         kernel++) {
      const struct seen *of = seen_of(*kernel);
      if (kernel_is_examined(*kernel) &&
          (of->sweeps == 0 || ((*kernel)->walk != NULL && of->walks == 0)))
        fail_msg("no instance of this test is for kernel %s of model %s", (*kernel)->variant,
                 (*model)->name);
    }
}

/* The first kernel of the model on the device, with a group of its own, is asked for a share. */
static void expect_refusal(size_t group, size_t first, size_t count, const char *message)
{
  struct gpumc_device device = test_device(test_setting());
  struct gpumc_ensemble_plan plan = {
      .runs = 1, .capacity = count, .samples = 1, .first_replica = first, .all_replicas = REPLICAS};
  struct gpumc_model model;
  struct gpumc_ensemble ensemble;
  struct gpumc_error error = {0};
  kernel_instance_open(&kernel_instances[0], &model);
  const struct gpumc_kernel_ops *const *kernel = model.ops->kernels;
  while (!kernel_is_examined(*kernel))
    kernel++;
  struct gpumc_kernel_ops other = **kernel;
  other.group = group;
  assert_int_equal(gpumc_ensemble_create(&other, &model, &device, &plan, 1, 10, &ensemble, &error),
                   GPUMC_INVALID);
  if (strstr(gpumc_error_text(&error), message) == NULL)
    fail_msg("\"%s\" is not in: %s", message, gpumc_error_text(&error));
  gpumc_error_free(&error);
  model.ops->destroy(&model);
}

static void what_is_no_share_is_refused(void **state)
{
  (void)state;
  expect_refusal(0, 32, 32, "does not divide the replicas of a run: it does not declare");
  expect_refusal(32, 16, 32, "begins at number 16 of 100, but at multiples of 32");
  expect_refusal(32, 96, 32, "no share of 32 replicas that begins at number 96 of 100");
}

/* Walks share sites among the replicas of a group, whatever the kernel's own. */
static void groups_of_walks_are_at_least_those_of_their_sites(void **state)
{
  const struct gpumc_ensemble_plan sweeps = {.runs = 1}, walks = {.runs = 1, .walks = true};
  (void)state;
  for (size_t group = 0; group <= 2 * GPUMC_WALK_GROUP; group = group == 0 ? 1 : 2 * group) {
    const struct gpumc_kernel_ops kernel = {.group = group};
    assert_int_equal(gpumc_plan_group(&kernel, &sweeps), group);
    assert_int_equal(gpumc_plan_group(&kernel, &walks),
                     group == 0 || group > GPUMC_WALK_GROUP ? group : GPUMC_WALK_GROUP);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(replicas_of_shares_are_those_of_the_whole,
                                      work_directory_enter, work_directory_leave),
      cmocka_unit_test_setup_teardown(what_is_no_share_is_refused, work_directory_enter,
                                      work_directory_leave),
      cmocka_unit_test(groups_of_walks_are_at_least_those_of_their_sites),
  };
  test_device_require();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
