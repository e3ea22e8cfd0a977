/* Instances of Ising spins for tests of kernels. */
#include "support/ising_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/simulation/registry.h"

/* Sides of 2; rows of less than a vector, exactly one, and just over one; planes that end within
 * one; several parts per colour; and, for packed kernels, rows of one word per colour and of
 * four. */
const struct ising_shape case_shapes[CASE_SHAPES] = {
    {2, {2, 2, 1}},  {2, {6, 10, 1}},  {2, {34, 18, 1}}, {2, {130, 66, 1}},
    {3, {2, 2, 2}},  {3, {2, 4, 6}},   {3, {4, 4, 4}},   {3, {6, 4, 10}},
    {3, {8, 8, 8}},  {3, {66, 4, 2}},  {3, {2, 2, 66}},  {3, {18, 16, 16}},
    {2, {64, 6, 1}}, {2, {256, 2, 1}}, {3, {64, 2, 4}},  {3, {256, 4, 2}},
};

const struct ising_feeling case_feelings[CASE_FEELINGS] = {
    {.coupling = 1.0},
    {.coupling = -1.3},
    {.coupling = 1.0, .field = 0.3},
    {.coupling = 1.0, .couplings = LATTICE_BIMODAL, .positive = 0.5, .sample_each = true},
    {.coupling = 1.0, .couplings = LATTICE_BIMODAL, .positive = 0.5},
    {.coupling = 1.0,
     .field = -0.4,
     .couplings = LATTICE_BIMODAL,
     .positive = 0.8,
     .sample_each = true},
    {.coupling = 1.0, .field = 2.0, .couplings = LATTICE_BIMODAL, .positive = 0.3},
    {.coupling = 1.0, .fields = LATTICE_BIMODAL, .width = 0.7, .sample_each = true},
    {.coupling = -0.9, .fields = LATTICE_BIMODAL, .width = 1.5},
    {.coupling = 1.0,
     .couplings = LATTICE_BIMODAL,
     .positive = 0.5,
     .fields = LATTICE_BIMODAL,
     .width = 1.1,
     .sample_each = true},
    {.coupling = 1.0,
     .couplings = LATTICE_BIMODAL,
     .positive = 0.5,
     .fields = LATTICE_BIMODAL,
     .width = 2.0},
};

struct ising_case case_of(const struct gpumc_kernel_ops *kernel, const struct ising_shape *shape,
                          const struct ising_feeling *feeling, size_t capacity)
{
  struct ising_case with = fixture_case(kernel, shape->dimension, shape->shape, capacity);
  with.settings.coupling = feeling->coupling;
  with.settings.field = feeling->field;
  with.settings.disorder = (struct lattice_disorder_settings){.couplings = feeling->couplings,
                                                              .fields = feeling->fields,
                                                              .positive = feeling->positive,
                                                              .width = feeling->width,
                                                              .seed = 77,
                                                              .first_sample = 3};
  with.sample_each = feeling->sample_each;
  return with;
}

size_t
case_kernels(uint32_t operations, const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM])
{
  const size_t all = fixture_kernels(kernel);
  size_t count = 0;
  for (size_t k = 0; k < all; k++)
    if ((gpumc_kernel_operations(kernel[k]) & operations) == operations)
      kernel[count++] = kernel[k];
  return count;
}

size_t case_cluster_kernels(const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM])
{
  const size_t all = case_kernels(GPUMC_OPERATION_SWEEP, kernel);
  size_t count = 0;
  for (size_t k = 0; k < all; k++)
    if (kernel[k]->n_moves == ISING_MOVES)
      kernel[count++] = kernel[k];
  assert_true(count > 0);
  return count;
}
