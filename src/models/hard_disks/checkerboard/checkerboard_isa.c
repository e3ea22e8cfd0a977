/* The kernel `checkerboard` on the CPU: a lane is a cell, and the lanes of a vector are neighbours
 * of one colour in a row. Gives the same bits as checkerboard_plain.c. */
#include "models/hard_disks/checkerboard/checkerboard_isa.h"

enum { AROUND = 8, CALLS = 2 };

/* ---- disks of a vector of cells ---- */

struct cells {
  vf x[HARD_DISKS_SLOTS], y[HARD_DISKS_SLOTS];
};

GPUMC_INLINE void
load_cells(const float *x, const float *y, size_t slot, size_t used, struct cells *cells)
{
  for (size_t s = 0; s < used; s++) {
    cells->x[s] = load(x + s * slot);
    cells->y[s] = load(y + s * slot);
  }
}

/* ---- trials ---- */

/* Disks of the eight cells around, group by group. Groups differ in what is subtracted from their
 * coordinates: the trial's x or x - w_x, y or y - w_y. Cells on the left and below have w
 * subtracted already. All these differences are exact. */
enum { GROUPS = 4 };
struct around {
  size_t end[GROUPS];
  vf x[AROUND * HARD_DISKS_SLOTS], y[AROUND * HARD_DISKS_SLOTS];
};

GPUMC_INLINE size_t group_of(int u, int v)
{
  return (size_t)(u == 1) + 2 * (size_t)(v == 1);
}

/* Loads the cells around those of a colour: for column number i of parity p, the left neighbour is
 * i - 1 + p of the other parity, the right one i + p. */
GPUMC_INLINE void load_around(const struct checkerboard_rows *rows, size_t parity, size_t b,
                              size_t column, struct around *around)
{
  const struct hard_disks_box *box = &rows->box;
  const size_t below = b == 0 ? box->cells_y - 1u : b - 1,
               above = b + 1 == box->cells_y ? 0 : b + 1;
  size_t count = 0;
  for (size_t group = 0; group < GROUPS; group++) {
    for (int v = -1; v <= 1; v++)
      for (int u = -1; u <= 1; u++) {
        if (group_of(u, v) != group || (u == 0 && v == 0))
          continue;
        const size_t row = v < 0 ? below : v > 0 ? above : b, of = u == 0 ? parity : 1 - parity;
        const size_t place =
            start_of(rows, row, of) + column + (u == 0 ? 0 : parity) - (size_t)(u < 0);
        const size_t used = rows->used[2 * row + of];
        for (size_t s = 0; s < used; s++) {
          const vf x = load(rows->x + place + s * rows->slot),
                   y = load(rows->y + place + s * rows->slot);
          if (s > 0 && !any(x >= 0.0f))
            break;
          around->x[count] = u < 0 ? x - box->width_x : x;
          around->y[count++] = v < 0 ? y - box->width_y : y;
        }
      }
    around->end[group] = count;
  }
}

/* Returns the smallest squared distance to the disks around. */
GPUMC_INLINE vf nearest(const struct hard_disks_box *box, const struct around *around, vf x, vf y,
                        vf least)
{
  size_t i = 0;
  for (size_t group = 0; group < GROUPS; group++) {
    const vf from_x = group % 2 == 1 ? x - box->width_x : x,
             from_y = group / 2 == 1 ? y - box->width_y : y;
    for (; i < around->end[group]; i++) {
      const vf dx = around->x[i] - from_x, dy = around->y[i] - from_y;
      least = least_of(dx * dx + dy * dy, least);
    }
  }
  return least;
}

/* hard_disks_shuffle() with n <= most for each lane. */
GPUMC_INLINE gpumc_v32 shuffle(gpumc_v32 u, vi n, size_t most)
{
  gpumc_v32 order = gpumc_broadcast(HARD_DISKS_UNSHUFFLED);
  for (uint32_t i = most > 0 ? (uint32_t)most - 1 : 0; i > 0; i--) {
    const gpumc_v32 active = (gpumc_v32)(n > (int32_t)i);
    const gpumc_v32 left = u * (i + 1);
    const gpumc_v32 j = i == 3   ? u >> 30
                        : i == 2 ? (u >> 31) + ((gpumc_v32)(left < u) & 1)
                                 : u >> 31;
    const gpumc_v32 differ = (order >> 2 * i ^ order >> (2 * j)) & 3 & active;
    order ^= differ << 2 * i ^ differ << (2 * j);
    u = gpumc_select(active, left, u);
  }
  return order;
}

