/* The multispin kernel at one level: what its *_isa.c sources know of each other. */
#ifndef GPUMC_ISING_MULTISPIN_ISA_H
#define GPUMC_ISING_MULTISPIN_ISA_H

#include "core/numerics/simd.h"
#include "models/ising/multispin/multispin.h"
#include "models/lattice/checkerboard_simd.h"

enum { ISING_CLASS_BITS = 3 };

/* The words that hold undecided lanes: index within the colour, lanes, bits of the class. */
struct ising_undecided {
  uint32_t *index, *open, *class_bit[ISING_CLASS_BITS];
  size_t count;
};

/* Where the signs of the vector of sites from k on begin, k a multiple of its length. */
GPUMC_INLINE size_t ising_sign_word(size_t k, size_t slots)
{
  const size_t shift = gpumc_checkerboard_edge_shift(k);
  return (k - shift) * slots + shift;
}

/* The sweeps of a group on its working copies. `signs`: of each colour. */
struct ising_sweep {
  const struct ising_multispin_instance *instance;
  const struct ising_multispin_rule *rule;
  const uint32_t *signs[2];
  uint32_t *sites[2];
  uint32_t group, time, sweeps;
  struct ising_undecided undecided;
  int64_t *unsatisfied; /* of the group: bonds that the last sweep leaves are added; or NULL */
};

/* Entry [signs][dimension - 2][rounds == 7], by kind of update. */
enum { ISING_SIGNS = ISING_FIELD_SIGNS + 1 };
typedef void ising_sweep_function(const struct ising_sweep *sweep);
typedef ising_sweep_function *ising_sweep_table[ISING_SIGNS][2][2];

extern const ising_sweep_table GPUMC_ISA_NAME(ising_sweep_plain);
extern const ising_sweep_table GPUMC_ISA_NAME(ising_sweep_metropolis);
extern const ising_sweep_table GPUMC_ISA_NAME(ising_sweep_heat_bath);

/* Entries of struct ising_multispin_ops. */
void GPUMC_ISA_NAME(ising_multispin_measure)(const struct ising_multispin_group *group,
                                             const uint32_t *other,
                                             const struct ising_multispin_waves *waves,
                                             struct ising_multispin_sums *sums);
void GPUMC_ISA_NAME(ising_multispin_gather)(uint32_t *words, const uint32_t *old, size_t n,
                                            const struct ising_multispin_copy *copies,
                                            size_t n_copies);
void GPUMC_ISA_NAME(ising_multispin_exchange)(uint32_t *a, uint32_t *b, size_t n, uint32_t swap);

#endif
