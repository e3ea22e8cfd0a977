/* Positions of the spins of the tiled kernel, in words of four bytes, for both compilers.
 * models/ising/tiled/tiled.h defines tiles, halves, lines and places. */
#ifndef GPUMC_ISING_TILED_LATTICE_H
#define GPUMC_ISING_TILED_LATTICE_H

#include <stddef.h>

#include "core/numerics/random.h"
#include "models/ising/ising_physics.h"
#include "models/ising/ising_channels.h"

enum {
  ISING_TILED_LANES = 4, /* spins of a word: a byte each, 1 up */
  /* A spin's class: neighbours up, plus ISING_TILED_UP if the spin itself is up. */
  ISING_TILED_UP = 8,
  ISING_TILED_CLASSES = 16,
  ISING_TILED_AXES = 3,
};

/* A replica is words[tile][colour][line][row_words]; bytes after a line's sites are 0. `copy`: on a
 * GPU, the working copy of one colour of a tile with its boundary, where each line has a word
 * before it (whose last byte is the neighbour there) and room for the neighbour after it; in two
 * dimensions it has t + 2 lines, in three (t + 2)^2. */
struct ising_tiled_geometry {
  uint32_t dimension, tile; /* t */
  uint32_t tiles[ISING_TILED_AXES], n_tiles;
  uint32_t row;       /* sites of a colour in a line of a tile, t/2 */
  uint32_t row_words; /* W */
  uint32_t lines;     /* of a tile, t^(d-1) */
  uint32_t words;     /* of a colour of a tile, lines * row_words */
  uint32_t places;    /* sites of a colour of a tile, lines * row */
  uint32_t last_mask; /* the bytes of a line's last word that are sites: 1 each */
  uint32_t copy_row, copy_plane, copy_words; /* words of a line, of a plane, of all */
};

/* The rule of one run. A spin of class c is decided by u < threshold[c]. If so it becomes up or, if
 * `inverted` is 1 (Metropolis) and it is up, down; if not, the opposite. */
struct ising_tiled_rule {
  uint64_t threshold[ISING_TILED_CLASSES];
  uint32_t inverted; /* four bytes */
};

/* The sweeps `first` .. `first + hits - 1` of a call in one half of the tiles. Colours are reversed
 * in those before number `turn` if `reversed`, otherwise in the others. */
struct ising_tiled_visit {
  uint32_t half, first, hits, turn, reversed;
};

struct ising_tiled_tile {
  uint32_t at[ISING_TILED_AXES];
};

/* Returns block b of a half. */
GPUMC_HOST_DEVICE static inline struct ising_tiled_tile
ising_tiled_tile(const struct ising_tiled_geometry *geometry, uint32_t half, uint32_t b)
{
  const uint32_t pairs = geometry->tiles[0] / 2, line = b / pairs;
  const uint32_t y = line % geometry->tiles[1], z = line / geometry->tiles[1];
  return (struct ising_tiled_tile){{2 * (b % pairs) + ((y + z + half) & 1), y, z}};
}

/* Returns the next tile along an axis, periodic; step: 1 or -1. */
GPUMC_HOST_DEVICE static inline struct ising_tiled_tile
ising_tiled_next(const struct ising_tiled_geometry *geometry, struct ising_tiled_tile tile,
                 uint32_t axis, int step)
{
  const uint32_t length = geometry->tiles[axis];
  tile.at[axis] = (tile.at[axis] + (step > 0 ? 1 : length - 1)) % length;
  return tile;
}

GPUMC_HOST_DEVICE static inline uint32_t
ising_tiled_number(const struct ising_tiled_geometry *geometry, struct ising_tiled_tile tile)
{
  return (tile.at[2] * geometry->tiles[1] + tile.at[1]) * geometry->tiles[0] + tile.at[0];
}

/* Returns the first word of a tile in its replica; colour 1 follows `words` words later. */
GPUMC_HOST_DEVICE static inline size_t
ising_tiled_words(const struct ising_tiled_geometry *geometry, struct ising_tiled_tile tile)
{
  return (size_t)ising_tiled_number(geometry, tile) * 2 * geometry->words;
}

GPUMC_HOST_DEVICE static inline size_t
ising_tiled_replica_words(const struct ising_tiled_geometry *geometry)
{
  return (size_t)geometry->n_tiles * 2 * geometry->words;
}

