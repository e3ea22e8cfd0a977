/* Clusters of a lattice whose labels do not fit into the memory of a block of threads, for both
 * compilers: tiles, and seams between them.
 *
 *     +--------+--------+    1. Each tile labels its runs by the bonds within it: label[] is the
 *     |  tile  |  tile  |       root of a run, a number in the tile.
 *     |      o-+-o      |    2. Each bond across a seam unites the roots of two runs, as sites of
 *     +------|-+--------+       the lattice, in parent[]: those of runs at the border only.
 *     |      o |        |    3. Each tile flips its runs: those at the border by the root that
 *     |  tile  |  tile  |       parent[] leads to, all others by their own.
 *     +--------+--------+
 *
 * The name of a cluster is its smallest site, within a tile and through parent[]. */
#ifndef GPUMC_ISING_CLUSTER_TILES_H
#define GPUMC_ISING_CLUSTER_TILES_H

#include "models/ising/cluster/cluster_words.h"

/* Words of a tile, at most, and numbers of their sites. */
enum { ISING_TILE_WORDS = 256, ISING_TILE_LABELS = ISING_TILE_WORDS * ISING_CLUSTER_WORD };

/* By axis: sites; words of a row, rows, planes, of the lattice and of a tile; tiles; seams, 0 where
 * a tile goes around. Bit d of `around`: it does. */
struct ising_cluster_tiling {
  uint32_t axes, around;
  uint32_t length[ISING_CLUSTER_AXES], size[ISING_CLUSTER_AXES], extent[ISING_CLUSTER_AXES],
      tiles[ISING_CLUSTER_AXES], seams[ISING_CLUSTER_AXES];
  struct gpumc_divisor row, rows; /* of a tile */
};

/* Of one replica. bond[d], held: by word of the lattice; label[tiles][32][ISING_TILE_WORDS];
 * parent: by site. held: bit i, the cluster with that name in its tile is joined to the ghost. */
struct ising_cluster_tiles {
  uint32_t *bond[ISING_CLUSTER_AXES], *held;
  uint16_t *label;
  uint32_t *parent;
};

/* length[3]: 1 beyond the axes. */
static inline struct ising_cluster_tiling
ising_cluster_tiling_make(uint32_t axes, const uint32_t *length)
{
  struct ising_cluster_tiling tiling = {.axes = axes, .extent = {1, 1, 1}};
  uint32_t words = 1;
  for (uint32_t d = 0; d < ISING_CLUSTER_AXES; d++) {
    tiling.length[d] = length[d];
    tiling.size[d] = d > 0 ? length[d] : (length[d] + ISING_CLUSTER_WORD - 1) / ISING_CLUSTER_WORD;
  }
  for (; words < ISING_TILE_WORDS; words *= 2) {
    uint32_t shortest = ISING_CLUSTER_AXES, least = UINT32_MAX;
    for (uint32_t d = 0; d < ISING_CLUSTER_AXES; d++) {
      const uint32_t sites = d > 0 ? tiling.extent[d] : ISING_CLUSTER_WORD * tiling.extent[d];
      if (tiling.extent[d] < tiling.size[d] && sites < least) {
        least = sites;
        shortest = d;
      }
    }
    if (shortest == ISING_CLUSTER_AXES)
      break;
    tiling.extent[shortest] *= 2;
  }
  for (uint32_t d = 0; d < ISING_CLUSTER_AXES; d++) {
    tiling.tiles[d] = (tiling.size[d] + tiling.extent[d] - 1) / tiling.extent[d];
    tiling.around |= (uint32_t)(tiling.tiles[d] == 1) << d;
    tiling.seams[d] = tiling.tiles[d] == 1 ? 0 : tiling.tiles[d];
  }
  tiling.row = gpumc_divisor_make(tiling.extent[0]);
  tiling.rows = gpumc_divisor_make(tiling.extent[1]);
  return tiling;
}

GPUMC_HOST_DEVICE static inline uint32_t
ising_tiling_tiles(const struct ising_cluster_tiling *tiling)
{
  return tiling->tiles[0] * tiling->tiles[1] * tiling->tiles[2];
}

GPUMC_HOST_DEVICE static inline size_t ising_tiling_words(const struct ising_cluster_tiling *tiling)
{
  return (size_t)tiling->size[0] * tiling->size[1] * tiling->size[2];
}

/* Returns the sites of the last word of a row. */
GPUMC_HOST_DEVICE static inline uint32_t
ising_tiling_last(const struct ising_cluster_tiling *tiling)
{
  return tiling->length[0] - ISING_CLUSTER_WORD * (tiling->size[0] - 1);
}

GPUMC_HOST_DEVICE static inline struct ising_cluster_box
ising_tiling_box(const struct ising_cluster_tiling *tiling, uint32_t tile)
{
  struct ising_cluster_box box;
  box.row = tiling->row;
  box.rows = tiling->rows;
  box.axes = tiling->axes;
  box.around = tiling->around;
  box.words = tiling->size[0];
  box.last = ising_tiling_last(tiling);
  for (uint32_t d = 0; d < ISING_CLUSTER_AXES; d++) {
    const uint32_t next = tile / tiling->tiles[d];
    box.first[d] = (tile - next * tiling->tiles[d]) * tiling->extent[d];
    const uint32_t left = tiling->size[d] - box.first[d];
    box.size[d] = left < tiling->extent[d] ? left : tiling->extent[d];
    tile = next;
  }
  return box;
}

