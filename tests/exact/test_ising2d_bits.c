/* Every kernel of the two-dimensional Ising model follows the slow reference bit for bit: shapes,
 * couplings, fields, temperatures, rounds, runs; levels and threads of a CPU, blocks of a GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/ising2d_fixture.h"

enum { SWEEPS = 3, REPLICAS = 37 };

static void expect_same(const struct reference *reference, struct ising2d_fixture *fixture,
                        const struct ising2d_case *with, size_t m, double beta)
{
  const size_t bytes = fixture->model.portable_bytes;
  uint8_t *portable = ising2d_get(fixture, m), *expected = malloc(bytes);
  assert_non_null(expected);
  for (size_t r = 0; r < reference->replicas; r++) {
    reference_portable(reference, r, expected);
    if (memcmp(expected, portable + r * bytes, bytes) != 0)
      fail_msg("%s, beta = %g: replica %zu of run %zu differs after %u sweeps",
               ising2d_case_text(with), beta, r, m, fixture->ensemble.time);
  }
  free(portable);
  free(expected);
}

static struct reference reference_of(const struct ising2d_case *with, size_t m, size_t replicas)
{
  struct reference reference;
  reference_init(&reference, ising2d_trajectory(with->kernel), with->length_x, with->length_y,
                 replicas);
  reference.random = gpumc_random_make(with->seed, with->first_run + (uint32_t)m, with->rounds);
  reference.coupling = with->coupling;
  reference.field = with->field;
  reference_randomize(&reference);
  return reference;
}

/* The kernel in every setting against one run of the reference: the last run of the batch. */
static void compare(struct ising2d_case with, size_t replicas, double beta)
{
  struct ising2d_fixture fixture;
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const size_t settings = test_settings(1, 2, true, setting), m = with.runs - 1;
  struct reference reference = reference_of(&with, m, replicas);
  ising2d_open(&fixture, &with);
  ising2d_randomize(&fixture, &with, replicas);
  expect_same(&reference, &fixture, &with, m, beta);
  ising2d_close(&fixture);
  for (uint32_t s = 0; s < SWEEPS; s++)
    reference_sweep(&reference, beta, s);
  for (size_t i = 0; i < settings; i++) {
    with.setting = setting[i];
    ising2d_open(&fixture, &with);
    ising2d_randomize(&fixture, &with, replicas);
    ising2d_sweep(&fixture, 1, beta);
    ising2d_sweep(&fixture, SWEEPS - 1, beta);
    expect_same(&reference, &fixture, &with, m, beta);
    ising2d_close(&fixture);
  }
  reference_free(&reference);
}

static void compare_shape(const struct gpumc_kernel_ops *kernel, size_t length_x, size_t length_y)
{
  static const double betas[] = {0.0, 0.1, 0.44, 1.0, 5.0};
  static const double couplings[][2] = {
      {1.0, 0.0}, {-1.0, 0.0}, {1.0, 0.3}, {-0.7, -1.1}, {0.5, 1.0}};
  struct ising2d_case with = ising2d_case(kernel, length_x, length_y, REPLICAS + 4);
  if (!ising2d_serves(&with))
    return;
  for (size_t b = 0; b < sizeof betas / sizeof *betas; b++)
    for (size_t c = 0; c < sizeof couplings / sizeof *couplings; c++) {
      with.seed = 281474976710655 - 17 * b - c;
      with.coupling = couplings[c][0];
      with.field = couplings[c][1];
      with.rounds = (b + c) % 2 == 0 ? 10 : 7;
      with.runs = 1 + c % 2;
      with.first_run = (uint32_t)(b * c);
      compare(with, REPLICAS, betas[b]);
    }
}

static void compare_field_and_rounds(struct ising2d_case with, size_t replicas)
{
  if (!ising2d_serves(&with))
    return;
  for (uint32_t field = 0; field < 2; field++) {
    with.field = 0.25 * field;
    with.rounds = (with.length_y / 2 + field) % 2 == 0 ? 10 : 7;
    compare(with, replicas, 0.44);
  }
}

static void small_shapes(void **state)
{
  (void)state;
  static const size_t shapes[][2] = {{2, 2}, {2, 4}, {4, 2}, {4, 4}, {6, 10}, {8, 6}, {16, 16}};
  const struct gpumc_kernel_ops *kernel[ISING2D_KERNELS_MAXIMUM];
  const size_t kernels = ising2d_kernels(kernel);
  for (size_t k = 0; k < kernels; k++)
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
      compare_shape(kernel[k], shapes[i][0], shapes[i][1]);
}

/* Shapes with several vectors a row, and ends within a vector: fewer temperatures. */
static void large_shapes(void **state)
{
  (void)state;
  static const size_t shapes[][2] = {{64, 64}, {34, 18}, {254, 2}, {2, 130}, {130, 66}};
  const struct gpumc_kernel_ops *kernel[ISING2D_KERNELS_MAXIMUM];
  const size_t kernels = ising2d_kernels(kernel);
  for (size_t k = 0; k < kernels; k++)
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
      compare_field_and_rounds(ising2d_case(kernel[k], shapes[i][0], shapes[i][1], REPLICAS),
                               REPLICAS);
}

/* Lattices beyond the shared memory of a GPU's block: 256 KiB of words, of bytes, and of bits. */
static void shapes_beyond_shared_memory(void **state)
{
  (void)state;
  enum { FEW = 3 };
  static const size_t shapes[2][2][2] = {[REFERENCE_MULTISPIN] = {{256, 256}, {130, 508}},
                                         [REFERENCE_SPIN] = {{512, 512}, {1026, 254}}};
  const struct gpumc_kernel_ops *kernel[ISING2D_KERNELS_MAXIMUM];
  const size_t kernels = ising2d_kernels(kernel);
  for (size_t k = 0; k < kernels; k++)
    for (size_t i = 0; i < 2; i++) {
      const size_t *shape = shapes[ising2d_trajectory(kernel[k])][i];
      compare_field_and_rounds(ising2d_case(kernel[k], shape[0], shape[1], FEW), FEW);
      if (i == 0 && ising2d_trajectory(kernel[k]) == REFERENCE_SPIN)
        compare_field_and_rounds(ising2d_case(kernel[k], 1536, 1538, 1), 1);
    }
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_shapes),
      cmocka_unit_test(large_shapes),
      cmocka_unit_test(shapes_beyond_shared_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
