/* The bond-orientational order of a disk, for both compilers:
 *
 *   psi_6 = (1/n) sum over its n neighbours of exp(6 i theta), theta the direction of the
 * neighbour.
 *
 * Neighbours are those of the Voronoi construction in the periodic plane, where images of a disk
 * are disks of their own, those of the disk itself as well: its cell is cut out of a frame by the
 * bisectors between it and the disks around, and the neighbours are those whose edges remain. Plain
 * double arithmetic, in the order in which disks are passed, so that every device has the same
 * bits:
 *
 * 1. In a dense system the frame is a square of half-side HARD_DISKS_FRAME, and disks closer than
 *    HARD_DISKS_FAR are passed, which are in HARD_DISKS_RINGS rings of cells. The cell is right if
 *    all of its corners are closer than half of that (hard_disks_polygon_is_whole), since a disk
 *    cuts off only corners that are nearer to it.
 * 2. Otherwise the frame is the box around the disk, whose sides are the bisectors to the disk's
 *    own nearest images, and rings of cells are passed up to twice the distance of the farthest
 *    corner. A neighbour is less than a box away along each axis, because corners are half a box at
 *    most from both.
 * 3. A cell with more edges than a polygon has room for, as in a file with a wide circle of disks
 *    around one: a disk is a neighbour if some part of the bisector is nearer to it than to all
 *    other disks (struct hard_disks_side).
 */
#ifndef GPUMC_HARD_DISKS_ORDER_H
#define GPUMC_HARD_DISKS_ORDER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/numerics/host_device.h"

#define HARD_DISKS_FRAME 1.5
#define HARD_DISKS_FAR 3.0
/* psi_6 of a disk is rounded to units of 2^-HARD_DISKS_ORDER_BITS before it is added up. */
enum { HARD_DISKS_ORDER_BITS = 30, HARD_DISKS_EDGES = 24, HARD_DISKS_RINGS = 3 };

/* Edge k goes from corner k to the next, counterclockwise; (dx, dy)[k] is the neighbour beyond it,
 * 0 if it is the frame. reach2: four times the squared distance of the farthest corner: disks
 * beyond it cut nothing off; nor do those of a squared distance from far2 on. */
struct hard_disks_polygon {
  int32_t edges;
  bool full; /* it had no room for an edge: the cell is smaller */
  double x[HARD_DISKS_EDGES], y[HARD_DISKS_EDGES], dx[HARD_DISKS_EDGES], dy[HARD_DISKS_EDGES];
  double reach2, far2;
};

/* The bisector to a disk at (dx, dy): its points (dx, dy) / 2 + t (-dy, dx), least < t < most, are
 * not nearer to another one. */
struct hard_disks_side {
  double dx, dy, least, most;
};

/* The sum over the neighbours. */
struct hard_disks_directions {
  double real, imaginary;
  int32_t neighbours;
};

GPUMC_HOST_DEVICE static inline void hard_disks_polygon_measure(struct hard_disks_polygon *polygon)
{
  double most = 0.0;
  for (int32_t k = 0; k < polygon->edges; k++) {
    const double square = polygon->x[k] * polygon->x[k] + polygon->y[k] * polygon->y[k];
    most = square > most ? square : most;
  }
  polygon->reach2 = 4.0 * most;
}

/* Makes it a frame of those half-sides. */
GPUMC_HOST_DEVICE static inline void
hard_disks_polygon_frame(struct hard_disks_polygon *polygon, double x, double y)
{
  polygon->edges = 4;
  polygon->full = false;
  for (int32_t k = 0; k < 4; k++) {
    polygon->x[k] = k == 0 || k == 3 ? x : -x;
    polygon->y[k] = k < 2 ? y : -y;
    polygon->dx[k] = polygon->dy[k] = 0.0;
  }
  hard_disks_polygon_measure(polygon);
}

GPUMC_HOST_DEVICE static inline void hard_disks_polygon_begin(struct hard_disks_polygon *polygon)
{
  hard_disks_polygon_frame(polygon, HARD_DISKS_FRAME, HARD_DISKS_FRAME);
  polygon->far2 = HARD_DISKS_FAR * HARD_DISKS_FAR;
}

