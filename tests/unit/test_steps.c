/* Steps of moves: when they are adapted, to which values, and what runs have in common. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/simulation/ensemble.h"
#include "core/simulation/steps.h"
#include "models/heisenberg/heisenberg.h"
#include "support/status.h"

enum { RUNS = 4, REPLICAS = 3, WARM_UP = 40 };

static const double beta[RUNS] = {0.1, 4.0, 0.1, 4.0};

struct fixture {
  struct gpumc_device device;
  struct gpumc_model model;
  struct gpumc_ensemble ensemble;
};

/* By moves that take turns, or, without any, by `move`. */
static void open_with(struct fixture *fixture, const struct gpumc_kernel_ops *kernel, uint32_t move,
                      const struct gpumc_turn *turn, size_t n_turns, double given, size_t alike)
{
  static const struct heisenberg_settings settings = {
      .dimension = 2, .shape = {8, 8}, .components = 3, .coupling = 1.0};
  struct gpumc_error error = {0};
  struct gpumc_ensemble_plan plan = {.runs = RUNS,
                                     .capacity = REPLICAS,
                                     .samples = 1,
                                     .move = move,
                                     .warm_up = WARM_UP,
                                     .alike = alike};
  memcpy(&plan.options.own[1], &given, sizeof given);
  for (plan.n_turns = 0; plan.n_turns < n_turns; plan.n_turns++)
    plan.turn[plan.n_turns] = turn[plan.n_turns];
  memset(fixture, 0, sizeof *fixture);
  assert_ok(gpumc_device_open("cpu", 2, &fixture->device, &error), &error);
  assert_ok(heisenberg_instance(&settings, &fixture->model, &error), &error);
  assert_ok(gpumc_ensemble_create(kernel, &fixture->model, &fixture->device, &plan, 5, 10,
                                  &fixture->ensemble, &error),
            &error);
  assert_ok(gpumc_ensemble_start(&fixture->ensemble, 0, RUNS, REPLICAS, &error), &error);
}

static void open_fixture(struct fixture *fixture, uint32_t move, double given, size_t alike)
{
  open_with(fixture, &heisenberg_float_cpu, move, NULL, 0, given, alike);
}

static void close_fixture(struct fixture *fixture)
{
  gpumc_ensemble_free(&fixture->ensemble);
  fixture->model.ops->destroy(&fixture->model);
  gpumc_device_close(&fixture->device);
}

static void sweep(struct fixture *fixture, uint32_t sweeps)
{
  struct gpumc_error error = {0};
  assert_ok(gpumc_ensemble_sweep_each(&fixture->ensemble, sweeps, beta, NULL, &error), &error);
}

static void they_are_adapted_at_powers_of_two_of_the_warm_up(void **state)
{
  (void)state;
  struct fixture fixture;
  const struct gpumc_ensemble *ensemble = &fixture.ensemble;
  double before = GPUMC_PI;
  open_fixture(&fixture, HEISENBERG_METROPOLIS_SMALL, 0, 0);
  for (uint32_t time = 1; time <= 100; time++) {
    sweep(&fixture, 1);
    const bool adapted = time == 8 || time == 16 || time == 32;
    assert_int_equal(ensemble->step[1] != before, adapted);
    assert_int_equal(ensemble->accepted[1] == 0, adapted);
    assert_true(ensemble->step[0] == GPUMC_PI); /* more than half of its proposals are accepted */
    before = ensemble->step[1];
  }
  assert_int_equal(gpumc_steps_until(ensemble), UINT32_MAX);
  const double share = (double)ensemble->accepted[1] / (REPLICAS * 64.0 * (100 - 32));
  print_message("width %.3f, accepted %.3f\n", ensemble->step[1], share);
  assert_true(share > 0.4 && share < 0.6);
  close_fixture(&fixture);
}

static void pieces_make_no_difference(void **state)
{
  (void)state;
  struct fixture whole, pieces;
  open_fixture(&whole, HEISENBERG_METROPOLIS_SMALL, 0, 0);
  open_fixture(&pieces, HEISENBERG_METROPOLIS_SMALL, 0, 0);
  sweep(&whole, 50);
  for (int i = 0; i < 10; i++)
    sweep(&pieces, 5);
  assert_memory_equal(whole.ensemble.step, pieces.ensemble.step, RUNS * sizeof(double));
  assert_memory_equal(whole.ensemble.accepted, pieces.ensemble.accepted, RUNS * sizeof(uint64_t));
  close_fixture(&whole);
  close_fixture(&pieces);
}

