/* Few replicas of lattices of all sizes, which a GPU cuts into strips and spreads over its
 * multiprocessors (lattice/strips.h), follow the slow reference bit for bit: one replica and
 * several, runs at temperatures of their own, odd numbers of sweeps in several calls, measured or
 * not, uniform and with disorder; as many replicas as may just be cut, and one more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/ising_compare.h"
#include "support/cases.h"

/* Strips of one layer and of several, of equal and of different sizes; rows that end within a word,
 * and lattices that end within a block of words; layers as long as a strip. */
static const struct ising_shape shapes[] = {
    {2, {64, 64, 1}},   {2, {64, 4, 1}},   {2, {128, 30, 1}},  {2, {130, 66, 1}}, {2, {34, 18, 1}},
    {2, {256, 192, 1}}, {2, {448, 34, 1}}, {2, {192, 260, 1}}, {3, {64, 34, 10}}, {3, {64, 4, 2}},
    {3, {18, 16, 16}},  {3, {34, 20, 44}}, {3, {256, 6, 4}},   {3, {20, 46, 62}},
};

static const struct ising_feeling feelings[] = {
    {.coupling = 1.0},
    {.coupling = -1.3},
    {.coupling = 1.0, .field = 0.3},
    {.coupling = 1.0, .couplings = LATTICE_BIMODAL, .positive = 0.5, .sample_each = true},
    {.coupling = 1.0, .field = 0.2, .couplings = LATTICE_GAUSSIAN, .sample_each = true},
    {.coupling = 1.0, .fields = LATTICE_BIMODAL, .width = 0.7},
};

enum {
  SHAPES = sizeof shapes / sizeof *shapes,
  FEELINGS = sizeof feelings / sizeof *feelings,
  ROOM = 3,
};

static const double betas[] = {0.4, 0.9, 0.2};

/* Finds the kernels that cut replicas. */
static size_t cutting_kernels(const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM])
{
  const size_t all = case_kernels(GPUMC_OPERATION_SWEEP, kernel);
  size_t count = 0;
  for (size_t k = 0; k < all; k++)
    if (strcmp(kernel[k]->variant, "spin") == 0 || strcmp(kernel[k]->variant, "packed") == 0)
      kernel[count++] = kernel[k];
  assert_int_equal(count, 2);
  return count;
}

/* Sweeps in calls of 1, 2 and 4, the second with a measurement. */
static void follow(const struct ising_case *with, size_t replicas)
{
  static const uint32_t sweeps[] = {1, 2, 4};
  struct ising_pair pair;
  int64_t *value = calloc(ISING_CHANNELS * with->runs * with->capacity, sizeof *value);
  int64_t *channel[ISING_CHANNELS] = {NULL};
  assert_non_null(value);
  for (size_t i = 0; i <= ISING_MAGNETIZATION; i++)
    channel[i] = value + i * with->runs * with->capacity;
  pair_open(&pair, with, replicas);
  for (size_t i = 0; i < sizeof sweeps / sizeof *sweeps; i++) {
    pair_sweep_reference(&pair, sweeps[i], betas);
    if (i == 1)
      fixture_sweep_and_measure_channels(&pair.fixture, sweeps[i], betas, channel);
    else
      fixture_sweep_each(&pair.fixture, sweeps[i], betas);
    pair_expect_replicas(&pair);
    if (i == 1)
      pair_expect_channels(&pair, channel);
  }
  pair_close(&pair);
  free(value);
}

static void compare(const struct gpumc_kernel_ops *kernel, size_t shape, size_t feeling)
{
  const size_t number = shape + feeling, replicas = 1 + number % ROOM;
  struct ising_case with = case_of(kernel, &shapes[shape], &feelings[feeling], replicas);
  with.runs = 1 + number / 2 % 3;
  with.update = number % 3 == 1 ? ISING_MOVE_HEAT_BATH : ISING_MOVE_METROPOLIS;
  with.rounds = number % 2 == 0 ? 10 : 7;
  with.seed = 4096 + 7 * number;
  with.first_run = (uint32_t)feeling;
  if (!fixture_serves(&with))
    return;
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const size_t settings = test_settings(1, 1, false, setting);
  follow(&with, replicas);
  with.setting = setting[number % settings];
  if (number % settings != 0)
    follow(&with, replicas);
}

static void few_replicas(void **state)
{
  (void)state;
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = cutting_kernels(kernel);
  FOR_CASES (cases)
    for (size_t k = 0; k < kernels; k++)
      for (size_t shape = 0; shape < SHAPES; shape++)
        for (size_t feeling = 0; feeling < FEELINGS; feeling++)
          if (cases_take(&cases))
            compare(kernel[k], shape, feeling);
}

/* Around the number of replicas that two strips each are enough for: those of multiprocessors. */
static void replicas_around_the_limit(void **state)
{
  (void)state;
  static const size_t counts[] = {20, 65, 66, 67, 128, 129, 133};
  static const struct ising_shape shape = {2, {128, 130, 1}};
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = cutting_kernels(kernel);
  FOR_CASES (cases)
    for (size_t k = 0; k < kernels; k++)
      for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const struct ising_case with = case_of(kernel[k], &shape, &feelings[i % 3], counts[i]);
        if (cases_take(&cases) && fixture_serves(&with))
          compare_last_run(with, counts[i], 3, 0.4);
      }
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(few_replicas),
      cmocka_unit_test(replicas_around_the_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
