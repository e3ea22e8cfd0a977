/* Moves that take turns: which one makes a sweep, the same states as by single sweeps made by hand,
 * and means of costs and proposals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/simulation/shared_keys.h"
#include "models/ising/ising_channels.h"
#include "support/ising_fixture.h"
#include "support/status.h"

enum { RUNS = 2, REPLICAS = 5, SWEEPS = 11 };
static const size_t shape[] = {64, 16};

/* Two sweeps by Metropolis, then one by the heat bath. */
static const struct gpumc_turn turns[] = {{ISING_MOVE_METROPOLIS, 2}, {ISING_MOVE_HEAT_BATH, 1}};

static void set_turns(struct gpumc_ensemble_plan *plan, const struct gpumc_turn *turn, size_t count)
{
  memcpy(plan->turn, turn, count * sizeof *turn);
  plan->n_turns = count;
  plan->move = turn[0].move;
}

static void
open_runs(struct ising_fixture *fixture, const struct gpumc_kernel_ops *kernel, uint32_t move)
{
  struct ising_case with = fixture_case(kernel, 2, shape, REPLICAS);
  with.runs = RUNS;
  with.update = (enum ising_move)move;
  fixture_open(fixture, &with);
  fixture_randomize(fixture, &with, REPLICAS);
}

/* Sweeps in pieces of `piece` sweeps at two temperatures, one of which changes on the way. */
static void sweep(struct ising_fixture *fixture, uint32_t piece)
{
  for (uint32_t left = SWEEPS, part; left > 0; left -= part) {
    const double beta[RUNS] = {0.3, fixture->ensemble.time < 8 ? 0.5 : 0.4};
    part = piece < left ? piece : left;
    if (fixture->ensemble.time < 8 && fixture->ensemble.time + part > 8)
      part = 8 - fixture->ensemble.time;
    fixture_sweep_each(fixture, part, beta);
  }
}

/* Returns all states in portable form, which the caller frees. */
static uint8_t *states_of(struct ising_fixture *fixture)
{
  struct gpumc_error error = {0};
  const size_t bytes = fixture->model.portable_bytes;
  uint8_t *states = malloc(RUNS * REPLICAS * bytes);
  assert_non_null(states);
  for (size_t m = 0; m < RUNS; m++)
    assert_ok(fixture->ensemble.ops->get(&fixture->ensemble, m, 0, REPLICAS,
                                         states + m * REPLICAS * bytes, &error),
              &error);
  return states;
}

/* Copies all states, the time and the generators, if there are any, from one ensemble to another.
 */
static void hand_over(struct ising_fixture *from, struct ising_fixture *to)
{
  struct gpumc_error error = {0};
  const struct gpumc_kernel_ops *ops = from->ensemble.ops;
  const size_t bytes = ops->state_bytes != NULL ? ops->state_bytes(&from->ensemble) : 0;
  uint8_t *states = states_of(from), *generators = malloc(bytes + 1);
  assert_non_null(generators);
  for (size_t m = 0; m < RUNS; m++) {
    assert_ok(ops->set(&to->ensemble, m, 0, REPLICAS,
                       states + m * REPLICAS * from->model.portable_bytes, &error),
              &error);
    if (bytes > 0) {
      assert_ok(ops->get_state(&from->ensemble, m, generators, &error), &error);
      assert_ok(ops->set_state(&to->ensemble, m, generators, &error), &error);
    }
  }
  to->ensemble.time = from->ensemble.time;
  free(generators);
  free(states);
}

/* Returns the states after single sweeps in two ensembles, each of which knows one move alone, and
 * nothing that it may keep between sweeps is of the other's. */
static uint8_t *states_by_hand(const struct gpumc_kernel_ops *kernel, const struct gpumc_turn *by)
{
  struct ising_fixture fixture[2];
  size_t last = 0;
  for (size_t i = 0; i < 2; i++)
    open_runs(&fixture[i], kernel, by[i].move);
  for (uint32_t time = 0; time < SWEEPS; time++) {
    const double beta[RUNS] = {0.3, time < 8 ? 0.5 : 0.4};
    const size_t now = time % (by[0].sweeps + by[1].sweeps) < by[0].sweeps ? 0 : 1;
    if (now != last)
      hand_over(&fixture[last], &fixture[now]);
    fixture_sweep_each(&fixture[now], 1, beta);
    last = now;
  }
  uint8_t *states = states_of(&fixture[last]);
  for (size_t i = 0; i < 2; i++)
    fixture_close(&fixture[i]);
  return states;
}

static uint8_t *states_after(const struct gpumc_kernel_ops *kernel, uint32_t piece,
                             const struct gpumc_turn *by, size_t *bytes)
{
  struct ising_fixture fixture;
  open_runs(&fixture, kernel, by[0].move);
  set_turns(&fixture.ensemble.plan, by, 2);
  sweep(&fixture, piece);
  uint8_t *states = states_of(&fixture);
  *bytes = RUNS * REPLICAS * fixture.model.portable_bytes;
  fixture_close(&fixture);
  return states;
}

/* In pieces of any length; the control is another order of the same moves, which begins otherwise.
 */
