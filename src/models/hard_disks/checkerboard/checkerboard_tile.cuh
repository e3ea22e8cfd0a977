/* How a replica is cut into tiles, and how the threads of a block sweep one of them: for both
 * compilers, so that tests can run it with one thread.
 *
 * A tile is read with a border of four cells, and one more line on the side from which disks come
 * when the grid is shifted. The last colour must be right in the tile and that line; the colour
 * before it also in the cells that the last one sees, one step further out; and so on, up to the
 * first one, which sees all that is read (drawn in docs/kernels/checkerboard.md).
 *
 * A tile with its surroundings is a piece of the plane in which the box is repeated. If the box is
 * smaller, or the last tile of a row larger than the rest, the piece contains cells more than once.
 * The copies move alike: every cell of the plane has the random numbers of the cell of the box that
 * it repeats, and colours fit together because the numbers of cells are even. */
#ifndef GPUMC_HARD_DISKS_CHECKERBOARD_TILE_CUH
#define GPUMC_HARD_DISKS_CHECKERBOARD_TILE_CUH

#ifdef __CUDACC__
#include <cuda_pipeline_primitives.h>
#endif

#include "models/hard_disks/checkerboard/checkerboard_gpu.h"
#include "models/hard_disks/checkerboard/checkerboard_shift.cuh"

enum {
  DISKS_BORDER = HARD_DISKS_COLOURS,
  DISKS_READS = 4, /* cells that a thread reads at once */
  DISKS_READS_OF_FEW = 6,
  DISKS_WARP = 32,
};

/* ---- tiles ---- */

/* One axis: tiles, cells of a tile, and cells that are read, without and with the line for the
 * shift. */
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
/* Returns the maximum number of cells of a colour that are moved. */
GPUMC_HOST_DEVICE static inline uint32_t disks_list_room(const struct disks_tiling *tiling)
{
  return tiling->half * ((tiling->y.width[1].value + 1) / 2);
}

/* The range that is read along one axis: the cell of the box at which it begins, from -5 on; where
 * the tile begins in it; and its number of cells. */
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

/* Returns the cell of the box at a place of the axis. */
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

/* Returns the turn of a cell's colour: its number in the permutation. */
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

/* ---- shared memory of a block ---- */

struct disks_block {
  struct disks_cells cells;
  uint32_t *column, *row; /* the cell of the box in columns and rows of the tile */
  uint32_t *listed;       /* [DISKS_NUMBERS] */
  uint16_t *list;         /* [colours][room]: a + 256 b of cells that have disks */
};

/* Lists of the cells that have disks are in the order of the colours' turns; `listed` has the
 * numbers of cells in them, whether any cell has more than two disks, and the block's counts
 * (disks_counts). */
enum {
  DISKS_CROWDED = HARD_DISKS_COLOURS,
  DISKS_ACCEPTED,
  DISKS_MOVED,
  DISKS_NUMBERS,
  DISKS_NOT_LISTED = DISKS_CROWDED,
};

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

/* Adds the cells of the threads of a warp, all of which take part, to the lists of their turns. */
template <class ENTRY>
GPUMC_HOST_DEVICE static inline void
disks_note(ENTRY *list, uint32_t room, uint32_t *listed, uint32_t turn, uint32_t entry)
{
#ifdef __CUDA_ARCH__
  const uint32_t lane = threadIdx.x % DISKS_WARP;
  uint32_t mine = 0, of_lane = 0, first = 0;
#pragma unroll
  for (uint32_t t = 0; t < HARD_DISKS_COLOURS; t++) {
    const uint32_t those = __ballot_sync(UINT32_MAX, turn == t);
    mine = turn == t ? those : mine;
    of_lane = lane == t ? those : of_lane;
  }
  if (of_lane != 0)
    first = atomicAdd(&listed[lane], __popc(of_lane));
  first = __shfl_sync(UINT32_MAX, first, turn);
  if (turn != DISKS_NOT_LISTED)
    list[turn * room + first + __popc(mine & ((1u << lane) - 1))] = (ENTRY)entry;
#else
  if (turn != DISKS_NOT_LISTED)
    list[turn * room + listed[turn]++] = (ENTRY)entry;
#endif
}

