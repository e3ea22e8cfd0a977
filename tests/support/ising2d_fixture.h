/* An ensemble of the two-dimensional Ising model without a configuration. */
#ifndef TESTS_SUPPORT_ISING2D_FIXTURE_H
#define TESTS_SUPPORT_ISING2D_FIXTURE_H

#include "models/ising2d/ising2d.h"

struct ising2d_case {
  const struct gpumc_kernel_ops *kernel;
  size_t length_x, length_y;
  double coupling, field;
  size_t capacity;
  uint64_t seed;
  uint32_t rounds;
  int threads;
  enum gpumc_isa isa;
};

struct ising2d_fixture {
  struct gpumc_device device;
  struct gpumc_model model;
  struct gpumc_ensemble ensemble;
};

/* J = 1, h = 0, seed 1, Philox with 10 rounds, one thread, the highest level. */
struct ising2d_case ising2d_case(const struct gpumc_kernel_ops *kernel, size_t length_x,
                                 size_t length_y, size_t capacity);

/* These fail the running test on any error. */
void ising2d_open(struct ising2d_fixture *fixture, const struct ising2d_case *with);
void ising2d_close(struct ising2d_fixture *fixture);
void ising2d_randomize(struct ising2d_fixture *fixture, size_t size);
void ising2d_sweep(struct ising2d_fixture *fixture, uint32_t sweeps, double beta);
void ising2d_gather(struct ising2d_fixture *fixture, const uint32_t *parent, size_t size);
void ising2d_measure(struct ising2d_fixture *fixture, int64_t *energy, int64_t *magnetization);
/* All replicas in portable form; the caller frees. */
uint8_t *ising2d_get(struct ising2d_fixture *fixture);

#endif