/* Returns the slot of trial s. */
GPUMC_INLINE vi slot_of(gpumc_v32 order, vi n, size_t most, uint32_t s)
{
  if (most == 1)
    return (vi){0};
  if (most == 2)
    return (vi)(order >> 2 * (s & 1) & 3) & (n == 2);
  const vi number =
      ((n == 2) & (int32_t)(s & 1)) | ((n == 3) & (int32_t)(s % 3)) | ((n == 4) & (int32_t)(s & 3));
  return (vi)(order >> (gpumc_v32)(2 * number) & 3);
}

GPUMC_INLINE vf displacement(gpumc_v32 word, float scale)
{
  const vi numerator = (vi)(word >> 8) * 2 + (1 - (1 << 24));
  return (1.5f + __builtin_convertvector(numerator, vf) * scale) - 1.5f;
}

/* Trials of one vector of cells. */
struct trials {
  const struct checkerboard_job *job;
  struct cells cells;
  struct around around;
  size_t most; /* largest number of disks in a cell */
  vi n;        /* number in each */
};

GPUMC_INLINE uint32_t try_once(struct trials *trials, gpumc_v32 order, uint32_t s, gpumc_v32 word_x,
                               gpumc_v32 word_y)
{
  const struct hard_disks_box *box = &trials->job->rows.box;
  struct cells *cells = &trials->cells;
  const vi slot = slot_of(order, trials->n, trials->most, s);
  vf x = cells->x[0], y = cells->y[0];
  for (size_t k = 1; k < trials->most; k++) {
    x = choose(slot == (int32_t)k, cells->x[k], x);
    y = choose(slot == (int32_t)k, cells->y[k], y);
  }
  x += displacement(word_x, trials->job->scale);
  y += displacement(word_y, trials->job->scale);
  const vf far = all_of(4.0f);
  vf least = far;
  for (size_t k = 0; k < trials->most && trials->most > 1; k++) {
    const vf dx = cells->x[k] - x, dy = cells->y[k] - y;
    least = least_of(choose(slot == (int32_t)k, far, dx * dx + dy * dy), least);
  }
  least = nearest(box, &trials->around, x, y, least);
  const vi accepted = (least >= HARD_DISKS_LIMIT) & (x >= 0.0f) & (x < box->width_x) & (y >= 0.0f) &
                      (y < box->width_y) & (trials->n > 0);
  for (size_t k = 0; k < trials->most; k++) {
    const vi here = accepted & (slot == (int32_t)k);
    cells->x[k] = choose(here, x, cells->x[k]);
    cells->y[k] = choose(here, y, cells->y[k]);
  }
  return gpumc_nonzero_words((gpumc_v32)accepted);
}

GPUMC_INLINE void move_vector(const struct checkerboard_job *job, const uint32_t rounds,
                              const struct gpumc_philox_stream *stream, size_t parity, size_t b,
                              size_t column, struct checkerboard_counts *counts)
{
  const struct checkerboard_rows *rows = &job->rows;
  float *const at_x = rows->x + start_of(rows, b, parity) + column, *const at_y =
                                                                        rows->y +
                                                                        start_of(rows, b, parity) +
                                                                        column;
  const vi inside = columns_from(column, rows->columns);
  const size_t used = rows->used[2 * b + parity];
  struct trials trials = {.job = job, .most = 0};
  load_cells(at_x, at_y, rows->slot, used, &trials.cells);
  for (size_t s = 0; s < used; s++) {
    const vi has = inside & (trials.cells.x[s] >= 0.0f);
    trials.most = any(has) ? s + 1 : trials.most;
    trials.n -= has;
  }
  if (trials.most == 0)
    return;
  counts->proposed += (uint64_t)job->options.moves *
                      (uint64_t)__builtin_popcount(gpumc_nonzero_words((gpumc_v32)(trials.n > 0)));
  load_around(rows, parity, b, column, &trials.around);
  const gpumc_v32 site =
      2 * gpumc_lane_numbers() + (uint32_t)(b * rows->box.cells_x + 2 * column + parity);
  gpumc_v32 order = gpumc_broadcast(HARD_DISKS_UNSHUFFLED);
  for (uint32_t s = 0; s < job->options.moves; s += 2 * CALLS) {
    const gpumc_v32 sites[CALLS] = {site, site};
    const uint32_t label[CALLS] = {gpumc_random_label(GPUMC_RANDOM_PARTICLES_MOVE, s / 2),
                                   gpumc_random_label(GPUMC_RANDOM_PARTICLES_MOVE, s / 2 + 1)};
    gpumc_v32 word[CALLS][4];
    gpumc_philox_draws(stream, rounds, CALLS, sites, label, word);
    if (s == 0 && job->options.shuffle && trials.most > 1)
      order = shuffle((word[0][0] & 0xff) | (word[0][1] & 0xff) << 8 | (word[0][2] & 0xff) << 16 |
                          word[0][3] << 24,
                      trials.n, trials.most);
    for (uint32_t k = 0; k < 2 * CALLS && s + k < job->options.moves; k++)
      counts->accepted += (uint64_t)__builtin_popcount(
          try_once(&trials, order, s + k, word[k / 2][k % 2 * 2], word[k / 2][k % 2 * 2 + 1]));
  }
  for (size_t s = 0; s < trials.most; s++) {
    store(at_x + s * rows->slot, trials.cells.x[s]);
    store(at_y + s * rows->slot, trials.cells.y[s]);
  }
}

