/* Operations of Ising spin kernels other than sweeps, in two and three dimensions, with signs of
 * bonds and fields, against the slow reference: channels, exchange, overlaps, memory, and what
 * kernels of bits refuse.
 *
 * CTest: long */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/ising_compare.h"
#include "support/cases.h"

enum { SIZE = 37, ROOM = 41, RUNS = 4, FIRST_RUN = 5 };

/* Runs `body` for every kernel with the operations, shape and feeling; with two threads, and levels
 * or block sizes in turn. */
static void for_every_case(uint32_t operations, void (*body)(struct ising_case with))
{
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t settings = test_settings(2, 2, true, setting);
  const size_t kernels = case_kernels(operations, kernel);
  FOR_CASES (cases)
    for (size_t k = 0; k < kernels; k++)
      for (size_t s = 0; s < CASE_SHAPES; s++)
        for (size_t f = 0; f < CASE_FEELINGS; f++) {
          struct ising_case with = case_of(kernel[k], &case_shapes[s], &case_feelings[f], ROOM);
          with.runs = RUNS;
          with.first_run = FIRST_RUN;
          with.setting = setting[(s + f) % settings];
          if (cases_take(&cases) && fixture_serves(&with))
            body(with);
        }
}

/* Waves are slow in the reference: only those of some lanes in both groups are compared. */
enum { WAVE_STEP = 31 };

static void open_at_random(struct ising_pair *pair, const struct ising_case *with)
{
  pair_open(pair, with, SIZE);
  pair->wave_step = WAVE_STEP;
}

static void measure_case(struct ising_case with)
{
  struct ising_pair pair;
  int64_t value[ISING_CHANNELS][RUNS * ROOM], alone[RUNS * ROOM];
  int64_t *const all[ISING_CHANNELS] = {value[0], value[1], value[2]};
  open_at_random(&pair, &with);
  fixture_measure_channels(&pair.fixture, all);
  pair_expect_channels(&pair, all);
  fixture_measure_channels(&pair.fixture, (int64_t *const[ISING_CHANNELS]){NULL, NULL, alone});
  for (size_t m = 0; m < RUNS; m++)
    assert_memory_equal(value[ISING_WAVE] + m * ROOM, alone + m * ROOM, SIZE * sizeof *alone);
  pair_close(&pair);
}

static void channels_are_those_of_the_reference(void **state)
{
  (void)state;
  for_every_case(GPUMC_OPERATION_MEASURE | GPUMC_OPERATION_COMPARE, measure_case);
}

/* Kernels may count while they sweep. Small lattices are measured often, since few spins are
 * decided last. */
static void swept_case(struct ising_case with)
{
  enum { ROUNDS = 8, SMALL = 600 };
  static const double beta[RUNS] = {0.05, 0.15, 0.3, 0.7};
  struct ising_fixture fixture;
  int64_t swept[ISING_STATE_CHANNELS][RUNS * ROOM], alone[ISING_STATE_CHANNELS][RUNS * ROOM];
  fixture_open(&fixture, &with);
  fixture_randomize(&fixture, &with, SIZE);
  const uint32_t rounds = fixture.model.sites <= SMALL ? ROUNDS : 1;
  for (uint32_t round = 0; round < rounds; round++) {
    fixture_sweep_and_measure_channels(
        &fixture, 1 + round % 2, beta,
        (int64_t *const[ISING_CHANNELS]){swept[0], swept[1], swept[2]});
    fixture_measure_channels(&fixture,
                             (int64_t *const[ISING_CHANNELS]){alone[0], alone[1], alone[2]});
    for (size_t channel = 0; channel < ISING_STATE_CHANNELS; channel++)
      for (size_t m = 0; m < RUNS; m++)
        assert_memory_equal(swept[channel] + m * ROOM, alone[channel] + m * ROOM,
                            SIZE * sizeof(int64_t));
  }
  fixture_close(&fixture);
}

static void sweeps_measure_what_they_leave(void **state)
{
  (void)state;
  for_every_case(GPUMC_OPERATION_MEASURE | GPUMC_OPERATION_COMPARE | GPUMC_OPERATION_SWEEP,
                 swept_case);
}

