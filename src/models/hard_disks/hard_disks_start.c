/* States of hard disks to begin with, from counters alone: a triangular lattice, positions of a
 * file, or a random state that is compressed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/numerics/elementary.h"
#include "models/hard_disks/hard_disks.h"

/* Up to here compression takes a short time (docs/kernels/checkerboard.md). */
#define COMPRESSED_MAXIMUM 0.8
/* Disks of a lattice are so far apart at least, so that rounding makes none overlap. */
#define LATTICE_SPACING (1.0 + 0x1p-19)

double hard_disks_in_box(double x, double length)
{
  const double quanta = rint(x * (double)HARD_DISKS_UNIT) / (double)HARD_DISKS_UNIT;
  const double inside = quanta - length * floor(quanta / length);
  return inside < length ? inside : inside - length;
}

/* ---- lattice ---- */

/* The square of the smallest distance in a triangular lattice of that many columns and rows in the
 * box. */
static double spacing2(const double length[2], size_t columns, size_t rows)
{
  const double a = length[0] / (double)columns, h = length[1] / (double)rows;
  return fmin(fmin(a * a, 0.25 * a * a + h * h), 4.0 * h * h);
}

/* Columns and rows, an even number, of at least that many sites with the largest spacing. */
static void find_lattice(const double length[2], size_t particles, size_t lattice[2])
{
  double best = 0.0;
  for (size_t columns = 1; columns <= particles && (double)columns <= length[0]; columns++) {
    const size_t rows = 2 * ((particles + 2 * columns - 1) / (2 * columns));
    const double square = spacing2(length, columns, rows);
    if (square > best) {
      best = square;
      lattice[0] = columns;
      lattice[1] = rows;
    }
  }
}

/* A lattice with more sites than disks has evenly spread vacancies. */
static void start_lattice(const struct hard_disks_parameters *parameters, uint8_t *portable)
{
  const size_t particles = parameters->box.particles, columns = parameters->lattice[0],
               sites = columns * parameters->lattice[1];
  for (size_t i = 0; i < particles; i++) {
    const size_t site = (size_t)(((unsigned __int128)i * sites) / particles);
    const size_t a = site % columns, b = site / columns;
    const double x = ((double)a + 0.25 + 0.5 * (double)(b % 2)) / (double)columns,
                 y = ((double)b + 0.5) / (double)parameters->lattice[1];
    hard_disks_put(portable, HARD_DISKS_PORTABLE_HEAD + 2 * i,
                   hard_disks_in_box(x * parameters->length[0], parameters->length[0]));
    hard_disks_put(portable, HARD_DISKS_PORTABLE_HEAD + 2 * i + 1,
                   hard_disks_in_box(y * parameters->length[1], parameters->length[1]));
  }
}

enum gpumc_status hard_disks_find_start(const struct hard_disks_settings *settings,
                                        struct hard_disks_parameters *parameters,
                                        struct gpumc_error *error)
{
  const size_t particles = parameters->box.particles;
  memcpy(parameters->lattice, settings->lattice, sizeof parameters->lattice);
  if (parameters->start == HARD_DISKS_FILE)
    return GPUMC_OK;
  if (parameters->start == HARD_DISKS_COMPRESSED)
    return parameters->packing_fraction <= COMPRESSED_MAXIMUM
               ? GPUMC_OK
               : gpumc_error_set(error, GPUMC_INVALID,
                                 "compression from a random state does not reach a packing "
                                 "fraction of %.4g, but only %g; use start: lattice",
                                 parameters->packing_fraction, COMPRESSED_MAXIMUM);
  if (settings->particles > 0)
    find_lattice(parameters->length, particles, parameters->lattice);
  if (spacing2(parameters->length, parameters->lattice[0], parameters->lattice[1]) <
      LATTICE_SPACING * LATTICE_SPACING)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "no triangular lattice of %zu disks fits into a box of %.7g x %.7g",
                           particles, parameters->length[0], parameters->length[1]);
  return GPUMC_OK;
}

/* ---- compression ---- */

enum {
  GROWTHS = 100,           /* diameters on the way to 1 */
  SWEEPS_MAXIMUM = 100000, /* of all of them */
  NOBODY = -1,
  /* Disks of so many cells around an overlap are tried for so many sweeps; of one more after each
   * WIDEN sweeps. */
  WOKEN = 2,
  AWAKE = 3,
  WIDEN = 32,
};
/* The packing fraction of random positions that compression begins with, and the largest
 * displacement in diameters. */
#define LOOSE 0.2
#define REACH 0.1

/* Disks in lists of the cells of the box, in an order in which neighbours are near each other in
 * memory. `pair2`: squared diameter. */