/* Returns the number of a word of the lattice, at[] of all. */
GPUMC_HOST_DEVICE static inline size_t
ising_tiling_word(const struct ising_cluster_tiling *tiling, const uint32_t *at)
{
  return at[0] + tiling->size[0] * (at[1] + tiling->length[1] * (size_t)at[2]);
}

/* Returns that of a word of a tile. */
GPUMC_HOST_DEVICE static inline size_t
ising_tiling_word_of(const struct ising_cluster_tiling *tiling, const struct ising_cluster_box *box,
                     const struct ising_cluster_place *place)
{
  const uint32_t at[ISING_CLUSTER_AXES] = {
      box->first[0] + place->at[0], box->first[1] + place->at[1], box->first[2] + place->at[2]};
  return ising_tiling_word(tiling, at);
}

/* Returns the site of a number of a tile. */
GPUMC_HOST_DEVICE static inline uint32_t
ising_tiling_site(const struct ising_cluster_tiling *tiling, const struct ising_cluster_box *box,
                  uint32_t number)
{
  const struct ising_cluster_place place = ising_box_place(box, number / ISING_CLUSTER_WORD, 0);
  const uint32_t x = ISING_CLUSTER_WORD * (box->first[0] + place.at[0]);
  return x + number % ISING_CLUSTER_WORD +
         tiling->length[0] *
             (box->first[1] + place.at[1] + tiling->length[1] * (box->first[2] + place.at[2]));
}

/* Returns the starts of the runs of a word that bonds across seams may join to others. */
GPUMC_HOST_DEVICE static inline uint32_t
ising_tiling_border(const struct ising_cluster_box *box, const struct ising_cluster_place *place,
                    uint32_t joined)
{
  uint32_t border = 0;
  for (uint32_t d = 1; d < ISING_CLUSTER_AXES; d++)
    if ((box->around >> d & 1) == 0 && (place->at[d] == 0 || place->at[d] + 1 == box->size[d]))
      border = place->sites & ~joined;
  if (border != 0 || (box->around & 1) != 0)
    return border;
  if (place->at[0] == 0)
    border = 1;
  if (place->at[0] + 1 == box->size[0])
    border |= (uint32_t)1 << ising_run_start(joined, ising_bit_highest(place->sites));
  return border;
}

/* ---- seams ---- */

/* Returns the root within its tile, as a site, of the run of a site of the word at[]. */
GPUMC_HOST_DEVICE static inline uint32_t
ising_tiling_root(const struct ising_cluster_tiling *tiling,
                  const struct ising_cluster_tiles *tiles, const uint32_t *at, uint32_t bit)
{
  uint32_t tile = 0, word = 0;
  for (uint32_t d = ISING_CLUSTER_AXES; d-- > 0;) {
    const uint32_t of_axis = at[d] / tiling->extent[d];
    tile = tile * tiling->tiles[d] + of_axis;
    word = word * tiling->extent[d] + at[d] - of_axis * tiling->extent[d];
  }
  const struct ising_cluster_box box = ising_tiling_box(tiling, tile);
  const uint32_t joined = tiles->bond[0][ising_tiling_word(tiling, at)] << 1;
  const uint32_t start = ising_run_start(joined, bit);
  const uint16_t number =
      tiles->label[(size_t)tile * ISING_TILE_LABELS + start * ISING_TILE_WORDS + word];
  return ising_tiling_site(tiling, &box, number);
}

/* Returns the bonds that may cross the seams along an axis, the places of ising_seam_unite. */
GPUMC_HOST_DEVICE static inline size_t
ising_seam_places(const struct ising_cluster_tiling *tiling, uint32_t axis)
{
  size_t places = axis > 0 ? ISING_CLUSTER_WORD : 1;
  for (uint32_t d = 0; d < ISING_CLUSTER_AXES; d++)
    places *= d == axis ? tiling->seams[d] : tiling->size[d];
  return places;
}

/* `axis`: a constant. */
GPUMC_HOST_DEVICE static inline void ising_seam_unite(const struct ising_cluster_tiling *tiling,
                                                      const struct ising_cluster_tiles *tiles,
                                                      uint32_t axis, uint32_t place)
{
  uint32_t bit = place % ISING_CLUSTER_WORD, at[ISING_CLUSTER_AXES], to[ISING_CLUSTER_AXES];
  uint32_t rest = axis > 0 ? place / ISING_CLUSTER_WORD : place;
  for (uint32_t d = 0; d < ISING_CLUSTER_AXES; d++) {
    const uint32_t n = d == axis ? tiling->seams[d] : tiling->size[d], next = rest / n;
    at[d] = to[d] = rest - next * n;
    rest = next;
  }
  const uint32_t end = (at[axis] + 1) * tiling->extent[axis];
  at[axis] = (end < tiling->size[axis] ? end : tiling->size[axis]) - 1;
  to[axis] = end < tiling->size[axis] ? end : 0;
  const size_t word = ising_tiling_word(tiling, at);
  uint32_t bonds = tiles->bond[axis][word], to_bit = bit;
  if (axis == 0) {
    bit = (at[0] + 1 == tiling->size[0] ? ising_tiling_last(tiling) : ISING_CLUSTER_WORD) - 1;
    to_bit = 0;
  } else {
    bonds = ising_bonds_needed(bonds, tiles->bond[0][word] << 1,
                               tiles->bond[0][ising_tiling_word(tiling, to)] << 1);
  }
  if ((bonds >> bit & 1) != 0)
    ising_label_unite(tiles->parent, 0, ising_tiling_root(tiling, tiles, at, bit),
                      ising_tiling_root(tiling, tiles, to, to_bit));
}

#endif
