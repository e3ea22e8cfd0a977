/* The two-dimensional Ising model and the operations of its kernels other than sweeps. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/simulation/registry.h"
#include "models/ising2d/ising2d.h"
#include "support/ising_fixture.h"

static const size_t shapes[][2] = {{2, 2},  {2, 6},   {6, 2},   {10, 6},
                                   {64, 6}, {16, 16}, {34, 18}, {130, 66}};

enum {
  SHAPES = sizeof shapes / sizeof *shapes,
  SIZE = 75,
  CAPACITY = 90,
  RUNS = 3,
  FIRST_RUN = 5,
};

static void for_every_setting(struct ising_case with, void (*body)(struct ising_case with))
{
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const size_t settings = test_settings(2, 2, true, setting);
  for (size_t i = 0; i < settings; i++) {
    with.setting = setting[i];
    body(with);
  }
}

/* Runs `body` for every kernel, shape, and level or block size, with two threads. */
static void for_every_case(void (*body)(struct ising_case with))
{
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = fixture_kernels(kernel);
  for (size_t k = 0; k < kernels; k++)
    for (size_t s = 0; s < SHAPES; s++) {
      const struct ising_case with =
          fixture_square(kernel[k], shapes[s][0], shapes[s][1], CAPACITY);
      if (fixture_serves(&with))
        for_every_setting(with, body);
    }
}

static void instance_describes_its_spectrum(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct gpumc_model model;
  const size_t shape[2] = {6, 4};
  assert_int_equal(ising2d_instance(shape, -2.5, 0.0, &model, &error), GPUMC_OK);
  assert_int_equal(model.sites, 24);
  assert_int_equal(model.grid[0].lowest, -48);
  assert_int_equal(model.grid[0].spacing, 4);
  assert_int_equal(model.grid[0].levels, 25);
  assert_int_equal(model.portable_bytes, 3);
  assert_true(model.quantum[ISING_ENERGY] == 2.5);
  assert_true(model.quantum[ISING_MAGNETIZATION] == 1.0);
  assert_true(fabs(model.log_states - 24 * log(2.0)) < 1e-12);
  model.ops->destroy(&model);
  assert_int_equal(ising2d_instance(shape, 1.0, 1.0 / 3.0, &model, &error), GPUMC_OK);
  assert_int_equal(model.grid[0].levels, 0);
  const double largest = 24 * (2.0 + 1.0 / 3.0) / model.quantum[ISING_ENERGY];
  assert_true(largest >= ldexp(1.0, 39) && largest < ldexp(1.0, 40));
  model.ops->destroy(&model);
}

static void expect_bins(const struct gpumc_model *model, int64_t width, int64_t lowest,
                        int64_t spacing, size_t levels)
{
  const struct gpumc_grid bins = gpumc_model_bins(model, ISING_ENERGY, width);
  assert_int_equal(bins.lowest, lowest);
  assert_int_equal(bins.spacing, spacing);
  assert_int_equal(bins.levels, levels);
}

/* Covers a spectrum and values without one; the last bin may be half empty. */
static void bins_cover_all_values(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct gpumc_model model;
  const size_t shape[2] = {6, 4};
  assert_int_equal(ising2d_instance(shape, 1.0, 0.0, &model, &error), GPUMC_OK);
  expect_bins(&model, 0, -48, 4, 25);
  expect_bins(&model, 4, -48, 4, 25);
  expect_bins(&model, 8, -48, 8, 13);
  expect_bins(&model, 20, -48, 20, 5);
  expect_bins(&model, (int64_t)1 << 62, -48, (int64_t)1 << 62, 1);
  model.ops->destroy(&model);
  assert_int_equal(ising2d_instance(shape, 1.0, 1.0 / 3.0, &model, &error), GPUMC_OK);
  const int64_t bound = (int64_t)ceil(model.bound[ISING_ENERGY]);
  expect_bins(&model, 0, -bound, 1, 0);
  expect_bins(&model, bound, -bound, bound, 3);
  model.ops->destroy(&model);
}

static void expect_measured(struct ising_case with, double coupling, double field)
{
  struct reference reference;
  struct ising_fixture fixture;
  int64_t energy[CAPACITY], magnetization[CAPACITY];
  with.settings.coupling = coupling;
  with.settings.field = field;
  fixture_open(&fixture, &with);
  fixture_reference(&fixture, &with, 0, SIZE, &reference);
  fixture_randomize(&fixture, &with, SIZE);
  fixture_measure(&fixture, energy, magnetization);
  fixture_measure(&fixture, energy, NULL);
  fixture_measure(&fixture, NULL, magnetization);
  const double quantum = fixture.model.quantum[ISING_ENERGY];
  for (size_t r = 0; r < SIZE; r++) {
    const double bonds = (double)reference_bonds(&reference, r);
    const int64_t spins = reference_magnetization(&reference, r);
    assert_int_equal(magnetization[r], spins);
    assert_true(fabs((double)energy[r] * quantum + coupling * bonds + field * (double)spins) <=
                0.51 * quantum * (field == 0.0 ? 0.0 : 1.0));
  }
  fixture_close(&fixture);
  reference_free(&reference);
}

