/* Sums over a replica of the tiled kernel, for both compilers. */
#ifndef GPUMC_ISING_TILED_MEASURE_H
#define GPUMC_ISING_TILED_MEASURE_H

#include "models/ising/ising_wave.h"
#include "models/ising/tiled/tiled_lattice.h"

/* cosine, sine: [wave.length], NULL where waves are not wanted (models/ising/ising_wave.h). */
struct ising_tiled_waves {
  struct ising_wave wave;
  const int32_t *cosine, *sine;
};

struct ising_tiled_sums {
  int64_t up;     /* spins up */
  int64_t unlike; /* bonds between unlike spins */
  int64_t cosine[ISING_TILED_AXES], sine[ISING_TILED_AXES];
};

GPUMC_HOST_DEVICE static inline int64_t
ising_tiled_sites(const struct ising_tiled_geometry *geometry)
{
  return 2 * (int64_t)geometry->n_tiles * geometry->places;
}

/* The sum of all spins. */
GPUMC_HOST_DEVICE static inline int64_t
ising_tiled_spins(const struct ising_tiled_geometry *geometry, const struct ising_tiled_sums *sums)
{
  return 2 * sums->up - ising_tiled_sites(geometry);
}

/* The energy, with J and h in quanta. */
GPUMC_HOST_DEVICE static inline int64_t
ising_tiled_energy(const struct ising_tiled_geometry *geometry, double coupling, double field,
                   const struct ising_tiled_sums *sums)
{
  const int64_t bonds = geometry->dimension * ising_tiled_sites(geometry) - 2 * sums->unlike;
  return ising_energy(coupling, field, bonds, ising_tiled_spins(geometry, sums));
}

/* Adds what word w of line l of a tile has: its sites that are up and, of colour 0, its bonds. */
GPUMC_HOST_DEVICE static inline void ising_tiled_count(const struct ising_tiled_geometry *geometry,
                                                       const uint32_t *own, const uint32_t *other,
                                                       uint32_t colour, uint32_t l, uint32_t w,
                                                       struct ising_tiled_sums *sums)
{
  const uint32_t at = ising_tiled_line(geometry, l) + w, neighbours = 2 * geometry->dimension;
  const uint32_t up = ising_tiled_up(geometry, other, at, ising_tiled_shift(geometry, colour, l));
  const uint32_t first = w * ISING_TILED_LANES, left = geometry->row - first;
  for (uint32_t lane = 0; lane < ISING_TILED_LANES && lane < left; lane++) {
    const uint32_t spin = own[at] >> 8 * lane & 1, n = up >> 8 * lane & 15;
    sums->up += spin;
    if (colour == 0)
      sums->unlike += spin ? neighbours - n : n;
  }
}

/* Adds what it gives to the waves. */
GPUMC_HOST_DEVICE static inline void
ising_tiled_add_waves(const struct ising_tiled_geometry *geometry,
                      const struct ising_tiled_waves *waves, struct ising_tiled_tile tile,
                      const uint32_t *own, uint32_t colour, uint32_t l, uint32_t w,
                      struct ising_tiled_sums *sums)
{
  const uint32_t at = ising_tiled_line(geometry, l) + w, t = geometry->tile;
  const uint32_t first = w * ISING_TILED_LANES, left = geometry->row - first;
  for (uint32_t lane = 0; lane < ISING_TILED_LANES && lane < left; lane++) {
    const int32_t spin = (own[at] >> 8 * lane & 1) != 0 ? 1 : -1;
    const uint32_t x = 2 * (first + lane) + ising_tiled_shift(geometry, colour, l);
    const uint32_t local[ISING_TILED_AXES] = {x, l % t, l / t};
    for (uint32_t axis = 0; axis < geometry->dimension; axis++)
      if (waves->wave.along[axis]) {
        const uint32_t place = tile.at[axis] * t + local[axis];
        sums->cosine[axis] += spin * waves->cosine[place];
        sums->sine[axis] += spin * waves->sine[place];
      }
  }
}

#endif
