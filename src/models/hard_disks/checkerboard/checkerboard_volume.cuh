/* Moves of the volume on a GPU: what threads do for a replica, for both compilers, so that tests
 * can run it thread by thread. Three passes, each a launch of its own:
 *
 *   a thread for each replica draws the box that is tried;
 *   where disks may overlap in it, blocks of threads scale patches of cells into shared memory,
 * with the cells around that are not above, and look for overlaps there, each pair once; if there
 * are none, a thread for each cell scales it in place.
 *
 * Most compressions with overlaps are known as such by the first patches; the others are skipped.
 */
#ifndef GPUMC_HARD_DISKS_CHECKERBOARD_VOLUME_CUH
#define GPUMC_HARD_DISKS_CHECKERBOARD_VOLUME_CUH

#include "models/hard_disks/checkerboard/checkerboard_cells.cuh"
#include "models/hard_disks/checkerboard/checkerboard_gpu.h"
#include "models/hard_disks/hard_disks_volume.h"

/* The move being tried, for all passes. */
struct disks_trial {
  struct hard_disks_volume_move move;
  uint32_t overlap; /* 1: some disks overlap */
};

/* One replica at a time, and its place for a trial. */
struct disks_volume {
  const struct hard_disks_box *grid;
  const struct hard_disks_stored *stored;
  struct gpumc_random random;
  uint32_t number, time;
  unsigned char *replica;
  struct disks_trial *trial;
};

/* A patch of PATCH x PATCH cells from (a, b) on, in shared memory: cell (a + u - 1, b + v - 1) is
 * at v PITCH + u, from the row below and the column on the left to that on the right. */
enum {
  DISKS_PATCH = 16,
  DISKS_PATCH_PITCH = DISKS_PATCH + 2,
  DISKS_PATCH_PLACES = DISKS_PATCH_PITCH * (DISKS_PATCH + 1)
};

struct disks_patch {
  struct disks_cells cells; /* [DISKS_PATCH_PLACES] */
  uint32_t a, b;
};

/* ---- the first pass ---- */

GPUMC_HOST_DEVICE static inline void
disks_try_volume(const struct disks_volume *volume, const struct hard_disks_volume_rule *rule)
{
  const struct hard_disks_head *head = (const struct hard_disks_head *)volume->replica;
  volume->trial->move = hard_disks_volume_draw(volume->random, rule, volume->grid, head->width,
                                               volume->number, volume->time);
  volume->trial->overlap = 0;
}

/* ---- scaling ---- */

GPUMC_HOST_DEVICE static inline uint32_t
disks_volume_count(const struct disks_volume *volume, uint32_t cell)
{
  return volume->replica[volume->stored->count + cell];
}

GPUMC_HOST_DEVICE static inline float4 *
disks_volume_pair(const struct disks_volume *volume, uint32_t cell, uint32_t slot)
{
  return (float4 *)(volume->replica + (slot < 2 ? volume->stored->first : volume->stored->second)) +
         cell;
}

/* Returns the scaled disks in `slot`, an even one, and the next, for a cell that has `count`. */
GPUMC_HOST_DEVICE static inline float4
disks_scaled_pair(const struct disks_volume *volume, const struct hard_disks_volume_move *move,
                  uint32_t cell, uint32_t slot, uint32_t count)
{
  float4 pair = *disks_volume_pair(volume, cell, slot);
  uint32_t word[4];
  hard_disks_volume_words(volume->random, cell, volume->number, volume->time, slot / 2, word);
  pair.x = hard_disks_scaled(pair.x, word[0], move->ratio[0], move->width[0]);
  pair.y = hard_disks_scaled(pair.y, word[1], move->ratio[1], move->width[1]);
  if (slot + 1 < count) {
    pair.z = hard_disks_scaled(pair.z, word[2], move->ratio[0], move->width[0]);
    pair.w = hard_disks_scaled(pair.w, word[3], move->ratio[1], move->width[1]);
  }
  return pair;
}

/* ---- the second pass ---- */

GPUMC_HOST_DEVICE static inline bool disks_may_overlap(const struct disks_trial *trial)
{
  return trial->move.end == HARD_DISKS_ACCEPTED && trial->move.overlaps;
}

/* Returns a cell of the box, or one step beyond it, from -1 on. */
GPUMC_HOST_DEVICE static inline uint32_t disks_within(uint32_t at_and_one, uint32_t cells)
{
  return at_and_one == 0 ? cells - 1 : at_and_one == cells + 1 ? 0 : at_and_one - 1;
}