static void runs_that_are_alike_have_one(void **state)
{
  (void)state;
  struct fixture alike, apart;
  open_fixture(&alike, HEISENBERG_METROPOLIS_SMALL, 0, 2);
  open_fixture(&apart, HEISENBERG_METROPOLIS_SMALL, 0, 0);
  sweep(&alike, 50);
  sweep(&apart, 50);
  assert_true(alike.ensemble.step[1] == alike.ensemble.step[3]);
  assert_true(apart.ensemble.step[1] != apart.ensemble.step[3]);
  close_fixture(&alike);
  close_fixture(&apart);
}

static void those_that_are_given_stay(void **state)
{
  (void)state;
  struct fixture fixture;
  open_fixture(&fixture, HEISENBERG_METROPOLIS_SMALL, 0.25, 0);
  sweep(&fixture, 50);
  for (size_t m = 0; m < RUNS; m++)
    assert_true(fixture.ensemble.step[m] == 0.25);
  assert_true(fixture.ensemble.accepted[0] > 0);
  close_fixture(&fixture);
}

static void other_moves_have_none(void **state)
{
  (void)state;
  struct fixture fixture;
  open_fixture(&fixture, HEISENBERG_METROPOLIS, 0, 0);
  sweep(&fixture, 50);
  assert_null(fixture.ensemble.step);
  assert_null(fixture.ensemble.accepted);
  assert_int_equal(gpumc_steps_until(&fixture.ensemble), UINT32_MAX);
  close_fixture(&fixture);
}

/* Small steps in one sweep of three: times of adaptation are those of all sweeps, shares those of
 * the small steps alone, so that the heat bath, which accepts nothing, does not narrow them. */
static void only_sweeps_with_a_step_count(void **state)
{
  (void)state;
  static const struct gpumc_turn turns[] = {{HEISENBERG_HEAT_BATH, 2},
                                            {HEISENBERG_METROPOLIS_SMALL, 1}};
  struct fixture fixture;
  const struct gpumc_ensemble *ensemble = &fixture.ensemble;
  double before = GPUMC_PI;
  open_with(&fixture, &heisenberg_float_cpu, HEISENBERG_HEAT_BATH, turns, 2, 0, 0);
  assert_ptr_equal(gpumc_step_of(ensemble), heisenberg_moves[HEISENBERG_METROPOLIS_SMALL].step);
  for (uint32_t time = 1; time <= 32 + 3 * 40; time++) {
    sweep(&fixture, 1);
    assert_int_equal(ensemble->step[1] != before, time == 8 || time == 16 || time == 32);
    assert_true(ensemble->step[0] == GPUMC_PI);
    before = ensemble->step[1];
  }
  const double share = (double)ensemble->accepted[1] / (REPLICAS * 64.0 * 40);
  print_message("width %.3f, accepted %.3f\n", ensemble->step[1], share);
  assert_true(share > 0.4 && share < 0.6);
  close_fixture(&fixture);
}

/* Turns that leave no sweep to a move before a time of adaptation change nothing there. */
static void steps_without_sweeps_stay(void **state)
{
  (void)state;
  static const struct gpumc_turn turns[] = {{HEISENBERG_HEAT_BATH, 20},
                                            {HEISENBERG_METROPOLIS_SMALL, 20}};
  struct fixture fixture;
  open_with(&fixture, &heisenberg_float_cpu, HEISENBERG_HEAT_BATH, turns, 2, 0, 0);
  sweep(&fixture, 31);
  assert_true(fixture.ensemble.step[1] == GPUMC_PI);
  sweep(&fixture, 1);
  assert_true(fixture.ensemble.step[1] < 0.9 * GPUMC_PI && fixture.ensemble.step[1] > 0.1);
  close_fixture(&fixture);
}

/* A rule of a move's own: here three times the step, which begins with a hundredth, while more than
 * a tenth is accepted. */
static double triple(double step, double share)
{
  return share > 0.1 ? 3 * step : step;
}

