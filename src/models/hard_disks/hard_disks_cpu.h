/* Functions that the kernels of hard disks on the CPU share: starts and measurements, whose errors
 * are found by threads. */
#ifndef GPUMC_HARD_DISKS_CPU_H
#define GPUMC_HARD_DISKS_CPU_H

#include "models/hard_disks/hard_disks.h"
#include "models/lattice/replicas_cpu.h"

/* gpumc_kernel_ops.start: makes starting states of every replica and passes them to the kernel's
 * `set`. */
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_start(struct gpumc_ensemble *ensemble, struct gpumc_error *error);

/* Applies a function to every replica, threads over replicas; the error is that of one of those
 * that failed. */
typedef enum gpumc_status (*hard_disks_work)(const struct gpumc_ensemble *ensemble,
                                             const struct lattice_cpu_place *place,
                                             int64_t *const *channel, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_measure_places(struct gpumc_ensemble *ensemble, hard_disks_work measure,
                          int64_t *const *channel, struct gpumc_error *error);
/* gpumc_kernel_ops.inspect: a measurement of no channel, which counts disks. */
GPUMC_MUST_CHECK enum gpumc_status hard_disks_inspect_places(struct gpumc_ensemble *ensemble,
                                                             hard_disks_work measure,
                                                             struct gpumc_error *error);

/* lattice_cpu_storage.own: whether a cell ever had too many disks, and the rules of volume
 * moves. */
struct hard_disks_own {
  bool full;
  struct hard_disks_volume_rule *rule; /* [plan.runs] */
};

static inline struct hard_disks_own *hard_disks_own_of(const struct gpumc_ensemble *ensemble)
{
  return ((const struct lattice_cpu_storage *)ensemble->storage)->own;
}

size_t
hard_disks_own_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan);
GPUMC_MUST_CHECK enum gpumc_status hard_disks_own_create(const struct gpumc_model *model,
                                                         const struct gpumc_ensemble_plan *plan,
                                                         void *own, struct gpumc_error *error);
void hard_disks_own_free(void *own);
#define HARD_DISKS_OWN                                                                             \
  .own_size = sizeof(struct hard_disks_own), .own_bytes = hard_disks_own_bytes,                    \
  .own_create = hard_disks_own_create, .own_free = hard_disks_own_free

/* Sets these rules for the next sweeps, if they move the volume. */
GPUMC_MUST_CHECK enum gpumc_status hard_disks_set_rules(struct gpumc_ensemble *ensemble,
                                                        const struct gpumc_target *target,
                                                        uint32_t sweeps, struct gpumc_error *error);

#endif
