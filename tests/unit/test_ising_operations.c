/* Operations of the kernels of Ising spins other than sweeps, in two and three dimensions, with
 * signs of bonds and fields, against the slow reference: channels, exchange, overlaps, memory, and
 * what kernels of bits refuse. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/ising_cases.h"

enum { SIZE = 37, ROOM = 41, RUNS = 4, FIRST_RUN = 5 };

/* Every kernel with the capabilities, shape and feeling; two threads, levels or sizes of a block in
 * turn. */
static void for_every_case(uint32_t capabilities, void (*body)(struct ising_case with))
{
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t settings = test_settings(2, 2, true, setting);
  const size_t kernels = case_kernels(capabilities, kernel);
  for (size_t k = 0; k < kernels; k++)
    for (size_t s = 0; s < CASE_SHAPES; s++)
      for (size_t f = 0; f < CASE_FEELINGS; f++) {
        struct ising_case with = case_of(kernel[k], &case_shapes[s], &case_feelings[f], ROOM);
        with.runs = RUNS;
        with.first_run = FIRST_RUN;
        with.setting = setting[(s + f) % settings];
        if (fixture_serves(&with))
          body(with);
      }
}

static void open_at_random(struct ising_fixture *fixture, const struct ising_case *with,
                           struct reference reference[RUNS])
{
  fixture_open(fixture, with);
  fixture_randomize(fixture, with, SIZE);
  for (size_t m = 0; m < RUNS; m++)
    fixture_reference(fixture, with, m, SIZE, &reference[m]);
}

static void close_all(struct ising_fixture *fixture, struct reference reference[RUNS])
{
  fixture_close(fixture);
  for (size_t m = 0; m < RUNS; m++)
    reference_free(&reference[m]);
}

/* Waves of the reference are slow: those of some lanes of both groups. */
static bool has_wave_checked(size_t replica)
{
  return replica % 31 < 2;
}

static void measure_case(struct ising_case with)
{
  struct ising_fixture fixture;
  struct reference reference[RUNS];
  int64_t energy[RUNS * ROOM], magnetization[RUNS * ROOM], wave[RUNS * ROOM], alone[RUNS * ROOM];
  open_at_random(&fixture, &with, reference);
  const double quantum = fixture.model.quantum[ISING_ENERGY];
  fixture_measure_channels(&fixture, (int64_t *const[ISING_CHANNELS]){energy, magnetization, wave});
  for (size_t m = 0; m < RUNS; m++)
    for (size_t r = 0; r < SIZE; r++) {
      const size_t at = m * ROOM + r;
      const double exact = reference_energy(&reference[m], r) / quantum;
      if (fabs((double)energy[at] - exact) > 0.51)
        fail_msg("%s: energy %lld instead of %.17g", fixture_text(&with), (long long)energy[at],
                 exact);
      assert_int_equal(magnetization[at], reference_magnetization(&reference[m], r));
      if (has_wave_checked(r))
        assert_int_equal(wave[at],
                         reference_wave(&reference[m], r, fixture.model.quantum[ISING_WAVE]));
    }
  fixture_measure_channels(&fixture, (int64_t *const[ISING_CHANNELS]){NULL, NULL, alone});
  for (size_t m = 0; m < RUNS; m++)
    assert_memory_equal(wave + m * ROOM, alone + m * ROOM, SIZE * sizeof *alone);
  close_all(&fixture, reference);
}

static void channels_are_those_of_the_reference(void **state)
{
  (void)state;
  for_every_case(GPUMC_CAN_MEASURE | GPUMC_CAN_OVERLAP, measure_case);
}

