/* The spin kernel on a GPU: storage, and the drivers of its CUDA kernels.
 *
 * A spin is a bit, 1 up. Each colour of a replica is `blocks` blocks of 64 spins in the order of k,
 * two words each; bits from k = colour on are 0. A block of spins gets its numbers from 16 Philox
 * counters, and is one thread's work. */
#ifndef GPUMC_ISING_SPIN_GPU_H
#define GPUMC_ISING_SPIN_GPU_H

#include "core/device/cuda_error.h"
#include "models/ising/ising_channels.h"
#include "models/ising/spin/spin_tables_gpu.h"
#include "models/lattice/batch.h"
#include "models/lattice/checkerboard.h"
#include "models/lattice/divisor.h"
#include "models/lattice/strips.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  ISING_SPIN_BLOCK = 64,
  ISING_SPIN_WORDS = 2,
  ISING_SPIN_WORD_BITS = 32,
  ISING_SPIN_SUMS = 10, /* of a measurement */
  /* Of shared memory, more than a block of threads gets on any GPU: terms for lanes go with
   * lattices of up to 65,536 sites. */
  ISING_SPIN_COLUMNS_BYTES = 256 << 10,
};

/* Which spins of a word are the first and the last of their row, and which are in odd rows. */
struct ising_spin_row_masks {
  uint32_t first, last, odd;
};

/* Which are in the first and the last row of their plane. */
struct ising_spin_plane_masks {
  uint32_t first, last;
};

/* See struct gpumc_checkerboard; `height`: rows of a plane; row_words: whole words of a row, at
 * least 1. Masks: [words of a colour], device memory; odd is that of y + z. */
struct ising_spin_gpu_lattice {
  uint32_t dimension, row, height, plane, colour, blocks;
  struct gpumc_divisor row_words;
  const struct ising_spin_row_masks *masks;
  const struct ising_spin_plane_masks *plane_masks;
};

/* The sum of the terms of a spin s is all_apart, plus `twice` the couplings with its neighbours
 * that are like it, plus twice_field if it is up: in quanta, rounded to single precision. */
struct ising_lane_terms {
  float twice[GPUMC_NEIGHBOURS_MAXIMUM], all_apart, twice_field;
};

/* The modes of a sweep. PLAIN and FIELD, which are numbers of comparisons, are for square lattices
 * without disorder; PLAIN is Metropolis without a field, where the classes 0 and 4, 1 and 3 are
 * alike, the spins to be compared opposite, and class 2 needs no comparison. CLASSES: everything
 * else that uses a table. */
enum ising_spin_mode {
  ISING_SPIN_PLAIN = 2,
  ISING_SPIN_FIELD = ISING_CLASSES,
  ISING_SPIN_CLASSES,
  ISING_SPIN_BY_TERMS
};

/* Returns the words of a colour. */
GPUMC_HOST_DEVICE static inline uint32_t
ising_spin_words(const struct ising_spin_gpu_lattice *lattice)
{
  return ISING_SPIN_WORDS * lattice->blocks;
}

/* Returns the size of a sample's whole terms. */
GPUMC_HOST_DEVICE static inline size_t
ising_spin_terms_bytes(const struct ising_spin_gpu_lattice *lattice)
{
  return 2 * (2 * (size_t)lattice->dimension + 1) * ISING_SPIN_BLOCK * lattice->blocks *
         sizeof(int32_t);
}

/* Returns the shared memory of the columns of 32 replicas (spin_lane.cuh). */
static inline size_t ising_spin_columns_bytes(const struct ising_spin_gpu_lattice *lattice)
{
  return 2 * (size_t)ising_spin_words(lattice) * ISING_SPIN_WORD_BITS * sizeof(uint32_t);
}

/* Whether samples have terms for lanes, since there may be a GPU with room for such columns. */
static inline bool ising_spin_has_lanes(const struct ising_spin_gpu_lattice *lattice)
{
  return ising_spin_columns_bytes(lattice) <= ISING_SPIN_COLUMNS_BYTES;
}

/* Returns the size of a sample's terms, those of the lanes included. */
static inline size_t ising_spin_packed_bytes(const struct ising_spin_gpu_lattice *lattice)
{
  const size_t of_lanes =
      2 * ISING_SPIN_BLOCK * (size_t)lattice->blocks * sizeof(struct ising_lane_terms);
  return ising_spin_terms_bytes(lattice) + (ising_spin_has_lanes(lattice) ? of_lanes : 0);
}

/* words[runs][capacity][colour 2][blocks][2], device memory. */
struct ising_spin_replicas {
  struct lattice_batch batch;
  struct ising_spin_gpu_lattice lattice;
  uint32_t *words;
  uint32_t block_threads; /* 0: the driver's choice */
  uint32_t multiprocessors;
  size_t shared_bytes;          /* available to one block of threads */
  struct lattice_strips strips; /* ising_spin_sweep_strips: how replicas are cut, */
  uint32_t lanes;               /* and the lanes of a warp that share a block of spins */
};

