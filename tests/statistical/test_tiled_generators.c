/* The exact test of the generators of the tiled kernel, after Table 1 of M. Weigel, J. Comput.
 * Phys. 231, 3064 (2012), at beta = 0.4 against Kaufman: energy and specific heat are right with
 * Philox, for both orders and both updates, and with generators that are seeded at random for each
 * thread or block; threads that skip through one sequence of the 32-bit linear congruential
 * generator are wrong by far on the larger lattice.
 *
 * Why 512^2: a thread's numbers are those of x -> A x + C with A = a^J, J = N/4 threads. For J =
 * 2^p A - 1 is a multiple of 2^(p+2) and C of 2^p, so that a thread's step (A - 1) x + C takes
 * 2^(30-2p) values: 1024 at 64^2, where nothing is seen, 4 at 256^2, and one from p = 15 on, where
 * its numbers are equidistant. 512^2, p = 16, is the first such lattice of these.
 *
 * Errors come from REPLICAS independent replicas. 16 comparisons at 4.5 errors, distributed as
 * Student's t with 15 degrees of freedom: false alarm 0.7 %. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/ising_fixture.h"
#include "support/kaufman.h"

enum { REPLICAS = 16, STEP = 4 };

/* Sweeps before, and measurements every STEP sweeps. */
struct size {
  size_t side;
  uint32_t tile, warm, measurements;
};
static const struct size small = {64, 16, 200, 200}, large = {512, 32, 120, 15};

static const double beta = 0.4;
static const double errors_allowed = 4.5, errors_of_control = 20;

struct deviation {
  double energy, specific_heat; /* in errors */
};

/* Mean and its error over the replicas. */
static double deviation_of(const double *value, double exact)
{
  double mean = 0, square = 0;
  for (size_t r = 0; r < REPLICAS; r++)
    mean += value[r] / REPLICAS;
  for (size_t r = 0; r < REPLICAS; r++)
    square += (value[r] - mean) * (value[r] - mean);
  return (mean - exact) / sqrt(square / (REPLICAS * (REPLICAS - 1.0)));
}

/* Specific heat by the exact energy, so that it is linear in what is measured. */
static struct deviation
measure(const struct size *size, struct gpumc_tiling tiling, enum gpumc_update update)
{
  const size_t side = size->side, sites = side * side;
  const struct exact_thermodynamics exact = kaufman_ising2d(side, side, 1.0, beta);
  struct ising_case with = fixture_square(fixture_tiled_kernel(), side, side, REPLICAS);
  struct ising_fixture fixture;
  int64_t energy[REPLICAS];
  double sum[REPLICAS] = {0}, square[REPLICAS] = {0};
  tiling.tile = size->tile;
  with.tiling = tiling;
  with.update = update;
  with.setting = test_setting();
  with.setting.threads = 2;
  fixture_open(&fixture, &with);
  fixture_randomize(&fixture, &with, REPLICAS);
  fixture_sweep(&fixture, size->warm, beta);
  for (size_t i = 0; i < size->measurements; i++) {
    fixture_sweep_and_measure(&fixture, STEP, beta, energy, NULL);
    for (size_t r = 0; r < REPLICAS; r++) {
      const double e = (double)energy[r] / (double)sites, d = e - (double)exact.energy;
      sum[r] += e / size->measurements;
      square[r] += beta * beta * (double)sites * d * d / size->measurements;
    }
  }
  fixture_close(&fixture);
  return (struct deviation){deviation_of(sum, (double)exact.energy),
                            deviation_of(square, (double)exact.specific_heat)};
}

static void
expect_right(const struct size *size, struct gpumc_tiling tiling, enum gpumc_update update)
{
  const struct deviation found = measure(size, tiling, update);
  print_message("%s, %s, %u hits: energy %+.2f, specific heat %+.2f errors\n",
                gpumc_generators[tiling.generator], gpumc_tiling_orders[tiling.order], tiling.hits,
                found.energy, found.specific_heat);
  assert_true(fabs(found.energy) < errors_allowed);
  assert_true(fabs(found.specific_heat) < errors_allowed);
}

static void philox(void **state)
{
  (void)state;
  expect_right(&small, (struct gpumc_tiling){.hits = 1}, GPUMC_METROPOLIS);
  expect_right(&small, (struct gpumc_tiling){.hits = 4}, GPUMC_METROPOLIS);
  expect_right(&small, (struct gpumc_tiling){.hits = 4, .order = GPUMC_ORDER_SYMMETRISED},
               GPUMC_METROPOLIS);
  expect_right(&small, (struct gpumc_tiling){.hits = 2, .order = GPUMC_ORDER_SYMMETRISED},
               GPUMC_HEAT_BATH);
}

static void random_seeds(void **state)
{
  (void)state;
  expect_right(&small, (struct gpumc_tiling){.hits = 1, .generator = GPUMC_GENERATOR_LCG32_RANDOM},
               GPUMC_METROPOLIS);
  expect_right(&small, (struct gpumc_tiling){.hits = 1, .generator = GPUMC_GENERATOR_LCG64_RANDOM},
               GPUMC_METROPOLIS);
  expect_right(&small,
               (struct gpumc_tiling){.hits = 1, .generator = GPUMC_GENERATOR_FIBONACCI_1279},
               GPUMC_METROPOLIS);
}

static void one_sequence_for_all_threads(void **state)
{
  (void)state;
  const struct gpumc_tiling right = {.hits = 1};
  const struct gpumc_tiling tiling = {.hits = 1, .generator = GPUMC_GENERATOR_LCG32};
  expect_right(&large, right, GPUMC_METROPOLIS);
  const struct deviation found = measure(&large, tiling, GPUMC_METROPOLIS);
  print_message("lcg32: energy %+.2f, specific heat %+.2f errors\n", found.energy,
                found.specific_heat);
  assert_true(fabs(found.energy) > errors_of_control);
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(philox),
      cmocka_unit_test(random_seeds),
      cmocka_unit_test(one_sequence_for_all_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
