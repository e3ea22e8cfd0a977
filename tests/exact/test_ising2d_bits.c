/* Both kernels of the two-dimensional Ising model follow the slow reference bit for bit: shapes,
 * couplings, fields, temperatures, rounds, instruction-set levels, threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/ising2d_fixture.h"
#include "support/ising2d_reference.h"

enum { SWEEPS = 3, REPLICAS = 37 };

static const struct gpumc_kernel_ops *kernel_of(enum reference_trajectory trajectory)
{
  return trajectory == REFERENCE_MULTISPIN ? &ising2d_multispin_cpu : &ising2d_spin_cpu;
}

static enum gpumc_isa lowest_level(void)
{
  return gpumc_isa_detect() == GPUMC_ISA_LEVEL_PORTABLE ? GPUMC_ISA_LEVEL_PORTABLE
                                                        : GPUMC_ISA_LEVEL_V2;
}

static void expect_same(const struct reference *reference, struct ising2d_fixture *fixture,
                        const struct ising2d_case *with, double beta)
{
  const size_t bytes = fixture->model.portable_bytes;
  uint8_t *portable = ising2d_get(fixture), *expected = malloc(bytes);
  assert_non_null(expected);
  for (size_t r = 0; r < reference->replicas; r++) {
    reference_portable(reference, r, expected);
    if (memcmp(expected, portable + r * bytes, bytes) != 0)
      fail_msg("%s %s, %d threads, %zu x %zu, J = %g, h = %g, beta = %g, %u rounds: replica %zu "
               "differs after %u sweeps",
               with->kernel->variant, gpumc_isa_name(with->isa), with->threads, with->length_x,
               with->length_y, with->coupling, with->field, beta, with->rounds, r,
               fixture->ensemble.time);
  }
  free(portable);
  free(expected);
}

/* The kernel at every level, with one thread and with two, against one run of the reference. */
static void compare(enum reference_trajectory trajectory, struct ising2d_case with, double beta)
{
  struct reference reference;
  struct ising2d_fixture fixture;
  reference_init(&reference, trajectory, with.length_x, with.length_y, REPLICAS);
  reference.random = gpumc_random_make(with.seed, 0, with.rounds);
  reference.coupling = with.coupling;
  reference.field = with.field;
  reference_randomize(&reference);
  ising2d_open(&fixture, &with);
  ising2d_randomize(&fixture, REPLICAS);
  expect_same(&reference, &fixture, &with, beta);
  ising2d_close(&fixture);
  for (uint32_t s = 0; s < SWEEPS; s++)
    reference_sweep(&reference, beta, s);
  for (int level = (int)lowest_level(); level <= (int)gpumc_isa_detect(); level++)
    for (with.threads = 1; with.threads <= 2; with.threads++) {
      with.isa = (enum gpumc_isa)level;
      ising2d_open(&fixture, &with);
      ising2d_randomize(&fixture, REPLICAS);
      ising2d_sweep(&fixture, 1, beta);
      ising2d_sweep(&fixture, SWEEPS - 1, beta);
      expect_same(&reference, &fixture, &with, beta);
      ising2d_close(&fixture);
    }
  reference_free(&reference);
}

static void compare_shape(enum reference_trajectory trajectory, size_t length_x, size_t length_y)
{
  static const double betas[] = {0.0, 0.1, 0.44, 1.0, 5.0};
  static const double couplings[][2] = {
      {1.0, 0.0}, {-1.0, 0.0}, {1.0, 0.3}, {-0.7, -1.1}, {0.5, 1.0}};
  struct ising2d_case with = ising2d_case(kernel_of(trajectory), length_x, length_y, REPLICAS + 4);
  for (size_t b = 0; b < sizeof betas / sizeof *betas; b++)
    for (size_t c = 0; c < sizeof couplings / sizeof *couplings; c++) {
      with.seed = 281474976710655 - 17 * b - c;
      with.coupling = couplings[c][0];
      with.field = couplings[c][1];
      with.rounds = (b + c) % 2 == 0 ? 10 : 7;
      compare(trajectory, with, betas[b]);
    }
}

static void compare_shapes(enum reference_trajectory trajectory)
{
  static const size_t shapes[][2] = {{2, 2}, {2, 4}, {4, 2}, {4, 4}, {6, 10}, {8, 6}, {16, 16}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    compare_shape(trajectory, shapes[i][0], shapes[i][1]);
}

/* Shapes with several vectors a row, and ends within a vector: fewer temperatures. */
static void compare_large(enum reference_trajectory trajectory)
{
  static const size_t shapes[][2] = {{64, 64}, {34, 18}, {254, 2}, {2, 130}, {130, 66}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (uint32_t field = 0; field < 2; field++) {
      struct ising2d_case with =
          ising2d_case(kernel_of(trajectory), shapes[i][0], shapes[i][1], REPLICAS);
      with.field = 0.25 * field;
      with.rounds = (i + field) % 2 == 0 ? 10 : 7;
      compare(trajectory, with, 0.44);
    }
}

static void multispin_small_shapes(void **state)
{
  (void)state;
  compare_shapes(REFERENCE_MULTISPIN);
}

static void multispin_large_shapes(void **state)
{
  (void)state;
  compare_large(REFERENCE_MULTISPIN);
}

static void spin_small_shapes(void **state)
{
  (void)state;
  compare_shapes(REFERENCE_SPIN);
}

static void spin_large_shapes(void **state)
{
  (void)state;
  compare_large(REFERENCE_SPIN);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(multispin_small_shapes),
      cmocka_unit_test(multispin_large_shapes),
      cmocka_unit_test(spin_small_shapes),
      cmocka_unit_test(spin_large_shapes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
