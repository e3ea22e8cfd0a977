/* The multispin kernel on a GPU below its ops: what the host asks of the drivers in
 * ising_multispin_*_cuda.cu.
 *
 * A group is 32 replicas, one bit each. In device memory it is a row of tiles
 * (lattice/bit_tile.cuh) by replica, so that a replica is copied without touching its neighbours;
 * sites are in the order of the trajectory's words, and what a last tile has beyond the lattice is
 * 0. For sweeps the tiles are brought to the form by site: in shared memory where a group fits
 * there, else in place. */
#ifndef GPUMC_ISING_MULTISPIN_CUDA_H
#define GPUMC_ISING_MULTISPIN_CUDA_H

#include <stddef.h>
#include <stdint.h>

#include "core/cuda_error.h"
#include "models/ising/ising_batch_cuda.h"
#include "models/lattice/divisor.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  ISING_MULTISPIN_LANES = 32,
  ISING_MULTISPIN_TILE_BYTES = 1024,
  ISING_MULTISPIN_TILE_SITES = 256,
  ISING_MULTISPIN_THREADS = 640, /* of a block, at most: sweeps have registers for no more */
  ISING_MULTISPIN_VECTOR = 4,    /* words that a thread takes at once where rows allow it */
  ISING_MULTISPIN_CLASSES = 5,
  ISING_MULTISPIN_PLANES = 32,
};

/* words[runs][groups][tiles][256], device memory. */
struct ising_multispin_replicas {
  struct ising_batch batch;
  uint32_t *words;
  uint32_t groups, tiles; /* of a run; of a group */
  uint32_t length_x;
  uint32_t colour;          /* sites of one colour */
  struct gpumc_divisor row; /* of one colour */
};

/* Thresholds by class (models/ising/ising_multispin.h): masks of their bits, and of the classes
 * that are always accepted. */
struct ising_multispin_device_rule {
  uint32_t plain;   /* no field */
  uint32_t stagger; /* plain: all ones where J < 0, and colour 1 is turned over meanwhile */
  uint32_t zeros;   /* planes, from the first, in which the thresholds of all classes are 0 */
  uint32_t bit[ISING_MULTISPIN_PLANES][ISING_MULTISPIN_CLASSES];
  uint32_t always[ISING_MULTISPIN_CLASSES], spin_up[ISING_MULTISPIN_CLASSES];
};

/* How a sweep is spread: `slots` groups a block of `threads` each; `shared_bytes` of a block. */
struct ising_multispin_spread {
  uint32_t in_shared, by_fours; /* a group stands in shared memory; words are taken by fours */
  uint32_t slots, threads, shared_bytes;
  uint32_t regular; /* a thread keeps its place within rows from step to step */
};

/* `sweeps` may be 0. */
struct ising_multispin_sweep {
  struct ising_multispin_replicas replicas;
  struct ising_multispin_device_rule rule;
  struct ising_multispin_spread spread;
  struct ising_channels channels;
  uint32_t sweeps;
};

struct ising_multispin_transfer {
  struct ising_multispin_replicas replicas;
  struct ising_portable portable;
};

/* parent[runs][capacity] */
struct ising_multispin_gather {
  struct ising_multispin_replicas replicas;
  const uint32_t *parent;
};

struct gpumc_device;

/* In ising_multispin_spread_cuda.c: as fast as we know, or with device->block_threads. */
struct ising_multispin_spread
ising_multispin_spread(const struct gpumc_device *device,
                       const struct ising_multispin_replicas *replicas);
/* Shared memory that a block of `slots` groups with `threads` each takes. */
size_t ising_multispin_shared_bytes(const struct ising_multispin_replicas *replicas, uint32_t slots,
                                    uint32_t threads);

/* Sweeps, then measurement of the channels that are wanted; a group in shared memory. */
GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_sweep_shared(const struct ising_multispin_sweep *arguments,
                             struct gpumc_error *error);
/* The same in device memory. */
GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_sweep_global(const struct ising_multispin_sweep *arguments,
                             struct gpumc_error *error);

GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_randomize(const struct ising_multispin_replicas *arguments,
                          struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_from_portable(const struct ising_multispin_transfer *arguments,
                              struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_to_portable(const struct ising_multispin_transfer *arguments,
                            struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_copy_parents(const struct ising_multispin_gather *arguments,
                             struct gpumc_error *error);

#ifdef __cplusplus
}
#endif

#endif
