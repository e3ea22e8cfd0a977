/* An ensemble of the two-dimensional Ising model without a configuration, on the device under test.
 */
#ifndef TESTS_SUPPORT_ISING2D_FIXTURE_H
#define TESTS_SUPPORT_ISING2D_FIXTURE_H

#include "models/ising2d/ising2d.h"
#include "support/ising2d_reference.h"
#include "support/test_device.h"

enum { ISING2D_KERNELS_MAXIMUM = 8 };

struct ising2d_case {
  const struct gpumc_kernel_ops *kernel;
  size_t length_x, length_y;
  double coupling, field;
  size_t runs, capacity;
  uint32_t first_run;
  uint64_t seed;
  uint32_t rounds;
  struct test_setting setting;
};

struct ising2d_fixture {
  struct gpumc_device device;
  struct gpumc_model model;
  struct gpumc_ensemble ensemble;
  int64_t *channel[ISING_CHANNELS]; /* [runs][capacity], device memory */
  uint32_t *parent;                 /* the same */
};

/* The model's kernels on the device under test. Returns how many. */
size_t ising2d_kernels(const struct gpumc_kernel_ops *kernel[ISING2D_KERNELS_MAXIMUM]);
/* The trajectory that the kernel declares. */
enum reference_trajectory ising2d_trajectory(const struct gpumc_kernel_ops *kernel);

/* J = 1, h = 0, one run, number 0, seed 1, Philox with 10 rounds, test_setting(). */
struct ising2d_case ising2d_case(const struct gpumc_kernel_ops *kernel, size_t length_x,
                                 size_t length_y, size_t capacity);
/* For messages. Valid until the next call. */
const char *ising2d_case_text(const struct ising2d_case *with);

/* Whether a kernel of a GPU takes the lattice; those of the CPU take all. */
bool ising2d_serves(const struct ising2d_case *with);

/* These fail the running test on any error. */
void ising2d_open(struct ising2d_fixture *fixture, const struct ising2d_case *with);
void ising2d_close(struct ising2d_fixture *fixture);
/* All runs, `size` replicas each. */
void ising2d_randomize(struct ising2d_fixture *fixture, const struct ising2d_case *with,
                       size_t size);
void ising2d_set_sizes(struct ising2d_fixture *fixture, const uint32_t *size);
size_t ising2d_size(const struct ising2d_fixture *fixture, size_t m);
void ising2d_sweep(struct ising2d_fixture *fixture, uint32_t sweeps, double beta);
/* parent[runs][capacity]; size[runs] after it. */
void ising2d_gather(struct ising2d_fixture *fixture, const uint32_t *parent, const uint32_t *size);
/* energy, magnetization: [runs][capacity], NULL: not wanted. The second one in one with sweeps. */
void ising2d_measure(struct ising2d_fixture *fixture, int64_t *energy, int64_t *magnetization);
void ising2d_sweep_and_measure(struct ising2d_fixture *fixture, uint32_t sweeps, double beta,
                               int64_t *energy, int64_t *magnetization);
/* All replicas of run m in portable form; the caller frees. */
uint8_t *ising2d_get(struct ising2d_fixture *fixture, size_t m);

#endif
