/* Operations of the kernels of Ising spins that canonical runs and parallel tempering need, against
 * the slow reference: runs at temperatures of their own, exchange, overlaps, and all channels;
 * lattices whose rows are whole vectors, and lattices beyond the shared memory of a GPU's block.
 *
 * CTest: release, long */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/ising_compare.h"
#include "support/cases.h"

enum {
  RUNS = 4,
  REPLICAS = 37,
  ROOM = 41,
  FEW = 3, /* replicas of a large lattice */
  SWEEPS = 2,
  WORDS = (ROOM + 31) / 32,
};

static const double betas[RUNS] = {0.7, 0.2, 0.2, 1.3};

/* Sides of 2 and 4 beside whole vectors, and halves of them; places within rows that repeat from
 * step to step and that do not; two axes of the same length, and one longest. */
static const struct ising_shape small[] = {
    {2, {16, 16, 1}}, {2, {40, 8, 1}},  {3, {8, 8, 8}},   {3, {16, 8, 2}},  {2, {20, 10, 1}},
    {3, {12, 8, 2}},  {3, {24, 4, 10}}, {3, {16, 2, 12}}, {3, {10, 12, 4}}, {3, {2, 2, 6}},
    {2, {64, 10, 1}}, {2, {256, 6, 1}}, {3, {64, 6, 4}},  {3, {256, 2, 4}},
};
static const struct ising_shape large[] = {
    {3, {64, 32, 32}}, {3, {34, 64, 32}}, {2, {256, 258, 1}}};

enum {
  SMALL = sizeof small / sizeof *small,
  LARGE = sizeof large / sizeof *large,
  NEEDED = GPUMC_OPERATION_SWEEP | GPUMC_OPERATION_EXCHANGE | GPUMC_OPERATION_COMPARE
};

/* The measurement by itself, and the wave alone. */
static void expect_channels(struct ising_pair *pair, int64_t *const all[ISING_CHANNELS])
{
  const size_t count = RUNS * pair->with.capacity;
  int64_t *const wave[ISING_CHANNELS] = {[ISING_WAVE] = all[ISING_WAVE]};
  memset(all[0], 0, ISING_CHANNELS * count * sizeof *all[0]);
  fixture_measure_channels(&pair->fixture, all);
  pair_expect_channels(pair, all);
  memset(wave[ISING_WAVE], 0, count * sizeof *all[0]);
  fixture_measure_channels(&pair->fixture, wave);
  pair_expect_channels(pair, all);
}

/* Measures, after sweeps that measure as well, if they are wanted. */
static void expect_measured(struct ising_pair *pair, uint32_t sweeps)
{
  const size_t count = RUNS * pair->with.capacity;
  int64_t *value = calloc(ISING_CHANNELS * count, sizeof *value);
  int64_t *const all[ISING_CHANNELS] = {value, value + count, value + 2 * count};
  assert_non_null(value);
  if (sweeps > 0) {
    pair_sweep_reference(pair, sweeps, betas);
    fixture_sweep_and_measure_channels(&pair->fixture, sweeps, betas, all);
    pair_expect_channels(pair, all);
  }
  expect_channels(pair, all);
  free(value);
}

/* First one kind alone, then everything. */
static void expect_overlaps(struct ising_pair *pair, size_t first, size_t second, size_t runs)
{
  for (size_t only = 0; only <= ISING_PAIRS; only++) {
    bool wanted[ISING_PAIRS];
    for (size_t kind = 0; kind < ISING_PAIRS; kind++)
      wanted[kind] = only == ISING_PAIRS || only == kind;
    pair_expect_overlaps(pair, first, second, runs, wanted);
  }
}

/* Pairs 0-1 and 2-3, then 1-2. Bits of replicas that a run has not mean nothing. */
static void exchange_pairs(struct ising_pair *pair, size_t first, uint32_t salt)
{
  uint32_t swap[RUNS * WORDS] = {0};
  for (size_t m = first; m + 1 < RUNS; m += 2)
    for (uint32_t r = 0; r < pair->with.capacity; r++)
      swap[m * WORDS + r / 32] |= ((r + salt) * 2654435761u >> 20 & 1) << r % 32;
  pair_exchange(pair, swap);
}

/* What follows an exchange that the kernel may have left to it; overlaps otherwise. */
enum { THEN_SWEEP, THEN_MEASURE, THEN_EXCHANGE, THEN_COMPARE, THENS };