/* `sweeps` may be 0. PLAIN and FIELD: `rule` is that of all runs, unless each has its own, as in
 * all other modes; only they measure `channels`. Samples, a group for each sample: with
 * ISING_SPIN_SIGNS words [colour][2d + 1][words of a colour], with ISING_SPIN_TERMS [colour][2d +
 * 1][place in block][block], the neighbours and then the field, after which may come struct
 * ising_lane_terms [colour][blocks][place in block] (ising_spin_has_lanes). */
struct ising_spin_gpu_sweep {
  struct ising_spin_replicas replicas;
  struct ising_tables tables;
  enum ising_spin_mode mode;
  uint32_t each_its_own;
  uint32_t fields; /* BY_TERMS: not all of them are 0 */
  struct ising_rule rule;
  struct ising_channels channels;
  uint32_t sweeps;
};

/* Sums of a replica that several blocks of threads measure; zero between measurements. */
struct ising_spin_sums {
  unsigned long long sum[ISING_SPIN_SUMS], parts;
};

/* `parts` blocks of threads share each replica; sums[measured.runs][capacity], device memory, if
 * there are several. */
struct ising_spin_gpu_measurement {
  struct ising_spin_replicas replicas;
  struct ising_tables tables;
  struct ising_measured measured;
  uint32_t parts;
  struct ising_spin_sums *sums;
};

struct ising_spin_transfer {
  struct ising_spin_replicas replicas;
  struct lattice_portable portable;
};

/* Packs a sample's signs from[colour][stride] (struct ising_spin_sample) bit by bit; `to`: zeroed
 * before, as struct ising_spin_gpu_sweep has it. */
void ising_spin_pack_signs(const struct ising_spin_gpu_lattice *lattice, const uint8_t *from,
                           size_t stride, uint32_t *to);
/* The same with terms from[colour][2d + 1][stride]: ising_spin_packed_bytes. */
void ising_spin_pack_terms(const struct ising_spin_gpu_lattice *lattice, const int32_t *from,
                           size_t stride, uint8_t *to);

/* Sweeps and measurement of replicas that fit into shared memory; returns whether they do. */
int ising_spin_fits(const struct ising_spin_replicas *replicas);
GPUMC_MUST_CHECK enum gpumc_status
ising_spin_sweep_shared(const struct ising_spin_gpu_sweep *arguments, struct gpumc_error *error);
/* The same BY_TERMS with a lane of a warp for each replica (spin_lane.cuh); the first returns
 * whether their columns fit and this is faster. */
int ising_spin_fits_lanes(const struct ising_spin_replicas *replicas);
GPUMC_MUST_CHECK enum gpumc_status
ising_spin_sweep_lanes(const struct ising_spin_gpu_sweep *arguments, struct gpumc_error *error);
/* Sweeps from global memory. */
GPUMC_MUST_CHECK enum gpumc_status
ising_spin_sweep_global(const struct ising_spin_gpu_sweep *arguments, struct gpumc_error *error);
/* Sweeps and measurement in shared memory with each replica spread over strips, lanes, or both:
 * chooses them, all but mail and tag, for `population` replicas of all runs, and returns whether
 * that is useful. Replicas in several strips are not measured. */
int ising_spin_spread(struct ising_spin_gpu_sweep *arguments, size_t population);
GPUMC_MUST_CHECK enum gpumc_status
ising_spin_sweep_strips(const struct ising_spin_gpu_sweep *arguments, struct gpumc_error *error);

/* Returns the words of a colour that a strip needs of the ones beside it: up to a row away or, of a
 * cubic lattice, a plane, and so many more as bits are missing at the lattice's end. */
static inline uint32_t ising_spin_edge(const struct ising_spin_gpu_lattice *lattice)
{
  const uint32_t reach = lattice->dimension == 3 ? lattice->plane : lattice->row;
  const uint32_t missing =
      (ISING_SPIN_WORD_BITS - lattice->colour % ISING_SPIN_WORD_BITS) % ISING_SPIN_WORD_BITS;
  return (uint32_t)lattice_parts(reach + missing, ISING_SPIN_WORD_BITS);
}

GPUMC_MUST_CHECK enum gpumc_status
ising_spin_randomize(const struct ising_spin_replicas *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_spin_from_portable(const struct ising_spin_transfer *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_spin_to_portable(const struct ising_spin_transfer *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_spin_measure_stored(const struct ising_spin_gpu_measurement *arguments,
                          struct gpumc_error *error);

#ifdef __cplusplus
}
#endif

#endif
