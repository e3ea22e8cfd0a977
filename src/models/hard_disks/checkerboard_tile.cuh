/* How a replica is cut into tiles, and how the threads of a block sweep one of them: for both
 * compilers, so that tests can run it with one thread.
 *
 *   0   1   2   3   4                              width - 4
 *   |   |   |   |   +---------------------------------+     what the last colour has to be right
 * in: |   |   |   |   | the tile, and a line more on    |     the tile, and the cells that disks
 * come |   |   |   |   | the side where disks come from  |     from when the grid is shifted |   |
 * |   |   +---------------------------------+ |   |   |   what the third colour moves: a step more,
 * for the last one sees it |   |   the second |   the first what the first one sees: all that is
 * read
 *
 * A tile with its surroundings is a piece of the plane in which the box is repeated. Where the box
 * is smaller, or the last tile of a row larger than what is left, the piece has cells more than
 * once. They are moved alike: every cell of the plane has the random numbers of the cell of the box
 * that it repeats, and colours fit together because the numbers of cells are even. */
#ifndef GPUMC_HARD_DISKS_CHECKERBOARD_TILE_CUH
#define GPUMC_HARD_DISKS_CHECKERBOARD_TILE_CUH

#ifdef __CUDACC__
#include <cuda_pipeline_primitives.h>
#endif

#include "models/hard_disks/checkerboard_cells.cuh"
#include "models/hard_disks/checkerboard_gpu.h"

enum {
  DISKS_BORDER = HARD_DISKS_COLOURS,
  DISKS_READS = 4, /* cells that a thread reads at once */
  DISKS_NO_COLOUR = HARD_DISKS_COLOURS,
  DISKS_WARP = 32,
};

/* ---- tiles ---- */

/* One axis: tiles, cells of a tile, and cells that are read, without the line for the shift and
 * with it. */
struct disks_cut {
  uint32_t tiles;
  struct gpumc_divisor side, width[2];
};

struct disks_tiling {
  struct disks_cut x, y;
  uint32_t half; /* columns of one parity */
};

static inline struct disks_cut disks_cut_of(uint32_t cells, uint32_t side)
{
  struct disks_cut cut;
  cut.tiles = (cells + side - 1) / side;
  cut.side = gpumc_divisor_make(side);
  for (uint32_t line = 0; line < 2; line++)
    cut.width[line] = gpumc_divisor_make(side + 2 * DISKS_BORDER + line);
  return cut;
}

static inline struct disks_tiling
disks_tiling_of(const struct hard_disks_box *box, uint32_t side_x, uint32_t side_y)
{
  struct disks_tiling tiling;
  tiling.x = disks_cut_of(box->cells_x, side_x);
  tiling.y = disks_cut_of(box->cells_y, side_y);
  tiling.half = (tiling.x.width[1].value + 1) / 2;
  return tiling;
}

GPUMC_HOST_DEVICE static inline uint32_t disks_places(const struct disks_tiling *tiling)
{
  return 2 * tiling->half * tiling->y.width[1].value;
}
/* Cells of a colour that are moved, at most. */
GPUMC_HOST_DEVICE static inline uint32_t disks_list_room(const struct disks_tiling *tiling)
{
  return tiling->half * ((tiling->y.width[1].value + 1) / 2);
}

/* What is read of one axis: the cell of the box at which it begins, from -5 on; where the tile
 * begins in it; and how many cells it has. */
struct disks_line {
  int32_t first;
  uint32_t begin;
  struct gpumc_divisor width;
};

struct disks_tile {
  struct disks_line x, y;
  uint32_t half;
};

GPUMC_HOST_DEVICE static inline struct disks_line
disks_line_of(const struct disks_cut *cut, uint32_t tile, bool shifts, bool from_before)
{
  struct disks_line line;
  line.begin = DISKS_BORDER + from_before;
  line.first = (int32_t)(tile * cut->side.value) - (int32_t)line.begin;
  line.width = shifts ? cut->width[1] : cut->width[0];
  return line;
}

GPUMC_HOST_DEVICE static inline struct disks_tile disks_tile_of(const struct disks_tiling *tiling,
                                                                enum hard_disks_direction direction,
                                                                uint32_t i, uint32_t j)
{
  const bool along_x = direction <= HARD_DISKS_LEFT;
  struct disks_tile tile;
  tile.x = disks_line_of(&tiling->x, i, along_x, direction == HARD_DISKS_LEFT);
  tile.y = disks_line_of(&tiling->y, j, !along_x, direction == HARD_DISKS_DOWN);
  tile.half = tiling->half;
  return tile;
}

