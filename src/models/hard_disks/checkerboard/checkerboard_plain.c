#include "models/hard_disks/checkerboard/checkerboard_plain.h"

#include <string.h>

struct plain {
  const struct checkerboard_sweeps *sweeps;
  const struct hard_disks_box *box;
  const struct hard_disks_replica *replica;
  struct checkerboard_counts counts;
  bool full; /* a cell has no slot left */
};

/* A disk, by its slot and its cell. */
struct disk {
  uint32_t slot, a, b;
};

static size_t place_of(const struct plain *plain, struct disk disk)
{
  return hard_disks_place(plain->replica->layout, disk.slot, disk.a, disk.b);
}

/* Returns whether a disk at (x, y), relative to cell (a, b), overlaps any in the nine cells but the
 * one in `self`. */
static bool
overlaps(const struct plain *plain, uint32_t a, uint32_t b, float x, float y, struct disk self)
{
  const struct hard_disks_box *box = plain->box;
  for (int v = -1; v <= 1; v++)
    for (int u = -1; u <= 1; u++) {
      struct disk other = {0, (uint32_t)hard_disks_around(a, u, box->cells_x),
                           (uint32_t)hard_disks_around(b, v, box->cells_y)};
      for (; other.slot < HARD_DISKS_SLOTS; other.slot++) {
        const size_t place = place_of(plain, other);
        const bool is_self =
            u == 0 && v == 0 && other.slot == self.slot && other.a == self.a && other.b == self.b;
        const float there_x = plain->replica->x[place], there_y = plain->replica->y[place];
        if (!is_self && there_x >= 0.0f &&
            hard_disks_overlap(hard_disks_apart(there_x, x, (float)u, box->width_x),
                               hard_disks_apart(there_y, y, (float)v, box->width_y)))
          return true;
      }
    }
  return false;
}

static void set_slot(const struct plain *plain, struct disk disk, float x, float y)
{
  const size_t place = place_of(plain, disk);
  plain->replica->x[place] = x;
  plain->replica->y[place] = y;
}

static uint32_t count_disks(const struct plain *plain, uint32_t a, uint32_t b)
{
  uint32_t n = 0;
  while (n < HARD_DISKS_SLOTS && plain->replica->x[place_of(plain, (struct disk){n, a, b})] >= 0.0f)
    n++;
  return n;
}

/* ---- trials ---- */

/* Performs a trial that may leave its cell, against the rules: the disk becomes the last of its new
 * cell at once. */
static void try_anywhere(struct plain *plain, struct disk disk, float x, float y)
{
  const struct hard_disks_box *box = plain->box;
  const int u = x < 0.0f ? -1 : x >= box->width_x ? 1 : 0;
  const int v = y < 0.0f ? -1 : y >= box->width_y ? 1 : 0;
  const float there_x = x - (float)u * box->width_x, there_y = y - (float)v * box->width_y;
  struct disk there = {0, (uint32_t)hard_disks_around(disk.a, u, box->cells_x),
                       (uint32_t)hard_disks_around(disk.b, v, box->cells_y)};
  const size_t from = place_of(plain, disk);
  const float old_x = plain->replica->x[from], old_y = plain->replica->y[from];
  set_slot(plain, disk, HARD_DISKS_NOWHERE, HARD_DISKS_NOWHERE);
  if (overlaps(plain, there.a, there.b, there_x, there_y, disk)) {
    set_slot(plain, disk, old_x, old_y);
    return;
  }
  plain->counts.accepted++;
  if (u == 0 && v == 0) {
    set_slot(plain, disk, x, y);
    return;
  }
  there.slot = count_disks(plain, there.a, there.b);
  plain->full = plain->full || there.slot == HARD_DISKS_SLOTS;
  if (there.slot < HARD_DISKS_SLOTS)
    set_slot(plain, there, there_x, there_y);
}

static void try_confined(struct plain *plain, struct disk disk, float x, float y)
{
  const struct hard_disks_box *box = plain->box;
  if (x < 0.0f || x >= box->width_x || y < 0.0f || y >= box->width_y ||
      overlaps(plain, disk.a, disk.b, x, y, disk))
    return;
  set_slot(plain, disk, x, y);
  plain->counts.accepted++;
}

/* Moves the remaining disks of a cell together. */
static void close_gaps(const struct plain *plain, uint32_t a, uint32_t b)
{
  struct disk to = {0, a, b};
  for (struct disk from = to; from.slot < HARD_DISKS_SLOTS; from.slot++) {
    const size_t place = place_of(plain, from);
    const float x = plain->replica->x[place], y = plain->replica->y[place];
    if (x < 0.0f)
      continue;
    set_slot(plain, from, HARD_DISKS_NOWHERE, HARD_DISKS_NOWHERE);
    set_slot(plain, to, x, y);
    to.slot++;
  }
}