static void measure_case(struct ising_case with)
{
  expect_measured(with, 1.0, 0.0);
  expect_measured(with, -2.0, 0.0);
  expect_measured(with, 0.7, -0.4);
}

static void measures_like_the_reference(void **state)
{
  (void)state;
  for_every_case(measure_case);
}

/* Draws parents as `resample` returns them: survivors keep their places; a hash decides which
 * replicas die. */
static void draw_parents(uint32_t *parent, size_t old_size, size_t new_size, uint32_t salt)
{
  for (uint32_t r = 0; r < new_size; r++) {
    const uint32_t hash = (r + salt) * 2654435761u >> 16;
    parent[r] = r < old_size && hash % 4 != 0 ? r : UINT32_MAX;
  }
  for (uint32_t r = 0, source = salt; r < new_size; r++) {
    /* A free place is filled from a survivor or from a replica beyond the new size. */
    while (parent[r] == UINT32_MAX) {
      const uint32_t from = source++ * 7 % (uint32_t)old_size;
      if (from >= new_size || parent[from] == from)
        parent[r] = from;
    }
  }
}

static void expect_gathered(struct ising_fixture *fixture, size_t new_size, uint32_t salt)
{
  const size_t old_size = fixture_size(fixture, 0), bytes = fixture->model.portable_bytes;
  const uint32_t size = (uint32_t)new_size;
  uint32_t parent[CAPACITY] = {0};
  draw_parents(parent, old_size, new_size, salt);
  uint8_t *before = fixture_get(fixture, 0);
  fixture_gather(fixture, parent, &size);
  uint8_t *after = fixture_get(fixture, 0);
  for (size_t r = 0; r < new_size; r++)
    assert_memory_equal(after + r * bytes, before + parent[r] * bytes, bytes);
  free(before);
  free(after);
}

static void gather_case(struct ising_case with)
{
  struct ising_fixture fixture;
  fixture_open(&fixture, &with);
  fixture_randomize(&fixture, &with, SIZE);
  expect_gathered(&fixture, SIZE, 1);
  expect_gathered(&fixture, CAPACITY, 2);
  expect_gathered(&fixture, 40, 3);
  expect_gathered(&fixture, 70, 4);
  fixture_sweep(&fixture, 1, 0.4);
  expect_gathered(&fixture, 1, 5);
  fixture_close(&fixture);
}

static void gather_copies_parents(void **state)
{
  (void)state;
  for_every_case(gather_case);
}

static void transfer_case(struct ising_case with)
{
  struct gpumc_error error = {0};
  struct ising_fixture fixture, other;
  with.runs = 2;
  fixture_open(&fixture, &with);
  fixture_open(&other, &with);
  fixture_randomize(&fixture, &with, SIZE);
  fixture_randomize(&other, &with, SIZE);
  fixture_sweep(&other, 1, 0.1);
  const size_t bytes = fixture.model.portable_bytes;
  const struct gpumc_kernel_ops *ops = with.kernel;
  uint8_t *portable = fixture_get(&fixture, 1), *neighbour = fixture_get(&other, 0);
  /* In two pieces that meet within a group. */
  assert_int_equal(ops->set(&other.ensemble, 1, 40, SIZE - 40, portable + 40 * bytes, &error),
                   GPUMC_OK);
  assert_int_equal(ops->set(&other.ensemble, 1, 0, 40, portable, &error), GPUMC_OK);
  uint8_t *again = fixture_get(&other, 1), *neighbour_again = fixture_get(&other, 0);
  assert_memory_equal(portable, again, SIZE * bytes);
  assert_memory_equal(neighbour, neighbour_again, SIZE * bytes);
  memset(again, 0xaa, SIZE * bytes);
  assert_int_equal(ops->get(&other.ensemble, 1, 33, 5, again, &error), GPUMC_OK);
  assert_memory_equal(portable + 33 * bytes, again, 5 * bytes);
  assert_int_equal(again[5 * bytes], 0xaa);
  free(portable);
  free(again);
  free(neighbour);
  free(neighbour_again);
  fixture_close(&fixture);
  fixture_close(&other);
}

static void set_and_get_are_inverse(void **state)
{
  (void)state;
  for_every_case(transfer_case);
}

/* The history of one run's replicas, with a resampling in between. */
struct fate {
  int64_t energy[CAPACITY], magnetization[CAPACITY];
  uint8_t *portable;
};

static const uint32_t fate_size[RUNS] = {CAPACITY, 1, 40};

