/* Kernels with one number per spin for cases that words of bits cannot represent: couplings and
 * fields of any size, random fields on top of a uniform one. Sweeps, measurements, exchanges and
 * overlaps are those of the slow reference, bit for bit.
 *
 * CTest: release (exact_test_ising_bits), long */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/ising_compare.h"
#include "support/cases.h"

enum { SWEEPS = 3, REPLICAS = 5, ROOM = 7, RUNS = 3 };

static const double betas[RUNS] = {0.9, 0.2, 3.0};

static const struct ising_shape shapes[] = {
    {2, {2, 2, 1}},  {2, {2, 130, 1}}, {2, {34, 18, 1}},  {2, {66, 64, 1}},
    {3, {2, 2, 2}},  {3, {2, 4, 6}},   {3, {6, 4, 10}},   {3, {8, 8, 8}},
    {3, {34, 2, 4}}, {3, {2, 2, 66}},  {3, {18, 16, 16}},
};

static const struct ising_feeling feelings[] = {
    {.coupling = 1.0, .couplings = LATTICE_GAUSSIAN, .sample_each = true},
    {.coupling = 1.0, .couplings = LATTICE_GAUSSIAN},
    {.coupling = 1.0, .field = -0.7, .couplings = LATTICE_GAUSSIAN, .sample_each = true},
    {.coupling = -1.2, .fields = LATTICE_GAUSSIAN, .width = 0.8, .sample_each = true},
    {.coupling = 1.0,
     .field = 0.3,
     .couplings = LATTICE_BIMODAL,
     .positive = 0.5,
     .fields = LATTICE_GAUSSIAN,
     .width = 0.4},
    {.coupling = 1.0,
     .couplings = LATTICE_GAUSSIAN,
     .fields = LATTICE_BIMODAL,
     .width = 1.0,
     .sample_each = true},
    {.coupling = 1.0, .field = 0.5, .fields = LATTICE_BIMODAL, .width = 0.7, .sample_each = true},
    {.coupling = -0.8, .field = -1.0, .fields = LATTICE_BIMODAL, .width = 0.9},
    {.coupling = 1.0,
     .field = 0.25,
     .couplings = LATTICE_BIMODAL,
     .positive = 0.7,
     .fields = LATTICE_BIMODAL,
     .width = 0.7,
     .sample_each = true},
};

enum { SHAPES = sizeof shapes / sizeof *shapes, FEELINGS = sizeof feelings / sizeof *feelings };

static size_t spin_kernels(const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM])
{
  const size_t all = case_kernels(
      GPUMC_OPERATION_SWEEP | GPUMC_OPERATION_EXCHANGE | GPUMC_OPERATION_COMPARE, kernel);
  size_t count = 0;
  for (size_t k = 0; k < all; k++)
    if (fixture_trajectory(kernel[k]) == REFERENCE_SPIN)
      kernel[count++] = kernel[k];
  assert_true(count > 0);
  return count;
}

static struct ising_case make_case(const struct gpumc_kernel_ops *kernel, size_t shape,
                                   size_t feeling, enum ising_move update)
{
  struct ising_case with = case_of(kernel, &shapes[shape], &feelings[feeling], ROOM);
  with.runs = RUNS;
  with.first_run = (uint32_t)(3 + shape * feeling);
  with.update = update;
  with.seed = 90210 + 31 * shape + feeling;
  with.rounds = (shape + feeling) % 2 == 0 ? 10 : 7;
  return with;
}

/* Sweeps and measurement in one, an exchange, sweeps, overlaps. */
static void follow(const struct ising_case *with, size_t replicas)
{
  static const uint32_t swap[RUNS] = {0x15, 0x0a, 0};
  static const bool all[ISING_PAIRS] = {true, true, true};
  int64_t value[ISING_CHANNELS][RUNS * ROOM];
  int64_t *const channel[ISING_CHANNELS] = {value[0], value[1], value[2]};
  struct ising_pair pair;
  pair_open(&pair, with, replicas);
  pair_sweep_reference(&pair, SWEEPS, betas);
  fixture_sweep_and_measure_channels(&pair.fixture, SWEEPS, betas, channel);
  pair_expect_replicas(&pair);
  pair_expect_channels(&pair, channel);
  pair_expect_overlaps(&pair, 0, 1, 2, all);
  pair_exchange(&pair, swap);
  pair_sweep_reference(&pair, 1, betas);
  fixture_sweep_each(&pair.fixture, 1, betas);
  pair_expect_replicas(&pair);
  pair_expect_overlaps(&pair, 0, 2, 1, all);
  pair_close(&pair);
}

