/* Wolff's clusters on the CPU: how a lattice is cut into tiles of 64 sites, 8 x 8 or 4 x 4 x 4, for
 * sources that are compiled once for each instruction-set level.
 *
 * Bit x + ex (y + ey z) of a tile is its site (x, y, z); the last tiles along an axis may have
 * fewer, unless all are whole. `dimension` and `whole` are constants. */
#ifndef GPUMC_ISING_CLUSTER_WOLFF_TILES_H
#define GPUMC_ISING_CLUSTER_WOLFF_TILES_H

#include "models/ising/cluster/cluster_rows.h"
#include "models/lattice/divisor.h"

enum { AXES = ISING_ROW_AXES, WORDS = LATTICE_CLUSTER_WORDS };

/* By axis: sites, tiles, and of a tile its sites and the distance of two neighbours as bits. */
struct tiling {
  uint32_t dimension, length[AXES], tiles[AXES], extent[AXES], apart[AXES];
  struct gpumc_divisor row, plane; /* tiles of a row, rows of tiles in a plane */
  bool whole;
};

/* A tile: its number, and by axis its place and the tiles beside it. */
struct place {
  uint32_t number, at[AXES], before[AXES], after[AXES];
};

/* By dimension: the distance of two sites of a tile along an axis, and those on its first face. */
GPUMC_INLINE uint32_t apart_of(const uint32_t dimension, const uint32_t d)
{
  return d == 0   ? 1
         : d == 1 ? ising_wolff_extent(dimension)
                  : ising_wolff_extent(dimension) * ising_wolff_extent(dimension);
}

GPUMC_INLINE uint64_t first_of(const uint32_t dimension, const uint32_t d)
{
  static const uint64_t first[AXES + 1][AXES] = {
      [2] = {0x0101010101010101u, 0xff}, [3] = {0x1111111111111111u, 0x000f000f000f000fu, 0xffff}};
  return first[dimension][d];
}

static struct tiling tiling_of(const struct gpumc_checkerboard *lattice)
{
  const size_t length[AXES] = {lattice->length_x, lattice->length_y, lattice->length_z};
  struct tiling tiling = {.dimension = (uint32_t)lattice->dimension, .whole = true};
  for (uint32_t d = 0; d < AXES; d++) {
    tiling.length[d] = (uint32_t)length[d];
    tiling.extent[d] = d < tiling.dimension ? ising_wolff_extent(tiling.dimension) : 1;
    tiling.tiles[d] = (tiling.length[d] + tiling.extent[d] - 1) / tiling.extent[d];
    tiling.apart[d] = d < tiling.dimension ? apart_of(tiling.dimension, d) : ISING_ROW_WORD;
    tiling.whole = tiling.whole && tiling.length[d] % tiling.extent[d] == 0;
  }
  tiling.row = gpumc_divisor_make(tiling.tiles[0]);
  tiling.plane = gpumc_divisor_make(tiling.tiles[1]);
  return tiling;
}

static size_t tiles_of(const struct tiling *tiling)
{
  return (size_t)tiling->tiles[0] * tiling->tiles[1] * tiling->tiles[2];
}

GPUMC_INLINE struct place
place_of(const struct tiling *tiling, uint32_t number, const uint32_t dimension)
{
  struct place place = {.number = number};
  const uint32_t row = gpumc_divide(number, tiling->row);
  const uint32_t z = dimension == 3 ? gpumc_divide(row, tiling->plane) : 0;
  uint32_t step = 1;
  place.at[0] = number - row * tiling->row.value;
  place.at[1] = row - z * tiling->tiles[1];
  place.at[2] = z;
#pragma GCC unroll 3
  for (uint32_t d = 0; d < dimension; d++) {
    const uint32_t tiles = tiling->tiles[d], around = step * (tiles - 1), at = place.at[d];
    place.after[d] = at + 1 < tiles ? number + step : number - around;
    place.before[d] = at > 0 ? number - step : number + around;
    step *= tiles;
  }
  return place;
}

