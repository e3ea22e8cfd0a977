/* The packed kernel at one level: rows and their neighbours as arrays. */
#ifndef GPUMC_ISING_PACKED_ISA_H
#define GPUMC_ISING_PACKED_ISA_H

#include "core/simd.h"
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

/* Row number `line` of a colour. */
static inline void ising_packed_copy_row(const struct ising_packed_part *part, size_t colour,
                                         size_t line, uint32_t *to)
{
  const size_t row = part->lattice->row, at = colour * part->lattice->colour + line * row;
  memcpy(to, part->words + at, row * sizeof *to);
  for (size_t i = 0; part->other != NULL && i < row; i++)
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

static inline struct ising_packed_rows
ising_packed_load(const struct ising_packed_part *part, size_t colour)
{
  const struct gpumc_checkerboard *lattice = part->lattice;
  const size_t height = lattice->length_y, depth = lattice->length_z, row = lattice->row;
  struct ising_packed_rows rows = {.spin = ising_packed_array(part, 0), .count = part->lines * row};
  for (size_t d = 0; d < GPUMC_NEIGHBOURS_MAXIMUM; d++)
    rows.near[d] = ising_packed_array(part, 1 + d);
  for (size_t i = 0; i < part->lines; i++) {
    const size_t line = part->first + i, y = line % height, z = line / height, at = i * row;
    const size_t plane = line - y;
    ising_packed_copy_row(part, colour, line, rows.spin + at);
    ising_packed_copy_row(part, 1 - colour, line, rows.near[GPUMC_SAME_INDEX] + at);
    ising_packed_shift_row(rows.near[GPUMC_SAME_INDEX] + at, row, ((y + z + colour) & 1) == 0,
                           rows.near[GPUMC_SIDE] + at);
    ising_packed_copy_row(part, 1 - colour, plane + (y + height - 1) % height,
                          rows.near[GPUMC_ROW_BEFORE] + at);
    ising_packed_copy_row(part, 1 - colour, plane + (y + 1) % height,
                          rows.near[GPUMC_ROW_AFTER] + at);
    if (lattice->dimension == 2)
      continue;
    ising_packed_copy_row(part, 1 - colour, (z + depth - 1) % depth * height + y,
                          rows.near[GPUMC_PLANE_BEFORE] + at);
    ising_packed_copy_row(part, 1 - colour, (z + 1) % depth * height + y,
                          rows.near[GPUMC_PLANE_AFTER] + at);
  }
  return rows;
}

void GPUMC_ISA_NAME(ising_packed_update)(const struct ising_packed_part *part,
                                         const struct ising_multispin_rule *rule, size_t colour,
                                         uint32_t time);

#endif
