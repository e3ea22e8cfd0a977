/* How a block of threads sweeps a few whole replicas in shared memory, one sweep after the other:
 * for both compilers, so that tests can run it with one thread. Replicas of a block are swept in
 * step, each with its own colours and shift. */
#ifndef GPUMC_HARD_DISKS_CHECKERBOARD_WHOLE_CUH
#define GPUMC_HARD_DISKS_CHECKERBOARD_WHOLE_CUH

#include "models/hard_disks/checkerboard/checkerboard_tile.cuh"

enum {
  DISKS_SIDE_MAXIMUM = 256,    /* cells of a row or a column: entries of lists have 8 bits each */
  DISKS_TOGETHER_MAXIMUM = 32, /* replicas of a block */
};

/* Replicas of a block, of cells_x times cells_y cells. */
struct disks_whole {
  struct gpumc_divisor cells, cells_x;
  uint32_t replicas;
};

static inline struct disks_whole disks_whole_of(const struct hard_disks_box *box, uint32_t replicas)
{
  struct disks_whole whole;
  whole.cells = gpumc_divisor_make(box->cells_x * box->cells_y);
  whole.cells_x = gpumc_divisor_make(box->cells_x);
  whole.replicas = replicas;
  return whole;
}

/* Data of a replica that threads need: its generator and its current sweep. */
struct disks_replica_sweep {
  struct gpumc_philox_group group;
  struct hard_disks_sweep sweep;
  int64_t offset[2];
  float width[2]; /* where boxes differ */
};

/* Shared memory: cells before and after a shift alternate. */
struct disks_whole_memory {
  struct disks_cells cells[2];         /* [replicas][m_y][m_x], columns by parity */
  struct disks_replica_sweep *replica; /* [replicas] */
  uint32_t *listed;                    /* as struct disks_block */
  uint32_t *list;                      /* [colours][room]: a + 256 b + 65536 replica */
};

GPUMC_HOST_DEVICE static inline uint32_t disks_whole_list_room(const struct disks_whole *whole)
{
  return whole->replicas * (whole->cells.value / HARD_DISKS_COLOURS);
}

static inline size_t disks_whole_memory_bytes(const struct disks_whole *whole)
{
  const size_t places = (size_t)whole->replicas * whole->cells.value;
  return places * 2 * (2 * sizeof(float4) + 1) +
         whole->replicas * sizeof(struct disks_replica_sweep) +
         (DISKS_NUMBERS + HARD_DISKS_COLOURS * disks_whole_list_room(whole)) * sizeof(uint32_t);
}

GPUMC_HOST_DEVICE static inline struct disks_whole_memory
disks_whole_memory_at(float4 *shared, const struct disks_whole *whole)
{
  struct disks_whole_memory memory;
  const uint32_t places = whole->replicas * whole->cells.value;
  for (uint32_t i = 0; i < 2; i++) {
    memory.cells[i].first = shared + 2 * i * places;
    memory.cells[i].second = shared + (2 * i + 1) * places;
  }
  memory.replica = (struct disks_replica_sweep *)(shared + 4 * places);
  memory.listed = (uint32_t *)(memory.replica + whole->replicas);
  memory.list = memory.listed + DISKS_NUMBERS;
  for (uint32_t i = 0; i < 2; i++)
    memory.cells[i].count =
        (uint8_t *)(memory.list + HARD_DISKS_COLOURS * disks_whole_list_room(whole)) + i * places;
  return memory;
}

/* ---- places ---- */

/* A cell of a replica of the block, by its number. */
struct disks_address {
  uint32_t replica, a, b, cell;
};

GPUMC_HOST_DEVICE static inline struct disks_address
disks_address_of(const struct disks_whole *whole, uint32_t k)
{
  struct disks_address address;
  address.replica = gpumc_divide(k, whole->cells);
  address.cell = k - address.replica * whole->cells.value;
  address.b = gpumc_divide(address.cell, whole->cells_x);
  address.a = address.cell - address.b * whole->cells_x.value;
  return address;
}

GPUMC_HOST_DEVICE static inline uint32_t disks_before(uint32_t at, uint32_t cells)
{
  return at == 0 ? cells - 1 : at - 1;
}
GPUMC_HOST_DEVICE static inline uint32_t disks_after(uint32_t at, uint32_t cells)
{
  return at + 1 == cells ? 0 : at + 1;
}

