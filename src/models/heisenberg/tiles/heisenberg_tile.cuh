/* How a large square lattice is cut into tiles, and how the threads of a block make a few sweeps of
 * one of them in shared memory: for both compilers, so that tests can run it thread by thread.
 *
 * Lines consist of pairs of columns; a column has a site of each colour. A tile is `wide` pairs by
 * `high` lines, and is read with a border, since an update needs the sites one step further out: of
 * s sweeps, 2 s updates of a colour, the last one must be right in the tile, the one before it also
 * one step around it, and the first one 2 s - 1 steps around it, for which sites 2 s steps away are
 * read. These are 2 s lines and s columns. Sites in the border are updated by several blocks in the
 * same way, because random numbers come from counters; pairs are updated as a whole, and sites that
 * are then wrong, one step beyond what must be right, are never used.
 *
 * A tile with its border is a piece of the plane in which the lattice is repeated. It may contain
 * sites more than once, and the last tiles of a row or column reach beyond the lattice: such sites
 * are updated like those that they repeat, because sides are even. */
#ifndef GPUMC_HEISENBERG_TILE_CUH
#define GPUMC_HEISENBERG_TILE_CUH

#ifdef __CUDACC__
#include <cuda_pipeline_primitives.h>
#endif

#include "models/heisenberg/heisenberg_block.cuh"

/* ---- tiles ---- */

/* In pairs, unless lines are meant. `fours`: tiles begin where sites begin to share counters, and a
 * thread has two pairs of a line, the second 16 sites after the first; otherwise it has one. */
struct heisenberg_tiling {
  uint32_t tiles_x, tiles_y, wide, high, sweeps;
  uint32_t edge, border;       /* pairs and lines that are read around a tile */
  uint32_t before_x, before_y; /* distance from a place that the first tile's border repeats to the
                                * tile */
  struct gpumc_divisor stored; /* pairs that are read of a line */
  uint32_t units;              /* threads for a line of the tile */
  struct gpumc_divisor pairs, lines; /* of the lattice */
  bool fours;
};

static inline uint32_t heisenberg_multiple_from(uint32_t least, uint32_t of)
{
  return (uint32_t)lattice_parts(least, of) * of;
}

/* Returns the tiling for sweeps of tiles of this many pairs and lines, for a paired lattice in two
 * dimensions. */
static inline struct heisenberg_tiling
heisenberg_tiling_of(const struct heisenberg_gpu_lattice *lattice, uint32_t wide, uint32_t high,
                     uint32_t sweeps)
{
  const uint32_t pairs = lattice->row.value / HEISENBERG_PAIR, lines = lattice->height.value;
  struct heisenberg_tiling tiling;
  tiling.tiles_x = (uint32_t)lattice_parts(pairs, wide);
  tiling.tiles_y = (uint32_t)lattice_parts(lines, high);
  tiling.wide = wide;
  tiling.high = high;
  tiling.sweeps = sweeps;
  tiling.edge = (sweeps + 1) / HEISENBERG_PAIR;
  tiling.border = 2 * sweeps;
  tiling.before_x = heisenberg_multiple_from(tiling.edge, pairs) - tiling.edge;
  tiling.before_y = heisenberg_multiple_from(tiling.border, lines) - tiling.border;
  tiling.stored = gpumc_divisor_make(wide + 2 * tiling.edge);
  tiling.fours = lattice->row.value % HEISENBERG_SHARING == 0 &&
                 wide % (HEISENBERG_SHARING / HEISENBERG_PAIR) == 0;
  tiling.units = tiling.fours ? wide / 2 : wide;
  tiling.pairs = gpumc_divisor_make(pairs);
  tiling.lines = gpumc_divisor_make(lines);
  return tiling;
}

/* Returns the number of lines that are read. */
GPUMC_HOST_DEVICE static inline uint32_t
heisenberg_tile_lines(const struct heisenberg_tiling *tiling)
{
  return tiling->high + 2 * tiling->border;
}

/* Returns the number of sites of a colour that are read. In shared memory a tile is
 * spins[n][2][lines][2 stored]. */
GPUMC_HOST_DEVICE static inline uint32_t
heisenberg_tile_colour(const struct heisenberg_tiling *tiling)
{
  return heisenberg_tile_lines(tiling) * tiling->stored.value * HEISENBERG_PAIR;
}

/* A tile of a replica before the sweeps, spins[n][2][N/2], and after them. */
template <class KIND> struct heisenberg_tile {
  const struct heisenberg_gpu_lattice *lattice;
  const struct heisenberg_tiling *tiling;
  uint32_t x, y; /* its first pair and line */
  typename KIND::real *shared;
  const typename KIND::real *from;
  typename KIND::real *to;
};

