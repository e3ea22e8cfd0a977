/* Every kernel of the two-dimensional Ising model follows the slow reference bit for bit: shapes,
 * couplings, fields, temperatures, rounds, runs; levels and threads of a CPU, blocks of a GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/ising_compare.h"
#include "support/cases.h"

enum { SWEEPS = 3, REPLICAS = 37 };

static void compare_shape(const struct gpumc_kernel_ops *kernel, size_t length_x, size_t length_y,
                          struct cases *cases)
{
  static const double betas[] = {0.0, 0.1, 0.44, 1.0, 5.0};
  static const double couplings[][2] = {
      {1.0, 0.0}, {-1.0, 0.0}, {1.0, 0.3}, {-0.7, -1.1}, {0.5, 1.0}};
  struct ising_case with = fixture_square(kernel, length_x, length_y, REPLICAS + 4);
  for (size_t b = 0; b < sizeof betas / sizeof *betas; b++)
    for (size_t c = 0; c < sizeof couplings / sizeof *couplings; c++) {
      if (!cases_take(cases) || !fixture_serves(&with))
        continue;
      with.seed = 281474976710655 - 17 * b - c;
      with.settings.coupling = couplings[c][0];
      with.settings.field = couplings[c][1];
      with.rounds = (b + c) % 2 == 0 ? 10 : 7;
      with.runs = 1 + c % 2;
      with.first_run = (uint32_t)(b * c);
      compare_last_run(with, REPLICAS, SWEEPS, betas[b]);
    }
}

static void compare_field_and_rounds(struct ising_case with, size_t replicas)
{
  if (!fixture_serves(&with))
    return;
  for (uint32_t field = 0; field < 2; field++) {
    with.settings.field = 0.25 * field;
    with.rounds = (with.settings.shape[1] / 2 + field) % 2 == 0 ? 10 : 7;
    compare_last_run(with, replicas, SWEEPS, 0.44);
  }
}

static void small_shapes(void **state)
{
  (void)state;
  static const size_t shapes[][2] = {{2, 2}, {2, 4}, {4, 2}, {4, 4}, {6, 10}, {8, 6}, {16, 16}};
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = fixture_kernels(kernel);
  FOR_CASES (cases)
    for (size_t k = 0; k < kernels; k++)
      for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        compare_shape(kernel[k], shapes[i][0], shapes[i][1], &cases);
}

/* Shapes with several vectors per row, and ends within a vector: fewer temperatures. */
static void large_shapes(void **state)
{
  (void)state;
  static const size_t shapes[][2] = {{64, 64}, {34, 18}, {254, 2}, {2, 130}, {130, 66}};
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = fixture_kernels(kernel);
  FOR_CASES (cases)
    for (size_t k = 0; k < kernels; k++)
      for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (cases_take(&cases))
          compare_field_and_rounds(fixture_square(kernel[k], shapes[i][0], shapes[i][1], REPLICAS),
                                   REPLICAS);
}

/* Lattices beyond the shared memory of a GPU's block: 256 KiB of words, of bytes, and of bits. */
static void shapes_beyond_shared_memory(void **state)
{
  (void)state;
  enum { FEW = 3 };
  static const size_t shapes[][2][2] = {[REFERENCE_MULTISPIN] = {{256, 256}, {130, 508}},
                                        [REFERENCE_SPIN] = {{512, 512}, {1026, 254}},
                                        [REFERENCE_PACKED] = {{1024, 1024}, {704, 258}}};
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = fixture_kernels(kernel);
  FOR_CASES (cases)
    for (size_t k = 0; k < kernels; k++)
      for (size_t i = 0; i < 2; i++) {
        if (!cases_take(&cases))
          continue;
        const size_t *shape = shapes[fixture_trajectory(kernel[k])][i];
        compare_field_and_rounds(fixture_square(kernel[k], shape[0], shape[1], FEW), FEW);
        if (i == 0 && fixture_trajectory(kernel[k]) == REFERENCE_SPIN)
          compare_field_and_rounds(fixture_square(kernel[k], 1536, 1538, 1), 1);
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
