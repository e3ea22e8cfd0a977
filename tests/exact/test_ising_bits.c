/* Kernels of Ising spins follow the slow reference bit for bit in two and three dimensions: uniform
 * couplings and fields, and signs that differ from bond to bond and site to site, for each replica
 * or the same for all; Metropolis and heat bath; levels and threads of a CPU, blocks of a GPU.
 *
 * CTest: first, long */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/ising_compare.h"
#include "support/cases.h"

enum { SWEEPS = 3, REPLICAS = 37, ROOM = 41 };

/* Temperatures alternate on larger lattices. */
static void compare_feeling(const struct gpumc_kernel_ops *kernel, size_t shape, size_t feeling,
                            enum ising_move update)
{
  static const double betas[] = {0.0, 0.2, 0.9, 4.0};
  struct ising_case with = case_of(kernel, &case_shapes[shape], &case_feelings[feeling], ROOM);
  const size_t *length = case_shapes[shape].shape, count = sizeof betas / sizeof *betas;
  const size_t step = length[0] * length[1] * length[2] > 100 ? count : 1;
  with.update = update;
  with.seed = 281474976710655 - 17 * shape - feeling;
  with.rounds = (shape + feeling) % 2 == 0 ? 10 : 7;
  with.runs = 1 + feeling % 2;
  with.first_run = (uint32_t)(shape * feeling);
  if (!fixture_serves(&with))
    return;
  for (size_t b = (shape + feeling) % step; b < count; b += step)
    compare_last_run(with, REPLICAS, SWEEPS, betas[b]);
}

static void compare_update(enum ising_move update)
{
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_kernels(GPUMC_OPERATION_SWEEP, kernel);
  FOR_CASES (cases)
    for (size_t k = 0; k < kernels; k++)
      for (size_t shape = 0; shape < CASE_SHAPES; shape++)
        for (size_t feeling = 0; feeling < CASE_FEELINGS; feeling++)
          if (cases_take(&cases))
            compare_feeling(kernel[k], shape, feeling, update);
}

static void metropolis_updates(void **state)
{
  (void)state;
  compare_update(ISING_MOVE_METROPOLIS);
}

static void heat_bath_updates(void **state)
{
  (void)state;
  compare_update(ISING_MOVE_HEAT_BATH);
}

/* Every run of a batch at its own temperature. */
static void temperatures_of_runs(void **state)
{
  (void)state;
  enum { RUNS = 4 };
  static const double beta[RUNS] = {0.7, 0.2, 0.2, 1.3};
  const struct ising_shape shape = {3, {6, 4, 4}};
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_kernels(GPUMC_OPERATION_SWEEP, kernel);
  for (size_t k = 0; k < kernels; k++)
    for (size_t feeling = 0; feeling < CASE_FEELINGS; feeling++) {
      struct ising_pair pair;
      struct ising_case with = case_of(kernel[k], &shape, &case_feelings[feeling], ROOM);
      with.runs = RUNS;
      with.first_run = 9;
      with.update = feeling % 2 == 0 ? ISING_MOVE_METROPOLIS : ISING_MOVE_HEAT_BATH;
      if (!fixture_serves(&with))
        continue;
      pair_open(&pair, &with, REPLICAS);
      pair_sweep_reference(&pair, SWEEPS, beta);
      fixture_sweep_each(&pair.fixture, SWEEPS, beta);
      pair_expect_replicas(&pair);
      pair_close(&pair);
    }
}

/* Rules are kept from sweep to sweep as long as a run keeps its temperature. */
static void temperatures_that_change(void **state)
{
  (void)state;
  enum { RUNS = 3, TIMES = 4 };
  static const double beta[TIMES][RUNS] = {
      {0.7, 0.2, 0.2}, {0.7, 0.7, 0.2}, {0.0, 0.7, 0.0}, {0.7, 0.2, 0.2}};
  const struct ising_shape shape = {3, {6, 4, 4}};
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_kernels(GPUMC_OPERATION_SWEEP, kernel);
  for (size_t k = 0; k < kernels; k++)
    for (size_t feeling = 0; feeling < CASE_FEELINGS; feeling++) {
      struct ising_pair pair;
      struct ising_case with = case_of(kernel[k], &shape, &case_feelings[feeling], ROOM);
      with.runs = RUNS;
      if (!fixture_serves(&with))
        continue;
      pair_open(&pair, &with, REPLICAS);
      for (size_t time = 0; time < TIMES; time++) {
        pair_sweep_reference(&pair, 1, beta[time]);
        fixture_sweep_each(&pair.fixture, 1, beta[time]);
      }
      pair_expect_replicas(&pair);
      pair_close(&pair);
    }
}

/* Threads share a single replica, in parts that begin and end amid its planes. */
static void parts_of_one_lattice(void **state)
{
  (void)state;
  static const struct ising_shape shapes[] = {
      {3, {64, 34, 90}}, {3, {192, 38, 20}}, {2, {128, 1300, 1}}};
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_kernels(GPUMC_OPERATION_SWEEP, kernel);
  for (size_t k = 0; k < kernels; k++)
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
      const struct ising_case with = case_of(kernel[k], &shapes[s], &case_feelings[1], 1);
      if (strcmp(kernel[k]->variant, "packed") == 0 && fixture_serves(&with))
        compare_last_run(with, 1, 2, 0.3);
    }
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(metropolis_updates),   cmocka_unit_test(heat_bath_updates),
      cmocka_unit_test(temperatures_of_runs), cmocka_unit_test(temperatures_that_change),
      cmocka_unit_test(parts_of_one_lattice),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
