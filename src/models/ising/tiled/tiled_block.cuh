/* A tile and its boundary in the shared memory of a block of threads. */
#ifndef GPUMC_ISING_TILED_BLOCK_CUH
#define GPUMC_ISING_TILED_BLOCK_CUH

#include "models/ising/ising_channels.h"
#include "models/ising/tiled/tiled_gpu.h"

enum { ISING_TILED_WARP = 32, ISING_TILED_THREADS_MAXIMUM = 512 };

/* A word of a tile: its place in the working copy, its line, and which bytes are sites. */
struct ising_tiled_word {
  uint32_t at, line, along, sites, shift; /* shift: of colour 0 */
};

__device__ static inline struct ising_tiled_word
ising_tiled_word(const struct ising_tiled_geometry *geometry, uint32_t w)
{
  struct ising_tiled_word word;
  word.line = w / geometry->row_words;
  word.along = w - word.line * geometry->row_words;
  word.at = ising_tiled_line(geometry, word.line) + word.along;
  word.sites = word.along + 1 < geometry->row_words ? 0x01010101 : geometry->last_mask;
  word.shift = ising_tiled_shift(geometry, 0, word.line);
  return word;
}

/* Loads the lines of the tiles beyond the first and the last one along an axis other than x;
 * from[side]: those tiles' words of one colour. */
__device__ static inline void ising_tiled_load_lines(const struct ising_tiled_geometry *geometry,
                                                     uint32_t axis, const uint32_t *const from[2],
                                                     uint32_t *copy)
{
  const uint32_t t = geometry->tile, row = geometry->row_words;
  const uint32_t count = geometry->lines / t * row; /* words of one side */
  for (uint32_t i = threadIdx.x; i < 2 * count; i += blockDim.x) {
    const uint32_t side = i / count, other = (i - side * count) / row, w = i % row;
    const uint32_t inner = side == 0 ? t - 1 : 0;
    const int outer = side == 0 ? -1 : (int)t;
    const uint32_t line = axis == 1 ? other * t + inner : inner * t + other;
    const uint32_t to = axis == 1 ? ising_tiled_copy_line(geometry, outer, (int)other)
                                  : ising_tiled_copy_line(geometry, (int)other, outer);
    copy[to + w] = from[side][line * row + w];
  }
}

/* Loads the spins beyond both ends of each line. */
__device__ static inline void ising_tiled_load_ends(const struct ising_tiled_geometry *geometry,
                                                    const uint32_t *const from[2], uint32_t *copy)
{
  const uint32_t row_bytes = geometry->row_words * ISING_TILED_LANES;
  for (uint32_t l = threadIdx.x; l < geometry->lines; l += blockDim.x) {
    uint8_t *bytes = (uint8_t *)(copy + ising_tiled_line(geometry, l));
    bytes[-1] = ((const uint8_t *)from[0])[l * row_bytes + geometry->row - 1];
    bytes[geometry->row] = ((const uint8_t *)from[1])[l * row_bytes];
  }
}

/* Loads the tile and its boundary, with all threads of the block together, which all see it on
 * return. `words`: of the replica. copy[2][copy_words]. */
__device__ static inline void ising_tiled_load(const struct ising_tiled_geometry *geometry,
                                               const uint32_t *words, struct ising_tiled_tile tile,
                                               uint32_t *copy)
{
  const uint32_t *own = words + ising_tiled_words(geometry, tile);
  for (uint32_t colour = 0; colour < 2; colour++) {
    uint32_t *to = copy + colour * geometry->copy_words;
    const uint32_t offset = colour * geometry->words;
    for (uint32_t w = threadIdx.x; w < geometry->words; w += blockDim.x)
      to[ising_tiled_word(geometry, w).at] = own[offset + w];
    for (uint32_t axis = 1; axis < geometry->dimension; axis++) {
      const uint32_t *const next[2] = {
          words + ising_tiled_words(geometry, ising_tiled_next(geometry, tile, axis, -1)) + offset,
          words + ising_tiled_words(geometry, ising_tiled_next(geometry, tile, axis, 1)) + offset};
      ising_tiled_load_lines(geometry, axis, next, to);
    }
  }
  /* The end of a line may be part of its last word. */
  __syncthreads();
  for (uint32_t colour = 0; colour < 2; colour++) {
    const uint32_t offset = colour * geometry->words;
    const uint32_t *const next[2] = {
        words + ising_tiled_words(geometry, ising_tiled_next(geometry, tile, 0, -1)) + offset,
        words + ising_tiled_words(geometry, ising_tiled_next(geometry, tile, 0, 1)) + offset};
    ising_tiled_load_ends(geometry, next, copy + colour * geometry->copy_words);
  }
  __syncthreads();
}

/* Returns the threads of a block for the words of a tile. */
static inline uint32_t ising_tiled_threads(const struct ising_tiled_replicas *replicas)
{
  const uint32_t wanted =
      replicas->block_threads > 0 ? replicas->block_threads : replicas->geometry.words;
  const uint32_t threads = (wanted + ISING_TILED_WARP - 1) / ISING_TILED_WARP * ISING_TILED_WARP;
  return threads < ISING_TILED_THREADS_MAXIMUM ? threads : ISING_TILED_THREADS_MAXIMUM;
}

#endif
