/* The multispin kernel on a GPU below its ops: what the host asks of the drivers in
 * ising2d_multispin_*_cuda.cu.
 *
 * A group is 32 replicas, one bit each. In device memory it is a row of tiles
 * (lattice/bit_tile.cuh) by replica, so that a replica is copied without touching its neighbours;
 * sites are in the order of the trajectory's words, and what a last tile has beyond the lattice is
 * 0. For sweeps the tiles are brought to the form by site: in shared memory where a group fits
 * there, else in place. */
#ifndef GPUMC_ISING2D_MULTISPIN_CUDA_H
#define GPUMC_ISING2D_MULTISPIN_CUDA_H

#include <stddef.h>
#include <stdint.h>

#include "core/cuda_error.h"
#include "models/lattice/divisor.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  ISING2D_CUDA_LANES = 32,
  ISING2D_CUDA_TILE_BYTES = 1024,
  ISING2D_CUDA_TILE_SITES = 256,
  ISING2D_CUDA_THREADS = 640, /* of a block, at most: what the registers of sweeps leave room for */
  ISING2D_CUDA_VECTOR = 4,    /* words that a thread takes at once where rows allow it */
  ISING2D_CUDA_CLASSES = 5,
  ISING2D_CUDA_PLANES = 32,
};

/* The replicas of a batch of runs. */
struct ising2d_cuda_batch {
  uint32_t *words;      /* [runs][groups][tiles][256] */
  const uint32_t *size; /* [runs], device memory */
  uint32_t runs, capacity;
  uint32_t groups, tiles; /* of a run; of a group */
  uint32_t length_x, length_y;
  uint32_t colour;          /* sites of one colour */
  struct gpumc_divisor row; /* of one colour */
  size_t portable_bytes;    /* of a replica */
  void *stream;             /* cudaStream_t */
};

/* The random numbers of a batch: the key is that of the first run. */
struct ising2d_cuda_random {
  uint32_t key[2];
  uint32_t rounds;
};

/* Thresholds by class (models/ising2d/ising2d_multispin.h): masks of their bits, and of the classes
 * that are always accepted. */
struct ising2d_cuda_rule {
  uint32_t plain;   /* no field */
  uint32_t stagger; /* plain: all ones where J < 0, and colour 1 is turned over meanwhile */
  uint32_t zeros;   /* planes, from the first, in which the thresholds of all classes are 0 */
  uint32_t bit[ISING2D_CUDA_PLANES][ISING2D_CUDA_CLASSES];
  uint32_t always[ISING2D_CUDA_CLASSES], spin_up[ISING2D_CUDA_CLASSES];
};

/* How a sweep is spread: `slots` groups a block of `threads` each; `shared_bytes` of a block. */
struct ising2d_cuda_spread {
  uint32_t in_shared, by_fours; /* a group stands in shared memory; words are taken by fours */
  uint32_t slots, threads, shared_bytes;
  uint32_t regular; /* a thread keeps its place within rows from step to step */
};

/* Sweeps (possibly none), then, where a channel is wanted, its values; [runs][capacity]. */
struct ising2d_cuda_sweep {
  struct ising2d_cuda_batch batch;
  struct ising2d_cuda_random random;
  struct ising2d_cuda_rule rule;
  struct ising2d_cuda_spread spread;
  uint32_t time, sweeps;
  double coupling_quanta, field_quanta;
  int64_t *energy, *magnetization; /* NULL: not wanted */
};

/* Replicas first .. first+count-1 of run m in portable form, in device memory. */
struct ising2d_cuda_transfer {
  struct ising2d_cuda_batch batch;
  uint32_t m, first, count;
  uint8_t *portable;
};

struct gpumc_device;

/* In ising2d_multispin_spread_cuda.c: as fast as we know, or with device->block_threads. */
struct ising2d_cuda_spread
ising2d_cuda_spread(const struct gpumc_device *device, const struct ising2d_cuda_batch *batch);
/* Shared memory that a block of `slots` groups with `threads` each takes. */
size_t
ising2d_cuda_shared_bytes(const struct ising2d_cuda_batch *batch, uint32_t slots, uint32_t threads);

GPUMC_MUST_CHECK enum gpumc_status ising2d_cuda_randomize(const struct ising2d_cuda_batch *batch,
                                                          struct ising2d_cuda_random random,
                                                          struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising2d_cuda_set(const struct ising2d_cuda_transfer *transfer, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising2d_cuda_get(const struct ising2d_cuda_transfer *transfer, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status ising2d_cuda_gather(const struct ising2d_cuda_batch *batch,
                                                       const uint32_t *parent,
                                                       struct gpumc_error *error);
/* A group in shared memory, and in device memory. */
GPUMC_MUST_CHECK enum gpumc_status
ising2d_cuda_sweep_shared(const struct ising2d_cuda_sweep *sweep, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising2d_cuda_sweep_device(const struct ising2d_cuda_sweep *sweep, struct gpumc_error *error);

#ifdef __cplusplus
}
#endif

#endif