/* The cell of the box at a place of the axis. */
GPUMC_HOST_DEVICE static inline uint32_t
disks_cell_of(const struct disks_line *line, uint32_t at, uint32_t cells)
{
  return (uint32_t)(line->first + (int32_t)(at + 3 * cells)) % cells;
}

GPUMC_HOST_DEVICE static inline uint32_t
disks_place_in(const struct disks_tile *tile, uint32_t a, uint32_t b)
{
  return b * 2 * tile->half + disks_column(a, tile->half);
}

GPUMC_HOST_DEVICE static inline struct disks_around
disks_around_in(const struct disks_tile *tile, uint32_t a, uint32_t b)
{
  struct disks_around around;
  const uint32_t middle = disks_column(a, tile->half);
  around.row[1] = b * 2 * tile->half;
  around.row[0] = around.row[1] - 2 * tile->half;
  around.row[2] = around.row[1] + 2 * tile->half;
  around.column[0] = (a & 1) != 0 ? middle - tile->half : middle + tile->half - 1;
  around.column[1] = middle;
  around.column[2] = around.column[0] + 1;
  return around;
}

/* When the colour of a cell has its turn: which number it has in the permutation. */
GPUMC_HOST_DEVICE static inline uint32_t disks_turn(uint32_t colours, uint32_t colour)
{
  uint32_t turn = 0;
  for (uint32_t k = 1; k < HARD_DISKS_COLOURS; k++)
    turn = hard_disks_number(colours, k) == colour ? k : turn;
  return turn;
}

GPUMC_HOST_DEVICE static inline uint32_t
disks_turn_in(const struct disks_tile *tile, uint32_t colours, uint32_t a, uint32_t b)
{
  const uint32_t parity_x = ((uint32_t)tile->x.first + a) & 1;
  const uint32_t parity_y = ((uint32_t)tile->y.first + b) & 1;
  return disks_turn(colours, parity_x + 2 * parity_y);
}

/* Whether the cell is moved when its colour has its turn. */
GPUMC_HOST_DEVICE static inline bool
disks_is_moved(const struct disks_tile *tile, uint32_t turn, uint32_t a, uint32_t b)
{
  return a > turn && a + 1 + turn < tile->x.width.value && b > turn &&
         b + 1 + turn < tile->y.width.value;
}

/* ---- shared memory of a block ---- */

struct disks_block {
  struct disks_cells cells;
  uint32_t *column, *row; /* the cell of the box in columns and rows of the tile */
  uint32_t *listed;       /* [colours], by turns; and whether a cell has more than two disks */
  uint16_t *list;         /* [colours][room]: a + 256 b of cells that have disks */
};

enum { DISKS_NUMBERS = HARD_DISKS_COLOURS + 1 };

static inline size_t disks_block_bytes(const struct disks_tiling *tiling)
{
  const size_t numbers = DISKS_NUMBERS + tiling->x.width[1].value + tiling->y.width[1].value;
  return disks_places(tiling) * (2 * sizeof(float4) + 1) + numbers * sizeof(uint32_t) +
         HARD_DISKS_COLOURS * disks_list_room(tiling) * sizeof(uint16_t);
}

GPUMC_HOST_DEVICE static inline struct disks_block
disks_block_at(float4 *memory, const struct disks_tiling *tiling)
{
  struct disks_block block;
  const uint32_t places = disks_places(tiling);
  block.cells.first = memory;
  block.cells.second = memory + places;
  block.listed = (uint32_t *)(memory + 2 * places);
  block.column = block.listed + DISKS_NUMBERS;
  block.row = block.column + tiling->x.width[1].value;
  block.list = (uint16_t *)(block.row + tiling->y.width[1].value);
  block.cells.count = (uint8_t *)(block.list + HARD_DISKS_COLOURS * disks_list_room(tiling));
  return block;
}

/* ---- lists ---- */

/* Adds the cells of the threads of a warp, all of which are here, to the lists of their turns. */
template <class ENTRY>
GPUMC_HOST_DEVICE static inline void
disks_note(ENTRY *list, uint32_t room, uint32_t *listed, uint32_t turn, uint32_t entry)
{
#ifdef __CUDA_ARCH__
  const uint32_t lane = threadIdx.x % DISKS_WARP;
  uint32_t mine = 0, of_lane = 0, first = 0;
#pragma unroll
  for (uint32_t k = 0; k < HARD_DISKS_COLOURS; k++) {
    const uint32_t those = __ballot_sync(UINT32_MAX, turn == k);
    mine = turn == k ? those : mine;
    of_lane = lane == k ? those : of_lane;
  }
  if (of_lane != 0)
    first = atomicAdd(&listed[lane], __popc(of_lane));
  first = __shfl_sync(UINT32_MAX, first, turn);
  if (turn < HARD_DISKS_COLOURS)
    list[turn * room + first + __popc(mine & ((1u << lane) - 1))] = (ENTRY)entry;
#else
  if (turn < HARD_DISKS_COLOURS)
    list[turn * room + listed[turn]++] = (ENTRY)entry;
#endif
}

