/* The channels of a replica of hard disks in host memory: sums over its disks and the cells around
 * each. */
#include <math.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "models/hard_disks/hard_disks.h"

/* Numbers of disks in the first cells of every row, and of every column: of row b in the columns
 * before a at row[b (m_x + 1) + a]. */
struct occupied {
  uint32_t *row, *column;
};

/* A replica in its box, and the current disk, in cell (a, b). occupied: NULL if it is not known. */
struct view {
  const struct occupied *occupied;
  const struct hard_disks_parameters *parameters;
  const struct hard_disks_replica *replica;
  struct hard_disks_box box;
  size_t a, b, place;
};

/* Calls `see_disk` with the difference to each disk of the cell that is (u, v) away from the disk's
 * own. */
typedef void (*see)(void *with, double dx, double dy);

static void visit_cell(const struct view *view, int u, int v, see see_disk, void *with)
{
  const struct hard_disks_box *box = &view->box;
  const struct hard_disks_replica *replica = view->replica;
  const size_t a = hard_disks_around(view->a, u, box->cells_x),
               b = hard_disks_around(view->b, v, box->cells_y);
  for (size_t s = 0; s < HARD_DISKS_SLOTS; s++) {
    const size_t place = hard_disks_place(replica->layout, s, a, b);
    if (replica->x[place] < 0.0f)
      break;
    if (place == view->place && u == 0 && v == 0)
      continue;
    see_disk(with,
             (double)replica->x[place] - (double)replica->x[view->place] + u * (double)box->width_x,
             (double)replica->y[place] - (double)replica->y[view->place] +
                 v * (double)box->width_y);
  }
}

/* Visits the cells of a ring: max(|u|, |v|) = ring, row by row. */
static void visit_ring(const struct view *view, int ring, see see_disk, void *with)
{
  for (int v = -ring; v <= ring; v++)
    for (int u = -ring; u <= ring; u += abs(v) == ring ? 1 : 2 * ring)
      visit_cell(view, u, v, see_disk, with);
}

struct near {
  const struct hard_disks_parameters *parameters;
  int64_t contact[HARD_DISKS_CONTACT_LEVELS];
  double least;
};

static void see_near(void *with, double dx, double dy)
{
  struct near *near = with;
  const double square = dx * dx + dy * dy;
  if (square >= HARD_DISKS_NEAR)
    return;
  hard_disks_add_levels(hard_disks_gap(square), near->parameters->contact_weight[0],
                        HARD_DISKS_CONTACT_LEVELS, near->contact, 1);
  near->least = square < near->least ? square : near->least;
}

static void add_pressure(const struct view *view, struct hard_disks_sums *sums)
{
  struct near near = {.parameters = view->parameters, .least = HARD_DISKS_NEAR};
  const struct hard_disks_box *box = &view->box;
  const int u = hard_disks_beyond((double)view->replica->x[view->place], (double)box->width_x);
  const int v = hard_disks_beyond((double)view->replica->y[view->place], (double)box->width_y);
  visit_cell(view, 0, 0, see_near, &near);
  visit_ring(view, 1, see_near, &near);
  for (int step = -1; step <= 1; step++) {
    if (u != 0)
      visit_cell(view, u, step, see_near, &near);
    if (v != 0)
      visit_cell(view, step, v, see_near, &near);
  }
  for (int k = 0; k < HARD_DISKS_CONTACT_LEVELS; k++)
    sums->contact2[k] += near.contact[k];
  hard_disks_add_levels(hard_disks_scaling(near.least), view->parameters->scaling_weight[0],
                        HARD_DISKS_SCALING_LEVELS, sums->scaling, 1);
}

/* ---- bond order ---- */

static void see_neighbour(void *with, double dx, double dy)
{
  hard_disks_polygon_cut(with, dx, dy);
}

/* Returns the column or row that is `steps` steps, no more than a box, from another. */
static size_t within_a_box(size_t cell, int steps, uint32_t cells)
{
  const int64_t at = (int64_t)cell + steps, all = (int64_t)cells;
  return (size_t)(at < 0 ? at + all : at >= all ? at - all : at);
}

/* As visit_cell, in the periodic plane, up to a box away, without images of the disk itself. */
static void visit_image(const struct view *view, int u, int v, see see_disk, void *with)
{
  const struct hard_disks_box *box = &view->box;
  const struct hard_disks_replica *replica = view->replica;
  const size_t a = within_a_box(view->a, u, box->cells_x),
               b = within_a_box(view->b, v, box->cells_y);
  for (size_t s = 0; s < HARD_DISKS_SLOTS; s++) {
    const size_t place = hard_disks_place(replica->layout, s, a, b);
    if (replica->x[place] < 0.0f)
      break;
    if (place != view->place)
      see_disk(
          with,
          (double)replica->x[place] - (double)replica->x[view->place] + u * (double)box->width_x,
          (double)replica->y[place] - (double)replica->y[view->place] + v * (double)box->width_y);
  }
}

