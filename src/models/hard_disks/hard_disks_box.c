/* The box of hard disks, and the grids of cells on which kernels store it: at constant volume, and
 * for a moving volume. */
#include <math.h>
#include <string.h>

#include "core/numerics/elementary.h"
#include "models/hard_disks/hard_disks.h"

/* ---- the box ---- */

/* Finds the largest even number of cells that are not narrower than a disk, and their width; false:
 * a cell does not have enough slots for the disks that it may contain. */
static bool make_grid(double length, uint32_t particles, uint32_t *cells, float *width)
{
  if (!(length >= 2.0 && length < (double)HARD_DISKS_CELLS_MAXIMUM + 2.0))
    return false;
  *cells = 2 * (uint32_t)floor(0.5 * length);
  const double quanta = rint(length * (double)HARD_DISKS_UNIT / *cells);
  *width = (float)(quanta / (double)HARD_DISKS_UNIT);
  /* Five centres fit into a square of 2^(1/2); coordinates must stay below 2. */
  return (particles <= HARD_DISKS_SLOTS && quanta < 2.0 * (double)HARD_DISKS_UNIT) ||
         quanta * quanta < 2.0 * (double)HARD_DISKS_UNIT * (double)HARD_DISKS_UNIT;
}

static size_t particles_of(const struct hard_disks_settings *settings)
{
  return settings->particles > 0 ? settings->particles
                                 : settings->lattice[0] * settings->lattice[1];
}

static void sides_of(const struct hard_disks_settings *settings, double length[2])
{
  const double fraction = settings->packing_fraction;
  memcpy(length, settings->length, 2 * sizeof *length);
  if (fraction == 0.0)
    return;
  const double area = (double)particles_of(settings) * 0.25 * GPUMC_PI / fraction;
  const double aspect = settings->particles > 0 ? settings->aspect
                                                : sqrt(0.75) * (double)settings->lattice[1] /
                                                      (double)settings->lattice[0];
  length[0] = sqrt(area / aspect);
  length[1] = area / length[0];
}

/* Returns the largest packing fraction of this many disks in a square box; 1: unknown, or no such
 * box has fewer (Dickinson, Guillot, Keaton and Xhumari, Geombinatorics 20 (2011), up to five
 * disks; Musin and Nikitenko, Discrete Comput. Geom. 55, 1 (2016), six to eight). */
static double densest_in_square(size_t particles)
{
  switch (particles) {
  case 5:
    return 0.25 * GPUMC_PI;
  case 6:
    return 0.7555119;
  case 7:
  case 8: /* both with the distance L / (1 + 3^(1/2)) */
    return (double)particles * 0.25 * GPUMC_PI / (4.0 + 2.0 * sqrt(3.0));
  default:
    return 1.0;
  }
}

