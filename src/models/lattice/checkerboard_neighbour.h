/* Sites of the checkerboard one by one: their place, their neighbours. For tables and small loops;
 * kernels step through whole rows. */
#ifndef GPUMC_LATTICE_CHECKERBOARD_NEIGHBOUR_H
#define GPUMC_LATTICE_CHECKERBOARD_NEIGHBOUR_H

#include <stdbool.h>

#include "models/lattice/checkerboard.h"

/* The neighbours of a site, in the order of words of bonds: the rows before and after, the same
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

/* Of index k of a colour. */
static inline struct gpumc_checkerboard_place
gpumc_checkerboard_place_at(const struct gpumc_checkerboard *lattice, size_t colour, size_t k)
{
  const size_t line = k / lattice->row;
  return (struct gpumc_checkerboard_place){colour, k, line % lattice->length_y,
                                           line / lattice->length_y};
}

/* Of site number `site` = x + Lx (y + Ly z). */
static inline struct gpumc_checkerboard_place
gpumc_checkerboard_place(const struct gpumc_checkerboard *lattice, size_t site)
{
  const size_t position = gpumc_checkerboard_position(lattice, site);
  const size_t colour = position >= lattice->colour;
  return gpumc_checkerboard_place_at(lattice, colour, position - colour * lattice->colour);
}

/* Whether the side has the index k - 1, one step back in x, and not k + 1, one step forward. */
static inline bool gpumc_checkerboard_side_is_back(const struct gpumc_checkerboard_place *place)
{
  return ((place->y + place->z + place->colour) & 1) == 0;
}

/* Which of its neighbours is one step along `axis`, forward or back. */
static inline enum gpumc_neighbour
gpumc_checkerboard_towards(const struct gpumc_checkerboard_place *place, size_t axis, bool forward)
{
  if (axis == 0)
    return forward == gpumc_checkerboard_side_is_back(place) ? GPUMC_SAME_INDEX : GPUMC_SIDE;
  if (axis == 1)
    return forward ? GPUMC_ROW_AFTER : GPUMC_ROW_BEFORE;
  return forward ? GPUMC_PLANE_AFTER : GPUMC_PLANE_BEFORE;
}

/* The site one step forward along `axis`, periodic. */
static inline size_t
gpumc_checkerboard_next(const struct gpumc_checkerboard *lattice, size_t site, size_t axis)
{
  const size_t length[3] = {lattice->length_x, lattice->length_y, lattice->length_z};
  size_t step = 1;
  for (size_t a = 0; a < axis; a++)
    step *= length[a];
  return (site / step + 1) % length[axis] != 0 ? site + step : site + step - step * length[axis];
}

#endif