/* Returns the pair of the lattice at pair b of the part of a line that is read, or the line at line
 * a of it. */
template <class KIND>
GPUMC_HOST_DEVICE static inline uint32_t
heisenberg_tile_pair(const struct heisenberg_tile<KIND> &tile, uint32_t b)
{
  const uint32_t along = tile.tiling->before_x + tile.x + b;
  return along - gpumc_divide(along, tile.tiling->pairs) * tile.tiling->pairs.value;
}
template <class KIND>
GPUMC_HOST_DEVICE static inline uint32_t
heisenberg_tile_line(const struct heisenberg_tile<KIND> &tile, uint32_t a)
{
  const uint32_t along = tile.tiling->before_y + tile.y + a;
  return along - gpumc_divide(along, tile.tiling->lines) * tile.tiling->lines.value;
}

/* ---- reading and writing ---- */

/* Copies a pair to shared memory, where it is available after heisenberg_tile_wait(). */
template <class REAL>
GPUMC_HOST_DEVICE static inline void heisenberg_tile_bring(REAL *to, const REAL *from)
{
#ifdef __CUDA_ARCH__
  __pipeline_memcpy_async(to, from, HEISENBERG_PAIR * sizeof *to);
#else
  to[0] = from[0];
  to[1] = from[1];
#endif
}

GPUMC_HOST_DEVICE static inline void heisenberg_tile_wait(void)
{
#ifdef __CUDA_ARCH__
  __pipeline_commit();
  __pipeline_wait_prior(0);
#endif
}

/* All of the following are run by thread `thread` of `threads`; between them threads wait for each
 * other. */
template <class KIND>
GPUMC_HOST_DEVICE static inline void
heisenberg_tile_read(const struct heisenberg_tile<KIND> &tile, uint32_t thread, uint32_t threads)
{
  const struct heisenberg_tiling *tiling = tile.tiling;
  const uint32_t stored = tiling->stored.value, all = heisenberg_tile_lines(tiling) * stored;
  const uint32_t colour = heisenberg_tile_colour(tiling), n = tile.lattice->colour;
  for (uint32_t i = thread; i < all; i += threads) {
    const uint32_t a = gpumc_divide(i, tiling->stored), b = i - a * stored;
    const typename KIND::real *from = tile.from +
                                      heisenberg_tile_line(tile, a) * tile.lattice->row.value +
                                      HEISENBERG_PAIR * heisenberg_tile_pair(tile, b);
    typename KIND::real *to = tile.shared + HEISENBERG_PAIR * i;
    HEISENBERG_UNROLL
    for (uint32_t array = 0; array < 2 * KIND::COMPONENTS; array++)
      heisenberg_tile_bring(to + array * colour, from + (size_t)array * n);
  }
  heisenberg_tile_wait();
}

template <class KIND>
GPUMC_HOST_DEVICE static inline void
heisenberg_tile_write(const struct heisenberg_tile<KIND> &tile, uint32_t thread, uint32_t threads)
{
  typedef struct heisenberg_two<typename KIND::real> two;
  const struct heisenberg_tiling *tiling = tile.tiling;
  const uint32_t stored = tiling->stored.value, n = tile.lattice->colour;
  const uint32_t first = tiling->border * stored, all = tiling->high * stored;
  const uint32_t colour = heisenberg_tile_colour(tiling);
  for (uint32_t i = thread; i < all; i += threads) {
    const uint32_t a = gpumc_divide(i, tiling->stored);
    const uint32_t y = tile.y + a, b = i - a * stored - tiling->edge, x = tile.x + b;
    if (b >= tiling->wide || x >= tiling->pairs.value || y >= tiling->lines.value)
      continue;
    const typename KIND::real *from = tile.shared + HEISENBERG_PAIR * (first + i);
    typename KIND::real *to = tile.to + y * tile.lattice->row.value + HEISENBERG_PAIR * x;
    HEISENBERG_UNROLL
    for (uint32_t array = 0; array < 2 * KIND::COMPONENTS; array++)
      *(two *)(to + (size_t)array * n) = *(const two *)(from + array * colour);
  }
}

/* ---- updates ---- */

/* The update of a colour after which `margin` more follow: it must be right in the tile and at the
 * sites `margin` steps around it, `lines` lines and `edge` pairs on each side of the tile. `units`,
 * the work that a thread does at once: those of the tile, `within`, and of the lines before and
 * after it, and the pairs at its sides. */
struct heisenberg_tile_part {
  uint32_t margin, lines, edge, within, units;
};

