/* The kernels `double`, `float` and `fast` on a GPU below their operations: the host's interface to
 * the drivers in heisenberg_*_gpu.cu.
 *
 * In device memory a replica is spins[n][2][N/2] in the kernel's precision, as on the CPU. A
 * replica that is small enough is swept in shared memory by threads that have four sites of each
 * colour, several sweeps in one launch. A larger one is swept in device memory, a launch for each
 * colour, or, if it is a square lattice, by tiles in shared memory, a few sweeps in one launch from
 * one buffer to another (heisenberg_tile.cuh). */
#ifndef GPUMC_HEISENBERG_GPU_H
#define GPUMC_HEISENBERG_GPU_H

#include "core/device/cuda_error.h"
#include "models/heisenberg/heisenberg_channels.h"
#include "models/heisenberg/quenched/quenched_pairs.h"
#include "models/heisenberg/heisenberg_physics.h"
#include "models/heisenberg/heisenberg_wave.h"
#include "models/lattice/batch.h"
#include "models/lattice/checkerboard.h"
#include "models/lattice/divisor.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  HEISENBERG_WARP = 32, /* threads */
  /* Maximum size of a block that has a replica in shared memory. */
  HEISENBERG_THREADS_DOUBLE = 512,
  HEISENBERG_THREADS_FLOAT = 1024,
  HEISENBERG_THREADS_FAST = 1024,
  /* A thread has two pairs of sites of a colour; this many sites share counters in float. */
  HEISENBERG_PAIR = 2,
  HEISENBERG_SECOND = 16,   /* from a thread's first pair to its second */
  HEISENBERG_SHARING = 32,  /* sites that share 16 counters */
  HEISENBERG_OF_SHARING = 8 /* threads that have them */
};

/* See struct gpumc_checkerboard; `height` rows of a plane. */
struct heisenberg_gpu_lattice {
  uint32_t dimension, plane, colour;
  struct gpumc_divisor row, height;
};

static inline struct heisenberg_gpu_lattice
heisenberg_gpu_lattice_of(const struct gpumc_checkerboard *lattice)
{
  struct heisenberg_gpu_lattice of_gpu;
  of_gpu.dimension = (uint32_t)lattice->dimension;
  of_gpu.plane = (uint32_t)lattice->plane;
  of_gpu.colour = (uint32_t)lattice->colour;
  of_gpu.row = gpumc_divisor_make((uint32_t)lattice->row);
  of_gpu.height = gpumc_divisor_make((uint32_t)lattice->length_y);
  return of_gpu;
}

/* Returns the number of threads for the sites of a colour. */
GPUMC_HOST_DEVICE static inline uint32_t
heisenberg_threads_of(const struct heisenberg_gpu_lattice *lattice)
{
  const uint32_t rest = lattice->colour % HEISENBERG_SHARING;
  const uint32_t first = rest < HEISENBERG_SECOND ? rest : HEISENBERG_SECOND;
  return lattice->colour / HEISENBERG_SHARING * HEISENBERG_OF_SHARING +
         (first + 1) / HEISENBERG_PAIR;
}

/* Returns whether replicas are swept by tiles if there is a second buffer: square lattices with
 * sides Lx that are multiples of 4, too large for one block of threads. */
static inline bool
heisenberg_goes_by_tiles(const struct heisenberg_gpu_lattice *lattice, bool single, bool quenched)
{
  const uint32_t threads = single ? HEISENBERG_THREADS_FLOAT : HEISENBERG_THREADS_DOUBLE;
  return lattice->dimension == 2 && lattice->row.value % HEISENBERG_PAIR == 0 && !quenched &&
         heisenberg_threads_of(lattice) > threads;
}

/* Quenched couplings, numbers[samples][2][2 d][N/2] in the kernel's precision (heisenberg.h),
 * device memory; NULL without any. Those of replica r begin r * stride numbers after the first, 0
 * if all replicas have one sample. */
struct heisenberg_gpu_couplings {
  const void *numbers;
  size_t stride;
};

/* Replica r of run m begins `stride` (m capacity + r) bytes after `spins`. */
struct heisenberg_replicas {
  struct lattice_batch batch;
  struct heisenberg_gpu_lattice lattice;
  uint32_t components, single; /* single: in single precision, otherwise in double */
  void *spins;
  size_t stride;
  struct heisenberg_gpu_couplings couplings;
};

