/* Cases for tests of walks under a tabulated weight: systems and their levels, each with every
 * setting of the device under test and with replicas in both kinds of memory. */
#ifndef TESTS_SUPPORT_WALK_CASES_H
#define TESTS_SUPPORT_WALK_CASES_H

#include "support/ising_fixture.h"

struct walk_case {
  const char *name;
  size_t dimension, shape[3];
  double coupling, field; /* J; 0: 1 */
  enum lattice_distribution couplings;
  double random_field; /* its width; 0: none */
  size_t channel;
  int64_t wider;   /* levels of the table's grid, if it has one; quanta for a spectrum without a
                    * grid */
  double beta;     /* for the weight below the table; 0: none */
  uint32_t rounds; /* Philox rounds; 0: 10 */
};

/* Returns the kernel on the device under test. */
const struct gpumc_kernel_ops *walk_kernel(void);
/* Returns an ensemble of the case's system for it. */
struct ising_case walk_ising_case(const struct walk_case *of, size_t replicas);
/* Returns the levels of the table: all of the channel. */
struct gpumc_grid walk_levels(const struct gpumc_model *model, const struct walk_case *of);

/* How the device works. `shared`: replicas are in a GPU's shared memory if they fit. */
struct walk_setting {
  struct test_setting setting;
  bool shared;
};
/* Calls fixture_open with this setting and draws random states. */
void walk_open(struct ising_fixture *fixture, struct ising_case with, struct walk_setting how);
/* Calls `body` with each of cases[count] in both memories, for every setting or only for
 * test_setting(). */
typedef void walk_body(const struct walk_case *of, struct walk_setting how);
void walk_for_every_setting(const struct walk_case *cases, size_t count, walk_body *body);
void walk_for_both_memories(const struct walk_case *cases, size_t count, walk_body *body);

#endif
