/* The data of the multispin kernel beside the replicas. For both devices, which lay these words out
 * in their own ways: which bonds and fields of the samples are negative, for words of 32 samples
 * each. On the CPU: geometry, signs, tables of waves, rules of the runs. */
#ifndef GPUMC_ISING_MULTISPIN_TABLES_H
#define GPUMC_ISING_MULTISPIN_TABLES_H

#include "core/simulation/kernel.h"
#include "models/ising/ising.h"
#include "models/ising/ising_takes.h"
#include "models/ising/multispin/multispin.h"
#include "models/lattice/checkerboard.h"

/* Returns GPUMC_INVALID for couplings or fields that are not signs. */
GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_check(const struct gpumc_model *model, struct gpumc_error *error);

/* Returns the number of groups whose signs differ: one for every 32 samples, or 1 for all. */
size_t ising_multispin_sign_groups(const struct gpumc_ensemble_plan *plan);

/* Receives the signs. `lanes`: the samples of the group, a bit each, that have it; all if there is
 * only one sample. */
struct ising_multispin_signs_to {
  void *words; /* the first argument of both */
  /* Spins in fields below 0 are inverted, and their bonds with them. */
  bool turned;
  /* Receives a bond with the sign opposite to that of J, at each of its ends. */
  void (*bond)(void *words, const struct gpumc_checkerboard_place *place,
               enum gpumc_neighbour direction, uint32_t lanes);
  /* Receives a random field below 0. */
  void (*field)(void *words, const struct gpumc_checkerboard_place *place, uint32_t lanes);
};

/* Reports all signs of a group of the ensemble that `plan` is for. */
GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_signs_of_group(const struct gpumc_model *model,
                               const struct gpumc_ensemble_plan *plan, size_t group,
                               const struct ising_multispin_signs_to *to,
                               struct gpumc_error *error);

struct ising_multispin_tables {
  struct ising_multispin_instance instance;
  struct gpumc_checkerboard_edges *edges;
  /* signs[sign_groups][2 colours][ising_multispin_sign_words()]; NULL: the same everywhere.
   * sign_groups: one for each group, or 1 for all. */
  size_t sign_groups;
  uint32_t *signs;
  struct ising_multispin_waves waves;
  int32_t *wave_table;                  /* cosines, then sines */
  struct ising_multispin_rule *rule;    /* [plan.runs] */
  double coupling, width;               /* J, and the width of random fields, energy */
  double coupling_quanta, field_quanta; /* the same in quanta */
  bool plain;
};

/* Sets what follows from the instance and the plan alone: all but edges and signs. Free also after
 * a failure. */
GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_tables_begin(const struct gpumc_model *model,
                             const struct gpumc_ensemble_plan *plan,
                             struct ising_multispin_tables *tables, struct gpumc_error *error);

size_t ising_multispin_tables_bytes(const struct gpumc_model *model,
                                    const struct gpumc_ensemble_plan *plan);
/* Returns GPUMC_INVALID for couplings or fields that are not signs. Free also after a failure. */
GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_tables_create(const struct gpumc_model *model,
                              const struct gpumc_ensemble_plan *plan,
                              struct ising_multispin_tables *tables, struct gpumc_error *error);
/* Legal on zeroed tables. */
void ising_multispin_tables_free(struct ising_multispin_tables *tables);

/* Returns the signs of a group; NULL: the same everywhere. */
static inline const uint32_t *
ising_multispin_signs(const struct ising_multispin_tables *tables, size_t group)
{
  const struct ising_multispin_instance *instance = &tables->instance;
  if (tables->signs == NULL)
    return NULL;
  return tables->signs + (tables->sign_groups == 1 ? 0 : group) * 2 *
                             ising_multispin_sign_words(&instance->lattice, instance->signs);
}

/* gpumc_kernel_ops.cost and refuses. */
double ising_multispin_cost(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan,
                            size_t replicas);
const char *ising_multispin_cpu_refuses(const struct gpumc_model *model,
                                        const struct gpumc_kernel_options *options,
                                        const char **key);
const char *ising_multispin_gpu_refuses(const struct gpumc_model *model,
                                        const struct gpumc_kernel_options *options,
                                        const char **key);

/* Designated initialisers of a struct gpumc_kernel_ops, shared by the kernels of all devices, also
 * for builds that lack the one on GPUs. */
#define ISING_MULTISPIN_TAKES                                                                      \
  "couplings that are all J, or +J and -J; random fields of one size. Replicas come in words of "  \
  "32, and a word takes the time of 32 even if it holds fewer"
#define ISING_MULTISPIN_NAMES                                                                      \
  .variant = "multispin", .cost = ising_multispin_cost, .trajectory = "ising.multispin.1",         \
  .moves = ising_moves, .n_moves = ISING_LOCAL_MOVES, .group = ISING_LANES
#define ISING_MULTISPIN_CUDA_NAMES                                                                 \
  ISING_MULTISPIN_NAMES,                                                                           \
      .device = "cuda", .refuses = ising_multispin_gpu_refuses,                                    \
      .summary = "one bit per spin, 32 replicas per word, bit-serial comparison in shared memory", \
      .takes = ISING_MULTISPIN_TAKES ISING_TAKES_ON_GPUS

struct ising_multispin_rule ising_multispin_rule(const struct ising_multispin_tables *tables,
                                                 enum ising_move update,
                                                 const double control[ISING_CONTROLS]);

/* Sets the rules of all runs, control[runs][ISING_CONTROLS]; most have the controls of the run
 * before. */
void ising_multispin_set_rules(const struct gpumc_ensemble *ensemble,
                               struct ising_multispin_tables *tables, const double *control);

#endif
