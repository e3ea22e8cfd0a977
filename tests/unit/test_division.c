/* Which part of an ensemble each process has: shares cover every replica once, begin at groups, are
 * even, and are consecutive in memory if the user relies on it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/simulation/division.h"
#include "support/status.h"

enum { RUNS_MAXIMUM = 9, PROCESSES_MAXIMUM = 40 };

static const enum gpumc_division every[] = {GPUMC_BY_RUNS, GPUMC_BY_PARTS, GPUMC_BY_REPLICAS};
static const size_t populations[] = {1, 2, 5, 32, 33, 100, 321};

/* Returns a number of processes that cannot communicate. */
static struct gpumc_processes several(int size)
{
  return (struct gpumc_processes){.module = {.size = size}};
}

static enum gpumc_status divide(enum gpumc_division division, size_t group,
                                const struct gpumc_processes *processes, size_t even,
                                struct gpumc_ensemble_plan *plan, struct gpumc_error *error)
{
  const enum gpumc_division divides[] = {division, GPUMC_UNDIVIDED};
  const struct gpumc_kernel_ops kernel = {.group = group};
  return gpumc_division_choose(divides, &kernel, even, processes, plan, error);
}

/* Counts how many shares hold each replica. */
static void count_holders(const struct gpumc_ensemble_plan *plan, size_t runs, uint8_t *holders)
{
  for (int p = 0; p < plan->processes->module.size; p++) {
    const struct gpumc_share share = gpumc_share_of(plan, runs, p);
    for (size_t m = share.first_run; m < share.first_run + share.runs; m++)
      for (size_t r = share.first_replica; r < share.first_replica + share.replicas; r++)
        holders[m * plan->capacity + r]++;
  }
}

static void check_cover(const struct gpumc_ensemble_plan *plan, size_t runs)
{
  uint8_t *holders = calloc(runs * plan->capacity, 1);
  assert_non_null(holders);
  count_holders(plan, runs, holders);
  for (size_t i = 0; i < runs * plan->capacity; i++)
    assert_int_equal(holders[i], 1);
  free(holders);
}

/* Checks shares that do not have a part of every run. */
static void check_order(const struct gpumc_ensemble_plan *plan, size_t runs)
{
  size_t end = 0;
  for (int p = 0; p < plan->processes->module.size; p++) {
    const struct gpumc_share share = gpumc_share_of(plan, runs, p);
    if (share.runs == 0)
      continue;
    assert_int_equal(share.first_run * plan->capacity + share.first_replica, end);
    end += share.runs * share.replicas;
  }
  assert_int_equal(end, runs * plan->capacity);
}

/* Checks the balance of the divided dimension, in groups. */
static void check_balance(const struct gpumc_ensemble_plan *plan, size_t runs)
{
  size_t least = SIZE_MAX, most = 0;
  for (int p = 0; p < plan->processes->module.size; p++) {
    const struct gpumc_share share = gpumc_share_of(plan, runs, p);
    const size_t groups = (share.replicas + plan->granule - 1) / plan->granule * share.runs;
    assert_int_equal(share.first_replica % plan->granule, 0);
    least = groups < least ? groups : least;
    most = groups > most ? groups : most;
  }
  assert_true(least > 0);
  /* Runs are whole if there are enough of them; otherwise a part belongs to one run, and the
   * numbers of processes per run differ by at most one. */
  if (plan->division == GPUMC_BY_REPLICAS)
    assert_true(most - least <= runs);
  else if ((size_t)plan->processes->module.size <= runs)
    assert_true(most - least <= (plan->capacity + plan->granule - 1) / plan->granule);
}

static void check_plans(const struct gpumc_ensemble_plan *plan)
{
  const struct gpumc_ensemble_plan largest = gpumc_share_largest(plan);
  for (int p = 0; p < plan->processes->module.size; p++) {
    const struct gpumc_share share = gpumc_share_of(plan, plan->runs, p);
    const struct gpumc_ensemble_plan own = gpumc_share_plan(plan, p);
    assert_true(own.runs >= share.runs);
    assert_int_equal(own.capacity, share.replicas);
    assert_int_equal(own.first_replica, share.first_replica);
    assert_int_equal(gpumc_plan_whole(&own), plan->capacity);
    assert_true(largest.capacity >= own.capacity && largest.runs >= own.runs);
    if (plan->samples > 1) {
      assert_int_equal(own.samples, own.capacity);
      assert_int_equal(own.first_sample, share.first_replica);
    }
    if (plan->division == GPUMC_BY_REPLICAS) { /* a process finds all shares from its own plan */
      const struct gpumc_share again = gpumc_share_of(&own, plan->runs, p);
      assert_memory_equal(&again, &share, sizeof again);
    }
  }
}

static void check(enum gpumc_division division, size_t runs, size_t capacity, size_t group)
{
  struct gpumc_error error = {0};
  for (int size = 2; size <= PROCESSES_MAXIMUM; size++) {
    const struct gpumc_processes processes = several(size);
    struct gpumc_ensemble_plan plan = {.runs = runs, .capacity = capacity, .samples = capacity};
    const size_t most = gpumc_division_most(division, &plan, group, capacity);
    const enum gpumc_status status = divide(division, group, &processes, capacity, &plan, &error);
    assert_int_equal(status, (size_t)size <= most ? GPUMC_OK : GPUMC_INVALID);
    gpumc_error_free(&error);
    if (status != GPUMC_OK)
      continue;
    assert_int_equal(plan.division, division);
    check_cover(&plan, runs);
    check_balance(&plan, runs);
    check_plans(&plan);
    if (division != GPUMC_BY_REPLICAS)
      for (size_t batch = 1; batch <= runs; batch++)
        check_order(&plan, batch);
  }
}