/* For one run: beta J and beta h, h, and the reach of small steps. */
struct heisenberg_rule {
  double coupling, field, bare_field, reach;
};

/* Rules of the runs first .. first + count - 1 passed to the device as arguments, which need no
 * copy and no wait. */
enum { HEISENBERG_RULES_AT_ONCE = 64 };
struct heisenberg_rules {
  struct heisenberg_rule *rules; /* [plan.runs], device memory */
  uint32_t first, count;
  struct heisenberg_rule rule[HEISENBERG_RULES_AT_ONCE];
  void *stream;
};

/* How replicas are swept by tiles (heisenberg_sweep_tiles.cuh): threads of a block, pairs and lines
 * of a tile, shared memory, and the approximate cycles of a launch. */
struct heisenberg_tile_plan {
  uint32_t threads, wide, high;
  size_t bytes;
  double cycles;
};

/* For calls with about this many sweeps and replicas of a run: as many launches to the second
 * buffer as back, each of sweeps / launches sweeps or, as in the plan, of one more. launches = 0:
 * sweeps in device memory seem faster, or there is only one. */
struct heisenberg_tile_course {
  uint32_t sweeps, launches;
  size_t expected;
  struct heisenberg_tile_plan plan;
};

/* Sweeps batch.time .. batch.time + sweeps - 1; `coupling` is J, or J w with quenched couplings.
 * accepted[runs], device memory: accepted proposals of small steps are added. */
struct heisenberg_gpu_sweep {
  struct heisenberg_replicas replicas;
  const struct heisenberg_rule *rules; /* [runs], device memory */
  enum heisenberg_move move;
  uint32_t over_relaxations, sweeps;
  double coupling;
  uint64_t *accepted;
  /* A second buffer for `others` replicas, and how the last call went by tiles, host memory; 0: no
   * replica goes by tiles. */
  void *other;
  size_t others;
  struct heisenberg_tile_course *course;
  uint32_t block_threads; /* 0: the driver's choice */
  uint32_t multiprocessors;
  size_t shared_bytes; /* available to one block of threads */
};

/* sums[runs][capacity], device memory; waves likewise, NULL if not wanted. cosine and
 * sine[wave.length], device memory. */
struct heisenberg_gpu_measurement {
  struct heisenberg_replicas replicas;
  struct heisenberg_sums *sums;
  struct heisenberg_wave_sums *waves;
  struct lattice_wave wave;
  const int32_t *cosine, *sine;
  struct heisenberg_units units;
  uint32_t walks; /* bonds are summed as in walks */
  int64_t *channel[HEISENBERG_CHANNELS];
};

/* Compares replicas of the runs first .. first + runs - 1 with those of the runs from `second` on,
 * with quenched couplings. sums[runs][capacity], device memory; cosine and sine as above. */
struct heisenberg_gpu_comparison {
  struct heisenberg_replicas replicas;
  uint32_t first, second, runs;
  struct heisenberg_pair_sums *sums;
  struct lattice_wave wave;
  const int32_t *cosine, *sine;
  int64_t *pair[HEISENBERG_PAIRS]; /* [runs][capacity]; NULL: not wanted */
};

/* Pieces are components of sites: sites * n pieces of a run belong to each replica. */
struct heisenberg_transfer {
  struct heisenberg_replicas replicas;
  struct lattice_portable portable;
};