struct gas {
  const struct hard_disks_parameters *parameters;
  double width[2];
  int32_t cells[2];
  double *x, *y;
  int32_t *first, *next; /* of a cell, of a disk; NOBODY */
  uint8_t *until;        /* of a cell: its disks are tried for so many more sweeps */
  double pair2, reach;
  int32_t woken; /* cells around an overlap whose disks are tried */
};

static int32_t cell_along(const struct gas *gas, int axis, double x)
{
  const int32_t cell = (int32_t)(x / gas->width[axis]);
  return cell < gas->cells[axis] ? cell : gas->cells[axis] - 1;
}

static int32_t cell_at(const struct gas *gas, double x, double y)
{
  return cell_along(gas, 1, y) * gas->cells[0] + cell_along(gas, 0, x);
}

/* The cell that (a, b), and by how much its image there is shifted. */
static int32_t cell_around(const struct gas *gas, int32_t a, int32_t b, double shift[2])
{
  const double *length = gas->parameters->length;
  const int32_t *cells = gas->cells;
  shift[0] = a < 0 ? -length[0] : a == cells[0] ? length[0] : 0.0;
  shift[1] = b < 0 ? -length[1] : b == cells[1] ? length[1] : 0.0;
  return (b < 0           ? cells[1] - 1
          : b == cells[1] ? 0
                          : b) *
             cells[0] +
         (a < 0           ? cells[0] - 1
          : a == cells[0] ? 0
                          : a);
}

/* Overlaps of disk i at (x, y) as an energy: the sum of (D^2 - r^2)^2, of as many as exceed `most`.
 * `*with`: the last of them. */
static double
energy_at(const struct gas *gas, int32_t i, double x, double y, double most, int32_t *with)
{
  const int32_t a = cell_along(gas, 0, x), b = cell_along(gas, 1, y);
  double energy = 0.0, shift[2];
  for (int32_t v = -1; v <= 1; v++)
    for (int32_t u = -1; u <= 1; u++) {
      const int32_t cell = cell_around(gas, a + u, b + v, shift);
      for (int32_t j = gas->first[cell]; j != NOBODY; j = gas->next[j]) {
        const double dx = gas->x[j] + shift[0] - x, dy = gas->y[j] + shift[1] - y;
        const double depth = gas->pair2 - (dx * dx + dy * dy);
        if (j == i || depth <= 0.0)
          continue;
        energy += depth * depth;
        *with = j;
      }
      if (energy > most)
        return energy;
    }
  return energy;
}

/* A disk that disk i overlaps, or NOBODY. */
static int32_t first_overlap(const struct gas *gas, int32_t i)
{
  int32_t with = NOBODY;
  (void)energy_at(gas, i, gas->x[i], gas->y[i], 0.0, &with);
  return with;
}

static void unlink_disk(struct gas *gas, int32_t cell, int32_t i)
{
  int32_t *link = &gas->first[cell];
  while (*link != i)
    link = &gas->next[*link];
  *link = gas->next[i];
}

static void link_disk(struct gas *gas, int32_t cell, int32_t i)
{
  gas->next[i] = gas->first[cell];
  gas->first[cell] = i;
}

static double displaced(const struct gas *gas, double x, double length, uint32_t word)
{
  return hard_disks_in_box(x + gas->reach * ((double)(int32_t)word * 0x1p-31), length);
}

static int32_t periodic(int32_t cell, int32_t cells)
{
  const int32_t rest = cell % cells;
  return rest < 0 ? rest + cells : rest;
}

/* Disks around an overlap make room for it. */
static void wake(struct gas *gas, int32_t cell)
{
  const int32_t a = cell % gas->cells[0], b = cell / gas->cells[0], woken = gas->woken;
  for (int32_t v = -woken; v <= woken; v++)
    for (int32_t u = -woken; u <= woken; u++)
      gas->until[periodic(b + v, gas->cells[1]) * gas->cells[0] + periodic(a + u, gas->cells[0])] =
          AWAKE;
}

/* One trial of a disk: it moves where it does not overlap more than before. Returns whether it
 * overlaps. */
static bool try_disk(struct gas *gas, int32_t i, const uint32_t word[2])
{
  const double *length = gas->parameters->length;
  int32_t with;
  const double before = energy_at(gas, i, gas->x[i], gas->y[i], (double)INFINITY, &with);
  const double x = displaced(gas, gas->x[i], length[0], word[0]),
               y = displaced(gas, gas->y[i], length[1], word[1]);
  const double after = energy_at(gas, i, x, y, before, &with);
  const int32_t from = cell_at(gas, gas->x[i], gas->y[i]), to = cell_at(gas, x, y);
  if (before > 0.0)
    wake(gas, from);
  if (after > before)
    return before > 0.0;
  gas->x[i] = x;
  gas->y[i] = y;
  if (from != to) {
    unlink_disk(gas, from, i);
    link_disk(gas, to, i);
  }
  return after > 0.0;
}

