/* What the CUDA kernels of one number a spin keep beside the replicas, in the storage's table:
 * rules of the runs, waves, samples of the disorder, and what else a kernel wants. */
#ifndef GPUMC_ISING_SPIN_TABLES_CUDA_H
#define GPUMC_ISING_SPIN_TABLES_CUDA_H

#include "core/simulation/kernel.h"
#include "models/ising/ising_wave.h"
#include "models/ising/spin/spin_rule_cuda.h"
#include "models/ising/spin/spin_samples.h"

/* How a kernel has them. `pack`: `count` samples as ising_spin_samples_fill makes them, to one
 * group of `lanes` of them (those that are missing stay 0) of group_bytes, zeroed. */
struct ising_tables_layout {
  size_t own_bytes;
  size_t lanes, group_bytes;
  void (*pack)(const struct gpumc_model *model, const struct ising_spin_samples *samples,
               const void *from, size_t count, size_t lanes, void *to);
};

/* Device memory, but for `wave` and the quanta. samples[groups][group_bytes], groups = 1: all
 * replicas have the only sample. */
struct ising_tables {
  enum ising_spin_kind kind;
  uint32_t dimension;
  struct ising_run_rule *rules; /* [plan.runs] */
  int32_t *cosine, *sine;       /* [wave.length] */
  struct ising_wave wave;
  double coupling, field, width; /* J, h, and the size of random fields that are signs, in quanta */
  uint8_t *samples;
  size_t group_bytes;
  uint32_t lanes; /* of a group; 0: one sample for all */
  void *own;
};

/* Of struct lattice_gpu_layout: the table; the notes, controls of the runs whose rules are there.
 */
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
/* The rules of all runs on the device, for control[runs][..]; nothing is done where they are there.
 */
GPUMC_MUST_CHECK enum gpumc_status
ising_tables_set_rules(struct gpumc_ensemble *ensemble, const struct ising_tables *tables,
                       const double *control, struct gpumc_error *error);
struct ising_run_rule
ising_run_rule_of(const struct gpumc_ensemble *ensemble, const double control[ISING_CONTROLS]);

#endif
