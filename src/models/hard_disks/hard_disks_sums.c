/* The channels of a replica of hard disks in host memory: sums over its disks and the cells around
 * each. */
#include <math.h>
#include <stdlib.h>

#include "models/hard_disks/hard_disks.h"

/* A replica in its box, and the current disk, in cell (a, b). */
struct view {
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
  int64_t contact;
  double least;
};

static void see_near(void *with, double dx, double dy)
{
  struct near *near = with;
  const double square = dx * dx + dy * dy;
  if (square >= HARD_DISKS_NEAR)
    return;
  const uint32_t bin = hard_disks_contact_bin(square);
  near->contact += bin < HARD_DISKS_BINS ? near->parameters->contact_weight[bin] : 0;
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
  const uint32_t bin = hard_disks_scaling_bin(near.least);
  sums->contact2 += near.contact;
  sums->scaling += bin < HARD_DISKS_BINS ? view->parameters->scaling_weight[bin] : 0;
}

static void see_neighbour(void *with, double dx, double dy)
{
  hard_disks_polygon_cut(with, dx, dy);
}

static void find_order(const struct view *view, int64_t psi6[2], int64_t *length)
{
  struct hard_disks_polygon polygon;
  hard_disks_polygon_begin(&polygon);
  visit_cell(view, 0, 0, see_neighbour, &polygon);
  for (int ring = 1; ring <= HARD_DISKS_RINGS; ring++)
    visit_ring(view, ring, see_neighbour, &polygon);
  hard_disks_polygon_psi6(&polygon, psi6, length);
}

void hard_disks_find_order(const struct hard_disks_parameters *parameters,
                           const struct hard_disks_replica *replica, size_t a, size_t b,
                           size_t place, int64_t psi6[2])
{
  const struct view view = {parameters, replica, hard_disks_box_of(replica), a, b, place};
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

enum gpumc_status hard_disks_measure_numbers(const struct gpumc_model *model,
                                             const struct hard_disks_replica *replica,
                                             int64_t *const *channel, size_t at,
                                             struct gpumc_error *error)
{
  const struct hard_disks_units units = hard_disks_units_of(model);
  struct view view = {.parameters = hard_disks_parameters(model),
                      .replica = replica,
                      .box = hard_disks_box_of(replica)};
  struct hard_disks_sums sums = {0};
  const bool pressed = channel[HARD_DISKS_SCALING] != NULL || channel[HARD_DISKS_CONTACT] != NULL;
  bool ordered = false;
  for (size_t c = HARD_DISKS_PSI6_REAL; c < HARD_DISKS_NUMBERS; c++)
    ordered = ordered || channel[c] != NULL;
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
  if (sums.disks != model->sites)
    return hard_disks_lost(model, sums.disks, error);
  hard_disks_record(&units, replica->grid, replica->head, &sums, channel, at);
  return GPUMC_OK;
}

enum gpumc_status
hard_disks_lost(const struct gpumc_model *model, uint64_t found, struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_FAILURE,
                         "a replica has %llu disks, but should have %zu: this is a bug in gpumc, "
                         "and the run cannot continue",
                         (unsigned long long)found, model->sites);
}