/* The turns of the cells of a column in rows of one parity: row b is moved if b - first < rows. */
struct disks_column_turn {
  uint32_t turn, first, rows;
};

GPUMC_HOST_DEVICE static inline struct disks_column_turn
disks_column_turn_of(const struct disks_tile *tile, uint32_t colours, uint32_t a, uint32_t parity)
{
  struct disks_column_turn column;
  const uint32_t turn = disks_turn_in(tile, colours, a, parity);
  const uint32_t height = tile->y.width.value;
  const bool is_moved = (a > turn) & (a + 1 + turn < tile->x.width.value);
  column.turn = turn;
  column.first = turn + 1;
  column.rows = is_moved & (height > 2 * (turn + 1)) ? height - 2 * (turn + 1) : 0;
  disks_keep(column.turn);
  disks_keep(column.first);
  disks_keep(column.rows);
  return column;
}

/* disks_note() for a warp within one row, in two parts, so that a thread with several rows waits
 * for their numbers only once. Lanes of equal parity have equal turns, and lanes 0 and 1 count the
 * cells of both parities: the cells, and in these lanes the number of the first of them. */
struct disks_noted {
  uint32_t those, first;
};

GPUMC_HOST_DEVICE static inline struct disks_noted
disks_count_in_row(uint32_t *listed, uint32_t turn, bool is_listed)
{
  struct disks_noted noted = {is_listed, 0};
#ifdef __CUDA_ARCH__
  const uint32_t lane = threadIdx.x % DISKS_WARP;
  noted.those = __ballot_sync(UINT32_MAX, is_listed) & 0x55555555u << (lane & 1);
  if ((lane < 2) & (noted.those != 0))
    noted.first = atomicAdd(&listed[turn], __popc(noted.those));
#else
  if (is_listed)
    noted.first = listed[turn]++;
#endif
  return noted;
}

GPUMC_HOST_DEVICE static inline void disks_note_in_row(uint16_t *list, uint32_t room, uint32_t turn,
                                                       struct disks_noted noted, uint32_t entry)
{
#ifdef __CUDA_ARCH__
  const uint32_t lane = threadIdx.x % DISKS_WARP;
  const uint32_t first = __shfl_sync(UINT32_MAX, noted.first, lane & 1);
  if ((noted.those >> lane & 1) != 0)
    list[turn * room + first + __popc(noted.those & ((1u << lane) - 1))] = (uint16_t)entry;
#else
  if (noted.those != 0)
    list[turn * room + noted.first] = (uint16_t)entry;
#endif
}

/* ---- a sweep, in parts between which the threads of a block wait for each other ---- */

/* One sweep of a replica: the replica before it and after it, and the sweep's parameters. */
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

/* All of the following are run by thread `thread` of `threads`. */
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

/* Copies a pair to shared memory, where it is available after disks_wait(). */
GPUMC_HOST_DEVICE static inline void disks_bring(float4 *to, const float4 *from)
{
#ifdef __CUDA_ARCH__
  __pipeline_memcpy_async(to, from, sizeof *to);
#else
  *to = *from;
#endif
}

GPUMC_HOST_DEVICE static inline void disks_wait(void)
{
#ifdef __CUDA_ARCH__
  __pipeline_commit();
  __pipeline_wait_prior(0);
#endif
}

/* Warps go down rows; each lane has a column, so that neighbours alternate between two colours. On
 * the host a thread may be a warp of one. */
