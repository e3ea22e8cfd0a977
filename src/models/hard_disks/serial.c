/* The kernel `serial` of hard disks on the CPU: the plain reference. A sweep is N trials, each
 * moving a uniformly chosen disk uniformly in a square about its place; threads over replicas.
 *
 * Trajectory "disks.serial.1". Trial i of a sweep has the counter {i, replica, time,
 * (PARTICLES_MOVE, 0)}: word 0 is the disk, words 1 and 2 are its displacements along x and y
 * (hard_disks_displacement). A replica is its portable form, without a grid: the corner is at 0.
 *
 * Moves of the volume are those of hard_disks_volume.h, except that places in the box are scaled,
 * not coordinates in cells: u of disk i has the counter {i, replica, time, (PARTICLES_VOLUME, 0)},
 * words 0 and 1. */
#include <math.h>
#include <string.h>

#include "core/simulation/steps.h"
#include "models/hard_disks/hard_disks.h"
#include "models/hard_disks/hard_disks_cpu.h"
#include "models/lattice/replicas_cpu.h"

enum { NOBODY = UINT32_MAX };

/* A replica in lists of its cells: first[cells], next[particles], and room for trial places, in the
 * scratch of a thread. */
struct lists {
  struct hard_disks_box box;
  double length[2];
  double *place, *other; /* [N][2] */
  uint32_t *first, *next;
};

static size_t cells_of(const struct hard_disks_box *box)
{
  return (size_t)box->cells_x * box->cells_y;
}

static size_t scratch_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct hard_disks_box *box = &hard_disks_grid_of(model, plan)->box;
  const size_t lists = (cells_of(box) + model->sites) * sizeof(uint32_t) +
                       2 * model->sites * sizeof(double),
               cells = 2 * HARD_DISKS_SLOTS * cells_of(box) * sizeof(float);
  return lists > cells ? lists : cells;
}

static void cell_of(const struct lists *lists, const double place[2], uint32_t cell[2])
{
  const struct hard_disks_box *box = &lists->box;
  cell[0] = (uint32_t)(place[0] / (double)box->width_x);
  cell[1] = (uint32_t)(place[1] / (double)box->width_y);
}

static uint32_t *list_of(const struct lists *lists, const double place[2])
{
  uint32_t cell[2];
  cell_of(lists, place, cell);
  return &lists->first[(size_t)cell[1] * lists->box.cells_x + cell[0]];
}

static void link_disk(struct lists *lists, uint32_t i)
{
  uint32_t *list = list_of(lists, lists->place + 2 * (size_t)i);
  lists->next[i] = *list;
  *list = i;
}

static void unlink_disk(struct lists *lists, uint32_t i)
{
  uint32_t *list = list_of(lists, lists->place + 2 * (size_t)i);
  while (*list != i)
    list = &lists->next[*list];
  *list = lists->next[i];
}

/* Lists the disks at lists->place in a box. */
static void list_all(struct lists *lists, const float width[2])
{
  lists->box = hard_disks_box_with(&lists->box, width);
  lists->length[0] = (double)width[0] * lists->box.cells_x;
  lists->length[1] = (double)width[1] * lists->box.cells_y;
  for (size_t c = 0; c < cells_of(&lists->box); c++)
    lists->first[c] = NOBODY;
  for (uint32_t i = 0; i < lists->box.particles; i++)
    link_disk(lists, i);
}

static struct lists lists_of(const struct gpumc_ensemble *ensemble, uint8_t *portable)
{
  struct lists lists = {.box = hard_disks_grid_of(ensemble->model, &ensemble->plan)->box};
  double length[2];
  memcpy(length, portable, sizeof length);
  lists.place = (double *)(void *)portable + HARD_DISKS_PORTABLE_HEAD;
  lists.other = lattice_cpu_scratch(ensemble->storage);
  lists.first = (uint32_t *)(void *)(lists.other + 2 * ensemble->model->sites);
  lists.next = lists.first + cells_of(&lists.box);
  list_all(&lists, (const float[2]){(float)(length[0] / lists.box.cells_x),
                                    (float)(length[1] / lists.box.cells_y)});
  return lists;
}

/* Returns whether disk i at `place` overlaps a disk of the cell that is (u, v) away from its own;
 * images of that cell on the other side of the box are moved to where the disk sees them. */
