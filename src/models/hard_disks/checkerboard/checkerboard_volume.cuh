/* Moves of the volume on a GPU: what a thread does for a cell of a replica, for both compilers, so
 * that tests can run it cell by cell. Three passes over the cells, each a launch of its own:
 *
 *   all cells are scaled into a second buffer, unless the draw alone refuses the box;
 *   overlaps are looked for there, each pair once;
 *   if there are none, the cells are taken back.
 *
 * The head in the second buffer says what the next pass has to do. */
#ifndef GPUMC_HARD_DISKS_CHECKERBOARD_VOLUME_CUH
#define GPUMC_HARD_DISKS_CHECKERBOARD_VOLUME_CUH

#include "models/hard_disks/checkerboard/checkerboard_gpu.h"

/* hard_disks_head.overlap in the second buffer. */
enum { DISKS_NO_OVERLAP, DISKS_OVERLAP, DISKS_TO_LOOK };

/* A replica in both buffers, and its box on the grid. */
struct disks_volume {
  const struct hard_disks_box *grid;
  const struct hard_disks_stored *stored;
  unsigned char *replica, *other;
};

GPUMC_HOST_DEVICE static inline struct hard_disks_head *disks_head(unsigned char *replica)
{
  return (struct hard_disks_head *)replica;
}

GPUMC_HOST_DEVICE static inline float4 *disks_pair(const struct hard_disks_stored *stored,
                                                   unsigned char *replica, uint32_t cell,
                                                   uint32_t slot)
{
  return (float4 *)(replica + (slot < 2 ? stored->first : stored->second)) + cell;
}

/* ---- the first pass ---- */

/* By one thread of the replica. */
GPUMC_HOST_DEVICE static inline void
disks_try_volume(const struct disks_volume *volume, const struct hard_disks_volume_move *move)
{
  struct hard_disks_head *head = disks_head(volume->other);
  *head = *disks_head(volume->replica);
  head->last_move = move->end;
  head->overlap =
      move->end == HARD_DISKS_ACCEPTED && move->overlaps ? DISKS_TO_LOOK : DISKS_NO_OVERLAP;
  if (move->end == HARD_DISKS_ACCEPTED)
    hard_disks_scale_head(volume->grid, move, head);
}

GPUMC_HOST_DEVICE static inline void
disks_scale_cell(const struct disks_volume *volume, const struct hard_disks_volume_move *move,
                 struct gpumc_random random, uint32_t replica, uint32_t time, uint32_t cell)
{
  const uint32_t count = volume->replica[volume->stored->count + cell];
  for (uint32_t slot = 0; slot == 0 || slot < count; slot += 2) {
    float4 pair = *disks_pair(volume->stored, volume->replica, cell, slot);
    if (slot < count) {
      uint32_t word[4];
      hard_disks_volume_words(random, cell, replica, time, slot / 2, word);
      pair.x = hard_disks_scaled(pair.x, word[0], move->ratio[0], move->width[0]);
      pair.y = hard_disks_scaled(pair.y, word[1], move->ratio[1], move->width[1]);
      if (slot + 1 < count) {
        pair.z = hard_disks_scaled(pair.z, word[2], move->ratio[0], move->width[0]);
        pair.w = hard_disks_scaled(pair.w, word[3], move->ratio[1], move->width[1]);
      }
    }
    *disks_pair(volume->stored, volume->other, cell, slot) = pair;
  }
}

/* ---- the second pass ---- */

GPUMC_HOST_DEVICE static inline float2
disks_scaled_disk(const struct disks_volume *volume, uint32_t cell, uint32_t slot)
{
  const float2 *pair = (const float2 *)disks_pair(volume->stored, volume->other, cell, slot);
  return pair[slot & 1];
}

/* Whether a disk of a cell overlaps one of the slots from `first` on of a cell that is u, v from
 * its own. */
GPUMC_HOST_DEVICE static inline bool
disks_overlap_with(const struct disks_volume *volume, const float width[2], float2 disk,
                   uint32_t cell, uint32_t first, float u, float v)
{
  const uint32_t count = volume->replica[volume->stored->count + cell];
  bool found = false;
  for (uint32_t slot = first; slot < count; slot++) {
    const float2 other = disks_scaled_disk(volume, cell, slot);
    found = found || hard_disks_overlap(hard_disks_apart(other.x, disk.x, u, width[0]),
                                        hard_disks_apart(other.y, disk.y, v, width[1]));
  }
  return found;
}

/* Whether a disk of the cell overlaps a later one of its own, one on the right, or one of the three
 * cells below. */
GPUMC_HOST_DEVICE static inline bool
disks_cell_overlaps(const struct disks_volume *volume, uint32_t cell)
{
  const float *width = disks_head(volume->other)->width;
  const uint32_t m = volume->grid->cells_x, n = volume->grid->cells_y;
  const uint32_t b = cell / m, a = cell - b * m;
  const uint32_t left = a == 0 ? m - 1 : a - 1, right = a + 1 == m ? 0 : a + 1;
  const uint32_t below = (b == 0 ? n - 1 : b - 1) * m;
  const uint32_t count = volume->replica[volume->stored->count + cell];
  bool found = false;
  for (uint32_t slot = 0; slot < count && !found; slot++) {
    const float2 disk = disks_scaled_disk(volume, cell, slot);
    found = disks_overlap_with(volume, width, disk, cell, slot + 1, 0.0f, 0.0f) ||
            disks_overlap_with(volume, width, disk, b * m + right, 0, 1.0f, 0.0f) ||
            disks_overlap_with(volume, width, disk, below + left, 0, -1.0f, -1.0f) ||
            disks_overlap_with(volume, width, disk, below + a, 0, 0.0f, -1.0f) ||
            disks_overlap_with(volume, width, disk, below + right, 0, 1.0f, -1.0f);
  }
  return found;
}

/* ---- the third pass ---- */

GPUMC_HOST_DEVICE static inline bool disks_is_taken(const struct disks_volume *volume)
{
  const struct hard_disks_head *head = disks_head(volume->other);
  return head->last_move == HARD_DISKS_ACCEPTED && head->overlap != DISKS_OVERLAP;
}

GPUMC_HOST_DEVICE static inline void
disks_take_cell(const struct disks_volume *volume, uint32_t cell)
{
  const uint32_t count = volume->replica[volume->stored->count + cell];
  for (uint32_t slot = 0; slot < count; slot += 2)
    *disks_pair(volume->stored, volume->replica, cell, slot) =
        *disks_pair(volume->stored, volume->other, cell, slot);
}

/* By one thread of the replica. */
GPUMC_HOST_DEVICE static inline void disks_take_head(const struct disks_volume *volume)
{
  const struct hard_disks_head tried = *disks_head(volume->other);
  struct hard_disks_head *head = disks_head(volume->replica);
  if (disks_is_taken(volume))
    *head = tried;
  else
    head->last_move =
        tried.last_move == HARD_DISKS_ACCEPTED ? (uint32_t)HARD_DISKS_REFUSED : tried.last_move;
  head->overlap = 0;
}

#endif
