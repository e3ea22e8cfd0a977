/* The slow obvious model of Ising spins: one spin at a time, plain coordinates, whole random
 * numbers, 2D and 3D, any couplings and fields. It follows the trajectories that
 * models/ising/ising_physics.h defines, from that text and not from the kernels, and it can be told
 * to be wrong. */
#ifndef TESTS_SUPPORT_ISING_REFERENCE_H
#define TESTS_SUPPORT_ISING_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/numerics/random.h"
#include "core/simulation/kernel.h"
#include "models/ising/ising_physics.h"
#include "models/ising/ising.h"

enum reference_trajectory { REFERENCE_MULTISPIN, REFERENCE_SPIN, REFERENCE_PACKED };

/* What is wrong with it. ACCEPTANCE: thresholds 1 % too low. SHARED: the lanes of a word use the
 * random number of lane 0. */
enum reference_fault { REFERENCE_RIGHT, REFERENCE_ACCEPTANCE, REFERENCE_SHARED };

/* The replicas of one run: spin[replica][x + Lx (y + Ly z)], +1 or -1. */
struct reference {
  enum reference_trajectory trajectory;
  enum reference_fault fault;
  enum ising_move update;
  size_t dimension, length[3], sites, replicas; /* length[2] = 1 in two dimensions */
  double coupling, field;                       /* J and h, where samples = 0 */
  /* Disorder: replica r has sample r, or the only one. sample_coupling[samples][sites][dimension]
   * = J(i, i + e_d) and sample_field[samples][sites], in units of `quantum`. */
  size_t samples;
  double quantum;
  int32_t *sample_coupling, *sample_field;
  /* Trajectory of words with random fields: u decides about s sign(h_i). */
  bool along_field;
  struct gpumc_random random;
  int8_t *spin;
};

/* J = 1, h = 0, Metropolis, seed 1, run 0, 10 rounds. Allocates; fails the test when memory runs
 * out. */
void reference_init(struct reference *reference, enum reference_trajectory trajectory,
                    size_t dimension, const size_t *shape, size_t replicas);
/* The instance `model` of Ising spins, with `samples` samples if it has disorder: 1 or `replicas`.
 */
void reference_init_model(struct reference *reference, enum reference_trajectory trajectory,
                          const struct gpumc_model *model, size_t samples, size_t replicas);
void reference_free(struct reference *reference);

void reference_randomize(struct reference *reference);
/* The sweep with number `time`. */
void reference_sweep(struct reference *reference, double beta, uint32_t time);
/* One spin with the number u. */
void reference_update(struct reference *reference, double beta, size_t replica, size_t site,
                      uint32_t u);
/* Replica r of the one run and of the other change places, where bit r % 32 of swap[r / 32] is set.
 */
void reference_exchange(struct reference *one, struct reference *other, const uint32_t *swap);

/* Sum of s_i s_j over all bonds, and of s_i, of one replica. */
int64_t reference_bonds(const struct reference *reference, size_t replica);
int64_t reference_magnetization(const struct reference *reference, size_t replica);
/* Energy of one replica, in the unit of J. Exact but for the rounding of sums of J and h. */
double reference_energy(const struct reference *reference, size_t replica);
/* |sum of s_i exp(i k r_i)|^2 as the channel `wave` has it, in units of `quantum`. */
int64_t reference_wave(const struct reference *reference, size_t replica, double quantum);
/* Replica `replica` of both, which have the same shape; `quantum`: of ISING_PAIR_WAVE. */
int64_t reference_overlap(const struct reference *one, const struct reference *other,
                          size_t replica, enum ising_pair_kind kind, double quantum);
/* Replica in portable form, (N + 7) / 8 bytes. */
void reference_portable(const struct reference *reference, size_t replica, uint8_t *portable);

#endif
