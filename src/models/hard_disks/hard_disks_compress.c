/* Random states of hard disks, and a check for overlaps: both use lists of disks near each
 * other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "models/hard_disks/hard_disks.h"

/* ---- near disks ---- */

enum { NOBODY = UINT32_MAX, THREADED = 4096 /* number of disks that keeps several threads busy */ };

/* Disks at x[], y[], which may be outside of the box by less than a side, and those near each:
 * near[begin[i]] to near[begin[i + 1] - 1], in both lists of a pair. */
struct near_lists {
  const double *length; /* [2] */
  size_t disks, room;   /* of near[] */
  int threads;
  double *x, *y;
  size_t *begin;
  uint32_t *near;
  /* Cells at least as wide as lists reach; a single one along an axis with room for fewer than
   * three. The disks of cell c are first[c], next[first[c]], ... up to NOBODY. */
  size_t cells[2];
  uint32_t *first, *next;
};

static void clear_cells(struct near_lists *lists)
{
  for (size_t c = 0; c < lists->cells[0] * lists->cells[1]; c++)
    lists->first[c] = NOBODY;
}

static enum gpumc_status lists_create(const struct hard_disks_parameters *parameters, double reach,
                                      int threads, struct near_lists *lists,
                                      struct gpumc_error *error)
{
  *lists = (struct near_lists){.length = parameters->length,
                               .disks = parameters->box.particles,
                               .threads = parameters->box.particles < THREADED ? 1 : threads};
  for (size_t d = 0; d < 2; d++) {
    const size_t cells = (size_t)(lists->length[d] / reach);
    lists->cells[d] = cells < 3 ? 1 : cells;
  }
  GPUMC_TRY(gpumc_allocate_array(&lists->x, 2 * lists->disks, "disks", error));
  lists->y = lists->x + lists->disks;
  GPUMC_TRY(gpumc_allocate_array(&lists->begin, lists->disks + 1, "lists of disks", error));
  GPUMC_TRY(gpumc_allocate_array(&lists->next, lists->disks, "lists of disks", error));
  GPUMC_TRY(gpumc_allocate_array(&lists->first, lists->cells[0] * lists->cells[1], "cells of disks",
                                 error));
  clear_cells(lists);
  return GPUMC_OK;
}

static void lists_free(struct near_lists *lists)
{
  free(lists->x);
  free(lists->begin);
  free(lists->near);
  free(lists->next);
  free(lists->first);
}

/* Returns the displacement from one place to another, or to its nearest image. */
static double way(double from, double to, double length)
{
  const double direct = to - from;
  return direct > 0.5 * length    ? direct - length
         : direct < -0.5 * length ? direct + length
                                  : direct;
}

static double square_of(const struct near_lists *lists, size_t i, size_t j)
{
  const double dx = way(lists->x[i], lists->x[j], lists->length[0]),
               dy = way(lists->y[i], lists->y[j], lists->length[1]);
  return dx * dx + dy * dy;
}

static size_t cell_along(const struct near_lists *lists, size_t d, double x)
{
  const size_t cell = (size_t)(x / lists->length[d] * (double)lists->cells[d]);
  return cell < lists->cells[d] ? cell : lists->cells[d] - 1;
}

/* Links disk i, which is in the box, into its cell. */
static void link_disk(struct near_lists *lists, size_t i)
{
  uint32_t *first = &lists->first[cell_along(lists, 1, lists->y[i]) * lists->cells[0] +
                                  cell_along(lists, 0, lists->x[i])];
  lists->next[i] = *first;
  *first = (uint32_t)i;
}

static double wrapped(double x, double length)
{
  const double inside = x - length * floor(x / length);
  return inside < length ? inside : 0.0;
}

/* Counts the disks in cells, other than disk i, whose squared distance to disk i is less than
 * `square`, and writes them to `near` unless it is NULL. */
static size_t find_near(const struct near_lists *lists, size_t i, double square, uint32_t *near)
{
  const size_t *cells = lists->cells;
  const size_t at[2] = {cell_along(lists, 0, lists->x[i]), cell_along(lists, 1, lists->y[i])};
  size_t count = 0;
  for (size_t v = 0; v < (cells[1] == 1 ? 1 : 3); v++)
    for (size_t u = 0; u < (cells[0] == 1 ? 1 : 3); u++) {
      const size_t cell =
          (at[1] + cells[1] + v - 1) % cells[1] * cells[0] + (at[0] + cells[0] + u - 1) % cells[0];
      for (uint32_t j = lists->first[cell]; j != NOBODY; j = lists->next[j]) {
        if (j == i || !(square_of(lists, i, j) < square))
          continue;
        if (near != NULL)
          near[count] = j;
        count++;
      }
    }
  return count;
}