GPUMC_HOST_DEVICE static inline struct disks_around
disks_around_at(const struct disks_whole *whole, uint32_t replica, uint32_t a, uint32_t b)
{
  struct disks_around around;
  const uint32_t m = whole->cells_x.value, first = replica * whole->cells.value;
  const uint32_t cells_y = whole->cells.value / m;
  around.row[0] = first + disks_before(b, cells_y) * m;
  around.row[1] = first + b * m;
  around.row[2] = first + disks_after(b, cells_y) * m;
  around.column[0] = disks_column(disks_before(a, m), m / 2);
  around.column[1] = disks_column(a, m / 2);
  around.column[2] = disks_column(disks_after(a, m), m / 2);
  return around;
}

/* ---- sweeps, in parts ---- */

/* The work of a block of threads: sweeps of whole replicas. */
struct disks_whole_task {
  const struct hard_disks_box *box;
  const struct hard_disks_stored *stored;
  struct disks_whole whole;
  uint32_t present;    /* number of replicas in the block */
  uint32_t first;      /* number of the first of them in the whole run */
  unsigned char *from; /* its first replica */
  struct gpumc_random random;
  struct disks_rule rule; /* without `group` */
  uint32_t shift;
};

/* Returns the box of a replica of the block. OPEN: replicas have boxes of their own; otherwise all
 * have that of the grid. */
template <bool OPEN>
GPUMC_HOST_DEVICE static inline struct hard_disks_box
disks_box_in(const struct disks_whole_task *task, const struct disks_whole_memory *memory,
             uint32_t replica)
{
  return OPEN ? hard_disks_box_with(task->box, memory->replica[replica].width) : *task->box;
}

/* Begins the replica's part of the sweep at `time`. */
template <bool OPEN>
GPUMC_HOST_DEVICE static inline void
disks_begin_sweep(const struct disks_whole_task *task, const struct disks_whole_memory *memory,
                  uint32_t time, uint32_t thread, uint32_t threads)
{
  for (uint32_t k = thread; k < DISKS_NUMBERS; k += threads)
    memory->listed[k] = 0;
  for (uint32_t i = thread; i < task->present; i += threads) {
    struct disks_replica_sweep *replica = &memory->replica[i];
    replica->group = gpumc_philox_group(task->random, task->first + i, time);
    const struct hard_disks_box box = disks_box_in<OPEN>(task, memory, i);
    replica->sweep = hard_disks_sweep_of(task->random, &box, task->first + i, time);
    if (!task->shift)
      replica->sweep.distance = 0.0f;
  }
}

/* Copies from device memory, or back. */
template <bool BACK>
GPUMC_HOST_DEVICE static inline void
disks_carry(const struct disks_whole_task *task, const struct disks_whole_memory *memory,
            const struct disks_cells *cells, uint32_t thread, uint32_t threads)
{
  for (uint32_t k = thread; k < task->present * task->whole.cells.value; k += threads) {
    const struct disks_address at = disks_address_of(&task->whole, k);
    const uint32_t place = at.replica * task->whole.cells.value + at.b * task->whole.cells_x.value +
                           disks_column(at.a, task->whole.cells_x.value / 2);
    unsigned char *from = task->from + at.replica * task->stored->bytes;
    float4 *first = (float4 *)(from + task->stored->first) + at.cell;
    float4 *second = (float4 *)(from + task->stored->second) + at.cell;
    unsigned char *count = from + task->stored->count + at.cell;
    if (BACK) {
      *first = cells->first[place];
      *count = cells->count[place];
      if (*count > 2)
        *second = cells->second[place];
    } else {
      cells->first[place] = *first;
      cells->count[place] = *count;
      if (*count > 2)
        cells->second[place] = *second;
    }
  }
  for (uint32_t i = thread; i < task->present; i += threads) {
    struct hard_disks_head *head = (struct hard_disks_head *)(task->from + i * task->stored->bytes);
    for (uint32_t axis = 0; axis < 2; axis++)
      if (BACK) {
        head->offset[axis] = memory->replica[i].offset[axis];
      } else {
        memory->replica[i].offset[axis] = head->offset[axis];
        memory->replica[i].width[axis] = head->width[axis];
      }
  }
}