GPUMC_HOST_DEVICE static inline struct heisenberg_tile_part
heisenberg_tile_part_of(const struct heisenberg_tiling *tiling, uint32_t margin)
{
  struct heisenberg_tile_part part;
  part.margin = margin;
  part.lines = tiling->high + 2 * margin;
  part.edge = (margin + 3) / 4;
  part.within = part.lines * tiling->units;
  part.units = part.within + part.lines * 2 * part.edge;
  return part;
}

/* The sites that a thread updates in its lines, one or two pairs, from the first line that is read
 * on. `first`: place of the first site in its line; the second pair begins at first ^ 16. `own`:
 * bit p, whether pair p is one of the tile's own, not a repetition. */
struct heisenberg_tile_column {
  uint32_t place[2];
  uint32_t pairs, first, own;
};

/* Returns the column at pair b of a line of the tile, negative before it; the second pair, if there
 * is one, is `second` pairs further. */
template <class KIND>
GPUMC_HOST_DEVICE static inline struct heisenberg_tile_column
heisenberg_tile_column_at(const struct heisenberg_tile<KIND> &tile, uint32_t b, uint32_t second)
{
  const struct heisenberg_tiling *tiling = tile.tiling;
  const uint32_t x = tile.x + b;
  struct heisenberg_tile_column column;
  column.pairs = second != 0 ? 2 : 1;
  column.own = (uint32_t)(b < tiling->wide && x < tiling->pairs.value) |
               (uint32_t)(x + second < tiling->pairs.value) << 1;
  b += tiling->edge;
  column.first = HEISENBERG_PAIR * heisenberg_tile_pair(tile, b);
  column.place[0] = b * HEISENBERG_PAIR * KIND::STEP;
  column.place[1] = (b + second) * HEISENBERG_PAIR * KIND::STEP;
  return column;
}

/* Returns unit `number` of a line within the tile. If there are two pairs, every other group of 8
 * threads begins with the second: half a warp, with 8 bytes per lane, accesses all banks. */
template <class KIND>
GPUMC_HOST_DEVICE static inline struct heisenberg_tile_column
heisenberg_tile_column_within(const struct heisenberg_tile<KIND> &tile, uint32_t number,
                              bool swapped)
{
  const uint32_t half = HEISENBERG_OF_SHARING;
  if (!tile.tiling->fours)
    return heisenberg_tile_column_at(tile, number, 0);
  return heisenberg_tile_column_at(tile, number + number / half * half + (swapped ? half : 0),
                                   swapped ? 0 - half : half);
}

/* Returns pair `number` of those at the sides. */
template <class KIND>
GPUMC_HOST_DEVICE static inline struct heisenberg_tile_column
heisenberg_tile_column_beside(const struct heisenberg_tile<KIND> &tile,
                              const struct heisenberg_tile_part &part, uint32_t number)
{
  const uint32_t b = number - part.edge;
  return heisenberg_tile_column_at(tile, number < part.edge ? b : b + tile.tiling->wide, 0);
}

/* A column in line `a` of the part. `first`: the index of the first site. `back`: whether sides of
 * colour 0 are back. */
struct heisenberg_tile_unit {
  struct heisenberg_pair pair[2];
  uint32_t pairs, first, own;
  bool back;
};

template <class KIND>
GPUMC_HOST_DEVICE static inline struct heisenberg_tile_unit
heisenberg_tile_unit_of(const struct heisenberg_tile<KIND> &tile,
                        const struct heisenberg_tile_part &part,
                        const struct heisenberg_tile_column &column, uint32_t a)
{
  const struct heisenberg_tiling *tiling = tile.tiling;
  const uint32_t from_tile = a - part.margin, stored = from_tile + tiling->border;
  const uint32_t line = heisenberg_tile_line(tile, stored);
  const uint32_t pitch = tiling->stored.value * HEISENBERG_PAIR * KIND::STEP;
  const bool own = from_tile < tiling->high && tile.y + from_tile < tiling->lines.value;
  struct heisenberg_tile_unit unit;
  unit.pairs = column.pairs;
  unit.first = line * tile.lattice->row.value + column.first;
  unit.own = own ? column.own : 0;
  unit.back = (line & 1) == 0;
  HEISENBERG_UNROLL
  for (uint32_t p = 0; p < 2; p++) {
    const uint32_t at = stored * pitch + column.place[p];
    unit.pair[p].same[0] = at;
    unit.pair[p].back[0] = at - KIND::STEP;
    unit.pair[p].forth[1] = at + HEISENBERG_PAIR * KIND::STEP;
    unit.pair[p].row_before[0] = at - pitch;
    unit.pair[p].row_after[0] = at + pitch;
  }
  return unit;
}

