/* Instances of Ising spins for tests of kernels: shapes, and kinds of disorder that words of bits
 * can hold. */
#ifndef TESTS_SUPPORT_ISING_CASES_H
#define TESTS_SUPPORT_ISING_CASES_H

#include "support/ising_fixture.h"

/* `dimension` 2: shape[2] is not used. */
struct ising_shape {
  size_t dimension, shape[3];
};

/* What acts on the spins, with a sample for each replica or one for all. */
struct ising_feeling {
  double coupling, field;
  enum lattice_distribution couplings, fields;
  double positive, width;
  bool sample_each;
};

enum { CASE_SHAPES = 16, CASE_FEELINGS = 11 };
extern const struct ising_shape case_shapes[CASE_SHAPES];
extern const struct ising_feeling case_feelings[CASE_FEELINGS];

/* Returns a case with this kernel, shape and feeling; the rest is as in fixture_case(). */
struct ising_case case_of(const struct gpumc_kernel_ops *kernel, const struct ising_shape *shape,
                          const struct ising_feeling *feeling, size_t capacity);

/* Finds the kernels on the device under test that have all these operations. Returns how many there
 * are. */
size_t
case_kernels(uint32_t operations, const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM]);
/* Finds those that have cluster moves; fails the test if there are none. */
size_t case_cluster_kernels(const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM]);

#endif
