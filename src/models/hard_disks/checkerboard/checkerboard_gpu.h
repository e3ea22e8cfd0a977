/* The kernel `checkerboard` on a GPU below its operations: the host's interface to the driver in
 * checkerboard_gpu.cu.
 *
 * Replicas are small enough that a block of threads keeps a few of them in shared memory for all
 * sweeps of a call, or else they are cut into tiles. A block of threads then makes a whole sweep of
 * its tile in shared memory: it reads the tile with a border of cells around it, moves everything
 * within reach of the tile colour by colour, shifts the grid, and writes the tile to a second
 * buffer. The border is moved by several blocks in the same way, because random numbers come from
 * counters. */
#ifndef GPUMC_HARD_DISKS_CHECKERBOARD_GPU_H
#define GPUMC_HARD_DISKS_CHECKERBOARD_GPU_H

#include "core/device/cuda_error.h"
#include "models/hard_disks/hard_disks_channels.h"
#include "models/lattice/batch.h"
#include "models/lattice/divisor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Disks of a cell that are stored together: slots 0 and 1, or 2 and 3, as {x, y, x, y}. */
enum {
  HARD_DISKS_PAIR_BYTES = 4 * sizeof(float),
  HARD_DISKS_UNIT_BYTES = 16,
  HARD_DISKS_HEAD_WORDS =
      sizeof(struct hard_disks_head) / sizeof(int64_t), /* two offsets, widths, the rest */
};

/* A replica in device memory, in bytes: its head (struct hard_disks_head), pair[m_y][m_x] of the
 * slots 0 and 1 with HARD_DISKS_NOWHERE if they are not in use, pair[m_y] [m_x] of the slots 2 and
 * 3, set only if they are in use, and the number of disks count[m_y][m_x], one byte each. */
struct hard_disks_stored {
  size_t first, second, count, bytes;
};

static inline struct hard_disks_stored hard_disks_stored_of(const struct hard_disks_box *box)
{
  const size_t cells = (size_t)box->cells_x * box->cells_y;
  struct hard_disks_stored stored;
  stored.first = sizeof(struct hard_disks_head);
  stored.second = stored.first + cells * HARD_DISKS_PAIR_BYTES;
  stored.count = stored.second + cells * HARD_DISKS_PAIR_BYTES;
  stored.bytes = lattice_parts(stored.count + cells, HARD_DISKS_UNIT_BYTES) * HARD_DISKS_UNIT_BYTES;
  return stored;
}

/* ---- passage_gpu.c ---- */

struct gpumc_ensemble;
struct hard_disks_replica;
/* Converts a replica from the plain layout (hard_disks_plain_layout) with `cells` cells, or back to
 * it, which returns the number of disks. */
void hard_disks_store(const struct hard_disks_stored *stored, const struct hard_disks_replica *from,
                      size_t cells, unsigned char *to);
uint64_t hard_disks_restore(const struct hard_disks_stored *stored, unsigned char *from,
                            size_t cells, const struct hard_disks_replica *to);
/* Copies the replicas first .. first + count - 1 of run m in the ensemble's `replicas` in device
 * memory to out[count], host memory, in portable form; or, if `out` is NULL, sets them from
 * in[count], NULL: to their starting states. Done on return. */
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_pass_replicas(const struct gpumc_ensemble *ensemble, unsigned char *replicas, size_t m,
                         size_t first, size_t count, const uint8_t *in, uint8_t *out,
                         struct gpumc_error *error);

/* ---- profiles_gpu.c ---- */

/* Computes those of the channels that are profiles, for all replicas in use, with
 * hard_disks_measure_profiles() one replica after the other: they are requested only now and then,
 * and take longer than copying a replica. channel[c]: [runs][capacity][width], device memory, like
 * `replicas` below; done on return. */
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_profiles_by_host(struct gpumc_ensemble *ensemble, const unsigned char *replicas,
                            int64_t *const *channel, struct gpumc_error *error);

/* ---- checkerboard_gpu.cu, measured_gpu.cu ---- */

/* Replica r of run m begins stored.bytes (m capacity + r) bytes after `replicas`. */
struct hard_disks_replicas {
  struct lattice_batch batch;
  struct hard_disks_box box;
  struct hard_disks_stored stored;
  unsigned char *replicas;
};

/* The volume move of every replica at the end of the sweep at `time`. */
struct hard_disks_gpu_volumes {
  struct hard_disks_replicas replicas;
  unsigned char *other;                      /* of the same size, for scratch */
  const struct hard_disks_volume_rule *rule; /* [runs], device memory */
  uint32_t time;
};

/* Performs sweeps batch.time .. batch.time + sweeps - 1. */
struct hard_disks_gpu_sweep {
  struct hard_disks_replicas replicas;
  unsigned char *other; /* of the same size; alternates with replicas.replicas */
  const float *scale;   /* [runs], device memory: hard_disks_scale of the runs' steps */
  uint32_t sweeps, moves;
  uint32_t shuffle, shift; /* 1; otherwise the sweep is wrong on purpose */
  uint64_t *accepted;      /* [runs], device memory: accepted trials are added */
  uint64_t *proposed;      /* [runs], likewise for all trials */
  uint32_t block_threads;  /* 0: the driver's choice */
  /* [runs], device memory: the volume is moved after sweeps whose end is a multiple of
   * volume_sweeps; NULL: it is fixed. */
  const struct hard_disks_volume_rule *rule;
  uint32_t volume_sweeps;
  uint32_t multiprocessors;
  size_t shared_bytes; /* available to one block of threads */
};

/* Channels of all replicas, by the same arithmetic as hard_disks_measure(). */
struct hard_disks_gpu_measurement {
  struct hard_disks_replicas replicas;
  bool open; /* they have boxes of their own */
  struct hard_disks_units units;
  /* Weights of hard_disks_pressure.h, [levels][HARD_DISKS_BINS] in quanta of the channels; device
   * memory. */
  const int64_t *contact_weight, *scaling_weight;
  struct hard_disks_sums *sums; /* [runs][capacity], device memory */
  int64_t *channel[HARD_DISKS_NUMBERS];
  uint64_t *lost; /* device memory: replicas with disks missing are added */
};

/* *turned: whether the replicas are now in `other`. */
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_sweep_checkerboard(const struct hard_disks_gpu_sweep *arguments, bool *turned,
                              struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_move_volumes(const struct hard_disks_gpu_volumes *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_measure_on_gpu(const struct hard_disks_gpu_measurement *arguments,
                          struct gpumc_error *error);

#ifdef __cplusplus
}
#endif

#endif
