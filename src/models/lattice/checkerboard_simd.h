/* Filling the working copies of checkerboard.h with whole vectors, for elements of any size.
 *
 * Vectors reach beyond the row that is copied: into elements that are written later, or into the
 * padding. Rows are short (32 bytes for L = 64, one byte per spin), so exact ends would cost more
 * than the copying. */
#ifndef GPUMC_LATTICE_CHECKERBOARD_SIMD_H
#define GPUMC_LATTICE_CHECKERBOARD_SIMD_H

#include "core/numerics/simd.h"
#include "models/lattice/checkerboard.h"

GPUMC_INLINE void gpumc_copy_vector(uint8_t *to, const uint8_t *from)
{
  gpumc_v8 v;
  memcpy(&v, from, sizeof v);
  memcpy(to, &v, sizeof v);
}

/* Fills the halos before and after a colour; `sites` points to its first site. */
GPUMC_INLINE void
gpumc_checkerboard_wrap(const struct gpumc_checkerboard *lattice, void *sites, const size_t element)
{
  const size_t halo = gpumc_checkerboard_halo(lattice) * element;
  const size_t colour = lattice->colour * element;
  const size_t whole = (halo + GPUMC_VECTOR_BYTES - 1) / GPUMC_VECTOR_BYTES * GPUMC_VECTOR_BYTES;
  uint8_t *first = sites;
  /* Ends, rather than begins, with the last site: nothing may be written after `first`. */
  for (size_t i = 0; i < whole; i += GPUMC_VECTOR_BYTES)
    gpumc_copy_vector(first - whole + i, first + colour + i - whole);
  for (size_t i = 0; i < halo; i += GPUMC_VECTOR_BYTES)
    gpumc_copy_vector(first + colour + i, first + i);
}

/* Returns word i of `words` if bit i of `where` is set, otherwise of `otherwise`. Long rows have
 * many successive vectors that are all one or all the other: worth a branch if masks must be
 * made. */
GPUMC_INLINE gpumc_v32 gpumc_load_where(uint32_t where, const uint32_t *words, gpumc_v32 otherwise)
{
#if defined(__AVX512F__)
  return (gpumc_v32)_mm512_mask_loadu_epi32((__m512i)otherwise, (__mmask16)where, words);
#else
  const gpumc_v32 bit = gpumc_broadcast(1) << gpumc_lane_numbers();
  where &= (1u << GPUMC_VECTOR_WORDS) - 1;
  if (where == 0)
    return otherwise;
  return gpumc_select((gpumc_v32)((gpumc_broadcast(where) & bit) != 0), gpumc_load(words),
                      otherwise);
#endif
}

/* Returns the bit of site k, the first of a vector, in the masks of its block: 0 if a vector is a
 * block. */
GPUMC_INLINE size_t gpumc_checkerboard_edge_shift(size_t k)
{
  return (int)GPUMC_VECTOR_WORDS == (int)GPUMC_EDGE_SITES ? 0 : k % GPUMC_EDGE_SITES;
}

/* Loads neighbour[] (enum gpumc_neighbour) of a vector of words from k on, a multiple of the
 * vector's length. `dimension`: a constant; `edges`: of the colour of the sites; `other`: a working
 * copy of the other colour. */
GPUMC_INLINE void
gpumc_checkerboard_neighbours(const struct gpumc_checkerboard *lattice, const size_t dimension,
                              const struct gpumc_checkerboard_edges *edges, const uint32_t *other,
                              size_t k, gpumc_v32 neighbour[GPUMC_NEIGHBOURS_MAXIMUM])
{
  const struct gpumc_checkerboard_edges *edge = &edges[k / GPUMC_EDGE_SITES];
  const size_t row = lattice->row, plane = lattice->plane, shift = gpumc_checkerboard_edge_shift(k);
  const uint32_t *at = other + k;
  gpumc_v32 side = gpumc_load(at + 1);
  side = gpumc_load_where(edge->back >> shift, at - 1, side);
  side = gpumc_load_where(edge->back_around >> shift, at + row - 1, side);
  side = gpumc_load_where(edge->forward_around >> shift, at + 1 - row, side);
  neighbour[GPUMC_ROW_BEFORE] = gpumc_load(at - row);
  neighbour[GPUMC_ROW_AFTER] = gpumc_load(at + row);
  neighbour[GPUMC_SAME_INDEX] = gpumc_load(at);
  neighbour[GPUMC_SIDE] = side;
  if (dimension < 3)
    return;
  neighbour[GPUMC_ROW_BEFORE] =
      gpumc_load_where(edge->first_row >> shift, at + plane - row, neighbour[GPUMC_ROW_BEFORE]);
  neighbour[GPUMC_ROW_AFTER] =
      gpumc_load_where(edge->last_row >> shift, at + row - plane, neighbour[GPUMC_ROW_AFTER]);
  neighbour[GPUMC_PLANE_BEFORE] = gpumc_load(at - plane);
  neighbour[GPUMC_PLANE_AFTER] = gpumc_load(at + plane);
}

#endif
