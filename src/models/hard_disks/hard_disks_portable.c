/* Converts replicas of hard disks between cells and portable form. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "models/hard_disks/hard_disks.h"

/* Returns the quanta of a length that is a whole number of them. */
static int64_t quanta(double length)
{
  return (int64_t)(length * (double)HARD_DISKS_UNIT);
}

static double length_of(int64_t quanta)
{
  return (double)quanta / (double)HARD_DISKS_UNIT;
}

/* One axis of a box: the width of a cell and the side, in quanta. */
struct axis {
  int64_t width, side;
};

static void axes_of(const struct hard_disks_replica *replica, struct axis axis[2])
{
  const uint32_t cells[2] = {replica->grid->cells_x, replica->grid->cells_y};
  for (int d = 0; d < 2; d++) {
    const float width = replica->head->width[d];
    axis[d] = (struct axis){quanta((double)width), hard_disks_side(cells[d], width)};
  }
}

double hard_disks_in_box(double x, double length)
{
  const double quanta = rint(x * (double)HARD_DISKS_UNIT) / (double)HARD_DISKS_UNIT;
  const double inside = quanta - length * floor(quanta / length);
  return inside < length ? inside : inside - length;
}

struct hard_disks_layout hard_disks_plain_layout(const struct hard_disks_box *box)
{
  const size_t cells = (size_t)box->cells_x * box->cells_y;
  return (struct hard_disks_layout){.count = HARD_DISKS_SLOTS * cells,
                                    .slot = cells,
                                    .row = box->cells_x,
                                    .parity = 1,
                                    .column = 2};
}

static double take(const uint8_t *portable, size_t i)
{
  double value;
  memcpy(&value, portable + i * sizeof value, sizeof value);
  return value;
}

void hard_disks_get(const struct hard_disks_replica *replica, uint8_t *portable)
{
  const struct hard_disks_box *box = replica->grid;
  const struct hard_disks_head *head = replica->head;
  struct axis axis[2];
  size_t n = HARD_DISKS_PORTABLE_HEAD;
  axes_of(replica, axis);
  for (size_t d = 0; d < 2; d++) {
    hard_disks_put(portable, d, length_of(axis[d].side));
    hard_disks_put(portable, HARD_DISKS_PORTABLE_CORNER + d, length_of(head->offset[d]));
  }
  hard_disks_put(portable, HARD_DISKS_PORTABLE_CORNER,
                 hard_disks_corner(head->offset[0], head->last_move));
  for (size_t b = 0; b < box->cells_y; b++)
    for (size_t a = 0; a < box->cells_x; a++)
      for (size_t s = 0; s < HARD_DISKS_SLOTS; s++) {
        const size_t place = hard_disks_place(replica->layout, s, a, b);
        if (replica->x[place] < 0.0f)
          break;
        assert(n < HARD_DISKS_PORTABLE_HEAD + 2 * (size_t)box->particles);
        hard_disks_put(portable, n++,
                       length_of(hard_disks_at((uint32_t)a, replica->x[place], head->width[0],
                                               head->offset[0], axis[0].side)));
        hard_disks_put(portable, n++,
                       length_of(hard_disks_at((uint32_t)b, replica->y[place], head->width[1],
                                               head->offset[1], axis[1].side)));
      }
}

static void clear(const struct hard_disks_replica *replica)
{
  for (size_t i = 0; i < replica->layout->count; i++)
    replica->x[i] = replica->y[i] = HARD_DISKS_NOWHERE;
}

/* Returns whether `value` is a whole number of quanta from 0 to below the side, and which. */
static bool is_inside(const struct axis *axis, double value, int64_t *at)
{
  if (!(value >= 0.0 && value < length_of(axis->side)))
    return false;
  *at = quanta(value);
  return length_of(*at) == value;
}

/* Returns the cell, and the coordinate in it, of a place in the box. */
static size_t cell_of(const struct axis *axis, int64_t at, int64_t offset, float *x)
{
  const int64_t from_corner = (at - offset + axis->side) % axis->side;
  *x = (float)length_of(from_corner % axis->width);
  return (size_t)(from_corner / axis->width);
}

