/* What walks under a tabulated weight are tested with: systems and their levels, each on every
 * setting of the device under test and with replicas in both kinds of memory. */
#ifndef TESTS_SUPPORT_WALK_CASES_H
#define TESTS_SUPPORT_WALK_CASES_H

#include "support/ising_fixture.h"

struct walk_case {
  const char *name;
  size_t dimension, shape[3];
  double coupling, field; /* J; 0: 1 */
  enum lattice_distribution couplings;
  bool random_field;
  size_t channel;
  int64_t wider;   /* levels of the grid that one of the table has; of a spectrum without, quanta */
  double beta;     /* of the weight below the table; 0: none */
  uint32_t rounds; /* of Philox; 0: 10 */
};

/* The kernel on the device under test. */
const struct gpumc_kernel_ops *walk_kernel(void);
/* An ensemble of the case's system for it. */
struct ising_case walk_ising_case(const struct walk_case *of, size_t replicas);
/* Levels of the table: all of the channel. */
struct gpumc_grid walk_levels(const struct gpumc_model *model, const struct walk_case *of);

/* Of the device: `shared`: replicas stand in the shared memory of a GPU if they fit. */
struct walk_setting {
  struct test_setting setting;
  bool shared;
};
/* fixture_open on such a device, and states drawn at random. */
void walk_open(struct ising_fixture *fixture, struct ising_case with, struct walk_setting how);
/* Calls `body` with each of cases[count], in both memories: for every setting, or for
 * test_setting() alone. */
typedef void walk_body(const struct walk_case *of, struct walk_setting how);
void walk_for_every_setting(const struct walk_case *cases, size_t count, walk_body *body);
void walk_for_both_memories(const struct walk_case *cases, size_t count, walk_body *body);

#endif