/* Returns the sites along an axis of the tile at that place. */
GPUMC_INLINE uint32_t size_of(const struct tiling *tiling, uint32_t at, const uint32_t dimension,
                              const uint32_t d, const bool whole)
{
  const uint32_t extent = ising_wolff_extent(dimension), left = tiling->length[d] - at * extent;
  return whole || left > extent ? extent : left;
}

/* Returns the distance of the first and the last face along an axis, as bits. */
GPUMC_INLINE uint32_t across_of(const struct tiling *tiling, uint32_t at, const uint32_t dimension,
                                const uint32_t d, const bool whole)
{
  return (size_of(tiling, at, dimension, d, whole) - 1) * apart_of(dimension, d);
}

/* Returns the sites of a tile, as bits. */
GPUMC_INLINE uint64_t sites_of(const struct tiling *tiling, const struct place *place,
                               const uint32_t dimension, const bool whole)
{
  uint64_t sites = 1;
  for (uint32_t d = 0; d < dimension && !whole; d++) {
    uint64_t wider = 0;
    for (uint32_t i = 0; i < size_of(tiling, place->at[d], dimension, d, whole); i++)
      wider |= sites << i * apart_of(dimension, d);
    sites = wider;
  }
  return whole ? UINT64_MAX : sites;
}

/* Returns the first site of a tile. */
static inline size_t first_site(const struct tiling *tiling, const struct place *place)
{
  const size_t x = (size_t)place->at[0] * tiling->extent[0],
               y = (size_t)place->at[1] * tiling->extent[1],
               z = (size_t)place->at[2] * tiling->extent[2];
  return x + tiling->length[0] * (y + tiling->length[1] * z);
}

/* ---- spins ---- */

/* Turns 8 rows of 8 bytes into columns. */
static inline void transpose(uint64_t row[8])
{
  static const uint64_t low[3] = {0x00ff00ff00ff00ffu, 0x0000ffff0000ffffu, 0x00000000ffffffffu};
#pragma GCC unroll 3
  for (uint32_t b = 0; b < 3; b++)
#pragma GCC unroll 8
    for (uint32_t i = 0; i < 8; i++)
      if ((i & 1u << b) == 0) {
        uint64_t *one = row + i, *other = one + (1u << b);
        const uint64_t differ = (*one >> (8 << b) ^ *other) & low[b];
        *other ^= differ;
        *one ^= differ << (8 << b);
      }
}

/* Loads eight tiles, from 8 x on, of row y of the tiles of a square lattice, by rows of 64 sites,
 * which are bytes of the tiles. */
static inline void load_squares(const struct ising_cluster_work *work, const struct tiling *tiling,
                                const uint8_t *coloured, uint32_t y, uint32_t x)
{
  const struct gpumc_checkerboard *lattice = &work->graph.shape->checkerboard;
  struct ising_cluster_word *tile = work->words + (size_t)y * tiling->tiles[0] + 8 * (size_t)x;
  uint64_t row[8] = {0};
  for (uint32_t i = 0; i < 8 && 8 * y + i < tiling->length[1]; i++)
    row[i] = ising_row_load(lattice, coloured, 8 * (size_t)y + i, i & 1, x);
  transpose(row);
  for (uint32_t i = 0; i < 8 && 8 * x + i < tiling->tiles[0]; i++)
    tile[i] = (struct ising_cluster_word){.spins = row[i]};
}

static inline void store_squares(const struct ising_cluster_work *work, const struct tiling *tiling,
                                 uint8_t *coloured, uint32_t y, uint32_t x)
{
  const struct gpumc_checkerboard *lattice = &work->graph.shape->checkerboard;
  const struct ising_cluster_word *tile =
      work->words + (size_t)y * tiling->tiles[0] + 8 * (size_t)x;
  uint64_t row[8] = {0};
  for (uint32_t i = 0; i < 8 && 8 * x + i < tiling->tiles[0]; i++)
    row[i] = tile[i].spins;
  transpose(row);
  for (uint32_t i = 0; i < 8 && 8 * y + i < tiling->length[1]; i++)
    ising_row_store(lattice, coloured, 8 * (size_t)y + i, i & 1, x, row[i]);
}