static void check_kernel(const struct gpumc_kernel_ops *kernel)
{
  static const struct gpumc_turn other[] = {{ISING_MOVE_HEAT_BATH, 1}, {ISING_MOVE_METROPOLIS, 2}};
  static const uint32_t pieces[] = {1, 2, 5, SWEEPS};
  size_t bytes;
  uint8_t *by_hand = states_by_hand(kernel, turns);
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
    uint8_t *states = states_after(kernel, pieces[i], turns, &bytes);
    if (memcmp(states, by_hand, bytes) != 0)
      fail_msg("%s in pieces of %u: other states than by hand", kernel->variant, pieces[i]);
    free(states);
  }
  uint8_t *wrong = states_after(kernel, SWEEPS, other, &bytes);
  assert_memory_not_equal(wrong, by_hand, bytes);
  free(wrong);
  free(by_hand);
}

static void they_give_the_states_of_single_sweeps(void **state)
{
  (void)state;
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t count = fixture_kernels(kernel);
  for (size_t k = 0; k < count; k++)
    check_kernel(kernel[k]);
  check_kernel(fixture_tiled_kernel());
}

/* Against a list of the moves of all sweeps. */
static void a_time_has_a_turn(void **state)
{
  (void)state;
  static const struct gpumc_turn three[] = {{4, 3}, {0, 1}, {4, 2}};
  static const uint32_t moves[] = {4, 4, 4, 0, 4, 4};
  static const uint32_t left[] = {3, 2, 1, 1, 2, 1};
  struct gpumc_ensemble_plan plan = {0};
  uint32_t before[5] = {0};
  set_turns(&plan, three, 3);
  assert_int_equal(gpumc_plan_cycle(&plan), 6);
  for (uint32_t time = 0; time < 40; time++) {
    for (uint32_t move = 0; move < 5; move++)
      assert_int_equal(gpumc_plan_sweeps(&plan, move, time), before[move]);
    assert_int_equal(gpumc_plan_take_turn(&plan, time), left[time % 6]);
    assert_int_equal(plan.move, moves[time % 6]);
    before[plan.move]++;
  }
  assert_true(gpumc_plan_makes(&plan, 4) && gpumc_plan_makes(&plan, 0));
  assert_false(gpumc_plan_makes(&plan, 1));
}

static void a_single_move_has_all_sweeps(void **state)
{
  (void)state;
  struct gpumc_ensemble_plan plan = {.move = 3};
  assert_int_equal(gpumc_plan_take_turn(&plan, 7), UINT32_MAX);
  assert_int_equal(plan.move, 3);
  assert_int_equal(gpumc_plan_sweeps(&plan, 3, UINT32_MAX), UINT32_MAX);
  assert_int_equal(gpumc_plan_sweeps(&plan, 0, UINT32_MAX), 0);
  assert_int_equal(gpumc_plan_cycle(&plan), 1);
  assert_true(gpumc_plan_makes(&plan, 3));
  assert_false(gpumc_plan_makes(&plan, 0));
}

/* The largest times that a run may have. */
static void the_last_sweeps_are_counted(void **state)
{
  (void)state;
  static const struct gpumc_turn two[] = {{0, 1000000}, {1, 3}};
  struct gpumc_ensemble_plan plan = {0};
  set_turns(&plan, two, 2);
  const uint32_t first = gpumc_plan_sweeps(&plan, 0, UINT32_MAX);
  assert_int_equal(first + gpumc_plan_sweeps(&plan, 1, UINT32_MAX), UINT32_MAX);
  assert_int_equal(gpumc_plan_sweeps(&plan, 1, UINT32_MAX), 3 * (UINT32_MAX / 1000003));
}

static double cost_of_move(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan,
                           size_t replicas)
{
  (void)model;
  return (plan->move == 1 ? 10.0 : 1.0) * (double)replicas;
}

static double
trials_of_move(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  return (plan->move == 1 ? 3.0 : 1.0) * (double)model->sites;
}

static void costs_and_proposals_are_means(void **state)
{
  (void)state;
  const struct gpumc_kernel_ops kernel = {.cost = cost_of_move, .trials = trials_of_move};
  const struct gpumc_model model = {.sites = 4};
  struct gpumc_ensemble_plan plan = {.move = 1};
  assert_true(gpumc_kernel_cost(&kernel, &model, &plan, 2) == 20);
  assert_true(gpumc_kernel_trials(&kernel, &model, &plan) == 12);
  static const struct gpumc_turn two[] = {{0, 2}, {1, 1}};
  set_turns(&plan, two, 2);
  assert_true(gpumc_kernel_cost(&kernel, &model, &plan, 2) == (2 * 2 + 20) / 3.0);
  assert_true(gpumc_kernel_trials(&kernel, &model, &plan) == (2 * 4 + 12) / 3.0);
  assert_int_equal(plan.move, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_time_has_a_turn),
      cmocka_unit_test(a_single_move_has_all_sweeps),
      cmocka_unit_test(the_last_sweeps_are_counted),
      cmocka_unit_test(costs_and_proposals_are_means),
      cmocka_unit_test(they_give_the_states_of_single_sweeps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
