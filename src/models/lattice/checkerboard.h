/* Geometry of the periodic chain, square and simple cubic lattice in checkerboard order, and the
 * working copy of one group.
 *
 * Site (x, y) has colour (x + y) & 1 and, within its colour, the index k = y (Lx/2) + x/2. All its
 * neighbours have the other colour; there their indices are k - Lx/2 and k + Lx/2 (the rows before
 * and after, periodic), k itself, and the `side`: k - 1 or k + 1 within the row, periodic. Below is
 * Lx = 6, colour 0 as letters, colour 1 as digits; d has above a, below g, beside itself 3, side 5.
 *
 *     a 0 b 1 c 2
 *     3 d 4 e 5 f        (the side of d is 4: in this row colour 0 stands on odd x)
 *     g 6 h 7 i 8
 *
 * In three dimensions the colour is (x + y + z) & 1 and k = (z Ly + y) (Lx/2) + x/2; the rows
 * before and after are those of the same plane z, periodic, and two more neighbours have the index
 * k in the planes before and after: k - Lx Ly/2 and k + Lx Ly/2, periodic. A square lattice is one
 * plane, and a chain is one row, whose sites have the neighbours k and the side alone.
 */
#ifndef GPUMC_LATTICE_CHECKERBOARD_H
#define GPUMC_LATTICE_CHECKERBOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { LATTICE_DIMENSIONS_MAXIMUM = 3 };

/* Sides are even. */
struct gpumc_checkerboard {
  size_t dimension;                    /* 1, 2 or 3 */
  size_t length_x, length_y, length_z; /* 1 beyond the dimension */
  size_t row;                          /* sites of one colour in a row, Lx/2 */
  size_t plane;                        /* sites of one colour in a plane, Lx Ly/2 */
  size_t colour;                       /* sites of one colour, N/2 */
};

enum { GPUMC_CHECKERBOARD_PADDING = 64 }; /* elements a vector may reach beyond the end */

/* shape[dimension] = Lx, Ly, Lz, as far as the dimension goes. */
static inline struct gpumc_checkerboard
gpumc_checkerboard_make(size_t dimension, const size_t *shape)
{
  struct gpumc_checkerboard lattice = {.dimension = dimension,
                                       .length_x = shape[0],
                                       .length_y = dimension >= 2 ? shape[1] : 1,
                                       .length_z = dimension == 3 ? shape[2] : 1};
  lattice.row = lattice.length_x / 2;
  lattice.plane = lattice.row * lattice.length_y;
  lattice.colour = lattice.plane * lattice.length_z;
  return lattice;
}

/* Returns the position of site number `site` = x + Lx (y + Ly z) in an array that holds colour 0,
 * then colour 1. */
static inline size_t
gpumc_checkerboard_position(const struct gpumc_checkerboard *lattice, size_t site)
{
  const size_t x = site % lattice->length_x, line = site / lattice->length_x;
  const size_t y = line % lattice->length_y, z = line / lattice->length_y;
  return ((x + y + z) & 1) * lattice->colour + line * lattice->row + x / 2;
}

/* Returns the sites of one colour in the row, or in three dimensions the plane, that precedes and
 * follows a colour in its working copy. */
static inline size_t gpumc_checkerboard_halo(const struct gpumc_checkerboard *lattice)
{
  return lattice->dimension == 3 ? lattice->plane : lattice->row;
}

/* Returns where the first site is in a working copy of one colour: there is room for the halo
 * before it. A multiple of 64, like the extent, so that the copy is aligned like its allocation. */
static inline size_t gpumc_checkerboard_lead(const struct gpumc_checkerboard *lattice)
{
  const size_t step = GPUMC_CHECKERBOARD_PADDING;
  return (gpumc_checkerboard_halo(lattice) + step - 1) / step * step;
}

/* Returns the elements of a working copy of one colour, the halo after it and whole vectors
 * included. */
static inline size_t gpumc_checkerboard_extent(const struct gpumc_checkerboard *lattice)
{
  const size_t step = GPUMC_CHECKERBOARD_PADDING;
  return 2 * gpumc_checkerboard_lead(lattice) + (lattice->colour + step - 1) / step * step + step;
}

/* Sites one by one, for tables and small loops: kernels step through whole rows. The neighbours of
 * a site, in the order of words of bonds: the rows before and after, the same
 * index, the side, and in three dimensions the planes before and after. */
enum gpumc_neighbour {
  GPUMC_ROW_BEFORE,
  GPUMC_ROW_AFTER,
  GPUMC_SAME_INDEX,
  GPUMC_SIDE,
  GPUMC_PLANE_BEFORE,
  GPUMC_PLANE_AFTER,
  GPUMC_NEIGHBOURS_MAXIMUM
};

struct gpumc_checkerboard_place {
  size_t colour, k, y, z;
};

/* For index k of a colour. */
static inline struct gpumc_checkerboard_place
gpumc_checkerboard_place_at(const struct gpumc_checkerboard *lattice, size_t colour, size_t k)
{
  const size_t line = k / lattice->row;
  return (struct gpumc_checkerboard_place){colour, k, line % lattice->length_y,
                                           line / lattice->length_y};
}

/* For site number `site` = x + Lx (y + Ly z). */
static inline struct gpumc_checkerboard_place
gpumc_checkerboard_place(const struct gpumc_checkerboard *lattice, size_t site)
{
  const size_t position = gpumc_checkerboard_position(lattice, site);
  const size_t colour = position >= lattice->colour;
  return gpumc_checkerboard_place_at(lattice, colour, position - colour * lattice->colour);
}