/* The same where lanes of equal parity have equal turns; `wanted`: whether the cell is added. */
template <class ENTRY>
GPUMC_HOST_DEVICE static inline void disks_note_of_two(ENTRY *list, uint32_t room, uint32_t *listed,
                                                       uint32_t turn, bool wanted, uint32_t entry)
{
#ifdef __CUDA_ARCH__
  const uint32_t lane = threadIdx.x % DISKS_WARP;
  const uint32_t alike = __ballot_sync(UINT32_MAX, wanted) & 0x55555555u << (lane & 1);
  uint32_t first = 0;
  if (lane < 2)
    first = atomicAdd(&listed[turn], __popc(alike));
  first = __shfl_sync(UINT32_MAX, first, lane & 1);
  if (wanted)
    list[turn * room + first + __popc(alike & ((1u << lane) - 1))] = (ENTRY)entry;
#else
  if (wanted)
    list[turn * room + listed[turn]++] = (ENTRY)entry;
#endif
}

/* ---- a sweep, in parts between which the threads of a block wait for each other ---- */

/* Of a replica before the sweep and after it, and of this sweep of it. */
struct disks_task {
  const struct hard_disks_box *box;
  const struct hard_disks_stored *stored;
  const struct disks_tiling *tiling;
  const unsigned char *from;
  unsigned char *to;
  struct hard_disks_sweep sweep;
  struct disks_rule rule;
  struct disks_tile tile;
};

/* Thread `thread` of `threads` in all of the following. */
GPUMC_HOST_DEVICE static inline void disks_prepare(const struct disks_task *task,
                                                   const struct disks_block *block, uint32_t thread,
                                                   uint32_t threads)
{
  const struct disks_tile *tile = &task->tile;
  const uint32_t cells_x = task->box->cells_x;
  for (uint32_t k = thread; k < DISKS_NUMBERS; k += threads)
    block->listed[k] = 0;
  for (uint32_t a = thread; a < tile->x.width.value; a += threads)
    block->column[a] = disks_cell_of(&tile->x, a, cells_x);
  for (uint32_t b = thread; b < tile->y.width.value; b += threads)
    block->row[b] = disks_cell_of(&tile->y, b, task->box->cells_y) * cells_x;
}

/* Brings a cell, and returns how many disks it has. What comes by itself has come after
 * disks_wait(). */
GPUMC_HOST_DEVICE static inline uint32_t disks_bring(const struct disks_task *task,
                                                     const struct disks_cells *cells, uint32_t cell,
                                                     uint32_t place)
{
  const unsigned char *from = task->from;
  const float4 *first = (const float4 *)(from + task->stored->first) + cell;
#ifdef __CUDA_ARCH__
  __pipeline_memcpy_async(&cells->first[place], first, sizeof *first);
#else
  cells->first[place] = *first;
#endif
  return from[task->stored->count + cell];
}

GPUMC_HOST_DEVICE static inline void disks_wait(void)
{
#ifdef __CUDA_ARCH__
  __pipeline_commit();
  __pipeline_wait_prior(0);
#endif
}

/* Warps go down rows; their lanes have a column each, so that neighbours alternate between two
 * colours. A warp that is not all there (on the host, of one thread) goes through all columns. */