/* Follows the runs with.first_run .. + with.runs, which are runs `first` .. of all, in one
 * batch. */
static void follow(const struct ising_case *with, size_t first, struct fate fate[], size_t *bytes)
{
  struct ising_fixture fixture;
  uint32_t parent[RUNS * CAPACITY] = {0};
  int64_t energy[RUNS * CAPACITY], magnetization[RUNS * CAPACITY];
  for (size_t m = 0; m < with->runs; m++)
    draw_parents(parent + m * CAPACITY, SIZE, fate_size[first + m], (uint32_t)(first + m));
  fixture_open(&fixture, with);
  fixture_randomize(&fixture, with, SIZE);
  fixture_sweep(&fixture, 2, 0.3);
  fixture_gather(&fixture, parent, fate_size + first);
  fixture_sweep_and_measure(&fixture, 2, 0.5, energy, magnetization);
  for (size_t m = 0; m < with->runs; m++) {
    memcpy(fate[m].energy, energy + m * CAPACITY, sizeof fate[m].energy);
    memcpy(fate[m].magnetization, magnetization + m * CAPACITY, sizeof fate[m].magnetization);
    fate[m].portable = fixture_get(&fixture, m);
  }
  *bytes = fixture.model.portable_bytes;
  fixture_close(&fixture);
}

static void batch_case(struct ising_case with)
{
  struct fate together[RUNS], alone;
  size_t bytes;
  with.settings.field = 0.2;
  with.first_run = FIRST_RUN;
  with.runs = RUNS;
  follow(&with, 0, together, &bytes);
  with.runs = 1;
  for (size_t m = 0; m < RUNS; m++) {
    const size_t size = fate_size[m];
    with.first_run = FIRST_RUN + (uint32_t)m;
    follow(&with, m, &alone, &bytes);
    assert_memory_equal(together[m].energy, alone.energy, size * sizeof *alone.energy);
    assert_memory_equal(together[m].magnetization, alone.magnetization,
                        size * sizeof *alone.magnetization);
    assert_memory_equal(together[m].portable, alone.portable, size * bytes);
    free(together[m].portable);
    free(alone.portable);
  }
}

static void a_batch_is_its_runs(void **state)
{
  (void)state;
  for_every_case(batch_case);
}

static void fused_case(struct ising_case with)
{
  static const uint32_t sweeps[] = {0, 1, 3};
  int64_t energy[2][RUNS * CAPACITY], magnetization[2][RUNS * CAPACITY];
  struct ising_fixture fixture, fused;
  with.runs = RUNS;
  with.settings.coupling = -0.7;
  with.settings.field = -0.3;
  fixture_open(&fixture, &with);
  fixture_open(&fused, &with);
  fixture_randomize(&fixture, &with, SIZE);
  fixture_randomize(&fused, &with, SIZE);
  memset(energy, 0, sizeof energy);
  memset(magnetization, 0, sizeof magnetization);
  for (size_t i = 0; i < sizeof sweeps / sizeof *sweeps; i++) {
    /* Sometimes one channel, sometimes both. */
    fixture_sweep(&fixture, sweeps[i], 0.4);
    fixture_measure(&fixture, energy[0], i == 1 ? NULL : magnetization[0]);
    fixture_sweep_and_measure(&fused, sweeps[i], 0.4, energy[1], i == 1 ? NULL : magnetization[1]);
    for (size_t m = 0; m < RUNS; m++) {
      assert_memory_equal(energy[0] + m * CAPACITY, energy[1] + m * CAPACITY,
                          SIZE * sizeof(int64_t));
      assert_memory_equal(magnetization[0] + m * CAPACITY, magnetization[1] + m * CAPACITY,
                          SIZE * sizeof(int64_t));
    }
  }
  fixture_sweep_and_measure(&fused, 1, 0.4, NULL, magnetization[1]);
  assert_memory_not_equal(magnetization[0], magnetization[1], SIZE * sizeof(int64_t));
  fixture_close(&fixture);
  fixture_close(&fused);
}

static void fused_measurement_is_that_after_the_sweep(void **state)
{
  (void)state;
  for_every_case(fused_case);
}

/* Returns the bytes per site of one replica. */
static double memory_limit(const struct gpumc_kernel_ops *kernel)
{
  return fixture_trajectory(kernel) == REFERENCE_SPIN ? 1.3 : 0.35;
}

/* On a GPU the smallest lattices, with padded rows, may take more; so may replicas in transfer,
 * which are limited in number. */
