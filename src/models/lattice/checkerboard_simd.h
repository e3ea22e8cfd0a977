/* Filling the working copies of checkerboard.h with whole vectors, for elements of any size.
 *
 * Vectors reach beyond the row that is copied: into what is written later, or into the padding.
 * Rows are short (32 bytes for L = 64, one byte a spin), so that exact ends would cost more than
 * the copying. */
#ifndef GPUMC_LATTICE_CHECKERBOARD_SIMD_H
#define GPUMC_LATTICE_CHECKERBOARD_SIMD_H

#include "core/simd.h"
#include "models/lattice/checkerboard.h"

GPUMC_INLINE void gpumc_copy_vector(uint8_t *to, const uint8_t *from)
{
  gpumc_v8 v;
  memcpy(&v, from, sizeof v);
  memcpy(to, &v, sizeof v);
}

/* The rows before and after a colour; `sites` points to its first site. */
GPUMC_INLINE void
gpumc_checkerboard_wrap(const struct gpumc_checkerboard *lattice, void *sites, const size_t element)
{
  const size_t row = lattice->row * element, colour = lattice->colour * element;
  const size_t whole = (row + GPUMC_VECTOR_BYTES - 1) / GPUMC_VECTOR_BYTES * GPUMC_VECTOR_BYTES;
  uint8_t *first = sites;
  /* Ends, not begins, with the last row: nothing may be written behind `first`. */
  for (size_t i = 0; i < whole; i += GPUMC_VECTOR_BYTES)
    gpumc_copy_vector(first - whole + i, first + colour + i - whole);
  for (size_t i = 0; i < row; i += GPUMC_VECTOR_BYTES)
    gpumc_copy_vector(first + colour + i, first + i);
}

/* The same-row neighbours, one place aside, of `rows` rows of colour `colour` from row `y` on;
 * `other` is the other colour. */
GPUMC_INLINE void gpumc_checkerboard_side(const struct gpumc_checkerboard *lattice,
                                          const void *other, size_t colour, size_t y, size_t rows,
                                          void *side, const size_t element)
{
  const size_t row = lattice->row * element;
  const uint8_t *from = (const uint8_t *)other + y * row;
  uint8_t *to = side;
  for (size_t end = y + rows; y < end; y++, from += row, to += row) {
    const size_t back = ((y + colour) & 1) == 0 ? 1 : 0;
    const uint8_t *aside = back ? from - element : from + element;
    for (size_t i = 0; i < row; i += GPUMC_VECTOR_BYTES)
      gpumc_copy_vector(to + i, aside + i);
    memcpy(back ? to : to + row - element, back ? from + row - element : from, element);
  }
}

#endif