static void overlap_case(struct ising_case with)
{
  static const char *const name[GPUMC_OVERLAPS] = {"spin", "link", "wave"};
  struct ising_fixture fixture;
  struct reference reference[RUNS];
  int64_t value[GPUMC_OVERLAPS][2 * ROOM], alone[2 * ROOM];
  open_at_random(&fixture, &with, reference);
  fixture_overlap(&fixture, 0, 2, 2,
                  (int64_t *const[GPUMC_OVERLAPS]){value[0], value[1], value[2]});
  for (size_t i = 0; i < 2; i++)
    for (size_t r = 0; r < SIZE; r++)
      for (int kind = 0; kind < GPUMC_OVERLAPS; kind++) {
        if (kind == GPUMC_OVERLAP_WAVE && !has_wave_checked(r))
          continue;
        const int64_t exact =
            reference_overlap(&reference[i], &reference[i + 2], r, (enum gpumc_overlap)kind,
                              fixture.model.wave_quantum);
        if (value[kind][i * ROOM + r] != exact)
          fail_msg("%s: overlap %s %lld instead of %lld", fixture_text(&with), name[kind],
                   (long long)value[kind][i * ROOM + r], (long long)exact);
      }
  fixture_overlap(&fixture, 1, 3, 1, (int64_t *const[GPUMC_OVERLAPS]){NULL, alone, NULL});
  assert_memory_equal(value[GPUMC_OVERLAP_LINK] + ROOM, alone, SIZE * sizeof *alone);
  close_all(&fixture, reference);
}

static void overlaps_are_those_of_the_reference(void **state)
{
  (void)state;
  for_every_case(GPUMC_CAN_OVERLAP, overlap_case);
}

/* Replicas change places with a run before or a run behind, never with both; sweeps go on with the
 * random numbers of the new place. */
static void exchange_case(struct ising_case with)
{
  enum { ROW = (ROOM + 31) / 32 };
  struct ising_fixture fixture;
  struct reference reference[RUNS];
  uint32_t swap[RUNS * ROW] = {0};
  open_at_random(&fixture, &with, reference);
  for (size_t r = 0; r < SIZE; r++)
    for (size_t m = r * 7 % 5 % 2; m + 1 < RUNS; m += 2)
      if ((r * 2654435761u >> (m + 5) & 1) != 0)
        swap[m * ROW + r / 32] |= (uint32_t)1 << r % 32;
  fixture_exchange(&fixture, swap);
  fixture_sweep(&fixture, 1, 0.6);
  for (size_t m = 0; m + 1 < RUNS; m++)
    reference_exchange(&reference[m], &reference[m + 1], swap + m * ROW);
  for (size_t m = 0; m < RUNS; m++) {
    reference_sweep(&reference[m], 0.6, 0);
    fixture_expect_same(&fixture, &with, m, &reference[m]);
  }
  close_all(&fixture, reference);
}

static void exchanged_replicas_change_places(void **state)
{
  (void)state;
  for_every_case(GPUMC_CAN_EXCHANGE | GPUMC_CAN_SWEEP, exchange_case);
}

/* Population annealing of one sample: children live in the parents' couplings. */
static void gather_case(struct ising_case with)
{
  struct ising_fixture fixture;
  const uint32_t size[RUNS] = {SIZE, SIZE, SIZE, SIZE};
  uint32_t parent[RUNS * ROOM] = {0};
  int64_t before[RUNS * ROOM], after[RUNS * ROOM];
  if (with.sample_each)
    return;
  fixture_open(&fixture, &with);
  fixture_randomize(&fixture, &with, SIZE);
  fixture_measure(&fixture, before, NULL);
  for (size_t m = 0; m < RUNS; m++)
    for (uint32_t r = 0; r < SIZE; r++)
      parent[m * ROOM + r] = r % 3 == 0 ? r : (r / 3 + 5 + (uint32_t)m) % 12 * 3;
  fixture_gather(&fixture, parent, size);
  fixture_measure(&fixture, after, NULL);
  for (size_t m = 0; m < RUNS; m++)
    for (size_t r = 0; r < SIZE; r++)
      assert_int_equal(after[m * ROOM + r], before[m * ROOM + parent[m * ROOM + r]]);
  fixture_close(&fixture);
}