static void memory_is_within_its_limit(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct gpumc_model model;
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = fixture_kernels(kernel);
  const struct gpumc_device device = test_device(test_setting());
  const double on_their_way = test_device_is_cpu() ? 0.0 : 0x1p26;
  for (size_t s = test_device_is_cpu() ? 0 : SHAPES - 3; s < SHAPES; s++) {
    assert_int_equal(ising2d_instance(shapes[s], 1.0, 0.0, &model, &error), GPUMC_OK);
    for (size_t k = 0; k < kernels; k++)
      for (size_t runs = 1; runs <= 3; runs += 2) {
        const struct gpumc_ensemble_plan many = {.runs = runs, .capacity = 320000, .samples = 1};
        const struct gpumc_ensemble_plan one = {.runs = runs, .capacity = 1, .samples = 1};
        if (gpumc_kernel_refusal(kernel[k], &model) != NULL)
          continue;
        const double bytes = (double)(kernel[k]->bytes(&model, &device, &many) -
                                      kernel[k]->bytes(&model, &device, &one));
        assert_true(bytes <= memory_limit(kernel[k]) * (double)runs * 320000 * (double)model.sites +
                                 on_their_way);
      }
    model.ops->destroy(&model);
  }
}

static void refuses_what_cannot_be(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct gpumc_model model;
  struct gpumc_device device = test_device(test_setting());
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = fixture_kernels(kernel);
  const size_t shape[2] = {65536, 65536};
  /* On a CPU, more than can be addressed: with less, a sanitizer's malloc ends the program. */
  const struct gpumc_ensemble_plan plan = {
      .runs = 1, .capacity = (size_t)1 << (test_device_is_cpu() ? 40 : 31), .samples = 1};
  assert_int_equal(ising2d_instance(shape, 1.0, 0.0, &model, &error), GPUMC_OK);
  for (size_t k = 0; k < kernels; k++) {
    const struct ising_case with = fixture_square(kernel[k], 65536, 65536, 1);
    struct gpumc_ensemble ensemble;
    if (!test_device_is_cpu() && !fixture_serves(&with))
      continue;
    assert_int_equal(
        gpumc_ensemble_create(kernel[k], &model, &device, &plan, 1, 10, &ensemble, &error),
        GPUMC_FAILURE);
    assert_non_null(strstr(gpumc_error_text(&error), "out of memory"));
    assert_non_null(strstr(gpumc_error_text(&error), "replicas"));
    assert_null(ensemble.storage);
    gpumc_ensemble_free(&ensemble);
  }
  model.ops->destroy(&model);
  gpumc_error_free(&error);
}

static void time_does_not_run_over(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct ising_fixture fixture;
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  assert_true(fixture_kernels(kernel) > 0);
  struct ising_case with = fixture_square(kernel[0], 4, 4, 32);
  fixture_open(&fixture, &with);
  fixture_randomize(&fixture, &with, 32);
  fixture.ensemble.time = UINT32_MAX - 1;
  fixture_sweep(&fixture, 1, 0.4);
  assert_int_equal(fixture.ensemble.time, UINT32_MAX);
  assert_int_equal(gpumc_ensemble_sweep(&fixture.ensemble, 1, 0.4, NULL, &error), GPUMC_FAILURE);
  assert_string_equal(gpumc_error_text(&error),
                      "1 sweeps after 4294967295 exceed the 4294967295 that a run may have");
  gpumc_error_free(&error);
  fixture_close(&fixture);
}

static void levels_have_names(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  enum gpumc_isa isa;
  assert_int_equal(gpumc_isa_parse("auto", &isa, &error), GPUMC_OK);
  assert_int_equal(isa, gpumc_isa_detect());
  assert_int_equal(gpumc_isa_parse(gpumc_isa_name(gpumc_isa_detect()), &isa, &error), GPUMC_OK);
  assert_int_equal(isa, gpumc_isa_detect());
  assert_int_equal(gpumc_isa_parse("x86-64-v9", &isa, &error), GPUMC_INVALID);
  assert_string_equal(
      gpumc_error_text(&error),
      "unknown instruction-set level \"x86-64-v9\"; use auto, x86-64-v2, x86-64-v3, "
      "x86-64-v4 or portable");
  const bool portable = gpumc_isa_detect() == GPUMC_ISA_LEVEL_PORTABLE;
  assert_int_equal(gpumc_isa_parse(portable ? "x86-64-v2" : "portable", &isa, &error),
                   GPUMC_DEVICE);
  gpumc_error_free(&error);
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(instance_describes_its_spectrum),
      cmocka_unit_test(bins_cover_all_values),
      cmocka_unit_test(measures_like_the_reference),
      cmocka_unit_test(gather_copies_parents),
      cmocka_unit_test(set_and_get_are_inverse),
      cmocka_unit_test(a_batch_is_its_runs),
      cmocka_unit_test(fused_measurement_is_that_after_the_sweep),
      cmocka_unit_test(memory_is_within_its_limit),
      cmocka_unit_test(refuses_what_cannot_be),
      cmocka_unit_test(time_does_not_run_over),
      cmocka_unit_test(levels_have_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