template <uint32_t READS>
GPUMC_HOST_DEVICE static inline void
disks_read(const struct disks_task *task, const struct disks_block *block, uint32_t thread,
           uint32_t threads)
{
  const struct disks_tile *tile = &task->tile;
  const uint32_t lanes = threads % DISKS_WARP == 0 ? DISKS_WARP : 1, warps = threads / lanes;
  const uint32_t width = tile->x.width.value, height = tile->y.width.value;
  const uint32_t room = disks_list_room(task->tiling), pitch = 2 * tile->half;
  for (uint32_t a = thread % lanes; a < width + lanes - 1 - (width - 1) % lanes; a += lanes) {
    const bool is_column = a < width;
    const uint32_t column = is_column ? block->column[a] : 0;
    const struct disks_column_turn even = disks_column_turn_of(tile, task->sweep.colours, a, 0);
    const struct disks_column_turn odd = disks_column_turn_of(tile, task->sweep.colours, a, 1);
    size_t first_at = task->stored->first + (size_t)column * sizeof(float4);
    size_t count_at = task->stored->count + column;
    uint32_t place_a = disks_column(a, tile->half);
    disks_keep(first_at);
    disks_keep(count_at);
    disks_keep(place_a);
    for (uint32_t first = thread / lanes; first < height; first += READS * warps) {
      uint32_t count[READS];
      struct disks_noted noted[READS];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
      for (uint32_t k = 0; k < READS; k++) {
        const uint32_t b = first + k * warps;
        count[k] = 0;
        if (b < height && is_column) {
          const uint32_t row = block->row[b];
          disks_bring(&block->cells.first[b * pitch + place_a],
                      (const float4 *)(task->from + first_at) + row);
          count[k] = (task->from + count_at)[row];
        }
      }
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
      for (uint32_t k = 0; k < READS; k++) {
        const uint32_t b = first + k * warps;
        const uint32_t turn = b % 2 == 0 ? even.turn : odd.turn;
        const uint32_t from = b % 2 == 0 ? even.first : odd.first;
        const uint32_t rows = b % 2 == 0 ? even.rows : odd.rows;
        noted[k] = disks_count_in_row(block->listed, turn, (count[k] > 0) & (b - from < rows));
        if ((b < height) & is_column)
          block->cells.count[b * pitch + place_a] = (uint8_t)count[k];
        if (count[k] > 2)
          block->listed[DISKS_CROWDED] = 1;
      }
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
      for (uint32_t k = 0; k < READS; k++) {
        const uint32_t b = first + k * warps;
        disks_note_in_row(block->list, room, b % 2 == 0 ? even.turn : odd.turn, noted[k],
                          a | b << 8);
      }
    }
  }
  disks_wait();
}

/* Then reads slots 2 and 3, if there are such cells. */
GPUMC_HOST_DEVICE static inline void disks_read_rest(const struct disks_task *task,
                                                     const struct disks_block *block,
                                                     uint32_t thread, uint32_t threads)
{
  const struct disks_tile *tile = &task->tile;
  const float4 *second = (const float4 *)(task->from + task->stored->second);
  const uint32_t total = tile->x.width.value * tile->y.width.value;
  for (uint32_t k = thread; k < total; k += threads) {
    const uint32_t b = gpumc_divide(k, tile->x.width), a = k - b * tile->x.width.value;
    const uint32_t place = disks_place_in(tile, a, b);
    if (block->cells.count[place] > 2)
      block->cells.second[place] = second[block->row[b] + block->column[a]];
  }
}

GPUMC_HOST_DEVICE static inline bool disks_has_more_than_two(const struct disks_block *block)
{
  return block->listed[DISKS_CROWDED] != 0;
}

/* Moves the disks of one entry of a list; counts it if the cell is one of the tile's own: if the
 * tile has a cell of the box twice, it counts once. */