/* Done by thread `thread` of `threads`. */
GPUMC_HOST_DEVICE static inline void disks_scale_patch(const struct disks_volume *volume,
                                                       const struct disks_patch *patch,
                                                       uint32_t thread, uint32_t threads)
{
  const struct hard_disks_volume_move move = volume->trial->move;
  const uint32_t m = volume->grid->cells_x, n = volume->grid->cells_y;
  for (uint32_t k = thread; k < DISKS_PATCH_PLACES; k += threads) {
    const uint32_t v = k / DISKS_PATCH_PITCH, u = k - v * DISKS_PATCH_PITCH;
    if (patch->a + u > m + 1 || patch->b + v > n)
      continue;
    const uint32_t cell = disks_within(patch->b + v, n) * m + disks_within(patch->a + u, m);
    const uint32_t count = disks_volume_count(volume, cell);
    patch->cells.count[k] = (uint8_t)count;
    if (count > 0)
      patch->cells.first[k] = disks_scaled_pair(volume, &move, cell, 0, count);
    if (count > 2)
      patch->cells.second[k] = disks_scaled_pair(volume, &move, cell, 2, count);
  }
}

/* Returns whether a disk overlaps one of the slots from `first` on of the cell at a place that is
 * (u, v) away from its own. */
GPUMC_HOST_DEVICE static inline bool
disks_overlap_with(const struct disks_cells *cells, const float width[2], float2 disk,
                   uint32_t place, uint32_t first, float u, float v)
{
  bool found = false;
  for (uint32_t slot = first; slot < cells->count[place]; slot++) {
    const float2 other = *disks_slot(cells, place, slot);
    found = found || hard_disks_overlap(hard_disks_apart(other.x, disk.x, u, width[0]),
                                        hard_disks_apart(other.y, disk.y, v, width[1]));
  }
  return found;
}

/* Returns whether a disk of the cell at a place overlaps a later one of its own cell, one on the
 * right, or one of the three cells below. */
GPUMC_HOST_DEVICE static inline bool
disks_cell_overlaps(const struct disks_cells *cells, const float width[2], uint32_t place)
{
  bool found = false;
  for (uint32_t slot = 0; slot < cells->count[place] && !found; slot++) {
    const float2 disk = *disks_slot(cells, place, slot);
    const uint32_t below = place - DISKS_PATCH_PITCH;
    found = disks_overlap_with(cells, width, disk, place, slot + 1, 0.0f, 0.0f) ||
            disks_overlap_with(cells, width, disk, place + 1, 0, 1.0f, 0.0f) ||
            disks_overlap_with(cells, width, disk, below - 1, 0, -1.0f, -1.0f) ||
            disks_overlap_with(cells, width, disk, below, 0, 0.0f, -1.0f) ||
            disks_overlap_with(cells, width, disk, below + 1, 0, 1.0f, -1.0f);
  }
  return found;
}

/* Done by thread `thread` of `threads`, once all have scaled the patch. */
GPUMC_HOST_DEVICE static inline void disks_look_at_patch(const struct disks_volume *volume,
                                                         const struct disks_patch *patch,
                                                         uint32_t thread, uint32_t threads)
{
  const float width[2] = {volume->trial->move.width[0], volume->trial->move.width[1]};
  for (uint32_t k = thread; k < DISKS_PATCH * DISKS_PATCH; k += threads) {
    const uint32_t v = k / DISKS_PATCH, u = k - v * DISKS_PATCH;
    if (patch->a + u < volume->grid->cells_x && patch->b + v < volume->grid->cells_y &&
        disks_cell_overlaps(&patch->cells, width, (v + 1) * DISKS_PATCH_PITCH + u + 1))
      volume->trial->overlap = 1;
  }
}

/* ---- the third pass ---- */

GPUMC_HOST_DEVICE static inline bool disks_is_taken(const struct disks_trial *trial)
{
  return trial->move.end == HARD_DISKS_ACCEPTED && trial->overlap == 0;
}

GPUMC_HOST_DEVICE static inline void
disks_scale_cell(const struct disks_volume *volume, uint32_t cell)
{
  const uint32_t count = disks_volume_count(volume, cell);
  for (uint32_t slot = 0; slot < count; slot += 2)
    *disks_volume_pair(volume, cell, slot) =
        disks_scaled_pair(volume, &volume->trial->move, cell, slot, count);
}

/* Done by one thread of the replica; no other thread accesses its head. */
GPUMC_HOST_DEVICE static inline void disks_end_volume(const struct disks_volume *volume)
{
  struct hard_disks_head *head = (struct hard_disks_head *)volume->replica;
  const struct hard_disks_volume_move *move = &volume->trial->move;
  if (disks_is_taken(volume->trial))
    hard_disks_scale_head(volume->grid, move, head);
  head->last_move = move->end == HARD_DISKS_ACCEPTED && volume->trial->overlap != 0
                        ? (uint32_t)HARD_DISKS_REFUSED
                        : (uint32_t)move->end;
}

#endif
