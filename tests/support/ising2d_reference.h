/* The slow obvious two-dimensional Ising model: one spin at a time, plain coordinates, whole random
 * numbers. It follows the trajectories that models/ising2d/ising_physics.h defines, from that
 * text and not from the kernels, and it can be told to be wrong. */
#ifndef TESTS_SUPPORT_ISING2D_REFERENCE_H
#define TESTS_SUPPORT_ISING2D_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/random.h"

enum reference_trajectory { REFERENCE_MULTISPIN, REFERENCE_SPIN };

/* What is wrong with it. ACCEPTANCE: thresholds 1 % too low. SHARED: the lanes of a word use the
 * random number of lane 0. */
enum reference_fault { REFERENCE_RIGHT, REFERENCE_ACCEPTANCE, REFERENCE_SHARED };

/* spin[replica][y * length_x + x], +1 or -1. */
struct reference {
  enum reference_trajectory trajectory;
  enum reference_fault fault;
  size_t length_x, length_y, replicas;
  double coupling, field;
  struct gpumc_random random;
  int8_t *spin;
};

/* Allocates; fails the test when memory runs out. */
void reference_init(struct reference *reference, enum reference_trajectory trajectory,
                    size_t length_x, size_t length_y, size_t replicas);
void reference_free(struct reference *reference);

void reference_randomize(struct reference *reference);
/* The sweep with number `time`. */
void reference_sweep(struct reference *reference, double beta, uint32_t time);

/* Sum of s_i s_j over all bonds, and of s_i, of one replica. */
int64_t reference_bonds(const struct reference *reference, size_t replica);
int64_t reference_magnetization(const struct reference *reference, size_t replica);
/* Replica in portable form, (N + 7) / 8 bytes. */
void reference_portable(const struct reference *reference, size_t replica, uint8_t *portable);

#endif