static void overlap_case(struct ising_case with)
{
  static const bool all[ISING_PAIRS] = {true, true, true};
  static const bool link[ISING_PAIRS] = {[ISING_PAIR_LINK] = true};
  struct ising_pair pair;
  open_at_random(&pair, &with);
  pair_expect_overlaps(&pair, 0, 2, 2, all);
  pair_expect_overlaps(&pair, 1, 3, 1, link);
  pair_close(&pair);
}

static void overlaps_are_those_of_the_reference(void **state)
{
  (void)state;
  for_every_case(GPUMC_OPERATION_COMPARE, overlap_case);
}

/* Replicas change places with a run before or after, never with both; sweeps continue with the
 * random numbers of the new place. */
static void exchange_case(struct ising_case with)
{
  enum { ROW = (ROOM + 31) / 32 };
  static const double beta[RUNS] = {0.6, 0.6, 0.6, 0.6};
  struct ising_pair pair;
  uint32_t swap[RUNS * ROW] = {0};
  open_at_random(&pair, &with);
  for (size_t r = 0; r < SIZE; r++)
    for (size_t m = r * 7 % 5 % 2; m + 1 < RUNS; m += 2)
      if ((r * 2654435761u >> (m + 5) & 1) != 0)
        swap[m * ROW + r / 32] |= (uint32_t)1 << r % 32;
  pair_exchange(&pair, swap);
  pair_sweep_reference(&pair, 1, beta);
  fixture_sweep(&pair.fixture, 1, beta[0]);
  pair_expect_replicas(&pair);
  pair_close(&pair);
}

static void exchanged_replicas_change_places(void **state)
{
  (void)state;
  for_every_case(GPUMC_OPERATION_EXCHANGE | GPUMC_OPERATION_SWEEP, exchange_case);
}

/* Population annealing of one sample: children use the parents' couplings. */
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
  for_every_case(GPUMC_OPERATION_GATHER, gather_case);
}

/* Words of signs take memory per group of samples, not per run. */
static void memory_of_samples_is_counted(void **state)
{
  (void)state;
  enum { SAMPLES = 320 };
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_kernels(GPUMC_OPERATION_EXCHANGE, kernel);
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
    /* At least one bit per bond, and for each of its ends no more than a word of bits needs. */
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
  const size_t kernels = case_kernels(GPUMC_OPERATION_SWEEP, kernel);
  const struct ising_shape shape = {3, {4, 4, 4}};
  const struct ising_feeling gaussian = {.coupling = 1.0, .couplings = LATTICE_GAUSSIAN};
  const struct ising_feeling gaussian_fields = {
      .coupling = 1.0, .fields = LATTICE_GAUSSIAN, .width = 0.5};
  const struct ising_feeling both_fields = {
      .coupling = 1.0, .field = 0.1, .fields = LATTICE_BIMODAL, .width = 0.5};
  for (size_t k = 0; k < kernels; k++)
    if (fixture_trajectory(kernel[k]) == REFERENCE_MULTISPIN) {
      expect_refused(case_of(kernel[k], &shape, &gaussian, ROOM), "a coupling as one bit");
      expect_refused(case_of(kernel[k], &shape, &gaussian_fields, ROOM),
                     "a random field as one bit");
      expect_refused(case_of(kernel[k], &shape, &both_fields, ROOM), "with a uniform one");
    }
}

static void packed_refuses_other_rows_and_disorder(void **state)
{
  (void)state;
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_kernels(GPUMC_OPERATION_SWEEP, kernel);
  const struct ising_shape other = {2, {96, 4, 1}}, good = {2, {64, 4, 1}};
  for (size_t k = 0; k < kernels; k++)
    if (fixture_trajectory(kernel[k]) == REFERENCE_PACKED) {
      expect_refused(case_of(kernel[k], &other, &case_feelings[0], ROOM), "a multiple of 64");
      expect_refused(case_of(kernel[k], &good, &case_feelings[4], ROOM), "rules out disorder");
      expect_refused(case_of(kernel[k], &good, &case_feelings[8], ROOM), "rules out disorder");
    }
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(channels_are_those_of_the_reference),
      cmocka_unit_test(sweeps_measure_what_they_leave),
      cmocka_unit_test(overlaps_are_those_of_the_reference),
      cmocka_unit_test(exchanged_replicas_change_places),
      cmocka_unit_test(children_have_the_energy_of_parents),
      cmocka_unit_test(memory_of_samples_is_counted),
      cmocka_unit_test(bits_refuse_what_is_no_sign),
      cmocka_unit_test(packed_refuses_other_rows_and_disorder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