static void update_cell(struct plain *plain, uint32_t a, uint32_t b, uint32_t time)
{
  const struct checkerboard_sweeps *sweeps = plain->sweeps;
  const uint32_t n = count_disks(plain, a, b);
  uint32_t word[4], order = 0;
  for (uint32_t s = 0; n > 0 && s < sweeps->options.moves; s++) {
    if (s % 2 == 0)
      hard_disks_draw(sweeps->random, b * plain->box->cells_x + a, sweeps->replica, time, s / 2,
                      word);
    if (s == 0)
      order = sweeps->options.shuffle ? hard_disks_shuffle(hard_disks_shuffle_bits(word), n)
                                      : HARD_DISKS_UNSHUFFLED;
    const struct disk disk = {hard_disks_number(order, s % n), a, b};
    const float old_x = plain->replica->x[place_of(plain, disk)],
                old_y = plain->replica->y[place_of(plain, disk)];
    const float x = old_x + hard_disks_displacement(word[s % 2 * 2], sweeps->scale),
                y = old_y + hard_disks_displacement(word[s % 2 * 2 + 1], sweeps->scale);
    if (old_x < 0.0f)
      continue; /* it left earlier */
    plain->counts.proposed++;
    if (sweeps->options.confine)
      try_confined(plain, disk, x, y);
    else
      try_anywhere(plain, disk, x, y);
  }
  if (!sweeps->options.confine)
    close_gaps(plain, a, b);
}

/* ---- shift of the grid ---- */

/* Appends the disks of cell `from`, as they were, that leave it or those that stay (`leaving`), to
 * slots 0 .. *n - 1 of cell (a, b). */
static void append(struct plain *plain, const struct hard_disks_sweep *sweep,
                   const struct hard_disks_replica *old, struct disk from, bool leaving, uint32_t a,
                   uint32_t b, uint32_t *n)
{
  const bool along_x = sweep->direction <= HARD_DISKS_LEFT;
  const bool forward = sweep->direction == HARD_DISKS_RIGHT || sweep->direction == HARD_DISKS_UP;
  for (; from.slot < HARD_DISKS_SLOTS; from.slot++) {
    const size_t place = place_of(plain, from);
    float x = old->x[place], y = old->y[place];
    if (x < 0.0f)
      break;
    if (hard_disks_shifted(forward, sweep->distance,
                           along_x ? plain->box->width_x : plain->box->width_y,
                           along_x ? &x : &y) != leaving)
      continue;
    plain->full = plain->full || *n == HARD_DISKS_SLOTS;
    if (*n < HARD_DISKS_SLOTS)
      set_slot(plain, (struct disk){(*n)++, a, b}, x, y);
  }
}

static void shift(struct plain *plain, const struct hard_disks_sweep *sweep, float *scratch)
{
  const struct hard_disks_box *box = plain->box;
  const size_t count = plain->replica->layout->count;
  const struct hard_disks_replica old = {
      .layout = plain->replica->layout, .x = scratch, .y = scratch + count};
  const bool along_x = sweep->direction <= HARD_DISKS_LEFT;
  const int step =
      sweep->direction == HARD_DISKS_RIGHT || sweep->direction == HARD_DISKS_UP ? 1 : -1;
  memcpy(old.x, plain->replica->x, count * sizeof(float));
  memcpy(old.y, plain->replica->y, count * sizeof(float));
  for (uint32_t b = 0; b < box->cells_y; b++)
    for (uint32_t a = 0; a < box->cells_x; a++) {
      const struct disk neighbour = {
          0, along_x ? (uint32_t)hard_disks_around(a, step, box->cells_x) : a,
          along_x ? b : (uint32_t)hard_disks_around(b, step, box->cells_y)};
      uint32_t n = 0;
      append(plain, sweep, &old, (struct disk){0, a, b}, false, a, b, &n);
      append(plain, sweep, &old, neighbour, true, a, b, &n);
      for (; n < HARD_DISKS_SLOTS; n++)
        set_slot(plain, (struct disk){n, a, b}, HARD_DISKS_NOWHERE, HARD_DISKS_NOWHERE);
    }
  hard_disks_shift_offsets(box, sweep, plain->replica->head->offset);
}

