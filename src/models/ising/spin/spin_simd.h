/* The spin kernel on CPUs in vectors: neighbours of whole vectors of spins, however short the rows
 * are, and the random numbers of the trajectory. */
#ifndef GPUMC_ISING_SPIN_SIMD_H
#define GPUMC_ISING_SPIN_SIMD_H

#include "core/numerics/simd_philox.h"
#include "models/ising/spin/spin.h"
#include "models/lattice/checkerboard_simd.h"

GPUMC_INLINE gpumc_v8 ising_load_bytes(const uint8_t *bytes)
{
  gpumc_v8 v;
  memcpy(&v, bytes, sizeof v);
  return v;
}

GPUMC_INLINE void ising_store_bytes(uint8_t *bytes, gpumc_v8 v)
{
  memcpy(bytes, &v, sizeof v);
}

/* Returns the bytes at `where` for sites whose place has the bit, `otherwise` for the others. */
GPUMC_INLINE gpumc_v8 ising_load_where(gpumc_v8 place, const int bit, const uint8_t *where,
                                       gpumc_v8 otherwise)
{
#if defined(__AVX512F__)
  const __mmask64 mask = _mm512_test_epi8_mask((__m512i)place, _mm512_set1_epi8((char)(1 << bit)));
  return (gpumc_v8)_mm512_mask_loadu_epi8((__m512i)otherwise, mask, where);
#elif defined(__AVX2__)
  const __m256i mask = _mm256_slli_epi16((__m256i)place, 7 - bit);
  return (gpumc_v8)_mm256_blendv_epi8((__m256i)otherwise, (__m256i)ising_load_bytes(where), mask);
#elif defined(__SSE4_1__)
  const __m128i mask = _mm_slli_epi16((__m128i)place, 7 - bit);
  return (gpumc_v8)_mm_blendv_epi8((__m128i)otherwise, (__m128i)ising_load_bytes(where), mask);
#else
  const gpumc_v8 mask = (gpumc_v8)((place & (uint8_t)(1 << bit)) != 0);
  return otherwise ^ (mask & (otherwise ^ ising_load_bytes(where)));
#endif
}

/* Loads the neighbours of the vector of sites from `at` - first site on, where `at` points into the
 * working copy of the other colour, and `place` to the first site's. `dimension`: a constant. */
GPUMC_INLINE void ising_spin_neighbours(const struct gpumc_checkerboard *lattice,
                                        const size_t dimension, const uint8_t *at,
                                        const uint8_t *places,
                                        gpumc_v8 neighbour[GPUMC_NEIGHBOURS_MAXIMUM])
{
  const size_t row = lattice->row, plane = lattice->plane;
  const gpumc_v8 place = ising_load_bytes(places);
  gpumc_v8 side = ising_load_bytes(at + 1);
  side = ising_load_where(place, ISING_SPIN_BACK, at - 1, side);
  side = ising_load_where(place, ISING_SPIN_BACK_AROUND, at + row - 1, side);
  side = ising_load_where(place, ISING_SPIN_FORWARD_AROUND, at + 1 - row, side);
  neighbour[GPUMC_ROW_BEFORE] = ising_load_bytes(at - row);
  neighbour[GPUMC_ROW_AFTER] = ising_load_bytes(at + row);
  neighbour[GPUMC_SAME_INDEX] = ising_load_bytes(at);
  neighbour[GPUMC_SIDE] = side;
  if (dimension < 3)
    return;
  neighbour[GPUMC_ROW_BEFORE] =
      ising_load_where(place, ISING_SPIN_FIRST_ROW, at + plane - row, neighbour[GPUMC_ROW_BEFORE]);
  neighbour[GPUMC_ROW_AFTER] =
      ising_load_where(place, ISING_SPIN_LAST_ROW, at + row - plane, neighbour[GPUMC_ROW_AFTER]);
  neighbour[GPUMC_PLANE_BEFORE] = ising_load_bytes(at - plane);
  neighbour[GPUMC_PLANE_AFTER] = ising_load_bytes(at + plane);
}

/* Converts neighbours to the direction of their pull: inverted if their coupling is negative. */
GPUMC_INLINE void ising_spin_pulls(const size_t dimension, gpumc_v8 signs,
                                   gpumc_v8 neighbour[GPUMC_NEIGHBOURS_MAXIMUM])
{
#pragma GCC unroll 6
  for (size_t n = 0; n < 2 * dimension; n++)
    neighbour[n] ^= (signs >> (uint8_t)n) & 1;
}

