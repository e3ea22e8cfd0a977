/* Where the neighbours of a site are not at their usual distance, as masks of 16 sites: what a
 * vector kernel needs to load the neighbours of whole vectors, however short the rows are. */
#ifndef GPUMC_LATTICE_CHECKERBOARD_EDGES_H
#define GPUMC_LATTICE_CHECKERBOARD_EDGES_H

#include <stdint.h>
#include <string.h>

#include "models/lattice/checkerboard.h"

enum { GPUMC_EDGE_SITES = 16 };

/* Bit i: of the site 16 b + i of a colour, b the number of the block. The side of a site is the one
 * before it (`back`) or after it; beyond the row's end it is at the other end. */
struct gpumc_checkerboard_edges {
  uint16_t back;           /* the side is k - 1; else k + 1, unless one of the next two */
  uint16_t back_around;    /* it is k + row - 1 */
  uint16_t forward_around; /* it is k - row + 1 */
  uint16_t first_row;      /* of a plane: the row before is k - row + plane */
  uint16_t last_row;       /* of a plane: the row after is k + row - plane */
};

/* Blocks of one colour. */
static inline size_t gpumc_checkerboard_edge_blocks(const struct gpumc_checkerboard *lattice)
{
  return (lattice->colour + GPUMC_EDGE_SITES - 1) / GPUMC_EDGE_SITES;
}

/* edges[blocks] of `colour`. */
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