bool checkerboard_plain(const struct checkerboard_sweeps *sweeps,
                        const struct hard_disks_replica *replica, float *scratch,
                        struct checkerboard_counts *counts)
{
  struct plain plain = {.sweeps = sweeps, .box = sweeps->box, .replica = replica};
  for (uint32_t t = 0; t < sweeps->sweeps; t++) {
    const uint32_t time = sweeps->time + t;
    const struct hard_disks_sweep sweep =
        hard_disks_sweep_of(sweeps->random, sweeps->box, sweeps->replica, time);
    for (uint32_t c = 0; c < HARD_DISKS_COLOURS; c++) {
      const uint32_t colour = hard_disks_number(sweep.colours, c);
      for (uint32_t b = colour / 2; b < plain.box->cells_y; b += 2)
        for (uint32_t a = colour % 2; a < plain.box->cells_x; a += 2)
          update_cell(&plain, a, b, time);
    }
    if (sweeps->options.shift)
      shift(&plain, &sweep, scratch);
  }
  counts->accepted += plain.counts.accepted;
  counts->proposed += plain.counts.proposed;
  return !plain.full;
}

/* ---- volume ---- */

/* Scales a cell of a replica into `to`. */
static void scale_cell(const struct plain *from, const struct plain *to,
                       const struct hard_disks_volume_move *move, uint32_t number, uint32_t time,
                       uint32_t a, uint32_t b)
{
  const struct hard_disks_box *box = to->box;
  const uint32_t n = count_disks(from, a, b);
  uint32_t word[4];
  for (uint32_t s = 0; s < HARD_DISKS_SLOTS; s++) {
    const struct disk disk = {s, a, b};
    const size_t place = place_of(from, disk);
    set_slot(to, disk, HARD_DISKS_NOWHERE, HARD_DISKS_NOWHERE);
    if (s >= n)
      continue;
    if (s % 2 == 0)
      hard_disks_volume_words(to->sweeps->random, b * box->cells_x + a, number, time, s / 2, word);
    set_slot(
        to, disk,
        hard_disks_scaled(from->replica->x[place], word[s % 2 * 2], move->ratio[0], box->width_x),
        hard_disks_scaled(from->replica->y[place], word[s % 2 * 2 + 1], move->ratio[1],
                          box->width_y));
  }
}

static bool any_overlap(const struct plain *plain)
{
  const struct hard_disks_box *box = plain->box;
  bool found = false;
  for (uint32_t b = 0; b < box->cells_y; b++)
    for (uint32_t a = 0; a < box->cells_x; a++)
      for (struct disk disk = {0, a, b}; disk.slot < count_disks(plain, a, b); disk.slot++) {
        const size_t place = place_of(plain, disk);
        found = found ||
                overlaps(plain, a, b, plain->replica->x[place], plain->replica->y[place], disk);
      }
  return found;
}

void checkerboard_plain_volume(const struct hard_disks_volume_rule *rule,
                               struct gpumc_random random, uint32_t number, uint32_t time,
                               const struct hard_disks_replica *replica, float *scratch)
{
  const size_t count = replica->layout->count;
  struct hard_disks_head *head = replica->head;
  const struct hard_disks_volume_move move =
      hard_disks_volume_draw(random, rule, replica->grid, head->width, number, time);
  const struct hard_disks_box box = hard_disks_box_with(replica->grid, move.width);
  const struct hard_disks_replica scaled = {replica->grid, replica->layout, scratch,
                                            scratch + count, NULL};
  const struct checkerboard_sweeps sweeps = {.random = random};
  const struct plain from = {&sweeps, &box, replica, {0}, false},
                     to = {&sweeps, &box, &scaled, {0}, false};
  head->last_move = move.end;
  for (uint32_t b = 0; b < box.cells_y && move.end == HARD_DISKS_ACCEPTED; b++)
    for (uint32_t a = 0; a < box.cells_x; a++)
      scale_cell(&from, &to, &move, number, time, a, b);
  if (move.end == HARD_DISKS_ACCEPTED && any_overlap(&to))
    head->last_move = HARD_DISKS_REFUSED;
  if (head->last_move != HARD_DISKS_ACCEPTED)
    return;
  for (uint32_t b = 0; b < box.cells_y; b++)
    for (uint32_t a = 0; a < box.cells_x; a++)
      for (struct disk disk = {0, a, b}; disk.slot < HARD_DISKS_SLOTS; disk.slot++) {
        const size_t place = place_of(&to, disk);
        set_slot(&from, disk, scaled.x[place], scaled.y[place]);
      }
  hard_disks_scale_head(replica->grid, &move, head);
}