/* Fills the lists of all disks, which are first moved into the box. */
static enum gpumc_status
fill_lists(struct near_lists *lists, double reach, struct gpumc_error *error)
{
  clear_cells(lists);
  for (size_t i = lists->disks; i-- > 0;) {
    lists->x[i] = wrapped(lists->x[i], lists->length[0]);
    lists->y[i] = wrapped(lists->y[i], lists->length[1]);
    link_disk(lists, i);
  }
  lists->begin[0] = 0;
#pragma omp parallel for schedule(static) num_threads(lists->threads) if (lists->threads > 1)
  for (size_t i = 0; i < lists->disks; i++)
    lists->begin[i + 1] = find_near(lists, i, reach * reach, NULL);
  for (size_t i = 0; i < lists->disks; i++)
    lists->begin[i + 1] += lists->begin[i];
  if (lists->begin[lists->disks] > lists->room) {
    free(lists->near);
    lists->near = NULL;
    lists->room = lists->begin[lists->disks] + lists->disks;
    GPUMC_TRY(gpumc_allocate_array(&lists->near, lists->room, "lists of disks", error));
  }
#pragma omp parallel for schedule(static) num_threads(lists->threads) if (lists->threads > 1)
  for (size_t i = 0; i < lists->disks; i++)
    (void)find_near(lists, i, reach * reach, lists->near + lists->begin[i]);
  return GPUMC_OK;
}

/* ---- random states ---- */

/* Random states without overlaps.
 *
 * Dilute systems: disks are placed one after the other, each at a random place where there is room.
 * That is almost a gas in equilibrium, whose longest waves would otherwise take long to develop.
 *
 * Dense ones begin at random places. Then overlapping disks push each other apart, all at the same
 * time: in a step disk i gets the velocity
 *
 *   v_i <- KEPT v_i + PUSH sum_j (D - r_ij) e_ij over overlapping disks j, e_ij from j to i,
 *
 * and moves by it. Because the velocity is kept, dense regions spread as sound does, in a number of
 * steps proportional to their size, and not as heat. D is larger than a diameter, so that pushing
 * need not come to an end. Each sum is formed by one thread in the order of the lists, and steps
 * depend only on maxima, so states do not depend on the number of threads. */
#define PUSH 0.15
#define KEPT 0.9
/* Largest velocity of a disk, in diameters per step. */
#define FASTEST 0.1
/* In the first try D exceeds a diameter by this, in later ones by half as much each time, down to
 * the least; steps end when no two disks overlap by REACHED of it, which leaves more than rounding
 * to quanta takes. */
#define MARGIN 0.005
#define MARGIN_LEAST 0.0003
#define REACHED 0.98
/* Lists hold disks closer than D plus this, and remain valid until one has moved by almost half of
 * it. */
#define SKIN 0.3
#define SKIN_SPENT (0.45 * SKIN)

enum {
  STEPS = 3000,   /* of a try */
  TRIES = 20,     /* from new places; small systems get stuck at high densities */
  DRAWS = 100000, /* attempts to place a disk of a dilute system */
};

struct crowd {
  struct near_lists lists;
  double *velocity_x, *velocity_y, *listed_x, *listed_y; /* listed: when the lists were made */
};

static enum gpumc_status crowd_create(const struct hard_disks_parameters *parameters, int threads,
                                      struct crowd *crowd, struct gpumc_error *error)
{
  const size_t disks = parameters->box.particles;
  memset(crowd, 0, sizeof *crowd);
  GPUMC_TRY(lists_create(parameters, 1.0 + MARGIN + SKIN, threads, &crowd->lists, error));
  GPUMC_TRY(gpumc_allocate_array(&crowd->velocity_x, 4 * disks, "velocities of disks", error));
  crowd->velocity_y = crowd->velocity_x + disks;
  crowd->listed_x = crowd->velocity_y + disks;
  crowd->listed_y = crowd->listed_x + disks;
  return GPUMC_OK;
}

static void crowd_free(struct crowd *crowd)
{
  lists_free(&crowd->lists);
  free(crowd->velocity_x);
}