/* Lists which cells are moved when. */
GPUMC_HOST_DEVICE static inline void
disks_list_cells(const struct disks_whole_task *task, const struct disks_whole_memory *memory,
                 const struct disks_cells *cells, uint32_t thread, uint32_t threads)
{
  const uint32_t total = task->present * task->whole.cells.value;
  for (uint32_t begin = 0; begin < total; begin += threads) {
    uint32_t turn = DISKS_NOT_LISTED, entry = 0;
    if (begin + thread < total) {
      const struct disks_address at = disks_address_of(&task->whole, begin + thread);
      const uint32_t m = task->whole.cells_x.value;
      const uint32_t count =
          cells->count[at.replica * task->whole.cells.value + at.b * m + disks_column(at.a, m / 2)];
      if (count > 0)
        turn = disks_turn(memory->replica[at.replica].sweep.colours, (at.a & 1) + 2 * (at.b & 1));
      if (count > 2)
        memory->listed[DISKS_CROWDED] = 1;
      entry = at.a | at.b << 8 | at.replica << 16;
    }
    disks_note(memory->list, disks_whole_list_room(&task->whole), memory->listed, turn, entry);
  }
}

template <uint32_t ROUNDS, bool OPEN>
GPUMC_HOST_DEVICE static inline uint32_t
disks_move_cell(const struct disks_whole_task *task, const struct disks_whole_memory *memory,
                const struct disks_cells *cells, bool crowded, uint32_t entry)
{
  const uint32_t a = entry & 0xff, b = entry >> 8 & 0xff, replica = entry >> 16;
  const uint32_t cell = b * task->whole.cells_x.value + a;
  const struct disks_around around = disks_around_at(&task->whole, replica, a, b);
  struct disks_rule rule = task->rule;
  rule.group = memory->replica[replica].group;
  if (OPEN) {
    rule.width_x = memory->replica[replica].width[0];
    rule.width_y = memory->replica[replica].width[1];
  }
  return disks_move<ROUNDS, OPEN, false>(cells, &around, &rule, crowded, cell);
}

/* Moves the colours whose turn it is. */
template <uint32_t ROUNDS, bool OPEN>
GPUMC_HOST_DEVICE static inline void
disks_move_listed(const struct disks_whole_task *task, const struct disks_whole_memory *memory,
                  const struct disks_cells *cells, uint32_t turn, uint32_t thread, uint32_t threads,
                  struct disks_counts *counts)
{
  const uint32_t *list = memory->list + turn * disks_whole_list_room(&task->whole);
  const bool crowded = memory->listed[DISKS_CROWDED] != 0;
  for (uint32_t k = thread; k < memory->listed[turn]; k += threads)
    disks_count(counts, true, disks_move_cell<ROUNDS, OPEN>(task, memory, cells, crowded, list[k]));
}

/* Shifts the grids, from one set of cells to the other. */
template <bool OPEN>
GPUMC_HOST_DEVICE static inline void
disks_shift_all(const struct disks_whole_task *task, const struct disks_whole_memory *memory,
                const struct disks_cells *from, const struct disks_cells *to, uint32_t thread,
                uint32_t threads)
{
  const bool crowded = memory->listed[DISKS_CROWDED] != 0;
  for (uint32_t k = thread; k < task->present * task->whole.cells.value; k += threads) {
    const struct disks_address at = disks_address_of(&task->whole, k);
    const struct disks_around around = disks_around_at(&task->whole, at.replica, at.a, at.b);
    const struct hard_disks_sweep *sweep = &memory->replica[at.replica].sweep;
    const uint32_t place = disks_place(&around, 1, 1);
    const uint32_t source = disks_place(&around, disks_source_column(sweep->direction),
                                        disks_source_row(sweep->direction));
    const struct hard_disks_box box = disks_box_in<OPEN>(task, memory, at.replica);
    const struct disks_step step = disks_step_of(sweep, box.width_x, box.width_y);
    const struct disks_list list = disks_shift(from, sweep, &step, crowded, place, source);
    to->first[place] = list.first;
    if (list.count > 2)
      to->second[place] = list.second;
    to->count[place] = (uint8_t)list.count;
  }
  for (uint32_t i = thread; i < task->present; i += threads) {
    const struct hard_disks_box box = disks_box_in<OPEN>(task, memory, i);
    for (uint32_t axis = 0; axis < 2; axis++)
      memory->replica[i].offset[axis] = hard_disks_shift_offset(
          &box, &memory->replica[i].sweep, axis, memory->replica[i].offset[axis]);
  }
}

#endif
