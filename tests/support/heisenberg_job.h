/* What tests of the kernels of O(n) spins compare: a case made of a lattice, components, a kernel
 * and a move, all others following from these. */
#ifndef TESTS_SUPPORT_HEISENBERG_JOB_H
#define TESTS_SUPPORT_HEISENBERG_JOB_H

#include "core/simulation/ensemble.h"
#include "models/heisenberg/heisenberg.h"

struct heisenberg_job {
  struct heisenberg_settings settings;
  const char *variant;
  uint32_t move, rounds;
  bool in_field; /* the field is moved, at beta = HEISENBERG_JOB_BETA */
  size_t samples;
};

#define HEISENBERG_JOB_BETA 0.7

/* number: that of the lattice among the test's. Signs of J, fields and rounds differ from case to
 * case. */
struct heisenberg_job heisenberg_job_of(const struct heisenberg_settings *lattice, size_t number,
                                        int components, const char *variant, uint32_t move);

/* Makes couplings +-J or Gaussian ones, of one sample or of `replicas`. */
void heisenberg_job_quench(struct heisenberg_job *job, size_t number, size_t replicas);

/* Returns a plan without warm-up and options of the kernel. */
struct gpumc_ensemble_plan
heisenberg_job_plan(const struct heisenberg_job *job, size_t runs, size_t replicas);

#endif