/* Draws the words of a unit, by pairs. */
template <class RULES>
GPUMC_HOST_DEVICE static inline void
heisenberg_tile_draw(const struct heisenberg_stream &stream, uint32_t colour,
                     const struct heisenberg_tile_unit &unit, struct heisenberg_words words[2][2])
{
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, heisenberg_draw(colour, 0));
  const bool upper = heisenberg_shared_half(unit.first) != 0;
  uint32_t drawn[2][4] = {};
  if (RULES::SHARED)
    heisenberg_draw_two(stream, heisenberg_shared_counter(unit.first), label, drawn);
  HEISENBERG_UNROLL
  for (uint32_t p = 0; p < 2; p++) {
    if (!RULES::SHARED && p < unit.pairs)
      heisenberg_draw_two(stream, unit.first ^ p * HEISENBERG_SECOND, label, drawn);
    for (uint32_t i = 0; i < HEISENBERG_PAIR; i++)
      words[p][i] = !RULES::SHARED
                        ? heisenberg_words{drawn[i][0], drawn[i][1], drawn[i][2], drawn[i][3]}
                    : (p == 0) == upper ? heisenberg_words{drawn[i][2], drawn[i][3], 0, 0}
                                        : heisenberg_words{drawn[i][0], drawn[i][1], 0, 0};
  }
}

/* Returns the colour in shared memory that is being updated, and the other one. */
template <class KIND>
GPUMC_HOST_DEVICE static inline struct heisenberg_colours<KIND>
heisenberg_tile_colours(const struct heisenberg_tile<KIND> &tile, uint32_t colour) {
  const uint32_t sites = heisenberg_tile_colour(tile.tiling);
  const struct heisenberg_colours<KIND> colours = {
    tile.shared + colour *sites, tile.shared + (1 - colour) * sites, 2 * sites, NULL
  };
  return colours;
}

/* Returns how many proposals of Metropolis were accepted in the tile. */
template <class KIND, enum heisenberg_move MOVE>
GPUMC_HOST_DEVICE static inline uint32_t
heisenberg_tile_update_unit(const struct heisenberg_turn<KIND> &turn,
                            const struct heisenberg_tile_unit &unit)
{
  const uint32_t both = 3, none[2] = {0, 0};
  const uint32_t back = unit.back == (turn.colour == 0) ? both : 0;
  struct heisenberg_words words[2][2];
  uint32_t taken = 0;
  if (MOVE != HEISENBERG_OVER_RELAXATION)
    heisenberg_tile_draw<typename KIND::rules>(turn.stream, turn.colour, unit, words);
  HEISENBERG_UNROLL
  for (uint32_t p = 0; p < 2; p++) {
    if (p >= unit.pairs)
      break;
    const uint32_t accepted = heisenberg_update_pair<KIND, MOVE>(
        turn, unit.pair[p], unit.first ^ p * HEISENBERG_SECOND, none, both, back, words[p]);
    taken += (unit.own >> p & 1) != 0 ? accepted : 0;
  }
  return taken;
}

/* A thread's share of the update of a colour; turn.colours are those of heisenberg_tile_colours().
 * A thread has a column in some of the lines. Threads that have the last lines of the tile, fewer
 * than others, begin with the pairs beside it. */
template <class KIND, enum heisenberg_move MOVE>
GPUMC_HOST_DEVICE static inline uint32_t
heisenberg_tile_update(const struct heisenberg_tile<KIND> &tile, uint32_t margin,
                       const struct heisenberg_turn<KIND> &turn, uint32_t thread, uint32_t threads)
{
  const struct heisenberg_tile_part part = heisenberg_tile_part_of(tile.tiling, margin);
  uint32_t taken = 0;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (uint32_t beside = 0; beside < 2; beside++) {
    const uint32_t columns = beside != 0 ? 2 * part.edge : tile.tiling->units;
    const uint32_t number = beside != 0 ? threads - 1 - thread : thread;
    if (columns == 0)
      break;
    const uint32_t step = threads >= columns ? threads / columns : 1;
    const uint32_t line = threads >= columns ? number / columns : 0;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
    for (uint32_t c = number - line * columns; c < columns && line < step; c += threads) {
      const struct heisenberg_tile_column column =
          beside != 0
              ? heisenberg_tile_column_beside(tile, part, c)
              : heisenberg_tile_column_within(tile, c, (thread / HEISENBERG_OF_SHARING & 1) != 0);
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
      for (uint32_t a = line; a < part.lines; a += step)
        taken += heisenberg_tile_update_unit<KIND, MOVE>(
            turn, heisenberg_tile_unit_of(tile, part, column, a));
    }
  }
  return taken;
}

#endif
