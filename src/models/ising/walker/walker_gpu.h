/* The walker kernel on a GPU, one thread per replica: storage, and the drivers of its CUDA kernels.
 *
 * A spin is a byte, 1 up and 0 down. Replicas are stored in groups of 32, site by site, so that the
 * threads of a warp access neighbouring bytes: spins[run][group][position][replica % 32], position
 * = colour N/2 + k. */
#ifndef GPUMC_ISING_WALKER_GPU_H
#define GPUMC_ISING_WALKER_GPU_H

#include "core/device/cuda_error.h"
#include "models/ising/spin/spin_tables_gpu.h"
#include "models/ising/walker/walker.h"
#include "models/lattice/batch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `groups`: room of a run. */
struct ising_walker_replicas {
  struct lattice_batch batch;
  uint32_t dimension, row, height, plane, colour; /* see struct gpumc_checkerboard; height: Ly */
  size_t groups;
  uint8_t *spins;
  uint32_t block_threads; /* 0: the driver's choice */
};

/* `sweeps` may be 0. Samples, in groups like the replicas, or one for all without the last index:
 * with ISING_SPIN_SIGNS bytes [position][replica % 32], with ISING_SPIN_TERMS [2d +
 * 1][position][replica % 32], the neighbours and then the field. */
struct ising_walker_sweep {
  struct ising_walker_replicas replicas;
  struct ising_tables tables;
  uint32_t sweeps;
};

struct ising_walker_measurement {
  struct ising_walker_replicas replicas;
  struct ising_tables tables;
  struct ising_measured measured;
};

struct ising_walker_transfer {
  struct ising_walker_replicas replicas;
  struct lattice_portable portable;
};

/* The data of a site for a walk in shared memory, its own and its neighbours': where they are among
 * the words of a thread, and which couplings have the other sign. Site i is bit i % 32 of word i /
 * 32, and the words of the 32 threads of a warp are adjacent; a word rotated by `turn` has the site
 * in the bit of value 4, so that sums of such bits are offsets of thresholds:
 *
 *   row:  i / 32      turn:  (i - 2) % 32  + ISING_WALKER_AGAINST, of a neighbour
 *
 * The own site is number 0; the order serves reading 16 bytes at a time, of which two dimensions
 * need three. */
enum { ISING_WALKER_AGAINST = 32, ISING_WALKER_BIT = 4 };
struct ising_walker_places {
  uint32_t row0, row1, row2, row3, turn0, turn1, turn2, turn3;
  uint32_t bit; /* of the own site, 1 << i % 32 */
  uint32_t row4, turn4, row5, turn5, row6, turn6, unused;
};

/* A call of gpumc_kernel_ops.walk, struct ising_walk on the device. Device memory:
 * threshold[runs][levels][classes], classes being the numbers of unlike neighbours 0 .. 2d, then
 * the same for spins that are up if `by_spin`; log_weight[runs][levels]; run[active], those that
 * walk; visits and passages as in struct gpumc_weight_table. A launch makes up to `steps` steps of
 * each run after its first `done`. A flip of a spin with `unlike` unlike neighbours moves a replica
 * by the levels step_base + step_unlike unlike + step_up up. */
struct ising_walker_walk {
  struct ising_walker_replicas replicas;
  struct ising_tables tables;
  uint32_t done, steps, tabled, by_spin, classes, by_energy;
  int32_t step_base, step_unlike, step_up;
  uint32_t levels;
  int64_t spacing;
  struct ising_walker_places *places; /* [samples][sites], of one sample unless these go by runs */
  uint32_t *threshold;
  int64_t *log_weight;
  struct lattice_walk_run *run;
  uint64_t *visits;
  size_t parts;
  uint32_t *passages;
  uint32_t active, multiprocessors;
  size_t shared_bytes; /* available to one block of threads */
};

/* Returns the warps in a block of a walk in shared memory; 0: a replica does not fit, or there is
 * no table. */
uint32_t ising_walker_warps(const struct ising_walker_walk *arguments);
/* Returns the number of replicas that occupy all multiprocessors, for a walk with the fields set
 * that decide ising_walker_warps; 0: it does not walk in shared memory, or CUDA cannot tell. */
size_t ising_walker_fills(const struct ising_walker_walk *arguments);
GPUMC_MUST_CHECK enum gpumc_status
ising_walker_walk_shared(const struct ising_walker_walk *arguments, struct gpumc_error *error);
/* Walks in device memory, of any kind. */
GPUMC_MUST_CHECK enum gpumc_status
ising_walker_walk_global(const struct ising_walker_walk *arguments, struct gpumc_error *error);

GPUMC_MUST_CHECK enum gpumc_status
ising_walker_randomize(const struct ising_walker_replicas *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_walker_run(const struct ising_walker_sweep *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_walker_measure(const struct ising_walker_measurement *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_walker_from_portable(const struct ising_walker_transfer *arguments,
                           struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_walker_to_portable(const struct ising_walker_transfer *arguments, struct gpumc_error *error);

#ifdef __cplusplus
}
#endif

#endif