/* Writes the vector to the disk's own image beyond side k of the box, 0 to 3: up, left, down,
 * right. */
GPUMC_HOST_DEVICE static inline void
hard_disks_own_image(const double length[2], int32_t k, double *dx, double *dy)
{
  *dx = k == 1 ? -length[0] : k == 3 ? length[0] : 0.0;
  *dy = k == 0 ? length[1] : k == 2 ? -length[1] : 0.0;
}

/* Begins with a box of those sides. */
GPUMC_HOST_DEVICE static inline void
hard_disks_polygon_begin_box(struct hard_disks_polygon *polygon, const double length[2])
{
  hard_disks_polygon_frame(polygon, 0.5 * length[0], 0.5 * length[1]);
  polygon->far2 = (double)INFINITY;
  for (int32_t k = 0; k < 4; k++)
    hard_disks_own_image(length, k, &polygon->dx[k], &polygon->dy[k]);
}

/* Returns whether the cell is right, once all disks below HARD_DISKS_FAR were passed. */
GPUMC_HOST_DEVICE static inline bool
hard_disks_polygon_is_whole(const struct hard_disks_polygon *polygon)
{
  return polygon->reach2 < polygon->far2 && !polygon->full;
}

/* Returns the squared distance that disks have at least in a cell that is (u, v) away, of these
 * widths. */
GPUMC_HOST_DEVICE static inline double
hard_disks_gap2(int32_t u, int32_t v, double width_x, double width_y)
{
  const double x = u == 0 ? 0.0 : (u < 0 ? -u - 1 : u - 1) * width_x,
               y = v == 0 ? 0.0 : (v < 0 ? -v - 1 : v - 1) * width_y;
  return x * x + y * y;
}

/* Moves the corners from `from` on by so many places, so that there are that many more or fewer. */
GPUMC_HOST_DEVICE static inline void
hard_disks_polygon_move(struct hard_disks_polygon *polygon, int32_t from, int32_t by)
{
  const int32_t count = polygon->edges - from;
  for (int32_t i = 0; i < count && by != 0; i++) {
    const int32_t k = by < 0 ? from + i : from + count - 1 - i;
    polygon->x[k + by] = polygon->x[k];
    polygon->y[k + by] = polygon->y[k];
    polygon->dx[k + by] = polygon->dx[k];
    polygon->dy[k + by] = polygon->dy[k];
  }
  polygon->edges += by;
}

/* Cuts off the part nearer to a disk at (dx, dy). The bisector crosses edge `out` at P and edge
 * `in` at Q, and the corners
 *
 *   0 .. out | out+1 .. in | in+1 ..        or        0 .. in | in+1 .. out | out+1 ..
 *             cut off                                cut off                 cut off
 *
 * become 0 .. out P Q in+1 .., or Q in+1 .. out P. In place, since on a GPU they are in local
 * memory. Where rounding makes more than one range of them, as of corners on the bisector, the last
 * crossings count. */
GPUMC_HOST_DEVICE static inline void
hard_disks_polygon_cut(struct hard_disks_polygon *polygon, double dx, double dy)
{
  double beyond[HARD_DISKS_EDGES];
  const double square = dx * dx + dy * dy;
  const int32_t edges = polygon->edges;
  if (square >= polygon->reach2 || square >= polygon->far2)
    return;
  int32_t out = -1, in = -1;
  for (int32_t k = 0; k < edges; k++) {
    beyond[k] = polygon->x[k] * dx + polygon->y[k] * dy - 0.5 * square;
    if (k > 0 && beyond[k - 1] <= 0.0 && beyond[k] > 0.0)
      out = k - 1;
    if (k > 0 && beyond[k - 1] > 0.0 && beyond[k] <= 0.0)
      in = k - 1;
  }
  if (out < 0 && in < 0)
    return; /* all corners remain, or rounding has left none */
  out = out < 0 ? edges - 1 : out;
  in = in < 0 ? edges - 1 : in;
  if (edges == HARD_DISKS_EDGES && (in - out + edges) % edges == 1) {
    polygon->full = true;
    return;
  }
  double x[2], y[2];
  const double neighbour[2] = {polygon->dx[in], polygon->dy[in]};
  for (int i = 0; i < 2; i++) {
    const int32_t k = i == 0 ? out : in, next = k + 1 < edges ? k + 1 : 0;
    const double share = beyond[k] / (beyond[k] - beyond[next]);
    x[i] = polygon->x[k] + share * (polygon->x[next] - polygon->x[k]);
    y[i] = polygon->y[k] + share * (polygon->y[next] - polygon->y[k]);
  }
  int32_t p = out + 1, q = out + 2;
  if (out < in) {
    hard_disks_polygon_move(polygon, in + 1, q - in);
  } else {
    polygon->edges = out + 1;
    hard_disks_polygon_move(polygon, in + 1, -in);
    p = polygon->edges++;
    q = 0;
  }
  polygon->x[p] = x[0];
  polygon->y[p] = y[0];
  polygon->dx[p] = dx;
  polygon->dy[p] = dy;
  polygon->x[q] = x[1];
  polygon->y[q] = y[1];
  polygon->dx[q] = neighbour[0];
  polygon->dy[q] = neighbour[1];
  hard_disks_polygon_measure(polygon);
}

