/* The packed kernel on a GPU below its ops: the host's interface to the drivers in packed_*_gpu.cu.
 *
 * A word holds 32 neighbouring sites of one colour of a row of one replica (ising_physics.h,
 * trajectory "ising.packed.1"). Sweeps are those of the multispin kernel, with its structs: a group
 * is a replica, words[runs][groups][2][colour], and row, plane and colour count words instead of
 * sites; there are no tiles and no signs. With `stagger` the words of colour 1 are always stored
 * inverted. */
#ifndef GPUMC_ISING_PACKED_GPU_H
#define GPUMC_ISING_PACKED_GPU_H

#include "models/ising/multispin/multispin_gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  ISING_PACKED_THREADS = 128,  /* of a block that sweeps, unless the device says otherwise */
  ISING_PACKED_WORD_SITES = 64 /* sites in a row that share a pair of words */
};

/* A piece is a pair of words, 64 sites. */
struct ising_packed_transfer {
  struct ising_multispin_replicas replicas;
  struct lattice_portable portable;
  uint32_t stagger;
};

struct ising_packed_start {
  struct ising_multispin_replicas replicas;
  uint32_t stagger;
};

/* Bonds between unlike spins, spins up, and for the waves the sums for struct lattice_wave: sums of
 * signed numbers as unsigned ones. */
struct ising_packed_sums {
  unsigned long long unlike, up, cosine[3], sine[3];
};

/* Replicas of the runs first + i or, if `pairs`, their differences to those of the runs second + i,
 * i < runs. sums[runs][capacity]; cosine, sine: [wave.length], device memory. The results are
 * arrays [runs][capacity], NULL if not wanted. */
struct ising_packed_measurement {
  struct ising_multispin_replicas replicas;
  struct ising_packed_sums *sums;
  struct lattice_wave wave;
  const int32_t *cosine, *sine;
  uint32_t stagger, by_fours, pairs, first, second, runs;
  struct ising_channels channels;
  int64_t *spin, *link, *square;
};

/* A launch for each colour of each sweep. */
GPUMC_MUST_CHECK enum gpumc_status
ising_packed_sweep(const struct ising_multispin_sweep *arguments, struct gpumc_error *error);
/* All of them in one launch, in shared memory. */
GPUMC_MUST_CHECK enum gpumc_status
ising_packed_sweep_strips(const struct ising_multispin_sweep *arguments, struct gpumc_error *error);
/* Returns whether a strip has room in so much shared memory. */
int ising_packed_strips_fit(const struct ising_multispin_sweep *arguments, size_t shared_bytes);
GPUMC_MUST_CHECK enum gpumc_status
ising_packed_measure(const struct ising_packed_measurement *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_packed_randomize(const struct ising_packed_start *arguments, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_packed_from_portable(const struct ising_packed_transfer *arguments,
                           struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_packed_to_portable(const struct ising_packed_transfer *arguments, struct gpumc_error *error);

/* Returns the words of a layer of one colour: a row or, of a cubic lattice, a plane. */
GPUMC_HOST_DEVICE static inline uint32_t
ising_packed_layer(const struct ising_multispin_replicas *replicas)
{
  return replicas->dimension == 3 ? replicas->plane : replicas->row.value;
}

/* Where a replica is, and its words. */
GPUMC_HOST_DEVICE static inline size_t
ising_packed_words(const struct ising_multispin_replicas *replicas)
{
  return 2 * (size_t)replicas->colour;
}

GPUMC_HOST_DEVICE static inline uint32_t *
ising_packed_replica(const struct ising_multispin_replicas *replicas, uint32_t m, uint32_t replica)
{
  return replicas->words + ((size_t)m * replicas->groups + replica) * ising_packed_words(replicas);
}

#ifdef __cplusplus
}
#endif

#endif