static enum gpumc_status insert(const struct axis axis[2], const int64_t at[2],
                                const struct hard_disks_replica *replica, struct gpumc_error *error)
{
  float x, y;
  const size_t a = cell_of(&axis[0], at[0], replica->head->offset[0], &x);
  const size_t b = cell_of(&axis[1], at[1], replica->head->offset[1], &y);
  for (size_t s = 0; s < HARD_DISKS_SLOTS; s++) {
    const size_t place = hard_disks_place(replica->layout, s, a, b);
    if (replica->x[place] < 0.0f) {
      replica->x[place] = x;
      replica->y[place] = y;
      return GPUMC_OK;
    }
  }
  return gpumc_error_set(error, GPUMC_FAILURE,
                         "a replica of hard disks has more than %d disks in one cell: they overlap",
                         HARD_DISKS_SLOTS);
}

static enum gpumc_status wrong(struct gpumc_error *error, const char *what)
{
  return gpumc_error_set(error, GPUMC_FAILURE, "a replica of hard disks has %s", what);
}

/* Reads the box of a portable form into the head; returns whether it is one of the grid's. */
static bool
take_box(const struct hard_disks_grid *grid, const uint8_t *portable, struct hard_disks_head *head)
{
  const double side[2] = {take(portable, 0), take(portable, 1)};
  const uint32_t cells[2] = {grid->box.cells_x, grid->box.cells_y};
  for (size_t d = 0; d < 2; d++) {
    if (!(side[d] >= cells[d] && side[d] < 2.0 * cells[d]))
      return false;
    head->width[d] = (float)length_of(quanta(side[d]) / cells[d]);
    if (side[d] != length_of(hard_disks_side(cells[d], head->width[d])))
      return false;
  }
  const uint32_t width = (uint32_t)quanta((double)head->width[0]);
  return width >= grid->least && width <= grid->most &&
         hard_disks_height(&grid->box, width) == (uint32_t)quanta((double)head->width[1]);
}

/* Reads the offsets, and the end of the last volume move, into the head; returns whether they are
 * valid. */
static bool
take_corner(const struct axis axis[2], const uint8_t *portable, struct hard_disks_head *head)
{
  const double x = take(portable, HARD_DISKS_PORTABLE_CORNER);
  if (!(x >= 0.0 && x < length_of(axis[0].side)))
    return false;
  const double whole = floor(x * (double)HARD_DISKS_UNIT) / (double)HARD_DISKS_UNIT;
  head->last_move = (uint32_t)(4.0 * (double)HARD_DISKS_UNIT * (x - whole));
  return is_inside(&axis[0], whole, &head->offset[0]) &&
         hard_disks_corner(head->offset[0], head->last_move) == x &&
         is_inside(&axis[1], take(portable, HARD_DISKS_PORTABLE_CORNER + 1), &head->offset[1]);
}

enum gpumc_status hard_disks_set(const struct hard_disks_grid *grid, const uint8_t *portable,
                                 const struct hard_disks_replica *replica,
                                 struct gpumc_error *error)
{
  struct axis axis[2];
  clear(replica);
  replica->head->overlap = 0;
  if (!take_box(grid, portable, replica->head))
    return wrong(error, "a box that is not the model's");
  axes_of(replica, axis);
  if (!take_corner(axis, portable, replica->head))
    return wrong(error, "an impossible offset of the grid");
  for (size_t i = 0; i < grid->box.particles; i++) {
    int64_t at[2];
    for (size_t d = 0; d < 2; d++)
      if (!is_inside(&axis[d], take(portable, HARD_DISKS_PORTABLE_HEAD + 2 * i + d), &at[d]))
        return wrong(error, "a position outside the box");
    GPUMC_TRY(insert(axis, at, replica, error));
  }
  return GPUMC_OK;
}
