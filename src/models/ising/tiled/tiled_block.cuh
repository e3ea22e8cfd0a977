/* A tile and its boundary in the shared memory of a block of threads. */
#ifndef GPUMC_ISING_TILED_BLOCK_CUH
#define GPUMC_ISING_TILED_BLOCK_CUH

#include "models/ising/ising_channels.h"
#include "models/ising/tiled/tiled_gpu.h"

enum { ISING_TILED_WARP = 32, ISING_TILED_THREADS_MAXIMUM = 512 };

/* Returns the first word of line (y, z), -1 .. t each, in a working copy. */
__device__ static inline uint32_t
ising_tiled_copy_line(const struct ising_tiled_geometry *geometry, int y, int z)
{
  const uint32_t plane = geometry->dimension == 3 ? (uint32_t)(z + 1) * geometry->copy_plane : 0;
  return plane + (uint32_t)(y + 1) * geometry->copy_row + 1;
}

/* Returns that of line l. */
__device__ static inline uint32_t
ising_tiled_line(const struct ising_tiled_geometry *geometry, uint32_t l)
{
  const uint32_t z = geometry->dimension == 3 ? l / geometry->tile : 0;
  return ising_tiled_copy_line(geometry, (int)(l - z * geometry->tile), (int)z);
}

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

/* Returns the neighbours up of the four spins at `word` of a working copy; `other`: that of the
 * other colour. */
__device__ static inline uint32_t ising_tiled_up(const struct ising_tiled_geometry *geometry,
                                                 const uint32_t *other, uint32_t word,
                                                 uint32_t shift)
{
  const uint32_t beside = other[word];
  uint32_t up = beside + other[word - geometry->copy_row] + other[word + geometry->copy_row];
  up += shift ? beside >> 8 | other[word + 1] << 24 : beside << 8 | other[word - 1] >> 24;
  if (geometry->dimension == 3)
    up += other[word - geometry->copy_plane] + other[word + geometry->copy_plane];
  return up;
}

/* Returns four spins after an update with the numbers u; `sites`: which of them are sites, 1
 * each. */
__device__ static inline uint32_t
ising_tiled_updated(const struct ising_tiled_rule *rule, uint32_t spins, uint32_t up,
                    const uint32_t u[ISING_TILED_LANES], uint32_t sites)
{
  const uint32_t class_of = up | spins << 3;
  uint32_t decided = 0;
  for (uint32_t lane = 0; lane < ISING_TILED_LANES; lane++)
    decided |= (uint32_t)(u[lane] < rule->threshold[class_of >> 8 * lane & 15]) << 8 * lane;
  return spins ^ ((decided ^ (spins & rule->inverted) ^ spins) & sites);
}

/* Adds the contribution of word w of line l of a tile: its sites that are up and, for colour 0, its
 * bonds. */
__device__ static inline void ising_tiled_count(const struct ising_tiled_geometry *geometry,
                                                const uint32_t *own, const uint32_t *other,
                                                uint32_t colour, uint32_t l, uint32_t w,
                                                struct ising_tiled_sums *sums)
{
  const uint32_t at = ising_tiled_line(geometry, l) + w, neighbours = 2 * geometry->dimension;
  const uint32_t up = ising_tiled_up(geometry, other, at, ising_tiled_shift(geometry, colour, l));
  const uint32_t first = w * ISING_TILED_LANES, left = geometry->row - first;
  for (uint32_t lane = 0; lane < ISING_TILED_LANES && lane < left; lane++) {
    const uint32_t spin = own[at] >> 8 * lane & 1, n = up >> 8 * lane & 15;
    sums->up += spin;
    if (colour == 0)
      sums->unlike += spin ? neighbours - n : n;
  }
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
