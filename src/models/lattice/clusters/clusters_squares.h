/* Squares of sums over clusters, of which improved estimators are made, for both compilers: the
 * square of the sum over each cluster that is not joined to the ghost, and that over all others
 * together. Which numbers of sites are summed up is said by the models' cluster rules. */
#ifndef GPUMC_LATTICE_CLUSTERS_SQUARES_H
#define GPUMC_LATTICE_CLUSTERS_SQUARES_H

#include <stdbool.h>
#include <stddef.h>

#include "models/lattice/wave.h"

/* What is squared for each cluster: the sum of its spins, and for each axis those of its spins
 * times the cosines, and times the sines, of the wave along it. */
enum { LATTICE_CLUSTER_SPINS = 0, LATTICE_CLUSTER_WAVES = 1, LATTICE_CLUSTER_SUMS = 1 + 2 * 3 };

/* Of an instance; cosine, sine: lattice_wave_table. Squares of spins are in units of 2^shift. */
struct lattice_cluster_scale {
  struct lattice_wave wave;
  uint32_t shift;
  const int32_t *cosine, *sine;
};

/* Of a replica, by sum: the squares over the clusters that are not joined to the ghost, and the sum
 * itself over the others, which are one. */
struct lattice_cluster_totals {
  uint64_t squares[LATTICE_CLUSTER_SUMS];
  int64_t ghost[LATTICE_CLUSTER_SUMS];
};

/* Return the axis and the table of a wave's sum. */
GPUMC_HOST_DEVICE static inline uint32_t lattice_cluster_axis_of(uint32_t k)
{
  return (k - LATTICE_CLUSTER_WAVES) / 2;
}
GPUMC_HOST_DEVICE static inline const int32_t *
lattice_cluster_table_of(const struct lattice_cluster_scale *scale, uint32_t k)
{
  return (k - LATTICE_CLUSTER_WAVES) % 2 == 0 ? scale->cosine : scale->sine;
}

/* Returns whether sum number k is needed for the channels that are wanted. */
GPUMC_HOST_DEVICE static inline bool
lattice_cluster_sum_is_wanted(const struct lattice_cluster_scale *scale, uint32_t k,
                              const int64_t *square, const int64_t *wave)
{
  if (k == LATTICE_CLUSTER_SPINS)
    return square != NULL;
  return wave != NULL && scale->wave.along[lattice_cluster_axis_of(k)] != 0;
}

GPUMC_HOST_DEVICE static inline uint64_t
lattice_cluster_square_of(const struct lattice_cluster_scale *scale, uint32_t k, int64_t sum)
{
  return lattice_wave_square_of(k == LATTICE_CLUSTER_SPINS ? scale->shift : scale->wave.shift, sum);
}

/* Writes the wanted channels of replica `at`. */
GPUMC_HOST_DEVICE static inline void
lattice_cluster_totals_record(const struct lattice_cluster_totals *totals,
                              const struct lattice_cluster_scale *scale, size_t at, int64_t *square,
                              int64_t *wave)
{
  uint64_t of_waves = 0;
  for (uint32_t k = 0; k < LATTICE_CLUSTER_SUMS; k++) {
    const uint64_t all = totals->squares[k] + lattice_cluster_square_of(scale, k, totals->ghost[k]);
    if (k == LATTICE_CLUSTER_SPINS && square != NULL)
      square[at] = (int64_t)all;
    else if (k != LATTICE_CLUSTER_SPINS)
      of_waves += all;
  }
  if (wave != NULL)
    wave[at] = (int64_t)(of_waves / scale->wave.axes);
}

#endif
