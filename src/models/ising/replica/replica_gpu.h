/* The replica kernel on a GPU, a thread to a replica: storage, and the drivers of its CUDA kernels.
 *
 * A spin is a byte, 1 up and 0 down. Replicas are stored in groups of 32, site by site, so that
 * the threads of a warp access neighbouring bytes: spins[run][group][position][replica % 32],
 * position = colour N/2 + k. */
#ifndef GPUMC_ISING_REPLICA_GPU_H
#define GPUMC_ISING_REPLICA_GPU_H

#include "core/device/cuda_error.h"
#include "models/ising/spin/spin_tables_gpu.h"
#include "models/lattice/batch.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ISING_REPLICA_GROUP = 32 };

/* `groups`: that a run has room for. */
struct ising_replica_replicas {
  struct lattice_batch batch;
  uint32_t dimension, row, height, plane, colour; /* see struct gpumc_checkerboard; height: Ly */
  size_t groups;
  uint8_t *spins;
  uint32_t block_threads; /* 0: the driver's choice */
};

/* `sweeps` may be 0. Samples, in groups like the replicas, or one for all without the last index:
 * of ISING_SPIN_SIGNS bytes [position][replica % 32], of ISING_SPIN_TERMS
 * [2d + 1][position][replica % 32], the neighbours and then the field. */
struct ising_replica_sweep {
  struct ising_replica_replicas replicas;
  struct ising_tables tables;
  uint32_t sweeps;
};

struct ising_replica_measurement {
  struct ising_replica_replicas replicas;
  struct ising_tables tables;
  struct ising_measured measured;
};

struct ising_replica_transfer {
  struct ising_replica_replicas replicas;
  struct lattice_portable portable;
};

GPUMC_MUST_CHECK enum gpumc_status
ising_replica_randomize(const struct ising_replica_replicas *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_replica_run(const struct ising_replica_sweep *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_replica_measure(const struct ising_replica_measurement *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_replica_from_portable(const struct ising_replica_transfer *arguments,
                            struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_replica_to_portable(const struct ising_replica_transfer *arguments,
                          struct gpumc_error *error);

#ifdef __cplusplus
}
#endif

#endif
