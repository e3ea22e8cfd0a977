#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/kaufman.h"
#include "support/tiled_deviation.h"

enum { REPLICAS = 16, STEP = 4 };

static const double beta = 0.4;
static const double errors_allowed = 4.5;

/* Returns how far the mean over the replicas is from `exact`, in errors of the mean. */
static double deviation_of(const double *value, double exact)
{
  double mean = 0, square = 0;
  for (size_t r = 0; r < REPLICAS; r++)
    mean += value[r] / REPLICAS;
  for (size_t r = 0; r < REPLICAS; r++)
    square += (value[r] - mean) * (value[r] - mean);
  return (mean - exact) / sqrt(square / (REPLICAS * (REPLICAS - 1.0)));
}

/* The specific heat uses the exact energy, so that it is linear in the measured values. */
struct tiled_deviation
tiled_deviation(const struct tiled_size *size, struct ising_tiling tiling, enum ising_move update)
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
  return (struct tiled_deviation){deviation_of(sum, (double)exact.energy),
                                  deviation_of(square, (double)exact.specific_heat)};
}

void tiled_expect_right(const struct tiled_size *size, struct ising_tiling tiling,
                        enum ising_move update)
{
  const struct tiled_deviation found = tiled_deviation(size, tiling, update);
  print_message("%s, %s, %u hits: energy %+.2f, specific heat %+.2f errors\n",
                ising_generators[tiling.generator], ising_tiling_orders[tiling.order], tiling.hits,
                found.energy, found.specific_heat);
  assert_true(fabs(found.energy) < errors_allowed);
  assert_true(fabs(found.specific_heat) < errors_allowed);
}
