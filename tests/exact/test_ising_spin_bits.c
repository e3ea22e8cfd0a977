/* Kernels of one number a spin where words of bits cannot follow: couplings and fields of any size,
 * random fields on top of a uniform one. Sweeps, measurements, exchanges and overlaps are those of
 * the slow reference, bit for bit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/ising_cases.h"

enum { SWEEPS = 3, REPLICAS = 5, ROOM = 7, RUNS = 3 };

static const double betas[RUNS] = {0.9, 0.2, 3.0};

static const struct ising_shape shapes[] = {
    {2, {2, 2, 1}},  {2, {2, 130, 1}}, {2, {34, 18, 1}},  {2, {66, 64, 1}},
    {3, {2, 2, 2}},  {3, {2, 4, 6}},   {3, {6, 4, 10}},   {3, {8, 8, 8}},
    {3, {34, 2, 4}}, {3, {2, 2, 66}},  {3, {18, 16, 16}},
};

static const struct ising_feeling feelings[] = {
    {.coupling = 1.0, .couplings = ISING_GAUSSIAN, .sample_each = true},
    {.coupling = 1.0, .couplings = ISING_GAUSSIAN},
    {.coupling = 1.0, .field = -0.7, .couplings = ISING_GAUSSIAN, .sample_each = true},
    {.coupling = -1.2, .fields = ISING_GAUSSIAN, .width = 0.8, .sample_each = true},
    {.coupling = 1.0,
     .field = 0.3,
     .couplings = ISING_BIMODAL,
     .positive = 0.5,
     .fields = ISING_GAUSSIAN,
     .width = 0.4},
    {.coupling = 1.0,
     .couplings = ISING_GAUSSIAN,
     .fields = ISING_BIMODAL,
     .width = 1.0,
     .sample_each = true},
    {.coupling = 1.0, .field = 0.5, .fields = ISING_BIMODAL, .width = 0.7, .sample_each = true},
    {.coupling = -0.8, .field = -1.0, .fields = ISING_BIMODAL, .width = 0.9},
    {.coupling = 1.0,
     .field = 0.25,
     .couplings = ISING_BIMODAL,
     .positive = 0.7,
     .fields = ISING_BIMODAL,
     .width = 0.7,
     .sample_each = true},
};

enum { SHAPES = sizeof shapes / sizeof *shapes, FEELINGS = sizeof feelings / sizeof *feelings };

static size_t spin_kernels(const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM])
{
  const size_t all = case_kernels(
      GPUMC_CAN_SWEEP | GPUMC_CAN_HEAT_BATH | GPUMC_CAN_EXCHANGE | GPUMC_CAN_OVERLAP, kernel);
  size_t count = 0;
  for (size_t k = 0; k < all; k++)
    if (fixture_trajectory(kernel[k]) == REFERENCE_SPIN)
      kernel[count++] = kernel[k];
  assert_true(count > 0);
  return count;
}

static struct ising_case make_case(const struct gpumc_kernel_ops *kernel, size_t shape,
                                   size_t feeling, enum gpumc_update update)
{
  struct ising_case with = case_of(kernel, &shapes[shape], &feelings[feeling], ROOM);
  with.runs = RUNS;
  with.first_run = (uint32_t)(3 + shape * feeling);
  with.update = update;
  with.seed = 90210 + 31 * shape + feeling;
  with.rounds = (shape + feeling) % 2 == 0 ? 10 : 7;
  return with;
}

/* The channels of a run; an energy is exact where there is disorder. */
static void expect_channels(const struct ising_fixture *fixture, const struct ising_case *with,
                            const struct reference *reference, size_t m,
                            int64_t value[ISING_CHANNELS][RUNS * ROOM])
{
  const double quantum = fixture->model.quantum[ISING_ENERGY];
  const double wave_quantum = fixture->model.wave_quantum;
  for (size_t r = 0; r < REPLICAS; r++) {
    const size_t at = m * ROOM + r;
    if ((double)value[ISING_ENERGY][at] * quantum != reference_energy(reference, r))
      fail_msg("%s: energy of replica %zu of run %zu is %.17g, not %.17g", fixture_text(with), r, m,
               (double)value[ISING_ENERGY][at] * quantum, reference_energy(reference, r));
    assert_int_equal(value[ISING_MAGNETIZATION][at], reference_magnetization(reference, r));
    assert_int_equal(value[ISING_WAVE][at], reference_wave(reference, r, wave_quantum));
  }
}

static void expect_overlaps(struct ising_fixture *fixture, const struct reference *reference,
                            size_t first, size_t second, size_t runs)
{
  int64_t value[GPUMC_OVERLAPS][RUNS * ROOM];
  fixture_overlap(fixture, first, second, runs,
                  (int64_t *const[GPUMC_OVERLAPS]){value[0], value[1], value[2]});
  for (size_t kind = 0; kind < GPUMC_OVERLAPS; kind++)
    for (size_t i = 0; i < runs; i++)
      for (size_t r = 0; r < REPLICAS; r++)
        assert_int_equal(value[kind][i * ROOM + r],
                         reference_overlap(&reference[first + i], &reference[second + i], r,
                                           (enum gpumc_overlap)kind, fixture->model.wave_quantum));
}

