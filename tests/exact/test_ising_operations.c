/* Operations of the kernels of Ising spins that canonical runs and parallel tempering need, against
 * the slow reference: runs at temperatures of their own, exchange, overlaps, and all channels;
 * lattices whose rows are whole vectors, and lattices beyond the shared memory of a GPU's block. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/ising_cases.h"

enum {
  RUNS = 4,
  REPLICAS = 37,
  ROOM = 41,
  FEW = 3, /* replicas of a large lattice */
  SWEEPS = 2,
  WORDS = (ROOM + 31) / 32,
};

static const double betas[RUNS] = {0.7, 0.2, 0.2, 1.3};

/* Sides of 2 and 4 beside whole vectors; places within rows that repeat from step to step and that
 * do not; two axes of the same length, and one longest. */
static const struct ising_shape small[] = {
    {2, {16, 16, 1}}, {2, {40, 8, 1}},  {3, {8, 8, 8}},   {3, {16, 8, 2}},
    {3, {24, 4, 10}}, {3, {16, 2, 12}}, {3, {10, 12, 4}}, {3, {2, 2, 6}},
};
static const struct ising_shape large[] = {
    {3, {64, 32, 32}}, {3, {34, 64, 32}}, {2, {256, 258, 1}}};

enum {
  SMALL = sizeof small / sizeof *small,
  LARGE = sizeof large / sizeof *large,
  NEEDED = GPUMC_CAN_SWEEP | GPUMC_CAN_HEAT_BATH | GPUMC_CAN_EXCHANGE | GPUMC_CAN_OVERLAP
};

/* The ensemble and what it should be. */
struct pair {
  struct ising_case with;
  struct ising_fixture fixture;
  struct reference reference[RUNS];
  size_t replicas;
};

static void open_pair(const struct ising_case *with, size_t replicas, struct pair *pair)
{
  pair->with = *with;
  pair->replicas = replicas;
  fixture_open(&pair->fixture, with);
  for (size_t m = 0; m < RUNS; m++)
    fixture_reference(&pair->fixture, with, m, replicas, &pair->reference[m]);
  fixture_randomize(&pair->fixture, with, replicas);
}

static void close_pair(struct pair *pair)
{
  for (size_t m = 0; m < RUNS; m++)
    reference_free(&pair->reference[m]);
  fixture_close(&pair->fixture);
}

static void expect_same_replicas(struct pair *pair)
{
  for (size_t m = 0; m < RUNS; m++)
    fixture_expect_same(&pair->fixture, &pair->with, m, &pair->reference[m]);
}

static void expect_number(const struct pair *pair, const char *what, size_t m, size_t r,
                          int64_t found, int64_t expected)
{
  if (found != expected)
    fail_msg("%s: %s of replica %zu of run %zu is %lld, not %lld", fixture_text(&pair->with), what,
             r, m, (long long)found, (long long)expected);
}

static void sweep_pair(struct pair *pair, int64_t *const channel[ISING_CHANNELS])
{
  const uint32_t time = pair->fixture.ensemble.time;
  for (size_t m = 0; m < RUNS; m++)
    for (uint32_t s = 0; s < SWEEPS; s++)
      reference_sweep(&pair->reference[m], betas[m], time + s);
  fixture_sweep_and_measure_channels(&pair->fixture, SWEEPS, betas, channel);
}

static void expect_channels(const struct pair *pair, int64_t *const channel[ISING_CHANNELS])
{
  const struct gpumc_model *model = &pair->fixture.model;
  const size_t room = pair->with.capacity;
  for (size_t m = 0; m < RUNS; m++)
    for (size_t r = 0; r < pair->replicas; r++) {
      const double energy = reference_energy(&pair->reference[m], r) / model->quantum[ISING_ENERGY];
      const int64_t found = channel[ISING_ENERGY][m * room + r];
      if (fabs((double)found - energy) > 0.51)
        expect_number(pair, "energy", m, r, found, (int64_t)rint(energy));
      expect_number(pair, "magnetization", m, r, channel[ISING_MAGNETIZATION][m * room + r],
                    reference_magnetization(&pair->reference[m], r));
      expect_number(pair, "wave", m, r, channel[ISING_WAVE][m * room + r],
                    reference_wave(&pair->reference[m], r, model->wave_quantum));
    }
}

/* Sweeps together with the measurement, the measurement by itself, and the wave alone. */
static void expect_measured(struct pair *pair)
{
  const size_t count = RUNS * pair->with.capacity;
  int64_t *value = calloc(ISING_CHANNELS * count, sizeof *value);
  int64_t *const all[ISING_CHANNELS] = {value, value + count, value + 2 * count};
  int64_t *const wave[ISING_CHANNELS] = {[ISING_WAVE] = value + 2 * count};
  assert_non_null(value);
  sweep_pair(pair, all);
  expect_channels(pair, all);
  memset(value, 0, ISING_CHANNELS * count * sizeof *value);
  fixture_measure_channels(&pair->fixture, all);
  expect_channels(pair, all);
  memset(wave[ISING_WAVE], 0, count * sizeof *value);
  fixture_measure_channels(&pair->fixture, wave);
  expect_channels(pair, all);
  free(value);
}