/* Returns whether the side has the index k - 1, one step back in x, and not k + 1, one step
 * forward. */
static inline bool gpumc_checkerboard_side_is_back(const struct gpumc_checkerboard_place *place)
{
  return ((place->y + place->z + place->colour) & 1) == 0;
}

/* Returns which of its neighbours is one step along `axis`, forward or back. */
static inline enum gpumc_neighbour
gpumc_checkerboard_towards(const struct gpumc_checkerboard_place *place, size_t axis, bool forward)
{
  if (axis == 0)
    return forward == gpumc_checkerboard_side_is_back(place) ? GPUMC_SAME_INDEX : GPUMC_SIDE;
  if (axis == 1)
    return forward ? GPUMC_ROW_AFTER : GPUMC_ROW_BEFORE;
  return forward ? GPUMC_PLANE_AFTER : GPUMC_PLANE_BEFORE;
}

/* Finds the positions of the neighbours of the site at a position (gpumc_checkerboard_position), by
 * enum gpumc_neighbour; those that the lattice does not have are not set: a chain has the same
 * index and the side. */
static inline void gpumc_checkerboard_positions_around(const struct gpumc_checkerboard *lattice,
                                                       size_t position,
                                                       uint32_t around[GPUMC_NEIGHBOURS_MAXIMUM])
{
  const size_t colour = position >= lattice->colour, k = position - colour * lattice->colour;
  const struct gpumc_checkerboard_place at = gpumc_checkerboard_place_at(lattice, colour, k);
  const size_t row = lattice->row, plane = lattice->plane, all = lattice->colour;
  const size_t x = k % row, other = (1 - colour) * all;
  const size_t side = gpumc_checkerboard_side_is_back(&at) ? (x + row - 1) % row : (x + 1) % row;
  around[GPUMC_SAME_INDEX] = (uint32_t)(other + k);
  around[GPUMC_SIDE] = (uint32_t)(other + k - x + side);
  if (lattice->dimension == 1)
    return;
  around[GPUMC_ROW_BEFORE] = (uint32_t)(other + (at.y > 0 ? k : k + plane) - row);
  around[GPUMC_ROW_AFTER] =
      (uint32_t)(other + (at.y + 1 < lattice->length_y ? k : k - plane) + row);
  if (lattice->dimension == 2)
    return;
  around[GPUMC_PLANE_BEFORE] = (uint32_t)(other + (at.z > 0 ? k : k + all) - plane);
  around[GPUMC_PLANE_AFTER] =
      (uint32_t)(other + (at.z + 1 < lattice->length_z ? k : k - all) + plane);
}

/* Returns the site one step forward along `axis`, periodic. */
static inline size_t
gpumc_checkerboard_next(const struct gpumc_checkerboard *lattice, size_t site, size_t axis)
{
  const size_t length[3] = {lattice->length_x, lattice->length_y, lattice->length_z};
  size_t step = 1;
  for (size_t a = 0; a < axis; a++)
    step *= length[a];
  return (site / step + 1) % length[axis] != 0 ? site + step : site + step - step * length[axis];
}

/* ---- edges ---- */

/* Where the neighbours of a site are not at their usual distance, as masks of 16 sites: used by a
 * vector kernel to load the neighbours of whole vectors, however short the rows are. */

enum { GPUMC_EDGE_SITES = 16 };

/* Bit i: of site 16 b + i of a colour, b the number of the block. The side of a site is the one
 * before it (`back`) or after it; beyond the row's end it is at the other end. */
struct gpumc_checkerboard_edges {
  uint16_t back;           /* the side is k - 1; otherwise k + 1, unless one of the next two */
  uint16_t back_around;    /* it is k + row - 1 */
  uint16_t forward_around; /* it is k - row + 1 */
  uint16_t first_row;      /* of a plane: the row before is k - row + plane */
  uint16_t last_row;       /* of a plane: the row after is k + row - plane */
};

/* Returns the blocks of one colour. */
static inline size_t gpumc_checkerboard_edge_blocks(const struct gpumc_checkerboard *lattice)
{
  return (lattice->colour + GPUMC_EDGE_SITES - 1) / GPUMC_EDGE_SITES;
}

/* Fills edges[blocks] of `colour`. */
static inline void gpumc_checkerboard_edges_fill(const struct gpumc_checkerboard *lattice,
                                                 size_t colour,
                                                 struct gpumc_checkerboard_edges *edges)
{
  memset(edges, 0, gpumc_checkerboard_edge_blocks(lattice) * sizeof *edges);
  for (size_t k = 0; k < lattice->colour; k++) {
    struct gpumc_checkerboard_edges *edge = &edges[k / GPUMC_EDGE_SITES];
    const uint16_t bit = (uint16_t)(1u << k % GPUMC_EDGE_SITES);
    const struct gpumc_checkerboard_place place = gpumc_checkerboard_place_at(lattice, colour, k);
    const size_t j = k % lattice->row;
    const bool back = gpumc_checkerboard_side_is_back(&place);
    if (back)
      edge->back |= bit;
    if (back && j == 0)
      edge->back_around |= bit;
    if (!back && j + 1 == lattice->row)
      edge->forward_around |= bit;
    if (place.y == 0)
      edge->first_row |= bit;
    if (place.y + 1 == lattice->length_y)
      edge->last_row |= bit;
  }
}

#endif
