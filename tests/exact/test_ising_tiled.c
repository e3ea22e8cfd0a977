/* The tiled kernel follows its slow reference bit for bit: shapes, tiles, hits, orders, generators,
 * updates, temperatures of runs; levels and threads of a CPU, blocks of a GPU. Its measurements are
 * those of the reference, and it continues from a saved state as if nothing had happened. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/ising_fixture.h"
#include "support/tiled_reference.h"

enum { RUNS = 2, REPLICAS = 2, ROOM = 3 };

static const double betas[RUNS] = {0.35, 0.9};

struct tiled_case {
  size_t dimension, shape[3];
  uint32_t tile, hits;
  enum ising_tiling_order order;
  enum ising_move update;
  double coupling, field;
};

static const struct tiled_case cases[] = {
    {2, {4, 4, 1}, 2, 1, ISING_ORDER_FORWARD, ISING_MOVE_METROPOLIS, 1.0, 0.0},
    {2, {8, 12, 1}, 2, 3, ISING_ORDER_FORWARD, ISING_MOVE_HEAT_BATH, 1.0, 0.2},
    {2, {16, 8, 1}, 4, 2, ISING_ORDER_SYMMETRISED, ISING_MOVE_METROPOLIS, -1.0, 0.0},
    {2, {36, 24, 1}, 6, 4, ISING_ORDER_SYMMETRISED, ISING_MOVE_HEAT_BATH, 1.0, 0.0},
    {2, {32, 16, 1}, 8, 2, ISING_ORDER_FORWARD, ISING_MOVE_METROPOLIS, 1.3, -0.4},
    {2, {40, 20, 1}, 10, 5, ISING_ORDER_FORWARD, ISING_MOVE_METROPOLIS, 1.0, 0.0},
    {2, {64, 128, 1}, 32, 2, ISING_ORDER_SYMMETRISED, ISING_MOVE_METROPOLIS, 1.0, 0.0},
    {2, {128, 128, 1}, 64, 7, ISING_ORDER_FORWARD, ISING_MOVE_METROPOLIS, 1.0, 0.0},
    /* Couplings so strong that some decisions never, or always, fall one way. */
    {2, {16, 32, 1}, 8, 3, ISING_ORDER_FORWARD, ISING_MOVE_METROPOLIS, 4.0, 0.0},
    {2, {32, 16, 1}, 8, 2, ISING_ORDER_FORWARD, ISING_MOVE_HEAT_BATH, 4.0, 0.0},
    {3, {4, 4, 4}, 2, 2, ISING_ORDER_SYMMETRISED, ISING_MOVE_METROPOLIS, 1.0, 0.0},
    {3, {8, 4, 12}, 2, 1, ISING_ORDER_FORWARD, ISING_MOVE_HEAT_BATH, 1.0, 0.3},
    {3, {8, 16, 8}, 4, 3, ISING_ORDER_FORWARD, ISING_MOVE_METROPOLIS, -0.7, 0.1},
    {3, {12, 12, 12}, 6, 4, ISING_ORDER_SYMMETRISED, ISING_MOVE_METROPOLIS, 1.0, 0.0},
    {3, {16, 16, 16}, 8, 3, ISING_ORDER_FORWARD, ISING_MOVE_METROPOLIS, 1.0, 0.0},
    {3, {32, 32, 32}, 16, 2, ISING_ORDER_FORWARD, ISING_MOVE_HEAT_BATH, 1.0, 0.0},
};
enum { CASES = sizeof cases / sizeof *cases };

static struct ising_case case_from(const struct tiled_case *tiled, enum ising_generator generator)
{
  struct ising_case with =
      fixture_case(fixture_tiled_kernel(), tiled->dimension, tiled->shape, ROOM);
  with.settings.coupling = tiled->coupling;
  with.settings.field = tiled->field;
  with.runs = RUNS;
  with.first_run = 5;
  with.seed = 1234567890123 + tiled->tile;
  with.rounds = tiled->hits % 2 == 0 ? 10 : 7;
  with.update = tiled->update;
  with.tiling = (struct ising_tiling){
      .hits = tiled->hits, .tile = tiled->tile, .order = tiled->order, .generator = generator};
  return with;
}

/* Calls of these lengths one after the other: more than the hits, less, a multiple, one. */
static size_t calls_of(const struct ising_case *with, uint32_t call[4])
{
  const uint32_t hits = with->tiling.hits;
  const uint32_t calls[4] = {2 * hits + hits / 2 + 1, 1, 2 * hits, hits > 2 ? hits - 1 : 1};
  memcpy(call, calls, sizeof calls);
  return with->settings.shape[0] * with->settings.shape[1] * with->settings.shape[2] > 4096 ? 1 : 4;
}

