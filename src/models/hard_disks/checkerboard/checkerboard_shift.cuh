/* A cell's part of a shift of the grid, from shared memory to the cell's place afterwards: the work
 * of one thread, for both compilers, so that tests can run it cell by cell. */
#ifndef GPUMC_HARD_DISKS_CHECKERBOARD_SHIFT_CUH
#define GPUMC_HARD_DISKS_CHECKERBOARD_SHIFT_CUH

#include "models/hard_disks/checkerboard/checkerboard_cells.cuh"

/* The contents of a cell after the shift. */
struct disks_list {
  float4 first, second;
  uint32_t count;
};

GPUMC_HOST_DEVICE static inline void disks_append(struct disks_list *list, float2 disk)
{
  if (list->count == 0) {
    list->first.x = disk.x;
    list->first.y = disk.y;
  } else if (list->count == 1) {
    list->first.z = disk.x;
    list->first.w = disk.y;
  } else if (list->count == 2) {
    list->second.x = disk.x;
    list->second.y = disk.y;
  } else {
    list->second.z = disk.x;
    list->second.w = disk.y;
  }
  /* There is no fifth one; if there were, the number of disks would come out wrong. */
  list->count += list->count < HARD_DISKS_SLOTS;
}

/* Appends the disks at `place` that leave their cell, or those that stay. */
GPUMC_HOST_DEVICE static inline void
disks_append_some(const struct disks_cells *cells, const struct hard_disks_sweep *sweep,
                  float width, uint32_t place, bool that_leave, struct disks_list *list)
{
  const bool along_x = sweep->direction <= HARD_DISKS_LEFT;
  const bool forward = sweep->direction == HARD_DISKS_RIGHT || sweep->direction == HARD_DISKS_UP;
  const uint32_t count = cells->count[place];
  for (uint32_t s = 0; s < count; s++) {
    float2 disk = *disks_slot(cells, place, s);
    float coordinate = along_x ? disk.x : disk.y;
    const bool leaves = hard_disks_shifted(forward, sweep->distance, width, &coordinate);
    disk.x = along_x ? coordinate : disk.x;
    disk.y = along_x ? disk.y : coordinate;
    if (leaves == that_leave)
      disks_append(list, disk);
  }
}

/* Returns the cell that disks come from: one step from the middle, column and row. */
GPUMC_HOST_DEVICE static inline uint32_t disks_source_column(enum hard_disks_direction direction)
{
  return direction == HARD_DISKS_RIGHT ? 2 : direction == HARD_DISKS_LEFT ? 0 : 1;
}
GPUMC_HOST_DEVICE static inline uint32_t disks_source_row(enum hard_disks_direction direction)
{
  return direction == HARD_DISKS_UP ? 2 : direction == HARD_DISKS_DOWN ? 0 : 1;
}

/* The effect of a shift on coordinates along its axis: hard_disks_shifted() in fewer steps. Disks
 * move to (x + before) + by, which is exact, and a width further if that is negative; forward those
 * are the ones that leave, otherwise the others. */
struct disks_step {
  float before, by, width;
  bool along_x, forward;
};

GPUMC_HOST_DEVICE static inline struct disks_step
disks_step_of(const struct hard_disks_sweep *sweep, float width_x, float width_y)
{
  struct disks_step step;
  step.along_x = sweep->direction <= HARD_DISKS_LEFT;
  step.forward = sweep->direction == HARD_DISKS_RIGHT || sweep->direction == HARD_DISKS_UP;
  step.width = step.along_x ? width_x : width_y;
  step.before = step.forward ? 0.0f : -step.width;
  step.by = step.forward ? -sweep->distance : sweep->distance;
  return step;
}

/* Returns whether a disk leaves its cell; *disk moves with the grid. */
GPUMC_HOST_DEVICE static inline bool disks_step_one(const struct disks_step *step, float2 *disk)
{
  const float to = ((step->along_x ? disk->x : disk->y) + step->before) + step->by;
  const bool negative = to < 0.0f;
  const float there = negative ? to + step->width : to;
  disk->x = step->along_x ? there : disk->x;
  disk->y = step->along_x ? disk->y : there;
  return negative == step->forward;
}

GPUMC_HOST_DEVICE static inline float2 disks_either(bool is_first, float2 first, float2 second)
{
  return make_float2(is_first ? first.x : second.x, is_first ? first.y : second.y);
}

/* Returns the contents of the cell at `place` afterwards; disks come from the cell at `source`.
 * `crowded`: there may be cells with more than two disks. */
GPUMC_HOST_DEVICE static inline struct disks_list
disks_shift(const struct disks_cells *cells, const struct hard_disks_sweep *sweep,
            const struct disks_step *step, bool crowded, uint32_t place, uint32_t source)
{
  const float4 own = cells->first[place], other = cells->first[source];
  const float2 nowhere = make_float2(HARD_DISKS_NOWHERE, HARD_DISKS_NOWHERE);
  float2 disk[4] = {{own.x, own.y}, {own.z, own.w}, {other.x, other.y}, {other.z, other.w}};
  bool is[4];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (uint32_t k = 0; k < 4; k++) {
    const bool there_is = disk[k].x != nowhere.x;
    is[k] = there_is & (disks_step_one(step, &disk[k]) == (k >= 2));
  }
  struct disks_list list;
  list.count = (uint32_t)is[0] + is[1] + is[2] + is[3];
  if ((crowded && (cells->count[place] > 2 || cells->count[source] > 2)) || list.count > 2) {
    list.first = list.second = make_float4(nowhere.x, nowhere.y, nowhere.x, nowhere.y);
    list.count = 0;
    disks_append_some(cells, sweep, step->width, place, false, &list);
    disks_append_some(cells, sweep, step->width, source, true, &list);
    return list;
  }
  const float2 last = disks_either(is[3], disk[3], nowhere);
  const float2 came = disks_either(is[2], disk[2], last);
  const float2 first = disks_either(is[0], disk[0], disks_either(is[1], disk[1], came));
  const float2 second =
      disks_either(is[0] & is[1], disk[1],
                   disks_either(is[0] | is[1], came, disks_either(is[2], last, nowhere)));
  list.first = make_float4(first.x, first.y, second.x, second.y);
  return list;
}

#endif
