/* Shares of an ensemble: replicas first .. first + count - 1 of each run by themselves are those of
 * the whole, bit for bit, after every start, sweeps by every move and target, walks, measurements
 * and comparisons; with samples of the disorder and generators of their own. For every kernel that
 * the registry has on the device under test. Controls: a share with a wrong position has other
 * replicas; so has one with other samples; the last one, if it takes the whole to be larger, counts
 * visits in other parts.
 *
 * CTest: cases 15 s */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/simulation/ensemble.h"
#include "core/simulation/registry.h"
#include "support/kernel_cases.h"
#include "support/lives.h"
#include "support/test_device.h"
#include "support/work_directory.h"

enum {
  REPLICAS = 100, /* three groups, and a part of a fourth */
  SHARES = 3,
  CASES_OF_KERNELS = 64
};

/* ---- comparisons ---- */

/* Divides a whole into shares that begin at multiples of the group. */
static size_t divide(const struct life_work *work, struct life_share share[SHARES])
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
      share[n++] =
          (struct life_share){begin[i], end - begin[i], begin[i], each ? begin[i] : 0, all, 0};
  }
  return n;
}

/* Returns how many rows of a share are those of the whole. */
static size_t same_rows(const struct life_rows *whole, const struct life_rows *part,
                        const struct life_share *share)
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

static void expect_shares(const struct life_work *work, const struct life_rows *whole,
                          const struct life_share *share, size_t shares)
{
  uint64_t *visits = calloc(whole->counts + 1, sizeof *visits);
  assert_non_null(visits);
  for (size_t i = 0; i < shares; i++) {
    struct life_rows part;
    life_record(work, &share[i], &part);
    const size_t same = same_rows(whole, &part, &share[i]);
    if (same != LIFE_RUNS * share[i].count)
      fail_msg("%s: of the %zu replicas of the share from %zu on, %zu are those of the whole",
               work->name, LIFE_RUNS * share[i].count, share[i].first, same);
    for (size_t k = 0; k < part.counts; k++)
      visits[k] += part.visits[k];
    life_free(&part);
  }
  for (size_t k = 0; k < whole->counts; k++)
    if (visits[k] != whole->visits[k])
      fail_msg("%s: visits differ at %zu: %llu in the shares, %llu in the whole", work->name, k,
               (unsigned long long)visits[k], (unsigned long long)whole->visits[k]);
  free(visits);
}

/* `wrong`: replicas of the whole that a share mistakes itself for. At most `most` of its rows may
 * be those of the whole. */
static void expect_others(const struct life_work *work, const struct life_rows *whole,
                          const struct life_share *wrong, size_t most, const char *what)
{
  struct life_rows part;
  life_record(work, wrong, &part);
  const size_t same = same_rows(whole, &part, wrong);
  if (same > most)
    fail_msg("%s: with a wrong %s, %zu of %zu replicas are those of the whole", work->name, what,
             same, part.runs * wrong->count);
  life_free(&part);
}

static void expect_other_parts(const struct life_work *work, const struct life_share *share)
{
  struct life_share wrong = *share;
  struct life_rows right, other;
  wrong.all = 2 * share->all;
  life_record(work, share, &right);
  life_record(work, &wrong, &other);
  if (memcmp(right.visits, other.visits, right.counts * sizeof *right.visits) == 0)
    fail_msg("%s: visits do not depend on what the whole is", work->name);
  life_free(&right);
  life_free(&other);
}

static void examine(const struct life_work *work, bool is_taken)
{
  struct life_share share[SHARES];
  struct life_rows whole;
  const size_t shares = divide(work, share);
  if (shares < 2 || !is_taken)
    return;
  life_record(work, NULL, &whole);
  expect_shares(work, &whole, share, shares);
  struct life_share wrong = share[1];
  wrong.number = 0;
  expect_others(work, &whole, &wrong, 0, "number of its first replica");
  if (work->model->disorder && !work->plan.sample_by_run) {
    wrong = share[1];
    wrong.sample = 0;
    expect_others(work, &whole, &wrong, wrong.count / 2, "number of its first sample");
  }
  if (work->target == GPUMC_TABULATED)
    expect_other_parts(work, &share[shares - 1]);
  life_free(&whole);
}

/* Examines the last run and its sample by itself, if runs have samples. */
static void examine_runs(const struct life_work *work)
{
  struct life_work swept = *work;
  struct life_share share = {0, work->plan.capacity, 0, 1, work->plan.capacity, LIFE_RUNS - 1};
  struct life_rows whole, part;
  swept.target = GPUMC_BOLTZMANN;
  swept.plan.compared = 0;
  life_record(&swept, NULL, &whole);
  life_record(&swept, &share, &part);
  const size_t same = same_rows(&whole, &part, &share);
  if (same != share.count)
    fail_msg("%s: of the %zu replicas of the last run, %zu are those of the whole", work->name,
             share.count, same);
  life_free(&part);
  share.sample = 0;
  expect_others(&swept, &whole, &share, share.count / 2, "number of its first sample");
  life_free(&whole);
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

/* By one move: the targets that it serves, and for Boltzmann weights every control. */
static void examine_move(const struct kernel_case *at, struct life_work *work)
{
  const struct gpumc_model *model = work->model;
  const struct gpumc_kernel_ops *kernel = work->kernel;
  const struct kernel_instance *instance = at->instance;
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
             instance->keys, kernel->variant, at->with, move->name, c);
    examine(work, at->is_taken);
    seen_of(kernel)->sweeps++;
  }
}

static void examine_walks(const struct kernel_case *at, struct life_work *work)
{
  const struct kernel_instance *instance = at->instance;
  const struct gpumc_model *model = work->model;
  work->plan.move = 0;
  work->plan.walks = true;
  work->target = GPUMC_TABULATED;
  if (model->disorder) {
    work->plan.samples = LIFE_RUNS;
    work->plan.sample_by_run = true;
  }
  for (size_t c = 0; c < WALK_CONTROLS; c++) {
    work->plan.moved = c;
    work->plan.levels = life_bins(model, c).levels + LIFE_RUNS - 1;
    work->value = instance->value[0];
    snprintf(work->name, sizeof work->name, "%s {%s}, %s, walk by channel %zu", model->ops->name,
             instance->keys, work->kernel->variant, c);
    examine(work, at->is_taken);
    if (model->disorder && at->is_taken)
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
  struct life_work work = {.kernel = kernel,
                           .model = model,
                           .plan = {.runs = LIFE_RUNS,
                                    .capacity = replicas,
                                    .samples = model->disorder ? replicas : 1,
                                    .channels = model->ops->n_channels,
                                    .compared = kernel->compare != NULL && has_pairs(model) ? 1 : 0,
                                    .options = at->options}};
  kernel_case_fix_controls(at, &work.plan);
  for (uint32_t move = 0; move < kernel->n_moves; move++) {
    work.plan.move = move;
    examine_move(at, &work);
  }
  if (kernel->walk != NULL && model->unwalkable == NULL)
    examine_walks(at, &work);
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

/* Requests a share from the first kernel of the model on the device with a group of its own. */
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
  expect_refusal(0, 32, 32, "cannot divide the replicas of a run: it does not declare");
  expect_refusal(32, 16, 32, "begins at number 16 of 100, only at multiples of 32");
  expect_refusal(32, 96, 32, "cannot have a share of 32 replicas that begins at number 96 of 100");
}

/* Walks share sites among the replicas of a group, whatever the kernel's own group. */
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