/* Computes the replicas of run m after all calls. */
static void follow(const struct ising_fixture *fixture, const struct ising_case *with, size_t m,
                   struct reference *reference)
{
  uint32_t call[4];
  const size_t calls = calls_of(with, call);
  fixture_reference(fixture, with, m, REPLICAS, reference);
  for (size_t r = 0; r < REPLICAS; r++) {
    struct tiled_reference tiled;
    uint32_t time = 0;
    tiled_reference_init(&tiled, reference, r, with->tiling);
    for (size_t i = 0; i < calls; time += call[i], i++)
      tiled_reference_sweep(&tiled, betas[m], time, call[i]);
    tiled_reference_free(&tiled);
  }
}

static void compare(struct ising_case with)
{
  struct ising_fixture fixture;
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const size_t settings = test_settings(1, 3, true, setting);
  struct reference reference[RUNS];
  uint32_t call[4];
  const size_t calls = calls_of(&with, call);
  fixture_open(&fixture, &with);
  for (size_t m = 0; m < RUNS; m++)
    follow(&fixture, &with, m, &reference[m]);
  fixture_close(&fixture);
  for (size_t i = 0; i < settings; i++) {
    with.setting = setting[i];
    fixture_open(&fixture, &with);
    fixture_randomize(&fixture, &with, REPLICAS);
    for (size_t c = 0; c < calls; c++)
      fixture_sweep_each(&fixture, call[c], betas);
    for (size_t m = 0; m < RUNS; m++)
      fixture_expect_same(&fixture, &with, m, &reference[m]);
    fixture_close(&fixture);
  }
  for (size_t m = 0; m < RUNS; m++)
    reference_free(&reference[m]);
}

static void trajectories(void **state)
{
  (void)state;
  for (size_t i = 0; i < CASES; i++)
    compare(case_from(&cases[i], ISING_GENERATOR_PHILOX));
}

static void generators(void **state)
{
  (void)state;
  static const size_t chosen[] = {2, 3, 4, 6, 10};
  for (int generator = 1; generator < ISING_GENERATORS; generator++)
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++)
      compare(case_from(&cases[chosen[i]], (enum ising_generator)generator));
}

/* If no side is requested it is the documented one. */
static void sides(void **state)
{
  (void)state;
  static const struct {
    size_t dimension, shape[3];
    uint32_t tile;
  } wanted[] = {
      {2, {128, 64, 1}, 32}, {2, {96, 48, 1}, 24}, {2, {20, 40, 1}, 10},
      {2, {4, 64, 1}, 2},    {3, {16, 32, 48}, 8}, {3, {12, 24, 12}, 6},
  };
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    struct tiled_case tiled = {
        .dimension = wanted[i].dimension, .tile = wanted[i].tile, .hits = 1, .coupling = 1.0};
    memcpy(tiled.shape, wanted[i].shape, sizeof tiled.shape);
    struct ising_case with = case_from(&tiled, ISING_GENERATOR_PHILOX);
    struct ising_fixture explicit, automatic;
    fixture_open(&explicit, &with);
    with.tiling.tile = 0;
    fixture_open(&automatic, &with);
    fixture_randomize(&explicit, &with, 1);
    fixture_randomize(&automatic, &with, 1);
    fixture_sweep(&explicit, 2, 0.4);
    fixture_sweep(&automatic, 2, 0.4);
    uint8_t *a = fixture_get(&explicit, 0), *b = fixture_get(&automatic, 0);
    assert_memory_equal(a, b, explicit.model.portable_bytes);
    free(a);
    free(b);
    fixture_close(&explicit);
    fixture_close(&automatic);
  }
}

static void measurements(void **state)
{
  (void)state;
  for (size_t i = 0; i < CASES; i++) {
    struct ising_case with = case_from(&cases[i], ISING_GENERATOR_PHILOX);
    struct ising_fixture fixture;
    int64_t value[ISING_CHANNELS][RUNS * ROOM];
    int64_t *const wanted[ISING_CHANNELS] = {value[0], value[1], value[2]};
    fixture_open(&fixture, &with);
    fixture_randomize(&fixture, &with, REPLICAS);
    fixture_sweep_and_measure_channels(&fixture, 1, betas, wanted);
    for (size_t m = 0; m < RUNS; m++) {
      struct reference reference;
      fixture_reference(&fixture, &with, m, REPLICAS, &reference);
      for (size_t r = 0; r < REPLICAS; r++) {
        struct tiled_reference tiled;
        const size_t at = m * ROOM + r;
        tiled_reference_init(&tiled, &reference, r, with.tiling);
        tiled_reference_sweep(&tiled, betas[m], 0, 1);
        tiled_reference_free(&tiled);
        const double quantum = fixture.model.quantum[ISING_ENERGY];
        assert_true(fabs((double)value[ISING_ENERGY][at] * quantum -
                         reference_energy(&reference, r)) <= quantum);
        assert_int_equal(value[ISING_MAGNETIZATION][at], reference_magnetization(&reference, r));
        assert_int_equal(value[ISING_WAVE][at],
                         reference_wave(&reference, r, fixture.model.quantum[ISING_WAVE]));
      }
      reference_free(&reference);
    }
    fixture_close(&fixture);
  }
}