/* Runs first .. first + runs - 1 with those from `second` on, now all that can be told, now one. */
static void expect_overlaps(struct pair *pair, size_t first, size_t second, size_t runs)
{
  static const char *const name[GPUMC_OVERLAPS] = {"overlap", "link overlap",
                                                   "wave of the overlap"};
  const size_t room = pair->with.capacity, count = runs * room;
  int64_t *value = calloc(GPUMC_OVERLAPS * count, sizeof *value);
  assert_non_null(value);
  for (size_t only = 0; only <= GPUMC_OVERLAPS; only++) {
    int64_t *wanted[GPUMC_OVERLAPS] = {NULL};
    for (size_t kind = 0; kind < GPUMC_OVERLAPS; kind++)
      if (only == GPUMC_OVERLAPS || only == kind)
        wanted[kind] = value + kind * count;
    memset(value, 0, GPUMC_OVERLAPS * count * sizeof *value);
    fixture_overlap(&pair->fixture, first, second, runs, wanted);
    for (size_t kind = 0; kind < GPUMC_OVERLAPS; kind++)
      for (size_t i = 0; wanted[kind] != NULL && i < runs; i++)
        for (size_t r = 0; r < pair->replicas; r++)
          expect_number(pair, name[kind], i, r, wanted[kind][i * room + r],
                        reference_overlap(&pair->reference[first + i], &pair->reference[second + i],
                                          r, (enum gpumc_overlap)kind,
                                          pair->fixture.model.wave_quantum));
  }
  free(value);
}

/* Pairs 0-1 and 2-3, then 1-2. */
static void exchange_pair(struct pair *pair, size_t first, uint32_t salt)
{
  uint32_t swap[RUNS * WORDS] = {0};
  for (size_t m = first; m + 1 < RUNS; m += 2) {
    for (uint32_t r = 0; r < pair->replicas; r++)
      swap[m * WORDS + r / 32] |= ((r + salt) * 2654435761u >> 20 & 1) << r % 32;
    reference_exchange(&pair->reference[m], &pair->reference[m + 1], swap + m * WORDS);
  }
  fixture_exchange(&pair->fixture, swap);
}

static void go_through(struct ising_case with, size_t replicas)
{
  struct pair pair;
  with.runs = RUNS;
  with.first_run = 9;
  if (!fixture_serves(&with))
    return;
  open_pair(&with, replicas, &pair);
  expect_measured(&pair);
  if (with.capacity == ROOM) {
    exchange_pair(&pair, 0, 3);
    expect_same_replicas(&pair);
    exchange_pair(&pair, 1, 8);
  }
  expect_overlaps(&pair, 0, 2, 2);
  expect_overlaps(&pair, 1, 0, 3);
  expect_measured(&pair);
  expect_same_replicas(&pair);
  close_pair(&pair);
}

static void small_lattices(void **state)
{
  (void)state;
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_kernels(NEEDED, kernel);
  for (size_t k = 0; k < kernels; k++)
    for (size_t i = 0; i < SMALL; i++)
      for (size_t feeling = 0; feeling < CASE_FEELINGS; feeling++) {
        struct ising_case with = case_of(kernel[k], &small[i], &case_feelings[feeling], ROOM);
        with.update = (i + feeling) % 3 == 0 ? GPUMC_HEAT_BATH : GPUMC_METROPOLIS;
        with.rounds = (i + feeling) % 2 == 0 ? 10 : 7;
        go_through(with, REPLICAS);
      }
}

static void large_lattices(void **state)
{
  (void)state;
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_kernels(NEEDED, kernel);
  for (size_t k = 0; k < kernels; k++)
    for (size_t i = 0; i < LARGE; i++)
      for (size_t feeling = i; feeling < CASE_FEELINGS; feeling += LARGE) {
        struct ising_case with = case_of(kernel[k], &large[i], &case_feelings[feeling], FEW);
        with.update = feeling % 2 == 0 ? GPUMC_METROPOLIS : GPUMC_HEAT_BATH;
        go_through(with, FEW);
      }
}

/* The ensemble's settings of a block decide nothing. */
static void blocks_of_all_sizes(void **state)
{
  (void)state;
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const size_t settings = test_settings(1, 2, true, setting);
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_kernels(NEEDED, kernel);
  for (size_t k = 0; k < kernels; k++)
    for (size_t i = 0; i < settings; i++) {
      struct ising_case with = case_of(kernel[k], &small[4], &case_feelings[3], ROOM);
      with.setting = setting[i];
      go_through(with, REPLICAS);
      with = case_of(kernel[k], &large[0], &case_feelings[3], FEW);
      with.setting = setting[i];
      go_through(with, FEW);
    }
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_lattices),
      cmocka_unit_test(large_lattices),
      cmocka_unit_test(blocks_of_all_sizes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