static void exchange_and(struct ising_pair *pair, size_t then)
{
  exchange_pairs(pair, 0, 3);
  pair_expect_replicas(pair);
  exchange_pairs(pair, 1, 8);
  if (then == THEN_SWEEP || then == THEN_MEASURE)
    expect_measured(pair, then == THEN_SWEEP ? SWEEPS : 0);
  else if (then == THEN_EXCHANGE)
    exchange_pairs(pair, 0, 5);
}

static void go_through(struct ising_case with, size_t replicas, size_t number)
{
  struct ising_pair pair;
  with.runs = RUNS;
  with.first_run = 9;
  with.exchanges = number / THENS % 4 != 3; /* else they are made at once */
  if (!fixture_serves(&with))
    return;
  pair_open(&pair, &with, replicas);
  expect_measured(&pair, SWEEPS);
  if (with.capacity == ROOM)
    exchange_and(&pair, number % THENS);
  expect_overlaps(&pair, 0, 2, 2);
  expect_overlaps(&pair, 1, 0, 3);
  expect_measured(&pair, SWEEPS);
  pair_expect_replicas(&pair);
  pair_close(&pair);
}

static void small_lattices(void **state)
{
  (void)state;
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_kernels(NEEDED, kernel);
  FOR_CASES (cases)
    for (size_t k = 0; k < kernels; k++)
      for (size_t i = 0; i < SMALL; i++)
        for (size_t feeling = 0; feeling < CASE_FEELINGS; feeling++) {
          if (!cases_take(&cases))
            continue;
          struct ising_case with = case_of(kernel[k], &small[i], &case_feelings[feeling], ROOM);
          with.update = (i + feeling) % 3 == 0 ? ISING_MOVE_HEAT_BATH : ISING_MOVE_METROPOLIS;
          with.rounds = (i + feeling) % 2 == 0 ? 10 : 7;
          go_through(with, REPLICAS, i + feeling);
        }
}

static void large_lattices(void **state)
{
  (void)state;
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_kernels(NEEDED, kernel);
  FOR_CASES (cases)
    for (size_t k = 0; k < kernels; k++)
      for (size_t i = 0; i < LARGE; i++)
        for (size_t feeling = i; feeling < CASE_FEELINGS; feeling += LARGE) {
          if (!cases_take(&cases))
            continue;
          struct ising_case with = case_of(kernel[k], &large[i], &case_feelings[feeling], FEW);
          with.update = feeling % 2 == 0 ? ISING_MOVE_METROPOLIS : ISING_MOVE_HEAT_BATH;
          go_through(with, FEW, i);
        }
}

/* The ensemble's settings of a block do not affect results. */
static void blocks_of_all_sizes(void **state)
{
  (void)state;
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const size_t settings = test_settings(1, 2, true, setting);
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_kernels(NEEDED, kernel);
  for (size_t k = 0; k < kernels; k++)
    for (size_t i = 0; i < settings; i++) {
      struct ising_case with = case_of(kernel[k], &small[2], &case_feelings[3], ROOM);
      with.setting = setting[i];
      go_through(with, REPLICAS, i);
      with = case_of(kernel[k], &large[0], &case_feelings[3], FEW);
      with.setting = setting[i];
      go_through(with, FEW, i);
    }
}

/* Exchanges that sweeps make need a second memory: where there is none, the cases above show
 * nothing of them. */
static void memory_for_exchanges(void **state)
{
  (void)state;
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_kernels(NEEDED, kernel);
  for (size_t k = 0; k < kernels; k++) {
    const struct ising_case with = case_of(kernel[k], &small[2], &case_feelings[0], ROOM);
    struct ising_fixture fixture;
    if (!fixture_serves(&with))
      continue;
    fixture_open(&fixture, &with);
    struct gpumc_ensemble_plan plan = fixture.ensemble.plan;
    size_t bytes[2];
    plan.copies = false;
    for (int exchanges = 0; exchanges < 2; exchanges++) {
      plan.exchanges = exchanges != 0;
      bytes[exchanges] = kernel[k]->bytes(&fixture.model, &fixture.device, &plan);
    }
    assert_int_equal(bytes[1] > bytes[0],
                     !test_device_is_cpu() && strcmp(kernel[k]->variant, "multispin") == 0);
    fixture_close(&fixture);
  }
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_lattices),
      cmocka_unit_test(large_lattices),
      cmocka_unit_test(blocks_of_all_sizes),
      cmocka_unit_test(memory_for_exchanges),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