/* ---- dilute systems ---- */

/* Returns whether there is room for another disk wherever the others are: each blocks a circle of
 * radius 1. */
static bool has_room(const struct hard_disks_parameters *parameters)
{
  const double disks = parameters->box.particles;
  return 4.0 * parameters->packing_fraction * (disks - 1.0) < disks;
}

/* Inserts disks one after the other at random places where they overlap none. False if one finds no
 * place. */
static bool insert(struct near_lists *lists, struct gpumc_random random, uint32_t r)
{
  clear_cells(lists);
  for (size_t i = 0; i < lists->disks; i++) {
    bool found = false;
    for (uint32_t draw = 0; draw < DRAWS && !found; draw++) {
      uint32_t word[4];
      gpumc_random_draw(random, (uint32_t)i, r, draw,
                        gpumc_random_label(GPUMC_RANDOM_PARTICLES_INITIAL, 1), word);
      lists->x[i] =
          hard_disks_in_box((double)word[0] * 0x1p-32 * lists->length[0], lists->length[0]);
      lists->y[i] =
          hard_disks_in_box((double)word[1] * 0x1p-32 * lists->length[1], lists->length[1]);
      found = find_near(lists, i, HARD_DISKS_SPACING * HARD_DISKS_SPACING, NULL) == 0;
    }
    if (!found)
      return false;
    link_disk(lists, i);
  }
  return true;
}

/* ---- dense systems ---- */

/* Scatters disks at random places, in the order of cells, so that neighbours are near each other in
 * memory. */
static void scatter(struct crowd *crowd, struct gpumc_random random, uint32_t r, uint32_t attempt)
{
  struct near_lists *lists = &crowd->lists;
  const size_t disks = lists->disks, cells = lists->cells[0] * lists->cells[1];
  size_t n = 0;
  clear_cells(lists);
  for (size_t i = 0; i < disks; i++) {
    uint32_t word[4];
    gpumc_random_draw(random, (uint32_t)i, r, attempt,
                      gpumc_random_label(GPUMC_RANDOM_PARTICLES_INITIAL, 0), word);
    lists->x[i] = (double)word[0] * 0x1p-32 * lists->length[0];
    lists->y[i] = (double)word[1] * 0x1p-32 * lists->length[1];
    link_disk(lists, i);
  }
  for (size_t c = 0; c < cells; c++)
    for (uint32_t i = lists->first[c]; i != NOBODY; i = lists->next[i], n++) {
      crowd->listed_x[n] = lists->x[i];
      crowd->listed_y[n] = lists->y[i];
    }
  memcpy(lists->x, crowd->listed_x, 2 * disks * sizeof *lists->x);
  memset(crowd->velocity_x, 0, 2 * disks * sizeof *crowd->velocity_x);
}

/* Computes the velocity of disk i in this step; *deepest keeps its deepest overlap if that is
 * larger. */
static void push(struct crowd *crowd, size_t i, double diameter, double *deepest)
{
  const struct near_lists *lists = &crowd->lists;
  double force_x = 0.0, force_y = 0.0;
  for (size_t k = lists->begin[i]; k < lists->begin[i + 1]; k++) {
    const double dx = way(lists->x[lists->near[k]], lists->x[i], lists->length[0]),
                 dy = way(lists->y[lists->near[k]], lists->y[i], lists->length[1]);
    const double square = dx * dx + dy * dy;
    if (square >= diameter * diameter || square == 0.0)
      continue;
    const double distance = sqrt(square), depth = diameter - distance;
    force_x += depth / distance * dx;
    force_y += depth / distance * dy;
    *deepest = depth > *deepest ? depth : *deepest;
  }
  const double x = KEPT * crowd->velocity_x[i] + PUSH * force_x,
               y = KEPT * crowd->velocity_y[i] + PUSH * force_y;
  const double square = x * x + y * y;
  const double slower = square > FASTEST * FASTEST ? FASTEST / sqrt(square) : 1.0;
  crowd->velocity_x[i] = slower * x;
  crowd->velocity_y[i] = slower * y;
}

/* Performs a step of all disks, unless no overlap is deeper than `allowed`, and returns whether
 * there was one; `*spent`: the lists must be rebuilt. */