GPUMC_INLINE gpumc_v8 ising_spin_count(const size_t dimension,
                                       const gpumc_v8 neighbour[GPUMC_NEIGHBOURS_MAXIMUM])
{
  gpumc_v8 up = neighbour[GPUMC_ROW_BEFORE] + neighbour[GPUMC_ROW_AFTER] +
                neighbour[GPUMC_SAME_INDEX] + neighbour[GPUMC_SIDE];
  if (dimension == 3)
    up += neighbour[GPUMC_PLANE_BEFORE] + neighbour[GPUMC_PLANE_AFTER];
  return up;
}

/* Returns the places of the sites of `colour` from k on, ISING_SPIN_CHUNK of them and a vector. */
GPUMC_INLINE const uint8_t *
ising_spin_places(const struct ising_spin_lattice *lattice, size_t colour, size_t k)
{
  return lattice->place + k % lattice->period + colour * lattice->shift;
}

/* Returns the sites to process from k on, whole blocks of 64: the last one may reach beyond the
 * lattice. */
GPUMC_INLINE size_t ising_spin_chunk(const struct gpumc_checkerboard *lattice, size_t k)
{
  const size_t step = GPUMC_CHECKERBOARD_PADDING,
               n = (lattice->colour - k + step - 1) / step * step;
  return n < ISING_SPIN_CHUNK ? n : ISING_SPIN_CHUNK;
}

/* Makes working copies of the colours in `scratch`: of `spins`, or where they are like `other`. */
GPUMC_INLINE void ising_spin_load(const struct gpumc_checkerboard *lattice, const uint8_t *spins,
                                  const uint8_t *other, uint8_t *scratch, uint8_t *sites[2])
{
  const size_t step = GPUMC_CHECKERBOARD_PADDING;
  const size_t layers = ising_spin_layers(lattice) * sizeof(uint32_t);
  uint8_t *copies = scratch + (layers + step - 1) / step * step;
  for (size_t colour = 0; colour < 2; colour++) {
    const size_t first = colour * lattice->colour;
    uint8_t *copy =
        copies + colour * gpumc_checkerboard_extent(lattice) + gpumc_checkerboard_lead(lattice);
    sites[colour] = copy;
    memcpy(copy, spins + first, lattice->colour);
    for (size_t i = 0; other != NULL && i < lattice->colour; i++)
      copy[i] = copy[i] ^ other[first + i] ^ 1;
    gpumc_checkerboard_wrap(lattice, copy, sizeof(uint8_t));
  }
}

/* Random numbers of the trajectory "ising.spin.1": blocks of 64 spins of a colour have 16 Philox
 * counters, whose outputs j = 0..3 belong to the spins 16 j .. 16 j + 15. Four vectors of counters
 * at a time. */
enum {
  ISING_SPIN_BLOCK = 64,
  ISING_SPIN_COUNTERS = 16,
  ISING_SPIN_OUTPUTS = 4,
  ISING_SPIN_VECTORS = 4, /* of counters that are drawn together */
  ISING_SPIN_BLOCK_VECTORS = ISING_SPIN_COUNTERS / GPUMC_VECTOR_WORDS,
  ISING_SPIN_BLOCKS = ISING_SPIN_VECTORS / ISING_SPIN_BLOCK_VECTORS
};

/* Draws the numbers of `blocks` (a constant) blocks, in the order of the spins, the first of which
 * is spin k. */
GPUMC_INLINE void ising_spin_numbers(const struct gpumc_philox_stream *stream,
                                     const uint32_t rounds, uint32_t label, const size_t blocks,
                                     size_t k,
                                     gpumc_v32 number[ISING_SPIN_VECTORS * ISING_SPIN_OUTPUTS])
{
  const uint32_t counter = (uint32_t)(k / ISING_SPIN_OUTPUTS);
  const uint32_t labels[ISING_SPIN_VECTORS] = {label, label, label, label};
  const size_t vectors = blocks * ISING_SPIN_BLOCK_VECTORS;
  gpumc_v32 site[ISING_SPIN_VECTORS], drawn[ISING_SPIN_VECTORS][ISING_SPIN_OUTPUTS];
#pragma GCC unroll 4
  for (size_t v = 0; v < vectors; v++)
    site[v] = gpumc_lane_numbers() + (uint32_t)v * GPUMC_VECTOR_WORDS + counter;
  gpumc_philox_draws(stream, rounds, vectors, site, labels, drawn);
#pragma GCC unroll 16
  for (size_t i = 0; i < vectors * ISING_SPIN_OUTPUTS; i++) {
    const size_t first = i * GPUMC_VECTOR_WORDS;
    const size_t block = first / ISING_SPIN_BLOCK, within = first % ISING_SPIN_BLOCK;
    number[i] =
        drawn[block * ISING_SPIN_BLOCK_VECTORS + within % ISING_SPIN_COUNTERS / GPUMC_VECTOR_WORDS]
             [within / ISING_SPIN_COUNTERS];
  }
}

#endif