GPUMC_INLINE struct checkerboard_counts move_rows(const struct checkerboard_job *job,
                                                  const uint32_t rounds, uint32_t colour,
                                                  size_t begin, size_t end)
{
  const struct checkerboard_rows *rows = &job->rows;
  const struct gpumc_philox_stream stream =
      gpumc_philox_stream_make(job->random, job->replica, job->time);
  const size_t parity = colour % 2;
  struct checkerboard_counts counts = {0};
  for (size_t b = begin; b < end; b += 2) {
    for (size_t column = 0; column < rows->columns; column += LANES)
      move_vector(job, rounds, &stream, parity, b, column, &counts);
    copy_ends(rows, b, parity, rows->used[2 * b + parity]);
  }
  return counts;
}

static struct checkerboard_counts
move(const struct checkerboard_job *job, uint32_t colour, size_t begin, size_t end)
{
  return job->random.rounds == 7 ? move_rows(job, 7, colour, begin, end)
                                 : move_rows(job, 10, colour, begin, end);
}

/* ---- shift of the grid ---- */

/* New disks of a vector of cells, n in each lane so far. */
struct list {
  struct cells cells;
  vi n;
};

/* Appends the disks of `from` that leave their cells or those that stay (`leaving`). */
GPUMC_INLINE void append(const struct checkerboard_job *job, const struct cells *from, size_t used,
                         bool leaving, struct list *list)
{
  const struct hard_disks_sweep *sweep = &job->sweep;
  const bool along_x = sweep->direction <= HARD_DISKS_LEFT;
  const bool forward = sweep->direction == HARD_DISKS_RIGHT || sweep->direction == HARD_DISKS_UP;
  const float w = along_x ? job->rows.box.width_x : job->rows.box.width_y;
  for (size_t s = 0; s < used; s++) {
    const vf old = along_x ? from->x[s] : from->y[s];
    const vf to = forward ? old - sweep->distance : (old - w) + sweep->distance;
    const vi leaves = forward ? to < 0.0f : to >= 0.0f;
    const vf moved = leaving ? (forward ? to + w : to) : forward ? to : old + sweep->distance;
    const vi comes = (leaving ? leaves : ~leaves) & (from->x[s] >= 0.0f);
    const vf x = along_x ? moved : from->x[s], y = along_x ? from->y[s] : moved;
    for (size_t k = 0; k < HARD_DISKS_SLOTS; k++) {
      const vi here = comes & (list->n == (int32_t)k);
      list->cells.x[k] = choose(here, x, list->cells.x[k]);
      list->cells.y[k] = choose(here, y, list->cells.y[k]);
    }
    list->n -= comes;
  }
}

GPUMC_INLINE void shift_cells(const struct checkerboard_job *job, const struct cells *own,
                              size_t own_used, const struct cells *other, size_t other_used,
                              struct list *list)
{
  for (size_t k = 0; k < HARD_DISKS_SLOTS; k++)
    list->cells.x[k] = list->cells.y[k] = all_of(HARD_DISKS_NOWHERE);
  list->n = (vi){0};
  append(job, own, own_used, false, list);
  append(job, other, other_used, true, list);
}

/* Returns the largest number of disks of a cell among the columns of the box. */
GPUMC_INLINE size_t most_of(vi n, vi inside)
{
  size_t most = 0;
  while (any(inside & (n > (int32_t)most)))
    most++;
  return most;
}

/* Slots beyond those in use before and now hold nothing anyway. */
GPUMC_INLINE void
store_list(float *x, float *y, size_t slot, const struct list *list, size_t before, size_t now)
{
  const size_t most = now > before ? now : before;
  for (size_t s = 0; s < most && s < HARD_DISKS_SLOTS; s++) {
    store(x + s * slot, list->cells.x[s]);
    store(y + s * slot, list->cells.y[s]);
  }
}

static size_t vectors_of(const struct checkerboard_rows *rows)
{
  return (rows->columns + LANES - 1) / LANES;
}

