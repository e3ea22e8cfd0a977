/* Walks of O(n) spins under a tabulated weight (gpumc_kernel_ops.walk): single-spin updates of many
 * replicas, weights by bins of the energy or of M_x. This header defines, for both compilers, what
 * every kernel of a trajectory must reproduce bit for bit.
 *
 * Step t = 2^32 t1 + t0 of replica r, of group g = r / 32, is four updates j = 0 .. 3, at sites
 * that the group shares (models/lattice/walk.h). Each proposes a spin S' drawn uniformly, whatever
 * S is. Words w(d, i), output i of the counter {r, t1, t0, (LATTICE_WALK, d)}, are
 *
 *                          u               azimuth             number
 *   O(3), double   w(2 + j, 0), w(2 + j, 1)   w(2 + j, 2)         w(2 + j, 3)
 *   O(3), float    w(2 + j/2, 2(j % 2))       w(2 + j/2, 2(j % 2) + 1)   w(0, j)
 *   O(2), both     none                    w(2 + j/2, 2(j % 2))   w(2 + j/2, 2(j % 2) + 1)
 *
 * and u and the azimuth become S' as in the starting states (heisenberg_physics.h). S' is accepted
 * iff (number + 1/2) / 2^32 < exp(x), x = ln W(new) - ln W(old).
 *
 * The coordinate of W must not drift, and must be the same wherever it is computed. Each product
 * S_i . S_j of a bond is therefore rounded by itself to units of 2^-HEISENBERG_QUANTUM_BITS, and so
 * is each S_i^x: the change by an update is a difference of whole numbers, from the bonds of one
 * site alone. Channels of ensembles that walk are computed from the same numbers. All of this is
 * done in double, in which they are exact. */
#ifndef GPUMC_HEISENBERG_WALK_H
#define GPUMC_HEISENBERG_WALK_H

#include "models/heisenberg/heisenberg_physics.h"
#include "models/lattice/walk.h"

enum {
  /* Draws of the counter's label other than LATTICE_WALK_SITES. */
  HEISENBERG_WALK_NUMBERS = 0,
  HEISENBERG_WALK_SPINS = 2,
};
/* For lattices that walk: the sum of all products stays below 2^53 units. */
#define HEISENBERG_WALK_BONDS_LIMIT ((size_t)1 << 24)

/* The parameters of a call, the same for all runs. A table of weights is weight[levels + 2]: ln W
 * of the levels; before and after them that of values outside of all levels, -INFINITY. */
struct heisenberg_walk_rule {
  double coupling, field; /* J and h over the quantum of the energy, per unit of the sums */
  double magnetization;   /* quanta of M_x per unit of its sum */
  double spacing, inverse_spacing, levels;
  uint32_t by_energy; /* otherwise by M_x */
};

/* The state of a replica: sums in units of 2^-HEISENBERG_QUANTUM_BITS, the channels computed from
 * them in quanta, and its place in the table. */
struct heisenberg_walk_state {
  double bonds, along;
  double energy, magnetization;
  double place;
};

/* Computes the rest from the sums. All factors that were combined are powers of two, so the energy
 * is that of heisenberg_record. */
GPUMC_HOST_DEVICE static inline void heisenberg_walk_find(const struct heisenberg_walk_rule *rule,
                                                          double lowest,
                                                          struct heisenberg_walk_state *state)
{
  state->energy = -rint(fma(rule->coupling, state->bonds, rule->field * state->along));
  state->magnetization = rint(rule->magnetization * state->along);
  const double above = (rule->by_energy ? state->energy : state->magnetization) - lowest;
  /* The quotient is off by at most one, as the remainder shows. */
  const double quotient = floor(above * rule->inverse_spacing);
  const double rest = fma(-quotient, rule->spacing, above);
  const double after = rest >= rule->spacing ? 1.0 : 0.0, before = rest < 0.0 ? 1.0 : 0.0;
  const double place = quotient + after - before + 1.0, last = rule->levels + 1.0;
  const double inside = place > 0.0 ? place : 0.0;
  state->place = inside < last ? inside : last;
}

/* Returns whether a replica moves from one state to another, given their table entries. */
GPUMC_HOST_DEVICE static inline bool
heisenberg_walk_accepts(struct lattice_walk_canonical canonical,
                        const struct heisenberg_walk_state *from,
                        const struct heisenberg_walk_state *to, double weight_from,
                        double weight_to, uint32_t number)
{
  const double below = fma(canonical.energy, to->energy - from->energy,
                           canonical.magnetization * (to->magnetization - from->magnetization));
  const double x = weight_to - weight_from - below;
  double weight, less_one;
  gpumc_decay_double(x < 0.0 ? x : 0.0, &weight, &less_one);
  const double middle = (double)(int32_t)(number ^ 0x80000000u) + (0x1p31 + 0.5);
  return middle * 0x1p-32 < weight;
}

#endif
