/* The tiled kernel on a GPU: the drivers of its CUDA kernels. A block of threads copies a tile and
 * its boundary to shared memory; a thread updates a word of four spins. */
#ifndef GPUMC_ISING_TILED_GPU_H
#define GPUMC_ISING_TILED_GPU_H

#include "core/device/cuda_error.h"
#include "models/ising/tiled/tiled_generator.h"
#include "models/ising/tiled/tiled_lattice.h"
#include "models/lattice/batch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rules passed with a launch, whose arguments have 4 KiB. */
enum { ISING_TILED_RULES = 24 };

/* words[runs][capacity][replica words], the same of the states of generators, rule[runs]: device
 * memory. */
struct ising_tiled_replicas {
  struct lattice_batch batch;
  struct ising_tiled_geometry geometry;
  struct ising_tiled_generator generator;
  uint32_t *words, *state;
  struct ising_tiled_rule *rule;
  uint32_t block_threads; /* 0: the driver's choice */
};

struct ising_tiled_sweep {
  struct ising_tiled_replicas replicas;
  struct ising_tiled_visit visit;
};

/* The rules of the runs first .. first + count - 1. */
struct ising_tiled_rules {
  struct ising_tiled_rule *rule; /* [runs], device memory */
  uint32_t first, count;
  struct ising_tiled_rule value[ISING_TILED_RULES];
  void *stream;
};

/* Arrays [runs][capacity] in device memory, NULL if not wanted; sums[runs][capacity] is scratch. */
struct ising_tiled_measurement {
  struct ising_tiled_replicas replicas;
  struct ising_tiled_waves waves;
  struct ising_tiled_sums *sums;
  int64_t *energy, *magnetization, *wave;
  double coupling, field; /* J and h in quanta */
};

struct ising_tiled_transfer {
  struct ising_tiled_replicas replicas;
  struct lattice_portable portable;
};

GPUMC_MUST_CHECK enum gpumc_status
ising_tiled_set_rules(const struct ising_tiled_rules *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_tiled_visit_blocks(const struct ising_tiled_sweep *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_tiled_measure_all(const struct ising_tiled_measurement *arguments, struct gpumc_error *error);

/* Spins, and the states of generators. */
GPUMC_MUST_CHECK enum gpumc_status
ising_tiled_randomize(const struct ising_tiled_replicas *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_tiled_from_portable(const struct ising_tiled_transfer *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_tiled_to_portable(const struct ising_tiled_transfer *arguments, struct gpumc_error *error);

#ifdef __cplusplus
}
#endif

#endif