/* Returns the number of disks in `steps` cells on either side of one of a periodic row or column,
 * and in itself; before: its entries of struct occupied. */
static uint32_t disks_around(const uint32_t *before, size_t cell, int steps, uint32_t cells)
{
  if (2 * (int64_t)steps + 1 >= (int64_t)cells)
    return before[cells];
  const size_t first = within_a_box(cell, -steps, cells), last = within_a_box(cell, steps, cells);
  return before[last + 1] - before[first] + (last < first ? before[cells] : 0);
}

/* Returns whether no disk is in the row that is v away, `steps` columns on either side; false if
 * that is not known. */
static bool is_empty_row(const struct view *view, int v, int steps)
{
  const uint32_t cells = view->box.cells_x;
  return view->occupied != NULL &&
         disks_around(view->occupied->row +
                          within_a_box(view->b, v, view->box.cells_y) * ((size_t)cells + 1),
                      view->a, steps, cells) == 0;
}

static bool is_empty_column(const struct view *view, int u, int steps)
{
  const uint32_t cells = view->box.cells_y;
  return view->occupied != NULL &&
         disks_around(view->occupied->column +
                          within_a_box(view->a, u, view->box.cells_x) * ((size_t)cells + 1),
                      view->b, steps, cells) == 0;
}

/* Visits the disks of the periodic plane, ring by ring, as far as a box away, or the squared
 * distance `*reach2`, which may fall meanwhile. */
static void visit_plane(const struct view *view, const double *reach2, see see_disk, void *with)
{
  const struct hard_disks_box *box = &view->box;
  const double x = (double)box->width_x, y = (double)box->width_y, least = fmin(x, y);
  const int columns = (int)box->cells_x, rows = (int)box->cells_y;
  for (int ring = 0; ring <= (columns > rows ? columns : rows); ring++) {
    const int top = ring < rows ? ring : rows, right = ring < columns ? ring : columns;
    if (!(hard_disks_gap2(ring, 0, least, least) < *reach2))
      return;
    const bool no_sides =
        ring > columns || (is_empty_column(view, -ring, top) && is_empty_column(view, ring, top));
    for (int v = -top; v <= top; v += no_sides && ring <= rows && ring > 0 ? 2 * ring : 1) {
      const bool whole = abs(v) == ring;
      if (whole ? is_empty_row(view, v, right) : no_sides)
        continue;
      for (int u = -right; u <= right; u += whole ? 1 : 2 * ring)
        if (hard_disks_gap2(u, v, x, y) < *reach2)
          visit_image(view, u, v, see_disk, with);
    }
  }
}

/* The neighbours by sides, of a disk whose cell has too many for a polygon. */
struct sides {
  const struct view *view;
  const double *length;
  double reach2;
  struct hard_disks_directions directions;
};

static void see_other(void *with, double dx, double dy)
{
  hard_disks_side_cut(with, dx, dy);
}

static void see_candidate(void *with, double dx, double dy)
{
  struct sides *sides = with;
  struct hard_disks_side side = hard_disks_side_to(dx, dy);
  for (int32_t k = 0; k < 4; k++) {
    double x, y;
    hard_disks_own_image(sides->length, k, &x, &y);
    hard_disks_side_cut(&side, x, y);
  }
  visit_plane(sides->view, &sides->reach2, see_other, &side);
  hard_disks_directions_add_side(&sides->directions, &side);
}

static struct hard_disks_directions
directions_by_sides(const struct view *view, const double length[2], double reach2)
{
  struct sides sides = {.view = view, .length = length, .reach2 = reach2};
  for (int32_t k = 0; k < 4; k++) {
    double dx, dy;
    hard_disks_own_image(length, k, &dx, &dy);
    see_candidate(&sides, dx, dy);
  }
  visit_plane(view, &sides.reach2, see_candidate, &sides);
  return sides.directions;
}

/* The steps of hard_disks_order.h. */
static void find_order(const struct view *view, int64_t psi6[2], int64_t *length)
{
  const struct hard_disks_box *box = &view->box;
  struct hard_disks_polygon polygon;
  struct hard_disks_directions directions = {0};
  hard_disks_polygon_begin(&polygon);
  visit_cell(view, 0, 0, see_neighbour, &polygon);
  for (int ring = 1; ring <= HARD_DISKS_RINGS; ring++)
    visit_ring(view, ring, see_neighbour, &polygon);
  if (!hard_disks_polygon_is_whole(&polygon)) {
    const double side[2] = {(double)box->width_x * box->cells_x,
                            (double)box->width_y * box->cells_y};
    hard_disks_polygon_begin_box(&polygon, side);
    visit_plane(view, &polygon.reach2, see_neighbour, &polygon);
    if (polygon.full)
      directions = directions_by_sides(view, side, polygon.reach2);
  }
  if (!polygon.full)
    hard_disks_directions_add_edges(&directions, &polygon);
  hard_disks_directions_psi6(&directions, psi6, length);
}