static void children_have_the_energy_of_parents(void **state)
{
  (void)state;
  for_every_case(GPUMC_CAN_GATHER | GPUMC_CAN_HEAT_BATH, gather_case);
}

/* Words of signs take memory by the group of samples, not by the run. */
static void memory_of_samples_is_counted(void **state)
{
  (void)state;
  enum { SAMPLES = 320 };
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_kernels(GPUMC_CAN_EXCHANGE, kernel);
  const struct gpumc_device device = test_device(test_setting());
  const struct ising_shape shape = {3, {8, 8, 8}};
  for (size_t k = 0; k < kernels; k++) {
    struct ising_fixture fixture;
    struct ising_case with = case_of(kernel[k], &shape, &case_feelings[3], SAMPLES);
    const struct gpumc_ensemble_plan one = {.runs = 2, .capacity = SAMPLES, .samples = 1};
    const struct gpumc_ensemble_plan each = {.runs = 2, .capacity = SAMPLES, .samples = SAMPLES};
    if (!fixture_serves(&with))
      continue;
    fixture_open(&fixture, &with);
    const struct gpumc_model *model = &fixture.model;
    const double more =
        (double)(kernel[k]->bytes(model, &device, &each) - kernel[k]->bytes(model, &device, &one));
    const double bonds = (double)(3 * model->sites * (SAMPLES - 32));
    /* At least a bit for each bond, and for each of its ends not more than a word of bits needs. */
    if (fixture_trajectory(kernel[k]) == REFERENCE_MULTISPIN)
      assert_true(more >= bonds / 8 && more <= 2 * bonds / 8);
    fixture_close(&fixture);
  }
}

static void expect_refused(struct ising_case with, const char *why)
{
  struct gpumc_error error = {0};
  struct gpumc_model model;
  struct gpumc_device device = test_device(with.setting);
  struct gpumc_ensemble ensemble;
  const struct gpumc_ensemble_plan plan = {.runs = 1, .capacity = ROOM, .samples = 1};
  assert_int_equal(ising_instance(&with.settings, &model, &error), GPUMC_OK);
  assert_int_equal(
      gpumc_ensemble_create(with.kernel, &model, &device, &plan, 1, 10, &ensemble, &error),
      GPUMC_INVALID);
  assert_non_null(strstr(gpumc_error_text(&error), why));
  gpumc_ensemble_free(&ensemble);
  model.ops->destroy(&model);
  gpumc_error_free(&error);
}

static void bits_refuse_what_is_no_sign(void **state)
{
  (void)state;
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_kernels(GPUMC_CAN_HEAT_BATH, kernel);
  const struct ising_shape shape = {3, {4, 4, 4}};
  const struct ising_feeling gaussian = {.coupling = 1.0, .couplings = ISING_GAUSSIAN};
  const struct ising_feeling gaussian_fields = {
      .coupling = 1.0, .fields = ISING_GAUSSIAN, .width = 0.5};
  const struct ising_feeling both_fields = {
      .coupling = 1.0, .field = 0.1, .fields = ISING_BIMODAL, .width = 0.5};
  for (size_t k = 0; k < kernels; k++)
    if (fixture_trajectory(kernel[k]) == REFERENCE_MULTISPIN) {
      expect_refused(case_of(kernel[k], &shape, &gaussian, ROOM), "sign of a coupling");
      expect_refused(case_of(kernel[k], &shape, &gaussian_fields, ROOM), "sign of a random field");
      expect_refused(case_of(kernel[k], &shape, &both_fields, ROOM), "uniform one");
    }
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(channels_are_those_of_the_reference),
      cmocka_unit_test(overlaps_are_those_of_the_reference),
      cmocka_unit_test(exchanged_replicas_change_places),
      cmocka_unit_test(children_have_the_energy_of_parents),
      cmocka_unit_test(memory_of_samples_is_counted),
      cmocka_unit_test(bits_refuse_what_is_no_sign),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
