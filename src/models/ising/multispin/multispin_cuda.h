/* The multispin kernel on a GPU below its ops: what the host asks of the drivers in
 * multispin_*_cuda.cu.
 *
 * A group is 32 replicas, one bit each. In device memory it is a row of tiles
 * (lattice/bit_tile.cuh) by replica, so that a replica is copied without touching its neighbours;
 * sites are in the order of the trajectory's words, and what a last tile has beyond the lattice is
 * 0. For sweeps the tiles are brought to the form by site: in shared memory where a group fits
 * there, else in place. */
#ifndef GPUMC_ISING_MULTISPIN_CUDA_H
#define GPUMC_ISING_MULTISPIN_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/device/cuda_error.h"
#include "models/ising/ising_channels.h"
#include "models/ising/ising_wave.h"
#include "models/ising/multispin/multispin_rule_cuda.h"
#include "models/lattice/batch.h"
#include "models/lattice/divisor.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  ISING_MULTISPIN_LANES = 32,
  ISING_MULTISPIN_TILE_BYTES = 1024,
  ISING_MULTISPIN_TILE_SITES = 256,
  ISING_MULTISPIN_THREADS = 640, /* of a block, at most: sweeps have registers for no more */
  ISING_MULTISPIN_VECTOR = 4,    /* words that a thread takes at once, at most */
};

/* words[runs][groups][tiles][256], device memory. */
struct ising_multispin_replicas {
  struct lattice_batch batch;
  uint32_t *words;
  uint32_t groups, tiles; /* of a run; of a group */
  uint32_t dimension, length_x;
  uint32_t colour, plane;           /* sites of one colour; in a plane (lattice/checkerboard.h) */
  struct gpumc_divisor row, height; /* sites of one colour in a row; rows in a plane */
};

/* Neighbours by direction, the first four in two dimensions; the other end of a bond sees it above
 * instead of below, before instead of behind. */
enum ising_multispin_direction {
  ISING_MULTISPIN_ABOVE,
  ISING_MULTISPIN_BELOW,
  ISING_MULTISPIN_SAME,
  ISING_MULTISPIN_SIDE,
  ISING_MULTISPIN_BEFORE,
  ISING_MULTISPIN_BEHIND,
};

/* Disorder as words of 32 lanes in device memory, NULL where there is none of a kind; group g has
 * those from g times the stride on.
 *
 * signs[2 d + 1][colour]: all ones where J_ij is less than 0, for the bonds from colour 0 in the
 * order of enum ising_multispin_direction; the last array are the bonds at the side, by the site of
 * colour 1. `turned`, by site as sweeps see it, padded to whole vectors: spins that are turned over
 * meanwhile, those in random fields below 0. `stagger`: all ones where J < 0 and all spins of
 * colour 1 are. */
struct ising_multispin_disorder {
  const uint32_t *signs, *turned;
  size_t signs_stride, turned_stride;
  uint32_t stagger;
};

/* `each`: every run has its own temperature, and thresholds[runs] in device memory; else all have
 * the one whose masks are `rows`, and `zeros` planes, from the first, have no bit set. */
struct ising_multispin_device_rule {
  struct ising_multispin_physics physics;
  struct ising_multispin_thresholds *thresholds;
  uint32_t each, zeros;
  uint32_t rows[ISING_MULTISPIN_ROWS][ISING_MULTISPIN_COLUMNS];
};

/* How a sweep is spread: `slots` groups a block of `threads` each; `shared_bytes` of a block. */
struct ising_multispin_spread {
  uint32_t in_shared; /* a group stands in shared memory */
  uint32_t width;     /* words that a thread takes at once: 1, 2 or 4 */
  uint32_t slots, threads, shared_bytes;
  uint32_t regular; /* a thread keeps its place within rows from step to step */
};

/* `sweeps` may be 0. */
struct ising_multispin_sweep {
  struct ising_multispin_replicas replicas;
  struct ising_multispin_disorder disorder;
  struct ising_multispin_device_rule rule;
  struct ising_multispin_spread spread;
  struct ising_channels channels;
  uint32_t sweeps;
};

/* Temperatures and fields of the runs first .. first + count - 1, and what becomes of them. */
enum { ISING_MULTISPIN_TEMPERATURES = 128 };
struct ising_multispin_temperature {
  double beta, field;
};
struct ising_multispin_temperatures {
  struct ising_multispin_physics physics;
  struct ising_multispin_thresholds *thresholds; /* [runs], device memory */
  uint32_t first, count;
  struct ising_multispin_temperature at[ISING_MULTISPIN_TEMPERATURES];
  void *stream; /* cudaStream_t */
};

struct ising_multispin_transfer {
  struct ising_multispin_replicas replicas;
  struct lattice_portable portable;
};

/* Replicas of the runs first + i and, if `pairs`, their overlaps with those of the runs second + i,
 * i < runs. cosine, sine: [wave.length], and their sums; arrays [runs][capacity], NULL where not
 * wanted; without pairs `square` alone may be. */
struct ising_multispin_comparison {
  struct ising_multispin_replicas replicas;
  struct ising_wave wave;
  const int32_t *cosine, *sine;
  int64_t sum_cosine, sum_sine;
  uint32_t pairs, first, second, runs;
  uint32_t in_shared, by_fours, shared_bytes;
  int64_t *spin, *link, *square;
};

struct gpumc_device;
struct gpumc_ensemble;
struct gpumc_checkerboard;

/* The replicas of an ensemble, `groups` a run, without tiles. `lattice` counts words of a group,
 * which are sites, or in the packed kernel many sites of a row. */
struct ising_multispin_replicas
ising_multispin_replicas_on(const struct gpumc_ensemble *ensemble,
                            const struct gpumc_checkerboard *lattice, size_t groups);

/* In multispin_spread_cuda.c: as fast as we know, or with device->block_threads. */
struct ising_multispin_spread
ising_multispin_spread(const struct gpumc_device *device,
                       const struct ising_multispin_replicas *replicas);
/* Shared memory that a block of `slots` groups with `threads` each takes. */
size_t ising_multispin_shared_bytes(const struct ising_multispin_replicas *replicas, uint32_t slots,
                                    uint32_t threads);
/* And one that compares a group. */
size_t
ising_multispin_comparison_bytes(const struct ising_multispin_replicas *replicas, bool in_shared);

/* Sweeps, then measurement of the channels that are wanted; a group in shared memory. */
GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_sweep_shared(const struct ising_multispin_sweep *arguments,
                             struct gpumc_error *error);
/* The same in device memory. */
GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_sweep_global(const struct ising_multispin_sweep *arguments,
                             struct gpumc_error *error);

/* What they do with cubic lattices. */
GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_sweep_shared_cubic(const struct ising_multispin_sweep *arguments,
                                   struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_sweep_global_cubic(const struct ising_multispin_sweep *arguments,
                                   struct gpumc_error *error);

GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_work_out(const struct ising_multispin_temperatures *arguments,
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
ising_multispin_compare(const struct ising_multispin_comparison *arguments,
                        struct gpumc_error *error);

#ifdef __cplusplus
}
#endif

#endif