/* Replicas, counters and the state of generators are all that a checkpoint needs. */
static void saved_states(void **state)
{
  (void)state;
  for (int generator = 0; generator < ISING_GENERATORS; generator++) {
    struct gpumc_error error = {0};
    struct ising_case with = case_from(&cases[4], (enum ising_generator)generator);
    struct ising_fixture whole, part;
    const uint32_t sizes[RUNS] = {REPLICAS, REPLICAS};
    fixture_open(&whole, &with);
    fixture_open(&part, &with);
    fixture_randomize(&whole, &with, REPLICAS);
    fixture_sweep_each(&whole, 3, betas);
    part.ensemble.runs = RUNS;
    part.ensemble.first_run = with.first_run;
    part.ensemble.time = whole.ensemble.time;
    fixture_set_sizes(&part, sizes);
    const struct gpumc_kernel_ops *ops = with.kernel;
    const size_t bytes = ops->state_bytes(&whole.ensemble);
    assert_int_equal(bytes == 0, generator == ISING_GENERATOR_PHILOX);
    for (size_t m = 0; m < RUNS; m++) {
      uint8_t *replicas = fixture_get(&whole, m), *saved = malloc(bytes + 1);
      assert_non_null(saved);
      assert_int_equal(ops->set(&part.ensemble, m, 0, REPLICAS, replicas, &error), GPUMC_OK);
      assert_int_equal(ops->get_state(&whole.ensemble, m, saved, &error), GPUMC_OK);
      assert_int_equal(ops->set_state(&part.ensemble, m, saved, &error), GPUMC_OK);
      free(replicas);
      free(saved);
    }
    fixture_sweep_each(&whole, 4, betas);
    fixture_sweep_each(&part, 4, betas);
    for (size_t m = 0; m < RUNS; m++) {
      uint8_t *a = fixture_get(&whole, m), *b = fixture_get(&part, m);
      assert_memory_equal(a, b, REPLICAS * whole.model.portable_bytes);
      free(a);
      free(b);
    }
    fixture_close(&whole);
    fixture_close(&part);
  }
}

static void refused(const struct tiled_case *tiled, const char *text)
{
  struct gpumc_error error = {0};
  struct ising_case with = case_from(tiled, ISING_GENERATOR_PHILOX);
  struct gpumc_device device = test_device(test_setting());
  struct gpumc_ensemble ensemble;
  struct gpumc_model model;
  const struct gpumc_ensemble_plan plan = {
      .runs = 1, .capacity = 1, .samples = 1, .options = ising_tiling_options(&with.tiling)};
  assert_int_equal(ising_instance(&with.settings, &model, &error), GPUMC_OK);
  assert_int_equal(
      gpumc_ensemble_create(with.kernel, &model, &device, &plan, 1, 10, &ensemble, &error),
      GPUMC_INVALID);
  assert_non_null(strstr(gpumc_error_text(&error), text));
  gpumc_error_free(&error);
  ising_destroy(&model);
}

static void refusals(void **state)
{
  (void)state;
  const struct tiled_case odd = {2, {6, 8, 1}, 0, 1, ISING_ORDER_FORWARD, ISING_MOVE_METROPOLIS,
                                 1, 0};
  const struct tiled_case wide = {
      2, {24, 32, 1}, 8, 1, ISING_ORDER_FORWARD, ISING_MOVE_METROPOLIS, 1, 0};
  const struct tiled_case deep = {
      3, {64, 64, 64}, 32, 1, ISING_ORDER_FORWARD, ISING_MOVE_METROPOLIS, 1, 0};
  const struct tiled_case hits = {
      2, {8, 8, 1}, 4, 3, ISING_ORDER_SYMMETRISED, ISING_MOVE_METROPOLIS, 1, 0};
  refused(&odd, "a multiple of 4");
  refused(&wide, "a multiple of twice kernel.tile");
  refused(&deep, "at most 16");
  refused(&hits, "kernel.hits must be even");
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(trajectories), cmocka_unit_test(generators),   cmocka_unit_test(sides),
      cmocka_unit_test(measurements), cmocka_unit_test(saved_states), cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
