/* Data of the CUDA kernels with one number per spin beside the replicas, in the storage's table:
 * rules of the runs, waves, samples of the disorder, and anything else a kernel needs. */
#ifndef GPUMC_ISING_SPIN_TABLES_GPU_H
#define GPUMC_ISING_SPIN_TABLES_GPU_H

#include "core/device/cuda_error.h"
#include "core/simulation/kernel.h"
#include "models/ising/cluster/cluster_rules.h"
#include "models/ising/ising_channels.h"
#include "models/ising/spin/spin_rule.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a kernel lays them out. `pack`: converts `count` samples as ising_spin_samples_fill makes
 * them to one group of `lanes` of them (missing ones stay 0) of group_bytes, zeroed. */
struct ising_tables_layout {
  size_t own_bytes;
  size_t lanes, group_bytes;
  void (*pack)(const struct gpumc_model *model, const struct ising_spin_samples *samples,
               const void *from, size_t count, size_t lanes, void *to);
};

/* Device memory, except `wave` and the quanta. samples[groups][group_bytes], groups = 1: all
 * replicas have the only sample. If the samples go by runs, `by_run` of them for plan_runs runs,
 * each is a group. */
struct ising_tables {
  enum ising_spin_kind kind;
  uint32_t dimension;
  struct ising_run_rule *rules; /* [plan.runs] */
  int32_t *cosine, *sine;       /* [wave.length] */
  struct lattice_wave wave;
  double coupling, field, width; /* J, h, and the size of random fields that are signs, in quanta */
  uint8_t *samples;
  size_t group_bytes;
  uint32_t lanes;             /* of a group; 0: one sample for all */
  uint32_t by_run, plan_runs; /* by_run = 0: replicas have samples, or one for all */
  void *own;
};

/* Entries of struct lattice_gpu_layout: the table; the notes, whose rules are there
 * (ising_host_gpu.h). */
size_t ising_tables_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan,
                          const struct ising_tables_layout *layout);
size_t
ising_tables_notes_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan);
/* Fills the table, all but `own`, and the notes. */
GPUMC_MUST_CHECK enum gpumc_status ising_tables_fill(struct gpumc_ensemble *ensemble,
                                                     const struct ising_tables_layout *layout,
                                                     struct gpumc_error *error);
struct ising_tables
ising_tables_of(const struct gpumc_ensemble *ensemble, const struct ising_tables_layout *layout);
/* Brings the rules of all runs to the device, for control[runs][..]; does nothing if they are there
 * already. */
GPUMC_MUST_CHECK enum gpumc_status
ising_tables_set_rules(struct gpumc_ensemble *ensemble, const struct ising_tables *tables,
                       const double *control, struct gpumc_error *error);
struct ising_run_rule
ising_run_rule_of(const struct gpumc_ensemble *ensemble, const double control[ISING_CONTROLS]);

/* The rule of one run for cluster moves. Uniform couplings and fields: a bond, or one with the
 * ghost, is active iff its number is not above `last`, unless any = 0, and it is satisfied: bits of
 * two spins and `alike`, or of one and `down`, have an odd sum. Masks are all ones or 0. */
struct ising_cluster_run {
  struct ising_cluster_rule rule;
  uint32_t bond_last, bond_any, alike;
  uint32_t ghost_last, ghost_any, down;
};

/* The rule of one run: struct ising_spin_rule packed, compared: two bits per class; or, for cluster
 * moves, `clusters` and nothing else. */
struct ising_run_rule {
  union {
    uint32_t threshold[ISING_TABLE];
    struct ising_cluster_run clusters;
  };
  uint32_t compared;
  uint32_t start; /* all ones, or 0 */
  struct ising_spin_estimate estimate;
  struct ising_spin_exact exact;
};

/* The same for a square lattice without disorder, by the number of neighbours up, for 32 spins at a
 * time, bit 1 is up. A spin that starts as s needs a comparison iff (s ^ flip[up]) & needed[up],
 * and then stays unless its number is below threshold[up]; all others flip. */
struct ising_rule {
  uint32_t threshold[ISING_CLASSES];
  uint32_t flip[ISING_CLASSES], needed[ISING_CLASSES];
  uint32_t start;
};

GPUMC_HOST_DEVICE static inline uint32_t
ising_rule_compared(const struct ising_run_rule *rule, uint32_t class_)
{
  return rule->compared >> 2 * class_ & 3;
}

GPUMC_HOST_DEVICE static inline struct ising_rule
ising_rule_of_words(const struct ising_run_rule *of_run)
{
  struct ising_rule rule;
  for (uint32_t up = 0; up < ISING_CLASSES; up++) {
    const uint32_t compared = ising_rule_compared(of_run, up);
    rule.threshold[up] = of_run->threshold[up];
    rule.flip[up] = compared == 0 ? UINT32_MAX : 0;
    rule.needed[up] = compared == ISING_EITHER_SPIN ? 0 : UINT32_MAX;
  }
  rule.start = of_run->start;
  return rule;
}

/* Passes rules first .. first + count - 1 to rules[runs], device memory. */
enum { ISING_RULES_AT_ONCE = 24 };
struct ising_rules_part {
  struct ising_run_rule *rules;
  uint32_t first, count;
  void *stream; /* cudaStream_t */
  struct ising_run_rule rule[ISING_RULES_AT_ONCE];
};

GPUMC_MUST_CHECK enum gpumc_status
ising_rules_store(const struct ising_rules_part *arguments, struct gpumc_error *error);

/* The measurement of the replicas of the runs first .. first + runs - 1, or of their products with
 * those of the runs from `second` on. Arrays [runs][capacity], NULL: not wanted; energies only for
 * replicas, links (the sum of s_i s_j over the bonds) only for products. */
struct ising_measured {
  uint32_t first, second, runs, product;
  int64_t *energy, *spins, *links, *wave;
};

/* For gpumc_kernel_ops.measure and overlap. */
struct ising_measured ising_measured_channels(size_t runs, int64_t *const *channel);
struct ising_measured ising_measured_overlaps(size_t first, size_t second, size_t runs,
                                              int64_t *const overlap[GPUMC_PAIRS_MAXIMUM]);

/* Returns the energy of a replica in quanta, from its sums. bonds, spins, along: as in ising_energy
 * and ising_energy_of_signs; terms: the sum over couplings and fields of any size. */
GPUMC_HOST_DEVICE static inline int64_t ising_tables_energy(const struct ising_tables *tables,
                                                            int64_t bonds, int64_t spins,
                                                            int64_t along, int64_t terms)
{
  if (tables->kind == ISING_SPIN_TERMS)
    return terms;
  if (tables->kind == ISING_SPIN_UNIFORM)
    return ising_energy(tables->coupling, tables->field, bonds, spins);
  return ising_energy_of_signs(tables->coupling, tables->field, tables->width, bonds, spins, along);
}

#ifdef __cplusplus
}
#endif

#endif