GPUMC_HOST_DEVICE static inline void disks_read(const struct disks_task *task,
                                                const struct disks_block *block, uint32_t thread,
                                                uint32_t threads)
{
  const struct disks_tile *tile = &task->tile;
  const uint32_t lanes = threads % DISKS_WARP == 0 ? DISKS_WARP : 1, warps = threads / lanes;
  const uint32_t lane = thread % lanes, width = tile->x.width.value, height = tile->y.width.value;
  const uint32_t colours = task->sweep.colours;
  for (uint32_t begin = 0; begin < width; begin += lanes) {
    const uint32_t a = begin + lane;
    const bool is_column = a < width;
    const uint32_t column = is_column ? block->column[a] : 0, place_a = disks_column(a, tile->half);
    const uint32_t turn_even = disks_turn_in(tile, colours, a, 0);
    const uint32_t turn_odd = disks_turn_in(tile, colours, a, 1);
    for (uint32_t first = thread / lanes; first < height; first += DISKS_READS * warps) {
      uint32_t count[DISKS_READS];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
      for (uint32_t k = 0; k < DISKS_READS; k++) {
        const uint32_t b = first + k * warps;
        count[k] = 0;
        if (b < height && is_column)
          count[k] = disks_bring(task, &block->cells, block->row[b] + column,
                                 b * 2 * tile->half + place_a);
      }
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
      for (uint32_t k = 0; k < DISKS_READS; k++) {
        const uint32_t b = first + k * warps, place = b * 2 * tile->half + place_a;
        if (b >= height)
          break;
        if (is_column)
          block->cells.count[place] = (uint8_t)count[k];
        if (count[k] > 2) {
          block->listed[HARD_DISKS_COLOURS] = 1;
          block->cells.second[place] =
              ((const float4 *)(task->from + task->stored->second))[block->row[b] + column];
        }
        const uint32_t turn = b % 2 == 0 ? turn_even : turn_odd;
        disks_note_of_two(block->list, disks_list_room(task->tiling), block->listed, turn,
                          count[k] > 0 && disks_is_moved(tile, turn, a, b), a | b << 8);
      }
    }
  }
  disks_wait();
}

/* The colour that has its turn. Returns how many trials were accepted in cells of the tile. */
template <uint32_t ROUNDS>
GPUMC_HOST_DEVICE static inline uint32_t
disks_move_turn(const struct disks_task *task, const struct disks_block *block, uint32_t turn,
                uint32_t thread, uint32_t threads)
{
  const struct disks_tile *tile = &task->tile;
  const uint16_t *list = block->list + turn * disks_list_room(task->tiling);
  const uint32_t listed = block->listed[turn];
  const bool crowded = block->listed[HARD_DISKS_COLOURS] != 0;
  uint32_t taken = 0;
  for (uint32_t k = thread; k < listed; k += threads) {
    const uint32_t a = list[k] & 0xff, b = list[k] >> 8;
    const uint32_t column = block->column[a], row = block->row[b];
    const struct disks_around around = disks_around_in(tile, a, b);
    uint32_t here;
    if (crowded && disks_is_crowded(&block->cells, &around))
      here = disks_move_plainly<ROUNDS>(&block->cells, &around, &task->rule, row + column);
    else
      here = disks_move<ROUNDS>(&block->cells, &around, &task->rule, row + column);
    /* Of cells of the box that the tile has twice, one counts. */
    const uint32_t in_x = a - tile->x.begin, in_y = b - tile->y.begin;
    if (in_x < task->tiling->x.side.value && in_y < task->tiling->y.side.value &&
        (uint32_t)tile->x.first + a < task->box->cells_x &&
        (uint32_t)tile->y.first + b < task->box->cells_y)
      taken += here;
  }
  return taken;
}

/* Shifts the grid, from shared memory to where the replica is afterwards. */
GPUMC_HOST_DEVICE static inline void disks_write(const struct disks_task *task,
                                                 const struct disks_block *block, uint32_t thread,
                                                 uint32_t threads)
{
  const struct disks_tile *tile = &task->tile;
  const struct disks_tiling *tiling = task->tiling;
  const uint32_t total = tiling->x.side.value * tiling->y.side.value;
  for (uint32_t k = thread; k < total; k += threads) {
    const uint32_t in_y = gpumc_divide(k, tiling->x.side), in_x = k - in_y * tiling->x.side.value;
    const uint32_t a = in_x + tile->x.begin, b = in_y + tile->y.begin;
    const uint32_t x = (uint32_t)tile->x.first + a, y = (uint32_t)tile->y.first + b;
    if (x >= task->box->cells_x || y >= task->box->cells_y)
      continue;
    const uint32_t source = disks_place_in(tile, a + disks_source_column(task->sweep.direction) - 1,
                                           b + disks_source_row(task->sweep.direction) - 1);
    const struct disks_list list =
        disks_shift(&block->cells, &task->sweep, task->box->width_x, task->box->width_y,
                    disks_place_in(tile, a, b), source);
    const uint32_t cell = y * task->box->cells_x + x;
    ((float4 *)(task->to + task->stored->first))[cell] = list.first;
    if (list.count > 2)
      ((float4 *)(task->to + task->stored->second))[cell] = list.second;
    task->to[task->stored->count + cell] = (uint8_t)list.count;
  }
}

#endif