static void shares_cover_every_replica_once(void **unused)
{
  (void)unused;
  for (size_t d = 0; d < sizeof every / sizeof *every; d++)
    for (size_t runs = 1; runs <= RUNS_MAXIMUM; runs++)
      for (size_t i = 0; i < sizeof populations / sizeof *populations; i++) {
        check(every[d], runs, populations[i], 1);
        check(every[d], runs, populations[i], 32);
      }
}

/* Room beyond the usual replicas belongs to the last process. */
static void reserves_belong_to_the_last(void **unused)
{
  (void)unused;
  const struct gpumc_processes processes = several(4);
  struct gpumc_ensemble_plan plan = {.runs = 2, .capacity = 1300, .samples = 1};
  struct gpumc_error error = {0};
  assert_ok(divide(GPUMC_BY_REPLICAS, 1, &processes, 1000, &plan, &error), &error);
  for (int p = 0; p < 4; p++) {
    const struct gpumc_share share = gpumc_share_of(&plan, 2, p);
    assert_int_equal(share.first_replica, 250 * p);
    assert_int_equal(share.replicas, p < 3 ? 250 : 550);
  }
  check_cover(&plan, 2);
}

static void the_first_division_with_a_share_for_each_is_taken(void **unused)
{
  (void)unused;
  static const enum gpumc_division divides[] = {GPUMC_BY_RUNS, GPUMC_BY_REPLICAS, GPUMC_UNDIVIDED};
  static const struct {
    int processes;
    size_t group;
    bool sample_by_run;
    enum gpumc_division expected;
  } cases[] = {
      {1, 32, false, GPUMC_UNDIVIDED},   {3, 32, false, GPUMC_BY_RUNS},
      {4, 32, false, GPUMC_BY_REPLICAS}, {3, 32, true, GPUMC_BY_REPLICAS},
      {3, 0, false, GPUMC_BY_RUNS},      {3, 0, true, GPUMC_UNDIVIDED},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct gpumc_processes processes = several(cases[i].processes);
    const struct gpumc_kernel_ops kernel = {.group = cases[i].group};
    struct gpumc_ensemble_plan plan = {
        .runs = 3, .capacity = 200, .samples = 1, .sample_by_run = cases[i].sample_by_run};
    struct gpumc_error error = {0};
    assert_ok(gpumc_division_choose(divides, &kernel, 200, &processes, &plan, &error), &error);
    assert_int_equal(plan.division, cases[i].expected);
  }
}

/* If runs are compared with those of others, there is room for one of these at a time. */
static void compared_runs_have_room_for_one_more(void **unused)
{
  (void)unused;
  const struct gpumc_processes processes = several(4);
  struct gpumc_ensemble_plan plan = {.runs = 10, .capacity = 200, .samples = 1};
  struct gpumc_error error = {0};
  assert_ok(divide(GPUMC_BY_RUNS, 32, &processes, 200, &plan, &error), &error);
  assert_int_equal(gpumc_share_plan(&plan, 1).runs, 3);
  plan.compared = 5;
  for (int p = 0; p < 4; p++)
    assert_true(gpumc_share_plan(&plan, p).runs > gpumc_share_of(&plan, plan.runs, p).runs);
  assert_int_equal(gpumc_share_largest(&plan).runs, 4);
  assert_ok(divide(GPUMC_BY_REPLICAS, 32, &processes, 200, &plan, &error), &error);
  assert_int_equal(gpumc_share_plan(&plan, 0).runs, 10);
}

/* Clusters are exchanged between runs, which therefore stay together. */
static void runs_that_exchange_clusters_are_not_divided(void **unused)
{
  (void)unused;
  static const enum gpumc_division divides[] = {GPUMC_BY_RUNS, GPUMC_BY_REPLICAS, GPUMC_UNDIVIDED};
  const struct gpumc_kernel_ops kernel = {.group = 32};
  struct gpumc_ensemble_plan plan = {.runs = 10, .capacity = 64, .samples = 1, .clusters = true};
  struct gpumc_processes processes = several(2);
  struct gpumc_error error = {0};
  assert_ok(gpumc_division_choose(divides, &kernel, 64, &processes, &plan, &error), &error);
  assert_int_equal(plan.division, GPUMC_BY_REPLICAS);
  processes = several(3);
  assert_int_equal(gpumc_division_choose(divides, &kernel, 64, &processes, &plan, &error),
                   GPUMC_INVALID);
  assert_non_null(strstr(gpumc_error_text(&error), "among at most 2"));
  gpumc_error_free(&error);
}

static void too_many_processes_are_refused(void **unused)
{
  (void)unused;
  const struct gpumc_processes processes = several(8);
  struct gpumc_ensemble_plan plan = {.runs = 3, .capacity = 200, .samples = 1};
  struct gpumc_error error = {0};
  assert_int_equal(divide(GPUMC_BY_REPLICAS, 32, &processes, 200, &plan, &error), GPUMC_INVALID);
  assert_non_null(strstr(gpumc_error_text(&error), "8 processes, but"));
  assert_non_null(strstr(gpumc_error_text(&error), "among at most 7"));
  gpumc_error_free(&error);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shares_cover_every_replica_once),
      cmocka_unit_test(reserves_belong_to_the_last),
      cmocka_unit_test(the_first_division_with_a_share_for_each_is_taken),
      cmocka_unit_test(compared_runs_have_room_for_one_more),
      cmocka_unit_test(runs_that_exchange_clusters_are_not_divided),
      cmocka_unit_test(too_many_processes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
