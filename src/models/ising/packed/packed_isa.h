/* The packed kernel at one level: rows and their neighbours as arrays. */
#ifndef GPUMC_ISING_PACKED_ISA_H
#define GPUMC_ISING_PACKED_ISA_H

#include "core/numerics/simd.h"
#include "models/ising/packed/packed.h"

/* The spins of a part, and their neighbours (enum gpumc_neighbour), `count` words each. */
struct ising_packed_rows {
  uint32_t *spin, *near[GPUMC_NEIGHBOURS_MAXIMUM];
  size_t count;
};

static inline uint32_t *ising_packed_array(const struct ising_packed_part *part, size_t array)
{
  return part->scratch + array * ising_packed_extent(part->lattice);
}

/* `lines` rows of a colour from number `line` on. */
static inline void ising_packed_copy_rows(const struct ising_packed_part *part, size_t colour,
                                          size_t line, size_t lines, uint32_t *to)
{
  const size_t row = part->lattice->row, at = colour * part->lattice->colour + line * row;
  memcpy(to, part->words + at, lines * row * sizeof *to);
  for (size_t i = 0; part->other != NULL && i < lines * row; i++)
    to[i] ^= part->other[at + i];
}

/* Site k - 1 or k + 1 of every site k of a row, periodic. */
static inline void
ising_packed_shift_row(const uint32_t *restrict same, size_t row, bool back, uint32_t *restrict to)
{
  if (back) {
    to[0] = same[0] << 1 | same[row - 1] >> (ISING_PACKED_BITS - 1);
    for (size_t i = 1; i < row; i++)
      to[i] = same[i] << 1 | same[i - 1] >> (ISING_PACKED_BITS - 1);
  } else {
    for (size_t i = 0; i + 1 < row; i++)
      to[i] = same[i] >> 1 | same[i + 1] << (ISING_PACKED_BITS - 1);
    to[row - 1] = same[row - 1] >> 1 | same[0] << (ISING_PACKED_BITS - 1);
  }
}

/* Rows in turn, the first one back or not. Rows of a single word are turned in whole vectors. */
static inline void ising_packed_shift_rows(const uint32_t *restrict same, size_t row, size_t lines,
                                           bool back, uint32_t *restrict to)
{
  const uint32_t first = back ? 0 : 1;
  for (size_t i = 0; row == 1 && i < lines; i++) {
    const uint32_t forth = -((first ^ (uint32_t)i) & 1);
    const uint32_t before = same[i] << 1 | same[i] >> (ISING_PACKED_BITS - 1);
    const uint32_t after = same[i] >> 1 | same[i] << (ISING_PACKED_BITS - 1);
    to[i] = (before & ~forth) | (after & forth);
  }
  for (size_t i = 0; row > 1 && i < lines; i++)
    ising_packed_shift_row(same + i * row, row, ((first ^ i) & 1) == 0, to + i * row);
}

/* `lines` rows of one plane, from number `line` on, into the arrays from word `at` on. */
static inline void ising_packed_load_plane(const struct ising_packed_part *part, size_t colour,
                                           size_t line, size_t lines, size_t at,
                                           const struct ising_packed_rows *rows)
{
  const struct gpumc_checkerboard *lattice = part->lattice;
  const size_t height = lattice->length_y, depth = lattice->length_z, row = lattice->row;
  const size_t y = line % height, z = line / height, plane = line - y, last = (lines - 1) * row;
  uint32_t *same = rows->near[GPUMC_SAME_INDEX] + at, *before = rows->near[GPUMC_ROW_BEFORE] + at,
           *after = rows->near[GPUMC_ROW_AFTER] + at;
  ising_packed_copy_rows(part, colour, line, lines, rows->spin + at);
  ising_packed_copy_rows(part, 1 - colour, line, lines, same);
  ising_packed_shift_rows(same, row, lines, ((y + z + colour) & 1) == 0,
                          rows->near[GPUMC_SIDE] + at);
  ising_packed_copy_rows(part, 1 - colour, plane + (y + height - 1) % height, 1, before);
  memcpy(before + row, same, last * sizeof *same);
  memcpy(after, same + row, last * sizeof *same);
  ising_packed_copy_rows(part, 1 - colour, plane + (y + lines) % height, 1, after + last);
  if (lattice->dimension == 2)
    return;
  ising_packed_copy_rows(part, 1 - colour, (z + depth - 1) % depth * height + y, lines,
                         rows->near[GPUMC_PLANE_BEFORE] + at);
  ising_packed_copy_rows(part, 1 - colour, (z + 1) % depth * height + y, lines,
                         rows->near[GPUMC_PLANE_AFTER] + at);
}

static inline struct ising_packed_rows
ising_packed_load(const struct ising_packed_part *part, size_t colour)
{
  const size_t height = part->lattice->length_y, row = part->lattice->row;
  struct ising_packed_rows rows = {.spin = ising_packed_array(part, 0), .count = part->lines * row};
  for (size_t d = 0; d < GPUMC_NEIGHBOURS_MAXIMUM; d++)
    rows.near[d] = ising_packed_array(part, 1 + d);
  for (size_t i = 0, lines; i < part->lines; i += lines) {
    const size_t line = part->first + i, of_plane = height - line % height;
    lines = part->lines - i < of_plane ? part->lines - i : of_plane;
    ising_packed_load_plane(part, colour, line, lines, i * row, &rows);
  }
  return rows;
}

void GPUMC_ISA_NAME(ising_packed_update)(const struct ising_packed_part *part,
                                         const struct ising_multispin_rule *rule, size_t colour,
                                         uint32_t time);

#endif
