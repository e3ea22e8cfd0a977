/* The bond-orientational order of a disk, for both compilers:
 *
 *   psi_6 = (1/n) sum over its n neighbours of exp(6 i theta), theta the direction of the
 * neighbour.
 *
 * Neighbours are those of the Voronoi construction: the cell of a disk is cut out of a square of
 * half-side HARD_DISKS_FRAME by the bisectors between it and the disks around, and the neighbours
 * are those whose edges remain. Disks at HARD_DISKS_FAR and beyond do not count. Plain double
 * arithmetic, in the order in which disks are passed, so that every device has the same bits:
 *
 *   hard_disks_polygon_begin(&polygon);
 *   for disks around, nearer cells first: hard_disks_polygon_cut(&polygon, dx, dy);
 *   hard_disks_polygon_psi6(&polygon, psi6, &length);
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
 * beyond it cut nothing off. */
struct hard_disks_polygon {
  int32_t edges;
  double x[HARD_DISKS_EDGES], y[HARD_DISKS_EDGES], dx[HARD_DISKS_EDGES], dy[HARD_DISKS_EDGES];
  double reach2;
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

GPUMC_HOST_DEVICE static inline void hard_disks_polygon_begin(struct hard_disks_polygon *polygon)
{
  polygon->edges = 4;
  for (int32_t k = 0; k < 4; k++) {
    polygon->x[k] = k == 0 || k == 3 ? HARD_DISKS_FRAME : -HARD_DISKS_FRAME;
    polygon->y[k] = k < 2 ? HARD_DISKS_FRAME : -HARD_DISKS_FRAME;
    polygon->dx[k] = polygon->dy[k] = 0.0;
  }
  hard_disks_polygon_measure(polygon);
}

/* Cuts off the part nearer to a disk at (dx, dy). */
GPUMC_HOST_DEVICE static inline void
hard_disks_polygon_cut(struct hard_disks_polygon *polygon, double dx, double dy)
{
  struct hard_disks_polygon cut;
  double beyond[HARD_DISKS_EDGES];
  const double square = dx * dx + dy * dy;
  const int32_t edges = polygon->edges;
  bool any = false;
  if (square >= polygon->reach2 || square >= HARD_DISKS_FAR * HARD_DISKS_FAR)
    return;
  for (int32_t k = 0; k < edges; k++) {
    beyond[k] = polygon->x[k] * dx + polygon->y[k] * dy - 0.5 * square;
    any = any || beyond[k] > 0.0;
  }
  if (!any)
    return;
  cut.edges = 0;
  for (int32_t k = 0; k < edges; k++) {
    const int32_t next = k + 1 < edges ? k + 1 : 0;
    const bool leaves = beyond[k] <= 0.0 && beyond[next] > 0.0,
               returns = beyond[k] > 0.0 && beyond[next] <= 0.0;
    /* Up to two corners for each edge. No disk has as many neighbours as there is room for. */
    if (cut.edges + 2 > HARD_DISKS_EDGES)
      return;
    if (beyond[k] <= 0.0) {
      cut.x[cut.edges] = polygon->x[k];
      cut.y[cut.edges] = polygon->y[k];
      cut.dx[cut.edges] = polygon->dx[k];
      cut.dy[cut.edges++] = polygon->dy[k];
    }
    if (leaves || returns) {
      const double share = beyond[k] / (beyond[k] - beyond[next]);
      cut.x[cut.edges] = polygon->x[k] + share * (polygon->x[next] - polygon->x[k]);
      cut.y[cut.edges] = polygon->y[k] + share * (polygon->y[next] - polygon->y[k]);
      cut.dx[cut.edges] = leaves ? dx : polygon->dx[k];
      cut.dy[cut.edges++] = leaves ? dy : polygon->dy[k];
    }
  }
  if (cut.edges < 3)
    return;
  hard_disks_polygon_measure(&cut);
  *polygon = cut;
}

/* Returns, in units of 2^-HARD_DISKS_ORDER_BITS, real and imaginary part, and length. exp(6 i
 * theta) = ((dx + i dy) / r)^6; 0 for a disk without neighbours. */
GPUMC_HOST_DEVICE static inline void
hard_disks_polygon_psi6(const struct hard_disks_polygon *polygon, int64_t psi6[2], int64_t *length)
{
  const double unit = (double)((int64_t)1 << HARD_DISKS_ORDER_BITS);
  double real = 0.0, imaginary = 0.0;
  int32_t neighbours = 0;
  for (int32_t k = 0; k < polygon->edges; k++) {
    const double dx = polygon->dx[k], dy = polygon->dy[k], r2 = dx * dx + dy * dy;
    if (r2 == 0.0)
      continue;
    /* (dx + i dy)^2, ^3, ^6 */
    const double a2 = dx * dx - dy * dy, b2 = 2.0 * dx * dy;
    const double a3 = a2 * dx - b2 * dy, b3 = a2 * dy + b2 * dx;
    const double r6 = r2 * r2 * r2;
    real += (a3 * a3 - b3 * b3) / r6;
    imaginary += 2.0 * a3 * b3 / r6;
    neighbours++;
  }
  if (neighbours > 0) {
    real /= neighbours;
    imaginary /= neighbours;
  }
  psi6[0] = (int64_t)rint(real * unit);
  psi6[1] = (int64_t)rint(imaginary * unit);
  *length = (int64_t)rint(sqrt(real * real + imaginary * imaginary) * unit);
}

#endif
