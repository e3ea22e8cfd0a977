/* The slow, simple model of Ising spins: one spin at a time, plain coordinates, whole random
 * numbers, 2D and 3D, any couplings and fields. It follows the trajectories that
 * models/ising/ising_physics.h defines, written from that text and not from the kernels, and can be
 * made wrong on purpose. */
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

/* Deliberate faults. ACCEPTANCE: thresholds 1 % too low. SHARED: the lanes of a word use the random
 * number of lane 0. Of clusters, BONDS: those of an inverse temperature 2 % too high. BIAS:
 * clusters of which the first spin is down are always flipped. NO_GHOST: bonds with the ghost spin
 * are left out. */
enum reference_fault {
  REFERENCE_RIGHT,
  REFERENCE_ACCEPTANCE,
  REFERENCE_SHARED,
  REFERENCE_BONDS,
  REFERENCE_BIAS,
  REFERENCE_NO_GHOST
};

/* The replicas of one run: spin[replica][x + Lx (y + Ly z)], +1 or -1. */
struct reference {
  enum reference_trajectory trajectory;
  enum reference_fault fault;
  enum ising_move update;
  uint32_t clusters;                            /* of Wolff in a sweep; 0 means 1 */
  uint64_t limit; /* on spins that they flip before the sweep ends early; 0: none */
  size_t dimension, length[3], sites, replicas; /* length[2] = 1 in two dimensions */
  double coupling, field;                       /* J and h if samples = 0 */
  double moved_field; /* of clusters: added to h; it was 0 when the samples were drawn */
  /* Disorder: replica r has sample r, or the only one. sample_coupling[samples][sites][dimension] =
   * J(i, i + e_d) and sample_field[samples][sites], in units of `quantum`. */
  size_t samples;
  double quantum;
  int32_t *sample_coupling, *sample_field;
  /* Trajectory of words with random fields: u decides about s sign(h_i). */
  bool along_field;
  struct gpumc_random random;
  int8_t *spin;
};

/* Sets J = 1, h = 0, Metropolis, seed 1, run 0, 10 rounds. Allocates memory; fails the test if
 * memory runs out. */
void reference_init(struct reference *reference, enum reference_trajectory trajectory,
                    size_t dimension, const size_t *shape, size_t replicas);
/* Initializes the reference with the Ising instance `model` and, if it has disorder, `samples`
 * samples: 1 or `replicas`. */
void reference_init_model(struct reference *reference, enum reference_trajectory trajectory,
                          const struct gpumc_model *model, size_t samples, size_t replicas);
void reference_free(struct reference *reference);

void reference_randomize(struct reference *reference);
/* Performs the sweep with number `time`. */
void reference_sweep(struct reference *reference, double beta, uint32_t time);
/* Updates one spin with the number u. */
void reference_update(struct reference *reference, double beta, size_t replica, size_t site,
                      uint32_t u);
/* Performs a sweep of clusters for one replica (ising_clusters.c). */
void reference_sweep_clusters(struct reference *reference, double beta, uint32_t time,
                              size_t replica);
/* Computes the improved estimators of one replica from the bonds of a sweep with that time: the sum
 * over clusters of M_c^2, and of their waves, in units of `quantum` (ising_clusters.c). */
void reference_improved(struct reference *reference, double beta, uint32_t time, size_t replica,
                        double quantum, int64_t *square, int64_t *wave);
/* Returns the next site along an axis, or the one before; J of the bond with the next one, and h of
 * a site, in units of energy. */
size_t reference_next(const struct reference *reference, size_t site, size_t axis);
size_t reference_before(const struct reference *reference, size_t site, size_t axis);
double
reference_coupling(const struct reference *reference, size_t replica, size_t site, size_t axis);
double reference_field(const struct reference *reference, size_t replica, size_t site);
/* Exchanges replica r of one run with replica r of the other if bit r % 32 of swap[r / 32] is
 * set. */
void reference_exchange(struct reference *one, struct reference *other, const uint32_t *swap);

/* Return the sum of s_i s_j over all bonds, and of s_i, for one replica. */
int64_t reference_bonds(const struct reference *reference, size_t replica);
int64_t reference_magnetization(const struct reference *reference, size_t replica);
/* Returns the energy of one replica in units of J, exact except for the rounding of sums of J and
 * h. */
double reference_energy(const struct reference *reference, size_t replica);
/* Returns |sum of s_i exp(i k r_i)|^2 as in the channel `wave`, in units of `quantum`. */
int64_t reference_wave(const struct reference *reference, size_t replica, double quantum);
/* Returns the overlap of replica `replica` of both, which have the same shape; `quantum`: for
 * ISING_PAIR_WAVE. */
int64_t reference_overlap(const struct reference *one, const struct reference *other,
                          size_t replica, enum ising_pair_kind kind, double quantum);
/* Stores the replica in portable form, (N + 7) / 8 bytes. */
void reference_portable(const struct reference *reference, size_t replica, uint8_t *portable);

#endif
