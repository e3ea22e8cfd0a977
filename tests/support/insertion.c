#include "support/insertion.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>

/* Disks cell by cell, row by row: the disks of cell c are at x[begin[c]] to x[begin[c + 1] - 1].
 * Cells are at least a diameter wide; a border one cell wide all around holds periodic images. */
struct grid {
  size_t n[2], *begin;
  double width[2], *x, *y;
};

static size_t column_of(const struct grid *grid, size_t d, double x)
{
  const size_t cell = (size_t)(x / grid->width[d]);
  return 1 + (cell < grid->n[d] ? cell : grid->n[d] - 1);
}

static size_t cell_of(const struct grid *grid, double x, double y)
{
  return column_of(grid, 1, y) * (grid->n[0] + 2) + column_of(grid, 0, x);
}

/* Returns whether column `c`, from 1 to n, has an image `shift` = -1, 0 or 1 box away, and which
 * column it is. */
static int image_of(size_t c, size_t n, int shift, size_t *image)
{
  *image = shift == 0 ? c : shift < 0 ? c - n : c + n;
  return shift == 0 || (shift < 0 ? c == n : c == 1);
}

/* Counts the images of all disks by cell, or puts them in place. */
static void spread(const struct grid *grid, const double length[2], size_t disks,
                   const double *place, size_t *next)
{
  for (size_t i = 0; i < disks; i++) {
    const size_t a = column_of(grid, 0, place[2 * i]), b = column_of(grid, 1, place[2 * i + 1]);
    for (int v = -1; v <= 1; v++)
      for (int u = -1; u <= 1; u++) {
        size_t column, row;
        if (!image_of(a, grid->n[0], u, &column) || !image_of(b, grid->n[1], v, &row))
          continue;
        const size_t at = next[row * (grid->n[0] + 2) + column]++;
        if (grid->x == NULL)
          continue;
        grid->x[at] = place[2 * i] + u * length[0];
        grid->y[at] = place[2 * i + 1] + v * length[1];
      }
  }
}

static void grid_create(const double length[2], size_t disks, const double *place, double diameter,
                        struct grid *grid)
{
  *grid = (struct grid){0};
  for (size_t d = 0; d < 2; d++) {
    grid->n[d] = (size_t)(length[d] / diameter);
    grid->width[d] = length[d] / (double)grid->n[d];
  }
  const size_t cells = (grid->n[0] + 2) * (grid->n[1] + 2);
  size_t *next = calloc(cells + 1, sizeof *next);
  grid->begin = calloc(cells + 1, sizeof *grid->begin);
  assert_non_null(next);
  assert_non_null(grid->begin);
  spread(grid, length, disks, place, next);
  for (size_t c = 0, before = 0; c <= cells; c++) {
    grid->begin[c] = before;
    before += next[c];
    next[c] = grid->begin[c];
  }
  grid->x = calloc(grid->begin[cells] + 1, sizeof(double));
  grid->y = calloc(grid->begin[cells] + 1, sizeof(double));
  assert_non_null(grid->x);
  assert_non_null(grid->y);
  spread(grid, length, disks, place, next);
  free(next);
}

static void grid_free(struct grid *grid)
{
  free(grid->begin);
  free(grid->x);
  free(grid->y);
}

/* Returns whether a disk at (x, y) in the box has room. */
static int is_free(const struct grid *grid, double x, double y, double diameter2)
{
  const size_t columns = grid->n[0] + 2, cell = cell_of(grid, x, y);
  for (size_t row = cell - columns; row <= cell + columns; row += columns)
    for (size_t j = grid->begin[row - 1]; j < grid->begin[row + 2]; j++) {
      const double dx = grid->x[j] - x, dy = grid->y[j] - y;
      if (dx * dx + dy * dy < diameter2)
        return 0;
    }
  return 1;
}

/* Returns 0 <= u < 1, from splitmix64. */
static double uniform(uint64_t *state)
{
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double in_box(double x, double length)
{
  const double inside = x - length * floor(x / length);
  return inside < length ? inside : 0.0;
}

static double area(const struct grid *grid, const double length[2], double diameter2,
                   double spacing, uint64_t *state)
{
  const size_t n[2] = {(size_t)ceil(length[0] / spacing), (size_t)ceil(length[1] / spacing)};
  size_t found = 0;
  for (size_t b = 0; b < n[1]; b++)
    for (size_t a = 0; a < n[0]; a++) {
      const double x = ((double)a + uniform(state)) / (double)n[0] * length[0],
                   y = ((double)b + uniform(state)) / (double)n[1] * length[1];
      found += (size_t)is_free(grid, in_box(x, length[0]), in_box(y, length[1]), diameter2);
    }
  return (double)found / ((double)n[0] * (double)n[1]) * length[0] * length[1];
}

/* A disk's trials are evenly spread over its circle. Rounding never makes one overlap its own
 * disk. */
static double border(const struct grid *grid, const double length[2], size_t disks,
                     const double *place, double diameter, int contacts, uint64_t *state)
{
  const double apart = diameter * (1.0 + 1e-10), step = 2.0 * M_PI / contacts;
  size_t found = 0;
  for (size_t i = 0; i < disks; i++) {
    const double first = step * uniform(state);
    for (int k = 0; k < contacts; k++) {
      const double x = place[2 * i] + apart * cos(first + k * step),
                   y = place[2 * i + 1] + apart * sin(first + k * step);
      found +=
          (size_t)is_free(grid, in_box(x, length[0]), in_box(y, length[1]), diameter * diameter);
    }
  }
  return (double)found * step * diameter;
}

struct insertion insertion_of(const double length[2], size_t disks, const double *place,
                              double diameter, double spacing, int contacts, uint64_t seed)
{
  struct grid grid;
  struct insertion found;
  uint64_t state = seed * 0xd1342543de82ef95u;
  grid_create(length, disks, place, diameter, &grid);
  found.area = area(&grid, length, diameter * diameter, spacing, &state);
  found.border = border(&grid, length, disks, place, diameter, contacts, &state);
  grid_free(&grid);
  return found;
}
