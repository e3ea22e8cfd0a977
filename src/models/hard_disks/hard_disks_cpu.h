/* What the kernels of hard disks on the CPU have in common: starts and measurements, whose errors
 * are found by threads. */
#ifndef GPUMC_HARD_DISKS_CPU_H
#define GPUMC_HARD_DISKS_CPU_H

#include "models/hard_disks/hard_disks.h"
#include "models/lattice/replicas_cpu.h"

/* gpumc_kernel_ops.start: states of every replica, which the kernel's `set` takes. */
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_start(struct gpumc_ensemble *ensemble, struct gpumc_error *error);

/* Does something with every replica, threads over replicas; the error is that of one of those that
 * failed. */
typedef enum gpumc_status (*hard_disks_work)(const struct gpumc_ensemble *ensemble,
                                             const struct lattice_cpu_place *place,
                                             int64_t *const *channel, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_measure_places(struct gpumc_ensemble *ensemble, hard_disks_work measure,
                          int64_t *const *channel, struct gpumc_error *error);
/* gpumc_kernel_ops.inspect: a measurement of nothing, which counts disks. */
GPUMC_MUST_CHECK enum gpumc_status hard_disks_inspect_places(struct gpumc_ensemble *ensemble,
                                                             hard_disks_work measure,
                                                             struct gpumc_error *error);

#endif