static bool step(struct crowd *crowd, double diameter, double allowed, bool *spent)
{
  struct near_lists *lists = &crowd->lists;
  double deepest = 0.0, farthest = 0.0;
#pragma omp parallel for schedule(static) num_threads(lists->threads) if (lists->threads > 1)      \
    reduction(max                                                                                  \
              : deepest)
  for (size_t i = 0; i < lists->disks; i++)
    push(crowd, i, diameter, &deepest);
  if (deepest < allowed)
    return false;
#pragma omp parallel for schedule(static) num_threads(lists->threads) if (lists->threads > 1)      \
    reduction(max                                                                                  \
              : farthest)
  for (size_t i = 0; i < lists->disks; i++) {
    lists->x[i] += crowd->velocity_x[i];
    lists->y[i] += crowd->velocity_y[i];
    const double dx = lists->x[i] - crowd->listed_x[i], dy = lists->y[i] - crowd->listed_y[i];
    const double square = dx * dx + dy * dy;
    farthest = square > farthest ? square : farthest;
  }
  *spent = farthest > SKIN_SPENT * SKIN_SPENT;
  return true;
}

/* Performs steps until disks are apart, as `*apart` says, or the steps of a try are used up. */
static enum gpumc_status
separate(struct crowd *crowd, double margin, bool *apart, struct gpumc_error *error)
{
  struct near_lists *lists = &crowd->lists;
  const double diameter = 1.0 + margin;
  bool spent = true;
  *apart = false;
  for (int s = 0; s < STEPS && !*apart; s++) {
    if (spent) {
      GPUMC_TRY(fill_lists(lists, diameter + SKIN, error));
      memcpy(crowd->listed_x, lists->x, 2 * lists->disks * sizeof *lists->x);
    }
    *apart = !step(crowd, diameter, REACHED * margin, &spent);
  }
  return GPUMC_OK;
}

enum gpumc_status hard_disks_compress(const struct hard_disks_parameters *parameters,
                                      struct gpumc_random random, uint32_t r, int threads,
                                      uint8_t *portable, struct gpumc_error *error)
{
  struct crowd crowd;
  enum gpumc_status status;
  double margin = MARGIN;
  GPUMC_TRY_OUT(status, crowd_create(parameters, threads, &crowd, error));
  bool apart = has_room(parameters) && insert(&crowd.lists, random, r);
  for (uint32_t attempt = 0; attempt < TRIES && !apart; attempt++) {
    scatter(&crowd, random, r, attempt);
    GPUMC_TRY_OUT(status, separate(&crowd, margin, &apart, error));
    margin = fmax(0.5 * margin, MARGIN_LEAST);
  }
  if (!apart)
    GPUMC_TRY_OUT(
        status, gpumc_error_set(
                    error, GPUMC_FAILURE,
                    "disks still overlap after %d attempts of %d steps to compress them to a "
                    "packing fraction of %.4g; a box of this shape may have no state that dense "
                    "for this number of disks: use more disks, a less dense box or start: lattice",
                    TRIES, STEPS, parameters->packing_fraction));
  for (size_t i = 0; i < crowd.lists.disks; i++) {
    hard_disks_put(portable, HARD_DISKS_PORTABLE_HEAD + 2 * i,
                   hard_disks_in_box(crowd.lists.x[i], parameters->length[0]));
    hard_disks_put(portable, HARD_DISKS_PORTABLE_HEAD + 2 * i + 1,
                   hard_disks_in_box(crowd.lists.y[i], parameters->length[1]));
  }
out:
  crowd_free(&crowd);
  return status;
}

/* ---- overlaps ---- */

enum gpumc_status hard_disks_find_overlap(const struct hard_disks_parameters *parameters,
                                          size_t *one, size_t *other, struct gpumc_error *error)
{
  struct near_lists lists;
  enum gpumc_status status;
  *one = *other = 0;
  GPUMC_TRY_OUT(status, lists_create(parameters, 1.0 + MARGIN, 1, &lists, error));
  for (size_t i = 0; i < lists.disks && *one == *other; i++) {
    uint32_t near[6]; /* no more than five without overlaps among each other */
    lists.x[i] = parameters->positions[2 * i];
    lists.y[i] = parameters->positions[2 * i + 1];
    if (find_near(&lists, i, (double)HARD_DISKS_LIMIT, near) > 0) {
      *one = near[0];
      *other = i;
    }
    link_disk(&lists, i);
  }
out:
  lists_free(&lists);
  return status;
}
