/* The multispin kernel at one level: declarations shared by its *_isa.c sources, and counting lane
 * by lane. */
#ifndef GPUMC_ISING_MULTISPIN_ISA_H
#define GPUMC_ISING_MULTISPIN_ISA_H

#include "core/numerics/simd.h"
#include "models/ising/multispin/multispin.h"
#include "models/lattice/checkerboard_simd.h"
#include "models/lattice/vertical_counter.h"

enum { ISING_CLASS_BITS = 3 };

/* The words with undecided lanes: index within the colour, lanes, bits of the class. */
struct ising_undecided {
  uint32_t *index, *open, *class_bit[ISING_CLASS_BITS];
  size_t count;
};

/* Returns where the signs of the vector of sites from k on begin, k a multiple of its length. */
GPUMC_INLINE size_t ising_sign_word(size_t k, size_t slots)
{
  const size_t shift = gpumc_checkerboard_edge_shift(k);
  return (k - shift) * slots + shift;
}

/* The sweeps of a group on its working copies. `signs`: for each colour. */
struct ising_sweep {
  const struct ising_multispin_instance *instance;
  const struct ising_multispin_rule *rule;
  const uint32_t *signs[2];
  uint32_t *sites[2];
  uint32_t group, time, sweeps;
  struct ising_undecided undecided;
  int64_t *unsatisfied; /* of the group: bonds that the last sweep leaves unsatisfied are added; or
                         * NULL */
};

/* Entry [signs][dimension - 2][rounds == 7], by kind of update. */
enum { ISING_SIGNS = ISING_FIELD_SIGNS + 1 };
typedef void ising_sweep_function(const struct ising_sweep *sweep);
typedef ising_sweep_function *ising_sweep_table[ISING_SIGNS][2][2];

extern const ising_sweep_table GPUMC_ISA_NAME(ising_sweep_plain);
extern const ising_sweep_table GPUMC_ISA_NAME(ising_sweep_metropolis);
extern const ising_sweep_table GPUMC_ISA_NAME(ising_sweep_heat_bath);

/* Implements struct ising_multispin_ops. */
void GPUMC_ISA_NAME(ising_multispin_measure)(const struct ising_multispin_group *group,
                                             const uint32_t *other,
                                             const struct ising_multispin_waves *waves,
                                             struct ising_multispin_sums *sums);

enum { ISING_COUNT_VECTORS = 4, ISING_COUNT_BLOCK = ISING_COUNT_VECTORS * GPUMC_VECTOR_WORDS };

/* Returns the lanes of words that are still within the lattice. */
GPUMC_INLINE gpumc_v32 ising_within(size_t words)
{
  if (words >= GPUMC_VECTOR_WORDS)
    return gpumc_broadcast(UINT32_MAX);
  return (gpumc_v32)(gpumc_lane_numbers() < gpumc_broadcast((uint32_t)words));
}

/* Adds to count[lane] the bits set in n words, at most a part, of each of the arrays. Reads whole
 * vectors. */
static inline void
ising_count_up(const uint32_t *const *array, size_t arrays, size_t n, int64_t count[ISING_LANES])
{
  const size_t planes =
      gpumc_counter_planes(arrays * (n / GPUMC_VECTOR_WORDS + ISING_COUNT_VECTORS));
  struct gpumc_vertical_counter counter;
  gpumc_v32 ones = gpumc_broadcast(0), twos = ones;
  gpumc_counter_clear(&counter, planes);
  for (size_t a = 0; a < arrays; a++)
    for (size_t i = 0; i + ISING_COUNT_BLOCK <= n; i += ISING_COUNT_BLOCK) {
      const uint32_t *at = array[a] + i;
      gpumc_v32 carry = gpumc_counter_add4(
          &ones, &twos, gpumc_load(at), gpumc_load(at + GPUMC_VECTOR_WORDS),
          gpumc_load(at + 2 * GPUMC_VECTOR_WORDS), gpumc_load(at + 3 * GPUMC_VECTOR_WORDS));
      gpumc_counter_add(&counter, 2, planes, carry);
    }
  counter.plane[0] = ones;
  counter.plane[1] = twos;
  for (size_t a = 0; a < arrays; a++)
    for (size_t i = n / ISING_COUNT_BLOCK * ISING_COUNT_BLOCK; i < n; i += GPUMC_VECTOR_WORDS)
      gpumc_counter_add(&counter, 0, planes, gpumc_load(array[a] + i) & ising_within(n - i));
  gpumc_counter_flush(&counter, planes, count);
}

void GPUMC_ISA_NAME(ising_multispin_exchange)(const struct ising_multispin_pair *pair,
                                              struct gpumc_cluster_counts *counts);

/* Returns whether the lattice is suitable for ising_multispin_cube, which sets the sums of waves
 * and spins up from working copies. */
bool GPUMC_ISA_NAME(ising_multispin_is_cube)(const struct gpumc_checkerboard *lattice);
void GPUMC_ISA_NAME(ising_multispin_cube)(const struct gpumc_checkerboard *lattice,
                                          const uint32_t *const sites[2],
                                          const struct ising_multispin_waves *waves,
                                          struct ising_multispin_sums *sums);

/* Sets the sums of waves of any lattice, from working copies. */
void GPUMC_ISA_NAME(ising_multispin_wave)(const struct gpumc_checkerboard *lattice,
                                          const uint32_t *const sites[2],
                                          const struct ising_multispin_waves *waves,
                                          struct ising_multispin_sums *sums);

#endif