/* Where the sites of row (y, z) of a cubic lattice are from number 64 X on: the tile of the first
 * ones, and the bit with which they begin there. */
struct row {
  struct ising_cluster_word *tile;
  uint32_t bit;
};

static inline struct row row_of(const struct ising_cluster_work *work, const struct tiling *tiling,
                                uint32_t y, uint32_t z, size_t x)
{
  const uint32_t extent = ising_wolff_extent(3);
  const size_t row_of_tiles = y / extent + (size_t)tiling->tiles[1] * (z / extent);
  return (struct row){.tile = work->words + row_of_tiles * tiling->tiles[0] +
                              x * ISING_ROW_WORD / extent,
                      .bit = y % extent * apart_of(3, 1) + z % extent * apart_of(3, 2)};
}

static inline void load_cubes(const struct ising_cluster_work *work, const struct tiling *tiling,
                              const uint8_t *coloured, uint32_t y, uint32_t z)
{
  const struct gpumc_checkerboard *lattice = &work->graph.shape->checkerboard;
  const uint32_t extent = ising_wolff_extent(3);
  const size_t line = y + (size_t)tiling->length[1] * z;
  for (size_t x = 0; x * ISING_ROW_WORD < tiling->length[0]; x++) {
    struct row to = row_of(work, tiling, y, z, x);
    for (uint64_t spins = ising_row_load(lattice, coloured, line, (y + z) & 1, x); spins != 0;
         spins >>= extent, to.tile++)
      to.tile->spins |= (spins & ising_row_below(extent)) << to.bit;
  }
}

static inline void store_cubes(const struct ising_cluster_work *work, const struct tiling *tiling,
                               uint8_t *coloured, uint32_t y, uint32_t z)
{
  const struct gpumc_checkerboard *lattice = &work->graph.shape->checkerboard;
  const uint32_t extent = ising_wolff_extent(3);
  const size_t line = y + (size_t)tiling->length[1] * z;
  for (size_t x = 0; x * ISING_ROW_WORD < tiling->length[0]; x++) {
    const struct row from = row_of(work, tiling, y, z, x);
    const size_t left = tiling->length[0] - x * ISING_ROW_WORD;
    uint64_t spins = 0;
    for (uint32_t i = 0; i < ISING_ROW_WORD && i < left; i += extent)
      spins |= (from.tile[i / extent].spins >> from.bit & ising_row_below(extent)) << i;
    ising_row_store(lattice, coloured, line, (y + z) & 1, x, spins);
  }
}

static void load_spins(const struct ising_cluster_work *work, const uint8_t *coloured)
{
  const struct tiling tiling = tiling_of(&work->graph.shape->checkerboard);
  if (tiling.dimension == 2) {
    for (uint32_t y = 0; y < tiling.tiles[1]; y++)
      for (uint32_t x = 0; 8 * x < tiling.tiles[0]; x++)
        load_squares(work, &tiling, coloured, y, x);
    return;
  }
  memset(work->words, 0, tiles_of(&tiling) * sizeof *work->words);
  for (uint32_t z = 0; z < tiling.length[2]; z++)
    for (uint32_t y = 0; y < tiling.length[1]; y++)
      load_cubes(work, &tiling, coloured, y, z);
}

static void store_spins(const struct ising_cluster_work *work, uint8_t *coloured)
{
  const struct tiling tiling = tiling_of(&work->graph.shape->checkerboard);
  if (tiling.dimension == 2) {
    for (uint32_t y = 0; y < tiling.tiles[1]; y++)
      for (uint32_t x = 0; 8 * x < tiling.tiles[0]; x++)
        store_squares(work, &tiling, coloured, y, x);
    return;
  }
  for (uint32_t z = 0; z < tiling.length[2]; z++)
    for (uint32_t y = 0; y < tiling.length[1]; y++)
      store_cubes(work, &tiling, coloured, y, z);
}

#endif