enum gpumc_status hard_disks_make_box(const struct hard_disks_settings *settings,
                                      struct hard_disks_parameters *parameters,
                                      struct gpumc_error *error)
{
  struct hard_disks_box *box = &parameters->box;
  double length[2];
  sides_of(settings, length);
  box->particles = (uint32_t)particles_of(settings);
  for (size_t d = 0; d < 2; d++)
    if (!(length[d] >= 2.0))
      return gpumc_error_set(
          error, GPUMC_INVALID,
          "a box of %.7g x %.7g is too small: its sides must be at least two diameters", length[0],
          length[1]);
  for (size_t d = 0; d < 2; d++)
    if (!make_grid(length[d], box->particles, d == 0 ? &box->cells_x : &box->cells_y,
                   d == 0 ? &box->width_x : &box->width_y))
      return gpumc_error_set(
          error, GPUMC_INVALID,
          length[d] < 8.0
              ? "a box of %.7g x %.7g cannot be divided into an even number of cells "
                "between 1 and 1.414 diameters wide: sides from 2.83 to 4 and from "
                "5.66 to 6 diameters are possible with up to four disks only"
              : "a box of %.7g x %.7g is too large: its sides must be below 32768 diameters",
          length[0], length[1]);
  parameters->length[0] = (double)box->width_x * box->cells_x;
  parameters->length[1] = (double)box->width_y * box->cells_y;
  parameters->density = box->particles / (parameters->length[0] * parameters->length[1]);
  parameters->packing_fraction = 0.25 * GPUMC_PI * parameters->density;
  if (parameters->packing_fraction > HARD_DISKS_PACKING_MAXIMUM + 1e-6)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%u disks in a box of %.7g x %.7g have a packing fraction of %.4g, but "
                           "at most %g is possible",
                           box->particles, length[0], length[1], parameters->packing_fraction,
                           HARD_DISKS_PACKING_MAXIMUM);
  const double densest =
      parameters->length[0] == parameters->length[1] ? densest_in_square(box->particles) : 1.0;
  if (parameters->packing_fraction > densest)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%u disks at a packing fraction of %.4g do not fit into a square "
                           "periodic box, wherever they are placed: the densest state has %.4f; "
                           "use another number of disks, or a box of another shape",
                           box->particles, parameters->packing_fraction, densest);
  return GPUMC_OK;
}

/* ---- grids ---- */

/* States on the open grid begin in a box larger than that at constant volume by this factor: by
 * more than places are rounded when they are scaled to it. */
#define OPENING (1.0 + 0x1p-20)

/* Returns whether cells of that width are possible. */
static bool is_width(uint32_t quanta)
{
  return quanta >= HARD_DISKS_UNIT &&
         (uint64_t)quanta * quanta < 2 * (uint64_t)HARD_DISKS_UNIT * HARD_DISKS_UNIT;
}

static bool is_box(const struct hard_disks_box *grid, uint32_t width)
{
  return is_width(width) && is_width(hard_disks_height(grid, width));
}

/* Finds an even number of cells whose width is as far as possible from both of its limits. */
static void open_axis(double length, uint32_t *cells, float *width)
{
  const double fewer = 2.0 * floor(0.5 * length / sqrt(sqrt(2.0))), more = fewer + 2.0;
  const bool takes_more = fewer == 0.0 || length * length >= sqrt(2.0) * fewer * more;
  *cells = (uint32_t)(takes_more ? more : fewer);
  *width =
      hard_disks_width((uint32_t)ceil(length * OPENING * (double)HARD_DISKS_UNIT / (double)*cells));
}

/* least > most: there is none, because the box is at the limit of a grid. */
static void open_grid(struct hard_disks_parameters *parameters)
{
  struct hard_disks_grid *grid = &parameters->open;
  grid->box = parameters->box;
  open_axis(parameters->length[0], &grid->box.cells_x, &grid->box.width_x);
  open_axis(parameters->length[1], &grid->box.cells_y, &grid->box.width_y);
  const uint32_t width = hard_disks_quanta(grid->box.width_x);
  grid->least = 1;
  grid->most = 0;
  if (!is_box(&grid->box, width))
    return;
  /* The possible widths form one range: its ends are found by bisection. */
  uint32_t below = 0, above = 2 * (uint32_t)HARD_DISKS_UNIT;
  for (grid->least = width; grid->least - below > 1;) {
    const uint32_t middle = below + (grid->least - below) / 2;
    *(is_box(&grid->box, middle) ? &grid->least : &below) = middle;
  }
  for (grid->most = width; above - grid->most > 1;) {
    const uint32_t middle = grid->most + (above - grid->most) / 2;
    *(is_box(&grid->box, middle) ? &grid->most : &above) = middle;
  }
}

void hard_disks_find_grids(struct hard_disks_parameters *parameters)
{
  const uint32_t width = hard_disks_quanta(parameters->box.width_x);
  parameters->fixed = (struct hard_disks_grid){parameters->box, width, width};
  open_grid(parameters);
}
