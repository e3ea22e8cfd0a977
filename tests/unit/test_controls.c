/* The controls of Ising spin models: a field that changes from run to run and sweep to sweep acts
 * as an instance's field does, and weights follow from it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/ising_fixture.h"
#include "support/status.h"

enum { RUNS = 3, REPLICAS = 40, SWEEPS = 5 };

static const double beta = 0.45, field[RUNS] = {0.3, -0.7, 0.0};

/* Returns the portable replicas of run m. */
static uint8_t *portable(struct ising_fixture *fixture, size_t m)
{
  struct gpumc_error error = {0};
  uint8_t *bytes = calloc(REPLICAS, fixture->model.portable_bytes);
  assert_non_null(bytes);
  assert_ok(fixture->ensemble.ops->get(&fixture->ensemble, m, 0, REPLICAS, bytes, &error), &error);
  return bytes;
}

/* Returns the same for run `first_run` of an instance with its own field. */
static uint8_t *of_instance(struct ising_case with, uint32_t first_run, double own)
{
  struct ising_fixture fixture;
  with.runs = 1;
  with.first_run = first_run;
  with.moved = ISING_BETA;
  with.fixes = false;
  with.settings.field = own;
  fixture_open(&fixture, &with);
  fixture_randomize(&fixture, &with, REPLICAS);
  fixture_sweep(&fixture, SWEEPS, beta);
  fixture_sweep(&fixture, SWEEPS, beta);
  uint8_t *bytes = portable(&fixture, 0);
  fixture_close(&fixture);
  return bytes;
}

/* Sweeps in moved fields twice, so that what a kernel keeps from the previous sweep is tested
 * too. */
static void compare_with_instances(struct ising_case with)
{
  struct ising_fixture fixture;
  size_t bytes;
  with.runs = RUNS;
  with.moved = ISING_FIELD;
  with.fixes = true;
  with.fixed[ISING_BETA] = beta;
  with.fixed[ISING_FIELD] = (double)NAN;
  if (!fixture_serves(&with))
    return;
  fixture_open(&fixture, &with);
  bytes = REPLICAS * fixture.model.portable_bytes;
  fixture_randomize(&fixture, &with, REPLICAS);
  fixture_sweep_each(&fixture, SWEEPS, field);
  fixture_sweep_each(&fixture, SWEEPS, field);
  for (uint32_t m = 0; m < RUNS; m++) {
    uint8_t *moved = portable(&fixture, m), *own = of_instance(with, m, field[m]),
            *other = of_instance(with, m, field[m] + 0.1);
    if (memcmp(moved, own, bytes) != 0)
      fail_msg("%s: run %u in a moved field of %g", fixture_text(&with), m, field[m]);
    assert_memory_not_equal(moved, other, bytes);
    free(moved);
    free(own);
    free(other);
  }
  fixture_close(&fixture);
}

static void a_moved_field_is_that_of_an_instance(void **state)
{
  static const size_t square[2] = {64, 6}, cubic[3] = {64, 4, 2};
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = fixture_kernels(kernel);
  (void)state;
  for (size_t k = 0; k < kernels; k++)
    for (size_t dimension = 2; dimension <= 3; dimension++)
      for (uint32_t variant = 0; variant < 8; variant++) {
        struct ising_case with =
            fixture_case(kernel[k], dimension, dimension == 2 ? square : cubic, REPLICAS);
        with.update = variant & 1 ? ISING_MOVE_HEAT_BATH : ISING_MOVE_METROPOLIS;
        with.settings.coupling = variant & 2 ? -1.0 : 1.0;
        if (variant & 4) {
          with.settings.coupling = 1.0;
          with.settings.disorder.couplings = LATTICE_BIMODAL;
          with.settings.disorder.positive = 0.5;
        }
        compare_with_instances(with);
      }
}

/* Energies keep the instance's own field: the moved field enters through the magnetization. */
static void the_weight_is_that_of_the_moved_field(void **state)
{
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const double control[ISING_CONTROLS] = {[ISING_BETA] = 0.5, [ISING_FIELD] = 0.75};
  struct ising_fixture without, within;
  int64_t value[2][ISING_CHANNELS][REPLICAS];
  double coefficient[2][ISING_CHANNELS];
  (void)state;
  fixture_kernels(kernel);
  struct ising_case with = fixture_square(kernel[0], 8, 4, REPLICAS);
  with.runs = 1;
  fixture_open(&without, &with);
  with.settings.field = 0.25;
  fixture_open(&within, &with);
  struct ising_fixture *both[2] = {&without, &within};
  for (size_t i = 0; i < 2; i++) {
    int64_t *const channel[ISING_CHANNELS] = {value[i][ISING_ENERGY], value[i][ISING_MAGNETIZATION],
                                              value[i][ISING_WAVE]};
    fixture_randomize(both[i], &with, REPLICAS);
    fixture_measure_channels(both[i], channel);
    both[i]->model.ops->coefficients(&both[i]->model, control, coefficient[i]);
  }
  for (size_t r = 0; r < REPLICAS; r++) {
    double log_weight[2] = {0, 0};
    for (size_t i = 0; i < 2; i++)
      for (size_t c = 0; c < ISING_STATE_CHANNELS; c++)
        log_weight[i] -= coefficient[i][c] * (double)value[i][c][r] * both[i]->model.quantum[c];
    const double magnetization = (double)value[0][ISING_MAGNETIZATION][r];
    const double bonds = (double)value[0][ISING_ENERGY][r];
    const double expected = -0.5 * (bonds - 0.75 * magnetization);
    assert_true(fabs(log_weight[0] - expected) < 1e-12 * 64);
    assert_true(fabs(log_weight[1] - expected) < 1e-9);
  }
  fixture_close(&without);
  fixture_close(&within);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_moved_field_is_that_of_an_instance),
      cmocka_unit_test(the_weight_is_that_of_the_moved_field),
  };
  test_device_require();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