static bool overlaps_in(const struct lists *lists, uint32_t i, const double place[2], int u, int v)
{
  const struct hard_disks_box *box = &lists->box;
  const double *length = lists->length;
  uint32_t cell[2];
  cell_of(lists, place, cell);
  const int64_t a = (int64_t)cell[0] + u, b = (int64_t)cell[1] + v;
  const double shift_x = a < 0               ? -length[0]
                         : a == box->cells_x ? length[0]
                                             : 0.0,
               shift_y = b < 0               ? -length[1]
                         : b == box->cells_y ? length[1]
                                             : 0.0;
  const size_t column = (size_t)((a + box->cells_x) % box->cells_x),
               row = (size_t)((b + box->cells_y) % box->cells_y);
  for (uint32_t j = lists->first[row * box->cells_x + column]; j != NOBODY; j = lists->next[j]) {
    const double dx = lists->place[2 * (size_t)j] + shift_x - place[0],
                 dy = lists->place[2 * (size_t)j + 1] + shift_y - place[1];
    if (j != i && hard_disks_overlap((float)dx, (float)dy))
      return true;
  }
  return false;
}

static bool is_free(const struct lists *lists, uint32_t i, const double place[2])
{
  for (int v = -1; v <= 1; v++)
    for (int u = -1; u <= 1; u++)
      if (overlaps_in(lists, i, place, u, v))
        return false;
  return true;
}

static double wrapped(double x, double length)
{
  return x < 0.0 ? x + length : x >= length ? x - length : x;
}

/* Performs trial number `trial` of a sweep; returns whether it is accepted. */
static bool try_disk(struct lists *lists, const uint32_t word[4], float scale)
{
  const double *length = lists->length;
  uint32_t u = word[0];
  const uint32_t i = hard_disks_digit(&u, lists->box.particles);
  double *place = lists->place + 2 * (size_t)i;
  const double to[2] = {
      wrapped(place[0] + (double)hard_disks_displacement(word[1], scale), length[0]),
      wrapped(place[1] + (double)hard_disks_displacement(word[2], scale), length[1])};
  if (!is_free(lists, i, to))
    return false;
  const bool stays = list_of(lists, place) == list_of(lists, to);
  if (!stays)
    unlink_disk(lists, i);
  memcpy(place, to, sizeof to);
  if (!stays)
    link_disk(lists, i);
  return true;
}

/* ---- volume ---- */

/* Returns whether no disks overlap. */
static bool all_are_free(const struct lists *lists)
{
  for (uint32_t i = 0; i < lists->box.particles; i++)
    if (!is_free(lists, i, lists->place + 2 * (size_t)i))
      return false;
  return true;
}

/* Scales a place in a box of side `length` by `ratio`. */
static double scaled(double place, uint32_t word, double ratio, double length)
{
  const double unit = (double)HARD_DISKS_UNIT;
  const double to = floor((place * unit + ((double)word + 0.5) * 0x1p-32) * ratio) / unit;
  const double last = length - 1.0 / unit;
  return to < last ? to : last;
}

static void move_volume(const struct gpumc_ensemble *ensemble,
                        const struct lattice_cpu_place *place, uint32_t time, struct lists *lists)
{
  const struct gpumc_random random = gpumc_ensemble_random(ensemble, place->run);
  const float width[2] = {lists->box.width_x, lists->box.width_y};
  const struct hard_disks_volume_move move = hard_disks_volume_draw(
      random, &hard_disks_own_of(ensemble)->rule[place->run],
      &hard_disks_grid_of(ensemble->model, &ensemble->plan)->box, width, place->number, time);
  double *before = lists->place;
  enum hard_disks_end end = move.end;
  if (end == HARD_DISKS_ACCEPTED) {
    const uint32_t cells[2] = {lists->box.cells_x, lists->box.cells_y};
    for (uint32_t i = 0; i < lists->box.particles; i++) {
      uint32_t word[4];
      hard_disks_volume_words(random, i, place->number, time, 0, word);
      for (size_t d = 0; d < 2; d++)
        lists->other[2 * (size_t)i + d] = scaled(before[2 * (size_t)i + d], word[d], move.ratio[d],
                                                 (double)move.width[d] * cells[d]);
    }
    lists->place = lists->other;
    list_all(lists, move.width);
    end = all_are_free(lists) ? HARD_DISKS_ACCEPTED : HARD_DISKS_REFUSED;
    lists->place = before;
    if (end == HARD_DISKS_ACCEPTED) {
      memcpy(before, lists->other, 2 * (size_t)lists->box.particles * sizeof *before);
      memcpy(place->data, lists->length, sizeof lists->length);
    } else {
      list_all(lists, width);
    }
  }
  hard_disks_put(place->data, HARD_DISKS_PORTABLE_CORNER, hard_disks_corner(0, end));
}