template <uint32_t ROUNDS, bool OPEN, bool QUICK>
GPUMC_HOST_DEVICE static inline void
disks_move_entry(const struct disks_task *task, const struct disks_block *block, bool crowded,
                 uint32_t entry, struct disks_counts *counts)
{
  const struct disks_tile *tile = &task->tile;
  const uint32_t a = entry & 0xff, b = entry >> 8, cell = block->row[b] + block->column[a];
  const struct disks_around around = disks_around_in(tile, a, b);
  const uint32_t accepted =
      disks_move<ROUNDS, OPEN, QUICK>(&block->cells, &around, &task->rule, crowded, cell);
  const bool is_own = (a - tile->x.begin < task->tiling->x.side.value) &
                      (b - tile->y.begin < task->tiling->y.side.value) &
                      ((uint32_t)tile->x.first + a < task->box->cells_x) &
                      ((uint32_t)tile->y.first + b < task->box->cells_y);
  disks_count(counts, is_own, accepted);
}

/* Moves the colour whose turn it is. */
template <uint32_t ROUNDS, bool OPEN, bool QUICK = true>
GPUMC_HOST_DEVICE static inline void
disks_move_turn(const struct disks_task *task, const struct disks_block *block, uint32_t turn,
                uint32_t thread, uint32_t threads, struct disks_counts *counts)
{
  const uint16_t *list = block->list + turn * disks_list_room(task->tiling);
  const bool crowded = disks_has_more_than_two(block);
  for (uint32_t k = thread; k < block->listed[turn]; k += threads)
    disks_move_entry<ROUNDS, OPEN, QUICK>(task, block, crowded, list[k], counts);
}

/* Shifts the grid, from shared memory to the replica's place afterwards; warps go down rows. */
GPUMC_HOST_DEVICE static inline void disks_write(const struct disks_task *task,
                                                 const struct disks_block *block, uint32_t thread,
                                                 uint32_t threads)
{
  const struct disks_tile *tile = &task->tile;
  const struct hard_disks_box *box = task->box;
  const uint32_t lanes = threads % DISKS_WARP == 0 ? DISKS_WARP : 1, warps = threads / lanes;
  const uint32_t side_x = task->tiling->x.side.value, side_y = task->tiling->y.side.value;
  const uint32_t first_x = (uint32_t)tile->x.first + tile->x.begin;
  const uint32_t first_y = (uint32_t)tile->y.first + tile->y.begin, pitch = 2 * tile->half;
  const uint32_t most_x = box->cells_x - first_x < side_x ? box->cells_x - first_x : side_x;
  const uint32_t most_y = box->cells_y - first_y < side_y ? box->cells_y - first_y : side_y;
  const struct disks_step step = disks_step_of(&task->sweep, box->width_x, box->width_y);
  const bool crowded = disks_has_more_than_two(block);
  const uint32_t source_x = disks_source_column(task->sweep.direction) - 1;
  const uint32_t source_y = disks_source_row(task->sweep.direction) - 1;
  float4 *first = (float4 *)(task->to + task->stored->first);
  float4 *second = (float4 *)(task->to + task->stored->second);
  unsigned char *count = task->to + task->stored->count;
  for (uint32_t x = thread % lanes; x < most_x; x += lanes) {
    const uint32_t a = x + tile->x.begin, column = disks_column(a, tile->half);
    const uint32_t from = disks_column(a + source_x, tile->half) + source_y * pitch;
    for (uint32_t y = thread / lanes; y < most_y; y += warps) {
      const uint32_t row = (y + tile->y.begin) * pitch;
      const struct disks_list list =
          disks_shift(&block->cells, &task->sweep, &step, crowded, row + column, row + from);
      const uint32_t cell = (first_y + y) * box->cells_x + first_x + x;
      first[cell] = list.first;
      if (list.count > 2)
        second[cell] = list.second;
      count[cell] = (uint8_t)list.count;
    }
  }
}

/* Writes the head of the replica after the sweep; done by the first threads of one of its
 * blocks. */
GPUMC_HOST_DEVICE static inline void
disks_write_head(const struct disks_task *task, uint32_t thread)
{
  const int64_t *from = (const int64_t *)task->from;
  if (thread < HARD_DISKS_HEAD_WORDS)
    ((int64_t *)task->to)[thread] =
        thread < 2 ? hard_disks_shift_offset(task->box, &task->sweep, thread, from[thread])
                   : from[thread];
}

#endif