/* ---- sides ---- */

GPUMC_HOST_DEVICE static inline struct hard_disks_side hard_disks_side_to(double dx, double dy)
{
  const struct hard_disks_side side = {dx, dy, -(double)INFINITY, (double)INFINITY};
  return side;
}

/* Cuts off the part nearer to another disk at (dx, dy), or to the same one, which cuts nothing. */
GPUMC_HOST_DEVICE static inline void
hard_disks_side_cut(struct hard_disks_side *side, double dx, double dy)
{
  const double turned = side->dx * dy - side->dy * dx,
               room = 0.5 * (dx * (dx - side->dx) + dy * (dy - side->dy));
  if (turned > 0.0)
    side->most = fmin(side->most, room / turned);
  else if (turned < 0.0)
    side->least = fmax(side->least, room / turned);
  else if (room < 0.0)
    side->most = -(double)INFINITY;
}

/* ---- psi_6 ---- */

/* exp(6 i theta) = ((dx + i dy) / r)^6. */
GPUMC_HOST_DEVICE static inline void
hard_disks_directions_add(struct hard_disks_directions *directions, double dx, double dy)
{
  const double r2 = dx * dx + dy * dy;
  /* (dx + i dy)^2, ^3, ^6 */
  const double a2 = dx * dx - dy * dy, b2 = 2.0 * dx * dy;
  const double a3 = a2 * dx - b2 * dy, b3 = a2 * dy + b2 * dx;
  const double r6 = r2 * r2 * r2;
  directions->real += (a3 * a3 - b3 * b3) / r6;
  directions->imaginary += 2.0 * a3 * b3 / r6;
  directions->neighbours++;
}

GPUMC_HOST_DEVICE static inline void
hard_disks_directions_add_side(struct hard_disks_directions *directions,
                               const struct hard_disks_side *side)
{
  if (side->least < side->most)
    hard_disks_directions_add(directions, side->dx, side->dy);
}

GPUMC_HOST_DEVICE static inline void
hard_disks_directions_add_edges(struct hard_disks_directions *directions,
                                const struct hard_disks_polygon *polygon)
{
  for (int32_t k = 0; k < polygon->edges; k++)
    if (polygon->dx[k] * polygon->dx[k] + polygon->dy[k] * polygon->dy[k] != 0.0)
      hard_disks_directions_add(directions, polygon->dx[k], polygon->dy[k]);
}

/* Returns, in units of 2^-HARD_DISKS_ORDER_BITS, real and imaginary part, and length. */
GPUMC_HOST_DEVICE static inline void
hard_disks_directions_psi6(const struct hard_disks_directions *directions, int64_t psi6[2],
                           int64_t *length)
{
  const double unit = (double)((int64_t)1 << HARD_DISKS_ORDER_BITS);
  const double real = directions->real / directions->neighbours,
               imaginary = directions->imaginary / directions->neighbours;
  psi6[0] = (int64_t)rint(real * unit);
  psi6[1] = (int64_t)rint(imaginary * unit);
  *length = (int64_t)rint(sqrt(real * real + imaginary * imaginary) * unit);
}

#endif