/* A sweep over the disks of cells that are awake; whether none of them overlaps. */
static bool sweep_awake(struct gas *gas, struct gpumc_random random, uint32_t r, uint32_t sweep)
{
  const int32_t cells = gas->cells[0] * gas->cells[1];
  bool apart = true;
  for (int32_t cell = 0; cell < cells; cell++) {
    if (gas->until[cell] == 0)
      continue;
    gas->until[cell]--;
    for (int32_t i = gas->first[cell], next; i != NOBODY; i = next) {
      uint32_t word[4];
      next = gas->next[i];
      gpumc_random_draw(random, (uint32_t)i, r, sweep,
                        gpumc_random_label(GPUMC_RANDOM_PARTICLES_INITIAL, 1), word);
      apart = !try_disk(gas, i, word) && apart;
    }
  }
  return apart;
}

/* Sweeps until disks of the present diameter do not overlap; `*sweep` counts them. */
static bool separate(struct gas *gas, struct gpumc_random random, uint32_t r, uint32_t *sweep)
{
  memset(gas->until, 1, (size_t)gas->cells[0] * (size_t)gas->cells[1]);
  const uint32_t begin = *sweep;
  for (bool apart = false; !apart; (*sweep)++) {
    if (*sweep == SWEEPS_MAXIMUM)
      return false;
    gas->woken = WOKEN + (int32_t)((*sweep - begin) / WIDEN);
    apart = sweep_awake(gas, random, r, *sweep);
  }
  return true;
}

/* Disks at random places, row of cells by row, so that neighbours are near each other in memory. */
static void scatter(struct gas *gas, struct gpumc_random random, uint32_t r)
{
  const double *length = gas->parameters->length;
  const int32_t particles = (int32_t)gas->parameters->box.particles, rows = gas->cells[1];
  for (int32_t i = 0; i < particles; i++) {
    uint32_t word[4];
    gpumc_random_draw(random, (uint32_t)i, r, 0,
                      gpumc_random_label(GPUMC_RANDOM_PARTICLES_INITIAL, 0), word);
    const double row = (double)((int64_t)i * rows / particles);
    gas->x[i] = hard_disks_in_box((double)word[0] * 0x1p-32 * length[0], length[0]);
    gas->y[i] = hard_disks_in_box((row + (double)word[1] * 0x1p-32) * gas->width[1], length[1]);
    link_disk(gas, cell_at(gas, gas->x[i], gas->y[i]), i);
  }
}

/* Their diameter grows from a low packing fraction to 1, and a little more, which rounding needs.
 */
static enum gpumc_status
compress(struct gas *gas, struct gpumc_random random, uint32_t r, struct gpumc_error *error)
{
  const double fraction = gas->parameters->packing_fraction;
  const double growth = fraction > LOOSE ? gpumc_log(fraction / LOOSE) / GROWTHS : 0.0;
  uint32_t sweep = 0;
  scatter(gas, random, r);
  for (int k = fraction > LOOSE ? 0 : GROWTHS; k <= GROWTHS; k++) {
    const double diameter2 = LATTICE_SPACING * LATTICE_SPACING * gpumc_exp(growth * (k - GROWTHS));
    gas->pair2 = diameter2;
    gas->reach = REACH * sqrt(diameter2);
    if (!separate(gas, random, r, &sweep))
      return gpumc_error_set(error, GPUMC_FAILURE,
                             "disks still overlap after %d sweeps of compression to a packing "
                             "fraction of %.4g: use start: lattice",
                             SWEEPS_MAXIMUM, fraction);
  }
  return GPUMC_OK;
}

/* Room for disks at no place yet. */
static enum gpumc_status gas_create(const struct hard_disks_parameters *parameters, struct gas *gas,
                                    struct gpumc_error *error)
{
  const struct hard_disks_box *box = &parameters->box;
  const size_t particles = box->particles, cells = (size_t)box->cells_x * box->cells_y;
  *gas = (struct gas){.parameters = parameters,
                      .width = {(double)box->width_x, (double)box->width_y},
                      .cells = {(int32_t)box->cells_x, (int32_t)box->cells_y}};
  GPUMC_TRY(gpumc_allocate_array(&gas->x, 2 * particles, "disks", error));
  gas->y = gas->x + particles;
  GPUMC_TRY(gpumc_allocate_array(&gas->first, cells, "cells of disks", error));
  GPUMC_TRY(gpumc_allocate_array(&gas->until, cells, "cells of disks", error));
  GPUMC_TRY(gpumc_allocate_array(&gas->next, particles, "lists of disks", error));
  for (size_t c = 0; c < cells; c++)
    gas->first[c] = NOBODY;
  return GPUMC_OK;
}