/* Records the slots in use in a row; returns whether it has that many. */
static bool use_slots(const struct checkerboard_rows *rows, size_t b, size_t parity, size_t now)
{
  uint8_t *const used = rows->used + 2 * b + parity;
  const size_t most = now < HARD_DISKS_SLOTS ? now : HARD_DISKS_SLOTS;
  copy_ends(rows, b, parity, most > *used ? most : *used);
  *used = (uint8_t)most;
  return now <= HARD_DISKS_SLOTS;
}

/* Done in place: cells that others still have to read come later. */
static bool shift_row_along_x(const struct checkerboard_job *job, size_t b)
{
  const struct checkerboard_rows *rows = &job->rows;
  const bool right = job->sweep.direction == HARD_DISKS_RIGHT;
  uint8_t *const used = rows->used + 2 * b;
  size_t now[2] = {0};
  for (size_t i = 0; i < vectors_of(rows); i++) {
    const size_t column = (right ? i : vectors_of(rows) - 1 - i) * LANES;
    const vi inside = columns_from(column, rows->columns);
    struct list list[2];
    for (size_t parity = 0; parity < 2; parity++) {
      const size_t own_at = start_of(rows, b, parity) + column,
                   other_at =
                       start_of(rows, b, 1 - parity) + column + parity - (size_t)(right ? 0 : 1);
      struct cells own, other;
      load_cells(rows->x + own_at, rows->y + own_at, rows->slot, used[parity], &own);
      load_cells(rows->x + other_at, rows->y + other_at, rows->slot, used[1 - parity], &other);
      shift_cells(job, &own, used[parity], &other, used[1 - parity], &list[parity]);
    }
    for (size_t parity = 0; parity < 2; parity++) {
      const size_t own_at = start_of(rows, b, parity) + column,
                   most = most_of(list[parity].n, inside);
      store_list(rows->x + own_at, rows->y + own_at, rows->slot, &list[parity], used[parity], most);
      now[parity] = most > now[parity] ? most : now[parity];
    }
  }
  const bool first = use_slots(rows, b, 0, now[0]), second = use_slots(rows, b, 1, now[1]);
  return first && second;
}

/* Disks that leave x[row], y[row] enter row b. */
static bool shift_row_along_y(const struct checkerboard_job *job, size_t b, const float *other_x,
                              const float *other_y, const uint8_t other_used[2])
{
  const struct checkerboard_rows *rows = &job->rows;
  uint8_t *const used = rows->used + 2 * b;
  bool fits = true;
  for (size_t parity = 0; parity < 2; parity++) {
    size_t now = 0;
    for (size_t column = 0; column < rows->columns; column += LANES) {
      const size_t own_at = start_of(rows, b, parity) + column,
                   other_at = parity * rows->parity + column;
      struct cells own, other;
      struct list list;
      load_cells(rows->x + own_at, rows->y + own_at, rows->slot, used[parity], &own);
      load_cells(other_x + other_at, other_y + other_at, rows->slot, other_used[parity], &other);
      shift_cells(job, &own, used[parity], &other, other_used[parity], &list);
      const size_t most = most_of(list.n, columns_from(column, rows->columns));
      store_list(rows->x + own_at, rows->y + own_at, rows->slot, &list, used[parity], most);
      now = most > now ? most : now;
    }
    fits = use_slots(rows, b, parity, now) && fits;
  }
  return fits;
}

static bool shift(const struct checkerboard_job *job, size_t begin, size_t end, const float *beyond)
{
  static const uint8_t all[2] = {HARD_DISKS_SLOTS, HARD_DISKS_SLOTS};
  const struct checkerboard_rows *rows = &job->rows;
  const bool up = job->sweep.direction == HARD_DISKS_UP;
  bool fits = true;
  if (job->sweep.direction <= HARD_DISKS_LEFT) {
    for (size_t b = begin; b < end; b++)
      fits = shift_row_along_x(job, b) && fits;
    return fits;
  }
  for (size_t i = 0; i < end - begin; i++) {
    const size_t b = up ? begin + i : end - 1 - i, other = up ? b + 1 : b - 1;
    const bool is_last = i + 1 == end - begin;
    fits = shift_row_along_y(job, b, is_last ? beyond : rows->x + other * rows->row,
                             is_last ? beyond + rows->row : rows->y + other * rows->row,
                             is_last ? all : rows->used + 2 * other) &&
           fits;
  }
  return fits;
}

extern const struct checkerboard_ops GPUMC_ISA_NAME(checkerboard_ops);
const struct checkerboard_ops GPUMC_ISA_NAME(checkerboard_ops) = {.move = move, .shift = shift};
