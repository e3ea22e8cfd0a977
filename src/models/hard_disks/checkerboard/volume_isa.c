/* Moves of the volume by the kernel `checkerboard` on the CPU: a lane is a cell, as in
 * checkerboard_isa.c. Gives the same bits as checkerboard_plain.c. */
#include "models/hard_disks/checkerboard/checkerboard_isa.h"

typedef double vd __attribute__((vector_size(2 * GPUMC_VECTOR_BYTES)));

/* hard_disks_scaled() for each lane that has a disk. */
GPUMC_INLINE vf scaled(vf x, gpumc_v32 word, double ratio, float width)
{
  const vd quanta = __builtin_convertvector(x * (float)HARD_DISKS_UNIT, vd),
           part = __builtin_convertvector((vi)(word >> 8), vd);
  const vd at = quanta + (part + 0.5) * 0x1p-24;
  const vf to = __builtin_convertvector(__builtin_convertvector(at * ratio, vi), vf) *
                (1.0f / (float)HARD_DISKS_UNIT);
  return least_of(to, all_of(width - 1.0f / (float)HARD_DISKS_UNIT));
}

GPUMC_INLINE void scale_vector(const struct checkerboard_volume *volume, const uint32_t rounds,
                               const struct gpumc_philox_stream *stream, size_t b, size_t parity,
                               size_t column)
{
  const struct checkerboard_rows *from = &volume->from, *to = &volume->to;
  const struct hard_disks_volume_move *move = &volume->move;
  const size_t used = from->used[2 * b + parity], place = start_of(from, b, parity) + column;
  const gpumc_v32 sites[1] = {2 * gpumc_lane_numbers() +
                              (uint32_t)(b * from->box.cells_x + 2 * column + parity)};
  gpumc_v32 word[1][4];
  for (size_t s = 0; s < used; s++) {
    const vf x = load(from->x + place + s * from->slot), y = load(from->y + place + s * from->slot);
    const vi there_is = x >= 0.0f;
    if (s % 2 == 0) {
      const uint32_t label[1] = {
          gpumc_random_label(GPUMC_RANDOM_PARTICLES_VOLUME, (uint32_t)(s / 2))};
      gpumc_philox_draws(stream, rounds, 1, sites, label, word);
    }
    const vf to_x = scaled(x, word[0][s % 2 * 2], move->ratio[0], to->box.width_x),
             to_y = scaled(y, word[0][s % 2 * 2 + 1], move->ratio[1], to->box.width_y);
    store(to->x + place + s * to->slot, choose(there_is, to_x, x));
    store(to->y + place + s * to->slot, choose(there_is, to_y, y));
  }
}

GPUMC_INLINE void
scale_by(const struct checkerboard_volume *volume, const uint32_t rounds, size_t b)
{
  const struct gpumc_philox_stream stream =
      gpumc_philox_stream_make(volume->random, volume->replica, volume->time);
  for (size_t parity = 0; parity < 2; parity++) {
    for (size_t column = 0; column < volume->from.columns; column += LANES)
      scale_vector(volume, rounds, &stream, b, parity, column);
    copy_ends(&volume->to, b, parity, volume->from.used[2 * b + parity]);
  }
}

static void scale_row(const struct checkerboard_volume *volume, size_t b)
{
  if (volume->random.rounds == 7)
    scale_by(volume, 7, b);
  else
    scale_by(volume, 10, b);
}

/* Returns the lanes whose disk at (x, y) overlaps one of the slots from `first` on of the cells at
 * `place`, which are (u, v) away from their own. */
GPUMC_INLINE vi overlaps_with(const struct checkerboard_rows *rows, vf x, vf y, size_t place,
                              size_t first, size_t used, float u, float v)
{
  vi found = {0};
  for (size_t s = first; s < used; s++) {
    const vf dx = (load(rows->x + place + s * rows->slot) - x) + u * rows->box.width_x,
             dy = (load(rows->y + place + s * rows->slot) - y) + v * rows->box.width_y;
    found |= dx * dx + dy * dy < HARD_DISKS_LIMIT;
  }
  return found;
}

/* Checks each pair once: with later disks of the cell, the cell on the right, and the three
 * below. */
GPUMC_INLINE bool
vector_overlaps(const struct checkerboard_rows *rows, size_t b, size_t parity, size_t column)
{
  const size_t below = b == 0 ? rows->box.cells_y - 1u : b - 1, other = 1 - parity;
  const size_t used = rows->used[2 * b + parity], used_other = rows->used[2 * b + other];
  const size_t place = start_of(rows, b, parity) + column;
  const size_t right = start_of(rows, b, other) + column + parity;
  const size_t under = start_of(rows, below, parity) + column;
  const size_t under_right = start_of(rows, below, other) + column + parity;
  const size_t used_under = rows->used[2 * below + parity],
               used_beside = rows->used[2 * below + other];
  const vi inside = columns_from(column, rows->columns);
  vi found = {0};
  for (size_t s = 0; s < used; s++) {
    const vf x = load(rows->x + place + s * rows->slot), y = load(rows->y + place + s * rows->slot);
    const vi of_disk = overlaps_with(rows, x, y, place, s + 1, used, 0.0f, 0.0f) |
                       overlaps_with(rows, x, y, right, 0, used_other, 1.0f, 0.0f) |
                       overlaps_with(rows, x, y, under, 0, used_under, 0.0f, -1.0f) |
                       overlaps_with(rows, x, y, under_right, 0, used_beside, 1.0f, -1.0f) |
                       overlaps_with(rows, x, y, under_right - 1, 0, used_beside, -1.0f, -1.0f);
    found |= of_disk & inside & (x >= 0.0f);
  }
  return any(found);
}

static bool row_overlaps(const struct checkerboard_volume *volume, size_t b)
{
  for (size_t parity = 0; parity < 2; parity++)
    for (size_t column = 0; column < volume->to.columns; column += LANES)
      if (vector_overlaps(&volume->to, b, parity, column))
        return true;
  return false;
}

extern const struct checkerboard_volume_ops GPUMC_ISA_NAME(checkerboard_volume_ops);
const struct checkerboard_volume_ops
    GPUMC_ISA_NAME(checkerboard_volume_ops) = {.scale = scale_row, .overlaps = row_overlaps};
