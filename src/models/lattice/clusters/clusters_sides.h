/* The neighbours of a site of a growing cluster, in any order of sites. */
#ifndef GPUMC_LATTICE_CLUSTERS_SIDES_H
#define GPUMC_LATTICE_CLUSTERS_SIDES_H

#include <stdint.h>

#include "core/numerics/simd.h"
#include "models/lattice/checkerboard.h"

/* n / length for 32-bit numbers is the upper half of n times 2^64 / length, rounded up (D. Lemire
 * et al., Softw. Pract. Exp. 49, 953 (2019)). */
struct lattice_cluster_side {
  uint32_t length, stride;
  uint64_t inverse;
};

static inline void
lattice_cluster_sides(const struct gpumc_checkerboard *lattice, struct lattice_cluster_side side[])
{
  const size_t length[LATTICE_DIMENSIONS_MAXIMUM] = {lattice->length_x, lattice->length_y,
                                                     lattice->length_z};
  uint32_t stride = 1;
  for (size_t d = 0; d < lattice->dimension; d++) {
    side[d] =
        (struct lattice_cluster_side){(uint32_t)length[d], stride, UINT64_MAX / length[d] + 1};
    stride *= (uint32_t)length[d];
  }
}

/* Finds the sites before and after `site` along an axis. `left`: site / stride, which becomes that
 * of the next axis. */
GPUMC_INLINE void lattice_cluster_around(const struct lattice_cluster_side *side, uint32_t site,
                                         uint32_t *left, uint32_t *before, uint32_t *after)
{
  const uint32_t around = side->stride * (side->length - 1);
  const uint32_t lines = (uint32_t)((unsigned __int128)side->inverse * *left >> 64);
  const uint32_t at = *left - lines * side->length;
  *after = at + 1 < side->length ? site + side->stride : site - around;
  *before = at > 0 ? site - side->stride : site + around;
  *left = lines;
}

#endif