/* Sweeps and measurement in one, an exchange, sweeps, overlaps. */
static void
follow(const struct ising_case *with, struct reference *reference, struct reference *exchanged)
{
  static const uint32_t swap[RUNS] = {0x15, 0x0a, 0};
  int64_t value[ISING_CHANNELS][RUNS * ROOM];
  struct ising_fixture fixture;
  fixture_open(&fixture, with);
  fixture_randomize(&fixture, with, REPLICAS);
  fixture_sweep_and_measure_channels(
      &fixture, SWEEPS, betas, (int64_t *const[ISING_CHANNELS]){value[0], value[1], value[2]});
  for (size_t m = 0; m < RUNS; m++) {
    fixture_expect_same(&fixture, with, m, &reference[m]);
    expect_channels(&fixture, with, &reference[m], m, value);
  }
  expect_overlaps(&fixture, reference, 0, 1, 2);
  fixture_exchange(&fixture, swap);
  fixture_sweep_each(&fixture, 1, betas);
  for (size_t m = 0; m < RUNS; m++)
    fixture_expect_same(&fixture, with, m, &exchanged[m]);
  expect_overlaps(&fixture, exchanged, 0, 2, 1);
  fixture_close(&fixture);
}

static void
references_of(const struct ising_case *with, struct reference *reference, uint32_t exchanges)
{
  static const uint32_t swap[RUNS] = {0x15, 0x0a, 0};
  struct ising_fixture fixture;
  fixture_open(&fixture, with);
  for (size_t m = 0; m < RUNS; m++) {
    fixture_reference(&fixture, with, m, REPLICAS, &reference[m]);
    for (uint32_t s = 0; s < SWEEPS; s++)
      reference_sweep(&reference[m], betas[m], s);
  }
  for (size_t m = 0; exchanges > 0 && m + 1 < RUNS; m++)
    reference_exchange(&reference[m], &reference[m + 1], &swap[m]);
  for (size_t m = 0; exchanges > 0 && m < RUNS; m++)
    reference_sweep(&reference[m], betas[m], SWEEPS);
  fixture_close(&fixture);
}

static void compare(struct ising_case with)
{
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const size_t settings = test_settings(1, 2, true, setting);
  struct reference reference[RUNS], exchanged[RUNS];
  if (!fixture_serves(&with))
    return;
  references_of(&with, reference, 0);
  references_of(&with, exchanged, 1);
  for (size_t i = 0; i < settings; i++) {
    with.setting = setting[i];
    follow(&with, reference, exchanged);
  }
  for (size_t m = 0; m < RUNS; m++) {
    reference_free(&reference[m]);
    reference_free(&exchanged[m]);
  }
}

static void compare_update(enum gpumc_update update)
{
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = spin_kernels(kernel);
  for (size_t k = 0; k < kernels; k++)
    for (size_t shape = 0; shape < SHAPES; shape++)
      for (size_t feeling = 0; feeling < FEELINGS; feeling++)
        compare(make_case(kernel[k], shape, feeling, update));
}

static void metropolis_updates(void **state)
{
  (void)state;
  compare_update(GPUMC_METROPOLIS);
}

static void heat_bath_updates(void **state)
{
  (void)state;
  compare_update(GPUMC_HEAT_BATH);
}

/* Where single precision tells nothing, every spin is decided exactly. */
static void extreme_temperatures(void **state)
{
  (void)state;
  static const double extreme[] = {0.0, 1e-30, 300.0, 1e5, 1e30};
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = spin_kernels(kernel);
  for (size_t k = 0; k < kernels; k++)
    for (size_t i = 0; i < 2 * sizeof extreme / sizeof *extreme; i++) {
      struct ising_fixture fixture;
      struct reference reference;
      struct ising_case with =
          make_case(kernel[k], 7, 2, i % 2 == 0 ? GPUMC_METROPOLIS : GPUMC_HEAT_BATH);
      with.runs = 1;
      fixture_open(&fixture, &with);
      fixture_reference(&fixture, &with, 0, REPLICAS, &reference);
      fixture_randomize(&fixture, &with, REPLICAS);
      fixture_sweep(&fixture, SWEEPS, extreme[i / 2]);
      for (uint32_t s = 0; s < SWEEPS; s++)
        reference_sweep(&reference, extreme[i / 2], s);
      fixture_expect_same(&fixture, &with, 0, &reference);
      reference_free(&reference);
      fixture_close(&fixture);
    }
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(metropolis_updates),
      cmocka_unit_test(heat_bath_updates),
      cmocka_unit_test(extreme_temperatures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