/* Returns whether the sites of a colour are at odd x in line l. */
GPUMC_HOST_DEVICE static inline uint32_t
ising_tiled_shift(const struct ising_tiled_geometry *geometry, uint32_t colour, uint32_t l)
{
  const uint32_t z = geometry->dimension == 3 ? l / geometry->tile : 0;
  return (l - z * geometry->tile + z + colour) & 1;
}

/* Site number x + Lx (y + Ly z) of the lattice: its tile, colour and place. */
struct ising_tiled_site {
  struct ising_tiled_tile tile;
  uint32_t colour, line, along; /* place = line * row + along */
};
GPUMC_HOST_DEVICE static inline struct ising_tiled_site
ising_tiled_site(const struct ising_tiled_geometry *geometry, size_t site)
{
  struct ising_tiled_site found = {{{0, 0, 0}}, 0, 0, 0};
  uint32_t at[ISING_TILED_AXES] = {0, 0, 0};
  for (uint32_t axis = 0; axis < geometry->dimension; axis++) {
    const size_t length = (size_t)geometry->tiles[axis] * geometry->tile;
    const uint32_t x = (uint32_t)(site % length);
    site /= length;
    found.tile.at[axis] = x / geometry->tile;
    at[axis] = x % geometry->tile;
  }
  found.colour = (at[0] + at[1] + at[2]) & 1;
  found.line = at[2] * geometry->tile + at[1];
  found.along = at[0] / 2;
  return found;
}

/* Returns the byte of a site in its replica. */
GPUMC_HOST_DEVICE static inline size_t
ising_tiled_byte(const struct ising_tiled_geometry *geometry, struct ising_tiled_site site)
{
  const size_t word = ising_tiled_words(geometry, site.tile) + site.colour * geometry->words +
                      site.line * geometry->row_words;
  return word * ISING_TILED_LANES + site.along;
}

/* Returns the initial spin of a site: number k of its colour in the lattice is site / 2. */
GPUMC_HOST_DEVICE static inline uint32_t
ising_tiled_initial(const struct ising_tiled_geometry *geometry, struct gpumc_random random,
                    uint32_t replica, uint32_t colour, size_t site)
{
  const size_t half = (size_t)geometry->n_tiles * geometry->places;
  const size_t i = colour * half + site / 2;
  uint32_t drawn[4];
  gpumc_random_draw(random, (uint32_t)(i / 128), replica, 0,
                    gpumc_random_label(GPUMC_RANDOM_LATTICE_INITIAL, 0), drawn);
  return drawn[i / 32 % 4] >> i % 32 & 1;
}

/* cosine, sine: [wave.length], NULL if waves are not wanted (models/ising/ising_channels.h). */
struct ising_tiled_waves {
  struct lattice_wave wave;
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

/* Returns the sum of all spins. */
GPUMC_HOST_DEVICE static inline int64_t
ising_tiled_spins(const struct ising_tiled_geometry *geometry, const struct ising_tiled_sums *sums)
{
  return 2 * sums->up - ising_tiled_sites(geometry);
}

/* Returns the energy, with J and h in quanta. */
GPUMC_HOST_DEVICE static inline int64_t
ising_tiled_energy(const struct ising_tiled_geometry *geometry, double coupling, double field,
                   const struct ising_tiled_sums *sums)
{
  const int64_t bonds = geometry->dimension * ising_tiled_sites(geometry) - 2 * sums->unlike;
  return ising_energy(coupling, field, bonds, ising_tiled_spins(geometry, sums));
}

/* Adds the contribution of word w of line l of a tile, `spins`, to the waves. */
GPUMC_HOST_DEVICE static inline void
ising_tiled_add_waves(const struct ising_tiled_geometry *geometry,
                      const struct ising_tiled_waves *waves, struct ising_tiled_tile tile,
                      uint32_t spins, uint32_t colour, uint32_t l, uint32_t w,
                      struct ising_tiled_sums *sums)
{
  const uint32_t t = geometry->tile;
  const uint32_t first = w * ISING_TILED_LANES, left = geometry->row - first;
  for (uint32_t lane = 0; lane < ISING_TILED_LANES && lane < left; lane++) {
    const int32_t spin = (spins >> 8 * lane & 1) != 0 ? 1 : -1;
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