void hard_disks_find_order(const struct hard_disks_parameters *parameters,
                           const struct hard_disks_replica *replica, size_t a, size_t b,
                           size_t place, int64_t psi6[2])
{
  const struct view view = {NULL, parameters, replica, hard_disks_box_of(replica), a, b, place};
  int64_t length;
  find_order(&view, psi6, &length);
}

static void add_order(const struct view *view, struct hard_disks_sums *sums)
{
  const struct hard_disks_box *box = &view->box;
  const struct hard_disks_replica *replica = view->replica;
  const int64_t side[2] = {hard_disks_side(box->cells_x, box->width_x),
                           hard_disks_side(box->cells_y, box->width_y)};
  int64_t psi6[2], length;
  find_order(view, psi6, &length);
  sums->psi6[0] += psi6[0];
  sums->psi6[1] += psi6[1];
  sums->local += length;
  hard_disks_add_wave(psi6,
                      hard_disks_at((uint32_t)view->a, replica->x[view->place], box->width_x,
                                    replica->head->offset[0], side[0]),
                      side[0], sums->wave[0]);
  hard_disks_add_wave(psi6,
                      hard_disks_at((uint32_t)view->b, replica->y[view->place], box->width_y,
                                    replica->head->offset[1], side[1]),
                      side[1], sums->wave[1]);
}

struct hard_disks_units hard_disks_units_of(const struct gpumc_model *model)
{
  struct hard_disks_units units = {.sites = (double)model->sites};
  for (size_t c = 0; c < HARD_DISKS_NUMBERS; c++)
    units.quantum[c] = model->quantum[c];
  return units;
}

static void occupied_free(struct occupied *occupied)
{
  free(occupied->row);
  free(occupied->column);
}

static enum gpumc_status count_occupied(const struct hard_disks_replica *replica,
                                        struct occupied *occupied, struct gpumc_error *error)
{
  const size_t columns = replica->grid->cells_x, rows = replica->grid->cells_y;
  GPUMC_TRY(gpumc_allocate_array(&occupied->row, rows * (columns + 1), "cells of disks", error));
  GPUMC_TRY(gpumc_allocate_array(&occupied->column, columns * (rows + 1), "cells of disks", error));
  for (size_t b = 0; b < rows; b++)
    for (size_t a = 0; a < columns; a++) {
      uint32_t *row = occupied->row + b * (columns + 1) + a,
               *column = occupied->column + a * (rows + 1) + b, disks = 0;
      while (disks < HARD_DISKS_SLOTS &&
             !(replica->x[hard_disks_place(replica->layout, disks, a, b)] < 0.0f))
        disks++;
      row[1] = row[0] + disks;
      column[1] = column[0] + disks;
    }
  return GPUMC_OK;
}

enum gpumc_status hard_disks_measure_numbers(const struct gpumc_model *model,
                                             const struct hard_disks_replica *replica,
                                             int64_t *const *channel, size_t at,
                                             struct gpumc_error *error)
{
  const struct hard_disks_units units = hard_disks_units_of(model);
  struct view view = {.parameters = hard_disks_parameters(model),
                      .replica = replica,
                      .box = hard_disks_box_of(replica)};
  struct occupied occupied = {NULL, NULL};
  struct hard_disks_sums sums = {0};
  enum gpumc_status status = GPUMC_OK;
  bool pressed = false, ordered = false;
  for (int c = 0; c < HARD_DISKS_NUMBERS; c++)
    pressed = pressed || (hard_disks_is_of_pressure(c) && channel[c] != NULL);
  for (size_t c = HARD_DISKS_PSI6_REAL; c < HARD_DISKS_NUMBERS; c++)
    ordered = ordered || channel[c] != NULL;
  if (ordered) {
    view.occupied = &occupied;
    GPUMC_TRY_OUT(status, count_occupied(replica, &occupied, error));
  }
  for (view.b = 0; view.b < view.box.cells_y; view.b++)
    for (view.a = 0; view.a < view.box.cells_x; view.a++)
      for (size_t s = 0; s < HARD_DISKS_SLOTS; s++) {
        view.place = hard_disks_place(replica->layout, s, view.a, view.b);
        if (replica->x[view.place] < 0.0f)
          break;
        sums.disks++;
        if (pressed)
          add_pressure(&view, &sums);
        if (ordered)
          add_order(&view, &sums);
      }
  if (sums.disks == model->sites)
    hard_disks_record(&units, replica->grid, replica->head, &sums, channel, at);
  else
    status = hard_disks_lost(model, sums.disks, error);
out:
  occupied_free(&occupied);
  return status;
}

enum gpumc_status
hard_disks_lost(const struct gpumc_model *model, uint64_t found, struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_FAILURE,
                         "a replica has %llu disks, but should have %zu, and the run cannot "
                         "continue: this is a mistake in gpumc or damage to its memory, not in the "
                         "configuration: please report it",
                         (unsigned long long)found, model->sites);
}