static void
sweep(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place, uint32_t sweeps)
{
  const struct gpumc_random random = gpumc_ensemble_random(ensemble, place->run);
  const float scale = hard_disks_scale(ensemble->step[place->run]);
  struct lists lists = lists_of(ensemble, place->data);
  uint64_t accepted = 0;
  for (uint32_t t = 0; t < sweeps; t++) {
    const uint32_t time = ensemble->time + t;
    for (uint32_t i = 0; i < ensemble->model->sites; i++) {
      uint32_t word[4];
      hard_disks_draw(random, i, place->number, time, 0, word);
      accepted += try_disk(&lists, word, scale);
    }
    if (hard_disks_moves_volume(&ensemble->plan, time))
      move_volume(ensemble, place, time, &lists);
  }
  gpumc_steps_count(ensemble, place->run, accepted);
  gpumc_steps_propose(ensemble, place->run, (uint64_t)sweeps * ensemble->model->sites);
}

/* Measures by way of cells. */
static enum gpumc_status measure_place(const struct gpumc_ensemble *ensemble,
                                       const struct lattice_cpu_place *place,
                                       int64_t *const *channel, struct gpumc_error *error)
{
  const struct hard_disks_grid *grid = hard_disks_grid_of(ensemble->model, &ensemble->plan);
  const struct hard_disks_layout layout = hard_disks_plain_layout(&grid->box);
  float *x = lattice_cpu_scratch(ensemble->storage);
  struct hard_disks_head head;
  const struct hard_disks_replica replica = {&grid->box, &layout, x, x + layout.count, &head};
  GPUMC_TRY(hard_disks_set(grid, place->data, &replica, error));
  return hard_disks_measure(ensemble->model, &replica, channel,
                            place->run * ensemble->plan.capacity + place->first, error);
}

static const struct lattice_cpu_layout layout = {
    .replicas = 1, .buffers = 1, .scratch_bytes = scratch_bytes, HARD_DISKS_OWN, .sweep = sweep};
LATTICE_CPU_BYTES_AND_CREATE(layout)

static enum gpumc_status
measure(struct gpumc_ensemble *ensemble, int64_t *const *channel, struct gpumc_error *error)
{
  return hard_disks_measure_places(ensemble, measure_place, channel, error);
}

static enum gpumc_status sweep_all(struct gpumc_ensemble *ensemble,
                                   const struct gpumc_target *target, uint32_t sweeps,
                                   int64_t *const *channel, struct gpumc_error *error)
{
  GPUMC_TRY(hard_disks_set_rules(ensemble, target, sweeps, error));
  GPUMC_TRY(lattice_cpu_sweep(ensemble, target, sweeps, NULL, error));
  return channel != NULL ? measure(ensemble, channel, error) : GPUMC_OK;
}

static double trials(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  return (double)model->sites;
}

/* Approximate nanoseconds of one core for a trial, and for a volume move per disk. */
#define TRIAL_COST 50.0
#define VOLUME_COST 25.0

static double
cost(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan, size_t replicas)
{
  return (TRIAL_COST * trials(model, plan) + hard_disks_volume_cost(model, plan, VOLUME_COST)) *
         (double)replicas;
}

const struct gpumc_kernel_ops hard_disks_serial_cpu = {
    LATTICE_CPU_COMMON,
    HARD_DISKS_KERNEL,
    .n_tunables = 1,
    .keys = hard_disks_serial_keys,
    .variant = "serial",
    .summary = "one disk after the other, in random order: slow, for reference",
    .trajectory = "disks.serial.1",
    .cost = cost,
    .trials = trials,
    .bytes = bytes,
    .create = create,
    .start = hard_disks_start,
    .sweep = sweep_all,
    .measure = measure,
    .gather = lattice_cpu_gather,
    .exchange = lattice_cpu_exchange,
};