static void a_move_may_have_its_own_rule(void **state)
{
  (void)state;
  struct gpumc_step own = *heisenberg_moves[HEISENBERG_METROPOLIS_SMALL].step;
  struct gpumc_move moves[HEISENBERG_MOVES];
  struct gpumc_kernel_ops kernel = heisenberg_float_cpu;
  struct fixture fixture;
  own.first = 0.01;
  own.adapt = triple;
  memcpy(moves, heisenberg_moves, sizeof moves);
  moves[HEISENBERG_METROPOLIS_SMALL].step = &own;
  kernel.moves = moves;
  open_with(&fixture, &kernel, HEISENBERG_METROPOLIS_SMALL, NULL, 0, 0, 0);
  const double *step = &fixture.ensemble.step[0];
  assert_true(*step == 0.01);
  sweep(&fixture, 8);
  assert_true(*step == 3 * 0.01);
  sweep(&fixture, 92);
  assert_true(*step == 3 * (3 * (3 * 0.01)));
  close_fixture(&fixture);
  own.largest = 0.05;
  open_with(&fixture, &kernel, HEISENBERG_METROPOLIS_SMALL, NULL, 0, 0, 0);
  sweep(&fixture, 100);
  assert_true(fixture.ensemble.step[0] == 0.05);
  close_fixture(&fixture);
}

/* A hundred times the step. */
static double much_larger(double step, double share)
{
  (void)share;
  return 100 * step;
}

/* A move may be adapted after each of its first sweeps, here five of them, wherever its turns are;
 * then at the times of all. Its step grows four times at most. */
static void a_move_may_be_adapted_often(void **state)
{
  (void)state;
  static const struct gpumc_turn turns[] = {{HEISENBERG_HEAT_BATH, 3},
                                            {HEISENBERG_METROPOLIS_SMALL, 1}};
  struct gpumc_step own = *heisenberg_moves[HEISENBERG_METROPOLIS_SMALL].step;
  struct gpumc_move moves[HEISENBERG_MOVES];
  struct gpumc_kernel_ops kernel = heisenberg_float_cpu;
  struct fixture fixture;
  own.first = own.least = 1e-6;
  own.often = 5;
  own.adapt = much_larger;
  memcpy(moves, heisenberg_moves, sizeof moves);
  moves[HEISENBERG_METROPOLIS_SMALL].step = &own;
  kernel.moves = moves;
  assert_int_equal(gpumc_steps_enough(&own), 8);
  open_with(&fixture, &kernel, HEISENBERG_HEAT_BATH, turns, 2, 0, 0);
  double expected = 1e-6;
  for (uint32_t time = 1; time <= 70; time++) {
    sweep(&fixture, 1);
    if ((time % 4 == 0 && time <= 20) || time == 32)
      expected *= 4;
    assert_true(fixture.ensemble.step[0] == expected);
  }
  close_fixture(&fixture);
  own.often = 9;
  assert_int_equal(gpumc_steps_enough(&own), 9);
}

/* A kernel that only records how many sweeps are requested. */
static uint32_t swept;
static enum gpumc_status note_sweeps(struct gpumc_ensemble *ensemble,
                                     const struct gpumc_target *target, uint32_t sweeps,
                                     int64_t *const *channel, struct gpumc_error *error)
{
  (void)ensemble, (void)target, (void)channel, (void)error;
  swept = sweeps;
  return GPUMC_OK;
}

/* The largest number of sweeps that a run may have is one call; one more is refused. */
static void as_many_sweeps_as_there_can_be(void **state)
{
  (void)state;
  static const uint32_t moves[] = {HEISENBERG_METROPOLIS, HEISENBERG_METROPOLIS_SMALL};
  for (size_t i = 0; i < 2; i++) {
    struct fixture fixture;
    struct gpumc_error error = {0};
    open_fixture(&fixture, moves[i], i == 1 ? 0.25 : 0, 0);
    struct gpumc_kernel_ops noting = *fixture.ensemble.ops;
    noting.sweep = note_sweeps;
    fixture.ensemble.ops = &noting;
    sweep(&fixture, UINT32_MAX);
    assert_int_equal(swept, UINT32_MAX);
    assert_int_equal(fixture.ensemble.time, UINT32_MAX);
    assert_int_equal(gpumc_ensemble_sweep_each(&fixture.ensemble, 1, beta, NULL, &error),
                     GPUMC_FAILURE);
    gpumc_error_free(&error);
    close_fixture(&fixture);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(they_are_adapted_at_powers_of_two_of_the_warm_up),
      cmocka_unit_test(pieces_make_no_difference),
      cmocka_unit_test(runs_that_are_alike_have_one),
      cmocka_unit_test(those_that_are_given_stay),
      cmocka_unit_test(as_many_sweeps_as_there_can_be),
      cmocka_unit_test(other_moves_have_none),
      cmocka_unit_test(only_sweeps_with_a_step_count),
      cmocka_unit_test(steps_without_sweeps_stay),
      cmocka_unit_test(a_move_may_have_its_own_rule),
      cmocka_unit_test(a_move_may_be_adapted_often),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