GPUMC_MUST_CHECK enum gpumc_status
heisenberg_sweep_double(const struct heisenberg_gpu_sweep *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
heisenberg_sweep_float(const struct heisenberg_gpu_sweep *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
heisenberg_sweep_fast(const struct heisenberg_gpu_sweep *arguments, struct gpumc_error *error);
/* The same with quenched couplings. */
GPUMC_MUST_CHECK enum gpumc_status
heisenberg_sweep_quenched_double(const struct heisenberg_gpu_sweep *arguments,
                                 struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
heisenberg_sweep_quenched_float(const struct heisenberg_gpu_sweep *arguments,
                                struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
heisenberg_sweep_quenched_fast(const struct heisenberg_gpu_sweep *arguments,
                               struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
heisenberg_store_rules(const struct heisenberg_rules *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
heisenberg_measure(const struct heisenberg_gpu_measurement *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
heisenberg_compare(const struct heisenberg_gpu_comparison *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
heisenberg_randomize(const struct heisenberg_replicas *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
heisenberg_from_portable(const struct heisenberg_transfer *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
heisenberg_to_portable(const struct heisenberg_transfer *arguments, struct gpumc_error *error);

#ifdef __cplusplus
}
#endif

/* Returns the place of the first component of a replica's first site. */
GPUMC_HOST_DEVICE static inline void *
heisenberg_replica(const struct heisenberg_replicas *replicas, uint32_t m, size_t replica)
{
  return (unsigned char *)replicas->spins +
         (m * replicas->batch.capacity + replica) * replicas->stride;
}

/* ---- geometry ---- */

/* Indices of the neighbours of index k of a colour, one step forward and back along an axis. */
struct heisenberg_steps {
  uint32_t forward, back;
};

/* Line and plane of index k of a colour, and its place in the line. */
struct heisenberg_place {
  uint32_t x, y, z;
};

GPUMC_HOST_DEVICE static inline struct heisenberg_place
heisenberg_place_at(const struct heisenberg_gpu_lattice *lattice, uint32_t k)
{
  struct heisenberg_place place;
  const uint32_t line = gpumc_divide(k, lattice->row);
  place.z = gpumc_divide(line, lattice->height);
  place.x = k - line * lattice->row.value;
  place.y = line - place.z * lattice->height.value;
  return place;
}

/* Returns whether the side of a site is one step back (gpumc_checkerboard_side_is_back). */
GPUMC_HOST_DEVICE static inline bool
heisenberg_is_back(struct heisenberg_place place, uint32_t colour)
{
  return ((place.y + place.z + colour) & 1) == 0;
}

/* Return the neighbours of index k of a colour other than that of the same index, by their
 * indices. */
GPUMC_HOST_DEVICE static inline uint32_t
heisenberg_before_in_row(const struct heisenberg_gpu_lattice *lattice, uint32_t k, uint32_t x)
{
  return x == 0 ? k + lattice->row.value - 1 : k - 1;
}
GPUMC_HOST_DEVICE static inline uint32_t
heisenberg_after_in_row(const struct heisenberg_gpu_lattice *lattice, uint32_t k, uint32_t x)
{
  return x + 1 == lattice->row.value ? k + 1 - lattice->row.value : k + 1;
}
GPUMC_HOST_DEVICE static inline uint32_t
heisenberg_row_before(const struct heisenberg_gpu_lattice *lattice, uint32_t k, uint32_t y)
{
  return (y == 0 ? k + lattice->plane : k) - lattice->row.value;
}
GPUMC_HOST_DEVICE static inline uint32_t
heisenberg_row_after(const struct heisenberg_gpu_lattice *lattice, uint32_t k, uint32_t y)
{
  return (y + 1 == lattice->height.value ? k - lattice->plane : k) + lattice->row.value;
}
GPUMC_HOST_DEVICE static inline uint32_t
heisenberg_plane_before(const struct heisenberg_gpu_lattice *lattice, uint32_t k)
{
  return (k < lattice->plane ? k + lattice->colour : k) - lattice->plane;
}
GPUMC_HOST_DEVICE static inline uint32_t
heisenberg_plane_after(const struct heisenberg_gpu_lattice *lattice, uint32_t k)
{
  return (k + lattice->plane >= lattice->colour ? k - lattice->colour : k) + lattice->plane;
}

GPUMC_HOST_DEVICE static inline struct heisenberg_steps
heisenberg_steps_at(const struct heisenberg_gpu_lattice *lattice, uint32_t colour, uint32_t k,
                    uint32_t axis)
{
  const struct heisenberg_place place = heisenberg_place_at(lattice, k);
  struct heisenberg_steps steps;
  if (axis == 0) {
    const bool back = heisenberg_is_back(place, colour);
    steps.forward = back ? k : heisenberg_after_in_row(lattice, k, place.x);
    steps.back = back ? heisenberg_before_in_row(lattice, k, place.x) : k;
  } else if (axis == 1) {
    steps.forward = heisenberg_row_after(lattice, k, place.y);
    steps.back = heisenberg_row_before(lattice, k, place.y);
  } else {
    steps.forward = heisenberg_plane_after(lattice, k);
    steps.back = heisenberg_plane_before(lattice, k);
  }
  return steps;
}

#endif