static void gas_free(struct gas *gas)
{
  free(gas->x);
  free(gas->first);
  free(gas->until);
  free(gas->next);
}

static enum gpumc_status start_compressed(const struct hard_disks_parameters *parameters,
                                          struct gpumc_random random, uint32_t r, uint8_t *portable,
                                          struct gpumc_error *error)
{
  struct gas gas;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gas_create(parameters, &gas, error));
  GPUMC_TRY_OUT(status, compress(&gas, random, r, error));
  for (size_t i = 0; i < parameters->box.particles; i++) {
    hard_disks_put(portable, HARD_DISKS_PORTABLE_HEAD + 2 * i, gas.x[i]);
    hard_disks_put(portable, HARD_DISKS_PORTABLE_HEAD + 2 * i + 1, gas.y[i]);
  }
out:
  gas_free(&gas);
  return status;
}

/* ---- positions of a file ---- */

enum gpumc_status hard_disks_find_overlap(const struct hard_disks_parameters *parameters,
                                          size_t *one, size_t *other, struct gpumc_error *error)
{
  struct gas gas;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gas_create(parameters, &gas, error));
  gas.pair2 = (double)HARD_DISKS_LIMIT;
  *one = *other = 0;
  for (int32_t i = 0; i < (int32_t)parameters->box.particles && *one == *other; i++) {
    gas.x[i] = parameters->positions[2 * i];
    gas.y[i] = parameters->positions[2 * i + 1];
    const int32_t overlapping = first_overlap(&gas, i);
    if (overlapping != NOBODY) {
      *one = (size_t)overlapping;
      *other = (size_t)i;
    }
    link_disk(&gas, cell_at(&gas, gas.x[i], gas.y[i]), i);
  }
out:
  gas_free(&gas);
  return status;
}

/* From the box at constant volume to that of a grid, which is the same or a little larger: so much
 * that rounding makes no disks overlap. */
static void scale_state(const struct hard_disks_parameters *parameters,
                        const struct hard_disks_grid *grid, uint8_t *portable)
{
  const double unit = (double)HARD_DISKS_UNIT;
  const double to[2] = {(double)grid->box.width_x * grid->box.cells_x,
                        (double)grid->box.width_y * grid->box.cells_y};
  for (size_t d = 0; d < 2; d++) {
    if (to[d] == parameters->length[d])
      continue;
    hard_disks_put(portable, d, to[d]);
    for (size_t i = 0; i < parameters->box.particles; i++) {
      const size_t at = HARD_DISKS_PORTABLE_HEAD + 2 * i + d;
      double place;
      memcpy(&place, portable + at * sizeof place, sizeof place);
      hard_disks_put(portable, at, floor(place / parameters->length[d] * to[d] * unit) / unit);
    }
  }
}

static enum gpumc_status fixed_state(const struct gpumc_model *model, struct gpumc_random random,
                                     uint32_t r, uint8_t *portable, struct gpumc_error *error)
{
  const struct hard_disks_parameters *parameters = hard_disks_parameters(model);
  for (size_t d = 0; d < 2; d++) {
    hard_disks_put(portable, d, parameters->length[d]);
    hard_disks_put(portable, 2 + d, 0.0);
  }
  switch (parameters->start) {
  case HARD_DISKS_COMPRESSED:
    return start_compressed(parameters, random, r, portable, error);
  case HARD_DISKS_LATTICE:
    start_lattice(parameters, portable);
    return GPUMC_OK;
  case HARD_DISKS_FILE:
    memcpy(portable + HARD_DISKS_PORTABLE_HEAD * sizeof(double), parameters->positions,
           2 * model->sites * sizeof(double));
    return GPUMC_OK;
  }
  return GPUMC_OK;
}

enum gpumc_status hard_disks_start_state(const struct gpumc_model *model,
                                         const struct hard_disks_grid *grid,
                                         struct gpumc_random random, uint32_t r, uint8_t *portable,
                                         struct gpumc_error *error)
{
  GPUMC_TRY(fixed_state(model, random, r, portable, error));
  scale_state(hard_disks_parameters(model), grid, portable);
  return GPUMC_OK;
}