static void compare_update(enum ising_move update)
{
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = spin_kernels(kernel);
  FOR_CASES (cases)
    for (size_t k = 0; k < kernels; k++)
      for (size_t shape = 0; shape < SHAPES; shape++)
        for (size_t feeling = 0; feeling < FEELINGS; feeling++)
          if (cases_take(&cases))
            compare_settings(make_case(kernel[k], shape, feeling, update), 2, REPLICAS, follow);
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

/* If single precision decides nothing, every spin is decided exactly. */
static void extreme_temperatures(void **state)
{
  (void)state;
  static const double extreme[] = {0.0, 1e-30, 300.0, 1e5, 1e30};
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = spin_kernels(kernel);
  for (size_t k = 0; k < kernels; k++)
    for (size_t i = 0; i < 2 * sizeof extreme / sizeof *extreme; i++) {
      struct ising_pair pair;
      struct ising_case with =
          make_case(kernel[k], 7, 2, i % 2 == 0 ? ISING_MOVE_METROPOLIS : ISING_MOVE_HEAT_BATH);
      with.runs = 1;
      pair_open(&pair, &with, REPLICAS);
      pair_sweep_reference(&pair, SWEEPS, &extreme[i / 2]);
      fixture_sweep(&pair.fixture, SWEEPS, extreme[i / 2]);
      pair_expect_replicas(&pair);
      pair_close(&pair);
    }
}

/* More sites than a GPU's block of threads has memory for; temperatures of the runs' own. */
static void beyond_shared_memory(void **state)
{
  (void)state;
  static const struct ising_shape large[] = {{3, {128, 128, 128}}, {2, {1536, 1538, 1}}};
  static const struct ising_feeling kinds[] = {
      {.coupling = 1.0, .field = 0.1},
      {.coupling = 1.0, .couplings = LATTICE_BIMODAL, .positive = 0.5},
      {.coupling = 1.0, .couplings = LATTICE_GAUSSIAN},
  };
  static const uint32_t swap[2] = {1, 0};
  static const bool wanted[ISING_PAIRS] = {true, true, true};
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = spin_kernels(kernel);
  FOR_CASES (cases)
    for (size_t k = 0; k < kernels; k++)
      for (size_t i = 0; i < 2 * sizeof kinds / sizeof *kinds; i++) {
        struct ising_pair pair;
        struct ising_case with = case_of(kernel[k], &large[i % 2], &kinds[i / 2], 1);
        int64_t value[ISING_CHANNELS][2];
        int64_t *const channel[ISING_CHANNELS] = {value[0], value[1], value[2]};
        with.runs = 2;
        with.update = i % 3 == 0 ? ISING_MOVE_HEAT_BATH : ISING_MOVE_METROPOLIS;
        if (!cases_take(&cases) || !fixture_serves(&with))
          continue;
        pair_open(&pair, &with, 1);
        pair_sweep_reference(&pair, 1, betas);
        fixture_sweep_and_measure_channels(&pair.fixture, 1, betas, channel);
        pair_expect_channels(&pair, channel);
        pair_expect_overlaps(&pair, 0, 1, 1, wanted);
        pair_exchange(&pair, swap);
        pair_sweep_reference(&pair, 1, betas);
        fixture_sweep_each(&pair.fixture, 1, betas);
        pair_expect_replicas(&pair);
        pair_close(&pair);
      }
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(metropolis_updates),
      cmocka_unit_test(heat_bath_updates),
      cmocka_unit_test(extreme_temperatures),
      cmocka_unit_test(beyond_shared_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
